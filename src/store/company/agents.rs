//! The tables `aoa_agents`, `aoa_agent_projects` and `aoa_agent_keys`.

use uuid::Uuid;

use crate::domain::company::access::standing::Scope;
use crate::domain::company::entity::{Agent, AgentKey};
use crate::domain::company::value::{AgentStatus, Permission};
use crate::domain::time::Timestamp;
use crate::domain::value::Value as _;
use crate::error::{Error, Result};
use crate::store::engine::{Connection, composed, query};
use crate::store::row::{self, Columns, Row};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT a.id, a.company_id, a.name, a.role, a.title, a.status, a.reports_to, \
             a.created_at, a.updated_at FROM aoa_agents a ",
            $rest
        )
    };
}

impl TryFrom<&Row> for Agent {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            company_id: row.uuid("company_id")?,
            name: row.text("name")?,
            role: row.value("role")?,
            title: row.optional_text("title")?,
            status: row.value("status")?,
            reports_to: row.optional_uuid("reports_to")?,
            created_at: row.time("created_at")?,
            updated_at: row.time("updated_at")?,
        })
    }
}

/// Adds an agent.
pub async fn insert(connection: &mut Connection, agent: &Agent) -> Result<()> {
    query(
        "INSERT INTO aoa_agents (id, company_id, name, role, title, status, reports_to, \
         created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(row::id(agent.id))
    .bind(row::id(agent.company_id))
    .bind(&agent.name)
    .bind(agent.role.wire())
    .bind(&agent.title)
    .bind(agent.status.wire())
    .bind(agent.reports_to.map(row::id))
    .bind(agent.created_at.stored())
    .bind(agent.updated_at.stored())
    .execute(connection)
    .await
}

/// The agent of that id, anywhere in the company of the scope.
pub async fn in_company(
    connection: &mut Connection,
    scope: &Scope,
    id: Uuid,
) -> Result<Option<Agent>> {
    let row = query(select!("WHERE a.company_id = $1 AND a.id = $2"))
        .bind(row::id(scope.company()))
        .bind(row::id(id));
    row.fetch_optional(connection).await?.as_ref().map(Agent::try_from).transpose()
}

/// The agents of that name in the company of the scope that are not terminated.
pub async fn named(connection: &mut Connection, scope: &Scope, name: &str) -> Result<Vec<Agent>> {
    let rows = query(select!(
        "WHERE a.company_id = $1 AND a.name = $2 AND a.status <> 'terminated' ORDER BY a.id"
    ))
    .bind(row::id(scope.company()))
    .bind(name);
    row::each(&rows.fetch_all(connection).await?)
}

/// Puts an agent into a status.
pub async fn set_status(
    connection: &mut Connection,
    scope: &Scope,
    id: Uuid,
    status: AgentStatus,
    now: Timestamp,
) -> Result<()> {
    query("UPDATE aoa_agents SET status = $1, updated_at = $2 WHERE company_id = $3 AND id = $4")
        .bind(status.wire())
        .bind(now.stored())
        .bind(row::id(scope.company()))
        .bind(row::id(id))
        .execute(connection)
        .await
}

/// Assigns an agent to a project of the same company, unless it is. Returns whether it was not.
pub async fn assign(
    connection: &mut Connection,
    scope: &Scope,
    agent_id: Uuid,
    project_id: Uuid,
) -> Result<bool> {
    let assigned = query(
        "INSERT INTO aoa_agent_projects (agent_id, project_id, company_id) VALUES ($1, $2, $3) \
         ON CONFLICT (agent_id, project_id) DO NOTHING RETURNING agent_id",
    )
    .bind(row::id(agent_id))
    .bind(row::id(project_id))
    .bind(row::id(scope.company()));
    Ok(assigned.fetch_optional(connection).await?.is_some())
}

/// What an agent is in its company: its projects, and what was granted to it.
pub async fn rights(
    connection: &mut Connection,
    company_id: Uuid,
    agent_id: Uuid,
) -> Result<(Vec<Uuid>, Vec<Permission>)> {
    let rows = query(
        "SELECT p.project_id, NULL AS permission FROM aoa_agent_projects p \
         WHERE p.agent_id = $2 AND p.company_id = $1 \
         UNION ALL SELECT NULL, g.permission FROM aoa_grants g \
         WHERE g.company_id = $1 AND g.agent_id = $2",
    )
    .bind(row::id(company_id))
    .bind(row::id(agent_id))
    .fetch_all(connection)
    .await?;
    let (mut projects, mut grants) = (Vec::new(), Vec::new());
    for row in &rows {
        match row.optional_uuid("project_id")? {
            Some(project) => projects.push(project),
            None => grants.push(row.value("permission")?),
        }
    }
    Ok((projects, grants))
}

/// Adds a key of an agent.
pub async fn insert_key(connection: &mut Connection, key: &AgentKey) -> Result<()> {
    query(
        "INSERT INTO aoa_agent_keys (id, company_id, agent_id, hash, created_at) \
         VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(row::id(key.id))
    .bind(row::id(key.company_id))
    .bind(row::id(key.agent_id))
    .bind(&key.hash)
    .bind(key.created_at.stored())
    .execute(connection)
    .await
}

/// The key of an agent with that SHA-256, in whatever company: who shows it is known by it.
pub async fn key_by_hash(connection: &mut Connection, hash: &str) -> Result<Option<AgentKey>> {
    read_key(connection, "hash", hash.to_owned()).await
}

/// The key of an agent with that id, in whatever company.
pub async fn key_by_id(connection: &mut Connection, id: Uuid) -> Result<Option<AgentKey>> {
    read_key(connection, "id", row::id(id)).await
}

async fn read_key(
    connection: &mut Connection,
    column: &str,
    value: String,
) -> Result<Option<AgentKey>> {
    let sql = format!(
        "SELECT id, company_id, agent_id, hash, created_at, revoked_at FROM aoa_agent_keys \
         WHERE {column} = $1"
    );
    let row = composed(sql).bind(value).fetch_optional(connection).await?;
    row.map(|row| {
        Ok(AgentKey {
            id: row.uuid("id")?,
            company_id: row.uuid("company_id")?,
            agent_id: row.uuid("agent_id")?,
            hash: row.text("hash")?,
            created_at: row.time("created_at")?,
            revoked_at: row.optional_time("revoked_at")?,
        })
    })
    .transpose()
}
