//! Asking for a review and submitting one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::domain::access::UseCase;
use crate::domain::chain::order::Recorded;
use crate::domain::entity::{Decision, Finding, Review};
use crate::domain::id::Kind;
use crate::domain::value::{ApprovalStatus, DecisionStatus, EntityType, ReviewStatus};
use crate::error::{Code, Error, Result};
use crate::ledger::Service;
use crate::ledger::record::write::Subject;
use crate::ledger::verdict::staleness::standing_verdict;
use crate::ledger::work::projects::Found;
use crate::store;

/// The parameters of `request_review`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RequestReview {
    /// Display ID of the decision, such as DEC-001.
    #[schemars(length(min = 1, max = 512))]
    pub decision_id: String,
    /// Name of the agent or person who is to review, such as "codex-reviewer".
    #[schemars(length(min = 1, max = 255))]
    pub reviewer_agent: String,
    /// What to look at in particular, such as "security" or "tests".
    #[serde(default)]
    #[schemars(inner(length(min = 1, max = 1_048_576)))]
    pub focus: Vec<String>,
    /// Name of the agent who asks.
    #[serde(default)]
    #[schemars(length(max = 255))]
    pub actor_agent: Option<String>,
}

/// The result of `request_review`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReviewRequested {
    /// Display ID of the decision.
    pub decision_id: String,
    /// Always `review_required`.
    pub status: DecisionStatus,
}

/// The parameters of `submit_review`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SubmitReview {
    /// Display ID of the decision, such as DEC-001.
    #[schemars(length(min = 1, max = 512))]
    pub decision_id: String,
    /// Name of the agent or person who reviewed.
    #[schemars(length(min = 1, max = 255))]
    pub reviewer_agent: String,
    /// The conclusion. changes_requested and rejected move the decision; approved and
    /// commented leave it: only a person's verdict approves.
    pub status: ReviewStatus,
    /// The conclusion in a few sentences.
    #[serde(default)]
    #[schemars(length(max = 1_048_576))]
    pub summary: Option<String>,
    /// What was found, one entry for each point.
    #[serde(default)]
    pub findings: Vec<Finding>,
}

/// The result of `submit_review`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReviewSubmitted {
    /// Display ID of the review, such as REV-001.
    pub review_id: String,
    /// Display ID of the decision.
    pub decision_id: String,
    /// Where the decision stands after the review.
    pub decision_status: DecisionStatus,
}

/// The parameters of `list_open_reviews` and `list_pending_approvals`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct OfProject {
    /// Absolute path of the project's repository, or of a directory or linked worktree in it.
    #[schemars(length(min = 1, max = 1_048_576))]
    pub project_path: String,
}

/// The result of `list_open_reviews`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OpenReviews {
    /// The reviews on decisions now in `review_required`, oldest first.
    pub reviews: Vec<OpenReview>,
}

/// A review on a decision that is under review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OpenReview {
    /// Display ID of the review.
    pub review_id: String,
    /// Display ID of the decision.
    pub decision_id: String,
    /// Name of the reviewer.
    pub reviewer_agent: String,
    /// What the reviewer concluded.
    pub status: ReviewStatus,
}

impl Service {
    /// Asks an agent or a person for a review: the decision goes to `review_required`.
    ///
    /// # Errors
    ///
    /// Refuses an unknown decision, and one on which a person's verdict stands.
    pub async fn request_review(&self, input: RequestReview) -> Result<ReviewRequested> {
        let mut write = self.begin(UseCase::RequestReview).await?;
        let decision = self.decision(write.connection(), &input.decision_id).await?;
        if let Some(verdict) = standing_verdict(write.connection(), &decision).await? {
            return Err(stands(&decision, verdict.status()));
        }
        let reviewer = write.agent(&input.reviewer_agent).await?;
        let actor = write.actor(input.actor_agent.as_deref()).await?;
        let status = DecisionStatus::ReviewRequired;
        // The request itself is the event: the contract has no second one for the status.
        write.set_status(&decision, status).await?;
        let mut payload = json!({ "reviewer_agent_id": reviewer.id, "focus": input.focus });
        let content = json!([decision.id, payload, actor]);
        let record = &decision.display_id;
        write.flag_repeat(&mut payload, "review.requested", content, record).await?;
        let subject = Subject::decision(&decision, actor);
        write.event(&subject, "review.requested", payload).await?;
        write.commit().await?;
        Ok(ReviewRequested { decision_id: decision.display_id, status })
    }

    /// Records a review with its findings. It moves the decision unless a person's verdict
    /// stands.
    ///
    /// # Errors
    ///
    /// Refuses an unknown decision, and a finding whose lines run backwards.
    pub async fn submit_review(&self, input: SubmitReview) -> Result<ReviewSubmitted> {
        check_lines(&input.findings)?;
        let mut write = self.begin(UseCase::SubmitReview).await?;
        let decision = self.decision(write.connection(), &input.decision_id).await?;
        let reviewer = write.agent(&input.reviewer_agent).await?;
        let display_id = write.display_id(decision.project_id, Kind::Review).await?.to_string();
        let review = Review {
            id: write.id(),
            display_id,
            decision_id: decision.id,
            reviewer_agent_id: reviewer.id,
            status: input.status,
            summary: input.summary,
            created_at: write.now,
            recorded: Recorded::NOW,
        };
        store::ledger::reviews::insert(write.connection(), &review).await?;
        for finding in &input.findings {
            let id = write.id();
            store::ledger::reviews::insert_finding(write.connection(), id, review.id, finding)
                .await?;
        }
        let status = match standing_verdict(write.connection(), &decision).await? {
            Some(_) => decision.status,
            None => decision.status.after_review(review.status),
        };
        write.change_status(&decision, status, Some(reviewer.id), None).await?;
        let subject = Subject {
            project_id: decision.project_id,
            entity_type: EntityType::Review,
            entity_id: review.id,
            actor: Some(reviewer.id),
        };
        let mut payload = json!({
            "decision_id": decision.id,
            "display_id": review.display_id,
            "status": review.status,
            "findings_count": input.findings.len(),
        });
        let content =
            json!([decision.id, reviewer.id, review.status, review.summary, input.findings,]);
        write.flag_repeat(&mut payload, "review.submitted", content, &review.display_id).await?;
        write.event(&subject, "review.submitted", payload).await?;
        write.commit().await?;
        Ok(ReviewSubmitted {
            review_id: review.display_id,
            decision_id: decision.display_id,
            decision_status: status,
        })
    }

    /// Lists the reviews of a project on decisions that are under review.
    ///
    /// # Errors
    ///
    /// Refuses a path that belongs to no project.
    pub async fn list_open_reviews(&self, input: OfProject) -> Result<OpenReviews> {
        let mut read = self.ledger.read(UseCase::ListOpenReviews).await?;
        let reviews = match self.find_project(&mut read, &input.project_path).await? {
            Found::Registered(project) => {
                store::ledger::reviews::open(&mut read, project.id).await?
            }
            Found::Registrable(_) => Vec::new(),
        };
        let reviews = reviews
            .into_iter()
            .map(|review| OpenReview {
                review_id: review.review,
                decision_id: review.decision,
                reviewer_agent: review.reviewer,
                status: review.status,
            })
            .collect();
        Ok(OpenReviews { reviews })
    }
}

/// The refusal of a request to review what a person has judged.
fn stands(decision: &Decision, verdict: ApprovalStatus) -> Error {
    Error::refused_by_audience(Code::VerdictStands, |to| {
        let next = match verdict {
            ApprovalStatus::Approved => format!(
                "A review can still be recorded{}, and a different change sends the decision back \
                 to review; otherwise ask the person for another verdict.",
                to.pick(" with submit_review", "")
            ),
            ApprovalStatus::NeedsChanges => format!(
                "Attach the change that answers it{} again; or ask the person for another verdict.",
                to.pick(
                    " with attach_git_diff, then call request_review",
                    ", then have it reviewed"
                )
            ),
            ApprovalStatus::Rejected => format!(
                "Ask the person for another verdict, or record another decision{}.",
                to.pick(" with record_decision", "")
            ),
        };
        format!(
            "A person has given the verdict {verdict} on {}, which only another verdict changes. \
             {next} Nothing was recorded.",
            decision.display_id
        )
    })
}

/// A finding's last line may not come before its first, and stands for nothing without one.
fn check_lines(findings: &[Finding]) -> Result<()> {
    for (index, finding) in findings.iter().enumerate() {
        if let (Some(start), Some(end)) = (finding.line_start, finding.line_end)
            && end < start
        {
            return Err(Error::invalid(format!(
                "findings[{index}].line_end is {end}, before line_start {start}. Send a last \
                 line that is {start} or more, or leave line_end out."
            )));
        }
    }
    Ok(())
}
