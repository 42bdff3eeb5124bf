//! A task as the endpoint shows it: names beside ids, and no empty fields.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::domain::company::access::standing::Scope;
use crate::domain::company::entity::Principal;
use crate::domain::company::task::Task;
use crate::domain::company::value::{TaskPriority, TaskSource, TaskStatus};
use crate::domain::time::Timestamp;
use crate::error::Result;
use crate::store::company::names;
use crate::store::engine::Connection;

/// A task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskShown {
    pub id: Uuid,
    /// Such as ACME-12; accepted wherever a task's id is.
    pub identifier: String,
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub status: TaskStatus,
    pub priority: TaskPriority,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignee_agent_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignee_user_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignee_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responsible_user_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responsible_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewer_user_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewer_name: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub label_ids: Vec<Uuid>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkout_run_id: Option<Uuid>,
    pub source: TaskSource,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by_user_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by_agent_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub completed_at: Option<Timestamp>,
    #[schemars(with = "String")]
    pub created_at: Timestamp,
    #[schemars(with = "String")]
    pub updated_at: Timestamp,
}

/// One task as it is shown.
pub(in crate::company) async fn task(
    connection: &mut Connection,
    scope: &Scope,
    task: Task,
) -> Result<TaskShown> {
    let names = names::of(connection, scope, &named_ids(&task)).await?;
    Ok(shown(task, &names))
}

fn named_ids(task: &Task) -> Vec<Uuid> {
    let id = |principal: Principal| match principal {
        Principal::User(id) | Principal::Agent(id) => id,
    };
    let people = [task.assignee, Some(task.created_by)].into_iter().flatten().map(id);
    let others = [task.project_id, task.responsible_user_id, task.reviewer_user_id];
    people.chain(others.into_iter().flatten()).chain(task.label_ids.iter().copied()).collect()
}

fn shown(task: Task, names: &HashMap<Uuid, String>) -> TaskShown {
    let name = |id: Option<Uuid>| id.and_then(|id| names.get(&id).cloned());
    let of = |principal: Option<Principal>| {
        name(principal.map(|(Principal::User(id) | Principal::Agent(id))| id))
    };
    TaskShown {
        project_name: name(task.project_id),
        assignee_name: of(task.assignee),
        responsible_name: name(task.responsible_user_id),
        reviewer_name: name(task.reviewer_user_id),
        labels: task.label_ids.iter().filter_map(|label| names.get(label).cloned()).collect(),
        created_by_name: of(Some(task.created_by)),
        id: task.id,
        identifier: task.identifier,
        title: task.title,
        description: task.description,
        status: task.status,
        priority: task.priority,
        project_id: task.project_id,
        goal_id: task.goal_id,
        parent_id: task.parent_id,
        assignee_agent_id: task.assignee.and_then(Principal::agent),
        assignee_user_id: task.assignee.and_then(Principal::user),
        responsible_user_id: task.responsible_user_id,
        reviewer_user_id: task.reviewer_user_id,
        label_ids: task.label_ids,
        artifact_id: task.artifact_id,
        checkout_run_id: task.checkout_run_id,
        source: task.source,
        created_by_user_id: task.created_by.user(),
        created_by_agent_id: task.created_by.agent(),
        started_at: task.started_at,
        completed_at: task.completed_at,
        created_at: task.created_at,
        updated_at: task.updated_at,
    }
}
