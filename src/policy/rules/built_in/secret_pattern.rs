//! `secret_pattern_detection`: no secret enters the history.

use serde_json::{Value, json};

use regex::bytes::{Captures, Regex};

use crate::policy::file::section::{Named, Section};
use crate::policy::findings::evidence::{LineHit, PathHit, Unread, listed};
use crate::policy::findings::{excuses, placeholders};
use crate::policy::patterns::content::{How, Sought, Weighed};
use crate::policy::patterns::path_patterns::PathPatterns;
use crate::policy::rules::rule::{Facts, Judgement, ReadsLines, Rule};

const CONTENT_PATTERNS: [&str; 4] =
    ["AWS_SECRET_ACCESS_KEY", "PRIVATE_KEY", "password=", "api_key="];
const FILE_PATTERNS: [&str; 1] = [".env"];
/// So many placeholders of one pattern are passed over in a line; after that, what it finds
/// counts, so that a long line cannot make the search slow.
const MOST_PLACEHOLDERS: usize = 256;

#[derive(Debug)]
pub(super) struct SecretPattern {
    content_patterns: Vec<String>,
    content_regexes: Value,
    file_patterns: PathPatterns,
    /// The content patterns first, then the expressions.
    sought: Vec<Sought>,
    /// For each content pattern that ends in `=`, where it stands in a line.
    assignments: Vec<Option<Regex>>,
}

impl SecretPattern {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let content_patterns = section.patterns("content_patterns", &CONTENT_PATTERNS);
        let file_patterns = section.patterns("file_patterns", &FILE_PATTERNS);
        let regexes = section.named_regexes("content_regexes");
        if content_patterns.is_empty() && file_patterns.is_empty() && regexes.is_empty() {
            section.refuse(
                "content_patterns",
                "`content_patterns` and `file_patterns` are both empty, so the policy could \
                 never hold. Name patterns, or write `enabled = false`.",
            );
        }
        let assignments = content_patterns.iter().map(|text| assignment(text)).collect();
        let content_regexes =
            regexes.iter().map(|Named { name, text, .. }| (name.clone(), json!(text))).collect();
        let literal = |name: &String| Sought { name: name.clone(), how: How::Literal };
        let regex = |named: Named| Sought { name: named.name, how: How::Regex(named.pattern) };
        Self {
            sought: content_patterns
                .iter()
                .map(literal)
                .chain(regexes.into_iter().map(regex))
                .collect(),
            content_patterns,
            content_regexes: Value::Object(content_regexes),
            file_patterns: PathPatterns::new(file_patterns),
            assignments,
        }
    }

    /// Whether a pattern found in a line found more than placeholders.
    fn is_secret(&self, pattern: usize, text: &[u8]) -> bool {
        match &self.sought[pattern].how {
            How::Literal => self.assignments[pattern].as_ref().is_none_or(|assignment| {
                let mut places = assignment.find_iter(text).take(MOST_PLACEHOLDERS + 1).enumerate();
                places.any(|(count, place)| {
                    count == MOST_PLACEHOLDERS
                        || !placeholders::follows(&text[place.end()..], text.len())
                })
            }),
            How::Regex(pattern) => {
                let found = pattern.regex.captures_iter(text).take(MOST_PLACEHOLDERS + 1);
                found
                    .enumerate()
                    .any(|(count, found)| count == MOST_PLACEHOLDERS || !is_placeholder(&found))
            }
        }
    }
}

/// Finds a content pattern that ends in `=`, so that what follows can be looked at.
fn assignment(pattern: &str) -> Option<Regex> {
    let pattern = pattern.ends_with('=').then(|| regex::escape(pattern))?;
    // One that is too large is never passed over.
    Regex::new(&format!("(?i-u:{pattern})")).ok()
}

/// Whether what an expression found is none: its group `secret`, else all of it. With the
/// groups `user` and `host` it is a URL's.
fn is_placeholder(found: &Captures<'_>) -> bool {
    let group = |name| found.name(name).map(|group| group.as_bytes());
    let all = found.get(0).map_or(&b""[..], |all| all.as_bytes());
    let secret = group("secret").unwrap_or(all);
    match (group("user"), group("host")) {
        (Some(user), Some(host)) => placeholders::is_url(user, secret, host),
        _ => placeholders::is_token(secret),
    }
}

impl Rule for SecretPattern {
    fn description(&self) -> &str {
        "Blocks when an added line contains one of `content_patterns`, in any case, or matches \
         one of `content_regexes`, except for placeholders and lines that a comment excuses; \
         warns when a changed path contains one of `file_patterns`, or when a part of the change \
         could not be scanned."
    }

    fn config(&self) -> Value {
        let mut config = json!({ "content_patterns": self.content_patterns });
        if self.content_regexes.as_object().is_some_and(|regexes| !regexes.is_empty()) {
            config["content_regexes"] = self.content_regexes.clone();
        }
        config["file_patterns"] = json!(self.file_patterns.as_slice());
        config
    }

    fn lines(&self) -> Option<&dyn ReadsLines> {
        Some(self)
    }

    fn judge(&self, facts: &Facts<'_>) -> Option<Judgement> {
        let files = self.file_patterns.matching(facts.subject.files_changed);
        let (lines, excused, unread) = (facts.lines, facts.excused, facts.unread);
        let mut evidence = json!({
            "lines": listed(lines, LineHit::json),
            "lines_total": lines.total(),
            "files": listed(&files, PathHit::json),
            "files_total": files.total(),
            "not_scanned": listed(unread, Unread::json),
            "not_scanned_total": unread.total(),
        });
        if excused.total() > 0 {
            evidence["excused"] = json!(listed(excused, LineHit::json));
            evidence["excused_total"] = json!(excused.total());
        }
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
        let by_comment = match excused.total() {
            0 => String::new(),
            lines => format!(" {lines} line(s) excused by a comment."),
        };
        Some(if lines.total() > 0 {
            Judgement::blocked(format!("{found} — review required.{by_comment}"), evidence)
        } else if !found.is_empty() {
            Judgement::warning(
                format!("{found} — check for secrets by hand.{by_comment}"),
                evidence,
            )
        } else {
            Judgement::passed(format!("No secret patterns detected.{by_comment}"), evidence)
        })
    }
}

impl ReadsLines for SecretPattern {
    fn sought(&self) -> &[Sought] {
        &self.sought
    }

    fn weigh(&self, text: &[u8], found: Vec<usize>) -> Weighed {
        let found = found.into_iter().filter(|&pattern| self.is_secret(pattern, text));
        let found: Vec<usize> = found.collect();
        if found.is_empty() {
            return Weighed::default();
        }
        let names = excuses::names(text);
        let (excused, counts) = found.into_iter().partition(|&pattern| {
            names.iter().any(|name| name.eq_ignore_ascii_case(&self.sought[pattern].name))
        });
        Weighed { counts, excused }
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
        let long = [&b"x".repeat(20_000_000)[..], b"api_key="].concat();
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
    fn a_placeholder_behind_an_assignment_is_no_secret() {
        for text in ["password=<your password>", "api_key=${API_KEY}", "PASSWORD=changeme"] {
            assert_eq!(result(&change(&[]).added("a", 1, text)).0, Passed, "{text}");
        }
        for text in [
            "password=${X} password=hunter2",
            "PRIVATE_KEY=${PRIVATE_KEY}",
            "password=${X:-hunter2}",
        ] {
            assert_eq!(result(&change(&[]).added("a", 1, text)).0, Blocked, "{text}");
        }
        let flood = "password=xxx ".repeat(MOST_PLACEHOLDERS + 1);
        assert_eq!(result(&change(&[]).added("a", 1, flood)).0, Blocked);
    }

    const REGEXES: &str = "[secret_pattern_detection]\ncontent_patterns = [\"password=\"]\n\
                           [secret_pattern_detection.content_regexes]\n\
                           zebra = '\\bzb_[0-9a-z]{8}\\b'\n\
                           ape = 'ape:(?P<secret>[0-9a-z]{8})'\n\
                           url = '//(?P<user>[a-z]*):(?P<secret>[^@]+)@(?P<host>[a-z.]+)'\n";

    #[test]
    fn expressions_find_secrets_under_their_names() {
        let found = |text: &str| {
            let verdict = change(&[]).added("a.py", 3, text).verdict(REGEXES);
            let (status, message, evidence) = verdict.unwrap();
            assert!(!format!("{message}{evidence}").contains("h4nter2x"), "{message} {evidence}");
            (status, evidence["lines"][0]["patterns"].to_string())
        };
        for (text, expected) in [
            ("zb_h4nter2x", r#"["zebra"]"#),
            ("xzb_h4nter2x", "null"),
            ("zb_xxxxxxxx", "null"),
            ("zb_xxxxxxxx zb_h4nter2x", r#"["zebra"]"#),
            ("ape:h4nter2x", r#"["ape"]"#),
            ("ape:changeme", "null"),
            ("password=zb_h4nter2x", r#"["password=","zebra"]"#),
            ("db://app:h4nter2x@db.internal", r#"["url"]"#),
            ("db://app:h4nter2x@localhost", "null"),
            ("db://app:app@db.internal", "null"),
        ] {
            let status = if expected == "null" { Passed } else { Blocked };
            assert_eq!(found(text), (status, expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_comment_excuses_a_line_and_is_counted() {
        let judged = |text: &str| change(&[]).added("a.py", 3, text).verdict(REGEXES).unwrap();
        let (status, message, evidence) = judged("zb_h4nter2x # govforge:allow zebra");
        assert_eq!(status, Passed);
        assert_eq!(message, "No secret patterns detected. 1 line(s) excused by a comment.");
        assert_eq!(
            evidence["excused"],
            json!([{ "path": "a.py", "line": 3, "patterns": ["zebra"] }])
        );
        let both = "password=h4nter2x zb_h4nter2x # govforge:allow zebra, password=";
        assert_eq!(judged(both).0, Passed);
        for text in [
            "zb_h4nter2x # govforge:allow",
            "zb_h4nter2x # govforge:allow ape",
            "zb_h4nter2x # govforge:allow zebra crossing",
            "# govforge:allow zebra: zb_h4nter2x",
            "password=h4nter2x zb_h4nter2x # govforge:allow zebra",
        ] {
            assert_eq!(judged(text).0, Blocked, "{text}");
        }
    }

    #[test]
    fn lines_are_needed_only_for_content_patterns() {
        let needs_lines = |file: &str| {
            let set = parsed(file);
            let subject = crate::policy::Subject {
                risk_level: crate::domain::value::RiskLevel::Low,
                author: None,
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
