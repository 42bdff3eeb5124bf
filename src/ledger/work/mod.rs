//! What agents record of their work: tasks, decisions, and the commits that carry them out, in the
//! project that a path names.

pub mod attached;
pub mod changes;
pub mod decisions;
pub mod projects;
pub(in crate::ledger) mod references;
pub mod tasks;
