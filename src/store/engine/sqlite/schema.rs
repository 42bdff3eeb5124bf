//! Bringing an opened file up to date: the migrations and the write-ahead log.

use std::path::Path;
use std::time::Duration;

use sqlx::{Connection, SqliteConnection};
use tokio::time::Instant;

use super::errors::{is_read_only, sql_error};
use crate::error::{Code, Error, Result};

/// The migrations in order; their count is the schema's version.
pub(in crate::store) const MIGRATIONS: [&str; 7] = [
    include_str!("../../../../migrations/0001_ledger.sql"),
    include_str!("../../../../migrations/0002_policy_runs.sql"),
    include_str!("../../../../migrations/0003_event_chain.sql"),
    include_str!("../../../../migrations/0004_tokens.sql"),
    include_str!("../../../../migrations/0005_vouched_rows.sql"),
    include_str!("../../../../migrations/0006_order_in_the_chain.sql"),
    include_str!("../../../../migrations/0008_companies.sql"),
];

/// Brings a file that was just opened up to date: schema, write-ahead log. Waits until
/// `deadline` for other processes that do the same.
pub(super) async fn prepare(
    connection: &mut SqliteConnection,
    path: &Path,
    deadline: Instant,
) -> Result<()> {
    loop {
        match prepare_now(connection, path).await {
            Err(error) if error.code() == Some(Code::LedgerBusy) && Instant::now() < deadline => {
                // SQLite does not wait by itself when the log is switched on.
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            outcome => return outcome,
        }
    }
}

async fn prepare_now(connection: &mut SqliteConnection, path: &Path) -> Result<()> {
    let current = is_current(connection, path).await?;
    // First, since a process that ends in between leaves the schema for the next one to make;
    // and every time, since a backup may have been made without a log.
    use_write_ahead_log(connection, path).await?;
    if current { Ok(()) } else { migrate(connection, path).await }
}

/// Whether the schema is this version's. Refuses a newer one, and another program's file.
async fn is_current(connection: &mut SqliteConnection, path: &Path) -> Result<bool> {
    let version: i64 = sqlx::query_scalar("PRAGMA user_version")
        .fetch_one(&mut *connection)
        .await
        .map_err(|error| sql_error(path, error))?;
    let newest = MIGRATIONS.len() as i64;
    if version > newest {
        return Err(Error::refused(
            Code::UnusableLedger,
            format!(
                "The ledger {} was written by a newer govforge (its schema is version {version}, \
                 this program knows up to {newest}). Nothing was changed. Update govforge.",
                path.display()
            ),
        ));
    }
    let foreign = Err(Error::refused(
        Code::UnusableLedger,
        format!(
            "{} is a database of another program, not a ledger. Set GOVFORGE_DB to another file; \
             a missing one is created.",
            path.display()
        ),
    ));
    if version < 0 {
        return foreign;
    }
    if version == 0 {
        let tables: Vec<String> =
            sqlx::query_scalar("SELECT name FROM sqlite_master WHERE type = 'table'")
                .fetch_all(connection)
                .await
                .map_err(|error| sql_error(path, error))?;
        if !tables.is_empty() && !tables.iter().any(|name| name == "projects") {
            return foreign;
        }
    }
    Ok(version == newest)
}

pub(super) async fn migrate(connection: &mut SqliteConnection, path: &Path) -> Result<()> {
    let failed = |error| sql_error(path, error);
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    // Another process may have done it while this one waited for the lock.
    if is_current(&mut transaction, path).await? {
        return Ok(());
    }
    let version: i64 = sqlx::query_scalar("PRAGMA user_version")
        .fetch_one(&mut *transaction)
        .await
        .map_err(failed)?;
    for migration in &MIGRATIONS[version as usize..] {
        sqlx::raw_sql(*migration).execute(&mut *transaction).await.map_err(failed)?;
    }
    // A pragma takes no placeholder; the number is the program's own.
    let mark = format!("PRAGMA user_version = {}", MIGRATIONS.len());
    sqlx::raw_sql(sqlx::AssertSqlSafe(mark)).execute(&mut *transaction).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)
}

/// Switches to the write-ahead log, under which readers never wait for a writer. A file that
/// can only be read stays as it is.
async fn use_write_ahead_log(connection: &mut SqliteConnection, path: &Path) -> Result<()> {
    for pragma in ["PRAGMA journal_mode", "PRAGMA journal_mode = WAL"] {
        let mode = sqlx::query_scalar::<_, String>(pragma).fetch_one(&mut *connection).await;
        match mode {
            Ok(mode) if mode.eq_ignore_ascii_case("wal") => return Ok(()),
            Ok(_) => {}
            Err(error) if is_read_only(&error) => break,
            Err(error) => return Err(sql_error(path, error)),
        }
    }
    tracing::warn!(ledger = %path.display(), "no write-ahead log here");
    Ok(())
}
