//! Which repository a path is in, and opening it: only the project's own, and only as it is.

pub mod configuration;
pub mod layout;
pub(super) mod libgit2;
pub mod repository;
