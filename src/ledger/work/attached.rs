//! The change attached to a decision, read again from the repository.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::domain::access::UseCase;
use crate::domain::digest;
use crate::error::{Code, Error, Result};
use crate::git::{FileCounts, Repository, Stop};
use crate::ledger::reading::context::GitChangeShown;
use crate::ledger::{Service, path_text};
use crate::store;

/// Where the newest change of a decision can be read.
#[derive(Debug, Clone)]
pub struct Attached {
    /// Display ID of the decision.
    pub decision_id: String,
    /// The change as it was recorded.
    pub change: GitChangeShown,
    repo_path: String,
    project_root: PathBuf,
}

impl Service {
    /// The change that is attached to a decision now.
    ///
    /// # Errors
    ///
    /// Refuses an unknown decision, and one without a change.
    pub async fn attached(&self, decision_id: &str) -> Result<Attached> {
        let mut read = self.ledger.read(UseCase::DecisionDiff).await?;
        let decision = self.decision(&mut read, decision_id).await?;
        let project = self.project_of(&mut read, decision.project_id).await?;
        let change = store::ledger::git_changes::newest(&mut read, decision.id).await?;
        let change = change.ok_or_else(|| {
            Error::refused_by_audience(Code::CommitNotFound, |to| {
                format!(
                    "No change is attached to {}. {}, once it is committed.",
                    decision.display_id,
                    to.pick(
                        "An agent attaches one with attach_git_diff",
                        "Have its author attach one"
                    )
                )
            })
        })?;
        Ok(Attached {
            decision_id: decision.display_id,
            repo_path: change.repo_path.clone(),
            project_root: PathBuf::from(project.root_path),
            change: GitChangeShown::from(change),
        })
    }
}

impl Attached {
    /// Hands the diff text to `out`, piece by piece; tells whether its hash is the one that was
    /// recorded.
    ///
    /// # Errors
    ///
    /// As [`Repository::open`] and [`Repository::diff_text`].
    pub fn write(&self, stop: Stop<'_>, out: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let mut hash = Sha256::new();
        self.repository()?.diff_text(&self.change.commit_hash, stop, &mut |text| {
            hash.update(text);
            out(text);
        })?;
        Ok(self.change.diff_hash == Some(digest::shown(hash)))
    }

    /// The lines that the change adds to and removes from each file.
    ///
    /// # Errors
    ///
    /// As [`Repository::open`] and [`Repository::file_counts`].
    pub fn file_counts(&self) -> Result<Vec<FileCounts>> {
        self.repository()?.file_counts(&self.change.commit_hash, &|| false)
    }

    /// A linked working tree from which a change was attached may be gone; its commits are in
    /// the project's repository.
    fn repository(&self) -> Result<Repository> {
        let open = |path: &str| Repository::open(path, &self.project_root, &self.project_root);
        match Path::new(&self.repo_path).exists() {
            true => open(&self.repo_path),
            false => open(&path_text(&self.project_root)),
        }
    }
}
