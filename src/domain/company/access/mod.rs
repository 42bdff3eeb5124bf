//! Who may do what in a company: which actor may call a tool ([`tools`]), how far somebody sees
//! ([`standing`]), and the one table of what a role may do ([`rules`]).

pub mod rules;
pub mod standing;
pub mod tools;
