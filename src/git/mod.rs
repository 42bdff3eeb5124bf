//! The read-only extractor: a commit's change and its diff text, through libgit2.
//!
//! Objects and references are all it reads. It starts no process, writes nothing (only
//! [`scratch`] does, for the demonstration), uses no network, and follows neither the
//! `GIT_*` variables nor attributes, filters or replacement objects. Everything here is
//! synchronous: the service runs it off the async threads.
//!
//! The diff text and the command that prints the same text are in `docs/diff-hash.md`.

mod change;
mod diff_text;
mod hooks;
mod hunk_context;
mod layout;
mod lines;
mod objects;
mod quote;
mod refusals;
mod repository;
mod revision;
mod scan;
pub mod scratch;
mod staged;
#[cfg(test)]
mod tests;
mod tree_walk;

pub use change::{Change, FileCounts};
pub use hooks::{HooksDirectory, hooks_directory, user_name};
pub use layout::{Located, locate};
pub use repository::Repository;
pub use scan::{ChangedLine, NotScanned, Scan, Why};
pub use staged::Staged;

/// Asked between units of work (a file, a thousand lines); `true` means that the call was
/// cancelled, and the work ends with a fault.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);
