//! What a client sees on the wire, whatever it sends.

mod fixtures;
mod interruptions;
mod schemas;
mod wire;
