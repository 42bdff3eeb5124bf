//! Every SQL statement of the program: one file per table or aggregate, and the only place
//! that maps rows. Here stand the engine, the chain and what else every system shares; the
//! tables of the two systems stand in [`ledger`] and [`company`].
//!
//! Each function takes the connection first, so that the caller (the service) owns the
//! transaction. The statements are portable (text, integers, `$1` placeholders); what is one
//! engine's own stands in [`engine`].

pub mod chain;
pub mod company;
pub mod engine;
pub mod events;
pub mod ledger;
mod order;
pub mod recent_calls;
mod row;
pub mod sequences;
pub mod tokens;
