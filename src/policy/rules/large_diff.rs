//! `large_diff_requires_human_approval`: a change too large to review well goes to a person.

use serde_json::{Value, json};

use super::{Facts, Judgement, Rule};
use crate::policy::section::Section;

const MAX_LINES_CHANGED: u64 = 500;

#[derive(Debug)]
pub(super) struct LargeDiff {
    max_lines_changed: u64,
}

impl LargeDiff {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        Self { max_lines_changed: section.count("max_lines_changed", MAX_LINES_CHANGED) }
    }
}

impl Rule for LargeDiff {
    fn description(&self) -> &str {
        "Blocks when more than `max_lines_changed` lines are added and removed together: such a \
         change is approved by a person."
    }

    fn config(&self) -> Value {
        json!({ "max_lines_changed": self.max_lines_changed })
    }

    fn judge(&self, facts: &Facts<'_>) -> Option<Judgement> {
        let subject = facts.subject;
        let lines = subject.insertions.saturating_add(subject.deletions);
        let max = self.max_lines_changed;
        let evidence = json!({
            "insertions": subject.insertions,
            "deletions": subject.deletions,
            "lines_changed": lines,
            "max_lines_changed": max,
        });
        Some(if lines > max {
            Judgement::blocked(
                format!("{lines} line(s) changed, more than {max} — human approval required."),
                evidence,
            )
        } else {
            Judgement::passed(format!("{lines} line(s) changed, at most {max} allowed."), evidence)
        })
    }
}
