//! Arguments, logging to stderr, and one match into serving or a verb.

fn main() {}
