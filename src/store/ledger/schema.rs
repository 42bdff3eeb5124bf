//! Bringing an opened file up to date: the migrations and the write-ahead log.

use std::path::Path;
use std::time::Duration;

use sqlx::{Connection, SqliteConnection};
use tokio::time::Instant;

use super::LOCK_PATIENCE;
use super::errors::{is_busy, sql_error};
use crate::error::{Code, Error, Result};

/// The migrations in order; their count is the schema's version.
pub(super) const MIGRATIONS: [&str; 2] = [
    include_str!("../../../migrations/0001_ledger.sql"),
    include_str!("../../../migrations/0002_policy_runs.sql"),
];

/// Brings a file that was just opened up to date: write-ahead log, schema.
pub(super) async fn prepare(connection: &mut SqliteConnection, path: &Path) -> Result<()> {
    if is_current(connection, path).await? {
        return Ok(());
    }
    migrate(connection, path).await?;
    use_write_ahead_log(connection, path).await?;
    // The log and its index are made by the first read.
    is_current(connection, path).await.map(drop)
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

/// Switches to the write-ahead log, under which readers never wait for a writer. SQLite does
/// not call its busy handler for this switch, so the wait for other processes is made here.
async fn use_write_ahead_log(connection: &mut SqliteConnection, path: &Path) -> Result<()> {
    let deadline = Instant::now() + LOCK_PATIENCE;
    loop {
        let mode: Result<String, _> =
            sqlx::query_scalar("PRAGMA journal_mode = WAL").fetch_one(&mut *connection).await;
        match mode {
            Ok(mode) => {
                if !mode.eq_ignore_ascii_case("wal") {
                    tracing::warn!(ledger = %path.display(), %mode, "no write-ahead log here");
                }
                return Ok(());
            }
            Err(error) if is_busy(&error) && Instant::now() < deadline => {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Err(error) => return Err(sql_error(path, error)),
        }
    }
}
