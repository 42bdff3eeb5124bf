//! The engine as a whole: what a policy file may say, what is told of a wrong one, and the
//! order of the verdicts.

use super::file::raw;
use super::set::known;
use super::{Mistake, PolicyInfo, PolicySet};
use crate::domain::value::PolicyResultStatus::{Blocked, Passed, Warning};
use crate::domain::value::{FindingSeverity, RiskLevel};
use crate::policy::testing::{change, parsed};

const EXAMPLE: &str = PolicySet::EXAMPLE;
const GUIDE: &str = include_str!("../../docs/policies.md");

fn names(set: &PolicySet) -> Vec<String> {
    set.policies().map(|policy| policy.name).collect()
}

/// The mistakes of a file, each as "line:column message".
fn mistakes(file: impl AsRef<[u8]>) -> Vec<String> {
    match PolicySet::parse(file.as_ref()) {
        Ok(set) => panic!("it is valid: {:?}", names(&set)),
        Err(mistakes) => {
            mistakes.iter().map(|m| format!("{}:{} {}", m.line, m.column, m.message)).collect()
        }
    }
}

#[test]
fn the_defaults_are_the_five_in_order() {
    let set = PolicySet::defaults();
    assert_eq!(
        names(&set),
        [
            "auth_change_requires_review",
            "secret_pattern_detection",
            "test_required_for_high_risk",
            "migration_requires_review",
            "large_diff_requires_human_approval",
        ]
    );
    assert!(set.policies().all(|policy| policy.severity == FindingSeverity::Medium));
    let configs: Vec<String> = set.policies().map(|policy| policy.config.to_string()).collect();
    assert_eq!(
        configs,
        [
            r#"{"patterns":["auth","session","jwt","permission","middleware"]}"#,
            r#"{"content_patterns":["AWS_SECRET_ACCESS_KEY","PRIVATE_KEY","password=","api_key="],"file_patterns":[".env"]}"#,
            "{}",
            "{}",
            r#"{"max_lines_changed":500}"#,
        ]
    );
}

#[test]
fn the_example_file_is_the_defaults_and_the_expressions() {
    let plain = |mut policy: PolicyInfo| {
        policy.lines.clear();
        policy
    };
    let mut example: Vec<PolicyInfo> = parsed(EXAMPLE).policies().map(plain).collect();
    let secrets = example.iter_mut().find(|policy| policy.name == "secret_pattern_detection");
    let config = secrets.expect("the section").config.as_object_mut().expect("an object");
    let regexes = config.shift_remove("content_regexes").expect("the expressions");
    assert!(regexes.as_object().is_some_and(|regexes| regexes.len() >= 20));
    assert_eq!(example, PolicySet::defaults().policies().collect::<Vec<_>>());
}

/// Whoever commits the file is not blocked by what it names, and nothing of it needs an excuse.
#[test]
fn the_example_file_passes_its_own_policies() {
    let mut commit = change(&[".govforge/policies.toml"]);
    for (number, line) in (1..).zip(EXAMPLE.lines()) {
        commit = commit.added(".govforge/policies.toml", number, line);
    }
    let verdicts = commit.judged_by(&parsed(EXAMPLE));
    let secrets = verdicts.iter().find(|v| v.policy == "secret_pattern_detection").unwrap();
    assert_eq!(secrets.status, Passed, "{}", secrets.evidence);
    assert_eq!(secrets.message, "No secret patterns detected.");
    assert_eq!(secrets.evidence.get("excused"), None, "{}", secrets.evidence);
}

/// The own rules of the example are commented out: `# ` in front of each of their lines.
#[test]
fn the_examples_of_own_rules_are_valid() {
    let own = EXAMPLE.split_once("# Rules of your own").expect("the part").1;
    let own: Vec<&str> = own.lines().filter_map(|line| line.strip_prefix("# ")).collect();
    let start = own.iter().position(|line| line.starts_with('[')).expect("a section");
    let set = parsed(&own[start..].join("\n"));
    let kinds: Vec<_> = set.policies().map(|policy| policy.config["kind"].clone()).collect();
    assert_eq!(kinds, ["path", "content", "size", "requires", "author"]);
}

#[test]
fn the_example_file_shows_every_key() {
    let known = known();
    let own = known.kinds.iter().map(|(kind, keys)| (format!("kind = \"{kind}\""), keys));
    let policies = known.policies.iter().map(|(name, keys)| (format!("\n[{name}]"), keys));
    for (start, keys) in policies.chain(own) {
        let section = EXAMPLE.split_once(&start).unwrap_or_else(|| panic!("{start}")).1;
        let section = section.split("\n\n").next().unwrap_or_default();
        for key in keys.iter().filter(|key| **key != "kind") {
            let shown =
                ["\n", "\n# "].iter().any(|line| section.contains(&format!("{line}{key} = ")));
            let is_table = EXAMPLE.contains(&format!(".{key}]\n"));
            // What every rule takes is shown with the first.
            let is_common = EXAMPLE
                .lines()
                .any(|line| line.trim_start_matches(['#', ' ']).starts_with(&format!("{key} ")));
            assert!(shown || is_table || is_common, "{start}.{key}");
        }
    }
}

/// A TOML block of the guide is a valid policy file, or the text block after it holds
/// exactly what is told of it.
#[test]
fn the_examples_of_the_guide_hold() {
    let mut examples = 0;
    for block in GUIDE.split("```toml\n").skip(1) {
        let (file, rest) = block.split_once("```\n").expect("a closed block");
        examples += 1;
        match rest.split_once("```text\n") {
            None => drop(parsed(file)),
            Some((_, told)) => {
                let told = told.split_once("```").expect("a closed block").0;
                let mistakes = PolicySet::parse(file.as_bytes()).expect_err("a wrong file");
                let lines: Vec<String> = mistakes.iter().map(Mistake::to_string).collect();
                assert_eq!(lines, told.lines().collect::<Vec<_>>());
            }
        }
    }
    assert!(examples >= 3, "the guide has examples");
}

#[test]
fn only_the_sections_of_a_file_run_and_in_its_order() {
    let file = "
        [large_diff_requires_human_approval]
        severity = \"CRITICAL\"
        max_lines_changed = 1_0
        [migration_requires_review]
        enabled = false
        [auth_change_requires_review]
        severity = \"info\"
    ";
    let set = parsed(file);
    assert_eq!(names(&set), ["large_diff_requires_human_approval", "auth_change_requires_review"]);
    let severities: Vec<_> = set.policies().map(|policy| policy.severity).collect();
    assert_eq!(severities, [FindingSeverity::Critical, FindingSeverity::Info]);
    let verdicts = change(&["auth.py", "migrations/1.sql"]).size(11, 0).judged_by(&set);
    let told: Vec<_> = verdicts.iter().map(|v| (&*v.policy, v.status)).collect();
    assert_eq!(
        told,
        [("large_diff_requires_human_approval", Blocked), ("auth_change_requires_review", Blocked)]
    );
}

#[test]
fn a_section_may_be_written_in_any_way_toml_has() {
    let file = "auth_change_requires_review.patterns = ['x', 'x', 'y']\n\
                large_diff_requires_human_approval = { max_lines_changed = 0x10 }\n\
                [\"migration_requires_review\"]";
    let configs: Vec<_> = parsed(file).policies().map(|policy| policy.config.to_string()).collect();
    assert_eq!(configs, [r#"{"patterns":["x","y"]}"#, r#"{"max_lines_changed":16}"#, "{}"]);
}

#[test]
fn a_file_without_sections_runs_nothing() {
    for file in ["", "# nothing\n", "\u{feff}\r\n"] {
        let set = parsed(file);
        assert_eq!(set.policies().count(), 0);
        assert_eq!(change(&["auth.py"]).judged_by(&set), []);
    }
}

#[test]
fn the_defaults_judge_a_change_in_order() {
    let change = change(&["src/auth.py", "tests/test_auth.py", "deploy/.env"])
        .risk(RiskLevel::High)
        .size(120, 3)
        .added("src/auth.py", 12, "check(user)");
    let verdicts = change.judged_by(&PolicySet::defaults());
    let told: Vec<_> = verdicts.iter().map(|v| (v.status, &*v.message)).collect();
    assert_eq!(
        told,
        [
            (Blocked, "2 auth-adjacent file(s) modified — review required."),
            (Warning, "1 secret-bearing file(s) modified — check for secrets by hand."),
            (Passed, "1 test file(s) modified."),
            (Passed, "No migration files modified."),
            (Passed, "123 line(s) changed, at most 500 allowed."),
        ]
    );
}

#[test]
fn each_kind_of_mistake_is_told_with_its_place_and_what_is_valid() {
    const AUTH: &str = "[auth_change_requires_review]\n";
    for (section, expected) in [
        (
            "enabled = \"false\"",
            "2:11 `enabled` must be true or false, without quotes, not a text.",
        ),
        (
            "pattern = [\"x\"]",
            "2:1 `auth_change_requires_review` has no key `pattern`. Did you mean `patterns`? \
             Its keys are `enabled`, `severity`, `patterns`.",
        ),
        (
            "severity = \"hihg\"",
            "2:12 `severity` must be one of `info`, `low`, `medium`, `high`, `critical`. \
             Did you mean `high`?",
        ),
        (
            "severity = 3",
            "2:12 `severity` must be a text in quotes, one of `info`, `low`, `medium`, `high`, \
             `critical`, not a whole number.",
        ),
        (
            "patterns = \"auth\"",
            "2:12 `patterns` must be a list of texts, such as [\"one\", \"two\"], not a text.",
        ),
        (
            "patterns = [\"a\", true]",
            "2:18 Each item of `patterns` must be a text in quotes, not true or false.",
        ),
        (
            "patterns = [\"a\", \" \"]",
            "2:18 A pattern of `patterns` is empty, so everything would match. Remove it.",
        ),
        (
            "patterns = [\"a\\nb\", \"c\"]",
            "2:13 A pattern of `patterns` holds a line break, so nothing could match: lines and \
             paths are looked at one by one. Split it.",
        ),
        (
            "patterns = []",
            "2:12 `patterns` is empty, so the policy could never hold. Name patterns, or write \
             `enabled = false`.",
        ),
        (
            "enabled = false\nenabled = true",
            "3:1 A section or key `enabled` is given twice. Keep one of the two.",
        ),
        (
            "[auth_change_requires_review]",
            "2:2 A section or key `auth_change_requires_review` is given twice. Keep one of the two.",
        ),
        (
            "[large_diff_requires_human_approval]\nmax_lines_changed = -5",
            "3:21 `max_lines_changed` is negative: it must be 0 or more.",
        ),
        (
            "[large_diff_requires_human_approval]\nmax_lines_changed = 9223372036854775808",
            "3:21 `max_lines_changed` is too large: at most 9223372036854775807.",
        ),
        (
            "[large_diff_requires_human_approval]\nmax_lines_changed = 5e2",
            "3:21 `max_lines_changed` must be a whole number, without quotes, not a number with \
             a fraction.",
        ),
        (
            "[secret_pattern_detection]\ncontent_patterns = []\nfile_patterns = []",
            "3:20 `content_patterns` and `file_patterns` are both empty, so the policy could \
             never hold. Name patterns, or write `enabled = false`.",
        ),
        (
            "[secret_detection]",
            "2:2 There is no policy `secret_detection`. Did you mean `secret_pattern_detection`? \
             The policies are `auth_change_requires_review`, `secret_pattern_detection`, \
             `test_required_for_high_risk`, `migration_requires_review`, \
             `large_diff_requires_human_approval`; a rule of your own has a `kind`, one of \
             `path`, `content`, `size`, `requires`, `author`.",
        ),
        (
            "[policies.migration_requires_review]",
            "2:2 `migration_requires_review` is at the wrong level: it is a section of its own. \
             Write `[migration_requires_review]` without anything before it.",
        ),
        (
            "[rules.infra]\nkind = \"path\"",
            "2:2 `infra` is at the wrong level: it is a section of its own. Write `[infra]` \
             without anything before it.",
        ),
        (
            "[content_regexes]\nx = 'y'",
            "2:2 `content_regexes` is at the wrong level: write \
             `[secret_pattern_detection.content_regexes]`.",
        ),
        (
            "[secret_pattern_detection]\ncontent_regexes = ['y']",
            "3:19 `content_regexes` must be a section of its own, \
             `[secret_pattern_detection.content_regexes]`, with lines such as name = 'regular \
             expression'.",
        ),
        (
            "[secret_pattern_detection.content_regexes]\nx = '(?=y)'",
            "3:5 A pattern of `content_regexes` does not compile, at its byte 1: look-around \
             (`(?=`, `(?!`, `(?<=`, `(?<!`) is not supported, because it cannot be matched in \
             linear time; match more of the text instead.",
        ),
        (
            "[[migration_requires_review]]",
            "2:3 `migration_requires_review` must be a section, `[migration_requires_review]` \
             with its keys below it, not a list.",
        ),
        (
            "enabled = True",
            "2:11 This is not valid TOML: only true and false, in lower case, stand without \
             quotes.",
        ),
        (
            "severity = high",
            "2:12 This is not valid TOML: a text needs quotes, \" or ', around it.",
        ),
        (
            "patterns = [\"a\\d\"]",
            "2:16 This is not valid TOML: a backslash is written twice between double quotes, or \
             once between single ones.",
        ),
        (
            "patterns = [\"a\"\nenabled = true",
            "3:1 This is not valid TOML: a comma is missing before this place, or a list is not \
             closed.",
        ),
        (
            "enabled",
            "2:8 This is not valid TOML: a key is followed by `=` and a value on the same line.",
        ),
    ] {
        assert_eq!(mistakes(format!("{AUTH}{section}\n")), [expected], "{section}");
    }
}

#[test]
fn a_key_above_the_sections_is_told_where_it_belongs() {
    let file = "max_lines_changed = 5\n[large_diff_requires_human_approval]";
    assert_eq!(
        mistakes(file),
        ["1:1 `max_lines_changed` is at the wrong level: write it below its section, \
             `[large_diff_requires_human_approval]`."]
    );
}

#[test]
fn every_mistake_is_told_at_once_in_the_order_of_the_file() {
    let file = "[auth_change_requires_review]\nenabled = yes\npattern = 1\n\
                [migration_requires_review]\nseverity = \"\"\nenabled = 1\n[nothing]\n";
    let places: Vec<String> = mistakes(file)
        .iter()
        .map(|mistake| mistake.split_once(' ').unwrap_or_default().0.to_owned())
        .collect();
    assert_eq!(places, ["2:11", "3:1", "5:12", "6:11", "7:2"]);
}

#[test]
fn a_disabled_section_is_checked_too() {
    let file = "[auth_change_requires_review]\nenabled = false\npattern = 1";
    assert_eq!(mistakes(file).len(), 1);
}

#[test]
fn a_file_that_is_not_utf8_or_too_long_is_refused() {
    assert_eq!(
        mistakes(b"[auth_change_requires_review]\n# caf\xe9\n"),
        ["2:6 The file is not UTF-8 text from here on. Save it as UTF-8."]
    );
    assert_eq!(mistakes(b"\xff\xfe[\0a\0")[0].split(' ').next(), Some("1:1"));
    let comment = |bytes: usize| format!("#{}", "x".repeat(bytes - 1));
    assert!(PolicySet::parse(comment(raw::LARGEST_FILE).as_bytes()).is_ok());
    assert_eq!(
        mistakes(comment(raw::LARGEST_FILE + 1)),
        ["1:1 The file has 1048577 bytes; a policy file has at most 1048576 (1 MiB)."]
    );
}

/// An agent can name any file of the project as its policy file.
#[test]
fn nothing_of_another_file_is_shown() {
    for file in [
        "hunter = 2\n",
        "[hunter]\nhunter2 = 'hunter3'\n",
        "[default]\nhunter_key = hunter/2\n[hunter]\n[hunter]\nhunter = 1\n",
        "hunter:x:0:0\nhunter",
        "{\"hunter\": \"hunter\"}",
        "HUNTER=hunter\nHUNTER=hunter\n",
        "-----BEGIN HUNTER-----\nhunter\n",
    ] {
        let told = mistakes(file).join("\n");
        assert!(!told.to_lowercase().contains("hunter"), "{told}");
    }
}

/// In a policy file, names that look like keys are shown, values never.
#[test]
fn no_value_of_a_policy_file_is_shown() {
    let file = "[auth_change_requires_review]\nenabled = 'hunter'\nseverity = 'hunter'\n\
                patterns = 'hunter'\n\"hunter two\" = 1\n'hunter\\3' = 1\n\
                [secret_pattern_detection]\ncontent_patterns = [1, ['hunter']]\n\
                file_patterns = {hunter = 1}\n[migration_requires_review]\nenabled = hunter\n\
                [\"a hunter\"]\n[large_diff_requires_human_approval]\n\
                max_lines_changed = 'hunter'\n";
    let told = mistakes(file);
    assert_eq!(told.len(), 11, "{told:#?}");
    assert!(!told.join("\n").contains("hunter"), "{told:#?}");
}

/// Whatever happens to a policy file, reading it ends in policies or in mistakes.
#[test]
fn a_damaged_file_never_panics() {
    let mut seed = 7_u64;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let pieces: [&[u8]; 18] = [
        b"[",
        b"]",
        b"[[",
        b"]]",
        b"=",
        b"\"",
        b"'",
        b"\"\"\"",
        b"\n",
        b"\r",
        b".",
        b",",
        b"{",
        b"}",
        b"\\",
        b"\xff",
        b"[auth_change_requires_review]\n",
        b"auth_change_requires_review.",
    ];
    let lines: Vec<&str> =
        EXAMPLE.lines().filter(|line| !line.starts_with('#') && !line.contains("= '")).collect();
    let (mut valid, mut wrong) = (0, 0);
    for _ in 0..3000 {
        let mut file = lines.join("\n").into_bytes();
        for _ in 0..random(6) {
            let at = random(file.len());
            match random(3) {
                0 => drop(file.splice(at..at, pieces[random(pieces.len())].iter().copied())),
                1 => drop(file.drain(at..(at + 1 + random(30)).min(file.len()))),
                _ => file[at] = random(256) as u8,
            }
        }
        match PolicySet::parse(&file) {
            Ok(_) => valid += 1,
            Err(mistakes) => {
                assert!(!mistakes.is_empty());
                assert!(mistakes.iter().all(|mistake| mistake.line >= 1 && mistake.column >= 1));
                wrong += 1;
            }
        }
    }
    assert!(valid > 100 && wrong > 1000, "{valid} valid, {wrong} wrong");
}
