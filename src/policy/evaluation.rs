//! One change, judged by the active policies.

use std::collections::BTreeMap;

use serde_json::Value;

use super::PolicySet;
use super::evidence::{Bounded, LineHit, Unread};
use super::literals::Found;
use super::rules::Facts;
use crate::domain::value::{PolicyResultStatus, RiskLevel};

/// What is judged: a decision's risk and its latest git change.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The decision's risk level.
    pub risk_level: RiskLevel,
    /// Old and new paths, with `/` between their segments.
    pub files_changed: &'a [String],
    /// Lines added.
    pub insertions: u64,
    /// Lines removed.
    pub deletions: u64,
}

/// What one policy concluded.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The policy's name.
    pub policy: String,
    /// Whether the change passes.
    pub status: PolicyResultStatus,
    /// One sentence, with counts and without any path or text of the change.
    pub message: String,
    /// An object of matched paths, line numbers and names of patterns, never the matched
    /// text. Lists are bounded; each `x` comes with its `x_total`.
    pub evidence: Value,
}

/// A running evaluation: the changed lines are streamed in, then it is finished.
#[derive(Debug)]
pub struct Evaluation<'a> {
    set: &'a PolicySet,
    subject: Subject<'a>,
    lines: Vec<Bounded<LineHit>>,
    unread: Bounded<Unread>,
    found: Found,
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(set: &'a PolicySet, subject: Subject<'a>) -> Self {
        let lines = set.active.iter().map(|_| Bounded::default()).collect();
        Self { set, subject, lines, unread: Bounded::default(), found: Found::default() }
    }

    /// Whether any active policy reads the changed lines. If none does, they need not be
    /// streamed.
    pub fn needs_lines(&self) -> bool {
        !self.set.content.is_empty()
    }

    /// Takes one changed line of the file `path`: its `number` from 1 (in the new file if it
    /// was `added`, else in the old one) and its bytes, in any encoding, whole. Whether they
    /// end in the line break does not matter.
    pub fn line(&mut self, path: &str, number: u64, added: bool, text: &[u8]) {
        if !added {
            return;
        }
        self.set.content.find(text, &mut self.found);
        if self.found.indices().is_empty() {
            return;
        }
        let mut by_policy: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &literal in self.found.indices() {
            for &(policy, pattern) in &self.set.owners[literal] {
                by_policy.entry(policy).or_default().push(pattern);
            }
        }
        for (policy, mut patterns) in by_policy {
            patterns.sort_unstable();
            let names = self.set.active[policy].rule.content_patterns();
            self.lines[policy].push(|| {
                LineHit::new(path, number, patterns.iter().map(|&pattern| &names[pattern]))
            });
        }
    }

    /// Notes that a part of the change could not be read: a file, or with `None` the change
    /// as a whole. `reason` is a short phrase for a reader, such as `submodule`, without any
    /// content of the file.
    pub fn not_scanned(&mut self, path: Option<&str>, reason: &str) {
        self.unread.push(|| Unread::new(path, reason));
    }

    /// The verdicts, in order of evaluation: one of each policy that applies.
    pub fn finish(self) -> Vec<Verdict> {
        self.set
            .active
            .iter()
            .zip(&self.lines)
            .filter_map(|(active, lines)| {
                let facts = Facts { subject: &self.subject, lines, unread: &self.unread };
                let judgement = active.rule.judge(&facts)?;
                Some(Verdict {
                    policy: active.name.clone(),
                    status: judgement.status,
                    message: judgement.message,
                    evidence: judgement.evidence,
                })
            })
            .collect()
    }
}
