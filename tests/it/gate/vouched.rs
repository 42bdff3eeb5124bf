//! What the gate takes for a person's approval, and what is told of those that it does not take:
//! forged ones, an agent's own, asserted ones and another program's.

use std::process::Output;

use serde_json::{Value, json};

use crate::gate::lying::accept;
use crate::gate::questions::{app, asking, verdict};
use crate::support::app::TestApp;
use crate::support::ledger::Ledger;

const ASSERTED: &str = "[approval]\ngate_accepts = [\"asserted\"]\n";
const OTHER_PROGRAMS: &str = "[approval]\ngate_accepts = [\"other_programs\"]\n";

/// What an agent with a shell writes in the place of a person: three statements, and no trigger
/// is touched.
const FORGED: &str = "
    INSERT INTO approvals SELECT 'aaaaaaaaaaaa4aaa8aaaaaaaaaaaaaaa', id,
        (SELECT id FROM agents WHERE name = 'maintainer'), 'APPROVED', 'Fine.',
        '2030-01-01 00:00:00.000000' FROM decisions;
    INSERT INTO events SELECT 'bbbbbbbbbbbb4bbb8bbbbbbbbbbbbbbb', d.project_id, 'decision', d.id,
        'decision.approved', (SELECT id FROM agents WHERE name = 'maintainer'),
        json_object('approval_id', 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', 'comment', 'Fine.',
            'from', 'draft', 'to', 'approved', 'confirmed', 'terminal',
            'diff_hash', (SELECT diff_hash FROM git_changes)),
        '2030-01-01 00:00:00.000000' FROM decisions d;
    UPDATE decisions SET status = 'APPROVED';";

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What a verb prints, which must succeed.
fn run(app: &TestApp, arguments: &[&str]) -> String {
    let output = app.govforge(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    text(&output)
}

/// The answer of the gate: it passes exactly if the exit code is 0.
fn gate(app: &TestApp) -> Value {
    let output = app.govforge(&["gate", "--json"]);
    let answer: Value = serde_json::from_str(&text(&output)).unwrap();
    assert_eq!(answer["passes"], json!(output.status.code() == Some(0)), "{answer}");
    assert_eq!(answer["passes"], json!(answer["reason"] == "approved"), "{answer}");
    answer
}

fn assert_refused(app: &TestApp, reason: &str, told: &[&str]) {
    let answer = gate(app);
    assert_eq!(answer["reason"], reason, "{answer}");
    for part in told {
        assert!(answer["message"].as_str().unwrap().contains(part), "{part}: {answer}");
    }
}

fn execute(app: &TestApp, statements: &str) {
    Ledger::open(&app.ledger_path()).unwrap().execute(statements);
}

/// An approval that an agent sends and nobody is asked about.
fn asserted(app: &TestApp) {
    let mut server = app.serve();
    server.call("approve_decision", verdict());
    server.close();
}

/// An approval by the person at a client that can ask.
fn asked(app: &TestApp) {
    let mut server = asking(app, "2025-11-25");
    let call = json!({ "name": "approve_decision", "arguments": verdict() });
    let sent = server.post("tools/call", call);
    let (question, _) = server.question();
    server.answer(&question, accept("approved"));
    let reply = server.reply_to(sent);
    assert_eq!(reply["result"]["structuredContent"]["decision_status"], "approved", "{reply}");
    server.close();
}

fn one_more_call(app: &TestApp) {
    let mut server = app.serve();
    server.call("create_task", json!({ "project_path": app.here(), "title": "Next" }));
    server.close();
}

/// Every view that shows a verdict or the status that it left, as text.
fn views(app: &TestApp) -> Vec<(&'static str, String)> {
    let page = app.root().join("page.html");
    run(app, &["report", "DEC-001", "-o", page.to_str().unwrap()]);
    let mut server = app.serve();
    let context = server.call("get_decision_context", json!({ "decision_id": "DEC-001" }));
    let mut read = |uri: &str| {
        let reply = server.request("resources/read", json!({ "uri": uri }));
        reply["result"]["contents"][0]["text"].as_str().unwrap().to_owned()
    };
    let decision = read("govforge://decision/DEC-001");
    let timeline = read("govforge://task/TASK-001/timeline");
    server.close();
    vec![
        ("the context's verdicts", context["approvals"].to_string()),
        ("the context's decision", context["decision"].to_string()),
        ("the context's events", context["events"].to_string()),
        ("the resource of the decision", decision),
        ("the timeline resource", timeline),
        ("show", run(app, &["show", "DEC-001"])),
        ("show --json", run(app, &["show", "DEC-001", "--json"])),
        ("list", run(app, &["list"])),
        ("list --json", run(app, &["list", "--json"])),
        ("timeline", run(app, &["timeline", "TASK-001"])),
        ("the report", std::fs::read_to_string(page).unwrap()),
        ("the report for a pull request", run(app, &["report", "DEC-001", "--markdown"])),
        ("the export", run(app, &["export", "--markdown"])),
        ("the list of the report", run(app, &["report", "--all"])),
    ]
}

#[test]
fn a_forged_verdict_passes_no_gate_and_is_told_everywhere() {
    let app = app();
    execute(
        &app,
        "INSERT INTO agents VALUES ('cccccccccccc4ccc8ccccccccccccccc', 'maintainer',
        'HUMAN', NULL, '2026-01-01 00:00:00.000000')",
    );
    execute(&app, FORGED);
    for taken_in in [false, true] {
        assert_refused(&app, "another_program", &["another program", "govforge approve DEC-001"]);
        for (view, text) in views(&app) {
            assert!(text.contains("written by another program"), "{view}, {taken_in}: {text}");
            // What it claims of itself is shown as no knowledge.
            let events = ["the context's events", "the timeline resource", "show --json"];
            assert!(events.contains(&view) || !text.contains("terminal"), "{view}: {text}");
        }
        one_more_call(&app);
    }
    // A person's own approval counts beside it.
    asked(&app);
    assert_eq!(gate(&app)["verdict"]["confirmed"], "asked");
    execute(
        &app,
        "INSERT INTO approvals SELECT 'dddddddddddd4ddd8ddddddddddddddd', decision_id,
        approver_agent_id, 'REJECTED', NULL, created_at FROM approvals LIMIT 1",
    );
    assert_eq!(gate(&app)["passes"], true, "what no event tells of overrules nothing");
}

/// Each is done to a ledger in which a person's approval was overruled by another verdict.
#[test]
fn no_statement_makes_a_verdict_a_persons() {
    let unguarded = "DROP TRIGGER events_are_not_changed; DROP TRIGGER chain_is_not_changed;
        DROP TRIGGER chain_is_not_deleted; PRAGMA foreign_keys = OFF; ";
    let app = app();
    asked(&app);
    let mut server = app.serve();
    let mut overruled = verdict();
    overruled["status"] = json!("needs_changes");
    server.call("approve_decision", overruled);
    let another = json!({ "task_id": "TASK-001", "author_agent": "claude", "title": "Another" });
    server.call("record_decision", another);
    server.close();
    let path = app.ledger_path();
    let original = std::fs::read(&path).unwrap();
    for (statements, reason) in [
        ("UPDATE decisions SET status = 'APPROVED'", "not_vouched"),
        (
            "UPDATE decisions SET status = 'APPROVED';
            UPDATE approvals SET status = 'APPROVED'",
            "not_vouched",
        ),
        (
            "UPDATE decisions SET status = 'APPROVED';
            DELETE FROM approvals WHERE status = 'NEEDS_CHANGES'",
            "not_vouched",
        ),
        (
            "+UPDATE decisions SET status = 'APPROVED';
            UPDATE events SET event_type = 'decision.approved',
                payload_json = json_set(payload_json, '$.to', 'approved',
                    '$.confirmed', 'terminal');
            UPDATE approvals SET status = 'APPROVED'",
            "not_vouched",
        ),
        (
            "+UPDATE decisions SET status = 'APPROVED';
            UPDATE approvals SET status = 'APPROVED'; DELETE FROM event_chain
            WHERE record_kind = 'approval'",
            "not_vouched",
        ),
        (
            "+UPDATE decisions SET status = 'APPROVED'; UPDATE event_chain SET origin = 'govforge',
            token = 'person' WHERE record_kind = 'approval';
            DELETE FROM approvals WHERE status = 'NEEDS_CHANGES'",
            "not_vouched",
        ),
        // A verdict on another decision, carried over.
        (
            "UPDATE decisions SET status = 'APPROVED'; UPDATE approvals SET decision_id =
            (SELECT id FROM decisions WHERE display_id = 'DEC-002')",
            "not_vouched",
        ),
        // A link of one's own making, without its hashes.
        (
            "INSERT INTO approvals SELECT 'aaaaaaaaaaaa4aaa8aaaaaaaaaaaaaaa', decision_id,
                approver_agent_id, 'APPROVED', comment, created_at FROM approvals LIMIT 1;
            INSERT INTO events SELECT 'bbbbbbbbbbbb4bbb8bbbbbbbbbbbbbbb', project_id, entity_type,
                entity_id, event_type, actor_agent_id, json_set(payload_json, '$.approval_id',
                'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', '$.confirmed', 'terminal'), created_at
                FROM events WHERE event_type = 'decision.approved';
            INSERT INTO event_chain SELECT (SELECT MAX(place) + 1 FROM event_chain),
                'bbbbbbbbbbbb4bbb8bbbbbbbbbbbbbbb', event_digest, actor, record_kind,
                'aaaaaaaaaaaa4aaa8aaaaaaaaaaaaaaa', record_digest, origin, NULL, hash, form,
                policies FROM event_chain WHERE record_kind = 'approval' LIMIT 1;
            UPDATE decisions SET status = 'APPROVED'",
            "not_vouched",
        ),
        // Whoever writes to the queue does not become this program.
        (
            "INSERT INTO approvals SELECT 'aaaaaaaaaaaa4aaa8aaaaaaaaaaaaaaa', decision_id,
                approver_agent_id, 'APPROVED', comment, created_at FROM approvals LIMIT 1;
            INSERT INTO events SELECT 'bbbbbbbbbbbb4bbb8bbbbbbbbbbbbbbb', project_id, entity_type,
                entity_id, event_type, actor_agent_id, json_set(payload_json, '$.approval_id',
                'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', '$.confirmed', 'terminal'), created_at
                FROM events WHERE event_type = 'decision.approved';
            UPDATE event_queue SET origin = 'govforge';
            UPDATE decisions SET status = 'APPROVED'",
            "another_program",
        ),
    ] {
        let all = match statements.strip_prefix('+') {
            Some(rest) => format!("{unguarded}{rest}"),
            None => statements.to_owned(),
        };
        execute(&app, &all);
        for _ in 0..2 {
            let answer = gate(&app);
            assert_eq!(answer["reason"], reason, "{statements}: {answer}");
            let list = run(&app, &["list"]);
            assert!(list.contains("approved ("), "{statements}: {list}");
            one_more_call(&app);
        }
        for side in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{side}", path.display()));
        }
        std::fs::write(&path, &original).unwrap();
    }
}

/// A person's approval that a person has overruled stays so, whatever becomes of the row or the
/// name of the later verdict, also once an agent has said again that it is approved.
#[test]
fn a_verdict_that_was_taken_away_still_overrules() {
    let app = app();
    asked(&app);
    let mut server = app.serve();
    server.call(
        "approve_decision",
        json!({ "decision_id": "DEC-001", "approver": "Ada", "status": "needs_changes" }),
    );
    server.call(
        "approve_decision",
        json!({ "decision_id": "DEC-001", "approver": "Bob", "status": "approved" }),
    );
    server.close();
    assert_refused(&app, "asserted", &["Bob"]);
    for statement in [
        "UPDATE agents SET name = 'Adam' WHERE name = 'Ada'",
        "UPDATE approvals SET status = 'APPROVED' WHERE status = 'NEEDS_CHANGES'",
        "DELETE FROM approvals WHERE approver_agent_id IN
            (SELECT id FROM agents WHERE name = 'Adam')",
    ] {
        execute(&app, statement);
        assert_refused(&app, "asserted", &["Bob"]);
        assert!(run(&app, &["list"]).contains("approved (asserted)"), "{statement}");
    }
}

/// A person approved one diff. Whatever the rows say is attached, no other passes.
#[test]
fn a_change_that_was_exchanged_after_the_approval_does_not_pass() {
    let app = app();
    asked(&app);
    assert_eq!(gate(&app)["passes"], true);
    let app = app.with_commit("Sneak in", &[("src/auth.py", Some("pass\n"))]);
    let answer = gate(&app);
    assert_eq!(answer["reason"], "no_decision", "{answer}");
    let sneaked = answer["diff_hash"].as_str().unwrap();
    for statement in [
        format!("UPDATE git_changes SET diff_hash = '{sneaked}'"),
        // A change that no event tells of, and one with an event, of the commit that was approved.
        format!(
            "INSERT INTO git_changes SELECT 'cccccccccccc4ccc8ccccccccccccccc', decision_id,
            repo_path, branch_name, commit_hash, parent_commit_hash, '{sneaked}',
            files_changed_json, insertions, deletions, '2020-01-01 00:00:00.000000'
            FROM git_changes LIMIT 1"
        ),
        "INSERT INTO events SELECT 'bbbbbbbbbbbb4bbb8bbbbbbbbbbbbbbb', project_id, entity_type,
            entity_id, event_type, actor_agent_id, payload_json, '2020-01-01 00:00:00.000000'
            FROM events WHERE event_type = 'decision.git_attached'"
            .to_owned(),
    ] {
        execute(&app, &statement);
        assert_eq!(gate(&app)["passes"], false, "{statement}");
    }
}

#[test]
fn an_agents_own_approval_never_counts() {
    for settings in ["", ASSERTED] {
        let app = TestApp::init()
            .with_commit("Do it", &[("a.txt", Some("a\n"))])
            .with_file("shop/.govforge/config.toml", settings);
        let mut server = app.serve();
        server.call("create_task", json!({ "project_path": app.here(), "title": "A task" }));
        let record = json!({ "task_id": "TASK-001", "author_agent": "nova", "title": "Do it" });
        server.call("record_decision", record);
        let attach = json!({ "decision_id": "DEC-001", "repo_path": app.here() });
        server.call("attach_git_diff", attach);
        for approver in ["claude", "nova", "N\u{43e}va"] {
            let approve =
                json!({ "decision_id": "DEC-001", "approver": approver, "status": "approved" });
            server.call("approve_decision", approve);
            assert_refused(&app, "by_an_agent", &[approver, "govforge approve DEC-001"]);
        }
        // It rules nothing either: a review moves the decision.
        let context = server.call("get_decision_context", json!({ "decision_id": "DEC-001" }));
        assert_eq!(context["approvals"][0]["caveat"], "by an agent");
        let request = json!({ "decision_id": "DEC-001", "reviewer_agent": "codex" });
        assert_eq!(server.call("request_review", request.clone())["status"], "review_required");
        let approve = json!({ "decision_id": "DEC-001", "approver": "Ada", "status": "approved" });
        server.call("approve_decision", approve);
        assert!(server.try_call("request_review", request).is_err());
        server.close();
        assert_eq!(gate(&app)["passes"], settings == ASSERTED);
    }
}

#[test]
fn an_asserted_approval_counts_only_where_the_settings_say_so() {
    let app = app();
    asserted(&app);
    let told = ["nobody asked a person", "govforge approve DEC-001", "gate_accepts"];
    assert_refused(&app, "asserted", &told);
    let verdict = gate(&app)["verdict"].clone();
    assert_eq!(
        (&verdict["approver"], &verdict["confirmed"]),
        (&json!("maintainer"), &json!("asserted"))
    );
    assert!(verdict["given_at"].is_string() && verdict["doubt"].is_null(), "{verdict}");
    for (view, text) in views(&app) {
        assert!(text.contains("asserted"), "{view}: {text}");
    }
    // Whoever loosens them for the moment of the push gains nothing.
    let app = app.with_file("shop/.govforge/config.toml", ASSERTED);
    assert_refused(&app, "asserted", &["while the settings did not accept that"]);
    asserted(&app);
    let answer = gate(&app);
    assert_eq!(answer["passes"], true, "{answer}");
    assert_eq!(answer["verdict"]["accepted_as"], "asserted");
    let app = app.with_file("shop/.govforge/config.toml", "");
    assert_refused(&app, "asserted", &[]);
}

#[test]
fn a_person_who_was_asked_passes_and_is_named() {
    let app = app();
    asked(&app);
    let answer = gate(&app);
    let verdict = &answer["verdict"];
    assert_eq!(answer["passes"], true, "{answer}");
    assert_eq!(
        (&verdict["approver"], &verdict["confirmed"]),
        (&json!("maintainer"), &json!("asked"))
    );
    assert!(verdict["accepted_as"].is_null() && verdict["doubt"].is_null(), "{verdict}");
    let message = run(&app, &["gate"]);
    assert!(message.contains("approved by DEC-001: \"maintainer\", asked, "), "{message}");
    for (view, text) in views(&app) {
        assert!(!text.contains("another program") && !text.contains("caveat"), "{view}: {text}");
    }
}

/// The original writes rows and an event; nothing here can vouch for them.
#[test]
fn a_verdict_of_the_original_counts_only_where_the_settings_say_so() {
    let statements = include_str!("../../fixtures/ledger/sqlalchemy.sql");
    for taken_in in [false, true] {
        let app = TestApp::init().with_commit("Check it", &[("src/auth.py", Some("check()\n"))]);
        let commit = app.git(&["rev-parse", "HEAD"]);
        let diff = gate(&app)["diff_hash"].as_str().unwrap().to_owned();
        let statements = statements.replace("/srv/shop", app.here().to_str().unwrap());
        std::fs::remove_file(app.ledger_path()).unwrap();
        Ledger::create(&app.ledger_path(), &statements);
        let project = "(SELECT project_id FROM decisions LIMIT 1)";
        execute(
            &app,
            &format!(
                "UPDATE git_changes SET commit_hash = '{0}', diff_hash = '{diff}';
             UPDATE events SET payload_json = json_set(payload_json, '$.commit_hash', '{0}')
                WHERE event_type = 'decision.git_attached';
             INSERT INTO agents (id, name, type) VALUES ('cccccccccccc4ccc8ccccccccccccccc', 'Ada',
                'HUMAN');
             INSERT INTO approvals (id, decision_id, approver_agent_id, status, created_at)
                SELECT 'aaaaaaaaaaaa4aaa8aaaaaaaaaaaaaaa', decision_id,
                'cccccccccccc4ccc8ccccccccccccccc', 'APPROVED', '2026-05-11 10:00:00.000000'
                FROM git_changes LIMIT 1;
             INSERT INTO events (id, project_id, entity_type, entity_id, event_type,
                actor_agent_id, payload_json, created_at)
                SELECT 'bbbbbbbbbbbb4bbb8bbbbbbbbbbbbbbb', {project}, 'decision', decision_id,
                'decision.approved', 'cccccccccccc4ccc8ccccccccccccccc', json_object('approval_id',
                'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', 'comment', NULL, 'to', 'approved'),
                '2026-05-11 10:00:00.000000' FROM git_changes LIMIT 1;
             UPDATE decisions SET status = 'APPROVED'
                WHERE id IN (SELECT decision_id FROM git_changes);",
                commit.trim()
            ),
        );
        if taken_in {
            one_more_call(&app);
        }
        assert_refused(&app, "another_program", &["other_programs", "govforge audit verify"]);
        let app = app.with_file("shop/.govforge/config.toml", OTHER_PROGRAMS);
        let answer = gate(&app);
        assert_eq!(answer["passes"], true, "{answer}");
        assert_eq!(answer["verdict"]["accepted_as"], "other_programs");
        assert_eq!(answer["verdict"]["doubt"], "written by another program");
        assert!(answer["verdict"]["confirmed"].is_null());
        assert!(answer["message"].as_str().unwrap().contains("gate_accepts"), "{answer}");
    }
}

/// One event dated to the end of time, and an approval of one diff then covered the next.
#[test]
fn a_time_far_in_the_future_moves_nothing() {
    let app = app();
    execute(
        &app,
        "INSERT INTO events SELECT 'bbbbbbbbbbbb4bbb8bbbbbbbbbbbbbbb', project_id,
        entity_type, entity_id, 'decision.noted', NULL, '{}', '9999-12-31 23:59:59.999999'
        FROM events WHERE event_type = 'decision.created'",
    );
    asked(&app);
    assert_eq!(gate(&app)["passes"], true);
    let app = app.with_commit("Sneak in", &[("src/auth.py", Some("pass\n"))]);
    let mut server = app.serve();
    let attach = json!({ "decision_id": "DEC-001", "repo_path": app.here() });
    server.call("attach_git_diff", attach);
    let context = server.call("get_decision_context", json!({ "decision_id": "DEC-001" }));
    server.close();
    assert_eq!(context["decision"]["status"], "review_required");
    assert_eq!(context["approvals"][0]["stale"], true);
    assert_refused(&app, "not_approved", &["review_required"]);
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    let own = "SELECT count(*) FROM events e JOIN event_chain c ON c.event_id = e.id
        WHERE c.origin = 'govforge' AND e.created_at > '9999'";
    assert_eq!(ledger.column(own), ["0"], "it is not followed");
    let order = "SELECT count(*) FROM event_chain c JOIN event_chain n ON n.place > c.place
        JOIN events a ON a.id = c.event_id JOIN events b ON b.id = n.event_id
        WHERE c.origin = 'govforge' AND n.origin = 'govforge' AND a.created_at > b.created_at";
    assert_eq!(ledger.column(order), ["0"], "the timeline keeps its order");
    for verb in [&["status"][..], &["doctor"], &["audit", "verify"]] {
        let told = text(&app.govforge(verb));
        assert!(told.contains("9999-12-31"), "{verb:?}: {told}");
    }
}

#[test]
fn settings_that_changed_between_two_verdicts_are_on_the_record() {
    let app = app();
    let events = |app: &TestApp| {
        let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
        ledger.column(
            "SELECT event_type FROM events e JOIN event_chain c ON c.event_id = e.id
            WHERE event_type IN ('decision.approved', 'decision.settings_changed') ORDER BY place",
        )
    };
    let (changed, approved) = ("decision.settings_changed", "decision.approved");
    asserted(&app);
    asserted(&app);
    assert_eq!(events(&app), [approved, approved]);
    let app = app.with_file("shop/.govforge/config.toml", "[approval]\nconfirm = \"never\"\n");
    asked_in_vain(&app);
    let app = app.with_file("shop/.govforge/config.toml", "");
    asserted(&app);
    let all = [approved, approved, changed, approved, changed, approved];
    assert_eq!(events(&app), all);
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    let settings = ledger.column(
        "SELECT json_extract(payload_json, '$.settings.confirm') FROM events
        WHERE event_type = 'decision.approved' ORDER BY created_at",
    );
    assert_eq!(settings, ["auto", "auto", "never", "auto"]);
    drop(ledger);
    let timeline = run(&app, &["timeline", "TASK-001"]);
    assert!(timeline.contains("confirm from auto to never"), "{timeline}");
    assert!(timeline.contains("confirm from never to auto"), "{timeline}");
    assert!(run(&app, &["audit", "verify"]).contains("each as it was recorded"));
}

/// A verdict over a client that could ask, where the settings keep it from doing so.
fn asked_in_vain(app: &TestApp) {
    let mut server = asking(app, "2025-11-25");
    server.call("approve_decision", verdict());
    server.close();
}

#[test]
fn settings_that_are_looser_than_the_default_are_told() {
    let app = app();
    assert!(!run(&app, &["status"]).contains("Looser"));
    let app = app.with_file(
        "shop/.govforge/config.toml",
        "[approval]\nconfirm = \"never\"\ngate_accepts = [\"asserted\"]\n",
    );
    let status = run(&app, &["status"]);
    for told in ["Looser than the default", "confirm = \"never\"", "gate_accepts \"asserted\""] {
        assert!(status.contains(told), "{told}: {status}");
    }
    let status: Value = serde_json::from_str(&run(&app, &["status", "--json"])).unwrap();
    let settings = &status["projects"][0]["settings"];
    assert_eq!(settings["confirm"], "never");
    assert_eq!(settings["looser"].as_array().unwrap().len(), 2, "{settings}");
}
