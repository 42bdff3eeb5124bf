//! Verbs that prove the record and take it along.

pub mod audit;
pub mod export;
