//! What is judged: a decision and its change.

use crate::domain::value::{AgentType, RiskLevel};

/// What is judged: a decision's risk and author, and its latest git change.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The decision's risk level.
    pub risk_level: RiskLevel,
    /// Who decides; `None` outside a decision.
    pub author: Option<Author<'a>>,
    /// Old and new paths, with `/` between their segments.
    pub files_changed: &'a [String],
    /// Lines added.
    pub insertions: u64,
    /// Lines removed.
    pub deletions: u64,
}

/// The agent that a decision is of.
#[derive(Debug, Clone, Copy)]
pub struct Author<'a> {
    /// As it stands on the record.
    pub name: &'a str,
    /// Which coding agent it is, or a person.
    pub kind: AgentType,
}

/// A changed line.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// The file.
    pub path: &'a str,
    /// Its number from 1, in the new file if it was added, else in the old one.
    pub number: u64,
    /// Added, else removed.
    pub added: bool,
    /// Whether git takes the content for binary: it is searched, and counts no line.
    pub binary: bool,
    /// Its bytes, in any encoding, whole. Whether they end in the line break does not matter.
    pub text: &'a [u8],
}
