//! Which file is open, and what happens when another takes its place.
//!
//! SQLite finds the log and its index by name. Two files that were at one path one after the
//! other would share them: the log of the first would be played into the second.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::connections::Connections;
use super::errors::io_error;
use super::identity::Identity;
use crate::error::Result;

/// How long a file that was replaced is kept open for the calls in flight.
const GRACE: Duration = Duration::from_secs(1);

/// The file that is open, if one is.
#[derive(Debug, Default)]
pub(super) struct Slot(Option<Open>);

#[derive(Debug)]
struct Open {
    file: Identity,
    /// Whether the permissions let nobody write when it was opened.
    read_only: bool,
    /// The index of the log; none in a file without a write-ahead log.
    index: Option<Identity>,
    connections: Arc<Connections>,
}

impl Slot {
    /// The connections, if that file is the one that is open. Lets go of any other one, and
    /// of connections from before the permissions changed.
    ///
    /// # Errors
    ///
    /// As [`let_go`](Self::let_go).
    pub(super) async fn get(
        &mut self,
        path: &Path,
        file: Identity,
    ) -> Result<Option<Arc<Connections>>> {
        match &self.0 {
            Some(open) if open.file != file => self.let_go(path).await?,
            Some(open) if open.read_only != read_only(path) => self.close().await,
            _ => {}
        }
        Ok(self.0.as_ref().map(|open| Arc::clone(&open.connections)))
    }

    pub(super) fn set(&mut self, path: &Path, file: Identity, connections: Arc<Connections>) {
        let index = Identity::of(&companion(path, "-shm"));
        self.0 = Some(Open { file, read_only: read_only(path), index, connections });
    }

    /// Closes the file. When it is no longer the one at the path, SQLite leaves the log and
    /// its index as they are.
    pub(super) async fn close(&mut self) {
        if let Some(open) = self.0.take() {
            open.connections.close().await;
        }
    }

    /// Lets go of a file that is no longer the one at the path, and of its log.
    ///
    /// # Errors
    ///
    /// Refuses when the log cannot be removed.
    pub(super) async fn let_go(&mut self, path: &Path) -> Result<()> {
        let Some(open) = self.0.take() else { return Ok(()) };
        tracing::warn!(ledger = %path.display(), "the ledger was replaced or removed");
        let _ = tokio::time::timeout(GRACE, open.connections.close()).await;
        remove_log(path, open.index).map_err(|error| io_error(path, error))
    }
}

/// Removes the log and the index of a file that was at the path, unless other ones are there
/// by now. Another process may still have them open, without a name; it can commit nothing
/// that it would report, for it looks at the path after each commit.
#[cfg(unix)]
fn remove_log(path: &Path, index: Option<Identity>) -> std::io::Result<()> {
    let name = companion(path, "-shm");
    let is_old = || index.is_some() && Identity::of(&name) == index;
    if !is_old() {
        return Ok(());
    }
    // One process after the other: the next one finds the files of the new ledger. The lock
    // is the directory's, since opening and closing the ledger would end SQLite's own locks.
    let turn = std::fs::File::open(path.parent().unwrap_or(Path::new(".")))?;
    turn.lock()?;
    if is_old() {
        match std::fs::remove_file(companion(path, "-wal")) {
            // Whoever removed the ledger may have begun with the others.
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => std::fs::remove_file(name)?,
        }
    }
    Ok(())
}

/// Windows refuses to remove or replace a file that is open.
#[cfg(not(unix))]
fn remove_log(_path: &Path, _index: Option<Identity>) -> std::io::Result<()> {
    Ok(())
}

fn read_only(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.permissions().readonly())
}

/// The file that SQLite keeps beside the one at `path`.
fn companion(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(suffix);
    PathBuf::from(name)
}
