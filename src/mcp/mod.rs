//! The server as an MCP client sees it. Only this module names rmcp.

pub mod args;
mod asking;
mod errors;
pub mod instructions;
pub mod prompts;
pub mod reference;
mod resources;
pub mod schema;
pub mod serve;
pub mod server;
mod session;
mod tools;
mod transport;
pub mod uri;
mod watch;
