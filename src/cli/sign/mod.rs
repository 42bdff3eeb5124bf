//! Verbs of the human gate: giving a verdict, and holding back what has none.

pub mod gate;
pub mod hook;
pub mod token;
pub mod verdict;
