//! The extractor against repositories that git made, with git as the judge.

mod histories;
mod kinds;
mod parity;
mod revisions;
mod scanning;
mod support;
mod unchanged;
