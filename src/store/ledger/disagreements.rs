//! The table `disagreements`.

use uuid::Uuid;

use crate::domain::entity::Disagreement;
use crate::error::{Error, Result};
use crate::store::engine::{Connection, query};
use crate::store::order::rank_of;
use crate::store::row::{self, Columns, Row};

impl TryFrom<&Row> for Disagreement {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            decision_id: row.uuid("decision_id")?,
            topic: row.text("topic")?,
            author_position: row.optional_text("author_position")?,
            reviewer_position: row.optional_text("reviewer_position")?,
            risk_summary: row.optional_text("risk_summary")?,
            requires_human_decision: row.boolean("requires_human_decision")?,
            resolution: row.optional_text("resolution")?,
            created_at: row.time("created_at")?,
            recorded: row.recorded()?,
        })
    }
}

/// The disagreements about the decision $1, oldest first.
pub(super) const OF_DECISION: &str = concat!(
    "SELECT id, decision_id, topic, author_position, reviewer_position, risk_summary, \
     requires_human_decision, resolution, created_at, ",
    rank_of!("disagreement"),
    " FROM disagreements t WHERE decision_id = $1 \
     ORDER BY rank, created_at, id"
);

/// Adds a disagreement.
pub async fn insert(connection: &mut Connection, disagreement: &Disagreement) -> Result<()> {
    query(
        "INSERT INTO disagreements (id, decision_id, topic, author_position, reviewer_position, \
         risk_summary, requires_human_decision, resolution, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(row::id(disagreement.id))
    .bind(row::id(disagreement.decision_id))
    .bind(&disagreement.topic)
    .bind(&disagreement.author_position)
    .bind(&disagreement.reviewer_position)
    .bind(&disagreement.risk_summary)
    .bind(disagreement.requires_human_decision)
    .bind(&disagreement.resolution)
    .bind(disagreement.created_at.stored())
    .execute(connection)
    .await?;
    Ok(())
}

/// The disagreements about a decision, oldest first.
pub async fn of_decision(
    connection: &mut Connection,
    decision_id: Uuid,
) -> Result<Vec<Disagreement>> {
    row::each(&query(OF_DECISION).bind(row::id(decision_id)).fetch_all(connection).await?)
}
