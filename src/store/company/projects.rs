//! The tables `aoa_projects`, `aoa_goals`, `aoa_project_goals` and `aoa_labels`.

use std::collections::HashMap;

use uuid::Uuid;

use super::scoped::{Condition, bind_ids, one_of};
use crate::domain::company::access::standing::Scope;
use crate::domain::company::entity::{Goal, Project};
use crate::domain::value::Value as _;
use crate::error::{Error, Result};
use crate::store::engine::{Connection, composed, query};
use crate::store::row::{self, Columns, Row};

const SELECT: &str = "SELECT p.id, p.company_id, p.name, p.description, p.type, p.status, \
                      p.lead_user_id, p.created_at, p.updated_at FROM aoa_projects p";

impl TryFrom<&Row> for Project {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            company_id: row.uuid("company_id")?,
            name: row.text("name")?,
            description: row.optional_text("description")?,
            kind: row.value("type")?,
            status: row.value("status")?,
            lead_user_id: row.optional_uuid("lead_user_id")?,
            created_at: row.time("created_at")?,
            updated_at: row.time("updated_at")?,
        })
    }
}

impl TryFrom<&Row> for Goal {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            company_id: row.uuid("company_id")?,
            title: row.text("title")?,
            level: row.value("level")?,
            status: row.value("status")?,
            parent_id: row.optional_uuid("parent_id")?,
            created_at: row.time("created_at")?,
            updated_at: row.time("updated_at")?,
        })
    }
}

/// Adds a project.
pub async fn insert(connection: &mut Connection, project: &Project) -> Result<()> {
    query(
        "INSERT INTO aoa_projects (id, company_id, name, description, type, status, \
         lead_user_id, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(row::id(project.id))
    .bind(row::id(project.company_id))
    .bind(&project.name)
    .bind(&project.description)
    .bind(project.kind.wire())
    .bind(project.status.wire())
    .bind(project.lead_user_id.map(row::id))
    .bind(project.created_at.stored())
    .bind(project.updated_at.stored())
    .execute(connection)
    .await
}

/// The project of that id, anywhere in the company of the scope.
pub async fn in_company(
    connection: &mut Connection,
    scope: &Scope,
    id: Uuid,
) -> Result<Option<Project>> {
    let row = composed(format!("{SELECT} WHERE p.company_id = $1 AND p.id = $2"))
        .bind(row::id(scope.company()))
        .bind(row::id(id));
    row.fetch_optional(connection).await?.as_ref().map(Project::try_from).transpose()
}

/// The project of that name, anywhere in the company of the scope.
pub async fn named(
    connection: &mut Connection,
    scope: &Scope,
    name: &str,
) -> Result<Option<Project>> {
    let row = composed(format!("{SELECT} WHERE p.company_id = $1 AND p.name = $2"))
        .bind(row::id(scope.company()))
        .bind(name);
    row.fetch_optional(connection).await?.as_ref().map(Project::try_from).transpose()
}

/// The projects inside the scope, by name.
pub async fn all(connection: &mut Connection, scope: &Scope) -> Result<Vec<Project>> {
    let within = Condition::of(scope, "p.company_id", "p.id", 1);
    let sql = format!("{SELECT} WHERE {} ORDER BY p.name, p.id", within.text);
    row::each(&within.bind(composed(sql)).fetch_all(connection).await?)
}

/// The goal of that id, anywhere in the company of the scope.
pub async fn goal_in_company(
    connection: &mut Connection,
    scope: &Scope,
    id: Uuid,
) -> Result<Option<Goal>> {
    let row = query(
        "SELECT id, company_id, title, level, status, parent_id, created_at, updated_at \
         FROM aoa_goals WHERE company_id = $1 AND id = $2",
    )
    .bind(row::id(scope.company()))
    .bind(row::id(id));
    row.fetch_optional(connection).await?.as_ref().map(Goal::try_from).transpose()
}

/// The projects that a goal is for; none for a goal of the whole company.
pub async fn of_goal(connection: &mut Connection, scope: &Scope, goal: Uuid) -> Result<Vec<Uuid>> {
    let rows =
        query("SELECT project_id FROM aoa_project_goals WHERE company_id = $1 AND goal_id = $2")
            .bind(row::id(scope.company()))
            .bind(row::id(goal))
            .fetch_all(connection)
            .await?;
    rows.iter().map(|row| row.uuid("project_id")).collect()
}

/// The names of labels of the company, by id; those that it does not have are missing.
pub async fn labels(
    connection: &mut Connection,
    scope: &Scope,
    ids: &[Uuid],
) -> Result<HashMap<Uuid, String>> {
    let sql = format!(
        "SELECT id, name FROM aoa_labels WHERE company_id = $1 AND {}",
        one_of("id", ids.len(), 2)
    );
    let rows = bind_ids(composed(sql).bind(row::id(scope.company())), ids);
    let rows = rows.fetch_all(connection).await?;
    rows.iter().map(|row| Ok((row.uuid("id")?, row.text("name")?))).collect()
}
