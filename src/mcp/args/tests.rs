use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Args;
use crate::domain::entity::Finding;
use crate::domain::value::{FindingCategory, FindingSeverity, ReviewStatus, RiskLevel};
use crate::error::{Audience, Code, Error, Result};
use crate::mcp::schema::{self, Side, violations};

/// One parameter of every kind.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Sample {
    /// A label.
    #[schemars(length(min = 1, max = 8))]
    title: String,
    /// A free text.
    #[serde(default)]
    #[schemars(length(max = 1_048_576))]
    summary: Option<String>,
    /// A name.
    #[serde(default)]
    #[schemars(length(max = 255))]
    actor_agent: Option<String>,
    /// A text with a default.
    #[serde(default = "head")]
    #[schemars(length(max = 1_048_576))]
    commit_hash: String,
    /// A value with a default.
    #[serde(default = "medium")]
    risk_level: RiskLevel,
    /// A path without a default that must not be blank.
    #[serde(default)]
    #[schemars(length(min = 1))]
    config_path: Option<String>,
    /// A switch.
    #[serde(default)]
    human_approval_required: bool,
    /// A number.
    #[serde(default)]
    #[schemars(range(min = 1))]
    line: Option<i64>,
    /// Texts.
    #[serde(default)]
    focus: Vec<String>,
    /// Objects.
    #[serde(default)]
    findings: Vec<Finding>,
}

fn head() -> String {
    "HEAD".into()
}

fn medium() -> RiskLevel {
    RiskLevel::Medium
}

/// What all other parameters are when only `title` is given.
fn sample() -> Sample {
    Sample {
        title: "T".into(),
        summary: None,
        actor_agent: None,
        commit_hash: head(),
        risk_level: RiskLevel::Medium,
        config_path: None,
        human_approval_required: false,
        line: None,
        focus: vec![],
        findings: vec![],
    }
}

fn finding() -> Finding {
    Finding {
        severity: FindingSeverity::High,
        category: FindingCategory::Bug,
        message: "off by one".into(),
        file_path: None,
        line_start: Some(3),
        line_end: None,
        recommendation: None,
    }
}

fn read<T: serde::de::DeserializeOwned + JsonSchema + 'static>(given: Value) -> Result<T> {
    let Value::Object(given) = given else { panic!("not an object: {given}") };
    Args::<T>::from(Some(given)).read()
}

/// The message of the refusal of `given` together with a title.
fn refusal(mut given: Value) -> String {
    given["title"] = given.get("title").cloned().unwrap_or("T".into());
    match read::<Sample>(given.clone()).expect_err(&given.to_string()) {
        Error::Refused(refusal) => {
            assert_eq!(refusal.code, Code::InvalidInput);
            refusal.told(Audience::Agent).to_owned()
        }
        Error::Fault(fault) => panic!("{given}: {fault:?}"),
    }
}

/// A tool that publishes the schema by which it reads, as every tool does.
struct Echo;

#[tool_router]
impl Echo {
    #[tool(input_schema = schema::input::<Sample>())]
    fn echo(&self, args: Args<Sample>) -> String {
        args.read().map_or_else(|error| error.to_string(), |read| read.title)
    }
}

#[test]
fn a_tool_publishes_the_schema_by_which_it_reads() {
    let tools = Echo::tool_router().list_all();
    assert_eq!(tools[0].input_schema, schema::input::<Sample>());
    assert_eq!(violations(Side::Input, &tools[0].input_schema), [""; 0]);
}

#[test]
fn one_parameter_in_all_its_spellings() {
    type Change = fn(&mut Sample);
    let cases: Vec<(&str, Vec<Value>, Change)> = vec![
        ("title", vec![json!(" Tidy\n"), json!("Tidy")], |s| s.title = "Tidy".into()),
        ("title", vec![json!(42)], |s| s.title = "42".into()),
        ("title", vec![json!("ÄÖÜäöüß€")], |s| s.title = "ÄÖÜäöüß€".into()),
        ("summary", vec![Value::Null], |_| {}),
        ("summary", vec![json!("")], |s| s.summary = Some(String::new())),
        ("summary", vec![json!(" as it is \n")], |s| s.summary = Some(" as it is \n".into())),
        ("actor_agent", vec![Value::Null, json!(""), json!(" \t")], |_| {}),
        ("actor_agent", vec![json!(" claude ")], |s| s.actor_agent = Some("claude".into())),
        ("commit_hash", vec![Value::Null, json!(""), json!("HEAD")], |_| {}),
        ("commit_hash", vec![json!(1_234_567)], |s| s.commit_hash = "1234567".into()),
        ("config_path", vec![Value::Null, json!(" ")], |_| {}),
        ("risk_level", vec![Value::Null, json!(""), json!(" "), json!("Medium")], |_| {}),
        ("risk_level", vec![json!("high"), json!(" HIGH ")], |s| s.risk_level = RiskLevel::High),
        (
            "human_approval_required",
            vec![Value::Null, json!(""), json!(false), json!("FALSE"), json!(" false ")],
            |_| {},
        ),
        (
            "human_approval_required",
            ["0", "off", "f", "n", "no", "No", "OFF"].into_iter().map(Value::from).collect(),
            |_| {},
        ),
        ("human_approval_required", vec![json!(0), json!(0.0), json!("null")], |_| {}),
        ("human_approval_required", vec![json!(true), json!("True"), json!(1), json!(1.0)], |s| {
            s.human_approval_required = true;
        }),
        (
            "human_approval_required",
            ["1", "on", "t", "y", "yes", "YES", " On "].into_iter().map(Value::from).collect(),
            |s| s.human_approval_required = true,
        ),
        ("line", vec![Value::Null, json!("")], |_| {}),
        ("line", vec![json!("null"), json!("None"), json!("undefined"), json!(["null"])], |_| {}),
        ("risk_level", vec![json!("null"), json!("NONE"), json!(" undefined ")], |_| {}),
        ("focus", vec![json!("null"), json!(["null"]), json!([null]), json!("[\"None\"]")], |_| {}),
        ("findings", vec![json!("none"), json!(["undefined"]), json!("[null]")], |_| {}),
        ("focus", vec![json!(["null", "tests"])], |s| {
            s.focus = vec!["null".into(), "tests".into()]
        }),
        ("summary", vec![json!("None")], |s| s.summary = Some("None".into())),
        ("actor_agent", vec![json!("None")], |s| s.actor_agent = Some("None".into())),
        ("line", vec![json!(i64::MAX)], |s| s.line = Some(i64::MAX)),
        ("line", vec![json!(12), json!(12.0), json!("12"), json!(" 12.0 ")], |s| s.line = Some(12)),
        ("focus", vec![Value::Null, json!(""), json!([]), json!("[]"), json!(["", " "])], |_| {}),
        (
            "focus",
            vec![
                json!(["security", "tests"]),
                json!(r#" ["security", "tests"] "#),
                json!("security, tests,"),
            ],
            |s| s.focus = vec!["security".into(), "tests".into()],
        ),
        ("focus", vec![json!("security"), json!("\"security\""), json!(["security"])], |s| {
            s.focus = vec!["security".into()];
        }),
        ("focus", vec![json!(7), json!([7]), json!("[7]")], |s| s.focus = vec!["7".into()]),
        ("findings", vec![Value::Null, json!(""), json!([]), json!("[]")], |_| {}),
        (
            "findings",
            vec![
                json!([{"severity": "high", "category": "bug", "message": "off by one", "line_start": 3}]),
                json!([{
                    "severity": "HIGH", "category": " Bug ", "message": "off by one",
                    "line_start": "3", "line_end": null, "file_path": null,
                }]),
                json!({"severity": "high", "category": "bug", "message": "off by one", "line_start": 3.0}),
                json!(
                    r#"[{"severity":"high","category":"bug","message":"off by one","line_start":3}]"#
                ),
                json!(
                    r#"{"severity":"high","category":"bug","message":"off by one","line_start":3}"#
                ),
                json!([
                    r#"{"severity":"high","category":"bug","message":"off by one","line_start":3}"#
                ]),
            ],
            |s| s.findings = vec![finding()],
        ),
    ];
    for (name, spellings, change) in cases {
        let mut expected = sample();
        change(&mut expected);
        for spelling in spellings {
            let mut given = json!({"title": "T"});
            given[name] = spelling;
            match read::<Sample>(given.clone()) {
                Ok(read) => assert_eq!(read, expected, "{given}"),
                Err(error) => panic!("{given}: {error}"),
            }
        }
    }
}

#[test]
fn enum_values_are_read_with_any_separator() {
    #[derive(Deserialize, JsonSchema)]
    struct Status {
        /// The conclusion.
        status: ReviewStatus,
    }
    for status in [
        "changes_requested",
        "CHANGES_REQUESTED",
        "changes-requested",
        "Changes requested",
        "changesRequested",
    ] {
        let read: Status = read(json!({"status": status})).unwrap();
        assert_eq!(read.status, ReviewStatus::ChangesRequested, "{status}");
    }
}

#[test]
fn one_mistake_is_told_with_parameter_value_and_what_is_accepted() {
    let cases = [
        (
            json!({"title": null}),
            "`title` is missing; it takes a non-blank text of at most 8 characters (A label).",
        ),
        (
            json!({"title": "  "}),
            "`title` is blank; it takes a non-blank text of at most 8 characters.",
        ),
        (
            json!({"title": "123456789"}),
            r#"`title` has 9 characters ("123456789"); it takes a non-blank text of at most 8 characters."#,
        ),
        (
            json!({"title": true}),
            "`title` is true; it takes a non-blank text of at most 8 characters.",
        ),
        (
            json!({"title": 1.5}),
            "`title` is 1.5; it takes a non-blank text of at most 8 characters.",
        ),
        (
            json!({"summary": ["a"]}),
            "`summary` is a list; it takes a text of at most 1048576 characters.",
        ),
        (
            json!({"summary": "a\0b"}),
            "`summary` contains a NUL character (U+0000), which no text may have.",
        ),
        (
            json!({"risk_level": "hihg"}),
            r#"`risk_level` is "hihg"; it takes one of low, medium, high, critical (did you mean high?)."#,
        ),
        (
            json!({"risk_level": 3}),
            "`risk_level` is 3; it takes one of low, medium, high, critical.",
        ),
        (
            json!({"human_approval_required": "maybe"}),
            r#"`human_approval_required` is "maybe"; it takes true or false."#,
        ),
        (json!({"line": 0}), "`line` is 0; it takes a whole number, 1 or more."),
        (json!({"line": 1.5}), "`line` is 1.5; it takes a whole number, 1 or more."),
        (
            json!({"line": 1e300}),
            "`line` is 1e+300; the largest number it takes is 9223372036854775807.",
        ),
        (
            json!({"line": u64::MAX}),
            "`line` is 18446744073709551615; the largest number it takes is 9223372036854775807.",
        ),
        (
            json!({"line": "9223372036854775808"}),
            r#"`line` is "9223372036854775808"; the largest number it takes is 9223372036854775807."#,
        ),
        (
            json!({"human_approval_required": 2}),
            "`human_approval_required` is 2; it takes true or false.",
        ),
        (json!({"line": "first"}), r#"`line` is "first"; it takes a whole number, 1 or more."#),
        (json!({"focus": {"a": 1}}), "`focus` is an object; it takes a list of texts."),
        (
            json!({"focus": "[security, tests]"}),
            r#"`focus` is the text "[security, tests]", which is no valid JSON from line 1, column 2 on; it takes a list of texts."#,
        ),
        (
            json!({"focus": ["a", null]}),
            "`focus[1]` is null; it takes a text of at most 1048576 characters.",
        ),
        (
            json!({"findings": "nine"}),
            r#"`findings` is the text "nine", which is no valid JSON from line 1, column 2 on; it takes a list, each item an object with severity, category, message and, if wanted, file_path, line_start, line_end, recommendation."#,
        ),
        (
            json!({"titel": "T"}),
            "`titel` is unknown. Did you mean `title`? Known here: title, summary, actor_agent, commit_hash, risk_level, config_path, human_approval_required, line, focus, findings.",
        ),
        (
            json!({"payload": {"summary": "S"}}),
            "`payload` is unknown. Pass what is inside it directly, as parameters of their own. Known here: title, summary, actor_agent, commit_hash, risk_level, config_path, human_approval_required, line, focus, findings.",
        ),
        (
            json!({"findings": [
                {"severity": "high", "category": "bug", "message": "m"},
                {"severty": "high", "category": "style", "message": " ", "line_start": 0},
            ]}),
            r#"5 mistakes:
- `findings[1].severity` is missing; it takes one of info, low, medium, high, critical (How serious it is).
- `findings[1].category` is "style"; it takes one of security, performance, architecture, bug, maintainability, tests, docs, accessibility.
- `findings[1].message` is blank; it takes a non-blank text of at most 1048576 characters.
- `findings[1].line_start` is 0; it takes a whole number, 1 or more.
- `findings[1].severty` is unknown. Did you mean `severity`? Known here: severity, category, message, file_path, line_start, line_end, recommendation.
"#,
        ),
    ];
    for (given, expected) in cases {
        let message = refusal(given.clone());
        let told = message.strip_suffix("Correct this and send the call again.").unwrap();
        assert_eq!(told.trim_end_matches(' '), expected, "{given}");
    }
}

#[test]
fn limits_count_characters_as_the_schema_does() {
    let largest = 1 << 20;
    let given = json!({"title": "T", "summary": "ä".repeat(largest)});
    assert_eq!(read::<Sample>(given).unwrap().summary.unwrap().len(), 2 * largest);
    let too_long = refusal(json!({"summary": "ä".repeat(largest + 1)}));
    let expected = format!(
        "`summary` has 1048577 characters (\"{}…\"); it takes a text of at most 1048576 characters. \
         Correct this and send the call again.",
        "ä".repeat(60)
    );
    assert_eq!(too_long, expected);
    // What has no limit of its own is published with the widest.
    assert_eq!(schema::input::<Sample>()["properties"]["config_path"]["maxLength"], json!(largest));
    assert_eq!(
        schema::input::<Sample>()["properties"]["focus"]["items"]["maxLength"],
        json!(largest)
    );
}

#[test]
fn many_mistakes_stay_readable() {
    let message = refusal(json!({"findings": vec!["{}"; 1000]}));
    assert!(message.starts_with("3000 mistakes:\n- `findings[0].severity` is missing;"));
    assert!(message.contains("\n- and 2988 more.\n"), "{message}");
    let long_name = "n".repeat(100_000);
    assert!(refusal(json!({ long_name: 1 })).len() < 400);
}

#[test]
fn deep_nesting_is_no_danger() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    assert!(refusal(json!({ "findings": deep })).starts_with("`findings` is the text \"[[["));
}

#[test]
fn absent_parameters_take_their_defaults() {
    assert_eq!(read::<Sample>(json!({"title": "T"})).unwrap(), sample());
    let none = Args::<Sample>::from(None).read().unwrap_err();
    assert_eq!(none.code(), Some(Code::InvalidInput));
}
