//! Opening a task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::people;
use super::view::{self, TaskShown};
use crate::company::identity::caller::Caller;
use crate::company::record::write::{Sent, Write};
use crate::company::refusals::{conflict, not_found};
use crate::company::{Service, named};
use crate::domain::company::access::rules::{About, Act};
use crate::domain::company::entity::Principal;
use crate::domain::company::record::Record;
use crate::domain::company::task::{self, Task};
use crate::domain::company::value::{Actor, TaskPriority, TaskSource, TaskStatus};
use crate::domain::excerpt::quoted;
use crate::error::Result;
use crate::store::company::tasks::TaskName;
use crate::store::company::{agents, companies, projects, tasks};

/// The parameters of `create-task`.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateTask {
    /// What is to be done, in one line.
    #[schemars(length(min = 1, max = 512))]
    pub title: String,
    /// Background, scope and what counts as done.
    #[serde(default)]
    #[schemars(length(max = 1_048_576))]
    pub description: Option<String>,
    /// Id of the project it belongs to; without one, that of the parent.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub project_id: Option<String>,
    /// Id of the goal it serves.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub goal_id: Option<String>,
    /// Id or identifier of the task that it is a part of.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub parent_id: Option<String>,
    /// Where it stands.
    #[serde(default = "backlog")]
    pub status: TaskStatus,
    /// How much it presses.
    #[serde(default = "medium")]
    pub priority: TaskPriority,
    /// Id of the agent who has it; not together with assigneeUserId.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub assignee_agent_id: Option<String>,
    /// Id of the person who has it; not together with assigneeAgentId.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub assignee_user_id: Option<String>,
    /// Id of the person who answers for it, or null for nobody. Giving it at all needs the
    /// permission tasks:assign; without it somebody is chosen.
    #[serde(default, deserialize_with = "named::given", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", length(min = 1, max = 64), extend("nullable" = true))]
    pub responsible_user_id: Option<Option<String>>,
    /// Ids of the labels it carries.
    #[serde(default)]
    pub label_ids: Vec<String>,
    /// A text of your own: the same one gives the same task, whatever happens to the call.
    #[serde(default)]
    #[schemars(length(min = 1, max = 255))]
    pub idempotency_key: Option<String>,
}

fn backlog() -> TaskStatus {
    TaskStatus::Backlog
}

fn medium() -> TaskPriority {
    TaskPriority::Medium
}

impl Service {
    /// Opens a task.
    ///
    /// # Errors
    ///
    /// 404 and 403 for what it names that is not there or outside the scope, 403 where the caller
    /// may not, 422 for what no task may be.
    pub async fn create_task(&self, caller: &Caller, input: CreateTask) -> Result<TaskShown> {
        let sent = json!(["create-task", &input]);
        let key = input.idempotency_key.clone();
        let mut write = self.write(caller).await?;
        if let Sent::Before(id) = write.sent(key.as_deref(), &sent).await? {
            let (connection, scope) = write.scoped();
            let found = tasks::find(connection, scope, &TaskName::Id(id)).await?;
            let found = found.ok_or_else(|| not_found("idempotencyKey", "task of that key", ""))?;
            return view::task(connection, scope, found).await;
        }
        let task = new_task(&mut write, input).await?;
        task.check()?;
        tasks::insert(write.connection(), &task).await?;
        write.keep_sent(key.as_deref(), &sent, task.id).await?;
        let told = json!({
            "identifier": task.identifier,
            "title": task.title,
            "status": task.status,
            "projectId": task.project_id,
        });
        write.event(Record::Task, task.id, "task.created", told).await?;
        let (connection, scope) = write.scoped();
        let shown = view::task(connection, scope, task).await?;
        write.commit().await?;
        Ok(shown)
    }
}

/// The task that is asked for, once everything it names was found and may be named.
async fn new_task(write: &mut Write<'_>, input: CreateTask) -> Result<Task> {
    let caller = write.caller().clone();
    let parent = match &input.parent_id {
        Some(text) => Some(linked_task(write, "parentId", text).await?),
        None => None,
    };
    let (connection, scope) = write.scoped();
    let project_id = match &input.project_id {
        Some(text) => Some(named::project(connection, scope, "projectId", text).await?.id),
        None => parent.as_ref().and_then(|parent| parent.project_id),
    };
    caller.may(Act::CreateTask, About { project: project_id, ..About::default() })?;
    let goal_id = match &input.goal_id {
        Some(text) => Some(goal(write, text).await?),
        None => None,
    };
    let assignee =
        assignee(write, input.assignee_agent_id.as_deref(), input.assignee_user_id.as_deref())
            .await?;
    let label_ids = labels(write, &input.label_ids).await?;
    let (connection, scope) = write.scoped();
    let responsible_user_id = match &input.responsible_user_id {
        None => people::responsible(connection, scope, &caller, assignee, project_id).await?,
        Some(named) => {
            caller.may(Act::SetResponsible, About { project: project_id, ..About::default() })?;
            match named {
                Some(text) => {
                    let parameter = "responsibleUserId";
                    Some(named::member(connection, scope, parameter, text).await?.id)
                }
                None => None,
            }
        }
    };
    let reviewer_user_id = match input.status {
        TaskStatus::InReview => {
            people::reviewer(connection, scope, responsible_user_id, project_id).await?
        }
        _ => None,
    };
    let number = companies::next_task_number(connection, scope).await?;
    let mut task = Task {
        id: write.id(),
        company_id: caller.company().id,
        identifier: format!("{}-{number}", caller.company().prefix),
        title: input.title,
        description: input.description,
        status: TaskStatus::Backlog,
        priority: input.priority,
        project_id,
        goal_id,
        parent_id: parent.map(|parent| parent.id),
        assignee,
        responsible_user_id,
        reviewer_user_id,
        label_ids,
        artifact_id: None,
        checkout_run_id: None,
        source: match caller.actor() {
            Actor::Board => TaskSource::Manual,
            _ => TaskSource::Mcp,
        },
        created_by: caller.principal(),
        started_at: None,
        completed_at: None,
        cancelled_at: None,
        created_at: write.now,
        updated_at: write.now,
    };
    task.move_to(input.status, write.now);
    Ok(task)
}

/// The task that a parameter links to.
async fn linked_task(write: &mut Write<'_>, parameter: &str, text: &str) -> Result<Task> {
    let name = named::task(parameter, text)?;
    let (connection, scope) = write.scoped();
    let found = tasks::in_company(connection, scope, &name).await?;
    let found = found.ok_or_else(|| not_found(parameter, "task", text))?;
    named::within(scope, found.project_id, parameter, text)?;
    Ok(found)
}

/// The goal that a task is to serve. One that is for some projects is seen in those.
async fn goal(write: &mut Write<'_>, text: &str) -> Result<Uuid> {
    let id = named::id("goalId", text)?;
    let (connection, scope) = write.scoped();
    let found = projects::goal_in_company(connection, scope, id).await?;
    found.ok_or_else(|| not_found("goalId", "goal", text))?;
    let of = projects::of_goal(connection, scope, id).await?;
    let seen = of.iter().find(|project| scope.holds(Some(**project)));
    named::within(scope, seen.copied(), "goalId", text)?;
    Ok(id)
}

/// Whoever is to have a task: an active member, or an agent that may act.
async fn assignee(
    write: &mut Write<'_>,
    agent: Option<&str>,
    user: Option<&str>,
) -> Result<Option<Principal>> {
    let (connection, scope) = write.scoped();
    let agent = match agent {
        Some(text) => {
            let id = named::id("assigneeAgentId", text)?;
            let found = agents::in_company(connection, scope, id).await?;
            let found = found.ok_or_else(|| not_found("assigneeAgentId", "agent", text))?;
            if !found.status.is_alive() {
                return Err(conflict(format!(
                    "`assigneeAgentId`: the agent {} is {} and takes no task.",
                    quoted(&found.name),
                    found.status
                )));
            }
            Some(id)
        }
        None => None,
    };
    let user = match user {
        Some(text) => Some(named::member(connection, scope, "assigneeUserId", text).await?.id),
        None => None,
    };
    Ok(task::assignee(agent, user)?)
}

/// The labels that a task is to carry.
async fn labels(write: &mut Write<'_>, texts: &[String]) -> Result<Vec<Uuid>> {
    let ids = named::ids("labelIds", texts)?;
    let (connection, scope) = write.scoped();
    let known = projects::labels(connection, scope, &ids).await?;
    match ids.iter().find(|id| !known.contains_key(*id)) {
        None => Ok(ids),
        Some(missing) => Err(not_found("labelIds", "label", &missing.to_string())),
    }
}
