//! What tasks, decisions and reviews have in common: they are named by display IDs, each in
//! one project.

use uuid::Uuid;

use crate::domain::id::{DisplayId, Kind};
use crate::error::{Error, Result};
use crate::store::engine::{Connection, query};
use crate::store::row::{self, Columns, Row};

/// A task, decision or review, as far as naming it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub id: Uuid,
    pub project_id: Uuid,
    pub display_id: String,
    /// The title of the task or of the decision that a review is about.
    pub title: String,
    /// The status by its name on the wire.
    pub status: String,
    /// When it was recorded and its id, as the ledger writes them, whichever program wrote it:
    /// where it stands among others.
    pub position: Position,
}

/// Orders records as the ledger does, by the text of their time and then of their id.
pub type Position = (String, String);

impl TryFrom<&Row> for Record {
    type Error = Error;

    fn try_from(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.uuid("id")?,
            project_id: row.uuid("project_id")?,
            display_id: row.text("display_id")?,
            title: row.text("title")?,
            status: row.text("status")?.to_lowercase(),
            position: (row.text("created_at")?, row.text("id")?),
        })
    }
}

macro_rules! tasks {
    ($rest:literal) => {
        concat!("SELECT id, project_id, display_id, title, status, created_at FROM tasks ", $rest)
    };
}

macro_rules! decisions {
    ($rest:literal) => {
        concat!(
            "SELECT id, project_id, display_id, title, status, created_at FROM decisions ",
            $rest
        )
    };
}

macro_rules! reviews {
    ($rest:literal) => {
        concat!(
            "SELECT r.id, d.project_id, r.display_id, d.title, r.status, r.created_at \
             FROM reviews r JOIN decisions d ON d.id = r.decision_id ",
            $rest
        )
    };
}

/// The records of that display ID, at most one in each project.
pub async fn find(connection: &mut Connection, id: DisplayId) -> Result<Vec<Record>> {
    let rows = query(match id.kind {
        Kind::Task => tasks!("WHERE display_id = $1"),
        Kind::Decision => decisions!("WHERE display_id = $1"),
        Kind::Review => reviews!("WHERE r.display_id = $1"),
    })
    .bind(id.to_string())
    .fetch_all(connection)
    .await?;
    rows.iter().map(Record::try_from).collect()
}

/// The record of that id.
pub async fn by_id(connection: &mut Connection, kind: Kind, id: Uuid) -> Result<Option<Record>> {
    let row = query(match kind {
        Kind::Task => tasks!("WHERE id = $1"),
        Kind::Decision => decisions!("WHERE id = $1"),
        Kind::Review => reviews!("WHERE r.id = $1"),
    })
    .bind(row::id(id))
    .fetch_optional(connection)
    .await?;
    row.as_ref().map(Record::try_from).transpose()
}

/// The `limit` newest records of one kind that can be read, newest first.
pub async fn newest(connection: &mut Connection, kind: Kind, limit: u32) -> Result<Vec<Record>> {
    let rows = query(match kind {
        Kind::Task => tasks!("ORDER BY created_at DESC, id DESC LIMIT $1"),
        Kind::Decision => decisions!("ORDER BY created_at DESC, id DESC LIMIT $1"),
        Kind::Review => reviews!("ORDER BY r.created_at DESC, r.id DESC LIMIT $1"),
    })
    .bind(limit)
    .fetch_all(connection)
    .await?;
    Ok(row::readable(&rows, |row| Record::try_from(row)))
}

/// The open records of one kind that stand before `before`, newest first: tasks and decisions that nobody has closed, approved or rejected, and the reviews
/// of such decisions.
pub async fn open_before(
    connection: &mut Connection,
    kind: Kind,
    before: Option<&Position>,
    limit: u32,
) -> Result<Vec<Record>> {
    let (time, id) = match before {
        Some((time, id)) => (time.as_str(), id.as_str()),
        // Sorts behind every timestamp. The columns of the original make a number of a text that
        // reads as one, and a number sorts before every text.
        None => ("9999-12-31 24", ""),
    };
    let rows = query(match kind {
        Kind::Task => tasks!(
            "WHERE status NOT IN ('APPROVED', 'REJECTED', 'CLOSED') \
             AND (created_at < $1 OR (created_at = $1 AND id < $2)) \
             ORDER BY created_at DESC, id DESC LIMIT $3"
        ),
        Kind::Decision => decisions!(
            "WHERE status NOT IN ('APPROVED', 'REJECTED') \
             AND (created_at < $1 OR (created_at = $1 AND id < $2)) \
             ORDER BY created_at DESC, id DESC LIMIT $3"
        ),
        Kind::Review if few_decisions_open(connection).await? => reviews!(
            "WHERE r.decision_id IN \
             (SELECT id FROM decisions WHERE status NOT IN ('APPROVED', 'REJECTED')) \
             AND (r.created_at < $1 OR (r.created_at = $1 AND r.id < $2)) \
             ORDER BY r.created_at DESC, r.id DESC LIMIT $3"
        ),
        Kind::Review => reviews!(
            "WHERE d.status NOT IN ('APPROVED', 'REJECTED') \
             AND (r.created_at < $1 OR (r.created_at = $1 AND r.id < $2)) \
             ORDER BY r.created_at DESC, r.id DESC LIMIT $3"
        ),
    })
    .bind(time)
    .bind(id)
    .bind(limit)
    .fetch_all(connection)
    .await?;
    Ok(row::readable(&rows, |row| Record::try_from(row)))
}

/// Whether the open decisions are few enough to look at the reviews of all of them. Where they
/// are many, the newest reviews soon hold enough open ones. In a large ledger either way is
/// slow where the other is meant.
async fn few_decisions_open(connection: &mut Connection) -> Result<bool> {
    const FEW: i64 = 1000;
    let open = query(
        "SELECT COUNT(*) AS number FROM (SELECT 1 FROM decisions \
         WHERE status NOT IN ('APPROVED', 'REJECTED') ORDER BY created_at LIMIT $1) AS open",
    )
    .bind(FEW)
    .fetch_number(connection)
    .await?;
    Ok(open < FEW)
}
