//! What becomes of a match: a placeholder, a line that a comment excuses, or evidence.

pub(super) mod evidence;
pub(super) mod excuses;
pub(super) mod extent;
pub(super) mod placeholders;
