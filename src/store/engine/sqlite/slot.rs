//! Which file is open, and what happens when another takes its place, or none.
//!
//! SQLite finds the log and its index by name. Two files that were at one path one after the
//! other would share them: the log of the first would be played into the second.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::connections::Connections;
use super::errors::{busy, io_error};
use super::identity::Identity;
use super::log::{AGAIN, LogState, Turn};
use super::whereabouts::whereabouts;
use crate::error::Result;

/// How long a file that was replaced is kept open for the calls in flight.
const GRACE: Duration = Duration::from_secs(1);

/// The file that is open, if one is.
#[derive(Debug, Default)]
pub(super) struct Slot {
    open: Option<Open>,
    /// What is open held records and is not at its path any more. It stays open: its content
    /// lives as long as somebody has it open.
    is_gone: bool,
}

#[derive(Debug)]
struct Open {
    connections: Arc<Connections>,
    /// Whether the permissions let nobody write when it was opened.
    read_only: bool,
}

/// What is open for a call.
pub(super) enum Lookup {
    Open(Arc<Connections>),
    /// The file has to be opened, if there is a turn before it ends.
    Closed(Option<Turn>),
}

impl Slot {
    /// The connections, if that file is the one that is open. Lets go of any other one, of
    /// connections from before the permissions changed, and of those whose log is no longer
    /// the one at its name.
    ///
    /// # Errors
    ///
    /// As [`let_go`](Self::let_go), and refuses when the log of the file cannot be moved into
    /// it before `deadline`.
    pub(super) async fn get(
        &mut self,
        path: &Path,
        file: Identity,
        deadline: Instant,
    ) -> Result<Lookup> {
        let Some(open) = &self.open else { return Ok(Lookup::Closed(None)) };
        if self.is_gone || open.connections.file != file {
            self.let_go(path, Some(file), deadline).await?;
            return Ok(Lookup::Closed(None));
        }
        if open.read_only != read_only(path) {
            self.close().await;
            return Ok(Lookup::Closed(None));
        }
        if open.connections.log().state() == LogState::Ours {
            return Ok(Lookup::Open(Arc::clone(&open.connections)));
        }
        let turn = Turn::take(path, deadline).await?;
        rescue_log(&open.connections, path, deadline).await?;
        open.connections.log().remove().map_err(|error| io_error(path, error))?;
        open.connections.abandon().await;
        self.open = None;
        Ok(Lookup::Closed(Some(turn)))
    }

    pub(super) fn set(&mut self, path: &Path, connections: Arc<Connections>) {
        self.is_gone = false;
        self.open = Some(Open { read_only: read_only(path), connections });
    }

    /// Takes note that nothing, or an empty file, is at the path. If what was open held
    /// records, tells what is known of where it is: a sentence with a blank before it, or
    /// nothing.
    ///
    /// # Errors
    ///
    /// As [`let_go`](Self::let_go).
    pub(super) async fn miss(
        &mut self,
        path: &Path,
        is_empty: bool,
        deadline: Instant,
    ) -> Result<Option<String>> {
        let Some(Open { connections, .. }) = &self.open else { return Ok(None) };
        if !self.is_gone {
            if !connections.holds_records().await {
                self.let_go(path, None, deadline).await?;
                return Ok(None);
            }
            tracing::warn!(ledger = %path.display(), "the ledger is gone");
            self.is_gone = true;
        }
        // Nothing is moved into a file that somebody emptied.
        let is_whole = !is_empty && connections.move_log().await;
        remove_log(connections, path, deadline).await?;
        Ok(Some(if is_whole { whereabouts(path, connections.file) } else { String::new() }))
    }

    /// Closes the file.
    pub(super) async fn close(&mut self) {
        match self.open.take() {
            Some(open) if self.is_gone => open.connections.abandon().await,
            Some(open) => open.connections.close().await,
            None => {}
        }
    }

    /// Lets go of a file that is no longer the one at the path, and of its log; of one that
    /// is there again, its log stays.
    ///
    /// # Errors
    ///
    /// Refuses when the log cannot be removed.
    async fn let_go(
        &mut self,
        path: &Path,
        now: Option<Identity>,
        deadline: Instant,
    ) -> Result<()> {
        let Some(Open { connections, .. }) = self.open.take() else { return Ok(()) };
        tracing::warn!(ledger = %path.display(), "the ledger was replaced or removed");
        let was_gone = std::mem::take(&mut self.is_gone);
        let end = async {
            match was_gone {
                true => connections.abandon().await,
                false => connections.close().await,
            }
        };
        let _ = tokio::time::timeout(GRACE, end).await;
        match now == Some(connections.file) {
            true => Ok(()),
            false => remove_log(&connections, path, deadline).await,
        }
    }
}

/// Removes the log of a file that is no longer the one at the path, unless another one is
/// there by now.
async fn remove_log(connections: &Connections, path: &Path, deadline: Instant) -> Result<()> {
    if !connections.log().is_there() {
        return Ok(());
    }
    let _turn = Turn::take(path, deadline).await?;
    connections.log().remove().map_err(|error| io_error(path, error))
}

/// Moves a log that nobody will find any more into its file. One that another process has
/// begun anew is left alone: whoever removed it has seen to what stood in it.
///
/// # Errors
///
/// Refuses when somebody who reads is in the way until `deadline`.
pub(super) async fn rescue_log(
    connections: &Connections,
    path: &Path,
    deadline: Instant,
) -> Result<LogState> {
    loop {
        let state = connections.log().state();
        if state != LogState::Removed || connections.move_log().await {
            tracing::warn!(ledger = %path.display(), ?state, "the log was removed");
            return Ok(state);
        }
        if Instant::now() >= deadline {
            return Err(busy(path));
        }
        tokio::time::sleep(AGAIN).await;
    }
}

fn read_only(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.permissions().readonly())
}
