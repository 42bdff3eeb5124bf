//! The endpoint of the companies, over real HTTP.

mod fixtures;
mod hostile;
mod permissions;
mod record;
