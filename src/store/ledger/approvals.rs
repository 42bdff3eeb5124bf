//! The table `approvals`.

use uuid::Uuid;

use crate::domain::entity::Approval;
use crate::domain::value::Value;
use crate::error::{Error, Result};
use crate::store::engine::{Connection, query};
use crate::store::row::{self, Columns, Row, place_of};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, decision_id, approver_agent_id, status, comment, created_at, ",
            place_of!("approval"),
            " FROM approvals t ",
            $rest
        )
    };
}

impl TryFrom<&Row> for Approval {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            decision_id: row.uuid("decision_id")?,
            approver_agent_id: row.uuid("approver_agent_id")?,
            status: row.value("status")?,
            comment: row.optional_text("comment")?,
            created_at: row.time("created_at")?,
            recorded: row.recorded()?,
        })
    }
}

/// The verdicts on the decision $1, oldest first.
pub(super) const OF_DECISION: &str =
    select!("WHERE decision_id = $1 ORDER BY place ASC NULLS LAST, created_at, id");

/// Adds a verdict.
pub async fn insert(connection: &mut Connection, approval: &Approval) -> Result<()> {
    query(
        "INSERT INTO approvals (id, decision_id, approver_agent_id, status, comment, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(row::id(approval.id))
    .bind(row::id(approval.decision_id))
    .bind(row::id(approval.approver_agent_id))
    .bind(approval.status.stored())
    .bind(&approval.comment)
    .bind(approval.created_at.stored())
    .execute(connection)
    .await?;
    Ok(())
}

/// The newest verdict on a decision.
pub async fn newest(connection: &mut Connection, decision_id: Uuid) -> Result<Option<Approval>> {
    let row = query(select!(
        "WHERE decision_id = $1 ORDER BY place DESC NULLS FIRST, created_at DESC, id DESC LIMIT 1"
    ))
    .bind(row::id(decision_id))
    .fetch_optional(connection)
    .await?;
    row.as_ref().map(Approval::try_from).transpose()
}
