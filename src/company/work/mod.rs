//! The work of a company: its tasks.

mod people;
pub mod tasks;
pub mod view;
