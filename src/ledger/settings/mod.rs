//! Where the program stands, what the settings there say, and what may be wrong with them.

pub mod config;
pub mod diagnosis;
pub(in crate::ledger) mod file;
pub mod location;
pub mod missing;
