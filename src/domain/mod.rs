//! What the ledger is about: values, identifiers, entities and the transitions between
//! states. Pure: nothing here reads a clock, a file or a database.

pub mod access;
pub mod agent;
pub mod alike;
pub mod approver;
pub mod chain;
pub mod digest;
pub mod entity;
pub mod excerpt;
pub mod hidden;
pub mod id;
pub mod nearest;
pub mod time;
pub mod value;
