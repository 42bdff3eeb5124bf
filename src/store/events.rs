//! The table `events`: the timeline. Events are only ever added.

use serde::Serialize;
use uuid::Uuid;

use super::order::rank_of_event;
use super::row::{self, Columns, Row};
use crate::domain::chain::WrittenBy;
use crate::domain::entity::Event;
use crate::domain::time::Timestamp;
use crate::domain::value::Value;
use crate::error::{Error, Result};
use crate::store::engine::{Connection, query};

/// The events that meet one of these conditions, in the order in which they were taken in.
///
/// With joins in place of lists in the conditions, SQLite would read every event of every review.
macro_rules! told {
    ($first:literal $(, $more:literal)*) => {
        concat!(told!(one $first) $(, " UNION ALL ", told!(one $more))*, " ORDER BY rank, 8, 1")
    };
    (one $condition:literal) => {
        concat!(
            "SELECT e.id, e.project_id, e.entity_type, e.entity_id, e.event_type, \
             e.actor_agent_id, e.payload_json, e.created_at, c.origin, ",
            rank_of_event!(),
            " AS rank FROM events e LEFT JOIN event_chain c ON c.event_id = e.id WHERE ",
            $condition
        )
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

impl TryFrom<&Row> for EventTold {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        let origin = row.optional_text("origin")?;
        Ok(Self {
            written_by: WrittenBy::of(origin.as_deref(), row.recorded()?.waits()),
            event: Event::try_from(row)?,
        })
    }
}

/// An event of the timeline, and who wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventTold {
    pub event: Event,
    pub written_by: WrittenBy,
}

/// The events of the decision $1, its reviews and its disagreements.
pub(super) const OF_DECISION: &str = told!(
    "e.entity_type = 'decision' AND e.entity_id = $1",
    "e.entity_type = 'review' AND e.entity_id IN \
     (SELECT id FROM reviews WHERE decision_id = $1)",
    "e.entity_type = 'disagreement' AND e.entity_id IN \
     (SELECT id FROM disagreements WHERE decision_id = $1)"
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
/// disagreements, in the order in which they were taken in.
pub async fn of_task(connection: &mut Connection, task_id: Uuid) -> Result<Vec<EventTold>> {
    let rows = query(told!(
        "e.entity_type = 'task' AND e.entity_id = $1",
        "e.entity_type = 'decision' AND e.entity_id IN \
         (SELECT id FROM decisions WHERE task_id = $1)",
        "e.entity_type = 'review' AND e.entity_id IN \
         (SELECT r.id FROM decisions d JOIN reviews r ON r.decision_id = d.id \
         WHERE d.task_id = $1)",
        "e.entity_type = 'disagreement' AND e.entity_id IN \
         (SELECT g.id FROM decisions d JOIN disagreements g ON g.decision_id = d.id \
         WHERE d.task_id = $1)"
    ))
    .bind(row::id(task_id))
    .fetch_all(connection)
    .await?;
    row::each(&rows)
}

/// An event that is dated later than it can be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AheadOfTime {
    pub event_id: String,
    /// Such as `decision.noted`.
    pub event_type: String,
    /// As it is stored.
    pub created_at: String,
}

/// The events of a project, or of all, that are dated after a time, the earliest first: at most
/// 20 of them.
pub async fn dated_after(
    connection: &mut Connection,
    project_id: Option<Uuid>,
    time: Timestamp,
) -> Result<Vec<AheadOfTime>> {
    // By the index on both: none is on the time alone.
    let rows = query(
        "SELECT e.id, e.event_type, e.created_at FROM projects p \
         JOIN events e ON e.project_id = p.id AND e.created_at > $1 \
         WHERE ($2 IS NULL OR p.id = $2) ORDER BY e.created_at, e.id LIMIT 20",
    )
    .bind(time.stored())
    .bind(project_id.map(row::id));
    let ahead = |row: &Row| {
        Ok(AheadOfTime {
            event_id: row.text("id")?,
            event_type: row.text("event_type")?,
            created_at: row.text("created_at")?,
        })
    };
    rows.fetch_all(connection).await?.iter().map(ahead).collect()
}
