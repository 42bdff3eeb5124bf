//! The server of the governance ledger as an MCP client sees it, over stdin and stdout.

mod asking;
mod freshness;
pub mod instructions;
pub mod prompts;
pub mod reference;
mod resources;
pub mod serve;
pub mod server;
mod session;
mod state;
mod tools;
mod transport;
pub mod uri;
mod watch;
