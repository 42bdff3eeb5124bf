//! The ledger file: where it is opened, and where its transactions begin and end.
//!
//! What is particular to SQLite stands here and below, and nowhere else: pragmas, the
//! write-ahead log, `BEGIN IMMEDIATE`, `user_version`, and what its result codes mean.

mod errors;
mod identity;
mod schema;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Sqlite, SqliteConnection, SqlitePool};
use tokio::sync::{Mutex, MutexGuard, OnceCell};

use self::errors::{busy, sql_error};
use self::identity::Identity;
use crate::domain::time::Timestamp;
use crate::error::{Code, Error, Refusal, Result};
use crate::store::row::Columns as _;

/// A transaction on the ledger; dropped without a commit it is rolled back.
pub type Transaction = sqlx::Transaction<'static, Sqlite>;

/// How long a call waits for another process's lock before it is refused.
pub const LOCK_PATIENCE: Duration = Duration::from_secs(30);

/// Readers beside the one writer that a process has at a time.
const CONNECTIONS: u32 = 4;

/// How long after a write the log is moved into the file, so that the file alone soon holds
/// every record: a person who copies it gets them all.
const SETTLE: Duration = Duration::from_secs(1);

/// One ledger file, opened by the first call that needs it.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    /// Why no call can use it, if the place where it should lie is wrong.
    refusal: Option<Refusal>,
    /// The file as it is open now. Another one may take its place under a running server.
    open: Mutex<Option<Open>>,
    /// What is read while the file does not exist: an empty ledger.
    empty: OnceCell<SqlitePool>,
    /// SQLite's busy handler sleeps and is not fair; the writers of one process queue here.
    writer: Mutex<()>,
    settling: Arc<AtomicBool>,
}

#[derive(Debug, Clone)]
struct Open {
    pool: SqlitePool,
    identity: Identity,
}

/// How safe an acknowledged write is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// It survives a power cut.
    #[default]
    Full,
    /// It survives the end of the process, as with the original; the last ones may be lost
    /// in a power cut.
    Normal,
}

/// A transaction that writes: it holds the ledger's write lock from the start, because a
/// SQLite transaction that reads first and writes later is refused the lock at once.
#[derive(Debug)]
pub struct WriteTransaction<'a> {
    transaction: Transaction,
    ledger: &'a Ledger,
    open: Open,
    _turn: MutexGuard<'a, ()>,
}

impl Ledger {
    /// A ledger at `path`; touches nothing yet.
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            refusal: None,
            open: Mutex::new(None),
            empty: OnceCell::new(),
            writer: Mutex::new(()),
            settling: Arc::default(),
        }
    }

    /// A ledger that refuses every call, because the setting that names it is wrong.
    pub fn refusing(refusal: Refusal) -> Self {
        Self { refusal: Some(refusal), ..Self::new(PathBuf::new()) }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file exists.
    pub fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Begins a transaction that reads one consistent state. A ledger that does not exist
    /// reads as an empty one, and is not created.
    ///
    /// # Errors
    ///
    /// Refuses a file that is no ledger or a newer version's; faults on a damaged one.
    pub async fn read(&self) -> Result<Transaction> {
        self.check()?;
        let pool = match Identity::of(&self.path) {
            Some(identity) => self.opened(identity, Durability::default()).await?.pool,
            None => {
                self.forget().await;
                self.empty.get_or_try_init(|| self.open_empty()).await?.clone()
            }
        };
        pool.begin().await.map_err(|error| sql_error(&self.path, error))
    }

    /// Begins a transaction that writes; creates the ledger if it does not exist.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read), and refuses when another process held the lock for
    /// [`LOCK_PATIENCE`].
    pub async fn write(&self, durability: Durability) -> Result<WriteTransaction<'_>> {
        self.check()?;
        let turn = tokio::time::timeout(LOCK_PATIENCE, self.writer.lock())
            .await
            .map_err(|_elapsed| busy(&self.path))?;
        let open = match Identity::of(&self.path) {
            Some(identity) => self.opened(identity, durability).await?,
            None => self.created(durability).await?,
        };
        let transaction = open
            .pool
            .begin_with("BEGIN IMMEDIATE")
            .await
            .map_err(|error| sql_error(&self.path, error))?;
        Ok(WriteTransaction { transaction, ledger: self, open, _turn: turn })
    }

    /// Closes the file; the last process to do so moves the log into it.
    pub async fn close(&self) {
        if let Some(open) = self.open.lock().await.take() {
            open.pool.close().await;
        }
    }

    fn check(&self) -> Result<()> {
        match &self.refusal {
            Some(refusal) => Err(refusal.clone().into()),
            None => Ok(()),
        }
    }

    /// Lets go of a file that is no longer there.
    async fn forget(&self) {
        if let Some(gone) = self.open.lock().await.take() {
            tracing::warn!(ledger = %self.path.display(), "the ledger was removed");
            tokio::spawn(async move { gone.pool.close().await });
        }
    }

    /// The file that stands at the path now.
    async fn opened(&self, identity: Identity, durability: Durability) -> Result<Open> {
        let mut open = self.open.lock().await;
        if let Some(open) = &*open
            && open.identity == identity
        {
            return Ok(open.clone());
        }
        if let Some(replaced) = open.take() {
            tracing::warn!(ledger = %self.path.display(), "the ledger was replaced");
            tokio::spawn(async move { replaced.pool.close().await });
            self.refuse_stale_log()?;
        }
        Ok(open.insert(self.open_file(durability).await?).clone())
    }

    async fn created(&self, durability: Durability) -> Result<Open> {
        self.forget().await;
        if let Some(directory) = self.path.parent() {
            std::fs::create_dir_all(directory).map_err(|error| {
                tracing::error!(directory = %directory.display(), %error, "cannot make it");
                Error::refused(
                    Code::UnusableLedger,
                    format!(
                        "The directory {} for the ledger cannot be made ({}). Make it, or set \
                         GOVFORGE_DB to a file in a directory you may write to.",
                        directory.display(),
                        error.kind()
                    ),
                )
            })?;
        }
        let mut open = self.open.lock().await;
        Ok(open.insert(self.open_file(durability).await?).clone())
    }

    /// SQLite would play the log of the file that was replaced into the one that took its
    /// place, and destroy it.
    fn refuse_stale_log(&self) -> Result<()> {
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        let log = PathBuf::from(log);
        if log.metadata().is_ok_and(|log| log.len() > 0) {
            return Err(Error::refused(
                Code::UnusableLedger,
                format!(
                    "The ledger {} was replaced while servers had the old one open, and the old \
                     one's log {} is still beside it. Nothing was recorded. End every govforge \
                     of this project, remove that file, and start again.",
                    self.path.display(),
                    log.display()
                ),
            ));
        }
        Ok(())
    }

    async fn open_file(&self, durability: Durability) -> Result<Open> {
        let failed = |error| sql_error(&self.path, error);
        let options = SqliteConnectOptions::new()
            .filename(&self.path)
            .create_if_missing(true)
            .foreign_keys(true)
            .busy_timeout(LOCK_PATIENCE)
            .synchronous(match durability {
                Durability::Full => SqliteSynchronous::Full,
                Durability::Normal => SqliteSynchronous::Normal,
            });
        let pool = pool_options(CONNECTIONS).connect_with(options).await.map_err(failed)?;
        let mut connection = pool.acquire().await.map_err(failed)?;
        schema::prepare(&mut connection, &self.path).await?;
        drop(connection);
        // Only now, since opening may have created it.
        let identity = Identity::of(&self.path).ok_or_else(|| self.moved())?;
        Ok(Open { pool, identity })
    }

    async fn open_empty(&self) -> Result<SqlitePool> {
        let failed = |error| sql_error(&self.path, error);
        // Each connection to `:memory:` is a database of its own, so there is just one.
        let pool = pool_options(1)
            .connect_with(SqliteConnectOptions::new().in_memory(true))
            .await
            .map_err(failed)?;
        let mut connection = pool.acquire().await.map_err(failed)?;
        schema::migrate(&mut connection, &self.path).await?;
        drop(connection);
        Ok(pool)
    }

    fn moved(&self) -> Error {
        Error::refused(
            Code::LedgerBusy,
            format!(
                "The ledger {} was removed or replaced during this call, so the call may not be \
                 in it. Send it again.",
                self.path.display()
            ),
        )
    }

    /// Moves the log into the file a while after the last write, unless that is planned.
    fn settle(&self, pool: SqlitePool) {
        if self.settling.swap(true, Ordering::AcqRel) {
            return;
        }
        let settling = Arc::clone(&self.settling);
        tokio::spawn(async move {
            tokio::time::sleep(SETTLE).await;
            settling.store(false, Ordering::Release);
            // Whoever reads or writes just then leaves it to the next time: waiting for a
            // reader would hold up every writer.
            if let Ok(mut connection) = pool.acquire().await {
                let checkpoint = "PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)";
                let _ = sqlx::raw_sql(checkpoint).execute(&mut *connection).await;
                let patience = format!("PRAGMA busy_timeout = {}", LOCK_PATIENCE.as_millis());
                let patience = sqlx::raw_sql(sqlx::AssertSqlSafe(patience));
                if patience.execute(&mut *connection).await.is_err() {
                    connection.close_on_drop();
                }
            }
        });
    }
}

impl WriteTransaction<'_> {
    /// The time of the event that was recorded last, by whichever process.
    ///
    /// # Errors
    ///
    /// As for any statement.
    pub async fn last_event_time(&mut self) -> Result<Option<Timestamp>> {
        // By SQLite's own row number: rows are only ever added, and none has an index on the
        // time alone.
        let row = sqlx::query("SELECT created_at FROM events ORDER BY rowid DESC LIMIT 1")
            .fetch_optional(&mut *self.transaction)
            .await?;
        row.map(|row| row.time("created_at")).transpose()
    }

    /// Makes everything that was written durable.
    ///
    /// # Errors
    ///
    /// As for any statement; then nothing was written. Refuses when the file was removed or
    /// replaced meanwhile: what was written into it nobody would find.
    pub async fn commit(self) -> Result<()> {
        let Self { transaction, ledger, open, _turn } = self;
        transaction.commit().await.map_err(|error| sql_error(&ledger.path, error))?;
        if Identity::of(&ledger.path) != Some(open.identity) {
            return Err(ledger.moved());
        }
        ledger.settle(open.pool);
        Ok(())
    }
}

impl std::ops::Deref for WriteTransaction<'_> {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.transaction
    }
}

impl std::ops::DerefMut for WriteTransaction<'_> {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.transaction
    }
}

fn pool_options(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(LOCK_PATIENCE)
        // A connection to a file does not go stale, and a check would cost every call.
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None)
}

#[cfg(test)]
mod tests {
    use sqlx::Connection as _;

    use super::schema::MIGRATIONS;
    use super::*;

    async fn version(path: &Path) -> i64 {
        let mut connection =
            SqliteConnection::connect_with(&SqliteConnectOptions::new().filename(path))
                .await
                .unwrap();
        sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut connection).await.unwrap()
    }

    async fn execute(path: &Path, sql: &'static str) {
        let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    }

    #[tokio::test]
    async fn a_missing_ledger_reads_as_empty_and_is_created_by_a_write() {
        let directory = tempfile::tempdir().unwrap();
        let ledger = Ledger::new(directory.path().join("deeper/govforge.db"));
        let mut transaction = ledger.read().await.unwrap();
        let projects: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM projects")
            .fetch_one(&mut *transaction)
            .await
            .unwrap();
        assert_eq!(projects, 0);
        assert!(!ledger.exists());
        ledger.write(Durability::Full).await.unwrap().commit().await.unwrap();
        assert!(ledger.exists());
        assert_eq!(version(ledger.path()).await, MIGRATIONS.len() as i64);
    }

    #[tokio::test]
    async fn a_newer_ledger_is_refused_and_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("govforge.db");
        execute(&path, "CREATE TABLE projects (id TEXT); PRAGMA user_version = 999").await;
        let before = std::fs::read(&path).unwrap();
        let error = Ledger::new(path.clone()).write(Durability::Full).await.unwrap_err();
        assert_eq!(error.code(), Some(Code::UnusableLedger));
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[tokio::test]
    async fn the_database_of_another_program_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("other.db");
        execute(&path, "CREATE TABLE bookmarks (id TEXT)").await;
        let error = Ledger::new(path.clone()).write(Durability::Full).await.unwrap_err();
        assert_eq!(error.code(), Some(Code::UnusableLedger));
        std::fs::write(&path, b"no database at all, but long enough to be taken for one").unwrap();
        let error = Ledger::new(path).read().await.unwrap_err();
        assert_eq!(error.code(), Some(Code::UnusableLedger));
    }

    async fn agents(ledger: &Ledger) -> i64 {
        let mut read = ledger.read().await.unwrap();
        sqlx::query_scalar("SELECT COUNT(*) FROM agents").fetch_one(&mut *read).await.unwrap()
    }

    async fn add_agent(write: &mut WriteTransaction<'_>) {
        let sql = "INSERT INTO agents (id, name, type, created_at) \
                   VALUES ('00', 'claude', 'CLAUDE', '2026-05-10 14:02:11.000000')";
        sqlx::raw_sql(sql).execute(&mut **write).await.unwrap();
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_ledger_that_was_removed_is_noticed_and_made_anew() {
        let directory = tempfile::tempdir().unwrap();
        let ledger = Ledger::new(directory.path().join("govforge.db"));
        let mut write = ledger.write(Durability::Full).await.unwrap();
        add_agent(&mut write).await;
        write.commit().await.unwrap();
        assert_eq!(agents(&ledger).await, 1);
        std::fs::remove_file(ledger.path()).unwrap();
        assert_eq!(agents(&ledger).await, 0);
        assert!(!ledger.exists());
        let mut write = ledger.write(Durability::Full).await.unwrap();
        add_agent(&mut write).await;
        write.commit().await.unwrap();
        assert_eq!(agents(&ledger).await, 1);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn no_success_is_reported_into_a_file_that_was_removed() {
        let directory = tempfile::tempdir().unwrap();
        let ledger = Ledger::new(directory.path().join("govforge.db"));
        ledger.write(Durability::Full).await.unwrap().commit().await.unwrap();
        let mut write = ledger.write(Durability::Full).await.unwrap();
        add_agent(&mut write).await;
        std::fs::remove_file(ledger.path()).unwrap();
        assert_eq!(write.commit().await.unwrap_err().code(), Some(Code::LedgerBusy));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_ledger_that_was_replaced_is_opened_unless_a_stale_log_would_destroy_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("govforge.db");
        let backup = directory.path().join("backup.db");
        let other = Ledger::new(backup.clone());
        other.write(Durability::Full).await.unwrap().commit().await.unwrap();
        other.close().await;

        let ledger = Ledger::new(path.clone());
        let mut write = ledger.write(Durability::Full).await.unwrap();
        add_agent(&mut write).await;
        write.commit().await.unwrap();
        std::fs::rename(&backup, &path).unwrap();
        let error = ledger.read().await.unwrap_err();
        assert_eq!(error.code(), Some(Code::UnusableLedger));
        std::fs::remove_file(directory.path().join("govforge.db-wal")).unwrap();
        assert_eq!(agents(&ledger).await, 0);
    }
}
