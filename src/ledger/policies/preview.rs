//! The policies for a person and for CI: checking a policy file, showing what is active, and
//! judging a commit or what is staged. Nothing is recorded, and no ledger is needed.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value as Json;

use super::rules::{Rules, own_file};
use crate::domain::names::agent;
use crate::domain::value::{FindingSeverity, PolicyResultStatus, RiskLevel};
use crate::error::{Code, Error, Result};
use crate::git::{self, Located, Repository};
use crate::ledger::Service;
use crate::ledger::settings::file;
use crate::ledger::settings::location::DIRECTORY;
use crate::policy::{Author, Mistake, Off, PolicyInfo, PolicySet, Subject};

/// What `govforge policy check` found.
#[derive(Debug)]
pub struct PolicyFileChecked {
    /// The file; `None` where the project has none, so that the defaults apply.
    pub file: Option<PathBuf>,
    /// The policies that it makes active, or every mistake in it.
    pub outcome: std::result::Result<Vec<PolicyInfo>, Vec<Mistake>>,
}

/// What `govforge policy list` shows.
#[derive(Debug)]
pub struct PoliciesActive {
    /// The file; `None` for the defaults.
    pub file: Option<String>,
    /// In order of evaluation.
    pub active: Vec<PolicyInfo>,
    /// Those that the file switches off.
    pub off: Vec<Off>,
}

/// What `govforge policy run` judges.
#[derive(Debug)]
pub struct RunPolicies {
    /// The commit; `None` for what is staged.
    pub revision: Option<String>,
    /// The index that git names to a hook (`GIT_INDEX_FILE`): `git commit -a` has one of its
    /// own.
    pub index: Option<PathBuf>,
    /// The risk level of the decision that it would belong to.
    pub risk_level: RiskLevel,
    /// Who would decide.
    pub author: Option<String>,
}

/// What `govforge policy run` concluded.
#[derive(Debug, Serialize)]
pub struct PoliciesRun {
    /// The commit in full; null for what is staged.
    pub commit_hash: Option<String>,
    /// The worst result: `passed`, `warning` or `blocked`.
    pub status: PolicyResultStatus,
    /// The policy file; null for the defaults.
    pub config_path: Option<String>,
    /// `sha256:` and the SHA-256, in hex, of the policy file.
    pub config_hash: Option<String>,
    /// In order of evaluation.
    pub results: Vec<PolicyJudged>,
    /// The active policies that gave no result.
    pub not_applicable: Vec<String>,
}

/// What one policy concluded.
#[derive(Debug, Serialize)]
pub struct PolicyJudged {
    /// Its name.
    pub policy: String,
    /// What it checks.
    #[serde(skip)]
    pub description: String,
    /// How strictly it is meant.
    pub severity: FindingSeverity,
    /// Whether the change passes.
    pub status: PolicyResultStatus,
    /// Why.
    pub message: String,
    /// Matched paths, line numbers and names of patterns, never the matched text.
    pub evidence: Json,
}

impl Service {
    /// Checks a policy file: that of the project, unless another is named.
    ///
    /// # Errors
    ///
    /// Refuses a file that cannot be read.
    pub fn check_policy_file(&self, file: Option<&Path>) -> Result<PolicyFileChecked> {
        let file = match file {
            Some(file) => self.location.directory.join(file),
            None => own_file(&self.root()?),
        };
        let is_named = file != own_file(&self.root()?);
        let refused = |reason: String| {
            Error::refused(
                Code::InvalidPolicyConfig,
                format!("The policy file {} {reason}", file.display()),
            )
        };
        let bytes = match file::read(&file).map_err(refused)? {
            Some(bytes) => bytes,
            None if is_named => return Err(refused("does not exist.".to_owned())),
            None => {
                let outcome = Ok(PolicySet::defaults().policies().collect());
                return Ok(PolicyFileChecked { file: None, outcome });
            }
        };
        let outcome = PolicySet::parse(&bytes).map(|set| set.policies().collect());
        Ok(PolicyFileChecked { file: Some(file), outcome })
    }

    /// The policies that a run would evaluate now.
    ///
    /// # Errors
    ///
    /// Refuses a policy file that is wrong.
    pub fn active_policies(&self) -> Result<PoliciesActive> {
        let root = self.root()?;
        let rules = Rules::read(&root, None, &root, &self.compiled)?;
        Ok(PoliciesActive {
            file: rules.path,
            active: rules.set.policies().collect(),
            off: rules.set.off().to_vec(),
        })
    }

    /// Judges a commit, or what is staged, in the repository around the working directory.
    ///
    /// # Errors
    ///
    /// Refuses where there is no repository, a commit that cannot be found or read, and a
    /// policy file that is wrong.
    pub fn run_policies(&self, input: &RunPolicies) -> Result<PoliciesRun> {
        let directory = &self.location.directory;
        let located = git::locate(directory)?.ok_or_else(|| {
            Error::refused(
                Code::NotARepository,
                format!(
                    "{} lies in no git repository. Run this in the repository whose change is \
                     meant.",
                    directory.display()
                ),
            )
        })?;
        let root = project_root(&located.main_root);
        let rules = Rules::read(&root, None, &root, &self.compiled)?;
        let worktree = located.worktree_root.to_string_lossy();
        let repository = Repository::open(&worktree, directory, &located.main_root)?;
        let author = input.author.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let author = author.map(|name| Author { name, kind: agent::infer_type(name) });
        let stop = || false;
        let (commit_hash, verdicts) = match &input.revision {
            Some(revision) => {
                let change = repository.change(revision, &stop)?;
                let subject = Subject {
                    risk_level: input.risk_level,
                    author,
                    files_changed: &change.files_changed,
                    insertions: change.insertions,
                    deletions: change.deletions,
                };
                let scan = rules.judge(subject, |visit| {
                    repository.visit_lines(&change.commit_hash, &stop, visit)
                })?;
                (Some(change.commit_hash.clone()), scan)
            }
            None => {
                let index = input.index.as_ref().map(|index| directory.join(index));
                let staged = repository.staged(index.as_deref(), &stop)?;
                let subject = Subject {
                    risk_level: input.risk_level,
                    author,
                    files_changed: &staged.files_changed,
                    insertions: staged.insertions,
                    deletions: staged.deletions,
                };
                (None, rules.judge(subject, |visit| staged.visit_lines(&stop, visit))?)
            }
        };
        let mut results = Vec::new();
        let mut not_applicable = Vec::new();
        let mut verdicts = verdicts.into_iter().peekable();
        for info in rules.set.policies() {
            match verdicts.next_if(|verdict| verdict.policy == info.name) {
                Some(verdict) => results.push(PolicyJudged {
                    policy: verdict.policy,
                    description: info.description,
                    severity: info.severity,
                    status: verdict.status,
                    message: verdict.message,
                    evidence: verdict.evidence,
                }),
                None => not_applicable.push(info.name),
            }
        }
        let statuses = results.iter().map(|result| result.status);
        Ok(PoliciesRun {
            commit_hash,
            status: statuses.max().unwrap_or(PolicyResultStatus::Passed),
            config_path: rules.path,
            config_hash: rules.hash,
            results,
            not_applicable,
        })
    }

    /// The root of the project around the working directory, whether it is registered or not.
    fn root(&self) -> Result<PathBuf> {
        let directory = &self.location.directory;
        let located: Option<Located> = git::locate(directory)?;
        Ok(project_root(located.as_ref().map_or(directory, |located| &located.main_root)))
    }
}

/// The nearest directory, at or above a repository, that carries `.govforge/`; else the
/// repository.
fn project_root(repository: &Path) -> PathBuf {
    let home = std::env::home_dir();
    let carries = |above: &&Path| {
        // The home directory keeps the ledger of those who have no project.
        above.join(DIRECTORY).is_dir() && Some(*above) != home.as_deref()
    };
    let found = repository.ancestors().find(carries).unwrap_or(repository);
    found.to_owned()
}
