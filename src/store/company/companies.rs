//! The table `aoa_companies`.

use uuid::Uuid;

use crate::domain::company::access::standing::Scope;
use crate::domain::company::entity::Company;
use crate::domain::company::value::CompanyStatus;
use crate::domain::time::Timestamp;
use crate::domain::value::Value as _;
use crate::error::{Error, Result};
use crate::store::engine::{Connection, query};
use crate::store::row::{self, Columns, Row};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT c.id, c.name, c.status, c.prefix, c.mcp_enabled, c.created_at, c.updated_at \
             FROM aoa_companies c ",
            $rest
        )
    };
}

impl TryFrom<&Row> for Company {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            name: row.text("name")?,
            status: row.value("status")?,
            prefix: row.text("prefix")?,
            mcp_enabled: row.boolean("mcp_enabled")?,
            created_at: row.time("created_at")?,
            updated_at: row.time("updated_at")?,
        })
    }
}

/// Adds a company.
pub async fn insert(connection: &mut Connection, company: &Company) -> Result<()> {
    query(
        "INSERT INTO aoa_companies (id, name, status, prefix, mcp_enabled, created_at, \
         updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(row::id(company.id))
    .bind(&company.name)
    .bind(company.status.wire())
    .bind(&company.prefix)
    .bind(company.mcp_enabled)
    .bind(company.created_at.stored())
    .bind(company.updated_at.stored())
    .execute(connection)
    .await
}

/// The company of that id.
pub async fn by_id(connection: &mut Connection, id: Uuid) -> Result<Option<Company>> {
    let row = query(select!("WHERE c.id = $1")).bind(row::id(id));
    row.fetch_optional(connection).await?.as_ref().map(Company::try_from).transpose()
}

/// The company of that name.
pub async fn by_name(connection: &mut Connection, name: &str) -> Result<Option<Company>> {
    let row = query(select!("WHERE c.name = $1")).bind(name);
    row.fetch_optional(connection).await?.as_ref().map(Company::try_from).transpose()
}

/// Whether a company has that prefix.
pub async fn has_prefix(connection: &mut Connection, prefix: &str) -> Result<bool> {
    let row = query("SELECT id FROM aoa_companies WHERE prefix = $1").bind(prefix);
    Ok(row.fetch_optional(connection).await?.is_some())
}

/// Every company, by name.
pub async fn all(connection: &mut Connection) -> Result<Vec<Company>> {
    row::each(&query(select!("ORDER BY c.name")).fetch_all(connection).await?)
}

/// Puts a company into a status.
pub async fn set_status(
    connection: &mut Connection,
    scope: &Scope,
    status: CompanyStatus,
    now: Timestamp,
) -> Result<()> {
    query("UPDATE aoa_companies SET status = $1, updated_at = $2 WHERE id = $3")
        .bind(status.wire())
        .bind(now.stored())
        .bind(row::id(scope.company()))
        .execute(connection)
        .await
}

/// Lets keys of MCP clients in, or keeps them out.
pub async fn set_mcp_enabled(
    connection: &mut Connection,
    scope: &Scope,
    enabled: bool,
    now: Timestamp,
) -> Result<()> {
    query("UPDATE aoa_companies SET mcp_enabled = $1, updated_at = $2 WHERE id = $3")
        .bind(enabled)
        .bind(now.stored())
        .bind(row::id(scope.company()))
        .execute(connection)
        .await
}

/// The next number of a task in the company. Part of the caller's transaction: two calls never
/// get the same one.
pub async fn next_task_number(connection: &mut Connection, scope: &Scope) -> Result<i64> {
    let row = query(
        "UPDATE aoa_companies SET task_count = task_count + 1 WHERE id = $1 RETURNING task_count",
    )
    .bind(row::id(scope.company()))
    .fetch_one(connection)
    .await?;
    row.integer("task_count")
}
