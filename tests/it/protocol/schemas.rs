//! The published schemas, as the pickiest clients need them.

use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::server::{Client, Server};

const TOOLS: [&str; 11] = [
    "create_task",
    "record_decision",
    "attach_git_diff",
    "run_policy_checks",
    "request_review",
    "submit_review",
    "record_disagreement",
    "approve_decision",
    "get_decision_context",
    "list_open_reviews",
    "list_pending_approvals",
];
const READING: [&str; 3] = ["get_decision_context", "list_open_reviews", "list_pending_approvals"];

/// What no published schema may hold at its root, and no parameter anywhere.
const COMPOSITION: [&str; 3] = ["anyOf", "oneOf", "allOf"];

fn tools() -> Vec<Value> {
    tools_for("2025-11-25")
}

/// What a client of that revision is shown, asked for by its first request.
fn tools_for(revision: &str) -> Vec<Value> {
    let app = TestApp::empty();
    let mut server = Server::start(app.command(), &Client::of(revision));
    let reply = server.request("tools/list", Value::Null);
    server.close();
    reply["result"]["tools"].as_array().unwrap().clone()
}

#[test]
fn a_client_of_every_revision_sees_the_same_tools() {
    let tools = tools();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2026-07-28"] {
        assert_eq!(tools_for(revision), tools, "{revision}");
    }
}

#[test]
fn the_tools_are_the_eleven_each_with_title_description_and_annotations() {
    let tools = tools();
    let mut names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let mut expected = TOOLS.to_vec();
    names.sort_unstable();
    expected.sort_unstable();
    assert_eq!(names, expected);
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        assert!(name.len() < 50, "{name}");
        assert!(has_text(&tool["title"]) || has_text(&tool["annotations"]["title"]), "{name}");
        assert!(has_text(&tool["description"]), "{name}");
        assert_eq!(tool["annotations"]["destructiveHint"], json!(false), "{name}");
        let reads = tool["annotations"]["readOnlyHint"] == json!(true);
        assert_eq!(reads, READING.contains(&name), "{name}");
    }
}

#[test]
fn every_input_schema_is_a_plain_object_of_described_parameters() {
    for tool in tools() {
        let name = tool["name"].as_str().unwrap();
        let schema = &tool["inputSchema"];
        assert_eq!(schema["type"], "object", "{name}");
        let text = schema.to_string();
        for word in ["$ref", "$defs", "definitions"] {
            assert!(!text.contains(&format!("\"{word}\"")), "{name}: {word} in {text}");
        }
        check_object(name, schema);
        let parameters = schema["properties"].as_object().unwrap();
        for required in schema["required"].as_array().unwrap() {
            assert!(parameters.contains_key(required.as_str().unwrap()), "{name}: {required}");
        }
    }
}

#[test]
fn the_parameters_and_the_required_ones_are_those_of_the_contract() {
    // `?` marks an optional parameter.
    let contract = [
        ("create_task", "project_path title description? risk_level? actor_agent?"),
        (
            "record_decision",
            "task_id author_agent title summary? rationale? risk_level? human_approval_required?",
        ),
        ("attach_git_diff", "decision_id repo_path commit_hash? actor_agent?"),
        ("run_policy_checks", "decision_id config_path? actor_agent?"),
        ("request_review", "decision_id reviewer_agent focus? actor_agent?"),
        ("submit_review", "decision_id reviewer_agent status summary? findings?"),
        (
            "record_disagreement",
            "decision_id topic author_position? reviewer_position? risk_summary? \
             requires_human_decision? actor_agent?",
        ),
        ("approve_decision", "decision_id approver status comment?"),
        ("get_decision_context", "decision_id"),
        ("list_open_reviews", "project_path"),
        ("list_pending_approvals", "project_path"),
    ];
    let tools = tools();
    for (name, parameters) in contract {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let mut expected: Vec<&str> = parameters.split_whitespace().collect();
        expected.sort_unstable();
        assert_eq!(signature(&tool["inputSchema"]), expected, "{name}");
    }
    let review = tools.iter().find(|tool| tool["name"] == "submit_review").unwrap();
    let mut finding = signature(&review["inputSchema"]["properties"]["findings"]["items"]);
    finding.sort();
    let expected = [
        "category",
        "file_path?",
        "line_end?",
        "line_start?",
        "message",
        "recommendation?",
        "severity",
    ];
    assert_eq!(finding, expected);
}

#[test]
fn every_output_schema_is_an_object_and_no_schema_is_a_bare_boolean() {
    for tool in tools() {
        let name = tool["name"].as_str().unwrap();
        let schema = &tool["outputSchema"];
        assert_eq!(schema["type"], "object", "{name}");
        for word in COMPOSITION {
            assert!(schema.get(word).is_none(), "{name}: {word}");
        }
        check_no_bare_boolean(name, schema);
        check_no_bare_boolean(name, &tool["inputSchema"]);
    }
}

/// `name` for each required parameter, `name?` for each optional one, sorted.
fn signature(schema: &Value) -> Vec<String> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut names: Vec<String> = schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .map(|name| if required.contains(&json!(name)) { name.clone() } else { format!("{name}?") })
        .collect();
    names.sort();
    names
}

fn check_object(place: &str, schema: &Value) {
    for word in COMPOSITION {
        assert!(schema.get(word).is_none(), "{place}: {word}");
    }
    for (name, parameter) in schema["properties"].as_object().unwrap() {
        let place = format!("{place}.{name}");
        assert!(has_text(&parameter["description"]), "{place} has no description");
        check_value(&place, parameter);
    }
}

fn check_value(place: &str, schema: &Value) {
    let kind = schema["type"].as_str().unwrap_or_else(|| panic!("{place}: type {schema}"));
    for word in COMPOSITION {
        assert!(schema.get(word).is_none(), "{place}: {word}");
    }
    match kind {
        "array" => check_value(&format!("{place}[]"), &schema["items"]),
        "object" => check_object(place, schema),
        _ => {}
    }
    if let Some(values) = schema.get("enum") {
        assert_eq!(kind, "string", "{place}");
        assert!(values.as_array().unwrap().iter().all(Value::is_string), "{place}: {values}");
    }
}

/// `"properties": {"x": true}`, what a bare JSON value gives, makes clients drop every tool.
fn check_no_bare_boolean(place: &str, schema: &Value) {
    let Some(fields) = schema.as_object() else { return };
    for (name, field) in fields {
        let place = format!("{place}.{name}");
        match name.as_str() {
            "properties" | "$defs" | "patternProperties" => {
                for (name, inner) in field.as_object().unwrap() {
                    assert!(inner.is_object(), "{place}.{name} is {inner}");
                    check_no_bare_boolean(&format!("{place}.{name}"), inner);
                }
            }
            "items" => {
                assert!(field.is_object(), "{place} is {field}");
                check_no_bare_boolean(&place, field);
            }
            "anyOf" | "oneOf" | "allOf" => {
                for inner in field.as_array().unwrap() {
                    assert!(inner.is_object(), "{place} holds {inner}");
                    check_no_bare_boolean(&place, inner);
                }
            }
            _ => {}
        }
    }
}

fn has_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.trim().is_empty())
}
