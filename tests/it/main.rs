//! Drives the built binary as its clients do: JSON-RPC lines over stdin and stdout.
//!
//! Most cases are files under `tests/fixtures/` (its README gives the format); the modules
//! here hold what a file cannot say.

#![allow(clippy::disallowed_methods, reason = "the suite starts git and the server")]

mod company;
mod gate;
mod ledger;
mod policies;
mod proof;
mod protocol;
mod support;
mod terminal;
