//! Recording a decision.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::domain::access::UseCase;
use crate::domain::entity::Decision;
use crate::domain::id::Kind;
use crate::domain::value::{DecisionStatus, RiskLevel};
use crate::error::Result;
use crate::ledger::Service;
use crate::ledger::record::write::Subject;
use crate::ledger::work::tasks::medium;
use crate::store;

/// The parameters of `record_decision`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RecordDecision {
    /// Display ID of the task that the decision belongs to, such as TASK-001.
    #[schemars(length(min = 1, max = 512))]
    pub task_id: String,
    /// Name of the agent who decides, such as "claude-code".
    #[schemars(length(min = 1, max = 255))]
    pub author_agent: String,
    /// The decision in one line.
    #[schemars(length(min = 1, max = 512))]
    pub title: String,
    /// What changes.
    #[serde(default)]
    #[schemars(length(max = 1_048_576))]
    pub summary: Option<String>,
    /// Why, and which alternatives were turned down.
    #[serde(default)]
    #[schemars(length(max = 1_048_576))]
    pub rationale: Option<String>,
    /// How much harm the change can do; high and critical need tests.
    #[serde(default = "medium")]
    pub risk_level: RiskLevel,
    /// Whether a person must give the verdict.
    #[serde(default)]
    pub human_approval_required: bool,
}

/// The result of `record_decision`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DecisionRecorded {
    /// Display ID of the decision, such as DEC-001.
    pub decision_id: String,
    /// Always `draft`.
    pub status: DecisionStatus,
}

impl Service {
    /// Records a decision under a task, in the task's project.
    ///
    /// # Errors
    ///
    /// Refuses an unknown task.
    pub async fn record_decision(&self, input: RecordDecision) -> Result<DecisionRecorded> {
        let mut write = self.begin(UseCase::RecordDecision).await?;
        let task = self.task(write.connection(), &input.task_id).await?;
        let author = write.agent(&input.author_agent).await?;
        let display_id = write.display_id(task.project_id, Kind::Decision).await?.to_string();
        let decision = Decision {
            id: write.id(),
            display_id,
            project_id: task.project_id,
            task_id: Some(task.id),
            author_agent_id: author.id,
            title: input.title,
            summary: input.summary,
            rationale: input.rationale,
            status: DecisionStatus::Draft,
            risk_level: input.risk_level,
            human_approval_required: input.human_approval_required,
            created_at: write.now,
            updated_at: write.now,
        };
        store::ledger::decisions::insert(write.connection(), &decision).await?;
        let mut payload = json!({
            "display_id": decision.display_id,
            "title": decision.title,
            "risk_level": decision.risk_level,
            "task_id": task.id,
        });
        let content = json!([
            task.id,
            author.id,
            decision.title,
            decision.summary,
            decision.rationale,
            decision.risk_level,
            decision.human_approval_required,
        ]);
        let record = &decision.display_id;
        write.flag_repeat(&mut payload, "decision.created", content, record).await?;
        let subject = Subject::decision(&decision, Some(author.id));
        write.event(&subject, "decision.created", payload).await?;
        write.commit().await?;
        Ok(DecisionRecorded { decision_id: decision.display_id, status: decision.status })
    }
}
