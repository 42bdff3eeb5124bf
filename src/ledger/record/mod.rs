//! The record as a whole: how a call is written to it, how it is proved, and how it is taken along.

pub mod audit;
pub mod export;
pub(in crate::ledger) mod write;
