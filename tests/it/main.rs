//! Drives the built binary as its clients do: JSON-RPC lines over stdin and stdout.
//!
//! Most cases are files under `tests/fixtures/` (its README gives the format); the modules
//! here hold what a file cannot say.

#![allow(clippy::disallowed_methods, reason = "the suite starts git and the server")]

mod cli;
mod concurrency;
mod connect;
#[cfg(unix)]
mod disk;
mod documents;
mod export;
mod faults;
mod fixtures;
mod gate;
mod interruptions;
mod ledger;
mod looking;
mod lying;
mod pages;
mod policy;
mod roles;
mod schemas;
mod secrets;
mod support;
#[cfg(target_os = "linux")]
mod system_calls;
mod tampering;
mod threat_model;
mod torture;
mod vouching;
mod wire;
