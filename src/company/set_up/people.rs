//! Members of a company, their roles, and what is granted beside them.

use serde_json::json;
use uuid::Uuid;

use super::companies::name_of;
use crate::company::identity::caller::Caller;
use crate::company::record::write::Write;
use crate::company::{Service, named};
use crate::domain::company::entity::{User, UserRole};
use crate::domain::company::record::Record;
use crate::domain::company::value::Role;
use crate::error::{Error, Result};
use crate::store::company::people;

/// Who is to be a member, and as what.
#[derive(Debug, Clone)]
pub struct NewMember {
    pub name: String,
    pub role: Role,
    /// By id or name; none for the whole company.
    pub projects: Vec<String>,
}

impl Service {
    /// Makes somebody a member with a role, in the whole company or in some of its projects. The
    /// member of that name is taken if there is one.
    ///
    /// # Errors
    ///
    /// Refuses a blank name, a founder of single projects, and a project that there is not.
    pub async fn add_member(&self, caller: &Caller, new: NewMember) -> Result<Uuid> {
        let name = name_of("person", &new.name)?;
        if new.role == Role::Founder && !new.projects.is_empty() {
            return Err(Error::invalid(
                "A founder is one of the whole company. Leave out the projects, or choose \
                 team_lead.",
            ));
        }
        let mut write = self.write(caller).await?;
        let (connection, scope) = write.scoped();
        let projects = named::projects_of_verb(connection, scope, &new.projects).await?;
        let known = people::members_named(connection, scope, &name).await?;
        if let Some(known) = known.first() {
            let id = known.id;
            if give_roles(&mut write, id, new.role, &projects).await? {
                let told = json!({ "role": new.role, "projectIds": projects });
                write.event(Record::Member, id, "member.role_changed", told).await?;
                write.commit().await?;
            }
            return Ok(id);
        }
        let (id, now) = (write.id(), write.now);
        let user = User { id, name, created_at: now };
        let (connection, scope) = write.scoped();
        people::insert(connection, &user).await?;
        people::ensure_member(connection, scope, id, now).await?;
        give_roles(&mut write, id, new.role, &projects).await?;
        let told = json!({ "name": user.name, "role": new.role, "projectIds": projects });
        write.event(Record::Member, id, "member.added", told).await?;
        write.commit().await?;
        Ok(id)
    }
}

/// Gives a member the role, in the whole company or in the projects. Returns whether that changes
/// anything.
async fn give_roles(
    write: &mut Write<'_>,
    user_id: Uuid,
    role: Role,
    projects: &[Uuid],
) -> Result<bool> {
    let everywhere = [None];
    let places: Vec<Option<Uuid>> = match projects {
        [] => everywhere.into(),
        projects => projects.iter().copied().map(Some).collect(),
    };
    let mut changed = false;
    for project_id in places {
        let (connection, scope) = write.scoped();
        if people::has_role(connection, scope, user_id, role, project_id).await? {
            continue;
        }
        let company_id = scope.company();
        let row = UserRole {
            id: write.id(),
            company_id,
            user_id,
            role,
            project_id,
            created_at: write.now,
        };
        people::set_role(write.connection(), &row).await?;
        changed = true;
    }
    Ok(changed)
}
