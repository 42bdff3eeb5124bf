//! What a person looks for across decisions.

use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use super::row::{self, Columns};
use crate::domain::time::Timestamp;
use crate::domain::value::{DecisionStatus, RiskLevel, Value};
use crate::error::{Error, Result};

/// A decision as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub id: Uuid,
    pub display_id: String,
    pub project: String,
    pub title: String,
    pub author: String,
    pub status: DecisionStatus,
    pub risk_level: RiskLevel,
    pub human_approval_required: bool,
    pub created_at: Timestamp,
}

/// Which decisions are looked for; what is `None` does not narrow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub project_id: Option<Uuid>,
    pub status: Option<DecisionStatus>,
    pub risk_level: Option<RiskLevel>,
    /// The name of the author, in any case.
    pub agent: Option<String>,
    /// Recorded then or later.
    pub since: Option<Timestamp>,
}

impl TryFrom<&SqliteRow> for Line {
    type Error = Error;

    fn try_from(row: &SqliteRow) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            display_id: row.text("display_id")?,
            project: row.text("project")?,
            title: row.text("title")?,
            author: row.text("author")?,
            status: row.value("status")?,
            risk_level: row.value("risk_level")?,
            human_approval_required: row.boolean("human_approval_required")?,
            created_at: row.time("created_at")?,
        })
    }
}

/// The decisions that pass a filter, newest first.
pub async fn decisions(connection: &mut SqliteConnection, filter: &Filter) -> Result<Vec<Line>> {
    let rows = sqlx::query(
        "SELECT d.id, d.display_id, p.name AS project, d.title, a.name AS author, d.status, \
         d.risk_level, d.human_approval_required, d.created_at \
         FROM decisions d JOIN projects p ON p.id = d.project_id \
         JOIN agents a ON a.id = d.author_agent_id \
         WHERE ($1 IS NULL OR d.project_id = $1) AND ($2 IS NULL OR d.status = $2) \
         AND ($3 IS NULL OR d.risk_level = $3) AND ($4 IS NULL OR d.created_at >= $4) \
         ORDER BY d.created_at DESC, d.id DESC",
    )
    .bind(filter.project_id.map(row::id))
    .bind(filter.status.map(Value::stored))
    .bind(filter.risk_level.map(Value::stored))
    .bind(filter.since.map(Timestamp::stored))
    .fetch_all(connection)
    .await?;
    let mut lines: Vec<Line> = rows.iter().map(Line::try_from).collect::<Result<_>>()?;
    // SQL folds the case of ASCII alone.
    if let Some(agent) = filter.agent.as_ref().map(|agent| agent.trim().to_lowercase()) {
        lines.retain(|line| line.author.to_lowercase() == agent);
    }
    Ok(lines)
}

/// The decisions of a project to which a change was attached that has this commit, this diff or
/// this parent.
pub async fn about_commit(
    connection: &mut SqliteConnection,
    project_id: Uuid,
    commit_hash: &str,
    diff_hash: &str,
    parent_commit_hash: Option<&str>,
) -> Result<Vec<Uuid>> {
    let rows = sqlx::query(
        "SELECT DISTINCT d.id FROM decisions d JOIN git_changes g ON g.decision_id = d.id \
         WHERE d.project_id = $1 \
         AND (g.commit_hash = $2 OR g.diff_hash = $3 OR g.parent_commit_hash = $4) ORDER BY d.id",
    )
    .bind(row::id(project_id))
    .bind(commit_hash)
    .bind(diff_hash)
    .bind(parent_commit_hash)
    .fetch_all(connection)
    .await?;
    rows.iter().map(|row| row.uuid("id")).collect()
}
