//! The human gate: a person's verdict on a decision.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::gate::{Confirmation, Confirmed, check_approver, check_ready};
use crate::domain::access::UseCase;
use crate::domain::chain::order::Recorded;
use crate::domain::entity::{Approval, Decision};
use crate::domain::value::{AgentType, ApprovalStatus, DecisionStatus, RiskLevel};
use crate::domain::verdict;
use crate::error::{Code, Error, Result};
use crate::ledger::Service;
use crate::ledger::policies::rules::Current;
use crate::ledger::record::write::{Subject, Write};
use crate::ledger::review::reviews::OfProject;
use crate::ledger::settings::config::{self, Confirm};
use crate::ledger::verdict::question::question;
use crate::ledger::verdict::staleness::AttachedChanges;
use crate::ledger::work::projects::Found;
use crate::store;

/// The parameters of `approve_decision`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ApproveDecision {
    /// Display ID of the decision, such as DEC-001.
    #[schemars(length(min = 1, max = 512))]
    pub decision_id: String,
    /// Name of the person who gives the verdict.
    #[schemars(length(min = 1, max = 255))]
    pub approver: String,
    /// The verdict.
    pub status: ApprovalStatus,
    /// The person's reasons or conditions.
    #[serde(default)]
    #[schemars(length(max = 1_048_576))]
    pub comment: Option<String>,
}

/// The result of `approve_decision`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerdictGiven {
    /// Display ID of the decision.
    pub decision_id: String,
    /// Where the decision stands after the verdict.
    pub decision_status: DecisionStatus,
    /// The verdict.
    pub approval_status: ApprovalStatus,
}

/// The result of `list_pending_approvals`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PendingApprovals {
    /// The decisions that wait for a person's verdict, oldest first.
    pub decisions: Vec<PendingApproval>,
}

/// A decision that waits for a person's verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PendingApproval {
    /// Display ID of the decision.
    pub decision_id: String,
    /// The decision in one line.
    pub title: String,
    /// How much harm the change can do.
    pub risk_level: RiskLevel,
    /// `review_required` or `changes_requested`.
    pub status: DecisionStatus,
}

impl Service {
    /// Records a person's verdict and moves the decision accordingly, whatever it was before.
    ///
    /// # Errors
    ///
    /// Refuses an unknown decision, an approver who may not judge it, an approval before what
    /// the settings require holds, a verdict without a person where the settings want one, and
    /// a verdict on another change than the one attached now.
    pub async fn approve_decision(
        &self,
        input: ApproveDecision,
        confirmation: Confirmation,
    ) -> Result<VerdictGiven> {
        let mut write = self.begin(UseCase::ApproveDecision).await?;
        let decision = self.decision(write.connection(), &input.decision_id).await?;
        let project = self.project_of(write.connection(), decision.project_id).await?;
        let settings = config::approval_settings(Path::new(&project.root_path))?;
        if settings.confirm == Confirm::Always && confirmation.how == Confirmed::Asserted {
            return Err(unconfirmed(&decision.display_id));
        }
        check_approver(write.connection(), &decision, &input.approver).await?;
        // Whose program it is, is known here: unless its client asked somebody, nobody else can
        // have decided.
        let holder = write.holder().filter(|holder| *holder != AgentType::Human);
        if let Some(holder) = holder
            && decision.human_approval_required
            && confirmation.how != Confirmed::Asked
        {
            return Err(Error::refused(
                Code::ApproverNotAccepted,
                format!(
                    "This program runs under the token of a coding agent ({holder}), and {} needs \
                     the verdict of a person. Nothing was recorded. Ask the person to run \
                     `govforge approve {}` in a terminal of their own.",
                    decision.display_id, decision.display_id
                ),
            ));
        }
        // Others wait for the lock meanwhile, so they are read only where they count.
        let rules = match confirmation.seen.is_some() || settings.asks_for_policy_checks() {
            true => Current::of(&project),
            false => Current::unread(),
        };
        if input.status == ApprovalStatus::Approved {
            check_ready(write.connection(), &decision, &settings, &rules).await?;
        }
        let changes = AttachedChanges::of(write.connection(), decision.id).await?;
        if let Some(seen) = confirmation.seen
            && question(write.connection(), &decision, settings.confirm, &rules).await?.fingerprint
                != seen
        {
            return Err(Error::refused_by_audience(Code::PersonMustDecide, |to| {
                format!(
                    "{} was changed or judged since {} asked, so the answer is not about it as it \
                     stands. Nothing was recorded; {}, and {} shown how it stands now.",
                    decision.display_id,
                    to.pick("the person was", "you were"),
                    to.again(),
                    to.pick("the person is", "you are")
                )
            }));
        }
        let recorded_settings = settings.recorded();
        tell_of_other_settings(&mut write, &decision, &recorded_settings).await?;
        let approver = write.agent(&input.approver).await?;
        let approval = Approval {
            id: write.id(),
            decision_id: decision.id,
            approver_agent_id: approver.id,
            status: input.status,
            comment: input.comment,
            // The event that vouches for it has the same.
            created_at: write.next_event_time(),
            recorded: Recorded::NOW,
        };
        store::ledger::approvals::insert(write.connection(), &approval).await?;
        let status = DecisionStatus::after_verdict(approval.status);
        // The verdict itself is the event, and carries the change of status.
        write.set_status(&decision, status).await?;
        let event_type = verdict::event_type(approval.status);
        let mut payload = json!({
            "approval_id": approval.id,
            "comment": approval.comment,
            "from": decision.status,
            "to": status,
            "diff_hash": changes.diff_hash(),
            "confirmed": confirmation.how,
            "settings": recorded_settings,
        });
        let content = json!([decision.id, approver.id, approval.comment]);
        let record = approval.id.to_string();
        write.flag_repeat(&mut payload, event_type, content, &record).await?;
        let subject = Subject::decision(&decision, Some(approver.id));
        write.event(&subject, event_type, payload).await?;
        write.commit().await?;
        Ok(VerdictGiven {
            decision_id: decision.display_id,
            decision_status: status,
            approval_status: approval.status,
        })
    }

    /// Lists the decisions of a project that wait for a person's verdict.
    ///
    /// # Errors
    ///
    /// Refuses a path that belongs to no project.
    pub async fn list_pending_approvals(&self, input: OfProject) -> Result<PendingApprovals> {
        let mut read = self.ledger.read(UseCase::ListPendingApprovals).await?;
        let decisions = match self.find_project(&mut read, &input.project_path).await? {
            Found::Registered(project) => {
                store::ledger::decisions::awaiting_verdict(&mut read, project.id).await?
            }
            Found::Registrable(_) => Vec::new(),
        };
        let decisions = decisions
            .into_iter()
            .map(|decision| PendingApproval {
                decision_id: decision.display_id,
                title: decision.title,
                risk_level: decision.risk_level,
                status: decision.status,
            })
            .collect();
        Ok(PendingApprovals { decisions })
    }
}

/// Puts on the timeline that the settings are not those under which the last verdict of the
/// project was given. Nobody knows who changed them.
async fn tell_of_other_settings(
    write: &mut Write<'_>,
    decision: &Decision,
    now: &Json,
) -> Result<()> {
    let last =
        store::chain::testimony::last_verdict(write.connection(), decision.project_id).await?;
    let before = last.map(|mut payload| payload["settings"].take()).unwrap_or_default();
    if before.is_null() || before["digest"] == now["digest"] {
        return Ok(());
    }
    let payload = json!({ "before": before, "after": now });
    let subject = Subject::decision(decision, None);
    write.event(&subject, "decision.settings_changed", payload).await.map(drop)
}

/// The refusal of a verdict that no person has confirmed, where one has to.
fn unconfirmed(decision_id: &str) -> Error {
    Error::refused_by_audience(Code::PersonMustDecide, |to| {
        let (why, next) = to.pick(
            (
                "this client cannot ask",
                format!("Ask the person to run `govforge approve {decision_id}` in a terminal."),
            ),
            ("--yes asks nobody", "Leave --yes out, in a terminal.".to_owned()),
        );
        format!(
            "A person must decide on {decision_id} in front of the question itself: [approval] \
             confirm = \"always\" in .govforge/config.toml, and {why}. Nothing was recorded. \
             {next}"
        )
    })
}

/// The refusal of a verdict for which a person was asked and gave none. It is no rejection.
pub fn unanswered(decision_id: &str, why: &str) -> Error {
    Error::refused(
        Code::PersonMustDecide,
        format!(
            "A person must decide on {decision_id}, and has not: {why}. Nothing was recorded; this \
             is no rejection. Do not send the verdict again on your own: tell the person that it \
             waits for them, or that `govforge approve {decision_id}` in a terminal records it."
        ),
    )
}
