//! A project's policies: which they are, what they say of a change, and runs that are recorded.

pub mod checks;
pub mod preview;
pub(in crate::ledger) mod rules;
