//! What an agent sees when the ledger cannot be used, or not yet.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::ledger::Ledger;
use crate::support::server::{Client, Server};
use crate::support::story;

/// Answered from the binary alone.
fn ask_what_needs_no_ledger(server: &mut Server) {
    for list in ["tools/list", "prompts/list", "resources/templates/list"] {
        assert!(server.request(list, Value::Null).get("result").is_some(), "{list}");
    }
    let prompt = json!({ "name": "summarize_decision", "arguments": { "decision_id": "DEC-001" } });
    assert!(server.request("prompts/get", prompt).get("result").is_some());
}

/// A file that is no ledger is left as it is, and every call says what is wrong with it.
#[test]
fn a_file_that_is_no_ledger_is_told_and_left_alone() {
    let garbage = "This is a letter, and no database.\n".repeat(200);
    let app = TestApp::empty()
        .with_repo("shop")
        .with_commit("Start", &[(".govforge/policies.toml", Some(""))])
        .with_file("shop/.govforge/govforge.db", &garbage);
    let project = app.here().to_str().unwrap();
    let mut server = app.serve();
    ask_what_needs_no_ledger(&mut server);
    for (tool, arguments) in [
        ("create_task", json!({ "project_path": project, "title": "A task" })),
        ("get_decision_context", json!({ "decision_id": "DEC-001" })),
        ("list_open_reviews", json!({ "project_path": project })),
    ] {
        let text = server.try_call(tool, arguments).expect_err(tool);
        assert!(text.contains("-32603") || text.contains("UnusableLedger"), "{tool}: {text}");
        for raw in ["file is not a database", "code: 26", "Sqlite", "sqlx"] {
            assert!(!text.contains(raw), "{tool}: {text}");
        }
    }
    ask_what_needs_no_ledger(&mut server);
    server.close();
    assert_eq!(std::fs::read_to_string(app.ledger_path()).unwrap(), garbage);
}

/// A folder where the file should be is no reason to die, either.
#[test]
fn a_folder_in_the_place_of_the_ledger_is_told() {
    let app = TestApp::empty()
        .with_repo("shop")
        .with_commit("Start", &[(".govforge/policies.toml", Some(""))]);
    std::fs::create_dir(app.ledger_path()).unwrap();
    let mut server = app.serve();
    let call = json!({ "project_path": app.here(), "title": "A task" });
    let text = server.try_call("create_task", call).expect_err("there is no ledger");
    assert!(text.contains("-32603") || text.contains("UnusableLedger"), "{text}");
    ask_what_needs_no_ledger(&mut server);
    server.close();
}

/// A row with damaged JSON spoils the answers that need it at most; the rest stays usable.
#[test]
fn one_damaged_value_leaves_the_rest_usable() {
    let app = story::app();
    let project = app.here().to_str().unwrap();
    let mut server = app.serve();
    for (tool, arguments) in story::calls(&app) {
        server.call(tool, arguments);
    }
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    ledger.execute("UPDATE policy_results SET evidence_json = '{broken'");
    for (method, params) in [
        (
            "tools/call",
            json!({ "name": "get_decision_context", "arguments": { "decision_id": "DEC-001" } }),
        ),
        ("resources/read", json!({ "uri": "govforge://decision/DEC-001" })),
    ] {
        let reply = server.request(method, params);
        let code = &reply["error"]["code"];
        assert!(code.is_null() || *code == json!(-32603), "{reply}");
        assert!(!reply.to_string().contains("at line 1 column"), "{reply}");
    }
    server.call("create_task", json!({ "project_path": project, "title": "Another" }));
    let decision = server.call(
        "record_decision",
        json!({ "task_id": "TASK-002", "author_agent": "codex", "title": "Another" }),
    );
    server.call("get_decision_context", json!({ "decision_id": decision["decision_id"] }));
    server.call("list_open_reviews", json!({ "project_path": project }));
    server.close();
}

/// A row that cannot be read is left out of lists, and nothing but its own record misses it.
#[test]
fn a_damaged_row_stops_neither_writes_nor_lists() {
    for damage in [
        "UPDATE events SET created_at = 'then' WHERE rowid = (SELECT max(rowid) FROM events)",
        "UPDATE events SET created_at = x'00ff' WHERE rowid = (SELECT max(rowid) FROM events)",
        "UPDATE decisions SET created_at = 'then'",
        "UPDATE policies SET config_json = '{broken'",
        "UPDATE policies SET created_at = 'then'",
        "PRAGMA ignore_check_constraints = 1; UPDATE policies SET severity = 'HUGE'",
        "PRAGMA ignore_check_constraints = 1; UPDATE display_sequences SET last_number = -1",
        "UPDATE display_sequences SET last_number = 9223372036854775807",
        "DELETE FROM display_sequences; \
         UPDATE tasks SET display_id = 'TASK-18446744073709551615'",
        "INSERT INTO projects (id, name, root_path, default_branch, created_at, updated_at) \
         VALUES ('no id', 'other', '/nowhere', 'main', 'then', 'then')",
        "UPDATE display_sequences SET last_number = 'many'",
        "UPDATE display_sequences SET last_number = 1.5",
        "UPDATE display_sequences SET last_number = x'ff'",
        "DELETE FROM display_sequences; UPDATE decisions SET display_id = x'ff'",
        // Events that wait to be taken in.
        "INSERT INTO events SELECT x'ff', project_id, entity_type, entity_id, event_type, \
         actor_agent_id, payload_json, created_at FROM events LIMIT 1",
        "INSERT INTO events SELECT CAST(x'ff' AS TEXT), project_id, entity_type, x'ff', \
         event_type, actor_agent_id, x'ff', x'ff' FROM events \
         WHERE event_type = 'decision.policy_evaluated'",
        "INSERT INTO events SELECT 'ee', project_id, entity_type, entity_id, event_type, \
         actor_agent_id, payload_json, created_at FROM events LIMIT 1; \
         UPDATE event_queue SET origin = x'ff'; \
         UPDATE agents SET name = CAST(x'ff' AS TEXT) WHERE name = 'claude'",
        // The end of the chain.
        "INSERT INTO event_chain (place, event_id, event_digest, origin, hash) \
         VALUES (99, 'ee', '', 'govforge', x'ff')",
        "INSERT INTO event_chain (place, event_id, event_digest, origin, hash) \
         VALUES (9223372036854775807, 'ee', '', 'govforge', '')",
    ] {
        let app = story::app();
        let project = app.here().to_str().unwrap();
        let mut server = app.serve();
        for (tool, arguments) in story::calls(&app) {
            server.call(tool, arguments);
        }
        server.close();
        Ledger::open(&app.ledger_path()).unwrap().damage(damage);

        let mut server = app.serve();
        let mut call = |tool, arguments| {
            server.try_call(tool, arguments).unwrap_or_else(|text| panic!("{damage}: {text}"))
        };
        let task = call("create_task", json!({ "project_path": project, "title": "Another" }));
        let decision = call(
            "record_decision",
            json!({ "task_id": task["task_id"], "author_agent": "codex", "title": "Another" }),
        );
        let decision = &decision["decision_id"];
        call("attach_git_diff", json!({ "decision_id": decision, "repo_path": project }));
        call("run_policy_checks", json!({ "decision_id": decision }));
        call("get_decision_context", json!({ "decision_id": decision }));
        call("list_pending_approvals", json!({ "project_path": project }));
        call("list_open_reviews", json!({ "project_path": project }));
        let list = server.request("resources/list", json!({}));
        assert!(list["result"]["resources"].is_array(), "{damage}: {list}");
        server.close();
    }
}

/// Another project's record of the next number cannot be read, and there is no counter.
#[test]
fn a_damaged_row_elsewhere_takes_no_number() {
    let app = story::told();
    let mut server = app.serve();
    Ledger::open(&app.ledger_path()).unwrap().execute(
        "DELETE FROM display_sequences;
         INSERT INTO projects SELECT 'cc', 'other', '/nowhere', 'main', created_at, updated_at
            FROM projects;
         INSERT INTO tasks SELECT 'dd', 'TASK-002', 'cc', x'ff', NULL, risk_level, status, NULL,
            'then', 'then' FROM tasks",
    );
    let arguments = json!({ "project_path": app.here().to_str().unwrap(), "title": "Another" });
    assert_eq!(server.call("create_task", arguments)["task_id"], "TASK-002");
    server.close();
}

/// A write beyond the limit on the size of files fails, and neither the process nor the
/// connections to the ledger go with it.
#[cfg(unix)]
#[test]
fn a_limit_on_the_size_of_files_ends_nothing() {
    let app = TestApp::init();
    let limited = format!("ulimit -f 1024; exec '{}'", env!("CARGO_BIN_EXE_govforge"));
    let mut command = app.hermetic("sh");
    command.args(["-c", &limited]);
    let mut server = Server::start(command, &Client::of("2025-11-25"));
    let task =
        |text: &str| json!({ "project_path": app.here(), "title": "A task", "description": text });
    let large = "x".repeat(600_000);
    let refused = (0..12).filter_map(|_| server.try_call("create_task", task(&large)).err());
    let refused: Vec<String> = refused.collect();
    assert!(refused.len() > 8, "{refused:?}");
    assert!(refused.iter().all(|text| !text.contains("carry out a statement")), "{refused:?}");
    server.call("list_open_reviews", json!({ "project_path": app.here() }));
    server.close();
    app.serve().call("create_task", task("There is room again."));
}

/// A schema version that no program wrote is no ledger's, and no reason to panic.
#[test]
fn a_schema_version_below_zero_is_refused() {
    let app = TestApp::init();
    Ledger::open(&app.ledger_path()).unwrap().execute("PRAGMA user_version = -3");
    let mut server = app.serve();
    let list = json!({ "project_path": app.here() });
    let text = server.try_call("list_open_reviews", list).expect_err("a foreign file");
    assert!(text.contains("UnusableLedger"), "{text}");
    server.close();
}

/// Another process holds the lock: what needs no ledger and what only reads is answered at
/// once, and a write waits politely until the lock is free.
#[test]
fn a_lock_delays_only_the_writes() {
    let app = story::app();
    let project = app.here().to_str().unwrap();
    let mut server = app.serve();
    for (tool, arguments) in story::calls(&app) {
        server.call(tool, arguments);
    }
    server.close();

    let mut other = Ledger::open(&app.ledger_path()).unwrap();
    other.execute("BEGIN IMMEDIATE; UPDATE tasks SET title = 'Being written'");
    let mut server = app.serve();
    ask_what_needs_no_ledger(&mut server);
    let context = server.call("get_decision_context", json!({ "decision_id": "DEC-001" }));
    assert_eq!(context["decision"]["id"], "DEC-001");
    story::read_everything(&mut server);
    let call = json!({ "project_path": project, "title": "Waits" });
    let write = json!({ "name": "create_task", "arguments": call });
    let read = json!({ "name": "list_open_reviews", "arguments": { "project_path": project } });
    let write = server.post("tools/call", write);
    let read = server.post("tools/call", read);
    let reply = server.reply_to(read);
    assert!(reply["result"]["structuredContent"].is_object(), "{reply}");
    // The write is under way, or soon will be; either way it may not fail.
    std::thread::sleep(Duration::from_millis(100));
    other.execute("COMMIT");
    let reply = server.reply_to(write);
    assert_eq!(reply["result"]["structuredContent"]["task_id"], "TASK-002", "{reply}");
    server.close();
}

/// A ledger of a later version is told and left alone.
#[test]
fn a_ledger_of_a_later_version_is_told_and_left_alone() {
    let app = TestApp::init();
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    ledger.execute("PRAGMA user_version = 4000");
    let before = ledger.counts();
    let call = json!({ "project_path": app.here(), "title": "A task" });
    let mut server = app.serve();
    let text = server.try_call("create_task", call).expect_err("it is from the future");
    assert!(text.contains("UnusableLedger"), "{text}");
    ask_what_needs_no_ledger(&mut server);
    server.close();
    assert_eq!(ledger.counts(), before);
    assert_eq!(ledger.column("PRAGMA user_version"), ["4000"]);
}

/// Before the first write there is no file, and nothing that only reads makes one.
#[test]
fn reading_makes_no_ledger() {
    let app = TestApp::empty()
        .with_repo("shop")
        .with_commit("Start", &[(".govforge/policies.toml", Some(""))]);
    let project = app.here().to_str().unwrap();
    let mut server = app.serve();
    ask_what_needs_no_ledger(&mut server);
    assert!(server.request("resources/list", Value::Null).get("result").is_some());
    for tool in ["list_open_reviews", "list_pending_approvals"] {
        // Whether the project counts as registered before it is: no matter here.
        let _ = server.try_call(tool, json!({ "project_path": project }));
    }
    server.try_call("get_decision_context", json!({ "decision_id": "DEC-001" })).unwrap_err();
    server.try_call("create_task", json!({ "project_path": project, "title": "" })).unwrap_err();
    server.close();
    let left: Vec<_> = std::fs::read_dir(Path::new(project).join(".govforge"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["policies.toml"]);
}
