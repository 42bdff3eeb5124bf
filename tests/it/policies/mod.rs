//! Policies and what they find.

mod masking;
mod runs;
mod secrets;
