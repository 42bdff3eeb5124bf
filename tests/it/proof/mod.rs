//! A record that proves itself, and a server that touches nothing else.

mod export;
#[cfg(target_os = "linux")]
mod system_calls;
mod tampering;
pub mod threat_model;
mod vouching;
