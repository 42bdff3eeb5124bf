//! What a person looks for across decisions.

use std::collections::HashMap;

use serde_json::Value as Json;
use uuid::Uuid;

use crate::domain::chain::order::Recorded;
use crate::domain::time::Timestamp;
use crate::domain::value::{DecisionStatus, PolicyResultStatus, RiskLevel, Value};
use crate::error::{Error, Result};
use crate::store::engine::{Connection, query};
use crate::store::ledger::git_changes::Mark;
use crate::store::order::{rank_of, rank_of_event, rank_of_result};
use crate::store::row::{self, Columns, Row};

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
    pub author: Option<String>,
    /// Recorded then or later.
    pub since: Option<Timestamp>,
    /// Only those without a verdict that stands.
    pub open: bool,
}

impl TryFrom<&Row> for Line {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
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
pub async fn decisions(connection: &mut Connection, filter: &Filter) -> Result<Vec<Line>> {
    let rows = query(
        "SELECT d.id, d.display_id, p.name AS project, d.title, a.name AS author, d.status, \
         d.risk_level, d.human_approval_required, d.created_at \
         FROM decisions d JOIN projects p ON p.id = d.project_id \
         JOIN agents a ON a.id = d.author_agent_id \
         WHERE ($1 IS NULL OR d.project_id = $1) AND ($2 IS NULL OR d.status = $2) \
         AND ($3 IS NULL OR d.risk_level = $3) AND ($4 IS NULL OR d.created_at >= $4) \
         AND ($5 = 0 OR d.status NOT IN ('APPROVED', 'REJECTED')) \
         ORDER BY d.created_at DESC, d.id DESC",
    )
    .bind(filter.project_id.map(row::id))
    .bind(filter.status.map(Value::stored))
    .bind(filter.risk_level.map(Value::stored))
    .bind(filter.since.map(Timestamp::earliest_stored))
    .bind(filter.open)
    .fetch_all(connection)
    .await?;
    let mut lines: Vec<Line> = rows.iter().map(Line::try_from).collect::<Result<_>>()?;
    // SQL folds the case of ASCII alone.
    if let Some(author) = &filter.author {
        lines.retain(|line| is_name(author, &line.author));
    }
    Ok(lines)
}

/// Somebody who has decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    pub name: String,
    /// How many decisions.
    pub decisions: i64,
}

impl Author {
    /// Whether `name` is theirs, in any case.
    pub fn is_named(&self, name: &str) -> bool {
        is_name(name, &self.name)
    }
}

fn is_name(given: &str, name: &str) -> bool {
    name.to_lowercase() == given.trim().to_lowercase()
}

/// Everybody who has decided in a project or the whole ledger, the most active first.
pub async fn authors(connection: &mut Connection, project_id: Option<Uuid>) -> Result<Vec<Author>> {
    let rows = query(
        "SELECT a.name, COUNT(*) AS number FROM decisions d JOIN agents a \
         ON a.id = d.author_agent_id WHERE $1 IS NULL OR d.project_id = $1 \
         GROUP BY a.id, a.name ORDER BY number DESC, a.name",
    )
    .bind(project_id.map(row::id))
    .fetch_all(connection)
    .await?;
    let author =
        |row: &Row| Ok(Author { name: row.text("name")?, decisions: row.integer("number")? });
    rows.iter().map(author).collect()
}

/// How many decisions of a project are in each status.
pub async fn counts(
    connection: &mut Connection,
    project_id: Uuid,
) -> Result<Vec<(DecisionStatus, i64)>> {
    let rows = query(
        "SELECT status, COUNT(*) AS number FROM decisions WHERE project_id = $1 GROUP BY status",
    )
    .bind(row::id(project_id))
    .fetch_all(connection)
    .await?;
    rows.iter().map(|row| Ok((row.value("status")?, row.integer("number")?))).collect()
}

/// The newest approved decisions of a project.
pub async fn approved(
    connection: &mut Connection,
    project_id: Uuid,
    limit: u32,
) -> Result<Vec<Uuid>> {
    let rows = query(
        "SELECT id FROM decisions WHERE project_id = $1 AND status = 'APPROVED' \
         ORDER BY created_at DESC, id DESC LIMIT $2",
    );
    let rows = rows.bind(row::id(project_id)).bind(limit).fetch_all(connection).await?;
    rows.iter().map(|row| row.uuid("id")).collect()
}

/// What belongs to the open decisions of a project, each list oldest first: read in as many
/// queries however many decisions there are.
#[derive(Debug, Default)]
pub struct OfOpen {
    pub changes: HashMap<Uuid, Vec<Mark>>,
    pub reviews: HashMap<Uuid, Vec<ReviewGiven>>,
    pub requests: HashMap<Uuid, Vec<ReviewAsked>>,
    pub results: HashMap<Uuid, Vec<ResultGiven>>,
}

/// That somebody reviewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewGiven {
    pub reviewer_agent_id: Uuid,
    pub recorded: Recorded,
}

/// That somebody was asked for a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewAsked {
    pub payload: Option<Json>,
    pub recorded: Recorded,
}

/// The result of a policy without its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultGiven {
    pub policy: String,
    pub status: PolicyResultStatus,
    pub message: Option<String>,
    /// The event of its run and the digest of the rules; `None` for the original's.
    pub run: Option<(Uuid, Option<String>)>,
    pub recorded: Recorded,
}

macro_rules! of_open {
    ([$($columns:expr),+], $tables:literal, $id:literal) => {
        concat!(
            "SELECT d.id AS decision, ",
            $($columns,)+
            " FROM decisions d ",
            $tables,
            " WHERE d.project_id = $1 AND d.status NOT IN ('APPROVED', 'REJECTED') \
             ORDER BY rank, created_at, ",
            $id
        )
    };
    ($columns:literal, $table:literal of $kind:literal) => {
        concat!(
            "SELECT d.id AS decision, ",
            $columns,
            ", t.created_at AS created_at, ",
            rank_of!($kind),
            " FROM decisions d JOIN ",
            $table,
            " t ON t.decision_id = d.id \
             WHERE d.project_id = $1 AND d.status NOT IN ('APPROVED', 'REJECTED') \
             ORDER BY rank, created_at, t.id"
        )
    };
}

/// What belongs to the open decisions of a project.
pub async fn of_open(connection: &mut Connection, project_id: Uuid) -> Result<OfOpen> {
    let id = row::id(project_id);
    let changes = query(of_open!("t.commit_hash, t.diff_hash", "git_changes" of "git_change"));
    let reviews = query(of_open!("t.reviewer_agent_id", "reviews" of "review"));
    let requests = query(of_open!(
        ["e.payload_json, e.created_at AS created_at, ", rank_of_event!(), " AS rank"],
        "JOIN events e ON e.entity_type = 'decision' AND e.entity_id = d.id \
         AND e.event_type = 'review.requested' LEFT JOIN event_chain c ON c.event_id = e.id",
        "e.id"
    ));
    let results = query(of_open!(
        [
            "p.name AS policy, r.status, r.message, r.created_at AS created_at, l.event_id, \
             l.config_hash, ",
            rank_of_result!()
        ],
        "JOIN policy_results r ON r.decision_id = d.id JOIN policies p ON p.id = r.policy_id \
         LEFT JOIN policy_result_runs l ON l.policy_result_id = r.id \
         LEFT JOIN foreign_policy_results f ON f.policy_result_id = r.id \
         LEFT JOIN event_chain c ON c.event_id = COALESCE(l.event_id, f.event_id)",
        "r.id"
    ));
    Ok(OfOpen {
        changes: grouped(&changes.bind(&id).fetch_all(&mut *connection).await?, |row| {
            Ok(Mark {
                commit_hash: row.text("commit_hash")?,
                diff_hash: row.optional_text("diff_hash")?,
                recorded: row.recorded()?,
            })
        })?,
        reviews: grouped(&reviews.bind(&id).fetch_all(&mut *connection).await?, |row| {
            Ok(ReviewGiven {
                reviewer_agent_id: row.uuid("reviewer_agent_id")?,
                recorded: row.recorded()?,
            })
        })?,
        requests: grouped(&requests.bind(&id).fetch_all(&mut *connection).await?, |row| {
            Ok(ReviewAsked { payload: row.json("payload_json")?, recorded: row.recorded()? })
        })?,
        results: grouped(&results.bind(&id).fetch_all(&mut *connection).await?, |row| {
            let run = row.optional_uuid("event_id")?;
            let hash = row.optional_text("config_hash")?;
            Ok(ResultGiven {
                policy: row.text("policy")?,
                status: row.value("status")?,
                message: row.optional_text("message")?,
                run: run.map(|run| (run, hash)),
                recorded: row.recorded()?,
            })
        })?,
    })
}

/// Rows by their decision.
fn grouped<T>(rows: &[Row], read: impl Fn(&Row) -> Result<T>) -> Result<HashMap<Uuid, Vec<T>>> {
    let mut groups: HashMap<Uuid, Vec<T>> = HashMap::new();
    for row in rows {
        groups.entry(row.uuid("decision")?).or_default().push(read(row)?);
    }
    Ok(groups)
}

/// The decisions of a project to which a change was attached that has this commit, this diff or
/// this parent.
pub async fn about_commit(
    connection: &mut Connection,
    project_id: Uuid,
    commit_hash: &str,
    diff_hash: &str,
    parent_commit_hash: Option<&str>,
) -> Result<Vec<Uuid>> {
    let rows = query(
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
