//! The ledger file: what another program, the original first of all, finds in it.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Map, Value, json};

use crate::support::app::TestApp;
use crate::support::ledger::{Ledger, OF_THE_ORIGINAL, TABLES, as_text};
use crate::support::output_schema::mismatches;
use crate::support::server::Server;
use crate::support::story;

/// The columns of each table; `?` marks those that may be null.
const COLUMNS: [(&str, &str); 12] = [
    ("projects", "id name root_path default_branch created_at updated_at"),
    ("agents", "id name type metadata_json? created_at"),
    (
        "tasks",
        "id display_id project_id title description? risk_level status created_by_agent_id? \
         created_at updated_at",
    ),
    (
        "decisions",
        "id display_id project_id task_id? author_agent_id title summary? rationale? status \
         risk_level human_approval_required created_at updated_at",
    ),
    (
        "git_changes",
        "id decision_id repo_path branch_name? commit_hash parent_commit_hash? diff_hash? \
         files_changed_json insertions deletions created_at",
    ),
    ("reviews", "id display_id decision_id reviewer_agent_id status summary? created_at"),
    (
        "findings",
        "id review_id severity category file_path? line_start? line_end? message recommendation?",
    ),
    ("policies", "id name description? enabled severity config_json? created_at"),
    ("policy_results", "id decision_id policy_id status message? evidence_json? created_at"),
    (
        "disagreements",
        "id decision_id topic author_position? reviewer_position? risk_summary? \
         requires_human_decision resolution? resolved_by_agent_id? resolved_at? created_at",
    ),
    ("approvals", "id decision_id approver_agent_id status comment? created_at"),
    (
        "events",
        "id project_id entity_type entity_id event_type actor_agent_id? payload_json? created_at",
    ),
];

const UNIQUE: [(&str, &str); 5] = [
    ("projects", "root_path"),
    ("agents", "name"),
    ("tasks", "project_id,display_id"),
    ("decisions", "project_id,display_id"),
    ("policies", "name"),
];

const INDEXES: [(&str, &str); 10] = [
    ("tasks", "project_id,status"),
    ("decisions", "project_id,status"),
    ("git_changes", "commit_hash"),
    ("git_changes", "decision_id"),
    ("reviews", "decision_id"),
    ("policy_results", "decision_id"),
    ("disagreements", "decision_id"),
    ("approvals", "decision_id"),
    ("events", "project_id,created_at"),
    ("events", "entity_type,entity_id"),
];

/// Column, table it refers to, and what happens to the row when that one is deleted.
const FOREIGN_KEYS: [(&str, &str); 12] = [
    ("projects", ""),
    ("agents", ""),
    ("tasks", "created_by_agent_id>agents=keep project_id>projects=CASCADE"),
    ("decisions", "author_agent_id>agents=keep project_id>projects=CASCADE task_id>tasks=SET NULL"),
    ("git_changes", "decision_id>decisions=CASCADE"),
    ("reviews", "decision_id>decisions=CASCADE reviewer_agent_id>agents=keep"),
    ("findings", "review_id>reviews=CASCADE"),
    ("policies", ""),
    ("policy_results", "decision_id>decisions=CASCADE policy_id>policies=keep"),
    ("disagreements", "decision_id>decisions=CASCADE resolved_by_agent_id>agents=keep"),
    ("approvals", "approver_agent_id>agents=keep decision_id>decisions=CASCADE"),
    ("events", "actor_agent_id>agents=keep project_id>projects=CASCADE"),
];

/// Plays the story and opens its ledger.
fn after_the_story() -> (TestApp, Ledger) {
    let app = story::app();
    let mut server = app.serve();
    for (tool, arguments) in story::calls(&app) {
        server.call(tool, arguments);
    }
    server.close();
    let ledger = Ledger::open(&app.ledger_path()).expect("the ledger");
    (app, ledger)
}

#[test]
fn a_new_ledger_has_the_twelve_tables_with_their_columns_keys_and_indexes() {
    let app = TestApp::init();
    let mut ledger = Ledger::open(&app.ledger_path()).expect("init makes the ledger");
    for (table, columns) in COLUMNS {
        let found: Vec<String> = ledger
            .rows(&format!("PRAGMA table_info({table})"))
            .iter()
            .map(|column| {
                let required = column["notnull"] == json!(1) || column["pk"] != json!(0);
                as_text(&column["name"]) + if required { "" } else { "?" }
            })
            .collect();
        let expected: Vec<&str> = columns.split_whitespace().collect();
        assert_eq!(found, expected, "{table}");
    }
    for (table, columns) in UNIQUE {
        assert!(indexes(&mut ledger, table, true).contains(&columns.to_owned()), "{table}");
    }
    for (table, columns) in INDEXES {
        let found = indexes(&mut ledger, table, false);
        let serves = |index: &String| index == columns || index.starts_with(&format!("{columns},"));
        assert!(found.iter().any(serves), "{table} has no index on {columns}, but {found:?}");
    }
    for (table, keys) in FOREIGN_KEYS {
        let mut found: Vec<String> = ledger
            .rows(&format!("PRAGMA foreign_key_list({table})"))
            .iter()
            .map(|key| {
                let then = match key["on_delete"].as_str().unwrap() {
                    "NO ACTION" | "RESTRICT" => "keep",
                    other => other,
                };
                format!("{}>{}={then}", as_text(&key["from"]), as_text(&key["table"]))
            })
            .collect();
        found.sort();
        assert_eq!(found.join(" "), keys, "{table}");
    }
}

/// Ids, enums, timestamps, JSON and booleans in the exact form that SQLAlchemy reads.
#[test]
fn every_stored_value_has_the_form_that_the_original_writes() {
    let (_app, mut ledger) = after_the_story();
    let id = Regex::new("^[0-9a-f]{32}$").unwrap();
    let time = Regex::new(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$").unwrap();
    for table in TABLES {
        let rows = ledger.rows(&format!("SELECT * FROM {table}"));
        assert!(!rows.is_empty(), "the story leaves {table} empty");
        for row in rows {
            for (column, value) in &row {
                let place = format!("{table}.{column} = {value}");
                let text = value.as_str().unwrap_or_default();
                match column.as_str() {
                    _ if value.is_null() => {}
                    "display_id" => {}
                    "human_approval_required" | "requires_human_decision" | "enabled" => {
                        assert!(*value == json!(0) || *value == json!(1), "{place}");
                    }
                    "insertions" | "deletions" | "line_start" | "line_end" => {
                        assert!(value.is_i64(), "{place}");
                    }
                    "risk_level" | "status" | "severity" | "category" | "type" => {
                        let upper = |c: char| c.is_ascii_uppercase() || c == '_';
                        assert!(!text.is_empty() && text.chars().all(upper), "{place}");
                    }
                    name if name == "id" || name.ends_with("_id") => {
                        assert!(id.is_match(text), "{place}");
                    }
                    name if name.ends_with("_at") => assert!(time.is_match(text), "{place}"),
                    name if name.ends_with("_json") => {
                        assert!(serde_json::from_str::<Value>(text).is_ok(), "{place}");
                    }
                    _ => assert!(value.is_string(), "{place}"),
                }
            }
        }
    }
    assert_eq!(ledger.rows("PRAGMA foreign_key_check"), Vec::<Map<String, Value>>::new());
}

#[test]
fn the_story_is_stored_column_by_column() {
    let (app, mut ledger) = after_the_story();
    let mut one = |query: &str| -> BTreeMap<String, Value> {
        let mut rows = ledger.rows(query);
        assert_eq!(rows.len(), 1, "{query}");
        rows.remove(0).into_iter().collect()
    };
    let project = one("SELECT * FROM projects");
    assert_eq!(project["name"], "shop");
    assert_eq!(project["root_path"], app.here().to_str().unwrap());
    assert_eq!(project["default_branch"], "main");
    let task = one("SELECT * FROM tasks");
    assert_eq!(task["display_id"], "TASK-001");
    assert_eq!(task["status"], "OPEN");
    assert_eq!(task["risk_level"], "HIGH");
    assert_eq!(task["project_id"], project["id"]);
    let decision = one("SELECT * FROM decisions");
    assert_eq!(decision["task_id"], task["id"]);
    assert_eq!(decision["project_id"], project["id"]);
    assert_eq!(decision["status"], "CHANGES_REQUESTED");
    assert_eq!(decision["human_approval_required"], 1);
    let change = one("SELECT * FROM git_changes");
    let files: Value =
        serde_json::from_str(change["files_changed_json"].as_str().unwrap()).unwrap();
    assert_eq!(files, json!(["src/auth.py", "tests/test_auth.py"]));
    assert_eq!(change["repo_path"], app.here().to_str().unwrap());
    assert_eq!(change["commit_hash"], app.git(&["rev-parse", "HEAD"]).trim());
    assert_eq!(change["parent_commit_hash"], app.git(&["rev-parse", "HEAD~1"]).trim());
    assert_eq!(change["branch_name"], "main");
    let finding = one("SELECT * FROM findings");
    assert_eq!(finding["severity"], "HIGH");
    assert_eq!(finding["category"], "SECURITY");
    assert_eq!((&finding["line_start"], &finding["line_end"]), (&json!(3), &json!(3)));
    let approval = one("SELECT * FROM approvals");
    assert_eq!(approval["status"], "NEEDS_CHANGES");
    let agents = ledger.column("SELECT name || '=' || type FROM agents ORDER BY name");
    assert_eq!(agents, ["claude=CLAUDE", "codex=CODEX", "maintainer=HUMAN"]);
    let actors = ledger.column(
        "SELECT DISTINCT event_type || ' by ' || a.name FROM events e
         JOIN agents a ON a.id = e.actor_agent_id ORDER BY 1",
    );
    assert_eq!(
        actors,
        [
            "decision.created by claude",
            "decision.git_attached by claude",
            "decision.needs_changes by maintainer",
            "decision.policy_evaluated by claude",
            "decision.status_changed by claude",
            "decision.status_changed by codex",
            "disagreement.recorded by claude",
            "review.requested by claude",
            "review.submitted by codex",
            "task.created by claude",
        ]
    );
    let passed = ledger.column("SELECT count(*) FROM policy_results WHERE status = 'PASSED'");
    assert_ne!(passed, ["0"]);
    let evidence = ledger.column(
        "SELECT evidence_json FROM policy_results r JOIN policies p ON p.id = r.policy_id
         WHERE p.name = 'auth_change_requires_review'",
    );
    assert!(evidence[0].contains("src/auth.py"), "{evidence:?}");
}

/// A ledger that SQLAlchemy made is read and written as it is, and keeps its form.
#[test]
fn a_ledger_of_the_original_is_read_and_written() {
    let (app, mut server) = with_a_ledger_of_the_original(&[]);
    let project = app.here().to_str().unwrap();
    let before = rows_of_all_tables(&app);
    let context = server.call("get_decision_context", json!({ "decision_id": "DEC-001" }));
    let tools = server.request("tools/list", Value::Null);
    let tools = tools["result"]["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == "get_decision_context").unwrap();
    assert_eq!(mismatches(&tool["outputSchema"], &context), Vec::<String>::new());
    assert_eq!(
        context["decision"],
        json!({
            "id": "DEC-001",
            "title": "Check the password — at login",
            "status": "review_required",
            "risk_level": "high",
            "summary": "Größe ✓",
            "rationale": null,
            "human_approval_required": true,
        })
    );
    assert_eq!(context["git_change"]["files_changed"], json!(["src/auth.py", "tests/grün.py"]));
    assert_eq!(context["reviews"][0]["findings_count"], json!(1));
    assert_eq!(context["policy_results"][0]["status"], "blocked");
    assert_eq!(context["policy_results"][1]["message"], Value::Null);
    assert_eq!(context["disagreements"][0]["resolution"], "A slow one.");
    assert_eq!(context["approvals"][0]["status"], "needs_changes");
    let events: Vec<&str> = context["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        events,
        [
            "decision.created",
            "decision.policy_evaluated",
            "review.submitted",
            "disagreement.recorded"
        ]
    );
    assert_eq!(context["events"][0]["created_at"], "2026-05-10T14:02:31.120Z");
    let open = server.call("list_open_reviews", json!({ "project_path": project }));
    assert_eq!(open["reviews"][0]["reviewer_agent"], "codex");
    story::read_everything(&mut server);
    assert_eq!(rows_of_all_tables(&app), before, "reading changes nothing");

    let task = server.call(
        "create_task",
        json!({ "project_path": project, "title": "Next", "actor_agent": "claude code" }),
    );
    assert_eq!(task["task_id"], "TASK-002");
    let decision = server.call(
        "record_decision",
        json!({ "task_id": "TASK-001", "author_agent": "codex", "title": "Next" }),
    );
    assert_eq!(decision["decision_id"], "DEC-008", "the sequence goes on after the highest");
    let review = server.call(
        "submit_review",
        json!({ "decision_id": "DEC-007", "reviewer_agent": "codex", "status": "commented" }),
    );
    assert_eq!(review["review_id"], "REV-002");
    server.call(
        "attach_git_diff",
        json!({ "decision_id": "DEC-001", "repo_path": project, "actor_agent": "codex" }),
    );
    server.call("run_policy_checks", json!({ "decision_id": "DEC-001", "actor_agent": "codex" }));

    // The original writes in between, by its own count.
    Ledger::open(&app.ledger_path()).unwrap().execute(
        "INSERT INTO decisions SELECT 'ffffffff000040008000000000000001', 'DEC-009', project_id,
            task_id, author_agent_id, 'Written by the original', summary, rationale, status,
            risk_level, human_approval_required, created_at, updated_at
         FROM decisions WHERE display_id = 'DEC-007'",
    );
    let decision = server.call(
        "record_decision",
        json!({ "task_id": "TASK-001", "author_agent": "codex", "title": "After it" }),
    );
    assert_eq!(decision["decision_id"], "DEC-010");
    server.close();

    let after = rows_of_all_tables(&app);
    for table in TABLES {
        for row in &before[table] {
            // What the original wrote about a decision may move on; nothing else may change.
            let kept = after[table].iter().any(|other| other["id"] == row["id"]);
            assert!(kept, "{table} lost {row:?}");
        }
    }
    assert_eq!(after["agents"].len(), 3, "the agents are found again in any case");
    assert_eq!(after["projects"], before["projects"]);
}

#[test]
fn a_sequence_grows_past_three_digits() {
    let (app, mut server) = with_a_ledger_of_the_original(&[("DEC-007", "DEC-999")]);
    for (title, id) in [("One more", "DEC-1000"), ("And another", "DEC-1001")] {
        let call = json!({ "task_id": "TASK-001", "author_agent": "codex", "title": title });
        assert_eq!(server.call("record_decision", call)["decision_id"], id);
    }
    let context = server.call("get_decision_context", json!({ "decision_id": "dec-1000" }));
    assert_eq!(context["decision"]["title"], "One more");
    server.close();
    drop(app);
}

/// An agent is found by its exact name, else by the name in any case.
#[test]
fn an_agent_is_found_by_its_exact_name_first() {
    let (app, mut server) = with_a_ledger_of_the_original(&[]);
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    ledger.execute(
        "INSERT INTO agents (id, name, type, created_at) VALUES
            ('ffffffff000040008000000000000002', 'CODEX', 'CODEX', '2026-05-10 14:02:11.000000')",
    );
    for (given, found) in [("codex", "codex"), ("CODEX", "CODEX"), ("MAINTAINER", "maintainer")] {
        let call = json!({ "task_id": "TASK-001", "author_agent": given, "title": given });
        server.call("record_decision", call);
        let authors = ledger.column(&format!(
            "SELECT a.name FROM decisions d JOIN agents a ON a.id = d.author_agent_id
             WHERE d.title = '{given}'"
        ));
        assert_eq!(authors, [found]);
    }
    server.close();
}

/// No two events share a time: a reader that knows nothing of ids sorts them as they happened.
#[test]
fn the_events_of_one_call_keep_their_order_in_the_file() {
    let (_app, mut ledger) = after_the_story();
    let by_time = ledger.column("SELECT event_type FROM events ORDER BY created_at, id DESC");
    let times = ledger.column("SELECT COUNT(DISTINCT created_at) FROM events");
    assert_eq!(times, [by_time.len().to_string()]);
    assert_eq!(
        by_time,
        [
            "task.created",
            "decision.created",
            "decision.git_attached",
            "decision.policy_evaluated",
            "decision.status_changed",
            "review.requested",
            "decision.status_changed",
            "review.submitted",
            "disagreement.recorded",
            "decision.needs_changes",
        ]
    );
}

/// A server on a ledger that SQLAlchemy made, some texts of which are replaced.
fn with_a_ledger_of_the_original(replaced: &[(&str, &str)]) -> (TestApp, Server) {
    let app = TestApp::empty()
        .with_repo("shop")
        .with_commit("Start", &[("README.md", Some("# Shop\n")), (".govforge/.keep", Some(""))]);
    let statements = OF_THE_ORIGINAL;
    let statements = statements.replace("/srv/shop", app.here().to_str().unwrap());
    let statements = replaced.iter().fold(statements, |text, (old, new)| text.replace(old, new));
    Ledger::create(&app.ledger_path(), &statements);
    let server = app.serve();
    (app, server)
}

fn rows_of_all_tables(app: &TestApp) -> BTreeMap<&'static str, Vec<Map<String, Value>>> {
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    let rows = |table| (table, ledger.rows(&format!("SELECT * FROM {table} ORDER BY id")));
    TABLES.into_iter().map(rows).collect()
}

/// The columns of each index of a table, `a,b`.
fn indexes(ledger: &mut Ledger, table: &str, unique: bool) -> Vec<String> {
    ledger
        .rows(&format!("PRAGMA index_list({table})"))
        .iter()
        .filter(|index| !unique || index["unique"] == json!(1))
        .map(|index| as_text(&index["name"]))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|name| {
            let columns = ledger.rows(&format!("PRAGMA index_info(\"{name}\")"));
            columns.iter().map(|column| as_text(&column["name"])).collect::<Vec<_>>().join(",")
        })
        .collect()
}
