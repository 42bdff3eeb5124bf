//! Several statements in one go.

use futures_util::TryStreamExt as _;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Either, Executor as _, Sqlite, SqliteConnection};

use crate::error::Result;

/// Runs statements that stand in one text, separated by semicolons, and gives the rows of each.
/// `$1` is the same value in all of them.
///
/// Each hand-over to SQLite's thread and back takes longer than a small statement, so what
/// needs many of them hands them over together. sqlx discourages it because no other database
/// can; should a later one refuse, this is the place to run them one by one.
///
/// # Errors
///
/// The first that any of them gives; those after it did not run.
pub async fn rows_of_each(
    connection: &mut SqliteConnection,
    statements: sqlx::query::Query<'_, Sqlite, SqliteArguments>,
) -> Result<Vec<Vec<SqliteRow>>> {
    let mut steps = connection.fetch_many(statements);
    let mut all = Vec::new();
    let mut rows = Vec::new();
    while let Some(step) = steps.try_next().await? {
        match step {
            Either::Right(row) => rows.push(row),
            Either::Left(_end) => all.push(std::mem::take(&mut rows)),
        }
    }
    Ok(all)
}
