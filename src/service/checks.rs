//! Running the policies over the change that is attached to a decision.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Service;
use super::changes::off_thread;
use super::place::{DIRECTORY, POLICIES_FILE};
use super::settings_file;
use super::write::{Subject, Write};
use crate::domain::digest;
use crate::domain::entity::{Decision, GitChange, Policy, PolicyResult, Project};
use crate::domain::excerpt::quoted;
use crate::domain::value::{DecisionStatus, FindingSeverity, PolicyResultStatus, RiskLevel};
use crate::error::{Code, Error, Result};
use crate::git::{Repository, Why};
use crate::policy::PolicySet;
use crate::policy::evaluation::{Subject as Judged, Verdict};
use crate::store;

/// The parameters of `run_policy_checks`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RunPolicyChecks {
    /// Display ID of the decision, such as DEC-001.
    #[schemars(length(min = 1, max = 512))]
    pub decision_id: String,
    /// Path of a policy file inside the project, best absolute, instead of
    /// .govforge/policies.toml.
    #[serde(default)]
    #[schemars(length(max = 1_048_576))]
    pub config_path: Option<String>,
    /// Name of the agent who runs the checks.
    #[serde(default)]
    #[schemars(length(max = 255))]
    pub actor_agent: Option<String>,
}

/// The result of `run_policy_checks`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PoliciesChecked {
    /// Where the decision stands after the run.
    pub decision_status: DecisionStatus,
    /// One entry for each policy that applies; none when no change is attached.
    pub results: Vec<PolicyOutcome>,
}

/// What one policy concluded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PolicyOutcome {
    /// Name of the policy.
    pub policy: String,
    /// `passed`, `warning` or `blocked`.
    pub status: PolicyResultStatus,
    /// Why.
    pub message: String,
}

/// The rules of a run, and where they came from.
pub(super) struct Rules {
    pub set: PolicySet,
    /// The file, resolved; `None` for the defaults.
    path: Option<String>,
    /// `sha256:` and the hex SHA-256 of the file.
    hash: Option<String>,
}

impl Service {
    /// Evaluates every active policy against the decision's newest change and stores a result
    /// for each that applies. A block takes a draft to `review_required`.
    ///
    /// # Errors
    ///
    /// Refuses an unknown decision, and a policy file that is missing, outside the project or
    /// wrong.
    pub async fn run_policy_checks(
        &self,
        input: RunPolicyChecks,
        cancel: CancellationToken,
    ) -> Result<PoliciesChecked> {
        loop {
            // Judged before the write lock is taken: scanning a large change takes a while.
            let mut read = self.ledger.read().await?;
            let decision = self.decision(&mut read, &input.decision_id).await?;
            let project = self.project_of(&mut read, decision.project_id).await?;
            let base = self.base_for(&mut read, &project).await?;
            let change = store::git_changes::newest(&mut read, decision.id).await?;
            drop(read);
            let judged = change.as_ref().map(|change| change.id);
            let config_path = input.config_path.clone();
            let root = PathBuf::from(project.root_path);
            let risk_level = decision.risk_level;
            let (rules, verdicts) = off_thread(cancel.clone(), move |stop| {
                let rules = read_rules(&root, config_path.as_deref(), &base)?;
                let verdicts = match &change {
                    Some(change) => judge(&rules.set, risk_level, change, &root, stop)?,
                    None => Vec::new(),
                };
                Ok((rules, verdicts))
            })
            .await?;

            let mut write = self.begin().await?;
            let decision = self.decision(write.connection(), &input.decision_id).await?;
            let newest = store::git_changes::newest(write.connection(), decision.id).await?;
            if newest.map(|change| change.id) != judged {
                // Another change was attached meanwhile: the verdicts are about an old one.
                continue;
            }
            let actor = write.actor(input.actor_agent.as_deref()).await?;
            return record(write, &decision, actor, &rules, verdicts).await;
        }
    }
}

/// Stores the verdicts of a run.
async fn record(
    mut write: Write<'_>,
    decision: &Decision,
    actor: Option<uuid::Uuid>,
    rules: &Rules,
    verdicts: Vec<Verdict>,
) -> Result<PoliciesChecked> {
    let mut results = Vec::new();
    for verdict in verdicts {
        let policy = ensure_policy(&mut write, &rules.set, &verdict.policy).await?;
        let result = PolicyResult {
            id: write.id(),
            decision_id: decision.id,
            policy_id: policy.id,
            policy: verdict.policy.clone(),
            status: verdict.status,
            message: Some(verdict.message.clone()),
            evidence: Some(verdict.evidence),
            created_at: write.now,
        };
        store::policies::insert_result(write.connection(), &result).await?;
        results.push(PolicyOutcome {
            policy: verdict.policy,
            status: verdict.status,
            message: verdict.message,
        });
    }
    let count = |status| results.iter().filter(|result| result.status == status).count();
    let blocked = count(PolicyResultStatus::Blocked);
    let payload = json!({
        "policy_count": results.len(),
        "blocked": blocked,
        "warnings": count(PolicyResultStatus::Warning),
        "results": results,
        "config_path": rules.path,
        "config_hash": rules.hash,
    });
    let subject = Subject::decision(decision, actor);
    write.event(&subject, "decision.policy_evaluated", payload).await?;
    let status = decision.status.after_policies(blocked > 0);
    write.change_status(decision, status, actor).await?;
    write.commit().await?;
    Ok(PoliciesChecked { decision_status: status, results })
}

/// The policy's row, brought up to date with the rules of this run.
async fn ensure_policy(write: &mut Write<'_>, set: &PolicySet, name: &str) -> Result<Policy> {
    let (id, known) = match store::policies::by_name(write.connection(), name).await? {
        Some((id, known)) => (id, known),
        None => (write.id(), None),
    };
    let info = set.policies().find(|info| info.name == name);
    let wanted = Policy {
        id,
        name: name.to_owned(),
        description: info.as_ref().map(|info| info.description.to_string()),
        enabled: true,
        severity: info.as_ref().map_or(FindingSeverity::Medium, |info| info.severity),
        config: info.map(|info| info.config),
        created_at: known.as_ref().map_or(write.now, |policy| policy.created_at),
    };
    if known.as_ref() != Some(&wanted) {
        store::policies::upsert(write.connection(), &wanted).await?;
    }
    Ok(wanted)
}

/// Judges a change. A change whose lines cannot be read any more is still judged by its
/// paths and counts, and the policies that read lines say what they did not see.
fn judge(
    set: &PolicySet,
    risk_level: RiskLevel,
    change: &GitChange,
    root: &Path,
    stop: crate::git::Stop<'_>,
) -> Result<Vec<Verdict>> {
    let mut evaluation = set.evaluate(Judged {
        risk_level,
        files_changed: &change.files_changed,
        insertions: change.insertions.unsigned_abs(),
        deletions: change.deletions.unsigned_abs(),
    });
    if evaluation.needs_lines() {
        let scan = Repository::open(&change.repo_path, root, root).and_then(|repository| {
            repository.visit_lines(&change.commit_hash, stop, &mut |line| {
                evaluation.line(line.path, line.number, line.added, line.text);
            })
        });
        match scan {
            Ok(scan) => {
                for missed in scan.not_scanned {
                    evaluation.not_scanned(Some(&missed.path), reason(missed.why));
                }
            }
            Err(Error::Refused(refusal)) => evaluation.not_scanned(None, &refusal.message),
            Err(fault) => return Err(fault),
        }
    }
    Ok(evaluation.finish())
}

fn reason(why: Why) -> &'static str {
    match why {
        Why::Missing => "is not in this clone",
    }
}

/// The rules for a project: those of `config_path`, else of its own policy file, else the
/// defaults.
pub(super) fn read_rules(root: &Path, config_path: Option<&str>, base: &Path) -> Result<Rules> {
    let given = config_path.map(str::trim).filter(|path| !path.is_empty());
    let own = root.join(DIRECTORY).join(POLICIES_FILE);
    let path = match given {
        Some(given) => base.join(given),
        None if settings_file::is_there(&own) => own,
        None => return Ok(Rules { set: PolicySet::defaults(), path: None, hash: None }),
    };
    let refused = |message: String| Error::refused(Code::InvalidPolicyConfig, message);
    let named = given.map_or_else(
        || format!("The policy file {}", path.display()),
        |given| format!("config_path {}", quoted(given)),
    );
    let resolved = dunce::canonicalize(&path).map_err(|_error| {
        refused(format!(
            "{named} is no file that can be read. Send the path of a policy file inside {}, or \
             leave config_path out to use .govforge/policies.toml or the defaults.",
            root.display()
        ))
    })?;
    // The original may have stored a root that leads through a symlink.
    let resolved_root = dunce::canonicalize(root).unwrap_or_else(|_error| root.to_owned());
    if !resolved.starts_with(resolved_root) {
        return Err(refused(format!(
            "{named} lies outside the project {}. Policies must be part of the project: send a \
             path inside it, or leave config_path out.",
            root.display()
        )));
    }
    let bytes = settings_file::read(&resolved)
        .and_then(|bytes| bytes.ok_or_else(|| "was removed just now.".to_owned()))
        .map_err(|reason| refused(format!("{named} {reason}")))?;
    let set = PolicySet::parse(&bytes).map_err(|mistakes| {
        let list: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        refused(format!("{named} cannot be used: {}", list.join("; ")))
    })?;
    Ok(Rules {
        set,
        path: Some(resolved.to_string_lossy().into_owned()),
        hash: Some(digest::of(&bytes)),
    })
}

impl Service {
    /// The rules that a run would use now for a project.
    pub(super) async fn rules_of(&self, project: &Project) -> Result<Rules> {
        let root = PathBuf::from(&project.root_path);
        off_thread(CancellationToken::new(), move |_stop| read_rules(&root, None, &root)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_policy_file_that_cannot_be_read_is_not_taken_for_a_missing_one() {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join(DIRECTORY).join(POLICIES_FILE);
        std::fs::create_dir(root.path().join(DIRECTORY)).unwrap();
        assert!(read_rules(root.path(), None, root.path()).is_ok());
        for target in [Path::new("nothing"), own.as_path()] {
            std::os::unix::fs::symlink(target, &own).unwrap();
            let error = read_rules(root.path(), None, root.path()).err().expect("a refusal");
            assert_eq!(error.code(), Some(Code::InvalidPolicyConfig));
            std::fs::remove_file(&own).unwrap();
        }
    }
}
