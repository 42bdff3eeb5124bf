//! Policies and what they find.

mod runs;
mod secrets;
