//! The connections of one process to one file: several that read, one that writes.

use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use libsqlite3_sys::{SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, SQLITE_OK, sqlite3_db_config};
use sqlx::pool::PoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, Row as _, Sqlite, SqliteConnection, SqlitePool};
use tokio::sync::OnceCell;

use super::errors::is_read_only;
use super::identity::{Identity, look};
use super::log::{Log, LogState};
use crate::store::engine::{Durability, LOCK_PATIENCE};

/// How many calls of a process read at the same time. Each connection has a thread and a
/// page cache of its own.
const READERS: u32 = 2;

/// What a connection keeps of the file: in KiB, which SQLite wants negative. A quarter of what
/// SQLite takes by itself: a call reads few pages, and the system keeps the rest for all
/// servers together.
const CACHE: &str = "-512";

/// How long after a write the log is moved into the file, so that the file alone soon holds
/// every record: a person who copies it gets them all.
pub(super) const SETTLE: Duration = Duration::from_secs(1);

/// How long SQLite itself waits for the write lock before the wait goes on outside of it. A
/// call that is cancelled meanwhile leaves its connection waiting for as long, and SQLite
/// looks less often the longer it waits.
const LOCK_SLICE: Duration = Duration::from_millis(20);

/// The connections to a file, opened when they are needed.
#[derive(Debug)]
pub(super) struct Connections {
    path: PathBuf,
    /// The file that they lead to.
    pub(super) file: Identity,
    log: OnceLock<Log>,
    settling: AtomicBool,
    readers: SqlitePool,
    /// SQLite has one writer at a time, and so has each process: its reads find a connection
    /// also while a write waits for another process.
    writer: OnceCell<SqlitePool>,
}

impl Connections {
    pub(super) fn new(path: &Path, file: Identity) -> Self {
        let options = options(path).busy_timeout(LOCK_PATIENCE);
        Self {
            path: path.to_owned(),
            file,
            log: OnceLock::new(),
            settling: AtomicBool::new(false),
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

    /// The log as it is once the first connection has opened it.
    pub(super) fn log(&self) -> &Log {
        self.log.get_or_init(|| Log::of(&self.path))
    }

    /// Whether anything is in the ledger that would be missed. What cannot be read is not
    /// known to be nothing.
    pub(super) async fn holds_records(&self) -> bool {
        let records = "SELECT EXISTS (SELECT 1 FROM projects) OR EXISTS (SELECT 1 FROM api_tokens)";
        sqlx::query_scalar(records).fetch_one(self.any()).await.unwrap_or(true)
    }

    /// Moves the log into the file; whoever reads or writes just then leaves it to the next
    /// time. Returns whether nothing stands in the log alone any more.
    pub(super) async fn move_log(&self) -> bool {
        let checkpoint = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(self.any());
        // Whether it was kept from finishing, the frames in the log, and how many were moved.
        checkpoint.await.is_ok_and(|row| {
            let number = |column: usize| row.try_get::<i64, _>(column).unwrap_or(-1);
            number(0) == 0 || (number(1) >= 0 && number(1) == number(2))
        })
    }

    /// Moves the log into the file a while after the last write, unless that is planned.
    pub(super) fn settle(self: Arc<Self>) {
        if self.settling.swap(true, Ordering::AcqRel) {
            return;
        }
        tokio::spawn(async move {
            tokio::time::sleep(SETTLE).await;
            self.settling.store(false, Ordering::Release);
            let file = look(&self.path).ok().flatten();
            let is_whole = file.is_some_and(|now| now.identity == self.file && !now.is_empty);
            if is_whole && self.log().state() != LogState::Replaced {
                self.move_log().await;
            }
        });
    }

    /// Closes the connections; the last process to do so removes the log. When the file is no
    /// longer the one at the path, SQLite leaves the log as it is, so what stands in it is moved
    /// into the file first: a ledger that was moved elsewhere holds every record.
    pub(super) async fn close(&self) {
        let state = self.log().state();
        if state != LogState::Replaced {
            self.move_log().await;
        }
        if state == LogState::Ours {
            let pool = match self.writer.get() {
                Some(writer) => {
                    self.readers.close().await;
                    writer
                }
                None => &self.readers,
            };
            let mut idle = Vec::new();
            while let Some(mut connection) = pool.try_acquire() {
                let _ = leave_log_on_close(&mut connection, false).await;
                idle.push(connection);
            }
        }
        self.abandon().await;
    }

    /// Closes the connections and leaves the log as it is: it may be another one by now.
    pub(super) async fn abandon(&self) {
        self.readers.close().await;
        if let Some(writer) = self.writer.get() {
            writer.close().await;
        }
    }

    fn any(&self) -> &SqlitePool {
        self.writer.get().unwrap_or(&self.readers)
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
        Box::pin(async move {
            leave_log_on_close(connection, true).await?;
            slice.execute(connection).await.map(drop)
        })
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

/// Whether the end of a connection leaves the log alone. SQLite's last connection else moves it
/// into the file and removes whatever has its name, also the log that another process has begun
/// after this one's was removed, with calls that it acknowledged.
async fn leave_log_on_close(connection: &mut SqliteConnection, leaves: bool) -> sqlx::Result<()> {
    let mut handle = connection.lock_handle().await?;
    // SAFETY: the handle is open, and locked as long as it is used; this option takes a number
    // and a place for the answer, which may be null.
    let code = unsafe {
        sqlite3_db_config(
            handle.as_raw_handle().as_ptr(),
            SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
            c_int::from(leaves),
            std::ptr::null_mut::<c_int>(),
        )
    };
    match code {
        SQLITE_OK => Ok(()),
        code => Err(sqlx::Error::Protocol(format!("no option to leave the log: {code}"))),
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
        .after_connect(|connection, _| Box::pin(leave_log_on_close(connection, true)))
        // SQLite itself ends a transaction when the disk is full, and sqlx still counts it:
        // such a connection could never begin another.
        .before_acquire(|connection, _| Box::pin(async { Ok(!connection.is_in_transaction()) }))
}
