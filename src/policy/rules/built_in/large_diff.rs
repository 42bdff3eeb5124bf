//! `large_diff_requires_human_approval`: a change too large to review well goes to a person.

use serde_json::{Value, json};

use crate::policy::file::section::Section;
use crate::policy::rules::rule::{Facts, Judgement, Rule};

const MAX_LINES_CHANGED: u64 = 500;

#[derive(Debug)]
pub(super) struct LargeDiff {
    max_lines_changed: u64,
}

impl LargeDiff {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        Self { max_lines_changed: section.count("max_lines_changed").unwrap_or(MAX_LINES_CHANGED) }
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
            "total_lines": lines,
            "max_lines": max,
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::domain::value::PolicyResultStatus::{Blocked, Passed};
    use crate::policy::testing::change;

    #[test]
    fn more_lines_than_the_limit_block() {
        let default = "[large_diff_requires_human_approval]";
        let zero = "[large_diff_requires_human_approval]\nmax_lines_changed = 0";
        for (file, insertions, deletions, expected) in [
            (default, 0, 0, (Passed, "0 line(s) changed, at most 500 allowed.")),
            (default, 250, 250, (Passed, "500 line(s) changed, at most 500 allowed.")),
            (
                default,
                500,
                1,
                (Blocked, "501 line(s) changed, more than 500 — human approval required."),
            ),
            (zero, 0, 0, (Passed, "0 line(s) changed, at most 0 allowed.")),
            (zero, 0, 1, (Blocked, "1 line(s) changed, more than 0 — human approval required.")),
        ] {
            let (status, message) = change(&[]).size(insertions, deletions).result(file).unwrap();
            assert_eq!((status, &*message), expected, "+{insertions} -{deletions}");
        }
    }

    #[test]
    fn counts_beyond_any_repository_do_not_overflow() {
        let (status, ..) = change(&[])
            .size(u64::MAX, u64::MAX)
            .verdict("[large_diff_requires_human_approval]")
            .unwrap();
        assert_eq!(status, Blocked);
    }

    #[test]
    fn the_evidence_gives_the_counts() {
        let (_, _, evidence) =
            change(&[]).size(3, 4).verdict("[large_diff_requires_human_approval]").unwrap();
        assert_eq!(
            evidence,
            json!({
                "insertions": 3, "deletions": 4, "lines_changed": 7, "max_lines_changed": 500,
                "total_lines": 7, "max_lines": 500,
            })
        );
    }
}
