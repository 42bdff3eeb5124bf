//! What it means that the file is not there: a ledger that nobody has begun yet, or one that
//! is gone.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Code, Error, Refusal};

/// What a ledger whose file is not there means to whoever asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// Reading shows an empty ledger, and the first write makes the file.
    Begins,
    /// There was one. A new one in its place would hide that it is gone.
    Gone,
    /// It has to be there.
    Refused(Refusal),
}

/// Decides, each time the file is missed.
#[derive(Clone)]
pub(super) struct WhenMissing(Arc<dyn Fn(&Path) -> Missing + Send + Sync>);

impl WhenMissing {
    pub(super) fn new(decide: impl Fn(&Path) -> Missing + Send + Sync + 'static) -> Self {
        Self(Arc::new(decide))
    }

    /// Lets a call go on without the file.
    ///
    /// # Errors
    ///
    /// Refuses what must not go on.
    pub(super) fn check(&self, path: &Path) -> Result<(), Error> {
        match (self.0)(path) {
            Missing::Begins => Ok(()),
            Missing::Gone => Err(gone(path, "")),
            Missing::Refused(refusal) => Err(refusal.into()),
        }
    }
}

impl Default for WhenMissing {
    fn default() -> Self {
        Self::new(|_path| Missing::Begins)
    }
}

impl fmt::Debug for WhenMissing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WhenMissing")
    }
}

/// The refusal of a call on a ledger that was there. `whereabouts` is what is known of the
/// file: a sentence with a blank before it, or nothing.
pub(super) fn gone(path: &Path, whereabouts: &str) -> Error {
    Error::refused_by_audience(Code::LedgerMissing, |to| {
        format!(
            "The ledger {} is gone: it was deleted, moved, or taken away by git (a checkout, \
             `git clean -x`, `git stash --all`). Nothing was recorded, and no new one was begun \
             in its place, because that would hide the loss{}.{whereabouts} {} Only to begin an \
             empty record on purpose, run `govforge init` in the repository, with GOVFORGE_DB \
             set to this path if it is not the repository's own.",
            path.display(),
            to.pick(": tell the person", ""),
            to.pick(
                "Once the file is back in its place, send the call again; nothing has to be \
                 started anew.",
                "Put the file back in its place, then run the command again."
            ),
        )
    })
}
