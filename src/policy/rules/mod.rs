//! The rules, one file for each.

mod auth_change;
mod author;
mod content;
mod large_diff;
mod migration;
pub(super) mod own;
mod path;
mod requires;
mod secret_pattern;
mod size;
mod test_paths;
mod test_required;

use std::fmt;

use serde_json::Value;

use super::content::{Sought, Weighed};
use super::evaluation::{FileLines, Subject};
use super::evidence::{Bounded, LineHit, Unread};
use super::section::Section;
use crate::domain::value::PolicyResultStatus;

/// What a policy checks.
pub(super) trait Rule: fmt::Debug + Send + Sync {
    /// A sentence or two for a reader of the policy list.
    fn description(&self) -> &str;

    /// An object of its keys and the values in effect.
    fn config(&self) -> Value;

    /// What it wants to be found in changed lines.
    fn content(&self) -> &[Sought] {
        &[]
    }

    /// Whether it looks at lines that were `added`, or removed, in a file.
    fn reads(&self, _path: &str, added: bool) -> bool {
        added
    }

    /// Which of the patterns found in a line count, by their indices in [`Rule::content`].
    fn weigh(&self, _text: &[u8], found: Vec<usize>) -> Weighed {
        Weighed { counts: found, excused: Vec::new() }
    }

    /// Whether it judges by the changed lines of each file.
    fn counts_lines(&self) -> bool {
        false
    }

    /// Its judgement of a change, or `None` where it does not apply.
    fn judge(&self, facts: &Facts<'_>) -> Option<Judgement>;
}

/// What a rule judges by.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    pub subject: &'a Subject<'a>,
    /// The lines that hold one of the rule's own content patterns.
    pub lines: &'a Bounded<LineHit>,
    /// The lines whose patterns a comment excuses.
    pub excused: &'a Bounded<LineHit>,
    /// How many lines changed in each file, if any rule counts them.
    pub file_lines: &'a FileLines,
    /// The parts of the change whose lines could not be read.
    pub unread: &'a Bounded<Unread>,
}

/// A verdict before it carries the policy's name.
#[derive(Debug)]
pub(super) struct Judgement {
    pub status: PolicyResultStatus,
    pub message: String,
    pub evidence: Value,
}

impl Judgement {
    fn passed(message: impl Into<String>, evidence: Value) -> Self {
        Self { status: PolicyResultStatus::Passed, message: message.into(), evidence }
    }

    fn warning(message: impl Into<String>, evidence: Value) -> Self {
        Self { status: PolicyResultStatus::Warning, message: message.into(), evidence }
    }

    fn blocked(message: impl Into<String>, evidence: Value) -> Self {
        Self { status: PolicyResultStatus::Blocked, message: message.into(), evidence }
    }
}

/// A policy that needs no `kind`: its section's name says what it checks.
pub(super) struct BuiltIn {
    pub name: &'static str,
    /// Reads its keys; from an empty section it gets the defaults.
    pub read: Reader,
}

/// Reads the keys of a section that are the rule's own.
pub(super) type Reader = fn(&mut Section<'_>) -> Box<dyn Rule>;

/// The built-in policies, in their order of evaluation without a policy file.
pub(super) const BUILT_IN: [BuiltIn; 5] = [
    BuiltIn {
        name: "auth_change_requires_review",
        read: |section| Box::new(auth_change::AuthChange::read(section)),
    },
    BuiltIn {
        name: "secret_pattern_detection",
        read: |section| Box::new(secret_pattern::SecretPattern::read(section)),
    },
    BuiltIn {
        name: "test_required_for_high_risk",
        read: |section| Box::new(test_required::TestRequired::read(section)),
    },
    BuiltIn {
        name: "migration_requires_review",
        read: |section| Box::new(migration::Migration::read(section)),
    },
    BuiltIn {
        name: "large_diff_requires_human_approval",
        read: |section| Box::new(large_diff::LargeDiff::read(section)),
    },
];
