//! The whole record of a decision, in the two shapes that callers see: with the timeline and
//! in short for `get_decision_context`, in full for the resource.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use uuid::Uuid;

use crate::domain::access::UseCase;
use crate::domain::entity::{self, Disagreement, Finding, GitChange, PolicyResult, Review};
use crate::domain::time::Timestamp;
use crate::domain::value::{
    ApprovalStatus, Confirmed, DecisionStatus, EntityType, PolicyResultStatus, ReviewStatus,
    RiskLevel,
};
use crate::error::Result;
use crate::ledger::policies::rules::Current;
use crate::ledger::verdict::staleness::AttachedChanges;
use crate::ledger::verdict::vouched;
use crate::ledger::work::references::vanished;
use crate::ledger::{Service, shown};
use crate::store;
use crate::store::engine::Connection;
use crate::store::events::EventTold;
use crate::store::ledger::dossier::Dossier;

/// The parameters of `get_decision_context`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GetDecisionContext {
    /// Display ID of the decision, such as DEC-001.
    #[schemars(length(min = 1, max = 512))]
    pub decision_id: String,
}

/// The result of `get_decision_context`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DecisionContext {
    /// The decision itself.
    pub decision: DecisionShown,
    /// The newest change attached to it; null if there is none.
    pub git_change: Option<GitChangeShown>,
    /// Its reviews, oldest first.
    pub reviews: Vec<ReviewShown>,
    /// The results of its policy runs, oldest first.
    pub policy_results: Vec<PolicyResultShown>,
    /// The disagreements about it, oldest first.
    pub disagreements: Vec<DisagreementShown>,
    /// The verdicts of people, oldest first.
    pub approvals: Vec<ApprovalShown>,
    /// What happened to it and to everything that hangs off it, oldest first.
    pub events: Vec<EventShown>,
}

/// A decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct DecisionShown {
    /// Display ID, such as DEC-001.
    pub id: String,
    /// The decision in one line.
    pub title: String,
    /// Where it stands.
    pub status: DecisionStatus,
    /// How much harm the change can do.
    pub risk_level: RiskLevel,
    /// What changes.
    pub summary: Option<String>,
    /// Why.
    pub rationale: Option<String>,
    /// Whether a person must give the verdict.
    pub human_approval_required: bool,
    /// Left out unless it is approved and no person is known to have confirmed that: `asserted`,
    /// `by an agent`, `written by another program`, or what else is wrong with the approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub caveat: Option<String>,
}

/// The change of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct GitChangeShown {
    /// The commit, in full.
    pub commit_hash: String,
    /// The branch that was checked out; null when detached.
    pub branch_name: Option<String>,
    /// Old and new paths, sorted; at most 500 of them.
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
    pub diff_hash: Option<String>,
}

/// A review in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ReviewShown {
    /// Display ID, such as REV-001.
    pub id: String,
    /// What the reviewer concluded.
    pub status: ReviewStatus,
    /// The conclusion in a few sentences.
    pub summary: Option<String>,
    /// How many findings it has; the resource govforge://review/{id} holds them.
    pub findings_count: usize,
    /// True when the review saw another change than the one attached now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
}

/// What a policy concluded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PolicyResultShown {
    /// UUID of the policy.
    #[schemars(with = "String")]
    pub policy_id: Uuid,
    /// Name of the policy.
    pub policy: String,
    /// What it concluded.
    pub status: PolicyResultStatus,
    /// Why.
    pub message: Option<String>,
    /// UUID of its run, shared by all results of that run; null for one of the original.
    #[schemars(with = "Option<String>")]
    pub run_id: Option<Uuid>,
    /// `sha256:` and the SHA-256, in hex, of the policy file that judged; null for the defaults.
    pub config_hash: Option<String>,
    /// Whether those rules are the project's now; null where the run is not known.
    pub current_config: Option<bool>,
    /// True when the policy judged another change than the one attached now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
}

/// A disagreement in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct DisagreementShown {
    /// UUID of the disagreement.
    #[schemars(with = "String")]
    pub id: Uuid,
    /// What it is about.
    pub topic: String,
    /// Whether a person has to settle it.
    pub requires_human_decision: bool,
    /// How it was settled; null while it is open.
    pub resolution: Option<String>,
}

/// A person's verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ApprovalShown {
    /// UUID of the verdict.
    #[schemars(with = "String")]
    pub id: Uuid,
    /// The verdict.
    pub status: ApprovalStatus,
    /// The person's reasons or conditions.
    pub comment: Option<String>,
    /// How it is known to be a person's: the client `asked` its user, the person typed it in a
    /// `terminal` or gave it on the `board`, or whoever brought it `asserted` it. Left out where
    /// the chain does not vouch for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Confirmed")]
    pub confirmed: Option<Confirmed>,
    /// Whether this program wrote it and the chain vouches that it is as it was recorded.
    pub vouched: bool,
    /// `by an agent`, `written by another program`, or why else the chain does not vouch for it;
    /// left out where there is nothing like that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub caveat: Option<String>,
    /// True when the verdict is about another change than the one attached now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
}

impl ApprovalShown {
    /// How it is known to be a person's, and what else is to be known of it.
    pub fn known(&self) -> String {
        let how = self.confirmed.map(|how| how.to_string());
        how.into_iter().chain(self.caveat.clone()).collect::<Vec<_>>().join(", ")
    }
}

/// An entry of the timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct EventShown {
    /// What happened, such as `decision.created`.
    #[serde(rename = "type")]
    pub event_type: String,
    /// What it happened to.
    pub entity_type: EntityType,
    /// When, in UTC (RFC 3339).
    #[schemars(with = "String")]
    pub created_at: Timestamp,
    /// What else is known about it; its keys depend on the type.
    #[schemars(schema_with = "object")]
    pub payload: Json,
    /// Why not to rely on it: `written by another program`, or what else keeps the chain from
    /// vouching for it. Left out where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub doubt: Option<String>,
}

/// The resource of a decision: the context without its events, everything in full, and the
/// decision's own fields at the top level too, where the original has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecisionRecord {
    pub uuid: Uuid,
    #[serde(flatten)]
    pub fields: DecisionShown,
    pub decision: DecisionShown,
    pub git_change: Option<GitChangeShown>,
    pub reviews: Vec<ReviewInFull>,
    pub policy_results: Vec<PolicyResultInFull>,
    pub disagreements: Vec<DisagreementInFull>,
    pub approvals: Vec<ApprovalShown>,
}

/// A review with its findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReviewInFull {
    #[serde(flatten)]
    pub review: ReviewShown,
    pub findings: Vec<Finding>,
}

/// A policy result with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyResultInFull {
    #[serde(flatten)]
    pub result: PolicyResultShown,
    pub evidence: Option<Json>,
}

/// A disagreement with both positions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DisagreementInFull {
    #[serde(flatten)]
    pub disagreement: DisagreementShown,
    pub author_position: Option<String>,
    pub reviewer_position: Option<String>,
    pub risk_summary: Option<String>,
}

impl Service {
    /// The record of a decision with its timeline.
    ///
    /// # Errors
    ///
    /// Refuses an unknown decision.
    pub async fn decision_context(&self, input: GetDecisionContext) -> Result<DecisionContext> {
        let mut read = self.ledger.read(UseCase::GetDecisionContext).await?;
        let decision = self.decision(&mut read, &input.decision_id).await?;
        let (dossier, rules) = self.dossier_of(&mut read, &decision).await?;
        let events = shown_events(&dossier)?;
        let record = record(decision, dossier, &rules);
        Ok(DecisionContext {
            decision: record.decision,
            git_change: record.git_change,
            reviews: record.reviews.into_iter().map(|full| full.review).collect(),
            policy_results: record.policy_results.into_iter().map(|full| full.result).collect(),
            disagreements: record.disagreements.into_iter().map(|full| full.disagreement).collect(),
            approvals: record.approvals,
            events,
        })
    }

    /// The record of a decision in full.
    ///
    /// # Errors
    ///
    /// Refuses an unknown decision.
    pub async fn decision_record(&self, decision_id: &str) -> Result<DecisionRecord> {
        let mut read = self.ledger.read(UseCase::DecisionRecord).await?;
        let decision = self.decision(&mut read, decision_id).await?;
        let (dossier, rules) = self.dossier_of(&mut read, &decision).await?;
        Ok(record(decision, dossier, &rules))
    }

    /// What hangs off a decision, and the rules that its project has now.
    pub(in crate::ledger) async fn dossier_of(
        &self,
        connection: &mut Connection,
        decision: &entity::Decision,
    ) -> Result<(Dossier, Current)> {
        let dossier = store::ledger::dossier::of_decision(connection, decision.id).await?;
        let rules = Current::of(dossier.project.as_ref().ok_or_else(vanished)?);
        Ok((dossier, rules))
    }
}

/// The record of a decision from what hangs off it; nothing of the rules but whether they are
/// still those that judged.
pub(in crate::ledger) fn record(
    decision: entity::Decision,
    dossier: Dossier,
    rules: &Current,
) -> DecisionRecord {
    let changes = AttachedChanges::from(dossier.marks);
    let mut findings = dossier.findings;
    let reviews = dossier
        .reviews
        .into_iter()
        .map(|review| {
            let own = findings.extract_if(.., |(review_id, _)| *review_id == review.id);
            let own = own.map(|(_, finding)| finding).collect();
            let stale = changes.is_stale(review.recorded);
            in_full(review, own, stale)
        })
        .collect();
    let uuid = decision.id;
    let caveat = match decision.status {
        DecisionStatus::Approved => dossier.verdicts.caveat(),
        _ => None,
    };
    let fields = DecisionShown { caveat, ..decision.into() };
    DecisionRecord {
        uuid,
        fields: fields.clone(),
        decision: fields,
        git_change: dossier.change.map(GitChangeShown::from),
        reviews,
        policy_results: dossier
            .policy_results
            .into_iter()
            .map(|result| {
                let stale = changes.is_stale(result.recorded);
                judged(result, rules, stale)
            })
            .collect(),
        disagreements: dossier.disagreements.into_iter().map(DisagreementInFull::from).collect(),
        approvals: dossier
            .verdicts
            .iter()
            .map(|verdict| ApprovalShown {
                id: verdict.id(),
                status: verdict.status(),
                comment: verdict.comment().map(str::to_owned),
                confirmed: verdict.confirmed(),
                vouched: verdict.vouched().is_some(),
                caveat: verdict.caveat().map(str::to_owned),
                stale: changes.is_stale(verdict.recorded()),
            })
            .collect(),
    }
}

/// The events around a decision.
fn shown_events(dossier: &Dossier) -> Result<Vec<EventShown>> {
    let vouched = vouched::events(dossier.verdicts.iter());
    let events = dossier.events()?.into_iter();
    Ok(events.map(|told| EventShown::new(told, &vouched)).collect())
}

fn in_full(review: Review, findings: Vec<Finding>, stale: bool) -> ReviewInFull {
    let review = ReviewShown {
        id: review.display_id,
        status: review.status,
        summary: review.summary,
        findings_count: findings.len(),
        stale,
    };
    ReviewInFull { review, findings }
}

impl From<entity::Decision> for DecisionShown {
    fn from(decision: entity::Decision) -> Self {
        Self {
            id: decision.display_id,
            title: decision.title,
            status: decision.status,
            risk_level: decision.risk_level,
            summary: decision.summary,
            rationale: decision.rationale,
            human_approval_required: decision.human_approval_required,
            caveat: None,
        }
    }
}

impl From<GitChange> for GitChangeShown {
    fn from(change: GitChange) -> Self {
        let (files_changed, files_changed_total) = shown(&change.files_changed);
        Self {
            commit_hash: change.commit_hash,
            branch_name: change.branch_name,
            files_changed,
            files_changed_total,
            insertions: change.insertions,
            deletions: change.deletions,
            diff_hash: change.diff_hash,
        }
    }
}

fn judged(result: PolicyResult, rules: &Current, stale: bool) -> PolicyResultInFull {
    let run = result.run;
    let shown = PolicyResultShown {
        policy_id: result.policy_id,
        policy: result.policy,
        status: result.status,
        message: result.message,
        run_id: run.as_ref().map(|run| run.event_id),
        current_config: run.as_ref().map(|run| rules.is(run.config_hash.as_deref())),
        config_hash: run.and_then(|run| run.config_hash),
        stale,
    };
    PolicyResultInFull { result: shown, evidence: result.evidence }
}

impl From<Disagreement> for DisagreementInFull {
    fn from(disagreement: Disagreement) -> Self {
        let shown = DisagreementShown {
            id: disagreement.id,
            topic: disagreement.topic,
            requires_human_decision: disagreement.requires_human_decision,
            resolution: disagreement.resolution,
        };
        Self {
            disagreement: shown,
            author_position: disagreement.author_position,
            reviewer_position: disagreement.reviewer_position,
            risk_summary: disagreement.risk_summary,
        }
    }
}

impl EventShown {
    /// The event with what is to be known of it; the events of verdicts that the chain vouches
    /// for are among `vouched`.
    pub(in crate::ledger) fn new(told: EventTold, vouched: &HashSet<Uuid>) -> Self {
        let doubt = vouched::doubt(&told, vouched);
        let event = told.event;
        Self {
            event_type: event.event_type,
            entity_type: event.entity_type,
            created_at: event.created_at,
            // The published schema says object; the original may have written none.
            payload: event.payload.unwrap_or_else(|| Json::Object(Default::default())),
            doubt: doubt.map(str::to_owned),
        }
    }
}

/// The schema of a free-form object. A bare `serde_json::Value` would be published as `true`,
/// which makes several clients drop every tool.
fn object(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "object" })
}
