//! The read-only extractor: a commit's change and its diff text, through libgit2.
//!
//! Objects and references are all it reads. It starts no process, writes nothing (only
//! [`scratch`] does, for the demonstration), uses no network, and follows neither the
//! `GIT_*` variables nor attributes, filters or replacement objects. Everything here is
//! synchronous: the service runs it off the async threads.
//!
//! The diff text and the command that prints the same text are in `docs/diff-hash.md`.

mod diff;
mod objects;
mod opening;
mod refusals;
mod revision;
pub mod scratch;
mod stop;
#[cfg(test)]
mod tests;

pub use diff::change::{Change, FileCounts};
pub use diff::scan::{ChangedLine, NotScanned, Scan, Why};
pub use diff::staged::Staged;
pub use opening::configuration::{HooksDirectory, hooks_directory, user_name};
pub use opening::layout::{Located, locate};
pub use opening::repository::Repository;
pub use stop::Stop;
