//! What the kinds of rules of one's own have in common.

use std::fmt;

use serde_json::Value;

use crate::policy::rules::rule::{Facts, ReadsLines};

/// What a kind finds in a change.
pub(super) trait Kind: fmt::Debug + Send + Sync {
    /// When it holds, to follow "Blocks when".
    fn holds_when(&self) -> &'static str;

    /// Its keys and the values in effect.
    fn config(&self) -> Value;

    /// As [`Rule::lines`](crate::policy::rules::rule::Rule::lines).
    fn lines(&self) -> Option<&dyn ReadsLines> {
        None
    }

    /// What it finds; `None` where it does not apply.
    fn find(&self, facts: &Facts<'_>) -> Option<Finding>;
}

/// What a kind found.
#[derive(Debug)]
pub(super) struct Finding {
    /// Whether the rule holds.
    pub holds: Holds,
    /// What `{count}` stands for.
    pub count: u64,
    /// What `{files}` stands for: the first of them, and how many there are.
    pub files: Vec<String>,
    pub files_total: u64,
    /// What is said unless the rule has a `message`; it may use `{count}` and `{files}`.
    pub message: String,
    pub evidence: Value,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Yes,
    No,
    /// A part of the change could not be looked at.
    Unknown,
}
