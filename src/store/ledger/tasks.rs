//! The table `tasks`.

use std::collections::HashMap;

use uuid::Uuid;

use crate::domain::entity::Task;
use crate::domain::id::DisplayId;
use crate::domain::value::Value;
use crate::error::{Error, Result};
use crate::store::engine::{Connection, query};
use crate::store::row::{self, Columns, Row};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, display_id, project_id, title, description, risk_level, status, \
             created_by_agent_id, created_at, updated_at FROM tasks ",
            $rest
        )
    };
}

impl TryFrom<&Row> for Task {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            display_id: row.text("display_id")?,
            project_id: row.uuid("project_id")?,
            title: row.text("title")?,
            description: row.optional_text("description")?,
            risk_level: row.value("risk_level")?,
            status: row.value("status")?,
            created_by_agent_id: row.optional_uuid("created_by_agent_id")?,
            created_at: row.time("created_at")?,
            updated_at: row.time("updated_at")?,
        })
    }
}

/// Adds a task.
pub async fn insert(connection: &mut Connection, task: &Task) -> Result<()> {
    query(
        "INSERT INTO tasks (id, display_id, project_id, title, description, risk_level, status, \
         created_by_agent_id, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    )
    .bind(row::id(task.id))
    .bind(&task.display_id)
    .bind(row::id(task.project_id))
    .bind(&task.title)
    .bind(&task.description)
    .bind(task.risk_level.stored())
    .bind(task.status.stored())
    .bind(task.created_by_agent_id.map(row::id))
    .bind(task.created_at.stored())
    .bind(task.updated_at.stored())
    .execute(connection)
    .await?;
    Ok(())
}

/// The task of that id.
pub async fn by_id(connection: &mut Connection, id: Uuid) -> Result<Option<Task>> {
    let row = query(select!("WHERE id = $1")).bind(row::id(id)).fetch_optional(connection).await?;
    row.as_ref().map(Task::try_from).transpose()
}

/// The task of that display ID, if there is just one in the ledger.
pub async fn only(connection: &mut Connection, id: DisplayId) -> Result<Option<Task>> {
    let rows = query(select!("WHERE display_id = $1 LIMIT 2"))
        .bind(id.to_string())
        .fetch_all(connection)
        .await?;
    row::only(&rows)
}

/// The display IDs of the decisions that are linked to a task, by the ids of the decisions
/// themselves, of their reviews and of their disagreements.
pub async fn decisions_around(
    connection: &mut Connection,
    task_id: Uuid,
) -> Result<HashMap<Uuid, String>> {
    let rows = query(
        "SELECT id, display_id FROM decisions WHERE task_id = $1 \
         UNION ALL SELECT r.id, d.display_id FROM decisions d \
         JOIN reviews r ON r.decision_id = d.id WHERE d.task_id = $1 \
         UNION ALL SELECT g.id, d.display_id FROM decisions d \
         JOIN disagreements g ON g.decision_id = d.id WHERE d.task_id = $1",
    )
    .bind(row::id(task_id))
    .fetch_all(connection)
    .await?;
    rows.iter().map(|row| Ok((row.uuid("id")?, row.text("display_id")?))).collect()
}
