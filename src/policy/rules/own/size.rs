//! `kind = "size"`: a change is larger than wanted.

use serde_json::{Value, json};

use super::kind::{Finding, Holds, Kind};
use crate::policy::file::section::Section;
use crate::policy::findings::evidence::{files, matching};
use crate::policy::rules::rule::{Facts, ReadsLines};

#[derive(Debug)]
pub(super) struct Size {
    max_lines: Option<u64>,
    max_files: Option<u64>,
    max_file_lines: Option<u64>,
}

impl Size {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let size = Self {
            max_lines: section.count("max_lines"),
            max_files: section.count("max_files"),
            max_file_lines: section.count("max_file_lines"),
        };
        if size.max_lines.or(size.max_files).or(size.max_file_lines).is_none() {
            section.refuse(
                "max_lines",
                "`max_lines`, `max_files` and `max_file_lines` are all missing, so the rule \
                 could never hold. Give one of them, or write `enabled = false`.",
            );
        }
        size
    }
}

impl Kind for Size {
    fn holds_when(&self) -> &'static str {
        "the change is larger than `max_lines`, `max_files` or, in one file, `max_file_lines`"
    }

    fn config(&self) -> Value {
        json!({
            "max_lines": self.max_lines,
            "max_files": self.max_files,
            "max_file_lines": self.max_file_lines,
        })
    }

    fn lines(&self) -> Option<&dyn ReadsLines> {
        Some(self)
    }

    fn find(&self, facts: &Facts<'_>) -> Option<Finding> {
        let subject = facts.subject;
        let lines = subject.insertions.saturating_add(subject.deletions);
        let file_count = subject.files_changed.len() as u64;
        let of = |path: &str| facts.file_lines.get(path).copied().unwrap_or_default();
        let largest = subject.files_changed.iter().map(|path| of(path)).max().unwrap_or_default();
        let over = |max: Option<u64>, actual: u64| max.filter(|max| actual > *max);

        let mut counts = Vec::new();
        let mut clauses = Vec::new();
        if let Some(max) = over(self.max_lines, lines) {
            counts.push(lines);
            clauses.push(format!("{lines} line(s) changed, more than {max}"));
        }
        if let Some(max) = over(self.max_files, file_count) {
            counts.push(file_count);
            clauses.push(format!("{file_count} file(s) changed, more than {max}"));
        }
        let over_lines = over(self.max_file_lines, largest);
        if let Some(max) = over_lines {
            counts.push(largest);
            clauses.push(format!("{largest} line(s) changed in one file, more than {max}"));
        }
        // The files that a limit of their own is exceeded in, or all where it is the change's.
        let is_named = |path: &str| {
            counts.len() > usize::from(over_lines.is_some())
                || over_lines.is_some_and(|max| of(path) > max)
        };
        let named = matching(subject.files_changed, is_named);
        let mut evidence = json!({
            "lines_changed": lines,
            "files_changed": file_count,
            "largest_file_lines": self.max_file_lines.map(|_| largest),
        });
        if let (Value::Object(evidence), Value::Object(files)) = (&mut evidence, files(&named)) {
            evidence.extend(files);
        }
        Some(Finding {
            holds: if counts.is_empty() { Holds::No } else { Holds::Yes },
            count: counts.first().copied().unwrap_or_default(),
            files_total: named.total(),
            files: named.kept().to_vec(),
            message: match clauses.is_empty() {
                true => "The change is within the limits.".to_owned(),
                false => format!("{}.", clauses.join("; ")),
            },
            evidence,
        })
    }
}

impl ReadsLines for Size {
    fn counts_lines(&self) -> bool {
        self.max_file_lines.is_some()
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::value::PolicyResultStatus::{Passed, Warning};
    use crate::policy::testing::change;

    #[test]
    fn each_limit_holds_above_it() {
        let result = |key: &str, files: &[&str], size: (u64, u64)| {
            let mut change = change(files).size(size.0, size.1);
            for number in 0..size.0 {
                change = change.added(files[0], number + 1, "x");
            }
            change.result(&format!("[size]\nkind = \"size\"\n{key}")).unwrap()
        };
        for (key, files, size, expected) in [
            ("max_lines = 3", &["a"][..], (2, 1), (Passed, "The change is within the limits.")),
            ("max_lines = 3", &["a"], (2, 2), (Warning, "4 line(s) changed, more than 3.")),
            ("max_files = 2", &["a", "b"], (1, 0), (Passed, "The change is within the limits.")),
            ("max_files = 1", &["a", "b"], (1, 0), (Warning, "2 file(s) changed, more than 1.")),
            ("max_file_lines = 2", &["a"], (2, 0), (Passed, "The change is within the limits.")),
            (
                "max_file_lines = 2",
                &["a", "b"],
                (3, 0),
                (Warning, "3 line(s) changed in one file, more than 2."),
            ),
            (
                "max_lines = 0\nmax_files = 0",
                &["a"],
                (1, 0),
                (Warning, "1 line(s) changed, more than 0; 1 file(s) changed, more than 0."),
            ),
        ] {
            assert_eq!(result(key, files, size), (expected.0, expected.1.to_owned()), "{key}");
        }
    }

    #[test]
    fn lines_of_a_file_count_added_and_removed_ones_wherever_they_come() {
        let file = "[size]\nkind = \"size\"\nmax_file_lines = 2\nmessage = \"{count} in {files}\"";
        let changed = change(&["a", "b"])
            .added("a", 1, "x")
            .added("b", 1, "x")
            .removed("a", 1, "x")
            .removed("a", 2, "x");
        assert_eq!(changed.result(file), Some((Warning, "3 in a".to_owned())));
    }
}
