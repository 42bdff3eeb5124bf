//! How long work is told to end early.

/// Asked between units of work (a file, a thousand lines); `true` means that the call was
/// cancelled, and the work ends with a fault.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);
