//! Which file a path names: a ledger may be removed or replaced under a running server, by a
//! restore from a backup or by git.

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

impl Identity {
    /// The file at `path`; `None` if there is none.
    #[cfg(unix)]
    pub(super) fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = path.metadata().ok()?;
        let created = metadata.created().ok();
        Some(Self { device: metadata.dev(), inode: metadata.ino(), created })
    }

    /// The file at `path`; `None` if there is none. Windows refuses to remove or replace a
    /// file that is open, so it is the same as long as it is there.
    #[cfg(not(unix))]
    pub(super) fn of(path: &Path) -> Option<Self> {
        path.exists().then_some(Self {})
    }
}
