//! Opening a task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::domain::access::UseCase;
use crate::domain::entity::Task;
use crate::domain::id::Kind;
use crate::domain::value::{EntityType, RiskLevel, TaskStatus};
use crate::error::Result;
use crate::ledger::Service;
use crate::ledger::record::write::Subject;
use crate::store;

/// The risk of a task or decision for which none is given.
pub(in crate::ledger) fn medium() -> RiskLevel {
    RiskLevel::Medium
}

/// The parameters of `create_task`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct CreateTask {
    /// Absolute path of the project's repository, or of a directory or linked worktree in it.
    #[schemars(length(min = 1, max = 1_048_576))]
    pub project_path: String,
    /// What is to be done, in one line.
    #[schemars(length(min = 1, max = 512))]
    pub title: String,
    /// Background, scope and what counts as done.
    #[serde(default)]
    #[schemars(length(max = 1_048_576))]
    pub description: Option<String>,
    /// How much harm the work can do.
    #[serde(default = "medium")]
    pub risk_level: RiskLevel,
    /// Name of the agent or person who opens the task, such as "claude-code".
    #[serde(default)]
    #[schemars(length(max = 255))]
    pub actor_agent: Option<String>,
}

/// The result of `create_task`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskCreated {
    /// Display ID of the task, such as TASK-001.
    pub task_id: String,
    /// Always `open`.
    pub status: TaskStatus,
}

impl Service {
    /// Opens a task in a project.
    ///
    /// # Errors
    ///
    /// Refuses a path that belongs to no project.
    pub async fn create_task(&self, input: CreateTask) -> Result<TaskCreated> {
        let mut write = self.begin(UseCase::CreateTask).await?;
        let project = self.project_or_register(&mut write, &input.project_path).await?;
        let actor = write.actor(input.actor_agent.as_deref()).await?;
        let display_id = write.display_id(project.id, Kind::Task).await?.to_string();
        let task = Task {
            id: write.id(),
            display_id,
            project_id: project.id,
            title: input.title,
            description: input.description,
            risk_level: input.risk_level,
            status: TaskStatus::Open,
            created_by_agent_id: actor,
            created_at: write.now,
            updated_at: write.now,
        };
        store::ledger::tasks::insert(write.connection(), &task).await?;
        let subject = Subject {
            project_id: project.id,
            entity_type: EntityType::Task,
            entity_id: task.id,
            actor,
        };
        let mut payload = json!({
            "display_id": task.display_id,
            "title": task.title,
            "risk_level": task.risk_level,
        });
        let content =
            json!([task.project_id, task.title, task.description, task.risk_level, actor]);
        write.flag_repeat(&mut payload, "task.created", content, &task.display_id).await?;
        write.event(&subject, "task.created", payload).await?;
        write.commit().await?;
        Ok(TaskCreated { task_id: task.display_id, status: task.status })
    }
}
