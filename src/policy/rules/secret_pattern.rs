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
                "content_patterns",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::value::PolicyResultStatus::{self, Blocked, Passed, Warning};
    use crate::policy::testing::{Change, change, parsed};

    const DEFAULT: &str = "[secret_pattern_detection]";

    fn result(change: &Change) -> (PolicyResultStatus, String) {
        change.result(DEFAULT).unwrap()
    }

    #[test]
    fn an_added_line_with_a_pattern_blocks() {
        for text in [
            "AWS_SECRET_ACCESS_KEY: abc",
            "export aws_secret_access_key=abc",
            "MY_PRIVATE_KEY_PATH",
            "  Password=hunter2",
            "curl 'https://host/?API_KEY=abc'",
        ] {
            assert_eq!(
                result(&change(&["a.py"]).added("a.py", 1, text)),
                (Blocked, "1 added line(s) with secret patterns — review required.".to_owned()),
                "{text}"
            );
        }
        for text in ["password: x", "password =x", "PRIVATE KEY", "apikey=1", ""] {
            assert_eq!(
                result(&change(&["a.py"]).added("a.py", 1, text)),
                (Passed, "No secret patterns detected.".to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn the_encoding_and_the_length_of_a_line_do_not_matter() {
        let latin1 = b"\xfcber = \xe9; password=x\r\n";
        assert_eq!(result(&change(&[]).added("a.py", 1, latin1)).0, Blocked);
        let long = [&b"x".repeat(3_000_000)[..], b"api_key="].concat();
        assert_eq!(result(&change(&[]).added("min.js", 1, long)).0, Blocked);
    }

    #[test]
    fn a_removed_line_does_not_count() {
        assert_eq!(result(&change(&[]).removed("a.py", 1, "password=x")).0, Passed);
    }

    #[test]
    fn a_file_pattern_warns() {
        for path in [".env", "config/.ENV.production", "src/app.environment.ts"] {
            assert_eq!(
                result(&change(&[path])),
                (
                    Warning,
                    "1 secret-bearing file(s) modified — check for secrets by hand.".to_owned()
                ),
                "{path}"
            );
        }
        assert_eq!(result(&change(&["env/x.py", "environment.ts"])).0, Passed);
        assert_eq!(
            result(&change(&[".env"]).added(".env", 1, "password=x").added("b", 2, "api_key=")),
            (
                Blocked,
                "2 added line(s) with secret patterns, 1 secret-bearing file(s) modified — \
                 review required."
                    .to_owned()
            )
        );
    }

    #[test]
    fn what_could_not_be_scanned_never_passes() {
        assert_eq!(
            result(&change(&["a.bin"]).not_scanned(Some("a.bin"), "too large")),
            (
                Warning,
                "1 part(s) of the change not scanned — check for secrets by hand.".to_owned()
            )
        );
        assert_eq!(result(&change(&[]).not_scanned(None, "the objects are missing")).0, Warning);
        let both = change(&[]).added("a", 1, "password=").not_scanned(None, "too large");
        assert_eq!(result(&both).0, Blocked);
    }

    #[test]
    fn the_evidence_tells_where_and_never_what() {
        let change = change(&[".env", "a.py"])
            .added("a.py", 7, "PASSWORD=hunter2 api_key=hunter3")
            .not_scanned(Some("b.bin"), "too large");
        let (_, message, evidence) = change.verdict(DEFAULT).unwrap();
        assert_eq!(
            evidence,
            json!({
                "lines": [{ "path": "a.py", "line": 7, "patterns": ["password=", "api_key="] }],
                "lines_total": 1,
                "files": [{ "path": ".env", "patterns": [".env"] }],
                "files_total": 1,
                "not_scanned": [{ "path": "b.bin", "reason": "too large" }],
                "not_scanned_total": 1,
            })
        );
        assert!(!format!("{message}{evidence}").contains("hunter"));
    }

    #[test]
    fn the_evidence_is_bounded() {
        let mut flood = change(&[]);
        for number in 1..=1000 {
            flood = flood.added("a.py", number, "password=");
        }
        let (_, message, evidence) = flood.verdict(DEFAULT).unwrap();
        assert_eq!(message, "1000 added line(s) with secret patterns — review required.");
        assert_eq!(evidence["lines"].as_array().map(Vec::len), Some(100));
        assert_eq!(evidence["lines_total"], 1000);
    }

    #[test]
    fn lines_are_needed_only_for_content_patterns() {
        let needs_lines = |file: &str| {
            let set = parsed(file);
            let subject = crate::policy::evaluation::Subject {
                risk_level: crate::domain::value::RiskLevel::Low,
                files_changed: &[],
                insertions: 0,
                deletions: 0,
            };
            set.evaluate(subject).needs_lines()
        };
        assert!(needs_lines(DEFAULT));
        assert!(!needs_lines("[secret_pattern_detection]\ncontent_patterns = []"));
        assert!(!needs_lines("[secret_pattern_detection]\nenabled = false"));
        assert!(!needs_lines("[migration_requires_review]"));
    }
}
