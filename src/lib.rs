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
/// The database and every SQL statement.
pub mod store;

/// The use cases of the governance ledger, one method each.
pub mod ledger;

/// The use cases of the companies.
pub mod company;

/// What every surface that speaks MCP shares.
pub mod mcp;
/// What an agent talks to over stdin and stdout.
pub mod stdio;

/// The endpoint of the companies, over HTTP.
pub mod http;

/// What a person types.
pub mod cli;
