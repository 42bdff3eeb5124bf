//! The tables `aoa_tasks` and `aoa_task_labels`.

use uuid::Uuid;

use super::scoped::Condition;
use crate::domain::company::access::standing::Scope;
use crate::domain::company::entity::Principal;
use crate::domain::company::task::Task;
use crate::domain::company::value::TaskPriority;
use crate::domain::time::Timestamp;
use crate::domain::value::Value as _;
use crate::error::{Error, Fault, Result};
use crate::store::engine::{Connection, composed, placeholders, query};
use crate::store::row::{self, Columns, Row};

const SELECT: &str = "SELECT t.id, t.company_id, t.identifier, t.title, t.description, t.status, \
                      t.priority, t.project_id, t.goal_id, t.parent_id, t.assignee_agent_id, \
                      t.assignee_user_id, t.responsible_user_id, t.reviewer_user_id, \
                      t.artifact_id, t.checkout_run_id, t.source, t.created_by_user_id, \
                      t.created_by_agent_id, t.started_at, t.completed_at, t.cancelled_at, \
                      t.created_at, t.updated_at FROM aoa_tasks t";

/// How a caller names a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskName {
    Id(Uuid),
    /// Such as `ACME-12`, in upper case.
    Identifier(String),
}

impl TaskName {
    fn column(&self) -> &'static str {
        match self {
            Self::Id(_) => "t.id",
            Self::Identifier(_) => "t.identifier",
        }
    }

    fn value(&self) -> String {
        match self {
            Self::Id(id) => row::id(*id),
            Self::Identifier(identifier) => identifier.clone(),
        }
    }
}

/// A task without its labels, which have a table of their own.
impl TryFrom<&Row> for Task {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        let priority = TaskPriority::of_rank(row.integer("priority")?);
        let principal = |agent: &str, user: &str| -> Result<Option<Principal>> {
            Ok(Principal::of(row.optional_uuid(agent)?, row.optional_uuid(user)?))
        };
        let damaged = |what| Fault::new(format!("the ledger holds a damaged record: {what}"));
        Ok(Self {
            id: row.uuid("id")?,
            company_id: row.uuid("company_id")?,
            identifier: row.text("identifier")?,
            title: row.text("title")?,
            description: row.optional_text("description")?,
            status: row.value("status")?,
            priority: priority.ok_or_else(|| damaged("its `priority` is none"))?,
            project_id: row.optional_uuid("project_id")?,
            goal_id: row.optional_uuid("goal_id")?,
            parent_id: row.optional_uuid("parent_id")?,
            assignee: principal("assignee_agent_id", "assignee_user_id")?,
            responsible_user_id: row.optional_uuid("responsible_user_id")?,
            reviewer_user_id: row.optional_uuid("reviewer_user_id")?,
            label_ids: Vec::new(),
            artifact_id: row.optional_uuid("artifact_id")?,
            checkout_run_id: row.optional_uuid("checkout_run_id")?,
            source: row.value("source")?,
            created_by: principal("created_by_agent_id", "created_by_user_id")?
                .ok_or_else(|| damaged("a task was created by nobody"))?,
            started_at: row.optional_time("started_at")?,
            completed_at: row.optional_time("completed_at")?,
            cancelled_at: row.optional_time("cancelled_at")?,
            created_at: row.time("created_at")?,
            updated_at: row.time("updated_at")?,
        })
    }
}

/// Adds a task with its labels.
pub async fn insert(connection: &mut Connection, task: &Task) -> Result<()> {
    query(
        "INSERT INTO aoa_tasks (id, company_id, identifier, title, description, status, \
         priority, project_id, goal_id, parent_id, assignee_agent_id, assignee_user_id, \
         responsible_user_id, reviewer_user_id, artifact_id, checkout_run_id, source, \
         created_by_user_id, created_by_agent_id, started_at, completed_at, cancelled_at, \
         created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, \
         $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)",
    )
    .bind(row::id(task.id))
    .bind(row::id(task.company_id))
    .bind(&task.identifier)
    .bind(&task.title)
    .bind(&task.description)
    .bind(task.status.wire())
    .bind(task.priority.rank())
    .bind(task.project_id.map(row::id))
    .bind(task.goal_id.map(row::id))
    .bind(task.parent_id.map(row::id))
    .bind(task.assignee.and_then(Principal::agent).map(row::id))
    .bind(task.assignee.and_then(Principal::user).map(row::id))
    .bind(task.responsible_user_id.map(row::id))
    .bind(task.reviewer_user_id.map(row::id))
    .bind(task.artifact_id.map(row::id))
    .bind(task.checkout_run_id.map(row::id))
    .bind(task.source.wire())
    .bind(task.created_by.user().map(row::id))
    .bind(task.created_by.agent().map(row::id))
    .bind(task.started_at.map(Timestamp::stored))
    .bind(task.completed_at.map(Timestamp::stored))
    .bind(task.cancelled_at.map(Timestamp::stored))
    .bind(task.created_at.stored())
    .bind(task.updated_at.stored())
    .execute(&mut *connection)
    .await?;
    insert_labels(connection, task).await
}

async fn insert_labels(connection: &mut Connection, task: &Task) -> Result<()> {
    if task.label_ids.is_empty() {
        return Ok(());
    }
    let sql = format!(
        "INSERT INTO aoa_task_labels (task_id, label_id, company_id) VALUES {}",
        placeholders(task.label_ids.len(), 3)
    );
    let statement = task.label_ids.iter().fold(composed(sql), |statement, label| {
        let ids = [task.id, *label, task.company_id];
        ids.into_iter().fold(statement, |statement, id| statement.bind(row::id(id)))
    });
    statement.execute(connection).await
}

/// The task of that name inside the scope.
pub async fn find(
    connection: &mut Connection,
    scope: &Scope,
    name: &TaskName,
) -> Result<Option<Task>> {
    let within = Condition::of(scope, "t.company_id", "t.project_id", 2);
    let sql = format!("{SELECT} WHERE {} = $1 AND {}", name.column(), within.text);
    let found = within.bind(composed(sql).bind(name.value())).fetch_optional(connection).await?;
    with_labels(connection, found).await
}

/// The task of that name anywhere in the company of the scope: who may not change it is told so.
pub async fn in_company(
    connection: &mut Connection,
    scope: &Scope,
    name: &TaskName,
) -> Result<Option<Task>> {
    find(connection, &scope.widened(), name).await
}

async fn with_labels(connection: &mut Connection, row: Option<Row>) -> Result<Option<Task>> {
    let Some(row) = row else { return Ok(None) };
    let mut task = Task::try_from(&row)?;
    let labels = query("SELECT label_id FROM aoa_task_labels WHERE task_id = $1 ORDER BY label_id")
        .bind(row::id(task.id))
        .fetch_all(connection)
        .await?;
    for label in &labels {
        task.label_ids.push(label.uuid("label_id")?);
    }
    Ok(Some(task))
}
