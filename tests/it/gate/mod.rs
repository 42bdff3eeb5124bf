//! The human gate, and who may pass it.

mod lying;
pub mod questions;
mod roles;
