//! Who may pass the human gate, what must hold before, and what a person is shown there.

use std::path::Path;

use serde::Serialize;
use sqlx::SqliteConnection;

use super::Service;
use super::approvals::ApproveDecision;
use super::config::{self, ApprovalSettings, Confirm, Requirement};
use super::context::GitChangeShown;
use super::coverage::Coverage;
use super::references::vanished;
use crate::domain::alike::{alike, reads_as_agent};
use crate::domain::entity::{Decision, Finding};
use crate::domain::value::{
    AgentType, ApprovalStatus, DecisionStatus, EntityType, PolicyResultStatus, RiskLevel,
};
use crate::error::{Code, Error, Result};
use crate::store;

/// How it is known that a verdict is a person's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confirmed {
    /// The client asked its user, who answered.
    Asked,
    /// The person typed it in a terminal.
    Terminal,
    /// An agent said so.
    Asserted,
}

/// How a verdict came, and which change the person had before them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    pub how: Confirmed,
    /// The diff hash that was shown, where something was: a change that was attached
    /// meanwhile is not covered.
    pub seen: Option<Option<String>>,
}

impl Confirmation {
    /// Nobody was asked.
    pub fn asserted() -> Self {
        Self { how: Confirmed::Asserted, seen: None }
    }
}

/// What a person must know to give a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Whether the settings of the project let the person be asked.
    pub confirm: Confirm,
    /// Display ID of the decision.
    pub decision_id: String,
    pub title: String,
    pub status: DecisionStatus,
    pub risk_level: RiskLevel,
    /// The name of the decision's author.
    pub author: String,
    /// The change attached now.
    pub change: Option<GitChangeShown>,
    /// The policies that block it, each with its message.
    pub blocked: Vec<(String, String)>,
    /// Whether the policies have not been run for this change.
    pub unchecked: bool,
    /// The findings of its reviews, each with the review and whether that saw another change.
    pub findings: Vec<OpenFinding>,
    /// The topics of the disagreements that nobody has settled.
    pub disagreements: Vec<String>,
}

/// A finding as the person is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFinding {
    /// Display ID of the review.
    pub review: String,
    pub stale: bool,
    pub finding: Finding,
}

impl Question {
    /// The diff hash that the person is shown.
    pub fn diff_hash(&self) -> Option<String> {
        self.change.as_ref().and_then(|change| change.diff_hash.clone())
    }
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
        let mut read = self.ledger.read().await?;
        let decision = self.decision(&mut read, &input.decision_id).await?;
        let settings = self.approval_settings(&mut read, &decision).await?;
        check_approver(&mut read, &decision, &input.approver).await?;
        if input.status == ApprovalStatus::Approved {
            check_ready(&mut read, &decision, &settings).await?;
        }
        question(&mut read, decision, settings.confirm).await
    }

    /// The `[approval]` settings of the project that a decision belongs to.
    pub(super) async fn approval_settings(
        &self,
        connection: &mut SqliteConnection,
        decision: &Decision,
    ) -> Result<ApprovalSettings> {
        let project = self.project_of(connection, decision.project_id).await?;
        config::approval_settings(Path::new(&project.root_path))
    }
}

async fn question(
    connection: &mut SqliteConnection,
    decision: Decision,
    confirm: Confirm,
) -> Result<Question> {
    let coverage = Coverage::of(connection, decision.id).await?;
    let author = author_of(connection, &decision).await?;
    let change = store::git_changes::newest(connection, decision.id).await?;
    let mut newest = std::collections::BTreeMap::new();
    for result in store::policies::results(connection, decision.id).await? {
        if !coverage.is_stale(result.created_at) {
            newest.insert(result.policy, (result.status, result.message));
        }
    }
    let blocked = newest
        .into_iter()
        .filter(|(_, (status, _))| *status == PolicyResultStatus::Blocked)
        .map(|(policy, (_, message))| (policy, message.unwrap_or_default()))
        .collect();
    let reviews = store::reviews::of_decision(connection, decision.id).await?;
    let findings = store::reviews::findings_of_decision(connection, decision.id).await?;
    let findings = findings
        .into_iter()
        .filter_map(|(review_id, finding)| {
            let review = reviews.iter().find(|review| review.id == review_id)?;
            Some(OpenFinding {
                review: review.display_id.clone(),
                stale: coverage.is_stale(review.created_at),
                finding,
            })
        })
        .collect();
    Ok(Question {
        confirm,
        unchecked: !are_checked(connection, &decision, &coverage).await?,
        decision_id: decision.display_id.clone(),
        title: decision.title.clone(),
        status: decision.status,
        risk_level: decision.risk_level,
        author,
        change: change.map(GitChangeShown::from),
        blocked,
        findings,
        disagreements: open_disagreements(connection, &decision).await?,
    })
}

async fn author_of(connection: &mut SqliteConnection, decision: &Decision) -> Result<String> {
    let author = store::agents::by_id(connection, decision.author_agent_id).await?;
    Ok(author.ok_or_else(vanished)?.name)
}

/// Refuses who may not judge a decision that needs a person: whoever is no person, and
/// whoever made the decision, in any spelling.
pub(super) async fn check_approver(
    connection: &mut SqliteConnection,
    decision: &Decision,
    approver: &str,
) -> Result<()> {
    if !decision.human_approval_required {
        return Ok(());
    }
    let refused = |why: String| {
        Err(Error::refused(
            Code::ApproverNotAccepted,
            format!(
                "approver \"{}\" {why} {} needs the verdict of a person who did not author it \
                 (human_approval_required). Ask that person, and send the verdict under their \
                 name; never under yours. Nothing was recorded.",
                approver.trim(),
                decision.display_id
            ),
        ))
    };
    let known = store::agents::by_name(connection, approver.trim()).await?;
    let stored = known.as_ref().map(|agent| agent.kind).filter(|kind| *kind != AgentType::Human);
    if let Some(kind) = stored.or_else(|| reads_as_agent(approver)) {
        return refused(format!("is a coding agent ({kind}), or reads like one."));
    }
    let author = author_of(connection, decision).await?;
    if known.is_some_and(|agent| agent.id == decision.author_agent_id) || alike(approver, &author) {
        return refused(format!("is the author of the decision (\"{author}\"), in some spelling."));
    }
    Ok(())
}

/// Refuses an approval before everything that the settings ask for holds for the change that
/// is attached now.
pub(super) async fn check_ready(
    connection: &mut SqliteConnection,
    decision: &Decision,
    settings: &ApprovalSettings,
) -> Result<()> {
    let coverage = Coverage::of(connection, decision.id).await?;
    let mut missing = Vec::new();
    for requirement in &settings.require {
        match requirement {
            Requirement::PolicyChecks => {
                if !are_checked(connection, decision, &coverage).await? {
                    missing.push(
                        "the policies have not been run for the change attached now: call \
                         run_policy_checks"
                            .to_owned(),
                    );
                }
            }
            Requirement::Review => {
                if !is_reviewed(connection, decision, &coverage).await? {
                    missing.push(
                        "nobody but the author has reviewed the change attached now: call \
                         request_review, and have the reviewer call submit_review"
                            .to_owned(),
                    );
                }
            }
            Requirement::NoOpenDisagreement => {
                let open = open_disagreements(connection, decision).await?;
                if !open.is_empty() {
                    missing.push(format!(
                        "open disagreements ({}): a person settles them by a verdict of \
                         needs_changes or rejected, with the reason as comment",
                        open.join("; ")
                    ));
                }
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::refused(
        Code::ApprovalNotReady,
        format!(
            "{} cannot be approved yet; [approval] require in .govforge/config.toml asks for \
             more: {}. Nothing was recorded.",
            decision.display_id,
            missing.join("; ")
        ),
    ))
}

/// Whether the policies have been run for the change attached now; without one there is
/// nothing that they could judge, and any run counts.
async fn are_checked(
    connection: &mut SqliteConnection,
    decision: &Decision,
    coverage: &Coverage,
) -> Result<bool> {
    let ran = store::events::newest_time(
        connection,
        EntityType::Decision,
        decision.id,
        "decision.policy_evaluated",
    );
    Ok(ran.await?.is_some_and(|ran| !coverage.is_stale(ran)))
}

async fn is_reviewed(
    connection: &mut SqliteConnection,
    decision: &Decision,
    coverage: &Coverage,
) -> Result<bool> {
    let author = author_of(connection, decision).await?;
    for review in store::reviews::of_decision(connection, decision.id).await? {
        if coverage.is_stale(review.created_at) {
            continue;
        }
        let reviewer = store::agents::by_id(connection, review.reviewer_agent_id).await?;
        if !alike(&reviewer.ok_or_else(vanished)?.name, &author) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The topics of the disagreements that are open: without a resolution, and not yet before a
/// person, who settles them by a verdict.
async fn open_disagreements(
    connection: &mut SqliteConnection,
    decision: &Decision,
) -> Result<Vec<String>> {
    let verdict = store::approvals::newest(connection, decision.id).await?;
    let judged = verdict.map(|verdict| verdict.created_at);
    let disagreements = store::disagreements::of_decision(connection, decision.id).await?;
    Ok(disagreements
        .into_iter()
        .filter(|one| one.resolution.is_none())
        .filter(|one| judged.is_none_or(|judged| one.created_at > judged))
        .map(|one| one.topic)
        .collect())
}
