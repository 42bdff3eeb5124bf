//! The ledger file: where it is opened, brought up to date, and its transactions begin.
//!
//! What is particular to SQLite stands here and nowhere else: pragmas, the write-ahead log,
//! `BEGIN IMMEDIATE`, `user_version`, and what its error codes mean.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Connection, Sqlite, SqliteConnection, SqlitePool};
use tokio::sync::{Mutex, MutexGuard, OnceCell};
use tokio::time::Instant;

use crate::error::{Code, Error, Refusal, Result};

/// A transaction on the ledger; dropped without a commit it is rolled back.
pub type Transaction = sqlx::Transaction<'static, Sqlite>;

/// How long a call waits for another process's lock before it is refused.
pub const LOCK_PATIENCE: Duration = Duration::from_secs(30);

/// The migrations in order; their count is the schema's version.
const MIGRATIONS: [&str; 1] = [include_str!("../../migrations/0001_ledger.sql")];

/// Readers beside the one writer that a process has at a time.
const CONNECTIONS: u32 = 4;

/// One ledger file, opened by the first call that needs it.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    /// Why no call can use it, if the place where it should lie is wrong.
    refusal: Option<Refusal>,
    file: OnceCell<SqlitePool>,
    /// What is read while the file does not exist yet: an empty ledger.
    empty: OnceCell<SqlitePool>,
    /// SQLite's busy handler sleeps and is not fair; the writers of one process queue here.
    writer: Mutex<()>,
}

/// A transaction that writes: it holds the ledger's write lock from the start, because a
/// SQLite transaction that reads first and writes later is refused the lock at once.
#[derive(Debug)]
pub struct WriteTransaction<'a> {
    transaction: Transaction,
    path: &'a Path,
    _turn: MutexGuard<'a, ()>,
}

impl Ledger {
    /// A ledger at `path`; touches nothing yet.
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            refusal: None,
            file: OnceCell::new(),
            empty: OnceCell::new(),
            writer: Mutex::new(()),
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

    /// Begins a transaction that reads one consistent state. A ledger that does not exist
    /// yet reads as an empty one, and is not created.
    ///
    /// # Errors
    ///
    /// Refuses a file that is no ledger or a newer version's; faults on a damaged one.
    pub async fn read(&self) -> Result<Transaction> {
        self.check()?;
        let pool = if self.file.initialized() || self.path.exists() {
            self.file().await?
        } else {
            self.empty.get_or_try_init(|| self.open_empty()).await?
        };
        pool.begin().await.map_err(|error| sql_error(&self.path, error))
    }

    /// Begins a transaction that writes; creates the ledger if it does not exist yet.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read), and refuses when another process held the lock for
    /// [`LOCK_PATIENCE`].
    pub async fn write(&self) -> Result<WriteTransaction<'_>> {
        self.check()?;
        let turn = tokio::time::timeout(LOCK_PATIENCE, self.writer.lock())
            .await
            .map_err(|_elapsed| busy(&self.path))?;
        let pool = self.file().await?;
        let transaction = pool
            .begin_with("BEGIN IMMEDIATE")
            .await
            .map_err(|error| sql_error(&self.path, error))?;
        Ok(WriteTransaction { transaction, path: &self.path, _turn: turn })
    }

    /// Whether the file exists.
    pub fn exists(&self) -> bool {
        self.path.exists()
    }

    fn check(&self) -> Result<()> {
        match &self.refusal {
            Some(refusal) => Err(refusal.clone().into()),
            None => Ok(()),
        }
    }

    async fn file(&self) -> Result<&SqlitePool> {
        self.file.get_or_try_init(|| self.open_file()).await
    }

    async fn open_file(&self) -> Result<SqlitePool> {
        if let Some(directory) = self.path.parent() {
            std::fs::create_dir_all(directory).map_err(|error| {
                tracing::error!(directory = %directory.display(), %error, "cannot make the directory");
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
        let options = SqliteConnectOptions::new()
            .filename(&self.path)
            .create_if_missing(true)
            .foreign_keys(true)
            .busy_timeout(LOCK_PATIENCE)
            // An acknowledged record survives a power cut.
            .synchronous(SqliteSynchronous::Full);
        let pool = pool_options(CONNECTIONS)
            .connect_with(options)
            .await
            .map_err(|error| sql_error(&self.path, error))?;
        let mut connection = pool.acquire().await.map_err(|error| sql_error(&self.path, error))?;
        prepare(&mut connection, &self.path).await?;
        drop(connection);
        Ok(pool)
    }

    async fn open_empty(&self) -> Result<SqlitePool> {
        // Each connection to `:memory:` is a database of its own, so there is just one.
        let pool = pool_options(1)
            .connect_with(SqliteConnectOptions::new().in_memory(true))
            .await
            .map_err(|error| sql_error(&self.path, error))?;
        let mut connection = pool.acquire().await.map_err(|error| sql_error(&self.path, error))?;
        migrate(&mut connection, &self.path).await?;
        drop(connection);
        Ok(pool)
    }
}

impl WriteTransaction<'_> {
    /// Makes everything that was written durable.
    ///
    /// # Errors
    ///
    /// As for any statement; then nothing was written.
    pub async fn commit(self) -> Result<()> {
        self.transaction.commit().await.map_err(|error| sql_error(self.path, error))
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

/// Brings a file that was just opened up to date: write-ahead log, schema.
async fn prepare(connection: &mut SqliteConnection, path: &Path) -> Result<()> {
    if is_current(connection, path).await? {
        return Ok(());
    }
    migrate(connection, path).await?;
    use_write_ahead_log(connection, path).await
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
    if version == 0 {
        let tables: Vec<String> =
            sqlx::query_scalar("SELECT name FROM sqlite_master WHERE type = 'table'")
                .fetch_all(connection)
                .await
                .map_err(|error| sql_error(path, error))?;
        if !tables.is_empty() && !tables.iter().any(|name| name == "projects") {
            return Err(Error::refused(
                Code::UnusableLedger,
                format!(
                    "{} is a database of another program, not a ledger. Set GOVFORGE_DB to \
                     another file; a missing one is created.",
                    path.display()
                ),
            ));
        }
    }
    Ok(version == newest)
}

async fn migrate(connection: &mut SqliteConnection, path: &Path) -> Result<()> {
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

fn busy(path: &Path) -> Error {
    Error::refused(
        Code::LedgerBusy,
        format!(
            "Another process has been writing to the ledger {} for {} seconds. Nothing of this \
             call was recorded; send it again.",
            path.display(),
            LOCK_PATIENCE.as_secs()
        ),
    )
}

fn is_busy(error: &sqlx::Error) -> bool {
    matches!(primary_code(error), Some(5 | 6))
}

/// SQLite's result code without the extension in the upper bits.
/// <https://www.sqlite.org/rescode.html>
fn primary_code(error: &sqlx::Error) -> Option<u32> {
    let code = error.as_database_error()?.code()?;
    code.parse::<u32>().ok().map(|code| code & 0xff)
}

/// What an SQL error means to the caller.
fn sql_error(path: &Path, error: sqlx::Error) -> Error {
    let ledger = path.display();
    let refused = |message: String| Error::refused(Code::UnusableLedger, message);
    match primary_code(&error) {
        Some(5 | 6) => busy(path),
        Some(3 | 23) => refused(format!(
            "You may not read or write the ledger {ledger}. Give yourself the permission, or set \
             GOVFORGE_DB to another file."
        )),
        Some(8) => refused(format!(
            "The ledger {ledger} is read-only, so nothing was recorded. Make the file and its \
             directory writable, or set GOVFORGE_DB to another file."
        )),
        Some(14) => refused(format!(
            "The ledger {ledger} cannot be opened. Check that its directory exists and that you \
             may write there, or set GOVFORGE_DB to another file."
        )),
        Some(26) => refused(format!(
            "{ledger} is not a ledger: it is no SQLite file. Set GOVFORGE_DB to another file."
        )),
        Some(11) => Error::fault(format!("the ledger {ledger} is damaged"), error),
        Some(13) => Error::fault("the disk is full; nothing was recorded", error),
        Some(10) => Error::fault(format!("the ledger {ledger} cannot be read or written"), error),
        _ => Error::fault("the ledger could not carry out a statement", error),
    }
}

/// For the `?` of every statement: the path is only known where a transaction begins, and an
/// error after that names the ledger in general.
impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        sql_error(Path::new("file"), error)
    }
}

#[cfg(test)]
mod tests {
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
        ledger.write().await.unwrap().commit().await.unwrap();
        assert!(ledger.exists());
        assert_eq!(version(ledger.path()).await, MIGRATIONS.len() as i64);
    }

    #[tokio::test]
    async fn a_newer_ledger_is_refused_and_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("govforge.db");
        execute(&path, "CREATE TABLE projects (id TEXT); PRAGMA user_version = 999").await;
        let before = std::fs::read(&path).unwrap();
        let error = Ledger::new(path.clone()).write().await.unwrap_err();
        assert_eq!(error.code(), Some(Code::UnusableLedger));
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[tokio::test]
    async fn the_database_of_another_program_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("other.db");
        execute(&path, "CREATE TABLE bookmarks (id TEXT)").await;
        let error = Ledger::new(path.clone()).write().await.unwrap_err();
        assert_eq!(error.code(), Some(Code::UnusableLedger));
        std::fs::write(&path, b"no database at all, but long enough to be taken for one").unwrap();
        let error = Ledger::new(path).read().await.unwrap_err();
        assert_eq!(error.code(), Some(Code::UnusableLedger));
    }
}
