//! A policy file: its bytes, its sections, and what is wrong in it.

pub(super) mod mistake;
pub(super) mod raw;
pub(super) mod section;
