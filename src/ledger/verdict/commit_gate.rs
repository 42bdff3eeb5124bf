//! Whether a commit may pass: only if a person approved exactly its diff.

use std::path::PathBuf;

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::domain::access::UseCase;
use crate::domain::value::{ApprovalStatus, DecisionStatus};
use crate::error::{Code, Error, Result};
use crate::git::{self, Repository};
use crate::ledger::verdict::staleness::AttachedChanges;
use crate::ledger::work::changes::off_thread;
use crate::ledger::work::projects::Found;
use crate::ledger::work::references::vanished;
use crate::ledger::{Service, path_text};
use crate::store;

/// What the gate says of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GateAnswer {
    /// The commit, in full.
    pub commit_hash: String,
    /// The hash of its diff.
    pub diff_hash: String,
    /// Whether it may pass.
    pub passes: bool,
    pub reason: Reason,
    /// Display ID of the decision that the reason speaks of.
    pub decision_id: Option<String>,
    /// The reason in whole sentences, and what to do next.
    pub message: String,
}

/// Why a commit may pass, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Approved,
    NoDecision,
    NotApproved,
    ApprovedForAnotherDiff,
}

/// A decision that has to do with the commit.
struct Candidate {
    display_id: String,
    status: DecisionStatus,
    /// Whether its newest change has the commit's diff.
    covers: bool,
    /// Whether a person approved it as its newest change stands.
    approved: bool,
}

impl Service {
    /// Looks for an approved decision whose newest change has the same diff as the commit that
    /// `revision` names in the repository around the working directory.
    ///
    /// # Errors
    ///
    /// Refuses a working directory outside any project, and a revision that names no commit.
    pub async fn gate(&self, revision: &str) -> Result<GateAnswer> {
        let located = git::locate(&self.location.directory)?.ok_or_else(|| {
            Error::refused(
                Code::NotARepository,
                format!(
                    "{} is in no git repository. Run this in the repository whose commit is \
                     meant.",
                    self.location.directory.display()
                ),
            )
        })?;
        let mut read = self.ledger.read(UseCase::Gate).await?;
        let root = path_text(&located.worktree_root);
        let (project_id, project_root) = match self.find_project(&mut read, &root).await? {
            Found::Registered(project) => (Some(project.id), PathBuf::from(project.root_path)),
            Found::Registrable(located) => (None, located.main_root),
        };
        drop(read);
        let revision = revision.trim().to_owned();
        let change = off_thread(CancellationToken::new(), move |stop| {
            Repository::open(&root, &project_root, &project_root)?.change(&revision, stop)
        })
        .await?;
        let mut read = self.ledger.read(UseCase::Gate).await?;
        let mut candidates = Vec::new();
        if let Some(project_id) = project_id {
            let about = store::ledger::overview::about_commit(
                &mut read,
                project_id,
                &change.commit_hash,
                &change.diff_hash,
                change.parent_commit_hash.as_deref(),
            );
            for id in about.await? {
                let decision =
                    store::ledger::decisions::by_id(&mut read, id).await?.ok_or_else(vanished)?;
                let changes = AttachedChanges::of(&mut read, id).await?;
                let verdict = store::ledger::approvals::newest(&mut read, id).await?;
                candidates.push(Candidate {
                    covers: changes.diff_hash() == Some(change.diff_hash.as_str()),
                    approved: decision.status == DecisionStatus::Approved
                        && verdict.is_some_and(|verdict| {
                            verdict.status == ApprovalStatus::Approved
                                && !changes.is_stale(verdict.recorded)
                        }),
                    status: decision.status,
                    display_id: decision.display_id,
                });
            }
        }
        let commit = change.commit_hash.get(..12).unwrap_or(&change.commit_hash);
        let (reason, decision_id, message) = judge(commit, &candidates);
        Ok(GateAnswer {
            passes: reason == Reason::Approved,
            reason,
            decision_id,
            message,
            commit_hash: change.commit_hash,
            diff_hash: change.diff_hash,
        })
    }
}

fn judge(commit: &str, candidates: &[Candidate]) -> (Reason, Option<String>, String) {
    let find = |covers: bool, approved: bool| {
        candidates.iter().find(|one| one.covers == covers && one.approved == approved)
    };
    if let Some(one) = find(true, true) {
        let message = format!("The diff of commit {commit} is approved by {}.", one.display_id);
        (Reason::Approved, Some(one.display_id.clone()), message)
    } else if let Some(one) = find(true, false) {
        let message = format!(
            "The diff of commit {commit} belongs to {id}, which is not approved (its status is \
             {}). Look at it with `govforge show {id}`; `govforge approve {id}` approves it.",
            one.status,
            id = one.display_id
        );
        (Reason::NotApproved, Some(one.display_id.clone()), message)
    } else if let Some(one) = find(false, true) {
        let message = format!(
            "{id} is approved, but for another diff than that of commit {commit}. Have the \
             author attach this commit, then approve it again: `govforge approve {id}`.",
            id = one.display_id
        );
        (Reason::ApprovedForAnotherDiff, Some(one.display_id.clone()), message)
    } else {
        let message = format!(
            "No decision has the diff of commit {commit}. Have its author record one and attach \
             the commit; then a person approves it with `govforge approve`."
        );
        (Reason::NoDecision, None, message)
    }
}
