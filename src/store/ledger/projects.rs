//! The table `projects`.

use uuid::Uuid;

use crate::domain::entity::Project;
use crate::error::{Error, Result};
use crate::store::engine::{Connection, query};
use crate::store::row::{self, Columns, Row};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, root_path, default_branch, created_at, updated_at FROM projects ",
            $rest
        )
    };
}

impl TryFrom<&Row> for Project {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            name: row.text("name")?,
            root_path: row.text("root_path")?,
            default_branch: row.text("default_branch")?,
            created_at: row.time("created_at")?,
            updated_at: row.time("updated_at")?,
        })
    }
}

/// The project of the decision $1.
pub(super) const OF_DECISION: &str =
    select!("WHERE id = (SELECT project_id FROM decisions WHERE id = $1)");

/// Adds a project.
pub async fn insert(connection: &mut Connection, project: &Project) -> Result<()> {
    query(
        "INSERT INTO projects (id, name, root_path, default_branch, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(row::id(project.id))
    .bind(&project.name)
    .bind(&project.root_path)
    .bind(&project.default_branch)
    .bind(project.created_at.stored())
    .bind(project.updated_at.stored())
    .execute(connection)
    .await?;
    Ok(())
}

/// The project of that id.
pub async fn by_id(connection: &mut Connection, id: Uuid) -> Result<Option<Project>> {
    let row = query(select!("WHERE id = $1")).bind(row::id(id)).fetch_optional(connection).await?;
    row.as_ref().map(Project::try_from).transpose()
}

/// The project with exactly that root.
pub async fn by_root(connection: &mut Connection, root: &str) -> Result<Option<Project>> {
    let row = query(select!("WHERE root_path = $1")).bind(root).fetch_optional(connection).await?;
    row.as_ref().map(Project::try_from).transpose()
}

/// Of the projects whose root is one of these, the one with the longest.
pub async fn nearest(connection: &mut Connection, roots: &[&str]) -> Result<Option<Project>> {
    let roots = serde_json::json!(roots).to_string();
    let row = query(select!(
        "WHERE root_path IN (SELECT value FROM JSON_EACH($1)) ORDER BY LENGTH(root_path) DESC LIMIT 1"
    ))
    .bind(roots)
    .fetch_optional(connection)
    .await?;
    row.as_ref().map(Project::try_from).transpose()
}

/// Every project that can be read, by name.
pub async fn all(connection: &mut Connection) -> Result<Vec<Project>> {
    let rows = query(select!("ORDER BY name, id")).fetch_all(connection).await?;
    Ok(row::readable(&rows, |row| Project::try_from(row)))
}
