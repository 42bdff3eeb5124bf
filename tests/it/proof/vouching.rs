//! What a link vouches for beyond its event's own record, what older ledgers and the original's
//! rows are worth, and how strictly all of it is judged.

use std::process::Output;

use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::ledger::{Ledger, OF_THE_ORIGINAL};
use crate::support::story;

/// A ledger that the version before wrote: eight calls, nine events, links of the first form.
const FIRST_FORM: &str = concat!(
    include_str!("../../../migrations/0001_ledger.sql"),
    include_str!("../../../migrations/0002_policy_runs.sql"),
    include_str!("../../../migrations/0003_event_chain.sql"),
    include_str!("../../../migrations/0004_tokens.sql"),
    include_str!("../../fixtures/ledger/first_form.sql"),
);
const FIRST_HEAD: &str = "0306decdfbd0b52c70b525e565cc18439ab62ab7d0aad5950a4299f3bed35d99";

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn verify(app: &TestApp, more: &[&str]) -> Output {
    app.govforge(&[&["audit", "verify"], more].concat())
}

fn assert_sound(app: &TestApp) {
    let output = verify(app, &[]);
    assert!(output.status.success(), "{}", text(&output));
}

fn assert_told(app: &TestApp, told: &str, after: &str) {
    let output = verify(app, &[]);
    assert_eq!(output.status.code(), Some(1), "{after}: {}", text(&output));
    assert!(text(&output).contains(told), "{after}: {}", text(&output));
}

fn play(app: &TestApp, calls: Vec<(&'static str, Value)>) {
    let mut server = app.serve();
    for (tool, arguments) in calls {
        server.call(tool, arguments);
    }
    server.close();
}

fn one_more_call(app: &TestApp) {
    let project = app.here().to_str().unwrap();
    play(app, vec![("create_task", json!({ "project_path": project, "title": "Next" }))]);
}

/// Carries out each statement on the ledger as it is now, and puts it back afterwards.
fn each(app: &TestApp, cases: &[(&str, &str)]) {
    let path = app.ledger_path();
    let original = std::fs::read(&path).unwrap();
    for (statements, told) in cases {
        Ledger::open(&path).unwrap().execute(&format!("PRAGMA foreign_keys = OFF; {statements}"));
        assert_told(app, told, statements);
        for side in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{side}", path.display()));
        }
        std::fs::write(&path, &original).unwrap();
    }
}

/// An app with a ledger made by statements, whose project is the app's.
fn with_ledger(statements: &str) -> TestApp {
    let app = TestApp::empty()
        .with_repo("shop")
        .with_commit("Start", &[("README.md", Some("# Shop\n")), (".govforge/.keep", Some(""))]);
    Ledger::create(&app.ledger_path(), statements);
    app
}

#[test]
fn what_no_event_is_about_is_vouched_for_too() {
    let app = story::app();
    play(&app, story::calls(&app));
    assert_sound(&app);
    each(
        &app,
        &[
            ("UPDATE projects SET root_path = '/elsewhere'", "from event 1 on: the task TASK-001"),
            ("UPDATE projects SET name = 'another'", "the decision DEC-001"),
            ("UPDATE projects SET default_branch = 'trunk'", "the task TASK-001"),
            ("UPDATE projects SET updated_at = '2030-01-01 00:00:00.000000'", "the task TASK-001"),
            ("UPDATE tasks SET status = 'CLOSED'", "the task TASK-001"),
            ("UPDATE tasks SET updated_at = '2030-01-01 00:00:00.000000'", "the task TASK-001"),
            ("UPDATE policies SET name = 'x' || name", "was changed after the run of event"),
            ("UPDATE policies SET severity = 'LOW'", "was changed after the run of event"),
            ("UPDATE policies SET config_json = '{}'", "was changed after the run of event"),
            ("UPDATE policies SET description = NULL", "was changed after the run of event"),
            ("UPDATE policies SET enabled = 0", "was changed after the run of event"),
            ("DELETE FROM policies", "was removed after the run of event"),
            (
                "UPDATE disagreements SET resolved_by_agent_id = (SELECT id FROM agents LIMIT 1)",
                "the disagreement",
            ),
            (
                "DROP TRIGGER chain_is_not_changed; UPDATE event_chain SET form = 1 WHERE place = 1",
                "does not follow",
            ),
            (
                "DROP TRIGGER chain_is_not_changed; UPDATE event_chain SET form = 3 WHERE place = 1",
                "does not follow",
            ),
            (
                "DROP TRIGGER chain_is_not_changed; UPDATE event_chain SET form = 'x'",
                "does not follow",
            ),
            (
                "DROP TRIGGER chain_is_not_changed; UPDATE event_chain SET policies = NULL",
                "does not follow",
            ),
            (
                "DROP TRIGGER chain_is_not_changed;
                UPDATE event_chain SET place = 4503599627370496 WHERE place = 10",
                "links 10 to 4503599627370495",
            ),
        ],
    );
}

/// A later run may change the rules: only the last word on each policy counts.
#[test]
fn rules_that_a_later_run_changed_are_as_it_left_them() {
    let app = story::app();
    play(&app, story::calls(&app));
    let rules =
        "[large_diff_requires_human_approval]\nseverity = \"high\"\nmax_lines_changed = 7\n";
    let app = app.with_file("shop/.govforge/policies.toml", rules);
    play(&app, vec![("run_policy_checks", json!({ "decision_id": "DEC-001" }))]);
    assert_sound(&app);
    each(
        &app,
        &[("UPDATE policies SET severity = 'LOW'", "was changed after the run of event 11")],
    );
}

#[test]
fn a_ledger_of_the_version_before_is_as_sound_as_it_was() {
    let app = with_ledger(FIRST_FORM);
    let output = verify(&app, &["--head", FIRST_HEAD]);
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("nothing before it changed"), "{}", text(&output));
    each(
        &app,
        &[
            ("UPDATE tasks SET title = 'Another'", "the task TASK-001"),
            ("UPDATE decisions SET rationale = NULL", "the decision DEC-001"),
            ("UPDATE findings SET severity = 'INFO'", "the review REV-001"),
            ("UPDATE policy_results SET status = 'PASSED', message = 'Fine.'", "the policy run"),
            ("UPDATE policy_result_runs SET config_hash = 'sha256:00'", "the policy run"),
            ("DELETE FROM disagreements", "was removed"),
            ("UPDATE disagreements SET resolution = 'Fine.'", "no event vouches for that"),
        ],
    );
    // Later links have the new form, and stand on the old ones.
    one_more_call(&app);
    let output = verify(&app, &["--strict", "--head", FIRST_HEAD]);
    assert!(output.status.success(), "{}", text(&output));
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    let forms = "SELECT group_concat(form, '') FROM (SELECT form FROM event_chain ORDER BY place)";
    assert_eq!(ledger.column(forms), ["1111111112"]);
    let export = app.root().join("record.jsonl");
    assert!(app.govforge(&["export", "-o", export.to_str().unwrap()]).status.success());
    let output = verify(&app, &[export.to_str().unwrap(), "--head", FIRST_HEAD]);
    assert!(output.status.success(), "{}", text(&output));
}

/// Results of the original's runs are found when its event is taken in, and hashed from then on.
#[test]
fn policy_results_of_the_original_are_hashed_once_they_are_taken_in() {
    let statements = OF_THE_ORIGINAL;
    let app = with_ledger(statements);
    let output = verify(&app, &["--strict"]);
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output);
    assert!(told.contains("wait to be taken in"), "{told}");
    assert!(told.contains("2 policy result(s) are counted"), "{told}");
    one_more_call_elsewhere(&app);
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    assert_eq!(ledger.column("SELECT count(*) FROM foreign_policy_results"), ["2"]);
    drop(ledger);
    let output = verify(&app, &["--strict"]);
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output);
    assert!(told.contains("5 event(s) were there before the chain"), "{told}");
    assert!(!told.contains("counted"), "{told}");
    let before = text(&verify(&app, &[]));
    for statement in [
        "UPDATE policy_results SET status = 'PASSED'",
        "DELETE FROM policy_results WHERE status = 'BLOCKED'",
        "UPDATE policies SET name = 'x' || name",
        "INSERT INTO policy_result_runs SELECT r.id, e.id, NULL FROM policy_results r, events e
            WHERE e.event_type = 'decision.policy_evaluated'",
    ] {
        let path = app.ledger_path();
        let original = std::fs::read(&path).unwrap();
        Ledger::open(&path).unwrap().execute(statement);
        let after = text(&verify(&app, &[]));
        assert_ne!(after, before, "{statement}");
        assert!(after.contains("polic"), "{statement}: {after}");
        for side in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{side}", path.display()));
        }
        std::fs::write(&path, &original).unwrap();
    }
}

fn one_more_call_elsewhere(app: &TestApp) {
    let call = json!({ "task_id": "TASK-001", "author_agent": "claude", "title": "Next" });
    play(app, vec![("record_decision", call)]);
}

#[test]
fn strictly_only_this_programs_own_events_prove_anything() {
    let app = story::app();
    play(&app, story::calls(&app));
    assert!(verify(&app, &["--strict"]).status.success());
    Ledger::open(&app.ledger_path()).unwrap().execute(
        "INSERT INTO events SELECT 'bbbbbbbbbbbb4bbb8bbbbbbbbbbbbbbb', project_id, entity_type,
            entity_id, 'task.seen', NULL, NULL, created_at FROM events LIMIT 1",
    );
    one_more_call(&app);
    assert_sound(&app);
    let export = app.root().join("record.jsonl");
    assert!(app.govforge(&["export", "-o", export.to_str().unwrap()]).status.success());
    for more in [vec!["--strict"], vec!["--strict", export.to_str().unwrap()]] {
        let output = verify(&app, &more);
        assert_eq!(output.status.code(), Some(1), "{more:?}");
        let told = text(&output);
        assert!(told.contains("1 event(s) were written by another program"), "{told}");
    }
}

/// Nothing vouches for a key that no export has, so a reader may not be shown one.
#[test]
fn an_export_has_nothing_that_is_not_hashed() {
    let app = story::app();
    play(&app, story::calls(&app));
    let export = text(&app.govforge(&["export"]));
    let file = app.root().join("record.jsonl");
    let check = |content: &str| {
        std::fs::write(&file, content).unwrap();
        verify(&app, &[file.to_str().unwrap()])
    };
    assert!(check(&export).status.success());
    for (was, is) in [
        (r#"{"place":2,"#, r#"{"place":2,"verdict":"approved","#),
        (r#""title":"Harden"#, r#""urgent":"yes","title":"Harden"#),
        (r#""task_id":"#, r#""task_id":null,"task_id":"#),
        (r#""table":"reviews","#, r#""table":"reviews","status":"APPROVED","#),
        (r#""event_type":"decision.created""#, r#""event_type":"decision.created","note":"x""#),
        (r#""summary":"One thing to fix.""#, r#""summary":7"#),
        (r#""summary":"One thing to fix.","#, ""),
    ] {
        assert!(export.contains(was), "{was}");
        let output = check(&export.replacen(was, is, 1));
        assert_eq!(output.status.code(), Some(1), "{is}");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains("is no line of an export"), "{is}: {told}");
    }
}
