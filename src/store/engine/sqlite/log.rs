//! The write-ahead log of a file and its index. SQLite finds both by their names: once another
//! program has removed them, what is written into them nobody else will find, and where another
//! process has begun new ones, the two no longer see each other's locks.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use super::errors::busy;
use super::identity::Identity;
use crate::error::Result;

/// How long to wait before what was in the way is tried again.
pub(super) const AGAIN: Duration = Duration::from_millis(5);

/// What SQLite adds to the name of the file.
const SUFFIXES: [&str; 2] = ["-wal", "-shm"];

/// The log and the index that this process has open; neither is there without a write-ahead
/// log.
#[derive(Debug)]
pub(super) struct Log {
    ledger: PathBuf,
    files: [Option<Identity>; 2],
}

/// What has become of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogState {
    /// They are where they were.
    Ours,
    /// One of them is gone, and nobody has made another.
    Removed,
    /// Another process works with another one.
    Replaced,
}

impl Log {
    /// Those that are there now.
    pub(super) fn of(ledger: &Path) -> Self {
        Self { ledger: ledger.to_owned(), files: found(ledger) }
    }

    /// What has become of them meanwhile.
    pub(super) fn state(&self) -> LogState {
        let now = found(&self.ledger);
        if now == self.files {
            LogState::Ours
        } else if now.iter().zip(&self.files).all(|(now, ours)| now.is_none() || now == ours) {
            LogState::Removed
        } else {
            LogState::Replaced
        }
    }

    /// Whether the index is still the one at its name.
    pub(super) fn is_there(&self) -> bool {
        self.files[1].is_some() && found(&self.ledger)[1] == self.files[1]
    }

    /// Removes what is left of them. Another process may still have them open, without a name;
    /// it can commit nothing that it would report, for it looks at their names after each
    /// commit.
    ///
    /// # Errors
    ///
    /// When the directory may not be written.
    #[cfg(unix)]
    pub(super) fn remove(&self) -> std::io::Result<()> {
        if !self.is_there() {
            return Ok(());
        }
        match std::fs::remove_file(beside(&self.ledger, SUFFIXES[0])) {
            // Whoever removed the ledger may have begun with the others.
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => std::fs::remove_file(beside(&self.ledger, SUFFIXES[1])),
        }
    }

    /// Windows refuses to remove or replace a file that is open.
    #[cfg(not(unix))]
    pub(super) fn remove(&self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The turn of one process, among those that find the ledger or its log replaced: the next one
/// finds the files of the new one. The lock is the directory's, since opening and closing the
/// ledger would end SQLite's own locks.
#[derive(Debug)]
pub(super) struct Turn {
    _directory: Option<File>,
}

impl Turn {
    /// Takes the turn. Where a directory cannot be locked there is none to wait for.
    ///
    /// # Errors
    ///
    /// Refuses when another process has it until `deadline`.
    pub(super) async fn take(ledger: &Path, deadline: Instant) -> Result<Self> {
        let Ok(directory) = File::open(ledger.parent().unwrap_or(Path::new("."))) else {
            return Ok(Self { _directory: None });
        };
        loop {
            match directory.try_lock() {
                Ok(()) => return Ok(Self { _directory: Some(directory) }),
                Err(TryLockError::Error(_)) => return Ok(Self { _directory: None }),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    return Err(busy(ledger));
                }
                Err(TryLockError::WouldBlock) => tokio::time::sleep(AGAIN).await,
            }
        }
    }
}

fn found(ledger: &Path) -> [Option<Identity>; 2] {
    SUFFIXES.map(|suffix| Identity::of(&beside(ledger, suffix)))
}

/// The file that SQLite keeps beside the one at `path`.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(suffix);
    PathBuf::from(name)
}
