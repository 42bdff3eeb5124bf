//! The built binary, driven from outside.

mod wire;
