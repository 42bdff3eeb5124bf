//! The table `aoa_runs`.

use uuid::Uuid;

use crate::domain::company::access::standing::Scope;
use crate::domain::company::entity::Run;
use crate::domain::time::Timestamp;
use crate::domain::value::Value as _;
use crate::error::{Error, Result};
use crate::store::engine::{Connection, query};
use crate::store::row::{self, Columns, Row};

impl TryFrom<&Row> for Run {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            company_id: row.uuid("company_id")?,
            agent_id: row.uuid("agent_id")?,
            task_id: row.optional_uuid("task_id")?,
            status: row.value("status")?,
            started_at: row.optional_time("started_at")?,
            finished_at: row.optional_time("finished_at")?,
            heard_at: row.optional_time("heard_at")?,
            created_at: row.time("created_at")?,
        })
    }
}

/// Adds a run.
pub async fn insert(connection: &mut Connection, run: &Run) -> Result<()> {
    query(
        "INSERT INTO aoa_runs (id, company_id, agent_id, task_id, status, started_at, \
         finished_at, heard_at, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(row::id(run.id))
    .bind(row::id(run.company_id))
    .bind(row::id(run.agent_id))
    .bind(run.task_id.map(row::id))
    .bind(run.status.wire())
    .bind(run.started_at.map(Timestamp::stored))
    .bind(run.finished_at.map(Timestamp::stored))
    .bind(run.heard_at.map(Timestamp::stored))
    .bind(run.created_at.stored())
    .execute(connection)
    .await
}

/// The run of that id, in whatever company: a token names it before its company is known.
pub async fn by_id(connection: &mut Connection, id: Uuid) -> Result<Option<Run>> {
    let row = query(
        "SELECT id, company_id, agent_id, task_id, status, started_at, finished_at, heard_at, \
         created_at FROM aoa_runs WHERE id = $1",
    )
    .bind(row::id(id));
    row.fetch_optional(connection).await?.as_ref().map(Run::try_from).transpose()
}

/// Writes where a run of the company stands and when it ended.
pub async fn update(connection: &mut Connection, scope: &Scope, run: &Run) -> Result<()> {
    query(
        "UPDATE aoa_runs SET status = $1, started_at = $2, finished_at = $3, heard_at = $4 \
         WHERE company_id = $5 AND id = $6",
    )
    .bind(run.status.wire())
    .bind(run.started_at.map(Timestamp::stored))
    .bind(run.finished_at.map(Timestamp::stored))
    .bind(run.heard_at.map(Timestamp::stored))
    .bind(row::id(scope.company()))
    .bind(row::id(run.id))
    .execute(connection)
    .await
}
