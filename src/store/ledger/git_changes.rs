//! The table `git_changes`.

use uuid::Uuid;

use crate::domain::chain::order::Recorded;
use crate::domain::entity::GitChange;
use crate::error::{Error, Fault, Result};
use crate::store::engine::{Connection, query};
use crate::store::order::rank_of;
use crate::store::row::{self, Columns, Row};

impl TryFrom<&Row> for GitChange {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        let files = row.json("files_changed_json")?.unwrap_or_else(|| serde_json::json!([]));
        let files_changed = serde_json::from_value(files).map_err(|_error| {
            Fault::new("the ledger holds a damaged git change: its files are no list of paths")
        })?;
        Ok(Self {
            id: row.uuid("id")?,
            decision_id: row.uuid("decision_id")?,
            repo_path: row.text("repo_path")?,
            branch_name: row.optional_text("branch_name")?,
            commit_hash: row.text("commit_hash")?,
            parent_commit_hash: row.optional_text("parent_commit_hash")?,
            diff_hash: row.optional_text("diff_hash")?,
            files_changed,
            insertions: row.integer("insertions")?,
            deletions: row.integer("deletions")?,
            created_at: row.time("created_at")?,
        })
    }
}

impl TryFrom<&Row> for Mark {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            commit_hash: row.text("commit_hash")?,
            diff_hash: row.optional_text("diff_hash")?,
            recorded: row.recorded()?,
        })
    }
}

/// The newest change of the decision $1.
pub(super) const NEWEST: &str = concat!(
    "SELECT id, decision_id, repo_path, branch_name, commit_hash, parent_commit_hash, \
     diff_hash, files_changed_json, insertions, deletions, created_at, ",
    rank_of!("git_change"),
    " FROM git_changes t WHERE decision_id = $1 \
     ORDER BY rank DESC, created_at DESC, id DESC LIMIT 1"
);

/// The marks of the changes of the decision $1, oldest first.
pub(super) const MARKS: &str = concat!(
    "SELECT commit_hash, diff_hash, created_at, ",
    rank_of!("git_change"),
    " FROM git_changes t WHERE decision_id = $1 ORDER BY rank, created_at, id"
);

/// Adds a change.
pub async fn insert(connection: &mut Connection, change: &GitChange) -> Result<()> {
    query(
        "INSERT INTO git_changes (id, decision_id, repo_path, branch_name, commit_hash, \
         parent_commit_hash, diff_hash, files_changed_json, insertions, deletions, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
    )
    .bind(row::id(change.id))
    .bind(row::id(change.decision_id))
    .bind(&change.repo_path)
    .bind(&change.branch_name)
    .bind(&change.commit_hash)
    .bind(&change.parent_commit_hash)
    .bind(&change.diff_hash)
    .bind(serde_json::json!(change.files_changed).to_string())
    .bind(change.insertions)
    .bind(change.deletions)
    .bind(change.created_at.stored())
    .execute(connection)
    .await?;
    Ok(())
}

/// What tells one change of a decision from another, and since when it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    pub commit_hash: String,
    pub diff_hash: Option<String>,
    pub recorded: Recorded,
}

/// The changes of a decision without what they hold, oldest first.
pub async fn marks(connection: &mut Connection, decision_id: Uuid) -> Result<Vec<Mark>> {
    row::each(&query(MARKS).bind(row::id(decision_id)).fetch_all(connection).await?)
}

/// The newest change of a decision.
pub async fn newest(connection: &mut Connection, decision_id: Uuid) -> Result<Option<GitChange>> {
    let row = query(NEWEST).bind(row::id(decision_id)).fetch_optional(connection).await?;
    row.as_ref().map(GitChange::try_from).transpose()
}
