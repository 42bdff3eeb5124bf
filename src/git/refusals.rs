//! The messages of this module that are used in more than one place.

use std::path::Path;

use git2::Oid;

use super::stop::Stop;
use crate::domain::excerpt::shell_word;
use crate::error::{Code, Error, Fault, Result};

/// Ends the work if the call was cancelled.
pub(super) fn check(stop: Stop<'_>) -> Result<()> {
    if stop() { Err(Fault::new("the call was cancelled").into()) } else { Ok(()) }
}

/// An object, or the file that should hold it, cannot be read as what it should be.
pub(super) fn damaged(root: &Path, what: &str) -> Error {
    let root = root.display();
    let word = shell_word(&root);
    Error::refused(
        Code::UnreadableRepository,
        format!(
            "the repository {root} is damaged: {what} cannot be read. \
             `git -C {word} fsck` tells what is wrong; repair or clone it again, then retry."
        ),
    )
}

/// An object that the change needs is not in the repository.
pub(super) fn missing(root: &Path, what: &str, kind: Absence) -> Error {
    let root = root.display();
    let word = shell_word(&root);
    let message = match kind {
        Absence::Shallow => format!(
            "the history of {root} is cut off (a shallow clone): {what} is not there, so the \
             change cannot be told from the whole tree. Run `git -C {word} fetch \
             --deepen=1` (or `--unshallow`), then retry."
        ),
        Absence::Partial => format!(
            "{root} is a partial clone, and {what} has not been fetched. Show the commit once \
             with `git -C {word} show --text -m --first-parent COMMIT`, which fetches what \
             it needs, then retry."
        ),
        Absence::Unexplained => format!(
            "{what} is missing in the repository {root}. `git -C {word} fsck` lists what \
             is missing; fetch or clone it again, then retry."
        ),
    };
    Error::refused(Code::IncompleteHistory, message)
}

/// Why an object can be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absence {
    Shallow,
    Partial,
    Unexplained,
}

/// An id as messages name it.
pub(super) fn object(kind: &str, id: Oid) -> String {
    format!("the {kind} {id}")
}
