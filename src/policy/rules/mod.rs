//! The rules, one file for each.

pub(super) mod built_in;
pub(super) mod own;
pub(super) mod rule;
