//! The endpoint of the companies over HTTP: what accepts connections, who is let in, JSON-RPC as
//! MCP clients and plain callers send it, the tools and the resources, and what the board manages.

pub mod answer;
mod app;
mod connections;
mod endpoint;
pub mod guard;
mod protocol;
mod rate;
pub mod reference;
pub mod serve;
pub mod tools;
