//! What the verbs write to: a screen, a pager, a file.

pub mod output;
pub mod pager;
pub mod screen;
