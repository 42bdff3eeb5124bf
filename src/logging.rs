//! The log on stderr.

use std::io;

use anstream::{AutoStream, ColorChoice};
use tracing_subscriber::EnvFilter;

/// As what the program runs, and so what is logged where `RUST_LOG` says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Of the server: warnings and errors. rmcp warns of every JSON-RPC error that it answers;
    /// the client has it already.
    Server,
    /// Of a verb: errors. What a person can put right is told as the verb's own message.
    Verb,
}

/// Sends the log to stderr, filtered by `RUST_LOG`.
///
/// Does nothing when a log is set up already.
pub fn init(mode: Mode) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| match mode {
        Mode::Server => "warn,rmcp=error".into(),
        Mode::Verb => "error".into(),
    });
    // A client may have closed stderr: a line that cannot be logged is no reason to panic.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(AutoStream::choice(&io::stderr()) != ColorChoice::Never)
        .log_internal_errors(false)
        .try_init();
}
