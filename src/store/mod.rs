//! Every SQL statement of the program: one file per table or aggregate, and the only place
//! that maps rows.
//!
//! Each function takes the connection first, so that the caller (the service) owns the
//! transaction. The statements are portable (text, integers, `$1` placeholders); what is
//! SQLite's own stands in [`ledger`].

pub mod agents;
pub mod approvals;
mod batch;
pub mod chain;
pub mod decisions;
pub mod disagreements;
pub mod dossier;
pub mod events;
pub mod git_changes;
pub mod history;
pub mod ledger;
pub mod overview;
pub mod policies;
pub mod projects;
pub mod recent_calls;
pub mod records;
pub mod reviews;
mod row;
pub mod sequences;
pub mod tasks;
pub mod tokens;
