//! The ledger: where it is opened, and where its transactions begin and end.
//!
//! What is particular to one engine stands below in a folder of its own, and nowhere else.

mod connection;
mod missing;
mod query;
mod run;
pub(super) mod sqlite;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use self::connection::Connection;
pub use self::missing::Missing;
use self::missing::WhenMissing;
pub use self::query::{Argument, Query, composed, placeholders, query};
use crate::domain::time::Timestamp;
use crate::error::{Error, Refusal, Result};
use crate::store::row::Columns as _;

/// How long a call waits for another process's lock before it is refused.
pub const LOCK_PATIENCE: Duration = Duration::from_secs(30);

/// One ledger, opened by the first call that needs it.
#[derive(Debug)]
pub struct Ledger(Engine);

#[derive(Debug)]
enum Engine {
    Sqlite(sqlite::LedgerFile),
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

/// A transaction that writes: nobody else writes before it ends.
#[derive(Debug)]
pub struct WriteTransaction<'a>(Writing<'a>);

#[derive(Debug)]
enum Writing<'a> {
    Sqlite(sqlite::WriteTransaction<'a>),
}

impl Ledger {
    /// A ledger at `path`, which reads as an empty one while it does not exist, and is made by
    /// the first write; touches nothing yet.
    pub fn new(path: PathBuf) -> Self {
        Self(Engine::Sqlite(sqlite::LedgerFile::new(path)))
    }

    /// A ledger that refuses every call, because the setting that names it is wrong.
    pub fn refusing(refusal: Refusal) -> Self {
        Self(Engine::Sqlite(sqlite::LedgerFile::refusing(refusal)))
    }

    /// The same ledger; `decide` is asked each time the file is missed.
    pub fn when_missing(self, decide: impl Fn(&Path) -> Missing + Send + Sync + 'static) -> Self {
        Self(match self.0 {
            Engine::Sqlite(file) => Engine::Sqlite(file.when_missing(WhenMissing::new(decide))),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        match &self.0 {
            Engine::Sqlite(file) => file.path(),
        }
    }

    /// Whether the file exists.
    pub fn exists(&self) -> bool {
        match &self.0 {
            Engine::Sqlite(file) => file.exists(),
        }
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
        match &self.0 {
            Engine::Sqlite(file) => file.read().await,
        }
    }

    /// Begins a transaction that writes; creates the ledger if it does not exist.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read), and refuses when another process held the lock for
    /// [`LOCK_PATIENCE`].
    pub async fn write(&self, durability: Durability) -> Result<WriteTransaction<'_>> {
        Ok(WriteTransaction(match &self.0 {
            Engine::Sqlite(file) => Writing::Sqlite(file.write(durability).await?),
        }))
    }

    /// Closes the ledger.
    pub async fn close(&self) {
        match &self.0 {
            Engine::Sqlite(file) => file.close().await,
        }
    }
}

impl WriteTransaction<'_> {
    /// The time of the event that was recorded last, by whichever process; `None` also if that
    /// row is damaged, which is no reason to record nothing any more.
    ///
    /// # Errors
    ///
    /// As for any statement.
    pub async fn last_event_time(&mut self) -> Result<Option<Timestamp>> {
        let newest = match &self.0 {
            Writing::Sqlite(_) => sqlite::NEWEST_EVENT,
        };
        let row = query(newest).fetch_optional(self).await?;
        Ok(row.and_then(|row| {
            let unreadable =
                |error: &Error| tracing::error!(%error, "the last event is passed over");
            row.time("created_at").inspect_err(unreadable).ok()
        }))
    }

    /// Makes everything that was written durable.
    ///
    /// # Errors
    ///
    /// As for any statement; then nothing was written. Refuses when the ledger or its log was
    /// removed or replaced meanwhile: what was written into it nobody would find.
    pub async fn commit(self) -> Result<()> {
        match self.0 {
            Writing::Sqlite(transaction) => transaction.commit().await,
        }
    }
}

impl std::ops::Deref for WriteTransaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        match &self.0 {
            Writing::Sqlite(transaction) => transaction,
        }
    }
}

impl std::ops::DerefMut for WriteTransaction<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        match &mut self.0 {
            Writing::Sqlite(transaction) => transaction,
        }
    }
}
