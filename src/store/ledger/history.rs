//! The record of a project page by page, in orders that do not change.

use crate::domain::entity::{Decision, Project, Task};
use crate::error::Result;
use crate::store::engine::{Connection, query};
use crate::store::events::EventTold;
use crate::store::order::rank_of_event;
use crate::store::row::{self, Columns as _, Row};

/// How many rows of a page are in memory at once.
const PAGE: i64 = 200;

/// After which row a page begins: when that was made and its id, as the ledger writes them,
/// whichever program wrote it. The default is before the first.
pub type After = (String, String);

/// An event with what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Its place in the chain; `None` if it is not in the chain.
    pub place: Option<i64>,
    /// The display ID of what it is about; of a disagreement, its decision's. `None` where that
    /// is gone.
    pub about: Option<String>,
    pub told: EventTold,
}

macro_rules! event {
    ($from:literal) => {
        concat!(
            "SELECT e.id, e.project_id, e.entity_type, e.entity_id, e.event_type, \
             e.actor_agent_id, e.payload_json, e.created_at, c.place, c.origin, ",
            rank_of_event!(),
            " AS rank, CASE e.entity_type \
             WHEN 'task' THEN (SELECT display_id FROM tasks WHERE id = e.entity_id) \
             WHEN 'decision' THEN (SELECT display_id FROM decisions WHERE id = e.entity_id) \
             WHEN 'review' THEN (SELECT display_id FROM reviews WHERE id = e.entity_id) \
             WHEN 'disagreement' THEN (SELECT d.display_id FROM disagreements g \
             JOIN decisions d ON d.id = g.decision_id WHERE g.id = e.entity_id) \
             END AS about ",
            $from
        )
    };
}

macro_rules! page {
    ($columns:literal, $table:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM ",
            $table,
            " WHERE project_id = $1 AND (created_at, id) > ($2, $3) \
             ORDER BY created_at, id LIMIT $4"
        )
    };
}

/// The next tasks of a project, oldest first.
pub async fn tasks(
    connection: &mut Connection,
    project: &Project,
    after: &mut After,
) -> Result<Vec<Task>> {
    let rows = query(page!(
        "id, display_id, project_id, title, description, risk_level, status, \
         created_by_agent_id, created_at, updated_at",
        "tasks"
    ));
    let rows = rows.bind(row::id(project.id)).bind(&after.0).bind(&after.1).bind(PAGE);
    let rows = rows.fetch_all(connection).await?;
    step(&rows, after)?;
    rows.iter().map(Task::try_from).collect()
}

/// The next decisions of a project, oldest first.
pub async fn decisions(
    connection: &mut Connection,
    project: &Project,
    after: &mut After,
) -> Result<Vec<Decision>> {
    let rows = query(page!(
        "id, display_id, project_id, task_id, author_agent_id, title, summary, rationale, \
         status, risk_level, human_approval_required, created_at, updated_at",
        "decisions"
    ));
    let rows = rows.bind(row::id(project.id)).bind(&after.0).bind(&after.1).bind(PAGE);
    let rows = rows.fetch_all(connection).await?;
    step(&rows, after)?;
    rows.iter().map(Decision::try_from).collect()
}

/// The next events of a project that are in the chain, in its order.
pub async fn chained(
    connection: &mut Connection,
    project: &Project,
    place: i64,
) -> Result<Vec<Placed>> {
    let rows = query(event!(
        "FROM event_chain c JOIN events e ON e.id = c.event_id \
         WHERE c.place > $2 AND e.project_id = $1 ORDER BY c.place LIMIT $3"
    ))
    .bind(row::id(project.id))
    .bind(place)
    .bind(PAGE);
    rows.fetch_all(connection).await?.iter().map(placed).collect()
}

/// The next events of a project that are not in the chain, oldest first.
pub async fn unchained(
    connection: &mut Connection,
    project: &Project,
    after: &mut After,
) -> Result<Vec<Placed>> {
    let rows = query(event!(
        "FROM events e LEFT JOIN event_chain c ON c.event_id = e.id \
         WHERE e.project_id = $1 AND (e.created_at, e.id) > ($2, $3) AND c.event_id IS NULL \
         ORDER BY e.created_at, e.id LIMIT $4"
    ))
    .bind(row::id(project.id))
    .bind(&after.0)
    .bind(&after.1)
    .bind(PAGE);
    let rows = rows.fetch_all(connection).await?;
    step(&rows, after)?;
    rows.iter().map(placed).collect()
}

fn placed(row: &Row) -> Result<Placed> {
    Ok(Placed {
        place: row.optional_integer("place")?,
        about: row.optional_text("about")?,
        told: EventTold::try_from(row)?,
    })
}

fn step(rows: &[Row], after: &mut After) -> Result<()> {
    if let Some(last) = rows.last() {
        *after = (last.text("created_at")?, last.text("id")?);
    }
    Ok(())
}
