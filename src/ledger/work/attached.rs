//! The change attached to a decision, read again from the repository.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::domain::access::UseCase;
use crate::domain::digest;
use crate::error::{Code, Error, Result};
use crate::git::{FileCounts, Repository, Stop};
use crate::ledger::policies::rules::{Compiled, Rules};
use crate::ledger::reading::context::GitChangeShown;
use crate::ledger::{Service, path_text};
use crate::policy::{Masked, Masker, SecretSearch};
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
    compiled: Arc<Compiled>,
}

/// A change that was searched for secrets. Nothing else hands out lines of a change to be shown.
#[derive(Debug)]
pub struct Searched<'a> {
    attached: &'a Attached,
    masker: Masker,
}

/// A line of the diff text without its line end.
enum DiffLine<'a> {
    /// Of what stands above the hunks of a file.
    Heading(&'a [u8]),
    /// Of a hunk: the sign that tells what it is, or the hunk's numbers, and the text.
    Of(&'a [u8], &'a [u8]),
}

impl Searched<'_> {
    /// Hands each line of the diff text to `out` as it may be shown; tells whether the hash of the
    /// text is the one that was recorded.
    ///
    /// # Errors
    ///
    /// As [`Attached::searched`].
    pub fn lines(&mut self, stop: Stop<'_>, out: &mut dyn FnMut(Masked)) -> Result<bool> {
        let mut hash = Sha256::new();
        let masker = &mut self.masker;
        let repository = self.attached.repository()?;
        self.attached.each_line(&repository, stop, &mut |text| hash.update(text), &mut |line| {
            out(match line {
                DiffLine::Heading(text) => masker.heading(text),
                DiffLine::Of(sign, text) => masker.line(sign, text),
            });
        })?;
        Ok(self.attached.change.diff_hash == Some(digest::shown(hash)))
    }

    /// What hides the secrets of the change in texts about it.
    pub fn into_masker(self) -> Masker {
        self.masker
    }
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
            compiled: Arc::clone(&self.compiled),
            change: GitChangeShown::from(change),
        })
    }
}

impl Attached {
    /// Searches the change for secrets, so that it can be shown without them: by the rules that
    /// the project has now, and by the built-in ones in any case.
    ///
    /// # Errors
    ///
    /// As [`Repository::open`] and [`Repository::diff_text`]; refuses a change with more secrets
    /// than can be hidden.
    pub fn searched(&self, stop: Stop<'_>) -> Result<Searched<'_>> {
        let repository = self.repository()?;
        let mut search = self.search();
        let mut is_binary = false;
        self.each_line(&repository, stop, &mut |_| {}, &mut |line| match line {
            DiffLine::Heading(text) => {
                is_binary |= text.starts_with(b"Binary files ");
                search.next_file();
            }
            DiffLine::Of(_, text) => search.line(text),
        })?;
        if is_binary {
            // The policies read what the text leaves out; what they found there is hidden too.
            repository.visit_lines(&self.change.commit_hash, stop, &mut |line| {
                if line.binary {
                    search.line(line.text);
                }
            })?;
        }
        let masker = search.finish().map_err(|_too_many| {
            Error::refused(
                Code::InvalidInput,
                format!(
                    "The change {} holds more secrets than can be hidden, so it is not shown. Read \
                     it with git.",
                    self.change.commit_hash
                ),
            )
        })?;
        Ok(Searched { attached: self, masker })
    }

    /// What hides secrets in texts about the change by the expressions of the rules alone, where
    /// its lines are not shown.
    pub fn masker(&self) -> Masker {
        self.search().without_lines()
    }

    fn search(&self) -> SecretSearch {
        let rules = Rules::read(&self.project_root, None, &self.project_root, &self.compiled);
        // A policy file that is wrong hides nothing; the built-in rules do.
        SecretSearch::new(rules.ok().map(|rules| rules.set))
    }

    /// Hands the diff text to `raw`, piece by piece, and to `each` line by line.
    fn each_line(
        &self,
        repository: &Repository,
        stop: Stop<'_>,
        raw: &mut dyn FnMut(&[u8]),
        each: &mut dyn FnMut(DiffLine<'_>),
    ) -> Result<()> {
        let mut rest: Vec<u8> = Vec::new();
        let mut in_hunk = false;
        let mut line = |line: &[u8]| {
            if line.starts_with(b"diff --git ") {
                in_hunk = false;
            } else if line.starts_with(b"@@ ") {
                in_hunk = true;
            }
            // Behind the numbers of a hunk stands a line of the file.
            let sign = match in_hunk {
                false => return each(DiffLine::Heading(line)),
                true if line.starts_with(b"@@ ") => {
                    memchr::memmem::find(&line[3..], b" @@").map_or(line.len(), |at| at + 6)
                }
                true => line.len().min(1),
            };
            let (sign, text) = line.split_at(sign);
            each(DiffLine::Of(sign, text));
        };
        repository.diff_text(&self.change.commit_hash, stop, &mut |text| {
            raw(text);
            let mut text = text;
            while let Some(end) = memchr::memchr(b'\n', text) {
                match rest.is_empty() {
                    true => line(&text[..end]),
                    false => {
                        rest.extend_from_slice(&text[..end]);
                        line(&rest);
                        rest.clear();
                    }
                }
                text = &text[end + 1..];
            }
            rest.extend_from_slice(text);
        })?;
        if !rest.is_empty() {
            line(&rest);
        }
        Ok(())
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
