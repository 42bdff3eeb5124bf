//! The ledger in a file: pragmas, the write-ahead log, `BEGIN IMMEDIATE`, `user_version`, and
//! what SQLite's result codes mean.

mod connections;
mod errors;
mod identity;
mod log;
pub(in crate::store) mod schema;
mod slot;
pub(super) mod statement;
#[cfg(test)]
mod tests;
mod whereabouts;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sqlx::SqlitePool;
use tokio::sync::{Mutex, MutexGuard, OnceCell};
use tokio::time::Instant;

use self::connections::Connections;
use self::errors::{busy, io_error, is_busy, log_moved, moved, sql_error, unseen};
use self::identity::{Identity, look};
use self::log::{LogState, Turn};
use self::slot::{Lookup, Slot, rescue_log};
use super::connection::Connection;
use super::missing::{WhenMissing, gone};
use super::{Durability, LOCK_PATIENCE};
use crate::error::{Code, Error, Refusal, Result};

/// The time of the event that was recorded last. By SQLite's own row number: rows are only ever
/// added, and none has an index on the time alone.
pub(super) const NEWEST_EVENT: &str = "SELECT created_at FROM events ORDER BY rowid DESC LIMIT 1";

/// One ledger file, opened by the first call that needs it.
#[derive(Debug)]
pub(super) struct LedgerFile {
    path: PathBuf,
    /// Why no call can use it, if the place where it should lie is wrong.
    refusal: Option<Refusal>,
    missing: WhenMissing,
    /// The file as it is open now. Another one may take its place under a running server.
    slot: Mutex<Slot>,
    /// What is read while the file does not exist: an empty ledger.
    empty: OnceCell<SqlitePool>,
    /// SQLite's busy handler is not fair; the writers of one process queue here.
    writer: Mutex<()>,
    patience: Duration,
}

/// A transaction that writes: it holds the ledger's write lock from the start, because a
/// SQLite transaction that reads first and writes later is refused the lock at once.
#[derive(Debug)]
pub(super) struct WriteTransaction<'a> {
    transaction: Connection,
    ledger: &'a LedgerFile,
    connections: Arc<Connections>,
    _turn: MutexGuard<'a, ()>,
}

impl LedgerFile {
    /// A ledger at `path`; touches nothing yet.
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            refusal: None,
            missing: WhenMissing::default(),
            slot: Mutex::default(),
            empty: OnceCell::new(),
            writer: Mutex::new(()),
            patience: LOCK_PATIENCE,
        }
    }

    /// A ledger that refuses every call, because the setting that names it is wrong.
    pub fn refusing(refusal: Refusal) -> Self {
        Self { refusal: Some(refusal), ..Self::new(PathBuf::new()) }
    }

    pub fn when_missing(self, missing: WhenMissing) -> Self {
        Self { missing, ..self }
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
    /// Refuses a file that is no ledger or a newer version's, one that has gone while this
    /// process had it open, and one that is missing where it must not be; faults on a damaged
    /// one.
    pub async fn read(&self) -> Result<Connection> {
        self.check()?;
        let pool = match self.opened(None).await? {
            Some(connections) => connections.readers().clone(),
            None => self.empty.get_or_try_init(|| self.open_empty()).await?.clone(),
        };
        let transaction = pool.begin().await.map_err(|error| sql_error(&self.path, error))?;
        Ok(Connection::sqlite(transaction))
    }

    /// Begins a transaction that writes; creates the ledger if it does not exist.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read), and refuses when another process held the lock for
    /// [`LOCK_PATIENCE`].
    pub async fn write(&self, durability: Durability) -> Result<WriteTransaction<'_>> {
        self.check()?;
        let deadline = Instant::now() + self.patience;
        let turn = tokio::time::timeout_at(deadline, self.writer.lock())
            .await
            .map_err(|_elapsed| busy(&self.path))?;
        let connections = self.opened(Some(durability)).await?.ok_or_else(|| moved(&self.path))?;
        let pool = connections.writer(durability).await;
        let pool = pool.map_err(|error| sql_error(&self.path, error))?;
        let transaction = loop {
            match pool.begin_with("BEGIN IMMEDIATE").await {
                Ok(transaction) => break transaction,
                Err(error) if is_busy(&error) && Instant::now() < deadline => {}
                Err(error) => return Err(sql_error(&self.path, error)),
            }
        };
        let transaction = Connection::sqlite(transaction);
        Ok(WriteTransaction { transaction, ledger: self, connections, _turn: turn })
    }

    /// Closes the file; the last process to do so moves the log into it.
    pub async fn close(&self) {
        self.slot.lock().await.close().await;
    }

    fn check(&self) -> Result<()> {
        match &self.refusal {
            Some(refusal) => Err(refusal.clone().into()),
            None => Ok(()),
        }
    }

    /// Makes the file, empty, and the directory for it.
    fn create(&self) -> Result<()> {
        if let Some(directory) = self.path.parent() {
            std::fs::create_dir_all(directory).map_err(|error| io_error(directory, error))?;
        }
        // Another process may have made it just now.
        let mut file = std::fs::OpenOptions::new();
        let file = file.append(true).create(true).open(&self.path);
        file.map(drop).map_err(|error| io_error(&self.path, error))
    }

    /// Refuses what SQLite has no words for: it reads from pipes and devices, and takes no path
    /// that is not UTF-8.
    fn check_file(&self) -> Result<()> {
        let refused = |what: &str| {
            let path = self.path.display();
            Err(Error::refused(Code::UnusableLedger, format!("The ledger {path} {what}")))
        };
        if self.path.to_str().is_none() {
            return refused(
                "has a path that is not UTF-8 text. Rename its directory, or set GOVFORGE_DB to \
                 another file.",
            );
        }
        if self.path.metadata().is_ok_and(|file| !file.is_file() && !file.is_dir()) {
            return refused("is no regular file. Set GOVFORGE_DB to another file.");
        }
        Ok(())
    }

    /// The file that stands at the path now, which is made if the call writes; `None` if there
    /// is none and the call reads.
    async fn present(
        &self,
        slot: &mut Slot,
        writes: bool,
        deadline: Instant,
    ) -> Result<Option<Identity>> {
        let unseen = |error| unseen(&self.path, error);
        let found = look(&self.path).map_err(unseen)?;
        if let Some(found) = found
            && !found.is_empty
        {
            return Ok(Some(found.identity));
        }
        if let Some(whereabouts) = slot.miss(&self.path, found.is_some(), deadline).await? {
            return Err(gone(&self.path, &whereabouts));
        }
        self.missing.check(&self.path)?;
        if !writes {
            return Ok(None);
        }
        self.create()?;
        let made = look(&self.path).map_err(unseen)?.ok_or_else(|| moved(&self.path))?;
        Ok(Some(made.identity))
    }

    /// The connections to the file that stands at the path now, which is made if the call
    /// writes. The first connection is the kind that the call needs: the one that writes with
    /// this durability, or one that reads; `None` if there is nothing to read.
    async fn opened(&self, durability: Option<Durability>) -> Result<Option<Arc<Connections>>> {
        let deadline = Instant::now() + self.patience;
        let mut slot = self.slot.lock().await;
        let Some(file) = self.present(&mut slot, durability.is_some(), deadline).await? else {
            return Ok(None);
        };
        let _turn = match slot.get(&self.path, file, deadline).await? {
            Lookup::Open(connections) => return Ok(Some(connections)),
            Lookup::Closed(turn) => turn,
        };
        self.check_file()?;
        let failed = |error| sql_error(&self.path, error);
        let connections = Arc::new(Connections::new(&self.path, file));
        let pool = match durability {
            Some(durability) => connections.writer(durability).await.map_err(failed)?,
            None => connections.readers(),
        };
        let mut connection = pool.acquire().await.map_err(failed)?;
        schema::prepare(&mut connection, &self.path, deadline).await?;
        drop(connection);
        connections.log();
        slot.set(&self.path, Arc::clone(&connections));
        Ok(Some(connections))
    }

    async fn open_empty(&self) -> Result<SqlitePool> {
        let pool = connections::in_memory();
        let mut connection = pool.acquire().await.map_err(|error| sql_error(&self.path, error))?;
        schema::migrate(&mut connection, &self.path).await?;
        drop(connection);
        Ok(pool)
    }

    /// Makes a commit durable whose log was removed meanwhile.
    ///
    /// # Errors
    ///
    /// Refuses when another process has begun another log.
    async fn rescue(&self, connections: &Connections) -> Result<()> {
        let deadline = Instant::now() + self.patience;
        let _turn = Turn::take(&self.path, deadline).await?;
        match rescue_log(connections, &self.path, deadline).await? {
            LogState::Replaced => Err(log_moved(&self.path)),
            LogState::Ours | LogState::Removed => Ok(()),
        }
    }
}

impl WriteTransaction<'_> {
    /// Makes everything that was written durable.
    ///
    /// # Errors
    ///
    /// As for any statement; then nothing was written. Refuses when the file or its log was
    /// removed or replaced meanwhile: what was written into it nobody would find.
    pub async fn commit(self) -> Result<()> {
        let Self { transaction, ledger, connections, _turn } = self;
        transaction.commit().await.map_err(|error| sql_error(&ledger.path, error))?;
        if Identity::of(&ledger.path) != Some(connections.file) {
            return Err(moved(&ledger.path));
        }
        if connections.log().state() != LogState::Ours {
            ledger.rescue(&connections).await?;
        }
        connections.settle();
        Ok(())
    }
}

impl std::ops::Deref for WriteTransaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.transaction
    }
}

impl std::ops::DerefMut for WriteTransaction<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.transaction
    }
}
