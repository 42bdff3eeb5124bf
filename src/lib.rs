//! govforge: a local ledger that keeps AI coding agents accountable, served over MCP.
//!
//! The modules in reading order; dependencies point from the later ones to the earlier.

pub mod error;
pub mod logging;

pub mod domain;

pub mod git;
pub mod policy;
pub mod store;

pub mod service;

pub mod mcp;
