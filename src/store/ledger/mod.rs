//! The governance ledger's own tables, beside the chain that every system shares.

pub mod agents;
pub mod approvals;
pub mod decisions;
pub mod disagreements;
pub mod dossier;
pub mod git_changes;
pub mod history;
pub mod overview;
pub mod policies;
pub mod projects;
pub mod records;
pub mod reviews;
pub mod tasks;
