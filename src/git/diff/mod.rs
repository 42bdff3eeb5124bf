//! What a commit, or the index, changes: its paths, its lines, and git's text of it.

pub mod change;
mod hunk_context;
mod lines;
pub(super) mod quote;
pub mod scan;
pub mod staged;
mod text;
mod tree_walk;
