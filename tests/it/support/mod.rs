//! What the tests are made of.

pub mod app;
pub mod case;
pub mod json;
pub mod ledger;
pub mod mask;
pub mod output_schema;
pub mod server;
pub mod snapshot;
pub mod story;
pub mod world;
