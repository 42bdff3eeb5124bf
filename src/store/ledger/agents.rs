//! The table `agents`.

use std::collections::HashMap;

use uuid::Uuid;

use crate::domain::entity::Agent;
use crate::domain::value::{AgentType, Value};
use crate::error::{Error, Result};
use crate::store::engine::{Connection, query};
use crate::store::row::{self, Columns, Row};

macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT id, name, type, created_at FROM agents ", $rest)
    };
}

impl TryFrom<&Row> for Agent {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            name: row.text("name")?,
            kind: row.value("type")?,
            created_at: row.time("created_at")?,
        })
    }
}

/// Adds an agent.
pub async fn insert(connection: &mut Connection, agent: &Agent) -> Result<()> {
    query("INSERT INTO agents (id, name, type, created_at) VALUES ($1, $2, $3, $4)")
        .bind(row::id(agent.id))
        .bind(&agent.name)
        .bind(agent.kind.stored())
        .bind(agent.created_at.stored())
        .execute(connection)
        .await?;
    Ok(())
}

/// The agent of that id.
pub async fn by_id(connection: &mut Connection, id: Uuid) -> Result<Option<Agent>> {
    let row = query(select!("WHERE id = $1")).bind(row::id(id)).fetch_optional(connection).await?;
    row.as_ref().map(Agent::try_from).transpose()
}

/// The agent of exactly that name, else the oldest of that name in any case.
pub async fn by_name(connection: &mut Connection, name: &str) -> Result<Option<Agent>> {
    let exact =
        query(select!("WHERE name = $1")).bind(name).fetch_optional(&mut *connection).await?;
    if let Some(row) = exact {
        return Agent::try_from(&row).map(Some);
    }
    let folded = name.to_lowercase();
    let known = if folded.is_ascii() {
        query(select!("WHERE LOWER(name) = $1 ORDER BY created_at, id LIMIT 1"))
            .bind(folded)
            .fetch_optional(connection)
            .await?
    } else {
        // SQLite's LOWER knows ASCII alone, so other names are compared here; a ledger has few.
        let rows = query("SELECT name FROM agents ORDER BY created_at, id")
            .fetch_all(&mut *connection)
            .await?;
        let names = rows.iter().map(|row| row.text("name")).collect::<Result<Vec<_>>>()?;
        let Some(known) = names.into_iter().find(|known| known.to_lowercase() == folded) else {
            return Ok(None);
        };
        query(select!("WHERE name = $1")).bind(known).fetch_optional(connection).await?
    };
    known.as_ref().map(Agent::try_from).transpose()
}

/// The agents that are known to be no people, oldest first; a ledger has few.
pub async fn not_human(connection: &mut Connection) -> Result<Vec<Agent>> {
    let rows = query(select!("WHERE type <> $1 ORDER BY created_at, id"))
        .bind(AgentType::Human.stored())
        .fetch_all(connection)
        .await?;
    rows.iter().map(Agent::try_from).collect()
}

/// The names of all agents, by id.
pub async fn names(connection: &mut Connection) -> Result<HashMap<Uuid, String>> {
    let rows = query("SELECT id, name FROM agents").fetch_all(connection).await?;
    rows.iter().map(|row| Ok((row.uuid("id")?, row.text("name")?))).collect()
}

/// The names of the agents that have a part in a decision, or were asked for one, by id.
pub async fn names_around(
    connection: &mut Connection,
    decision_id: Uuid,
) -> Result<HashMap<Uuid, String>> {
    let rows = query(
        "SELECT id, name FROM agents WHERE id IN (\
         SELECT author_agent_id FROM decisions WHERE id = $1 \
         UNION SELECT reviewer_agent_id FROM reviews WHERE decision_id = $1 \
         UNION SELECT approver_agent_id FROM approvals WHERE decision_id = $1 \
         UNION SELECT actor_agent_id FROM events \
         WHERE entity_type = 'decision' AND entity_id = $1 \
         UNION SELECT REPLACE(json_extract(payload_json, '$.reviewer_agent_id'), '-', '') \
         FROM events WHERE entity_type = 'decision' AND entity_id = $1 \
         AND event_type = 'review.requested' AND json_valid(payload_json) \
         UNION SELECT actor_agent_id FROM events WHERE entity_type = 'review' \
         AND entity_id IN (SELECT id FROM reviews WHERE decision_id = $1) \
         UNION SELECT actor_agent_id FROM events WHERE entity_type = 'disagreement' \
         AND entity_id IN (SELECT id FROM disagreements WHERE decision_id = $1))",
    )
    .bind(row::id(decision_id))
    .fetch_all(connection)
    .await?;
    rows.iter().map(|row| Ok((row.uuid("id")?, row.text("name")?))).collect()
}
