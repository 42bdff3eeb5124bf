//! Running the policies over the change that is attached to a decision.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::domain::access::UseCase;
use crate::domain::chain::order::Recorded;
use crate::domain::entity::{Decision, GitChange, Policy, PolicyResult, PolicyRun};
use crate::domain::value::{DecisionStatus, FindingSeverity, PolicyResultStatus, RiskLevel};
use crate::error::Result;
use crate::git::Repository;
use crate::ledger::Service;
use crate::ledger::policies::rules::Rules;
use crate::ledger::record::write::{Subject, Write};
use crate::ledger::work::changes::off_thread;
use crate::policy::{Author, PolicyInfo, PolicySet, Subject as Judged, Verdict};
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
            let mut read = self.ledger.read(UseCase::RunPolicyChecks).await?;
            let decision = self.decision(&mut read, &input.decision_id).await?;
            let project = self.project_of(&mut read, decision.project_id).await?;
            let base = match &input.config_path {
                Some(path) => self.base_for(&mut read, &project, path).await?,
                None => PathBuf::from(&project.root_path),
            };
            let change = store::ledger::git_changes::newest(&mut read, decision.id).await?;
            let author = store::ledger::agents::by_id(&mut read, decision.author_agent_id).await?;
            drop(read);
            let judged = change.as_ref().map(|change| change.id);
            let config_path = input.config_path.clone();
            let root = PathBuf::from(project.root_path);
            let risk_level = decision.risk_level;
            let compiled = Arc::clone(&self.compiled);
            let (rules, verdicts) = off_thread(cancel.clone(), move |stop| {
                let rules = Rules::read(&root, config_path.as_deref(), &base, &compiled)?;
                let author = author.as_ref();
                let author = author.map(|agent| Author { name: &agent.name, kind: agent.kind });
                let verdicts = match &change {
                    Some(change) => judge(&rules, risk_level, author, change, &root, stop)?,
                    None => Vec::new(),
                };
                Ok((rules, verdicts))
            })
            .await?;

            let mut write = self.begin(UseCase::RunPolicyChecks).await?;
            let decision = self.decision(write.connection(), &input.decision_id).await?;
            let newest =
                store::ledger::git_changes::newest(write.connection(), decision.id).await?;
            if newest.map(|change| change.id) != judged {
                // Another change was attached meanwhile: the verdicts are about an old one.
                continue;
            }
            let actor = write.actor(input.actor_agent.as_deref()).await?;
            return record(write, &decision, actor, &rules, verdicts).await;
        }
    }
}

impl From<&Verdict> for PolicyOutcome {
    fn from(verdict: &Verdict) -> Self {
        Self {
            policy: verdict.policy.clone(),
            status: verdict.status,
            message: verdict.message.clone(),
        }
    }
}

/// Stores the verdicts of a run.
async fn record(
    mut write: Write<'_>,
    decision: &Decision,
    actor: Option<Uuid>,
    rules: &Rules,
    verdicts: Vec<Verdict>,
) -> Result<PoliciesChecked> {
    let results: Vec<PolicyOutcome> = verdicts.iter().map(PolicyOutcome::from).collect();
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
    let event_id = write.event(&subject, "decision.policy_evaluated", payload).await?;
    let run = PolicyRun { event_id, config_hash: rules.hash.clone() };
    let ids = bring_up_to_date(&mut write, &rules.set, &verdicts).await?;
    let stored: Vec<PolicyResult> = verdicts
        .into_iter()
        .zip(ids)
        .map(|(verdict, policy_id)| PolicyResult {
            id: write.id(),
            decision_id: decision.id,
            policy_id,
            policy: verdict.policy,
            status: verdict.status,
            message: Some(verdict.message),
            evidence: Some(verdict.evidence),
            run: Some(run.clone()),
            created_at: write.now,
            recorded: Recorded::NOW,
        })
        .collect();
    store::ledger::policies::insert_results(write.connection(), &stored, &run).await?;
    let status = decision.status.after_policies(blocked > 0);
    write.change_status(decision, status, actor, None).await?;
    write.commit().await?;
    Ok(PoliciesChecked { decision_status: status, results })
}

/// Brings the policies' rows up to date with the rules of this run. Returns the id of each.
async fn bring_up_to_date(
    write: &mut Write<'_>,
    set: &PolicySet,
    verdicts: &[Verdict],
) -> Result<Vec<Uuid>> {
    let names: Vec<&str> = verdicts.iter().map(|verdict| verdict.policy.as_str()).collect();
    let mut known = store::ledger::policies::by_names(write.connection(), &names).await?;
    let mut infos: HashMap<String, PolicyInfo> =
        set.policies().map(|info| (info.name.clone(), info)).collect();
    let mut ids = Vec::with_capacity(names.len());
    for name in names {
        let (id, stored) = known.remove(name).unwrap_or_else(|| (write.id(), None));
        let info = infos.remove(name);
        let wanted = Policy {
            id,
            name: name.to_owned(),
            description: info.as_ref().map(|info| info.description.clone()),
            enabled: true,
            severity: info.as_ref().map_or(FindingSeverity::Medium, |info| info.severity),
            config: info.map(|info| info.config),
            created_at: stored.as_ref().map_or(write.now, |policy| policy.created_at),
        };
        if stored.as_ref() != Some(&wanted) {
            store::ledger::policies::upsert(write.connection(), &wanted).await?;
        }
        ids.push(id);
    }
    Ok(ids)
}

/// Judges a change. A change whose lines cannot be read any more is still judged by its
/// paths and counts, and the policies that read lines say what they did not see.
fn judge(
    rules: &Rules,
    risk_level: RiskLevel,
    author: Option<Author<'_>>,
    change: &GitChange,
    root: &Path,
    stop: crate::git::Stop<'_>,
) -> Result<Vec<Verdict>> {
    let subject = Judged {
        risk_level,
        author,
        files_changed: &change.files_changed,
        insertions: change.insertions.unsigned_abs(),
        deletions: change.deletions.unsigned_abs(),
    };
    rules.judge(subject, |visit| {
        Repository::open(&change.repo_path, root, root)?.visit_lines(
            &change.commit_hash,
            stop,
            visit,
        )
    })
}
