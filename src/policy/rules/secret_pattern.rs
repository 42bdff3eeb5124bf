//! `secret_pattern_detection`: no secret enters the history.

use serde_json::{Value, json};

use super::{Facts, Judgement, Rule};
use crate::policy::evidence::{LineHit, PathHit, Unread};
use crate::policy::path_patterns::PathPatterns;
use crate::policy::section::Section;

const CONTENT_PATTERNS: [&str; 4] =
    ["AWS_SECRET_ACCESS_KEY", "PRIVATE_KEY", "password=", "api_key="];
const FILE_PATTERNS: [&str; 1] = [".env"];

#[derive(Debug)]
pub(super) struct SecretPattern {
    content_patterns: Vec<String>,
    file_patterns: PathPatterns,
}

impl SecretPattern {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let content_patterns = section.patterns("content_patterns", &CONTENT_PATTERNS);
        let file_patterns = section.patterns("file_patterns", &FILE_PATTERNS);
        if content_patterns.is_empty() && file_patterns.is_empty() {
            section.refuse(
                "`content_patterns` and `file_patterns` are both empty, so the policy could \
                 never hold. Name patterns, or write `enabled = false`.",
            );
        }
        Self { content_patterns, file_patterns: PathPatterns::new(file_patterns) }
    }
}

impl Rule for SecretPattern {
    fn description(&self) -> &str {
        "Blocks when an added line contains one of `content_patterns`, in any case; warns when a \
         changed path contains one of `file_patterns`, or when a part of the change could not \
         be scanned."
    }

    fn config(&self) -> Value {
        json!({
            "content_patterns": self.content_patterns,
            "file_patterns": self.file_patterns.as_slice(),
        })
    }

    fn content_patterns(&self) -> &[String] {
        &self.content_patterns
    }

    fn judge(&self, facts: &Facts<'_>) -> Option<Judgement> {
        let files = self.file_patterns.matching(facts.subject.files_changed);
        let (lines, unread) = (facts.lines, facts.unread);
        let evidence = json!({
            "lines": lines.kept().iter().map(LineHit::json).collect::<Vec<_>>(),
            "lines_total": lines.total(),
            "files": files.kept().iter().map(PathHit::json).collect::<Vec<_>>(),
            "files_total": files.total(),
            "not_scanned": unread.kept().iter().map(Unread::json).collect::<Vec<_>>(),
            "not_scanned_total": unread.total(),
        });
        let mut clauses = Vec::new();
        if lines.total() > 0 {
            clauses.push(format!("{} added line(s) with secret patterns", lines.total()));
        }
        if files.total() > 0 {
            clauses.push(format!("{} secret-bearing file(s) modified", files.total()));
        }
        if unread.total() > 0 {
            clauses.push(format!("{} part(s) of the change not scanned", unread.total()));
        }
        let found = clauses.join(", ");
        Some(if lines.total() > 0 {
            Judgement::blocked(format!("{found} — review required."), evidence)
        } else if !found.is_empty() {
            Judgement::warning(format!("{found} — check for secrets by hand."), evidence)
        } else {
            Judgement::passed("No secret patterns detected.", evidence)
        })
    }
}
