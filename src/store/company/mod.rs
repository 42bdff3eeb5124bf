//! The tables of the companies, one file per table or aggregate. Each function takes the
//! connection and, wherever it reaches the rows of a company, the scope of who asks: no row of
//! another company is found, and none outside the scope unless the function's name says so.

pub mod agents;
pub mod companies;
pub mod events;
pub mod idempotency;
pub mod keys;
pub mod names;
pub mod people;
pub mod projects;
pub mod runs;
pub mod scoped;
pub mod sessions;
pub mod tasks;
