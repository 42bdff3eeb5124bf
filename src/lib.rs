//! govforge: a local ledger that keeps AI coding agents accountable, served over MCP.
//!
//! The modules in reading order; dependencies point from the later ones to the earlier.

/// Refusals and faults: the one error of the program.
pub mod error;
/// The log, which goes to stderr.
pub mod logging;

/// Values, identifiers, entities and transitions. Pure.
pub mod domain;

/// Reads a commit's change from a repository.
pub mod git;
/// Judges a change by the policies.
pub mod policy;
/// The ledger file and every SQL statement.
pub mod store;

/// The use cases, one method each.
pub mod service;

/// What an agent talks to.
pub mod mcp;

/// What a person types.
pub mod cli;
