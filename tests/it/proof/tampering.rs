//! The record under attack: what an agent with a shell does to the file is refused by it, or
//! shows in `audit verify`.

use std::collections::BTreeSet;
use std::process::Output;

use serde_json::json;

use crate::support::app::TestApp;
use crate::support::ledger::{Ledger, OF_THE_ORIGINAL};
use crate::support::story;

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn head(app: &TestApp) -> String {
    text(&app.govforge(&["audit", "head"])).trim().to_owned()
}

/// Verifies a record that must be sound.
fn assert_sound(app: &TestApp) {
    let output = app.govforge(&["audit", "verify"]);
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn an_untouched_record_is_sound() {
    let app = TestApp::init();
    assert_sound(&app);
    assert_eq!(head(&app), "0".repeat(64));
    let app = story::told();
    assert_sound(&app);
    let kept = head(&app);
    let mut server = app.serve();
    let project = app.here().to_str().unwrap();
    server.call("create_task", json!({ "project_path": project, "title": "Later" }));
    server.close();
    assert_ne!(head(&app), kept);
    let output = app.govforge(&["audit", "verify", "--head", &kept]);
    assert!(output.status.success());
    assert!(text(&output).contains("nothing before it changed"), "{}", text(&output));
    // No head of this chain, and no head at all.
    for (wrong, code) in [(&*"ab".repeat(32), 1), ("short", 2)] {
        let output = app.govforge(&["audit", "verify", "--head", wrong]);
        assert_eq!(output.status.code(), Some(code), "{wrong}");
    }
}

/// Statements that the file itself refuses.
#[test]
fn events_and_their_chain_cannot_be_rewritten_by_plain_statements() {
    let app = story::told();
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    for statement in [
        "UPDATE events SET payload_json = '{}'",
        "UPDATE events SET created_at = '2020-01-01 00:00:00.000000'",
        "UPDATE OR REPLACE events SET event_type = 'decision.approved'",
        "DELETE FROM events",
        "DELETE FROM events WHERE event_type = 'decision.needs_changes'",
        "INSERT OR REPLACE INTO events SELECT * FROM events LIMIT 1",
        "REPLACE INTO events SELECT * FROM events",
        "UPDATE event_chain SET hash = ''",
        "DELETE FROM event_chain",
    ] {
        assert!(ledger.try_execute(statement).is_err(), "{statement}");
    }
    drop(ledger);
    assert_sound(&app);
}

/// Statements that the file takes: each shows, with what was done and from where on.
#[test]
fn whatever_the_file_takes_shows() {
    let unguarded = "DROP TRIGGER events_are_not_changed; DROP TRIGGER events_are_not_deleted;
        DROP TRIGGER events_are_queued; DROP TRIGGER chain_is_not_changed;
        DROP TRIGGER chain_is_not_deleted; PRAGMA foreign_keys = OFF; ";
    let app = story::told();
    let path = app.ledger_path();
    let original = std::fs::read(&path).unwrap();
    for (statements, told) in [
        ("UPDATE decisions SET status = 'APPROVED'", "DEC-001 stands at approved"),
        ("UPDATE decisions SET human_approval_required = 0", "the decision DEC-001"),
        ("UPDATE decisions SET title = 'Another'", "the decision DEC-001"),
        ("UPDATE decisions SET rationale = NULL", "the decision DEC-001"),
        ("UPDATE tasks SET title = 'Another'", "the task TASK-001"),
        ("UPDATE approvals SET status = 'APPROVED'", "the approval"),
        ("UPDATE approvals SET comment = 'Fine.'", "the approval"),
        ("DELETE FROM approvals", "was removed"),
        ("UPDATE reviews SET summary = 'Fine.'", "the review REV-001"),
        ("UPDATE findings SET severity = 'INFO'", "the review REV-001"),
        ("DELETE FROM findings", "the review REV-001"),
        ("INSERT INTO findings SELECT 'f', review_id, severity, category, file_path, line_start,
            line_end, message, recommendation FROM findings", "the review REV-001"),
        ("UPDATE git_changes SET diff_hash = 'sha256:00'", "the git change"),
        ("UPDATE git_changes SET files_changed_json = '[]'", "the git change"),
        ("UPDATE git_changes SET repo_path = X'ff00'", "the git change"),
        ("UPDATE disagreements SET topic = 'Nothing'", "the disagreement"),
        ("UPDATE disagreements SET resolution = 'Fine.'", "the disagreement"),
        ("UPDATE disagreements SET resolved_at = '2030-01-01 00:00:00.000000'",
            "the disagreement"),
        ("CREATE TRIGGER planted AFTER INSERT ON approvals BEGIN
            UPDATE approvals SET status = 'APPROVED' WHERE id = NEW.id; END",
            "the trigger \"planted\" of the ledger was added"),
        ("DROP TRIGGER events_are_queued",
            "the trigger \"events_are_queued\" of the ledger was removed"),
        ("DROP TRIGGER events_are_not_changed; CREATE TRIGGER events_are_not_changed
            AFTER INSERT ON reviews BEGIN DELETE FROM findings; END",
            "the trigger \"events_are_not_changed\" of the ledger was changed"),
        ("DELETE FROM disagreements", "was removed"),
        ("UPDATE policy_results SET status = 'PASSED'", "the policy run"),
        ("UPDATE policy_result_runs SET config_hash = 'sha256:00'", "the policy run"),
        ("DELETE FROM policy_results WHERE status = 'BLOCKED'", "the policy run"),
        ("INSERT INTO policy_results SELECT 'p', decision_id, policy_id, 'PASSED', message,
            evidence_json, '2030-01-01 00:00:00.000000' FROM policy_results LIMIT 1",
            "policy result(s)"),
        ("UPDATE agents SET name = 'alice' WHERE name = 'maintainer'", "is now HUMAN alice"),
        ("UPDATE agents SET type = 'HUMAN' WHERE name = 'claude'", "is now HUMAN claude"),
        ("INSERT INTO approvals SELECT 'ff', decision_id, approver_agent_id, 'APPROVED', comment,
            created_at FROM approvals", "no event vouches for it"),
        ("DELETE FROM projects", "was removed"),
        ("+UPDATE events SET payload_json = '{}' WHERE event_type = 'decision.created'",
            "from event 2 on: the event decision.created"),
        ("+DELETE FROM events WHERE event_type = 'decision.created'", "from event 2 on"),
        ("+INSERT INTO events SELECT 'ee', project_id, entity_type, entity_id,
            'decision.approved', actor_agent_id, '{\"to\":\"approved\"}', created_at FROM events
            LIMIT 1", "was added past the chain"),
        ("+DELETE FROM event_chain WHERE place = 3", "links 3 to 3"),
        ("+UPDATE event_chain SET record_digest = NULL WHERE place = 2", "does not follow"),
        ("+UPDATE event_chain SET token = 'mine' WHERE place = 2", "does not follow"),
        ("+DELETE FROM projects", "was removed"),
        // A value of another kind that reads the same, and bytes that are no text.
        ("UPDATE decisions SET title = CAST(title AS BLOB)", "the decision DEC-001"),
        ("UPDATE decisions SET summary = CAST(X'ff' AS TEXT)", "the decision DEC-001"),
        ("UPDATE git_changes SET insertions = CAST(CAST(insertions AS TEXT) AS BLOB)",
            "the git change"),
        ("UPDATE decisions SET status = CAST(status AS BLOB)", "DEC-001 stands at"),
        ("UPDATE decisions SET status = LOWER(status)", "in another spelling"),
        // Rows that no walk comes by.
        ("+INSERT INTO decisions SELECT X'00ff', 'DEC-009', project_id, task_id, author_agent_id,
            title, summary, rationale, status, risk_level, human_approval_required, created_at,
            updated_at FROM decisions", "of decisions was added: no event vouches for it"),
        ("INSERT INTO event_chain (place, event_id, event_digest, origin, hash)
            VALUES (-1, 'ee', '', 'govforge', '')", "1 link(s) were added beside the places"),
        ("INSERT INTO event_chain (place, event_id, event_digest, origin, hash)
            VALUES (9223372036854775807, 'ee', '', 'govforge', '')",
            "1 link(s) were added beside the places"),
        ("PRAGMA foreign_keys = OFF; CREATE TABLE kept AS SELECT * FROM approvals;
            DROP TABLE approvals; CREATE TABLE approvals AS SELECT * FROM kept;
            INSERT INTO approvals SELECT id, decision_id, approver_agent_id, 'APPROVED', comment,
            created_at FROM kept", "1 row(s) of approvals were added without an id of their own"),
        ("PRAGMA foreign_keys = OFF; CREATE TABLE kept AS SELECT * FROM approvals;
            DROP TABLE approvals; CREATE TABLE approvals AS SELECT * FROM kept;
            INSERT INTO approvals SELECT NULL, decision_id, approver_agent_id, 'APPROVED', comment,
            created_at FROM kept", "1 row(s) of approvals were added without an id of their own"),
        ("PRAGMA foreign_keys = OFF; CREATE TABLE kept AS SELECT * FROM policies;
            DROP TABLE policies; CREATE TABLE policies AS SELECT * FROM kept;
            INSERT INTO policies SELECT * FROM kept LIMIT 1", "1 row(s) of policies were added"),
        ("+DROP TABLE event_queue; CREATE TABLE event_queue (turn INTEGER PRIMARY KEY, event_id,
            origin); INSERT INTO event_queue (event_id) VALUES (NULL); INSERT INTO events
            SELECT 'ee', project_id, entity_type, entity_id, 'noted', actor_agent_id, NULL,
            created_at FROM events LIMIT 1", "was added past the chain"),
        // What stands in the place of the tables and beside them.
        ("PRAGMA legacy_alter_table = ON; ALTER TABLE approvals RENAME TO kept;
            CREATE VIEW approvals AS SELECT * FROM kept", "the table approvals of the ledger"),
        ("PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('TRIGGER', 'planted',
            'approvals', 0, 'CREATE TRIGGER planted AFTER INSERT ON approvals BEGIN
            UPDATE approvals SET status = ''APPROVED'' WHERE id = NEW.id; END')",
            "the trigger \"planted\" of the ledger was added"),
        // What waits, or seems to, excuses nothing but what it tells.
        ("INSERT INTO events SELECT 'ee', project_id, entity_type, entity_id, 'decision.noted',
            actor_agent_id, '{}', created_at FROM events WHERE event_type = 'decision.created';
            UPDATE decisions SET status = 'APPROVED'", "DEC-001 stands at approved"),
        ("INSERT INTO event_queue (event_id) SELECT id FROM events;
            UPDATE decisions SET status = 'APPROVED'", "DEC-001 stands at approved"),
        ("INSERT INTO event_queue (event_id) SELECT id FROM events;
            UPDATE policies SET severity = 'LOW'", "was changed after the run of event"),
    ] {
        for side in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{side}", path.display()));
        }
        std::fs::write(&path, &original).unwrap();
        let all = match statements.strip_prefix('+') {
            Some(rest) => format!("{unguarded}{rest}"),
            None => statements.to_owned(),
        };
        Ledger::open(&path).unwrap().execute(&all);
        let output = app.govforge(&["audit", "verify"]);
        assert_eq!(output.status.code(), Some(1), "{statements}: {}", text(&output));
        assert!(text(&output).contains(told), "{statements}: {}", text(&output));
    }
}

/// Whoever writes the schema can leave a row out of an index. A row that is not found by its id
/// still shows, and one that is left out of another index where the whole file is checked.
#[test]
fn a_row_that_an_index_leaves_out_shows() {
    for (index, statement, strict) in [
        (
            "sqlite_autoindex_approvals_1",
            "INSERT INTO approvals SELECT 'ff', decision_id, approver_agent_id, 'APPROVED', NULL,
                created_at FROM approvals",
            false,
        ),
        (
            "ix_approvals_decision_id",
            "UPDATE approvals SET decision_id = SUBSTR(decision_id, 2)",
            true,
        ),
    ] {
        let app = story::told();
        let path = app.ledger_path();
        let part = |statements: &str| {
            let unchecked = "PRAGMA foreign_keys = OFF; PRAGMA writable_schema = ON; ";
            Ledger::open(&path).unwrap().execute(&format!("{unchecked}{statements}"));
        };
        let key = "UPDATE sqlite_schema SET sql = REPLACE(sql, ";
        if strict {
            // The index keeps what it had while the row is another.
            part("UPDATE approvals SET decision_id = 'x' || decision_id");
        }
        part(&format!(
            "CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE name = '{index}';
             {key} 'id                CHAR(32)    NOT NULL PRIMARY KEY',
                'id                CHAR(32)    NOT NULL') WHERE name = 'approvals' AND NOT {strict};
             DELETE FROM sqlite_schema WHERE name = '{index}'"
        ));
        part(statement);
        part(&format!(
            "{key} 'id                CHAR(32)    NOT NULL',
                'id                CHAR(32)    NOT NULL PRIMARY KEY') \
                WHERE name = 'approvals' AND NOT {strict};
             INSERT INTO sqlite_schema SELECT * FROM kept; DROP TABLE kept"
        ));
        let arguments: &[&str] =
            if strict { &["audit", "verify", "--strict"] } else { &["audit", "verify"] };
        let output = app.govforge(arguments);
        assert_eq!(output.status.code(), Some(1), "{index}: {}", text(&output));
        let told = if strict { index } else { "no event vouches for it" };
        assert!(text(&output).contains(told), "{index}: {}", text(&output));
    }
}

/// A forged approval with its event looks like what the original writes. It is taken in as
/// another program's, and told as that, also when the forger says otherwise.
#[test]
fn a_forged_approval_is_told_as_another_programs() {
    let app = story::told();
    Ledger::open(&app.ledger_path()).unwrap().execute(
        "INSERT INTO approvals SELECT 'aaaaaaaaaaaa4aaa8aaaaaaaaaaaaaaa', decision_id,
            approver_agent_id, 'APPROVED', 'Fine.', created_at FROM approvals;
         INSERT INTO events SELECT 'bbbbbbbbbbbb4bbb8bbbbbbbbbbbbbbb', project_id, entity_type,
            entity_id, 'decision.approved', actor_agent_id,
            '{\"approval_id\":\"aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa\",\"to\":\"approved\"}',
            created_at FROM events WHERE event_type = 'decision.needs_changes';
         UPDATE event_queue SET origin = 'earlier';
         UPDATE decisions SET status = 'APPROVED';",
    );
    let waiting = text(&app.govforge(&["audit", "verify"]));
    assert!(waiting.contains("1 event(s) of another program wait"), "{waiting}");
    let mut server = app.serve();
    let project = app.here().to_str().unwrap();
    server.call("create_task", json!({ "project_path": project, "title": "Next" }));
    server.close();
    let told = text(&app.govforge(&["audit", "verify"]));
    assert!(told.contains("written by another program"), "{told}");
    assert!(told.contains("event 11: decision.approved"), "{told}");
}

/// A call knows its own events from forged ones, however many wait before them.
#[test]
fn a_long_history_of_the_original_does_not_hide_who_wrote_what() {
    let app = story::told();
    Ledger::open(&app.ledger_path()).unwrap().execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10001)
         INSERT INTO events SELECT printf('%032d', n.i), e.project_id, e.entity_type, e.entity_id,
            'task.seen', NULL, NULL, e.created_at FROM n, (SELECT * FROM events
            WHERE event_type = 'task.created') e;",
    );
    let mut server = app.serve();
    let project = app.here().to_str().unwrap();
    server.call("create_task", json!({ "project_path": project, "title": "Next" }));
    server.close();
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    let newest = "SELECT origin FROM event_chain ORDER BY place DESC LIMIT 2";
    assert_eq!(ledger.column(newest), ["govforge", "other"]);
    assert!(ledger.column("SELECT turn FROM event_queue").is_empty());
    drop(ledger);
    assert_sound(&app);
}

/// A head that was written into a link stands in the chain, and still proves nothing.
#[test]
fn a_head_that_was_written_into_a_link_proves_nothing() {
    let app = story::told();
    let kept = "ab".repeat(32);
    Ledger::open(&app.ledger_path()).unwrap().execute(&format!(
        "DROP TRIGGER chain_is_not_changed; UPDATE event_chain SET hash = '{kept}' WHERE place = 3"
    ));
    let output = app.govforge(&["audit", "verify", "--head", &kept]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!text(&output).contains("nothing before it changed"), "{}", text(&output));
}

/// Whoever rewrites the whole chain cannot make the head that is kept elsewhere.
#[test]
fn a_new_chain_does_not_have_the_head_that_was_kept() {
    let app = story::told();
    let kept = head(&app);
    Ledger::open(&app.ledger_path()).unwrap().execute(
        "DROP TRIGGER events_are_not_changed; DROP TRIGGER chain_is_not_deleted;
         UPDATE events SET payload_json = replace(payload_json, 'Remove', 'Keep');
         DELETE FROM event_chain;
         INSERT INTO event_queue (event_id, origin) SELECT id, 'earlier' FROM events
            ORDER BY created_at, id;",
    );
    let mut server = app.serve();
    let project = app.here().to_str().unwrap();
    server.call("create_task", json!({ "project_path": project, "title": "Next" }));
    server.close();
    let output = app.govforge(&["audit", "verify", "--head", &kept]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("is not in this chain"), "{}", text(&output));
}

#[test]
fn an_export_is_checked_without_the_ledger() {
    let app = story::told();
    let kept = head(&app);
    let export = text(&app.govforge(&["export"]));
    assert_eq!(export.lines().count(), 10);
    let file = app.root().join("record.jsonl");
    let verify = |content: &str| {
        std::fs::write(&file, content).unwrap();
        app.govforge(&["audit", "verify", file.to_str().unwrap(), "--head", &kept])
    };
    std::fs::remove_file(app.ledger_path()).unwrap();
    assert!(verify(&export).status.success());
    for (was, is) in [("Remove it first.", "Keep it."), ("NEEDS_CHANGES", "APPROVED")] {
        assert!(export.contains(was));
        let output = verify(&export.replace(was, is));
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        assert!(text(&output).contains("from event 10 on"), "{}", text(&output));
    }
    let shortened: Vec<&str> = export.lines().take(9).collect();
    let output = verify(&shortened.join("\n"));
    assert!(text(&output).contains("is not in this chain"), "{}", text(&output));
    let gap: Vec<&str> = export.lines().enumerate().filter(|(i, _)| *i != 4).map(|l| l.1).collect();
    assert!(text(&verify(&gap.join("\n"))).contains("links 5 to 5"));
    assert_eq!(verify("{}").status.code(), Some(1));
}

/// Eight servers that write at once make one chain, without a gap.
#[test]
fn concurrent_writers_do_not_fork_the_chain() {
    const SERVERS: usize = 8;
    const CALLS: usize = 5;
    let app = TestApp::init();
    let project = app.here().to_str().unwrap();
    std::thread::scope(|scope| {
        for number in 0..SERVERS {
            let app = &app;
            scope.spawn(move || {
                let mut server = app.serve();
                for call in 0..CALLS {
                    let title = format!("Task {call} of {number}");
                    server.call("create_task", json!({ "project_path": project, "title": title }));
                }
                server.close();
            });
        }
    });
    assert_sound(&app);
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    let hashes: BTreeSet<String> =
        ledger.column("SELECT hash FROM event_chain").into_iter().collect();
    assert_eq!(hashes.len(), SERVERS * CALLS);
    assert_eq!(ledger.column("SELECT max(place) FROM event_chain"), ["40"]);
}

/// What the original writes is taken in by the next write, before that write's own events.
#[test]
fn events_of_the_original_are_taken_in() {
    let app = TestApp::empty()
        .with_repo("shop")
        .with_commit("Start", &[("README.md", Some("# Shop\n")), (".govforge/.keep", Some(""))]);
    let statements = OF_THE_ORIGINAL;
    let statements = statements.replace("/srv/shop", app.here().to_str().unwrap());
    Ledger::create(&app.ledger_path(), &statements);
    let mut server = app.serve();
    let project = app.here().to_str().unwrap();
    server.call("create_task", json!({ "project_path": project, "title": "Next" }));
    server.close();
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    let origins = ledger.column("SELECT origin FROM event_chain ORDER BY place");
    assert_eq!(origins.last().map(String::as_str), Some("govforge"));
    assert!(origins[..origins.len() - 1].iter().all(|origin| origin == "earlier"), "{origins:?}");
    assert_eq!(origins.len(), ledger.column("SELECT id FROM events").len());
}
