//! The table `aoa_mcp_keys`.

use uuid::Uuid;

use crate::domain::company::access::standing::Scope;
use crate::domain::company::entity::McpKey;
use crate::domain::company::value::Role;
use crate::domain::time::Timestamp;
use crate::domain::value::Value as _;
use crate::error::{Error, Result};
use crate::store::engine::{Connection, query};
use crate::store::row::{self, Columns, Row};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT k.id, k.company_id, k.user_id, k.name, k.hash, k.role, k.project_ids, \
             k.created_at, k.last_used_at, k.revoked_at FROM aoa_mcp_keys k ",
            $rest
        )
    };
}

impl TryFrom<&Row> for McpKey {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        let role = row.optional_text("role")?.map(|_| row.value::<Role>("role")).transpose()?;
        let projects = row.optional_text("project_ids")?.map(|ids| {
            // One that is none opens nothing.
            ids.split(',').filter_map(|id| Uuid::try_parse(id).ok()).collect()
        });
        Ok(Self {
            id: row.uuid("id")?,
            company_id: row.uuid("company_id")?,
            user_id: row.uuid("user_id")?,
            name: row.text("name")?,
            hash: row.text("hash")?,
            role,
            projects,
            created_at: row.time("created_at")?,
            last_used_at: row.optional_time("last_used_at")?,
            revoked_at: row.optional_time("revoked_at")?,
        })
    }
}

/// Adds a key.
pub async fn insert(connection: &mut Connection, key: &McpKey) -> Result<()> {
    let projects = key
        .projects
        .as_ref()
        .map(|projects| projects.iter().copied().map(row::id).collect::<Vec<_>>().join(","));
    query(
        "INSERT INTO aoa_mcp_keys (id, company_id, user_id, name, hash, role, project_ids, \
         created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(row::id(key.id))
    .bind(row::id(key.company_id))
    .bind(row::id(key.user_id))
    .bind(&key.name)
    .bind(&key.hash)
    .bind(key.role.map(|role| role.wire()))
    .bind(projects)
    .bind(key.created_at.stored())
    .execute(connection)
    .await
}

/// The key with that SHA-256, in whatever company: who shows it is known by it.
pub async fn by_hash(connection: &mut Connection, hash: &str) -> Result<Option<McpKey>> {
    let row = query(select!("WHERE k.hash = $1")).bind(hash);
    row.fetch_optional(connection).await?.as_ref().map(McpKey::try_from).transpose()
}

/// The key of that id, in whatever company.
pub async fn by_id(connection: &mut Connection, id: Uuid) -> Result<Option<McpKey>> {
    let row = query(select!("WHERE k.id = $1")).bind(row::id(id));
    row.fetch_optional(connection).await?.as_ref().map(McpKey::try_from).transpose()
}

/// Every key of the company, oldest first.
pub async fn all(connection: &mut Connection, scope: &Scope) -> Result<Vec<McpKey>> {
    let rows = query(select!("WHERE k.company_id = $1 ORDER BY k.created_at, k.id"))
        .bind(row::id(scope.company()));
    row::each(&rows.fetch_all(connection).await?)
}

/// Revokes a key of the company.
pub async fn revoke(
    connection: &mut Connection,
    scope: &Scope,
    id: Uuid,
    now: Timestamp,
) -> Result<()> {
    query("UPDATE aoa_mcp_keys SET revoked_at = $1 WHERE company_id = $2 AND id = $3")
        .bind(now.stored())
        .bind(row::id(scope.company()))
        .bind(row::id(id))
        .execute(connection)
        .await
}
