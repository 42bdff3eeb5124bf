//! What the ledger is about: values, identifiers, entities and the transitions between
//! states. Pure: nothing here reads a clock, a file or a database.

pub mod access;
pub mod chain;
pub mod company;
pub mod digest;
pub mod entity;
pub mod excerpt;
pub mod id;
pub mod names;
pub mod secret;
pub mod since;
pub mod time;
pub mod value;
pub mod verdict;
