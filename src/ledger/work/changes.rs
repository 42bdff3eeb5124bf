//! Attaching the change of a commit to a decision.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::domain::access::UseCase;
use crate::domain::entity::{Decision, GitChange};
use crate::domain::value::DecisionStatus;
use crate::error::{Error, Fault, Result};
use crate::git::Repository;
use crate::ledger::record::write::{Subject, Write};
use crate::ledger::verdict::staleness::AttachedChanges;
use crate::ledger::verdict::vouched;
use crate::ledger::work::references::vanished;
use crate::ledger::{Service, path_text, shown};
use crate::store;

/// The revision that is attached when none is named.
const HEAD: &str = "HEAD";

fn head() -> String {
    HEAD.to_owned()
}

/// The parameters of `attach_git_diff`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AttachGitDiff {
    /// Display ID of the decision, such as DEC-001.
    #[schemars(length(min = 1, max = 512))]
    pub decision_id: String,
    /// Path of the root of the project's repository, of one of its linked worktrees, or of a
    /// repository inside it.
    #[schemars(length(min = 1, max = 1_048_576))]
    pub repo_path: String,
    /// The commit: a full or short hash, a branch, a tag, or a revision such as HEAD~1. Its
    /// change against its first parent is attached.
    #[serde(default = "head")]
    #[schemars(length(max = 1_048_576))]
    pub commit_hash: String,
    /// Name of the agent who attaches the change.
    #[serde(default)]
    #[schemars(length(max = 255))]
    pub actor_agent: Option<String>,
}

/// The result of `attach_git_diff`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GitDiffAttached {
    /// Display ID of the decision.
    pub decision_id: String,
    /// Old and new paths of the files that the commit changes, sorted; at most 500 of them.
    pub files_changed: Vec<String>,
    /// How many there are, when that is more than `files_changed` shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    pub files_changed_total: Option<usize>,
    /// Added lines.
    pub insertions: i64,
    /// Removed lines.
    pub deletions: i64,
    /// `sha256:` and the SHA-256, in hex, of the diff as plain git prints it.
    pub diff_hash: String,
}

impl Service {
    /// Reads the change of a commit from the project's own repository and attaches it. One
    /// that an approval does not cover sends an approved decision back to review.
    ///
    /// # Errors
    ///
    /// Refuses an unknown decision, a repository that is not the project's, a revision that
    /// names no commit, and a commit whose content is not all there.
    pub async fn attach_git_diff(
        &self,
        input: AttachGitDiff,
        cancel: CancellationToken,
    ) -> Result<GitDiffAttached> {
        // Read before the write lock is taken: a large commit takes a while.
        let mut read = self.ledger.read(UseCase::AttachGitDiff).await?;
        let decision = self.decision(&mut read, &input.decision_id).await?;
        let project = self.project_of(&mut read, decision.project_id).await?;
        let base = self.base_for(&mut read, &project, &input.repo_path).await?;
        drop(read);
        let (repo_path, revision) = (input.repo_path, input.commit_hash);
        let root = PathBuf::from(project.root_path);
        let extracted = off_thread(cancel, move |stop| {
            Repository::open(repo_path.trim(), &base, &root)?.change(revision.trim(), stop)
        })
        .await?;

        let mut write = self.begin(UseCase::AttachGitDiff).await?;
        // It may have been approved meanwhile.
        let decision = store::ledger::decisions::by_id(write.connection(), decision.id)
            .await?
            .ok_or_else(vanished)?;
        let actor = write.actor(input.actor_agent.as_deref()).await?;
        let change = GitChange {
            id: write.id(),
            decision_id: decision.id,
            repo_path: path_text(&extracted.repo_path),
            branch_name: extracted.branch_name,
            commit_hash: extracted.commit_hash,
            parent_commit_hash: extracted.parent_commit_hash,
            diff_hash: Some(extracted.diff_hash.clone()),
            files_changed: extracted.files_changed,
            insertions: count(extracted.insertions)?,
            deletions: count(extracted.deletions)?,
            created_at: write.now,
        };
        store::ledger::git_changes::insert(write.connection(), &change).await?;
        let (files_changed, files_changed_total) = shown(&change.files_changed);
        let mut payload = json!({
            "commit_hash": change.commit_hash,
            "branch_name": change.branch_name,
            "files_changed": files_changed,
            "insertions": change.insertions,
            "deletions": change.deletions,
            "diff_hash": change.diff_hash,
        });
        if let Some(total) = files_changed_total {
            payload["files_changed_total"] = json!(total);
        }
        let content = json!([decision.id, change.repo_path, change.commit_hash, actor]);
        let record = change.id.to_string();
        write.flag_repeat(&mut payload, "decision.git_attached", content, &record).await?;
        let subject = Subject::decision(&decision, actor);
        write.event(&subject, "decision.git_attached", payload).await?;
        take_back_approval(&mut write, &decision, actor).await?;
        write.commit().await?;
        Ok(GitDiffAttached {
            decision_id: decision.display_id,
            files_changed,
            files_changed_total,
            insertions: change.insertions,
            deletions: change.deletions,
            diff_hash: extracted.diff_hash,
        })
    }
}

/// An approval covers the change that the person saw: another one needs another verdict.
async fn take_back_approval(
    write: &mut Write<'_>,
    decision: &Decision,
    actor: Option<Uuid>,
) -> Result<()> {
    if decision.status != DecisionStatus::Approved {
        return Ok(());
    }
    let approval = vouched::known(write.connection(), decision).await?.pop();
    let changes = AttachedChanges::of(write.connection(), decision.id).await?;
    if approval.is_some_and(|approval| !changes.is_stale(approval.recorded())) {
        return Ok(());
    }
    let reason = "a change was attached that the approval does not cover";
    write.change_status(decision, DecisionStatus::ReviewRequired, actor, Some(reason)).await
}

/// Runs blocking work (libgit2) beside the async threads; `cancel` makes it stop between two
/// of its units.
pub(in crate::ledger) async fn off_thread<T: Send + 'static>(
    cancel: CancellationToken,
    work: impl FnOnce(crate::git::Stop<'_>) -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(move || work(&|| cancel.is_cancelled()))
        .await
        .map_err(|error| Error::fault("the git extractor failed", error))?
}

fn count(lines: u64) -> Result<i64> {
    i64::try_from(lines).map_err(|_error| Fault::new("the change has too many lines").into())
}
