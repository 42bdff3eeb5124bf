//! The server as an MCP client sees it. Only this module names rmcp.

pub mod args;
pub mod instructions;
pub mod prompts;
pub mod schema;
pub mod server;
pub mod uri;
