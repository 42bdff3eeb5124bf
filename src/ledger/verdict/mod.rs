//! The human gate: who may give a verdict, what a person is shown, and what a verdict covers.

pub mod approvals;
pub mod commit_gate;
pub mod gate;
pub mod question;
pub mod sheet;
pub(in crate::ledger) mod staleness;
pub(in crate::ledger) mod vouched;
