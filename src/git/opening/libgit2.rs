//! How libgit2 opens a repository here.

use std::path::Path;
use std::sync::Once;

use git2::RepositoryOpenFlags;

/// Extensions that git knows and that change nothing for reading objects, beside those
/// that libgit2 accepts of itself. A partial clone's missing objects are refused one by one.
const HARMLESS_EXTENSIONS: [&str; 2] = ["partialclone", "noop-v1"];

/// libgit2's repository at exactly that path; the environment has no say.
pub(in crate::git) fn open_exactly(path: &Path) -> Result<git2::Repository, git2::Error> {
    accept_harmless_extensions();
    let ceilings: [&Path; 0] = [];
    git2::Repository::open_ext(path, RepositoryOpenFlags::NO_SEARCH, ceilings)
}

/// Must come before libgit2 opens or makes any repository.
pub(in crate::git) fn accept_harmless_extensions() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: it writes a static of libgit2 that only opening and making a repository
        // read; both call this first, and `Once` lets neither begin before the write ends.
        let set = unsafe { git2::opts::set_extensions(&HARMLESS_EXTENSIONS) };
        if let Err(error) = set {
            tracing::warn!(%error, "partial clones will be refused");
        }
    });
}
