//! The table `events`: the timeline. Events are only ever added.

use uuid::Uuid;

use super::row::{self, Columns, Row};
use crate::domain::chain::order::Recorded;
use crate::domain::entity::Event;
use crate::domain::value::Value;
use crate::error::{Error, Result};
use crate::store::engine::{Connection, query};

macro_rules! columns {
    () => {
        "e.id, e.project_id, e.entity_type, e.entity_id, e.event_type, e.actor_agent_id, \
         e.payload_json, e.created_at"
    };
}

impl TryFrom<&Row> for Event {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            project_id: row.uuid("project_id")?,
            entity_type: row.value("entity_type")?,
            entity_id: row.uuid("entity_id")?,
            event_type: row.text("event_type")?,
            actor_agent_id: row.optional_uuid("actor_agent_id")?,
            payload: row.json("payload_json")?,
            created_at: row.time("created_at")?,
        })
    }
}

/// The events of the decision $1, its reviews and its disagreements, in time order.
///
/// With joins in place of the lists, SQLite would read every event of every review.
pub(super) const OF_DECISION: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM events e \
     WHERE e.entity_type = 'decision' AND e.entity_id = $1 \
     UNION ALL SELECT ",
    columns!(),
    " FROM events e WHERE e.entity_type = 'review' AND e.entity_id IN \
     (SELECT id FROM reviews WHERE decision_id = $1) \
     UNION ALL SELECT ",
    columns!(),
    " FROM events e WHERE e.entity_type = 'disagreement' AND e.entity_id IN \
     (SELECT id FROM disagreements WHERE decision_id = $1) \
     ORDER BY 8, 1"
);

/// Adds an event. The original keeps the entity type as plain text in lower case.
pub async fn insert(connection: &mut Connection, event: &Event) -> Result<()> {
    query(
        "INSERT INTO events (id, project_id, entity_type, entity_id, event_type, actor_agent_id, \
         payload_json, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(row::id(event.id))
    .bind(row::id(event.project_id))
    .bind(event.entity_type.wire())
    .bind(row::id(event.entity_id))
    .bind(&event.event_type)
    .bind(event.actor_agent_id.map(row::id))
    .bind(event.payload.as_ref().map(ToString::to_string))
    .bind(event.created_at.stored())
    .execute(connection)
    .await?;
    Ok(())
}

/// The events of a task and of every decision linked to it, with their reviews and
/// disagreements, in time order.
pub async fn of_task(connection: &mut Connection, task_id: Uuid) -> Result<Vec<Event>> {
    let rows = query(concat!(
        "SELECT ",
        columns!(),
        " FROM events e \
         WHERE e.entity_type = 'task' AND e.entity_id = $1 \
         UNION ALL SELECT ",
        columns!(),
        " FROM events e WHERE e.entity_type = 'decision' AND e.entity_id IN \
         (SELECT id FROM decisions WHERE task_id = $1) \
         UNION ALL SELECT ",
        columns!(),
        " FROM events e WHERE e.entity_type = 'review' AND e.entity_id IN \
         (SELECT r.id FROM decisions d JOIN reviews r ON r.decision_id = d.id \
         WHERE d.task_id = $1) \
         UNION ALL SELECT ",
        columns!(),
        " FROM events e WHERE e.entity_type = 'disagreement' AND e.entity_id IN \
         (SELECT g.id FROM decisions d JOIN disagreements g ON g.decision_id = d.id \
         WHERE d.task_id = $1) \
         ORDER BY 8, 1"
    ))
    .bind(row::id(task_id))
    .fetch_all(connection)
    .await?;
    row::each(&rows)
}

/// A run of the policies, as its event tells of it.
pub struct PolicyRunTold {
    pub recorded: Recorded,
    /// `None` for the defaults, and where the original ran them.
    pub config_hash: Option<String>,
}

/// The runs of the policies over a decision's change, oldest first.
pub async fn policy_runs(
    connection: &mut Connection,
    decision_id: Uuid,
) -> Result<Vec<PolicyRunTold>> {
    let rows = query(
        "SELECT e.payload_json, e.created_at, c.place FROM events e \
         LEFT JOIN event_chain c ON c.event_id = e.id WHERE e.entity_type = 'decision' \
         AND e.entity_id = $1 AND e.event_type = 'decision.policy_evaluated' \
         ORDER BY c.place ASC NULLS LAST, e.created_at, e.id",
    )
    .bind(row::id(decision_id))
    .fetch_all(connection)
    .await?;
    let told = |row: &Row| -> Result<PolicyRunTold> {
        let payload = row.json("payload_json")?;
        let hash = payload.as_ref().and_then(|payload| payload["config_hash"].as_str());
        Ok(PolicyRunTold { recorded: row.recorded()?, config_hash: hash.map(str::to_owned) })
    };
    rows.iter().map(told).collect()
}
