//! `secret_pattern_detection`: no secret enters the history.

use serde_json::{Value, json};

use regex::bytes::Captures;

use crate::policy::file::section::{Named, Section};
use crate::policy::findings::evidence::{Excused, LineHit, PathHit, Unread, listed, paths, texts};
use crate::policy::findings::excuses::{self, Excuse};
use crate::policy::findings::extent::{self, Secret};
use crate::policy::findings::placeholders;
use crate::policy::patterns::content::{How, Sought, Weighed};
use crate::policy::patterns::path_patterns::PathPatterns;
use crate::policy::rules::rule::{Facts, Judgement, ReadsLines, Rule};

const CONTENT_PATTERNS: [&str; 4] =
    ["AWS_SECRET_ACCESS_KEY", "PRIVATE_KEY", "password=", "api_key="];
const FILE_PATTERNS: [&str; 1] = [".env"];
/// Where a project keeps its policies.
const POLICY_FILE: &str = ".govforge/policies.toml";
/// So many placeholders of one pattern are passed over in a line; after that, what it finds
/// counts, so that a long line cannot make the search slow.
const MOST_PLACEHOLDERS: usize = 256;

#[derive(Debug)]
pub(super) struct SecretPattern {
    content_regexes: Value,
    file_patterns: PathPatterns,
    /// The content patterns first, then the expressions.
    sought: Vec<Sought>,
    /// How many content patterns there are.
    literals: usize,
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
        let content_regexes =
            regexes.iter().map(|Named { name, text, .. }| (name.clone(), json!(text))).collect();
        let literals = content_patterns.len();
        let literal = |(index, text): (usize, String)| Sought {
            name: name(&text, index + 1),
            how: How::Literal(text),
        };
        let regex = |named: Named| Sought { name: named.name, how: How::Regex(named.pattern) };
        Self {
            sought: content_patterns
                .into_iter()
                .enumerate()
                .map(literal)
                .chain(regexes.into_iter().map(regex))
                .collect(),
            literals,
            content_regexes: Value::Object(content_regexes),
            file_patterns: PathPatterns::new(file_patterns),
        }
    }

    /// The names of the content patterns.
    fn content_patterns(&self) -> impl Iterator<Item = &String> {
        self.sought[..self.literals].iter().map(|sought| &sought.name)
    }

    /// Why what a pattern found in a line is no secret; `None` where it found one. `lower` is the
    /// line in lower case.
    fn excuse(&self, pattern: usize, text: &[u8], lower: &[u8]) -> Option<Excuse> {
        match &self.sought[pattern].how {
            How::Literal(literal) => {
                let excuses = occurrences(literal, lower).map(|end| match literal.ends_with('=') {
                    true => placeholders::follows(&text[end..], text.len()),
                    false => None,
                });
                only_excuses(excuses)
            }
            How::Regex(pattern) => only_excuses(pattern.regex.captures_iter(text).map(of_match)),
        }
    }

    /// Whether a line of a policy file holds a content pattern only where it declares it: as the
    /// whole of a text in quotes.
    fn is_declared(&self, pattern: usize, text: &[u8], lower: &[u8]) -> bool {
        let How::Literal(literal) = &self.sought[pattern].how else { return false };
        occurrences(literal, lower).all(|end| {
            let before = end.checked_sub(literal.len() + 1).map(|at| text[at]);
            before.is_some_and(|quote| b"\"'".contains(&quote) && text.get(end) == Some(&quote))
        })
    }
}

/// Where a text ends in a line in lower case, each time that it stands there.
fn occurrences(literal: &str, lower: &[u8]) -> impl Iterator<Item = usize> {
    let literal = literal.to_ascii_lowercase().into_bytes();
    let finder = memchr::memmem::Finder::new(&literal).into_owned();
    let mut from = 0;
    std::iter::from_fn(move || {
        from += finder.find(&lower[from..])? + literal.len();
        Some(from)
    })
}

/// The first of the excuses, if all that was found has one.
fn only_excuses(found: impl Iterator<Item = Option<Excuse>>) -> Option<Excuse> {
    let mut first = None;
    for (count, excuse) in found.enumerate() {
        if count == MOST_PLACEHOLDERS {
            return None;
        }
        first = first.or(Some(excuse?));
    }
    first
}

/// Why what an expression found is no secret: its group `secret`, else all of it. With the groups
/// `user` and `host` it is a URL's.
fn of_match(found: Captures<'_>) -> Option<Excuse> {
    let group = |name| found.name(name).map(|group| group.as_bytes());
    let all = found.get(0).map_or(&b""[..], |all| all.as_bytes());
    let secret = group("secret").unwrap_or(all);
    match (group("user"), group("host")) {
        (Some(user), Some(host)) => placeholders::url(user, secret, host),
        _ => placeholders::token(secret),
    }
}

/// Whether a path is that of a project's policy file.
fn is_policy_file(path: &str) -> bool {
    path == POLICY_FILE || path.strip_suffix(POLICY_FILE).is_some_and(|above| above.ends_with('/'))
}

/// The name under which the `number`th content pattern, from 1, is stored and shown: itself, if it
/// is visibly a name or the beginning of one. Any other text may be a secret that somebody wants
/// found.
fn name(pattern: &str, number: usize) -> String {
    const SHORT: usize = 5;
    const WORDS: [&str; 10] =
        ["pass", "pwd", "secret", "key", "token", "cred", "auth", "private", "bearer", "begin"];
    let lower = pattern.to_ascii_lowercase();
    let is_beginning = pattern.ends_with(['=', ':', '-', '_']);
    let is_name = !pattern.contains(|character: char| character.is_ascii_digit())
        && WORDS.iter().any(|word| lower.contains(word));
    match pattern.chars().count() <= SHORT || is_beginning || is_name {
        true => pattern.to_owned(),
        false => format!("content_pattern_{number}"),
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
        let mut config = json!({ "content_patterns": self.content_patterns().collect::<Vec<_>>() });
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
            evidence["excused"] = json!(listed(excused, Excused::json));
            evidence["excused_total"] = json!(excused.total());
        }
        let mut clauses = Vec::new();
        if lines.total() > 0 {
            clauses.push(format!("{} added line(s) with secret patterns", lines.total()));
            let matched = facts.matched.iter().map(|&pattern| &self.sought[pattern].name);
            evidence["matched_content_patterns"] = texts(matched);
        }
        if files.total() > 0 {
            clauses.push(format!("{} secret-bearing file(s) modified", files.total()));
        }
        if unread.total() > 0 {
            clauses.push(format!("{} part(s) of the change not scanned", unread.total()));
        }
        let found = clauses.join(", ");
        if found.is_empty() {
            evidence["file_patterns"] = texts(self.file_patterns.as_slice());
            evidence["content_patterns"] = texts(self.content_patterns());
            return Some(Judgement::passed("No secret patterns detected.", evidence));
        }
        evidence["matched_files"] = paths(&files);
        Some(match lines.total() {
            0 => Judgement::warning(format!("{found} — check for secrets by hand."), evidence),
            _ => Judgement::blocked(format!("{found} — review required."), evidence),
        })
    }
}

impl ReadsLines for SecretPattern {
    fn sought(&self) -> &[Sought] {
        &self.sought
    }

    fn weigh(&self, path: &str, text: &[u8], mut found: Vec<usize>) -> Weighed {
        let lower = match found.iter().any(|&pattern| pattern < self.literals) {
            true => text.to_ascii_lowercase(),
            false => Vec::new(),
        };
        if is_policy_file(path) {
            found.retain(|&pattern| !self.is_declared(pattern, text, &lower));
        }
        let mut weighed = Weighed::default();
        let mut names = None;
        for pattern in found {
            let mut is_named = || {
                let names = names.get_or_insert_with(|| excuses::names(text));
                let Sought { name, how } = &self.sought[pattern];
                names.iter().any(|excused| {
                    excused.eq_ignore_ascii_case(name)
                        || matches!(how, How::Literal(text) if excused.eq_ignore_ascii_case(text))
                })
            };
            let excuse = self.excuse(pattern, text, &lower);
            match excuse.or_else(|| is_named().then_some(Excuse::Comment)) {
                Some(excuse) => weighed.excused.push((pattern, excuse)),
                None => weighed.counts.push(pattern),
            }
        }
        weighed.excused.sort_by_key(|(_, why)| *why);
        weighed
    }

    fn secrets(&self, pattern: usize, text: &[u8]) -> Vec<Secret> {
        match &self.sought[pattern].how {
            How::Literal(literal) => {
                let lower = text.to_ascii_lowercase();
                let is_excused = |rest: &[u8]| placeholders::follows(rest, text.len()).is_some();
                let found = occurrences(literal, &lower).map(|end| end - literal.len()..end);
                let secrets = found.map(|found| match literal.ends_with('=') {
                    true if is_excused(&text[found.end..]) => Vec::new(),
                    true => vec![extent::of_assignment(text, found)],
                    false => extent::of_name(text, found, is_excused),
                });
                secrets.flatten().collect()
            }
            How::Regex(pattern) => {
                let found = pattern.regex.captures_iter(text);
                let secrets = found.filter_map(|found| {
                    let secret = found.name("secret").or_else(|| found.get(0))?.range();
                    of_match(found).is_none().then(|| extent::of_match(text, secret))
                });
                secrets.collect()
            }
        }
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
                "matched_content_patterns": ["password=", "api_key="],
                "matched_files": [".env"],
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
        assert_eq!(message, "No secret patterns detected.");
        assert_eq!(
            evidence["excused"],
            json!([{ "path": "a.py", "line": 3, "patterns": ["zebra"], "reason": "comment" }])
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
    fn what_is_passed_over_is_counted_with_its_reason() {
        for (text, pattern, reason) in [
            ("password=${DB_PASSWORD}", "password=", "reference"),
            ("password=changeme", "password=", "placeholder"),
            ("zb_xxxxxxxx", "zebra", "placeholder"),
            ("ape:${{ secrets.APE }} ape:changeme", "ape", "placeholder"),
            ("db://app:h4nter2x@localhost", "url", "host"),
        ] {
            let (status, message, evidence) =
                change(&[]).added("a.py", 3, text).verdict(REGEXES).unwrap();
            assert_eq!((status, &*message), (Passed, "No secret patterns detected."), "{text}");
            let entry = json!({
                "path": "a.py", "line": 3, "patterns": [pattern], "reason": reason,
            });
            assert_eq!(evidence["excused"], json!([entry]), "{text}");
            assert_eq!(evidence["excused_total"], 1);
        }
        let (_, _, clean) = change(&[]).added("a.py", 3, "x").verdict(REGEXES).unwrap();
        assert_eq!(clean.get("excused"), None);
    }

    #[test]
    fn a_policy_file_may_name_its_patterns() {
        let judged = |path: &str, text: &str| change(&[]).added(path, 3, text).result(DEFAULT);
        let declared = "content_patterns = [\"PRIVATE_KEY\", 'password=', \"api_key=\"]";
        let own = ".govforge/policies.toml";
        for path in [own, "web/.govforge/policies.toml"] {
            let passed = (Passed, "No secret patterns detected.".to_owned());
            assert_eq!(judged(path, declared), Some(passed), "{path}");
        }
        for (path, text) in [
            ("a.govforge/policies.toml", declared),
            ("src/policies.toml", declared),
            (own, "x = \"password=hunter2\""),
            (own, "x = [\"password=\", 'password=hunter2']"),
            (own, "MY_PRIVATE_KEY"),
        ] {
            assert_eq!(judged(path, text).unwrap().0, Blocked, "{path} {text}");
        }
    }

    #[test]
    fn a_pattern_that_may_be_a_secret_is_named_by_its_place() {
        let file = "[secret_pattern_detection]\ncontent_patterns = [\"xoxb-\", \"h4nter2x\", \
                    \"BEGIN RSA PRIVATE KEY\", \"correct horse\"]";
        let (_, _, evidence) =
            change(&[]).added("a", 1, "H4nter2X xoxb-1 correct horse").verdict(file).unwrap();
        let names = json!(["xoxb-", "content_pattern_2", "content_pattern_4"]);
        assert_eq!(evidence["lines"][0]["patterns"], names);
        assert_eq!(evidence["matched_content_patterns"], names);
        let (_, _, passed) = change(&[]).verdict(file).unwrap();
        let all =
            json!(["xoxb-", "content_pattern_2", "BEGIN RSA PRIVATE KEY", "content_pattern_4"]);
        assert_eq!(passed["content_patterns"], all);
        let config = parsed(file).policies().next().unwrap().config;
        assert_eq!(config["content_patterns"], all);
        for name in ["h4nter2x", "content_pattern_2"] {
            let line = format!("h4nter2x # govforge:allow {name}");
            assert_eq!(change(&[]).added("a", 1, line).result(file).unwrap().0, Passed, "{name}");
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
