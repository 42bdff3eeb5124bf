//! What every surface that speaks MCP shares: lenient reading of arguments, published schemas, and
//! how an error looks on the wire.

pub mod args;
pub mod errors;
pub mod panics;
pub mod reference;
pub mod schema;
