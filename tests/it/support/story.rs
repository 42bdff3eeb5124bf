//! The story of one decision, as calls: every tool, every kind of row.

use serde_json::{Value, json};

use super::app::TestApp;
use super::server::Server;

/// A registered repository with a commit that changes `src/auth.py`, adds a test and, by
/// mistake, a secret ([`SECRET`]).
pub fn app() -> TestApp {
    let secret = format!("password=\"{SECRET}\"\n");
    let auth = format!("def login(user, password):\n    return check(user, password)\n{secret}");
    TestApp::init()
        .with_commit("Start the login", &[("src/auth.py", Some("def login(user):\n"))])
        .with_commit(
            "Check the password at login",
            &[
                ("src/auth.py", Some(auth.as_str())),
                ("tests/test_auth.py", Some("def test_login():\n")),
            ],
        )
}

/// Stands in the committed change, and must stand nowhere else.
pub const SECRET: &str = "correct-horse-battery-staple";

/// One call of every tool, in an order in which each succeeds.
pub fn calls(app: &TestApp) -> Vec<(&'static str, Value)> {
    let project = app.here().to_str().unwrap();
    vec![
        (
            "create_task",
            json!({
                "project_path": project,
                "title": "Harden the login",
                "description": "Logins without a password must fail.",
                "risk_level": "high",
                "actor_agent": "claude",
            }),
        ),
        (
            "record_decision",
            json!({
                "task_id": "TASK-001",
                "author_agent": "claude",
                "title": "Check the password at login",
                "summary": "login() takes the password.",
                "rationale": "It let everybody in.",
                "risk_level": "high",
                "human_approval_required": true,
            }),
        ),
        (
            "attach_git_diff",
            json!({ "decision_id": "DEC-001", "repo_path": project, "actor_agent": "claude" }),
        ),
        ("run_policy_checks", json!({ "decision_id": "DEC-001", "actor_agent": "claude" })),
        (
            "request_review",
            json!({
                "decision_id": "DEC-001",
                "reviewer_agent": "codex",
                "focus": ["security"],
                "actor_agent": "claude",
            }),
        ),
        (
            "submit_review",
            json!({
                "decision_id": "DEC-001",
                "reviewer_agent": "codex",
                "status": "changes_requested",
                "summary": "One thing to fix.",
                "findings": [{
                    "severity": "high",
                    "category": "security",
                    "message": "A password stands in the code.",
                    "file_path": "src/auth.py",
                    "line_start": 3,
                    "line_end": 3,
                    "recommendation": "Remove it and change it.",
                }],
            }),
        ),
        (
            "record_disagreement",
            json!({
                "decision_id": "DEC-001",
                "topic": "Whether the password is a test's",
                "author_position": "It is only a test's.",
                "reviewer_position": "It opens the door.",
                "risk_summary": "Everybody gets in.",
                "actor_agent": "claude",
            }),
        ),
        ("list_open_reviews", json!({ "project_path": project })),
        ("list_pending_approvals", json!({ "project_path": project })),
        (
            "approve_decision",
            json!({
                "decision_id": "DEC-001",
                "approver": "maintainer",
                "status": "needs_changes",
                "comment": "Remove it first.",
            }),
        ),
        ("get_decision_context", json!({ "decision_id": "DEC-001" })),
    ]
}

/// The repository, and a ledger that holds the whole story.
pub fn told() -> TestApp {
    let app = app();
    let mut server = app.serve();
    for (tool, arguments) in calls(&app) {
        server.call(tool, arguments);
    }
    server.close();
    app
}

/// Reads every resource, gets every prompt and asks for every list.
pub fn read_everything(server: &mut Server) {
    let list = server.request("resources/list", Value::Null);
    let listed = list["result"]["resources"].as_array().expect("resources are listed").clone();
    assert!(!listed.is_empty());
    for resource in listed {
        let reply = server.request("resources/read", json!({ "uri": resource["uri"] }));
        assert!(reply.get("result").is_some(), "{resource}: {reply}");
    }
    for prompt in ["review_code_decision", "explain_disagreement", "summarize_decision"] {
        let arguments = json!({ "decision_id": "DEC-001" });
        let reply =
            server.request("prompts/get", json!({ "name": prompt, "arguments": arguments }));
        assert!(reply.get("result").is_some(), "{prompt}: {reply}");
    }
    for list in ["tools/list", "prompts/list", "resources/templates/list"] {
        assert!(server.request(list, Value::Null).get("result").is_some(), "{list}");
    }
}
