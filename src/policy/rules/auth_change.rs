//! `auth_change_requires_review`: changes near authentication are reviewed.

use serde_json::{Value, json};

use super::{Facts, Judgement, Rule};
use crate::policy::evidence::files_with_patterns;
use crate::policy::path_patterns::PathPatterns;
use crate::policy::section::Section;

const PATTERNS: [&str; 5] = ["auth", "session", "jwt", "permission", "middleware"];

#[derive(Debug)]
pub(super) struct AuthChange {
    patterns: PathPatterns,
}

impl AuthChange {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let patterns = section.patterns("patterns", &PATTERNS);
        if patterns.is_empty() {
            section.refuse(
                "`patterns` is empty, so the policy could never hold. Name patterns, or write \
                 `enabled = false`.",
            );
        }
        Self { patterns: PathPatterns::new(patterns) }
    }
}

impl Rule for AuthChange {
    fn description(&self) -> &str {
        "Blocks when a changed path contains one of `patterns`, in any case: such a change is \
         reviewed."
    }

    fn config(&self) -> Value {
        json!({ "patterns": self.patterns.as_slice() })
    }

    fn judge(&self, facts: &Facts<'_>) -> Option<Judgement> {
        let hits = self.patterns.matching(facts.subject.files_changed);
        let evidence = files_with_patterns(&hits);
        Some(match hits.total() {
            0 => Judgement::passed("No auth-adjacent files modified.", evidence),
            files => Judgement::blocked(
                format!("{files} auth-adjacent file(s) modified — review required."),
                evidence,
            ),
        })
    }
}
