//! Writing: the transaction of a call, its events, and what was sent before.

pub mod write;
