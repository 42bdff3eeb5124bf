//! What a rule is: what it reads, and how it judges.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use serde_json::Value;

use crate::domain::value::PolicyResultStatus;
use crate::policy::file::section::Section;
use crate::policy::findings::evidence::{Bounded, Excused, LineHit, Unread};
use crate::policy::findings::extent::Secret;
use crate::policy::patterns::content::{Sought, Weighed};
use crate::policy::subject::Subject;

/// Reads the keys of a section that are the rule's own.
pub(in crate::policy) type Reader = fn(&mut Section<'_>) -> Box<dyn Rule>;

/// What a policy checks.
pub(in crate::policy) trait Rule: fmt::Debug + Send + Sync {
    /// A sentence or two for a reader of the policy list.
    fn description(&self) -> &str;

    /// An object of its keys and the values in effect.
    fn config(&self) -> Value;

    /// What it reads in changed lines, if it reads any.
    fn lines(&self) -> Option<&dyn ReadsLines> {
        None
    }

    /// Its judgement of a change, or `None` where it does not apply.
    fn judge(&self, facts: &Facts<'_>) -> Option<Judgement>;
}

/// What a rule reads in changed lines.
pub(in crate::policy) trait ReadsLines {
    /// What it wants to be found in them.
    fn sought(&self) -> &[Sought] {
        &[]
    }

    /// Whether it looks at lines that were `added`, or removed, in a file.
    fn reads(&self, _path: &str, added: bool) -> bool {
        added
    }

    /// Which of the patterns found in a line of a file count, by their indices in
    /// [`ReadsLines::sought`].
    fn weigh(&self, _path: &str, _text: &[u8], found: Vec<usize>) -> Weighed {
        Weighed { counts: found, excused: Vec::new() }
    }

    /// The secrets that a pattern finds in a line, which is not to be shown with them.
    fn secrets(&self, _pattern: usize, _text: &[u8]) -> Vec<Secret> {
        Vec::new()
    }

    /// Whether it judges by how many lines changed in each file.
    fn counts_lines(&self) -> bool {
        false
    }
}

/// What a rule judges by.
#[derive(Debug)]
pub(in crate::policy) struct Facts<'a> {
    pub subject: &'a Subject<'a>,
    /// The lines that hold one of the rule's own content patterns.
    pub lines: &'a Bounded<LineHit>,
    /// Which of them these lines hold, by their indices in [`ReadsLines::sought`].
    pub matched: &'a BTreeSet<usize>,
    /// The lines with patterns that are no findings.
    pub excused: &'a Bounded<Excused>,
    /// How many lines changed in each file, if any rule counts them.
    pub file_lines: &'a HashMap<String, u64>,
    /// The parts of the change whose lines could not be read.
    pub unread: &'a Bounded<Unread>,
}

/// A verdict before it carries the policy's name.
#[derive(Debug)]
pub(in crate::policy) struct Judgement {
    pub status: PolicyResultStatus,
    pub message: String,
    pub evidence: Value,
}

impl Judgement {
    pub(in crate::policy) fn passed(message: impl Into<String>, evidence: Value) -> Self {
        Self { status: PolicyResultStatus::Passed, message: message.into(), evidence }
    }

    pub(in crate::policy) fn warning(message: impl Into<String>, evidence: Value) -> Self {
        Self { status: PolicyResultStatus::Warning, message: message.into(), evidence }
    }

    pub(in crate::policy) fn blocked(message: impl Into<String>, evidence: Value) -> Self {
        Self { status: PolicyResultStatus::Blocked, message: message.into(), evidence }
    }
}
