//! What others say of a decision: reviews with findings, and disagreements.

pub mod disagreements;
pub mod reviews;
