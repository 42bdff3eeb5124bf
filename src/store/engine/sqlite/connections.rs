//! The connections of one process to one file: several that read, one that writes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::pool::PoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, Sqlite, SqlitePool};
use tokio::sync::OnceCell;

use super::errors::is_read_only;
use crate::store::engine::{Durability, LOCK_PATIENCE};

/// How many calls of a process read at the same time. Each connection has a thread and a
/// page cache of its own.
const READERS: u32 = 2;

/// What a connection keeps of the file: in KiB, which SQLite wants negative. A quarter of what
/// SQLite takes by itself: a call reads few pages, and the system keeps the rest for all
/// servers together.
const CACHE: &str = "-512";

/// How long SQLite itself waits for the write lock before the wait goes on outside of it. A
/// call that is cancelled meanwhile leaves its connection waiting for as long, and SQLite
/// looks less often the longer it waits.
const LOCK_SLICE: Duration = Duration::from_millis(20);

/// The connections to a file, opened when they are needed.
#[derive(Debug)]
pub(super) struct Connections {
    path: PathBuf,
    readers: SqlitePool,
    /// SQLite has one writer at a time, and so has each process: its reads find a connection
    /// also while a write waits for another process.
    writer: OnceCell<SqlitePool>,
}

impl Connections {
    pub(super) fn new(path: &Path) -> Self {
        let options = options(path).busy_timeout(LOCK_PATIENCE);
        Self {
            path: path.to_owned(),
            readers: pool(READERS).connect_lazy_with(options),
            writer: OnceCell::new(),
        }
    }

    pub(super) fn readers(&self) -> &SqlitePool {
        &self.readers
    }

    /// The first durability asked for holds for as long as the file is open.
    ///
    /// # Errors
    ///
    /// The file can only be read. SQLite itself would say so at the first change alone: on
    /// such a file its `BEGIN IMMEDIATE` begins a transaction that reads.
    pub(super) async fn writer(&self, durability: Durability) -> sqlx::Result<&SqlitePool> {
        self.writer.get_or_try_init(|| open_writer(&self.path, durability)).await
    }

    /// Closes the connections. When the file is no longer the one at the path, SQLite leaves
    /// the log as it is, so what stands in it is moved into the file first: a ledger that was
    /// moved elsewhere holds every record.
    pub(super) async fn close(&self) {
        if let Some(writer) = self.writer.get() {
            move_log(writer).await;
            writer.close().await;
        }
        self.readers.close().await;
    }
}

async fn open_writer(path: &Path, durability: Durability) -> sqlx::Result<SqlitePool> {
    let synchronous = match durability {
        Durability::Full => SqliteSynchronous::Full,
        Durability::Normal => SqliteSynchronous::Normal,
    };
    // Connecting reads the schema, and nobody takes up that wait: it has all the patience.
    let options = options(path).busy_timeout(LOCK_PATIENCE).synchronous(synchronous);
    let slice = format!("PRAGMA busy_timeout = {}", LOCK_SLICE.as_millis());
    let pool = pool(1).after_connect(move |connection, _| {
        let slice = sqlx::raw_sql(sqlx::AssertSqlSafe(slice.clone()));
        Box::pin(async move { slice.execute(connection).await.map(drop) })
    });
    let pool = pool.connect_lazy_with(options);
    let mut connection = pool.acquire().await?;
    // In a new file there is no such table, and no doubt either.
    let change = "DELETE FROM recent_calls WHERE 0";
    match sqlx::raw_sql(change).execute(&mut *connection).await {
        Err(error) if is_read_only(&error) => Err(error),
        _ => Ok(pool),
    }
}

/// Moves the log into the file; whoever reads or writes just then leaves it to the next time.
pub(super) async fn move_log(writer: &SqlitePool) {
    if let Ok(mut connection) = writer.acquire().await {
        let checkpoint = sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)");
        let _ = checkpoint.execute(&mut *connection).await;
    }
}

/// An empty ledger in memory. Each connection to `:memory:` is a database of its own, so
/// there is just one.
pub(super) fn in_memory() -> SqlitePool {
    pool(1).connect_lazy_with(SqliteConnectOptions::new().in_memory(true))
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .foreign_keys(true)
        .pragma("cache_size", CACHE)
        // A walk over the whole record would else wake the other thread every 50 rows.
        .row_buffer_size(1024)
        .disable_statement_logging()
}

fn pool(connections: u32) -> PoolOptions<Sqlite> {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(LOCK_PATIENCE)
        // A connection to a file does not go stale, and a check would cost every call.
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None)
        // SQLite itself ends a transaction when the disk is full, and sqlx still counts it:
        // such a connection could never begin another.
        .before_acquire(|connection, _| Box::pin(async { Ok(!connection.is_in_transaction()) }))
}
