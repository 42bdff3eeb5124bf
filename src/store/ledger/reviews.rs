//! The tables `reviews` and `findings`.

use uuid::Uuid;

use crate::domain::entity::{Finding, Review};
use crate::domain::value::Value;
use crate::error::{Error, Result};
use crate::store::engine::{Connection, query};
use crate::store::order::rank_of;
use crate::store::row::{self, Columns, Row};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, display_id, decision_id, reviewer_agent_id, status, summary, created_at, ",
            rank_of!("review"),
            " FROM reviews t ",
            $rest
        )
    };
}

impl TryFrom<&Row> for Review {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            display_id: row.text("display_id")?,
            decision_id: row.uuid("decision_id")?,
            reviewer_agent_id: row.uuid("reviewer_agent_id")?,
            status: row.value("status")?,
            summary: row.optional_text("summary")?,
            created_at: row.time("created_at")?,
            recorded: row.recorded()?,
        })
    }
}

impl TryFrom<&Row> for Finding {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            severity: row.value("severity")?,
            category: row.value("category")?,
            message: row.text("message")?,
            file_path: row.optional_text("file_path")?,
            line_start: row.optional_integer("line_start")?,
            line_end: row.optional_integer("line_end")?,
            recommendation: row.optional_text("recommendation")?,
        })
    }
}

/// The reviews of the decision $1, oldest first.
pub(super) const OF_DECISION: &str =
    select!("WHERE decision_id = $1 ORDER BY rank, created_at, id");

/// The findings of all reviews of the decision $1, in the order they came.
pub(super) const FINDINGS_OF_DECISION: &str = "SELECT f.review_id, f.severity, f.category, f.file_path, f.line_start, f.line_end, \
     f.message, f.recommendation FROM reviews r JOIN findings f ON f.review_id = r.id \
     WHERE r.decision_id = $1 ORDER BY f.id";

/// An open review with the names that a list shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenReview {
    /// The display ID of the review.
    pub review: String,
    /// The display ID of the decision.
    pub decision: String,
    /// The name of the reviewer.
    pub reviewer: String,
    /// What the reviewer concluded.
    pub status: crate::domain::value::ReviewStatus,
}

/// Adds a review.
pub async fn insert(connection: &mut Connection, review: &Review) -> Result<()> {
    query(
        "INSERT INTO reviews (id, display_id, decision_id, reviewer_agent_id, status, summary, \
         created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(row::id(review.id))
    .bind(&review.display_id)
    .bind(row::id(review.decision_id))
    .bind(row::id(review.reviewer_agent_id))
    .bind(review.status.stored())
    .bind(&review.summary)
    .bind(review.created_at.stored())
    .execute(connection)
    .await?;
    Ok(())
}

/// Adds a finding to a review; ids that grow keep the findings in the order they came.
pub async fn insert_finding(
    connection: &mut Connection,
    id: Uuid,
    review_id: Uuid,
    finding: &Finding,
) -> Result<()> {
    query(
        "INSERT INTO findings (id, review_id, severity, category, file_path, line_start, \
         line_end, message, recommendation) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(row::id(id))
    .bind(row::id(review_id))
    .bind(finding.severity.stored())
    .bind(finding.category.stored())
    .bind(&finding.file_path)
    .bind(finding.line_start)
    .bind(finding.line_end)
    .bind(&finding.message)
    .bind(&finding.recommendation)
    .execute(connection)
    .await?;
    Ok(())
}

/// The review of that id.
pub async fn by_id(connection: &mut Connection, id: Uuid) -> Result<Option<Review>> {
    let row = query(select!("WHERE id = $1")).bind(row::id(id)).fetch_optional(connection).await?;
    row.as_ref().map(Review::try_from).transpose()
}

/// The reviews of a decision, oldest first.
pub async fn of_decision(connection: &mut Connection, decision_id: Uuid) -> Result<Vec<Review>> {
    row::each(&query(OF_DECISION).bind(row::id(decision_id)).fetch_all(connection).await?)
}

/// The findings of all reviews of a decision, each with its review's id, in the order they
/// came.
pub async fn findings_of_decision(
    connection: &mut Connection,
    decision_id: Uuid,
) -> Result<Vec<(Uuid, Finding)>> {
    let rows = query(FINDINGS_OF_DECISION).bind(row::id(decision_id));
    let rows = rows.fetch_all(connection).await?;
    rows.iter().map(|row| Ok((row.uuid("review_id")?, Finding::try_from(row)?))).collect()
}

/// The reviews of a project on decisions now in `review_required`, oldest first.
pub async fn open(connection: &mut Connection, project_id: Uuid) -> Result<Vec<OpenReview>> {
    let rows = query(
        "SELECT r.display_id AS review, d.display_id AS decision, a.name AS reviewer, r.status \
         FROM decisions d JOIN reviews r ON r.decision_id = d.id \
         JOIN agents a ON a.id = r.reviewer_agent_id \
         WHERE d.project_id = $1 AND d.status = 'REVIEW_REQUIRED' ORDER BY r.created_at, r.id",
    )
    .bind(row::id(project_id))
    .fetch_all(connection)
    .await?;
    Ok(row::readable(&rows, |row| {
        Ok(OpenReview {
            review: row.text("review")?,
            decision: row.text("decision")?,
            reviewer: row.text("reviewer")?,
            status: row.value("status")?,
        })
    }))
}
