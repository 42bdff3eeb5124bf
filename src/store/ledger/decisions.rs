//! The table `decisions`.

use uuid::Uuid;

use crate::domain::entity::Decision;
use crate::domain::id::DisplayId;
use crate::domain::time::Timestamp;
use crate::domain::value::{DecisionStatus, Value};
use crate::error::{Error, Result};
use crate::store::engine::{Connection, query};
use crate::store::row::{self, Columns, Row};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, display_id, project_id, task_id, author_agent_id, title, summary, \
             rationale, status, risk_level, human_approval_required, created_at, updated_at \
             FROM decisions ",
            $rest
        )
    };
}

impl TryFrom<&Row> for Decision {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            display_id: row.text("display_id")?,
            project_id: row.uuid("project_id")?,
            task_id: row.optional_uuid("task_id")?,
            author_agent_id: row.uuid("author_agent_id")?,
            title: row.text("title")?,
            summary: row.optional_text("summary")?,
            rationale: row.optional_text("rationale")?,
            status: row.value("status")?,
            risk_level: row.value("risk_level")?,
            human_approval_required: row.boolean("human_approval_required")?,
            created_at: row.time("created_at")?,
            updated_at: row.time("updated_at")?,
        })
    }
}

/// Adds a decision.
pub async fn insert(connection: &mut Connection, decision: &Decision) -> Result<()> {
    query(
        "INSERT INTO decisions (id, display_id, project_id, task_id, author_agent_id, title, \
         summary, rationale, status, risk_level, human_approval_required, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
    )
    .bind(row::id(decision.id))
    .bind(&decision.display_id)
    .bind(row::id(decision.project_id))
    .bind(decision.task_id.map(row::id))
    .bind(row::id(decision.author_agent_id))
    .bind(&decision.title)
    .bind(&decision.summary)
    .bind(&decision.rationale)
    .bind(decision.status.stored())
    .bind(decision.risk_level.stored())
    .bind(decision.human_approval_required)
    .bind(decision.created_at.stored())
    .bind(decision.updated_at.stored())
    .execute(connection)
    .await?;
    Ok(())
}

/// The decision of that id.
pub async fn by_id(connection: &mut Connection, id: Uuid) -> Result<Option<Decision>> {
    let row = query(select!("WHERE id = $1")).bind(row::id(id)).fetch_optional(connection).await?;
    row.as_ref().map(Decision::try_from).transpose()
}

/// The decision of that display ID, if there is just one in the ledger.
pub async fn only(connection: &mut Connection, id: DisplayId) -> Result<Option<Decision>> {
    let rows = query(select!("WHERE display_id = $1 LIMIT 2"))
        .bind(id.to_string())
        .fetch_all(connection)
        .await?;
    row::only(&rows)
}

/// The decisions of a project that wait for a person's verdict, oldest first.
pub async fn awaiting_verdict(
    connection: &mut Connection,
    project_id: Uuid,
) -> Result<Vec<Decision>> {
    let rows = query(select!(
        "WHERE project_id = $1 AND status IN ('REVIEW_REQUIRED', 'CHANGES_REQUESTED') \
         AND human_approval_required = 1 ORDER BY created_at, id"
    ))
    .bind(row::id(project_id))
    .fetch_all(connection)
    .await?;
    Ok(row::readable(&rows, |row| Decision::try_from(row)))
}

/// Puts a decision into a status.
pub async fn set_status(
    connection: &mut Connection,
    id: Uuid,
    status: DecisionStatus,
    now: Timestamp,
) -> Result<()> {
    query("UPDATE decisions SET status = $1, updated_at = $2 WHERE id = $3")
        .bind(status.stored())
        .bind(now.stored())
        .bind(row::id(id))
        .execute(connection)
        .await?;
    Ok(())
}
