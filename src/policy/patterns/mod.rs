//! How texts are matched: globs, literals and regular expressions over paths and lines.

pub(super) mod content;
pub(super) mod globs;
pub(super) mod literals;
pub(super) mod path_patterns;
pub(super) mod regexes;
