//! The human gate, and who may pass it.

mod access;
mod forms;
pub mod lying;
pub mod questions;
mod roles;
mod vouched;
