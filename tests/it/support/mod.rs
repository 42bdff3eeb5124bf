//! What the tests are made of.

pub mod app;
pub mod case;
pub mod company;
pub mod http;
pub mod json;
pub mod ledger;
pub mod mask;
pub mod output_schema;
pub mod server;
pub mod snapshot;
pub mod story;
pub mod transcript;
pub mod world;

/// Tells why a test, or a part of it, cannot run here: a skipped test must be visible.
pub fn skipped(why: &str) {
    use std::io::Write as _;
    // Past the capture of the test runner, which shows nothing of a test that passes.
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}
