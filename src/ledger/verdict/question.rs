//! What a person is asked at the human gate, and what they must know to answer.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::gate::{are_checked, author_of, check_approver, check_ready, open_ones};
use crate::domain::access::UseCase;
use crate::domain::digest;
use crate::domain::entity::{Decision, Disagreement, Finding};
use crate::domain::value::{
    ApprovalStatus, DecisionStatus, PolicyResultStatus, ReviewStatus, RiskLevel,
};
use crate::domain::verdict::Verdict;
use crate::error::Result;
use crate::ledger::Service;
use crate::ledger::policies::rules::Current;
use crate::ledger::reading::context::GitChangeShown;
use crate::ledger::settings::config::Confirm;
use crate::ledger::verdict::approvals::ApproveDecision;
use crate::ledger::verdict::staleness::AttachedChanges;
use crate::ledger::verdict::vouched;
use crate::ledger::work::references::vanished;
use crate::store;
use crate::store::engine::Connection;

/// What a person must know to give a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Whether the settings of the project let the person be asked.
    pub confirm: Confirm,
    /// What the verdict is about, in short: it changes with whatever is shown and with each
    /// verdict, so that an answer counts for what was shown, and once.
    pub fingerprint: String,
    /// Display ID of the decision.
    pub decision_id: String,
    pub title: String,
    pub status: DecisionStatus,
    pub risk_level: RiskLevel,
    /// The name of the decision's author.
    pub author: String,
    pub summary: Option<String>,
    pub rationale: Option<String>,
    /// The change attached now.
    pub change: Option<GitChangeShown>,
    /// What each policy says of this change now: what blocks first, of those the project's own.
    pub policies: Vec<PolicyStanding>,
    /// Whether the policies have not been run for this change.
    pub unchecked: bool,
    /// The newest review of each reviewer: those of this change first, objections before the others.
    pub reviews: Vec<LastReview>,
    /// The findings of its reviews, each with the review and whether that saw another change:
    /// those about this change first, the gravest before the others.
    pub findings: Vec<OpenFinding>,
    /// The disagreements that nobody has settled.
    pub disagreements: Vec<OpenDisagreement>,
}

/// What a policy says now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyStanding {
    pub policy: String,
    pub status: PolicyResultStatus,
    pub message: Option<String>,
    /// Whether rules that an agent chose say so. They can only block.
    pub by_other_rules: bool,
}

/// What a reviewer said last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastReview {
    /// Display ID of the review.
    pub review: String,
    /// Name of the reviewer.
    pub reviewer: String,
    pub outcome: ReviewStatus,
    pub summary: Option<String>,
    /// Whether it is about another change than the one attached now.
    pub stale: bool,
}

/// A finding as the person is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFinding {
    /// Display ID of the review.
    pub review: String,
    pub stale: bool,
    pub finding: Finding,
}

/// A disagreement as the person is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenDisagreement {
    pub topic: String,
    pub author_position: Option<String>,
    pub reviewer_position: Option<String>,
    pub risk_summary: Option<String>,
}

impl Service {
    /// What to ask a person for a verdict that an agent brings; refuses what would be refused
    /// whatever the person answers.
    ///
    /// # Errors
    ///
    /// Refuses an unknown decision, a mistake in the settings, and an approver who may not
    /// judge it.
    pub async fn verdict_question(&self, input: &ApproveDecision) -> Result<Question> {
        let mut read = self.ledger.read(UseCase::ApproveDecision).await?;
        let decision = self.decision(&mut read, &input.decision_id).await?;
        let (settings, rules) = self.approval_settings(&mut read, &decision).await?;
        check_approver(&mut read, &decision, &input.approver).await?;
        if input.status == ApprovalStatus::Approved {
            check_ready(&mut read, &decision, &settings, &rules).await?;
        }
        question(&mut read, &decision, settings.confirm, &rules).await
    }
}

/// What a person would be shown now.
pub(in crate::ledger) async fn question(
    connection: &mut Connection,
    decision: &Decision,
    confirm: Confirm,
    rules: &Current,
) -> Result<Question> {
    let author = author_of(connection, decision).await?;
    let dossier = store::ledger::dossier::of_decision(connection, decision.id).await?;
    let changes = AttachedChanges::from(dossier.marks);
    let mut newest: BTreeMap<String, PolicyStanding> = BTreeMap::new();
    for result in dossier.policy_results {
        if changes.is_stale(result.recorded) {
            continue;
        }
        let by_other_rules =
            result.run.as_ref().is_some_and(|run| !rules.is(run.config_hash.as_deref()));
        let blocks = result.status == PolicyResultStatus::Blocked;
        let is_blocked = |known: &PolicyStanding| known.status == PolicyResultStatus::Blocked;
        // Rules that an agent chose with config_path neither take a block back nor cover it.
        if !by_other_rules || (blocks && !newest.get(&result.policy).is_some_and(is_blocked)) {
            let standing = PolicyStanding {
                policy: result.policy.clone(),
                status: result.status,
                message: result.message,
                by_other_rules,
            };
            newest.insert(result.policy, standing);
        }
    }
    let mut policies: Vec<PolicyStanding> = newest.into_values().collect();
    policies.sort_by_key(|one| (Reverse(one.status), one.by_other_rules));
    let names = store::ledger::agents::names(connection).await?;
    let mut last = Vec::new();
    let mut heard = BTreeSet::new();
    for review in dossier.reviews.iter().rev() {
        if heard.insert(review.reviewer_agent_id) {
            last.push(LastReview {
                review: review.display_id.clone(),
                reviewer: names.get(&review.reviewer_agent_id).ok_or_else(vanished)?.clone(),
                outcome: review.status,
                summary: review.summary.clone(),
                stale: changes.is_stale(review.recorded),
            });
        }
    }
    // Nobody can push what matters out of sight: neither an objection with a heap of praise, nor
    // a grave finding with a heap of small ones.
    let objects =
        |outcome| matches!(outcome, ReviewStatus::Rejected | ReviewStatus::ChangesRequested);
    last.sort_by_key(|last| (last.stale, !objects(last.outcome)));
    let mut findings: Vec<OpenFinding> = dossier
        .findings
        .into_iter()
        .filter_map(|(review_id, finding)| {
            let review = dossier.reviews.iter().find(|review| review.id == review_id)?;
            Some(OpenFinding {
                review: review.display_id.clone(),
                stale: changes.is_stale(review.recorded),
                finding,
            })
        })
        .collect();
    findings.sort_by_key(|open| (open.stale, Reverse(open.finding.severity)));
    let verdict = vouched::persons(connection, decision).await?;
    let last_verdict = dossier.verdicts.last().map(Verdict::id);
    let mut question = Question {
        confirm,
        fingerprint: String::new(),
        unchecked: !are_checked(connection, decision, &changes, rules).await?,
        decision_id: decision.display_id.clone(),
        title: decision.title.clone(),
        status: decision.status,
        risk_level: decision.risk_level,
        author,
        summary: decision.summary.clone(),
        rationale: decision.rationale.clone(),
        change: dossier.change.map(GitChangeShown::from),
        policies,
        reviews: last,
        findings,
        disagreements: open_ones(dossier.disagreements, verdict.as_ref())
            .into_iter()
            .map(OpenDisagreement::from)
            .collect(),
    };
    let about = json!([decision.id, question.to_string(), last_verdict]);
    question.fingerprint = digest::of(about.to_string());
    Ok(question)
}

impl From<Disagreement> for OpenDisagreement {
    fn from(open: Disagreement) -> Self {
        Self {
            topic: open.topic,
            author_position: open.author_position,
            reviewer_position: open.reviewer_position,
            risk_summary: open.risk_summary,
        }
    }
}
