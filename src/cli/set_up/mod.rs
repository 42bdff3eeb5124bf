//! Verbs that put a repository, a client or a shell in order.

pub mod connect;
pub mod doctor;
pub mod init;
pub mod mcp_client;
pub mod pages;
