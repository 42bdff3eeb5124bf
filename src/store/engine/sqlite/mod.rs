//! The ledger in a file: pragmas, the write-ahead log, `BEGIN IMMEDIATE`, `user_version`, and
//! what SQLite's result codes mean.

mod connections;
mod errors;
mod identity;
pub(in crate::store) mod schema;
mod slot;
pub(super) mod statement;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::SqlitePool;
use tokio::sync::{Mutex, MutexGuard, OnceCell};
use tokio::time::Instant;

use self::connections::Connections;
use self::errors::{busy, io_error, is_busy, moved, sql_error};
use self::identity::Identity;
use self::slot::Slot;
use super::connection::Connection;
use super::{Durability, LOCK_PATIENCE};
use crate::error::{Code, Error, Refusal, Result};

/// How long after a write the log is moved into the file, so that the file alone soon holds
/// every record: a person who copies it gets them all.
const SETTLE: Duration = Duration::from_secs(1);

/// The time of the event that was recorded last. By SQLite's own row number: rows are only ever
/// added, and none has an index on the time alone.
pub(super) const NEWEST_EVENT: &str = "SELECT created_at FROM events ORDER BY rowid DESC LIMIT 1";

/// One ledger file, opened by the first call that needs it.
#[derive(Debug)]
pub(super) struct LedgerFile {
    path: PathBuf,
    /// Why no call can use it, if the place where it should lie is wrong.
    refusal: Option<Refusal>,
    /// The file as it is open now. Another one may take its place under a running server.
    slot: Mutex<Slot>,
    /// What is read while the file does not exist: an empty ledger.
    empty: OnceCell<SqlitePool>,
    /// SQLite's busy handler is not fair; the writers of one process queue here.
    writer: Mutex<()>,
    patience: Duration,
    settling: Arc<AtomicBool>,
}

/// A transaction that writes: it holds the ledger's write lock from the start, because a
/// SQLite transaction that reads first and writes later is refused the lock at once.
#[derive(Debug)]
pub(super) struct WriteTransaction<'a> {
    transaction: Connection,
    ledger: &'a LedgerFile,
    identity: Identity,
    pool: SqlitePool,
    _turn: MutexGuard<'a, ()>,
}

impl LedgerFile {
    /// A ledger at `path`; touches nothing yet.
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            refusal: None,
            slot: Mutex::default(),
            empty: OnceCell::new(),
            writer: Mutex::new(()),
            patience: LOCK_PATIENCE,
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
    pub async fn read(&self) -> Result<Connection> {
        self.check()?;
        let pool = if self.exists() {
            self.opened(None).await?.0.readers().clone()
        } else {
            self.slot.lock().await.let_go(&self.path).await?;
            self.empty.get_or_try_init(|| self.open_empty()).await?.clone()
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
        let (connections, identity) = self.opened(Some(durability)).await?;
        let pool = connections.writer(durability).await;
        let pool = pool.map_err(|error| sql_error(&self.path, error))?.clone();
        let transaction = loop {
            match pool.begin_with("BEGIN IMMEDIATE").await {
                Ok(transaction) => break transaction,
                Err(error) if is_busy(&error) && Instant::now() < deadline => {}
                Err(error) => return Err(sql_error(&self.path, error)),
            }
        };
        let transaction = Connection::sqlite(transaction);
        Ok(WriteTransaction { transaction, ledger: self, identity, pool, _turn: turn })
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

    /// The connections to the file that stands at the path now, which is made if the call
    /// writes. The first connection is the kind that the call needs: the one that writes with
    /// this durability, or one that reads.
    async fn opened(&self, durability: Option<Durability>) -> Result<(Arc<Connections>, Identity)> {
        let mut slot = self.slot.lock().await;
        let file = match Identity::of(&self.path) {
            Some(file) => file,
            None => {
                slot.let_go(&self.path).await?;
                if durability.is_some() {
                    self.create()?;
                }
                Identity::of(&self.path).ok_or_else(|| moved(&self.path))?
            }
        };
        if let Some(open) = slot.get(&self.path, file).await? {
            return Ok((open, file));
        }
        self.check_file()?;
        let failed = |error| sql_error(&self.path, error);
        let connections = Arc::new(Connections::new(&self.path));
        let pool = match durability {
            Some(durability) => connections.writer(durability).await.map_err(failed)?,
            None => connections.readers(),
        };
        let mut connection = pool.acquire().await.map_err(failed)?;
        let deadline = Instant::now() + self.patience;
        schema::prepare(&mut connection, &self.path, deadline).await?;
        drop(connection);
        slot.set(&self.path, file, Arc::clone(&connections));
        Ok((connections, file))
    }

    async fn open_empty(&self) -> Result<SqlitePool> {
        let pool = connections::in_memory();
        let mut connection = pool.acquire().await.map_err(|error| sql_error(&self.path, error))?;
        schema::migrate(&mut connection, &self.path).await?;
        drop(connection);
        Ok(pool)
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
            connections::move_log(&pool).await;
        });
    }
}

impl WriteTransaction<'_> {
    /// Makes everything that was written durable.
    ///
    /// # Errors
    ///
    /// As for any statement; then nothing was written. Refuses when the file was removed or
    /// replaced meanwhile: what was written into it nobody would find.
    pub async fn commit(self) -> Result<()> {
        let Self { transaction, ledger, identity, pool, _turn } = self;
        transaction.commit().await.map_err(|error| sql_error(&ledger.path, error))?;
        if Identity::of(&ledger.path) != Some(identity) {
            return Err(moved(&ledger.path));
        }
        ledger.settle(pool);
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
