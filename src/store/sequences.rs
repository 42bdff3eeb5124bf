//! The sequences behind display IDs.

use uuid::Uuid;

use super::row::{self, Columns as _};
use crate::domain::id::{DisplayId, Kind};
use crate::error::Result;
use crate::store::engine::{Connection, query};

/// A number above this was never counted up to: it is damage, or another program's joke, and
/// the sequence goes on below it. What JSON's numbers hold exactly.
const HIGHEST: u64 = 1 << 53;

/// Gives the next display ID of `kind` in a project: one past the highest ever given there.
///
/// The number comes from a counter inside the caller's transaction, which holds the write
/// lock, so two processes never get the same one. The original does not know the counter:
/// where it has used the next number already, the first free one after it is given.
pub async fn next(connection: &mut Connection, project_id: Uuid, kind: Kind) -> Result<DisplayId> {
    if let Some(number) = count_up(connection, project_id, kind).await? {
        return Ok(DisplayId { kind, number });
    }
    let last = query(
        "SELECT IIF(TYPEOF(last_number) = 'integer', last_number, NULL) AS last_number \
         FROM display_sequences WHERE project_id = $1 AND prefix = $2",
    )
    .bind(row::id(project_id))
    .bind(kind.prefix())
    .fetch_optional(&mut *connection)
    .await?;
    let last = last.map(|row| row.optional_integer("last_number")).transpose()?.flatten();
    let last = match last.map(u64::try_from) {
        Some(Ok(last)) if last <= HIGHEST => last,
        _ => highest(connection, project_id, kind).await?,
    };
    let mut next = DisplayId { kind, number: last + 1 };
    while is_taken(connection, project_id, next).await? {
        next.number += 1;
    }
    query(
        "INSERT INTO display_sequences (project_id, prefix, last_number) VALUES ($1, $2, $3) \
         ON CONFLICT (project_id, prefix) DO UPDATE SET last_number = excluded.last_number",
    )
    .bind(row::id(project_id))
    .bind(kind.prefix())
    .bind(next.number as i64)
    .execute(connection)
    .await?;
    Ok(next)
}

/// Counts up, in one go; `None` where there is no sound counter, or the number that it gives is
/// taken.
async fn count_up(
    connection: &mut Connection,
    project_id: Uuid,
    kind: Kind,
) -> Result<Option<u64>> {
    macro_rules! unless_taken_in {
        ($records:literal) => {
            concat!(
                "UPDATE display_sequences SET last_number = last_number + 1 \
                 WHERE project_id = $1 AND prefix = $2 AND TYPEOF(last_number) = 'integer' \
                 AND last_number BETWEEN 0 AND $3 RETURNING last_number; \
                 SELECT 1 FROM ",
                $records,
                " = (SELECT PRINTF('%s-%03d', prefix, last_number) FROM display_sequences \
                 WHERE project_id = $1 AND prefix = $2)"
            )
        };
    }
    let statements = match kind {
        Kind::Task => unless_taken_in!("tasks WHERE project_id = $1 AND display_id"),
        Kind::Decision => unless_taken_in!("decisions WHERE project_id = $1 AND display_id"),
        Kind::Review => unless_taken_in!(
            "reviews r JOIN decisions d ON d.id = r.decision_id \
             WHERE d.project_id = $1 AND r.display_id"
        ),
    };
    let statements =
        query(statements).bind(row::id(project_id)).bind(kind.prefix()).bind(HIGHEST as i64);
    let all = statements.fetch_of_each(connection).await?;
    match all.as_slice() {
        [counted, taken] if taken.is_empty() => {
            let number = counted.first().map(|row| row.integer("last_number")).transpose()?;
            Ok(number.map(i64::unsigned_abs))
        }
        _ => Ok(None),
    }
}

/// Whether a row of the project has that display ID, also one that cannot be read.
async fn is_taken(connection: &mut Connection, project_id: Uuid, id: DisplayId) -> Result<bool> {
    let rows = query(match id.kind {
        Kind::Task => "SELECT 1 FROM tasks WHERE project_id = $1 AND display_id = $2",
        Kind::Decision => "SELECT 1 FROM decisions WHERE project_id = $1 AND display_id = $2",
        Kind::Review => {
            "SELECT 1 FROM reviews r JOIN decisions d ON d.id = r.decision_id \
             WHERE d.project_id = $1 AND r.display_id = $2"
        }
    });
    let rows = rows.bind(row::id(project_id)).bind(id.to_string());
    Ok(!rows.fetch_all(connection).await?.is_empty())
}

/// The highest number among the rows of a ledger that has no counter yet.
async fn highest(connection: &mut Connection, project_id: Uuid, kind: Kind) -> Result<u64> {
    // As bytes: one that is no text has no number, and is no reason to give none.
    let ids = query(match kind {
        Kind::Task => "SELECT CAST(display_id AS BLOB) FROM tasks WHERE project_id = $1",
        Kind::Decision => "SELECT CAST(display_id AS BLOB) FROM decisions WHERE project_id = $1",
        Kind::Review => {
            "SELECT CAST(r.display_id AS BLOB) FROM reviews r \
             JOIN decisions d ON d.id = r.decision_id WHERE d.project_id = $1"
        }
    })
    .bind(row::id(project_id))
    .fetch_all(connection)
    .await?;
    let numbers = ids.iter().filter_map(|row| {
        let text = std::str::from_utf8(row.bytes(0).ok()??).ok()?;
        DisplayId::read(kind, text).map(|id| id.number)
    });
    Ok(numbers.filter(|number| *number <= HIGHEST).max().unwrap_or(0))
}
