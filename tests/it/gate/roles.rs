//! Tokens: which tools a server lists and runs, and what becomes of one that is revoked.

use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::ledger::Ledger;
use crate::support::server::Server;

/// Runs a verb that must succeed; gives the first line of what it prints.
fn verb(app: &TestApp, arguments: &[&str]) -> String {
    let output = app.govforge(arguments);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{arguments:?}: {text}");
    text.lines().next().unwrap_or_default().to_owned()
}

fn create(app: &TestApp, label: &str, rest: &[&str]) -> String {
    let start = ["token", "create", "--label", label, "--agent", "claude"];
    verb(app, &[&start, rest].concat())
}

fn tools(server: &mut Server) -> Vec<String> {
    let list = server.request("tools/list", Value::Null);
    let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("{list}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_server_lists_and_runs_what_its_token_covers() {
    let app = TestApp::init();
    let project = app.here().to_str().unwrap().to_owned();
    let author = create(&app, "author", &["--role", "author"]);
    assert!(author.starts_with("gfp_") && author.len() > 40, "{author}");
    let reviewer = create(&app, "reviewer", &["--role", "reviewer"]);
    let approver = create(&app, "approver", &["--role", "approver"]);
    let narrow = create(&app, "narrow", &["--scopes", "tasks:write,approvals:read"]);
    let admin = create(&app, "admin", &["--scopes", "admin"]);
    let nobody =
        app.govforge(&["token", "create", "--label", "x", "--agent", " ", "--role", "author"]);
    assert_eq!(nobody.status.code(), Some(2), "an unset variable gives no person's token");
    let app = app.with_env("GOVFORGE_API_TOKEN", &author);
    let mut server = app.serve();
    let listed = tools(&mut server);
    assert!(listed.contains(&"create_task".to_owned()));
    assert!(!listed.contains(&"approve_decision".to_owned()), "{listed:?}");
    server.call("create_task", json!({ "project_path": project, "title": "A task" }));
    let verdict = json!({ "decision_id": "DEC-001", "approver": "me", "status": "approved" });
    let text = server.try_call("approve_decision", verdict).unwrap_err();
    assert!(text.starts_with("NotPermitted") && text.contains("approvals:write"), "{text}");
    server.close();
    for (token, expected) in [(&reviewer, 5), (&approver, 4), (&narrow, 2), (&admin, 11)] {
        let app = TestAppWith(&app, token);
        let mut server = app.serve();
        assert_eq!(tools(&mut server).len(), expected);
        server.close();
    }
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    assert_eq!(ledger.column("SELECT token FROM event_chain"), ["author"]);
    let stored = ledger.column("SELECT hashed_secret || prefix || label FROM api_tokens");
    assert!(stored.iter().all(|row| !row.contains(&author[8..])), "a secret is stored");
    assert_eq!(ledger.column("SELECT count(*) FROM api_tokens WHERE last_used_at > ''"), ["1"]);
}

/// The same machine with another token.
struct TestAppWith<'a>(&'a TestApp, &'a str);

impl TestAppWith<'_> {
    fn serve(&self) -> Server {
        let mut command = self.0.command();
        command.env("GOVFORGE_API_TOKEN", self.1);
        Server::start(command, &crate::support::server::Client::of("2025-11-25"))
    }
}

#[test]
fn a_revocation_takes_effect_on_a_running_server() {
    let app = TestApp::init();
    let project = app.here().to_str().unwrap().to_owned();
    let token = create(&app, "author", &["--role", "author"]);
    let running = TestAppWith(&app, &token);
    let mut server = running.serve();
    let call = json!({ "project_path": project, "title": "A task" });
    server.call("create_task", call.clone());
    assert_eq!(verb(&app, &["token", "revoke", "author"]), "Revoked \"author\".");
    let text = server.try_call("create_task", call).unwrap_err();
    assert!(text.contains("was revoked"), "{text}");
    assert!(tools(&mut server).is_empty());
    server.close();
    let again = app.govforge(&["token", "revoke", "author"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(verb(&app, &["token", "list"]).contains("revoked"));
}

#[test]
fn a_token_that_is_not_accepted_lists_nothing_and_says_why() {
    let app = TestApp::init();
    let token = create(&app, "author", &["--role", "author", "--expires", "1"]);
    Ledger::open(&app.ledger_path())
        .unwrap()
        .execute("UPDATE api_tokens SET expires_at = '2020-01-01 00:00:00.000000'");
    let almost = format!("{}0", &token[..token.len() - 1]);
    let other = format!("{}1", &token[..token.len() - 1]);
    for (token, why) in [
        (token.as_str(), "has expired"),
        ("gfp_nobody", "is not known"),
        ("x", "is not known"),
        // One of the two is the token itself.
        (if almost == token { &other } else { &almost }, "is not known"),
    ] {
        let mut server = TestAppWith(&app, token).serve();
        assert!(tools(&mut server).is_empty(), "{token}");
        let params = crate::support::server::initialize_params("2025-11-25");
        let reply = server.request("initialize", params);
        let instructions = reply["result"]["instructions"].as_str().unwrap();
        assert!(instructions.contains(why), "{instructions}");
        server.close();
    }
}

fn resources(server: &mut Server) -> Vec<String> {
    let list = server.request("resources/list", Value::Null);
    let resources = list["result"]["resources"].as_array().unwrap_or_else(|| panic!("{list}"));
    resources.iter().map(|resource| resource["uri"].as_str().unwrap().to_owned()).collect()
}

fn read(server: &mut Server, uri: &str) -> Value {
    server.request("resources/read", json!({ "uri": uri }))
}

/// What the tools would not show, no resource shows either.
#[test]
fn resources_are_read_as_far_as_the_token_covers_them() {
    let app = TestApp::init();
    let project = app.here().to_str().unwrap().to_owned();
    let mut server = app.serve();
    server.call("create_task", json!({ "project_path": project, "title": "A task" }));
    let decision = json!({ "task_id": "TASK-001", "author_agent": "claude", "title": "One" });
    server.call("record_decision", decision);
    let review = json!({
        "decision_id": "DEC-001", "reviewer_agent": "codex", "status": "commented",
    });
    server.call("request_review", json!({ "decision_id": "DEC-001", "reviewer_agent": "codex" }));
    server.call("submit_review", review);
    let all = resources(&mut server);
    assert_eq!(all.len(), 5, "{all:?}");
    server.close();

    let expired = create(&app, "old", &["--role", "author", "--expires", "1"]);
    Ledger::open(&app.ledger_path())
        .unwrap()
        .execute("UPDATE api_tokens SET expires_at = '2020-01-01 00:00:00.000000'");
    let revoked = create(&app, "gone", &["--role", "author"]);
    verb(&app, &["token", "revoke", "gone"]);
    for token in [expired.as_str(), &revoked, "gfp_nobody"] {
        let mut server = TestAppWith(&app, token).serve();
        assert!(resources(&mut server).is_empty());
        for uri in &all {
            let reply = read(&mut server, uri);
            assert_eq!(reply["error"]["code"], -32602, "{reply}");
            assert!(reply["error"]["message"].as_str().unwrap().starts_with("NotPermitted"));
        }
        // These tell nothing of the ledger.
        let templates = server.request("resources/templates/list", Value::Null);
        assert_eq!(templates["result"]["resourceTemplates"].as_array().unwrap().len(), 5);
        let prompt =
            json!({ "name": "summarize_decision", "arguments": { "decision_id": "DEC-001" } });
        assert!(server.request("prompts/get", prompt)["result"]["messages"].is_array());
        server.close();
    }

    for (scopes, covered) in [
        ("decisions:read", 4),
        ("reviews:read", 1),
        ("tasks:write,approvals:read", 0),
        ("admin", 5),
    ] {
        let token = create(&app, scopes, &["--scopes", scopes]);
        let mut server = TestAppWith(&app, &token).serve();
        let listed = resources(&mut server);
        assert_eq!(listed.len(), covered, "{scopes}: {listed:?}");
        for uri in &all {
            let reply = read(&mut server, uri);
            assert_eq!(reply.get("result").is_some(), listed.contains(uri), "{scopes}: {reply}");
        }
        server.close();
    }

    let token = create(&app, "running", &["--role", "reviewer"]);
    let mut server = TestAppWith(&app, &token).serve();
    assert_eq!(resources(&mut server).len(), 5);
    verb(&app, &["token", "revoke", "running"]);
    assert!(resources(&mut server).is_empty());
    assert!(read(&mut server, "govforge://decision/DEC-001").get("error").is_some());
    server.close();
}

#[test]
fn the_token_may_stand_in_a_file() {
    let app = TestApp::init();
    let token = create(&app, "reviewer", &["--role", "reviewer"]);
    let app = app.with_file("home/.config/govforge/auth.toml", &format!("token = \"{token}\"\n"));
    let mut server = app.serve();
    assert_eq!(tools(&mut server).len(), 5);
    server.close();
    let app = app.with_file("home/.config/govforge/auth.toml", "tokne = \"gfp_x\"\n");
    let mut server = app.serve();
    assert!(tools(&mut server).is_empty());
    server.close();
}
