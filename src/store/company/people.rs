//! The tables `aoa_users`, `aoa_members`, `aoa_user_roles` and `aoa_grants`.

use uuid::Uuid;

use crate::domain::company::access::standing::{RoleRow, Scope};
use crate::domain::company::entity::{Principal, User, UserRole};
use crate::domain::company::value::{Permission, Role};
use crate::domain::time::Timestamp;
use crate::domain::value::Value as _;
use crate::error::{Error, Result};
use crate::store::engine::{Connection, query};
use crate::store::row::{self, Columns, Row};

macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT u.id, u.name, u.created_at FROM aoa_users u ", $rest)
    };
}

/// What somebody is in a company: the roles, and what was granted beside them.
#[derive(Debug, Default)]
pub struct Rights {
    pub roles: Vec<RoleRow>,
    pub grants: Vec<Permission>,
}

impl TryFrom<&Row> for User {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            name: row.text("name")?,
            created_at: row.time("created_at")?,
        })
    }
}

/// Adds a person, unless there is one of that id.
pub async fn insert(connection: &mut Connection, user: &User) -> Result<()> {
    query(
        "INSERT INTO aoa_users (id, name, created_at, updated_at) VALUES ($1, $2, $3, $3) \
         ON CONFLICT (id) DO NOTHING",
    )
    .bind(row::id(user.id))
    .bind(&user.name)
    .bind(user.created_at.stored())
    .execute(connection)
    .await
}

/// The person of that id, in whatever company.
pub async fn by_id(connection: &mut Connection, id: Uuid) -> Result<Option<User>> {
    let row = query(select!("WHERE u.id = $1")).bind(row::id(id));
    row.fetch_optional(connection).await?.as_ref().map(User::try_from).transpose()
}

/// The active member of the company with that id.
pub async fn member(connection: &mut Connection, scope: &Scope, id: Uuid) -> Result<Option<User>> {
    let row = query(select!(
        "JOIN aoa_members m ON m.user_id = u.id \
         WHERE m.company_id = $1 AND u.id = $2 AND m.status = 'active'"
    ))
    .bind(row::id(scope.company()))
    .bind(row::id(id));
    row.fetch_optional(connection).await?.as_ref().map(User::try_from).transpose()
}

/// The members of the company with that name.
pub async fn members_named(
    connection: &mut Connection,
    scope: &Scope,
    name: &str,
) -> Result<Vec<User>> {
    let rows = query(select!(
        "JOIN aoa_members m ON m.user_id = u.id \
         WHERE m.company_id = $1 AND u.name = $2 AND m.status = 'active' ORDER BY u.id"
    ))
    .bind(row::id(scope.company()))
    .bind(name);
    row::each(&rows.fetch_all(connection).await?)
}

/// The founders of the company, in the order in which they came.
pub async fn founders(connection: &mut Connection, scope: &Scope) -> Result<Vec<User>> {
    let rows = query(select!(
        "JOIN aoa_members m ON m.user_id = u.id \
         JOIN aoa_user_roles r ON r.user_id = u.id AND r.company_id = m.company_id \
         WHERE m.company_id = $1 AND m.status = 'active' AND r.role = 'founder' \
         AND r.project_id IS NULL ORDER BY r.created_at, u.id"
    ))
    .bind(row::id(scope.company()));
    row::each(&rows.fetch_all(connection).await?)
}

/// The leads of a project of the company, in the order in which they came.
pub async fn leads(
    connection: &mut Connection,
    scope: &Scope,
    project_id: Uuid,
) -> Result<Vec<User>> {
    let rows = query(select!(
        "JOIN aoa_members m ON m.user_id = u.id \
         JOIN aoa_user_roles r ON r.user_id = u.id AND r.company_id = m.company_id \
         WHERE m.company_id = $1 AND m.status = 'active' AND r.role = 'team_lead' \
         AND r.project_id = $2 ORDER BY r.created_at, u.id"
    ))
    .bind(row::id(scope.company()))
    .bind(row::id(project_id));
    row::each(&rows.fetch_all(connection).await?)
}

/// Makes somebody a member of the company, unless they are one.
pub async fn ensure_member(
    connection: &mut Connection,
    scope: &Scope,
    user_id: Uuid,
    now: Timestamp,
) -> Result<()> {
    query(
        "INSERT INTO aoa_members (company_id, user_id, status, created_at) \
         VALUES ($1, $2, 'active', $3) \
         ON CONFLICT (company_id, user_id) DO UPDATE SET status = excluded.status",
    )
    .bind(row::id(scope.company()))
    .bind(row::id(user_id))
    .bind(now.stored())
    .execute(connection)
    .await
}

/// Gives somebody a role in the company, or in a project of it, in place of the one they had
/// there.
pub async fn set_role(connection: &mut Connection, role: &UserRole) -> Result<()> {
    query(
        "DELETE FROM aoa_user_roles WHERE company_id = $1 AND user_id = $2 \
         AND COALESCE(project_id, '') = COALESCE($3, '')",
    )
    .bind(row::id(role.company_id))
    .bind(row::id(role.user_id))
    .bind(role.project_id.map(row::id))
    .execute(connection)
    .await?;
    query(
        "INSERT INTO aoa_user_roles (id, company_id, user_id, role, project_id, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(row::id(role.id))
    .bind(row::id(role.company_id))
    .bind(row::id(role.user_id))
    .bind(role.role.wire())
    .bind(role.project_id.map(row::id))
    .bind(role.created_at.stored())
    .execute(connection)
    .await
}

/// Whether somebody has that role there already.
pub async fn has_role(
    connection: &mut Connection,
    scope: &Scope,
    user_id: Uuid,
    role: Role,
    project_id: Option<Uuid>,
) -> Result<bool> {
    let row = query(
        "SELECT id FROM aoa_user_roles WHERE company_id = $1 AND user_id = $2 AND role = $3 \
         AND COALESCE(project_id, '') = COALESCE($4, '')",
    )
    .bind(row::id(scope.company()))
    .bind(row::id(user_id))
    .bind(role.wire())
    .bind(project_id.map(row::id));
    Ok(row.fetch_optional(connection).await?.is_some())
}

/// What an active member is in a company; `None` for who is none.
pub async fn rights(
    connection: &mut Connection,
    company_id: Uuid,
    user_id: Uuid,
) -> Result<Option<Rights>> {
    // One row for each role and grant, and one without either, for who has none.
    let rows = query(
        "SELECT NULL AS role, NULL AS project_id, NULL AS permission FROM aoa_members \
         WHERE company_id = $1 AND user_id = $2 AND status = 'active' \
         UNION ALL SELECT r.role, r.project_id, NULL FROM aoa_user_roles r \
         WHERE r.company_id = $1 AND r.user_id = $2 \
         UNION ALL SELECT NULL, NULL, g.permission FROM aoa_grants g \
         WHERE g.company_id = $1 AND g.user_id = $2",
    )
    .bind(row::id(company_id))
    .bind(row::id(user_id))
    .fetch_all(connection)
    .await?;
    let mut rights = Rights::default();
    let mut is_member = false;
    for row in &rows {
        if row.optional_text("role")?.is_some() {
            let (role, project_id) = (row.value("role")?, row.optional_uuid("project_id")?);
            rights.roles.push(RoleRow { role, project_id });
        } else if row.optional_text("permission")?.is_some() {
            rights.grants.push(row.value("permission")?);
        } else {
            is_member = true;
        }
    }
    Ok(is_member.then_some(rights))
}

/// Grants a permission to somebody in the company, unless they have it. Returns whether they had
/// not.
pub async fn grant(
    connection: &mut Connection,
    scope: &Scope,
    id: Uuid,
    to: Principal,
    permission: Permission,
    now: Timestamp,
) -> Result<bool> {
    let granted = query(
        "INSERT INTO aoa_grants (id, company_id, user_id, agent_id, permission, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (company_id, COALESCE(user_id, agent_id), permission) DO NOTHING \
         RETURNING id",
    )
    .bind(row::id(id))
    .bind(row::id(scope.company()))
    .bind(to.user().map(row::id))
    .bind(to.agent().map(row::id))
    .bind(permission.wire())
    .bind(now.stored());
    Ok(granted.fetch_optional(connection).await?.is_some())
}

/// Takes a permission back. Returns whether it was granted.
pub async fn take_back(
    connection: &mut Connection,
    scope: &Scope,
    from: Principal,
    permission: Permission,
) -> Result<bool> {
    let (Principal::User(id) | Principal::Agent(id)) = from;
    let taken = query(
        "DELETE FROM aoa_grants WHERE company_id = $1 AND permission = $2 \
         AND COALESCE(user_id, agent_id) = $3 RETURNING id",
    )
    .bind(row::id(scope.company()))
    .bind(permission.wire())
    .bind(row::id(id));
    Ok(taken.fetch_optional(connection).await?.is_some())
}
