//! Names of agents and people: what they tell, and what they try to hide.

pub mod agent;
pub mod approver;
pub mod hidden;
pub mod lookalike;
pub mod nearest;
