//! What administers a company: making it, and who and what is in it.

pub mod agents;
pub mod companies;
pub mod keys;
pub mod people;
pub mod projects;
