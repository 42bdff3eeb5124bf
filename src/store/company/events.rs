//! The table `aoa_events`: what happened in the companies. Events are only ever added.

use crate::domain::company::record::Event;
use crate::domain::time::Timestamp;
use crate::error::{Error, Result};
use crate::store::engine::{Connection, query};
use crate::store::row::{self, Columns as _};

/// Adds an event.
pub async fn insert(connection: &mut Connection, event: &Event) -> Result<()> {
    query(
        "INSERT INTO aoa_events (id, company_id, entity_type, entity_id, event_type, actor, \
         user_id, agent_id, key_id, session_id, run_id, payload_json, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
    )
    .bind(row::id(event.id))
    .bind(row::id(event.company_id))
    .bind(event.record.name())
    .bind(row::id(event.record_id))
    .bind(&event.event_type)
    .bind(event.by.actor)
    .bind(event.by.user_id.map(row::id))
    .bind(event.by.agent_id.map(row::id))
    .bind(event.by.key_id.map(row::id))
    .bind(event.by.session_id.map(row::id))
    .bind(event.by.run_id.map(row::id))
    .bind(event.payload.to_string())
    .bind(event.created_at.stored())
    .execute(connection)
    .await
}

/// The time of the event that was recorded last; `None` also if that row is damaged, which is no
/// reason to record nothing any more.
pub async fn last_time(connection: &mut Connection) -> Result<Option<Timestamp>> {
    // Ids are ordered by the time at which they were made.
    let row = query("SELECT created_at FROM aoa_events ORDER BY id DESC LIMIT 1");
    let row = row.fetch_optional(connection).await?;
    let unreadable = |error: &Error| tracing::error!(%error, "the last event is passed over");
    Ok(row.and_then(|row| row.time("created_at").inspect_err(unreadable).ok()))
}
