//! Rules of one's own: what every kind has in common.

mod author;
mod content;
mod kind;
mod path;
mod requires;
mod size;

use serde_json::{Map, Value, json};

use self::author::OtherAuthor;
use self::content::ContentRule;
use self::kind::{Finding, Holds, Kind};
use self::path::PathRule;
use self::requires::Requires;
use self::size::Size;
use super::rule::{Facts, Judgement, Reader, ReadsLines, Rule};
use crate::domain::value::{PolicyResultStatus, RiskLevel, Value as _};
use crate::policy::file::section::{Section, is_plain};

/// So many paths stand in a message.
const FILES_TOLD: usize = 5;
/// So many characters of each.
const CHARACTERS_TOLD: usize = 200;

/// The kinds, and how a section of each is read after its `kind`.
pub(in crate::policy) const KINDS: [(&str, Reader); 5] = [
    ("path", |section| Own::read("path", section, PathRule::read)),
    ("content", |section| Own::read("content", section, ContentRule::read)),
    ("size", |section| Own::read("size", section, Size::read)),
    ("requires", |section| Own::read("requires", section, Requires::read)),
    ("author", |section| Own::read("author", section, OtherAuthor::read)),
];

/// How a section that is no built-in policy's is read. `None` notes why it cannot be.
pub(in crate::policy) fn kind(section: &mut Section<'_>) -> Option<Reader> {
    let names = KINDS.map(|(name, _)| name);
    if !is_plain(section.name()) {
        section.mistake(
            section.at(),
            "The name of a rule has letters, digits, `_` and `-` only, at most 64.",
        );
    }
    let kind = section.choice("kind", &names);
    if kind.is_none() {
        section.forgive_unknown_keys();
    }
    KINDS.iter().find(|(name, _)| Some(*name) == kind).map(|(_, read)| *read)
}

/// A rule of one's own.
#[derive(Debug)]
struct Own<K> {
    kind: &'static str,
    description: String,
    result: PolicyResultStatus,
    message: Option<String>,
    risk: Option<RiskLevel>,
    rule: K,
}

impl<K: Kind + 'static> Own<K> {
    fn read(
        kind: &'static str,
        section: &mut Section<'_>,
        read: fn(&mut Section<'_>) -> K,
    ) -> Box<dyn Rule> {
        let result = section.choice("result", &["warning", "blocked"]);
        let result =
            result.and_then(PolicyResultStatus::read).unwrap_or(PolicyResultStatus::Warning);
        let message = section.text("message").and_then(|(message, at)| {
            let unknown = placeholders(&message).any(|name| !matches!(name, "count" | "files"));
            if unknown {
                let wrong = "`message` may hold `{count}` and `{files}`, and no other name in \
                             braces.";
                section.mistake(at, wrong);
            }
            (!unknown).then_some(message)
        });
        let levels = [RiskLevel::Low, RiskLevel::Medium, RiskLevel::High, RiskLevel::Critical];
        let risk = section.choice("risk", &levels.map(RiskLevel::wire));
        let rule = read(section);
        let does = match result {
            PolicyResultStatus::Blocked => "Blocks",
            _ => "Warns",
        };
        let description = format!("{does} when {}.", rule.holds_when());
        Box::new(Self {
            kind,
            description,
            result,
            message,
            risk: risk.and_then(RiskLevel::read),
            rule,
        })
    }
}

impl<K: Kind> Rule for Own<K> {
    fn description(&self) -> &str {
        &self.description
    }

    fn config(&self) -> Value {
        let mut config = Map::new();
        config.insert("kind".to_owned(), json!(self.kind));
        if let Value::Object(keys) = self.rule.config() {
            config.extend(keys);
        }
        config.insert("result".to_owned(), json!(self.result));
        if let Some(message) = &self.message {
            config.insert("message".to_owned(), json!(message));
        }
        if let Some(risk) = self.risk {
            config.insert("risk".to_owned(), json!(risk));
        }
        Value::Object(config)
    }

    fn lines(&self) -> Option<&dyn ReadsLines> {
        self.rule.lines()
    }

    fn judge(&self, facts: &Facts<'_>) -> Option<Judgement> {
        if self.risk.is_some_and(|from| facts.subject.risk_level < from) {
            return None;
        }
        let finding = self.rule.find(facts)?;
        let status = match finding.holds {
            Holds::Yes => self.result,
            Holds::No => PolicyResultStatus::Passed,
            Holds::Unknown => PolicyResultStatus::Warning,
        };
        let template = self.message.as_ref().filter(|_| finding.holds == Holds::Yes);
        let message = filled(template.unwrap_or(&finding.message), &finding);
        Some(Judgement { status, message, evidence: finding.evidence })
    }
}

/// The names in braces of a message.
fn placeholders(message: &str) -> impl Iterator<Item = &str> {
    message.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name).filter(
        |name| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        },
    )
}

/// The message with its placeholders filled in, in one pass: a path may hold braces.
fn filled(message: &str, finding: &Finding) -> String {
    let mut filled = String::new();
    let mut rest = message;
    while let Some(start) = rest.find('{') {
        filled.push_str(&rest[..start]);
        rest = &rest[start..];
        if let Some(after) = rest.strip_prefix("{count}") {
            filled.push_str(&finding.count.to_string());
            rest = after;
        } else if let Some(after) = rest.strip_prefix("{files}") {
            filled.push_str(&told(&finding.files, finding.files_total));
            rest = after;
        } else {
            filled.push('{');
            rest = &rest[1..];
        }
    }
    filled + rest
}

/// The first paths, without what could pass for another line or colour.
fn told(files: &[String], total: u64) -> String {
    let shown = files.iter().take(FILES_TOLD).map(|path| {
        let plain = |character: char| if character.is_control() { '\u{fffd}' } else { character };
        path.chars().take(CHARACTERS_TOLD).map(plain).collect::<String>()
    });
    let mut told = shown.collect::<Vec<_>>().join(", ");
    let more = total.saturating_sub(files.len().min(FILES_TOLD) as u64);
    if more > 0 {
        told.push_str(&format!(" and {more} more"));
    }
    told
}

#[cfg(test)]
mod tests {
    use crate::domain::value::PolicyResultStatus::{Blocked, Passed, Warning};
    use crate::domain::value::RiskLevel;
    use crate::policy::PolicySet;
    use crate::policy::testing::{change, parsed};

    const RULE: &str = "[infra]\nkind = \"path\"\npaths = [\"infra/\"]\n";

    #[test]
    fn what_it_says_and_how_strictly_is_its_own() {
        let changed = change(&["infra/a.tf", "infra/{files}.tf", "README.md"]);
        assert_eq!(
            changed.result(RULE),
            Some((Warning, "2 changed file(s) match: infra/a.tf, infra/{files}.tf.".to_owned()))
        );
        let file =
            format!("{RULE}result = \"blocked\"\nmessage = \"{{count}} of {{x y}}: {{files}}!\"");
        assert_eq!(
            changed.result(&file),
            Some((Blocked, "2 of {x y}: infra/a.tf, infra/{files}.tf!".to_owned()))
        );
        assert_eq!(
            change(&["README.md"]).result(&file),
            Some((Passed, "No changed file matches.".to_owned()))
        );
    }

    #[test]
    fn below_its_risk_it_does_not_apply() {
        let file = format!("{RULE}risk = \"high\"");
        let result = |risk| change(&["infra/a"]).risk(risk).result(&file).map(|(status, _)| status);
        assert_eq!(result(RiskLevel::Medium), None);
        assert_eq!(result(RiskLevel::High), Some(Warning));
        assert_eq!(result(RiskLevel::Critical), Some(Warning));
    }

    #[test]
    fn many_files_are_summed_up_and_hostile_names_are_plain() {
        let paths: Vec<String> = (0..8).map(|n| format!("infra/{n}\n\u{1b}[31m")).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let (_, message) = change(&paths).result(RULE).unwrap();
        assert!(message.ends_with(" and 3 more."), "{message}");
        assert!(!message.chars().any(char::is_control), "{message}");
    }

    #[test]
    fn its_description_and_values_are_shown() {
        let info = parsed(&format!("{RULE}result = \"blocked\"")).policies().next().unwrap();
        assert_eq!(
            info.description,
            "Blocks when a changed path matches one of `paths` or `regexes`."
        );
        assert_eq!(
            info.config.to_string(),
            r#"{"kind":"path","paths":["infra/"],"regexes":[],"except_paths":[],"result":"blocked"}"#
        );
    }

    #[test]
    fn mistakes_are_told() {
        let told = |file: &str| {
            let mistakes = PolicySet::parse(file.as_bytes()).expect_err(file);
            mistakes
                .iter()
                .map(|m| format!("{}:{} {}", m.line, m.column, m.message))
                .collect::<Vec<_>>()
        };
        for (file, expected) in [
            (
                "[auth_change_requires_review]\n[x]\nkind = \"paht\"\nfoo = 1",
                "3:8 `kind` must be one of `path`, `content`, `size`, `requires`, `author`. Did \
                 you mean `path`?",
            ),
            (
                "[x]\nkind = \"path\"\npaths = [\"a\"]\nresult = \"passed\"",
                "4:10 `result` must be one of `warning`, `blocked`.",
            ),
            (
                "[x]\nkind = \"path\"\npaths = [\"a\"]\nrisk = \"hgih\"",
                "4:8 `risk` must be one of `low`, `medium`, `high`, `critical`. Did you mean \
                 `high`?",
            ),
            (
                "[x]\nkind = \"path\"\npaths = [\"a\"]\nmessage = \"{counts}\"",
                "4:11 `message` may hold `{count}` and `{files}`, and no other name in braces.",
            ),
            (
                "[x]\nkind = \"path\"\npath = [\"a\"]\nregexes = [\"b\"]",
                "3:1 `x` has no key `path`. Did you mean `paths`? Its keys are `kind`, \
                 `enabled`, `severity`, `result`, `message`, `risk`, `paths`, `regexes`, \
                 `except_paths`.",
            ),
            (
                "[x]\nkind = \"path\"\npaths = [\"a**\"]",
                "3:10 A glob of `paths` has `**` beside other characters: it stands alone \
                 between two `/`.",
            ),
            (
                "[x]\nkind = \"content\"\nregexes = ['a(?!b)']",
                "3:12 A pattern of `regexes` does not compile, at its byte 2: look-around \
                 (`(?=`, `(?!`, `(?<=`, `(?<!`) is not supported, because it cannot be matched \
                 in linear time; match more of the text instead.",
            ),
            (
                "[x]\nkind = \"path\"",
                "1:2 `paths` and `regexes` are both missing or empty, so the rule could never \
                 hold. Name some, or write `enabled = false`.",
            ),
            (
                "[x]\nkind = \"size\"\nmax_lines = -1",
                "3:13 `max_lines` is negative: it must be 0 or more.",
            ),
            (
                "[\"x y\"]\nkind = \"size\"\nmax_lines = 1",
                "1:2 The name of a rule has letters, digits, `_` and `-` only, at most 64.",
            ),
            (
                "[migration_requires_review]\n[x]\npaths = [\"a\"]",
                "2:2 There is no policy `x`. The policies are `auth_change_requires_review`, \
                 `secret_pattern_detection`, `test_required_for_high_risk`, \
                 `migration_requires_review`, `large_diff_requires_human_approval`; a rule of \
                 your own has a `kind`, one of `path`, `content`, `size`, `requires`, `author`.",
            ),
        ] {
            assert_eq!(told(file), [expected], "{file}");
        }
    }

    #[test]
    fn a_file_has_a_bounded_number_of_patterns_and_sections() {
        let globs: Vec<String> = (0..2001).map(|n| format!("\"g{n}\"")).collect();
        let file = format!("[x]\nkind = \"path\"\npaths = [{}]", globs.join(","));
        let mistakes = PolicySet::parse(file.as_bytes()).unwrap_err();
        assert!(mistakes[0].message.contains("more than 2000"), "{mistakes:?}");
        let file: String =
            (0..501).map(|n| format!("[r{n}]\nkind = \"size\"\nmax_lines = 1\n")).collect();
        let mistakes = PolicySet::parse(file.as_bytes()).unwrap_err();
        assert_eq!(mistakes[0].message, "A policy file has at most 500 sections.");
    }
}
