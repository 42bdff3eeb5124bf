//! The record as agents and people read it.

pub mod context;
pub mod history;
pub mod named;
pub mod overview;
pub mod resources;
