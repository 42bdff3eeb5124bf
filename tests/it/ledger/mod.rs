//! The ledger: what is stored, by how many at once, and what faults do to it.

mod concurrency;
#[cfg(unix)]
mod disk;
mod faults;
mod missing;
mod originals;
mod stored;
mod torture;
