//! The human gate, and who may pass it.

mod access;
pub mod lying;
pub mod questions;
mod roles;
