//! Which file a path names: a ledger may be removed or replaced under a running server, by a
//! restore from a backup or by git.

use std::fs::Metadata;
use std::io::{Error, ErrorKind};
use std::path::Path;

/// The identity of a file, which another file at the same path does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    #[cfg(unix)]
    device: u64,
    #[cfg(unix)]
    inode: u64,
    /// A file system may give the inode of a file that is gone to the next one.
    #[cfg(unix)]
    created: Option<std::time::SystemTime>,
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) identity: Identity,
    /// It holds not one byte, which no ledger does once it is opened.
    pub(super) is_empty: bool,
}

/// Looks at what is at `path`; `None` if nothing is.
///
/// # Errors
///
/// Where it cannot be known, because a directory on the way may not be searched.
pub(super) fn look(path: &Path) -> Result<Option<Found>, Error> {
    match path.metadata() {
        Ok(metadata) => Ok(Some(Found {
            identity: Identity::new(&metadata),
            is_empty: metadata.is_file() && metadata.len() == 0,
        })),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

impl Identity {
    /// The file at `path`; `None` if there is none that can be seen.
    pub(super) fn of(path: &Path) -> Option<Self> {
        path.metadata().ok().map(|metadata| Self::new(&metadata))
    }

    #[cfg(unix)]
    fn new(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let created = metadata.created().ok();
        Self { device: metadata.dev(), inode: metadata.ino(), created }
    }

    /// Windows refuses to remove or replace a file that is open, so it is the same as long as
    /// it is there.
    #[cfg(not(unix))]
    fn new(_metadata: &Metadata) -> Self {
        Self {}
    }
}
