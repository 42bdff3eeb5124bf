//! The log on stderr.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::EnvFilter;

/// rmcp warns of every JSON-RPC error that it answers; the client has it already.
const DEFAULT_FILTER: &str = "warn,rmcp=error";

/// Sends the log to stderr, filtered by `RUST_LOG` (default: warnings and errors).
///
/// Does nothing when a log is set up already.
pub fn init() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| DEFAULT_FILTER.into());
    // A client may have closed stderr: a line that cannot be logged is no reason to panic.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .log_internal_errors(false)
        .try_init();
}
