//! A small builder for the tests of the rules: a change, and what a policy file says of it.

use serde_json::Value;

use super::{Author, Line, Mistake, PolicySet, Subject, Verdict};
use crate::domain::names::agent::infer_type;
use crate::domain::value::{PolicyResultStatus, RiskLevel};

/// A change of medium risk, empty at first.
pub(super) struct Change {
    risk: RiskLevel,
    author: Option<String>,
    files: Vec<String>,
    lines: Vec<(String, u64, bool, Vec<u8>)>,
    size: (u64, u64),
    unread: Vec<(Option<String>, String)>,
}

/// The change of the files `paths`.
pub(super) fn change(paths: &[&str]) -> Change {
    Change {
        risk: RiskLevel::Medium,
        author: None,
        files: paths.iter().map(|&path| path.to_owned()).collect(),
        lines: Vec::new(),
        size: (0, 0),
        unread: Vec::new(),
    }
}

impl Change {
    pub(super) fn risk(mut self, risk: RiskLevel) -> Self {
        self.risk = risk;
        self
    }

    pub(super) fn by(mut self, author: &str) -> Self {
        self.author = Some(author.to_owned());
        self
    }

    pub(super) fn size(mut self, insertions: u64, deletions: u64) -> Self {
        self.size = (insertions, deletions);
        self
    }

    pub(super) fn added(mut self, path: &str, number: u64, text: impl AsRef<[u8]>) -> Self {
        self.lines.push((path.to_owned(), number, true, text.as_ref().to_owned()));
        self
    }

    pub(super) fn removed(mut self, path: &str, number: u64, text: &str) -> Self {
        self.lines.push((path.to_owned(), number, false, text.into()));
        self
    }

    pub(super) fn not_scanned(mut self, path: Option<&str>, reason: &str) -> Self {
        self.unread.push((path.map(str::to_owned), reason.to_owned()));
        self
    }

    /// The verdicts of a policy set.
    pub(super) fn judged_by(&self, set: &PolicySet) -> Vec<Verdict> {
        let mut evaluation = set.evaluate(Subject {
            risk_level: self.risk,
            author: self.author.as_deref().map(|name| Author { name, kind: infer_type(name) }),
            files_changed: &self.files,
            insertions: self.size.0,
            deletions: self.size.1,
        });
        for (path, number, added, text) in &self.lines {
            let (number, added) = (*number, *added);
            evaluation.line(Line { path, number, added, binary: false, text });
        }
        for (path, reason) in &self.unread {
            evaluation.not_scanned(path.as_deref(), reason);
        }
        evaluation.finish()
    }

    /// The only verdict of a policy file with one section.
    pub(super) fn verdict(&self, file: &str) -> Option<(PolicyResultStatus, String, Value)> {
        let mut verdicts = self.judged_by(&parsed(file));
        assert!(verdicts.len() <= 1, "one section, one verdict");
        verdicts.pop().map(|verdict| (verdict.status, verdict.message, verdict.evidence))
    }

    /// Its status and message.
    pub(super) fn result(&self, file: &str) -> Option<(PolicyResultStatus, String)> {
        self.verdict(file).map(|(status, message, _)| (status, message))
    }
}

/// A policy file that is expected to be valid.
pub(super) fn parsed(file: &str) -> PolicySet {
    PolicySet::parse(file.as_bytes()).unwrap_or_else(|mistakes| {
        let told: Vec<String> = mistakes.iter().map(Mistake::to_string).collect();
        panic!("{}", told.join("\n"))
    })
}
