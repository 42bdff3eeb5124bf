//! `govforge export`, for a machine and for a person.

use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::ledger::Ledger;
use crate::support::story;

fn export(app: &TestApp, arguments: &[&str]) -> String {
    let output = app.govforge(&[&["export"], arguments].concat());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {told}");
    String::from_utf8(output.stdout).unwrap()
}

/// The first cells of the rows of the timelines.
fn places(text: &str) -> Vec<&str> {
    let timeline = text.lines().skip_while(|line| !line.starts_with("| ---: |")).skip(1);
    timeline.filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).collect()
}

#[test]
fn markdown_tells_the_whole_record_and_each_event_once() {
    let app = story::told();
    let text = export(&app, &["--markdown"]);
    for part in [
        "# Audit record of shop",
        "### TASK-001 Harden the login",
        "> Logins without a password must fail.",
        "## DEC-001 Check the password at login",
        "> It let everybody in.",
        "- src/auth.py",
        "| blocked | auth\\_change\\_requires\\_review |",
        "**high** (security, REV-001) src/auth.py:3: A password stands in the code.",
        "the author: It is only a test's.",
        "**needs changes** by maintainer",
        "| maintainer | DEC-001 | decision.needs\\_changes | from changes\\_requested to",
    ] {
        assert!(text.contains(part), "{part:?} is missing from:\n{text}");
    }
    assert!(!text.contains(story::SECRET));
    let expected: Vec<String> = (1..=10).map(|place| place.to_string()).collect();
    assert_eq!(places(&text), expected);
    assert_eq!(export(&app, &["--markdown"]), text, "two runs are the same");

    let file = app.root().join("record.md");
    let told = export(&app, &["--markdown", "-o", file.to_str().unwrap()]);
    assert!(told.starts_with("Wrote 10 event(s) to "), "{told}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn json_lines_are_the_default_and_exclude_markdown() {
    let app = story::told();
    assert_eq!(export(&app, &["--jsonl"]), export(&app, &[]));
    assert_eq!(export(&app, &[]).lines().count(), 10);
    let output = app.govforge(&["export", "--jsonl", "--markdown"]);
    assert_eq!(output.status.code(), Some(2));
    for form in ["--jsonl", "--markdown"] {
        let output = app.govforge(&["export", form, "-o", "/no/where"]);
        assert_eq!(output.status.code(), Some(1));
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains("/no/where cannot be written"), "{told}");
    }
    let app = TestApp::init();
    Ledger::open(&app.ledger_path()).unwrap().execute("DELETE FROM projects");
    let empty = export(&app, &["--markdown"]);
    assert!(empty.contains("No project has been registered yet."), "{empty}");
}

#[test]
fn a_ledger_is_never_written_over() {
    let app = story::told();
    let ledger = app.here().join(".govforge/govforge.db");
    let other = app.here().join("other.db");
    std::fs::copy(&ledger, &other).unwrap();
    std::fs::hard_link(&ledger, app.here().join("link.db")).unwrap();
    let before = export(&app, &[]);
    let files = [
        ".govforge/govforge.db",
        ".govforge/../.govforge/govforge.db",
        ".govforge/govforge.db-wal",
        ".govforge/govforge.db-shm",
        "other.db",
        "link.db",
    ];
    for file in files {
        for verb in [&["export"][..], &["export", "--markdown"], &["report", "--all"]] {
            let output = app.govforge(&[verb, &["-o", file]].concat());
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(1), "{verb:?} {file}: {told}");
            assert!(told.contains("Nothing was written. Name another file."), "{told}");
        }
    }
    assert_eq!(export(&app, &[]), before);
    let written = app.govforge(&["export", "-o", "record.jsonl"]);
    assert!(written.status.success(), "{written:?}");
    assert_eq!(std::fs::read_to_string(app.here().join("record.jsonl")).unwrap(), before);
}

/// More than a page, of other programs, at one time, in every form in which they write it.
#[test]
fn a_record_that_cannot_be_read_empties_no_file() {
    let app = story::told();
    let kept = app.root().join("kept");
    let kept = kept.to_str().unwrap();
    std::fs::write(app.ledger_path(), "This is no ledger.\n".repeat(9)).unwrap();
    for form in ["--jsonl", "--markdown"] {
        std::fs::write(kept, "The export of last month\n").unwrap();
        let output = app.govforge(&["export", form, "-o", kept]);
        assert_eq!(output.status.code(), Some(1), "{form}");
        assert_eq!(std::fs::read_to_string(kept).unwrap(), "The export of last month\n", "{form}");
    }
}

#[test]
fn events_past_the_chain_come_once_too() {
    let app = story::told();
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    for (letter, time) in [("a", "2026-01-02 03:04:05"), ("b", "2026-01-02T03:04:05Z")] {
        ledger.execute(&format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250) \
             INSERT INTO events SELECT printf('{letter}%031x', i), p.id, 'task', t.id, \
             'task.noted', NULL, json_object('number', '{letter}' || i), '{time}' \
             FROM n, projects p, tasks t"
        ));
    }
    drop(ledger);
    let text = export(&app, &["--markdown"]);
    let places = places(&text);
    assert_eq!(places.len(), 510);
    assert_eq!(places[9..12], ["10", "-", "-"]);
    for letter in ["a", "b"] {
        for number in 1..=250 {
            let words = format!("{{\"number\":\"{letter}{number}\"}}");
            assert_eq!(text.matches(&words).count(), 1, "{words}");
        }
    }
}

#[test]
fn of_several_projects_it_is_the_one_around_or_all() {
    let app = TestApp::init().with_env("GOVFORGE_DB", "../ledger.db").registered();
    let title = |app: &TestApp, title: &str| {
        let project = app.here().to_str().unwrap();
        let mut server = app.serve();
        server.call("create_task", json!({ "project_path": project, "title": title }));
        server.close();
    };
    title(&app, "Of the shop");
    let app = app.with_repo("bakery").with_commit("Start", &[("a", Some("a"))]).registered();
    title(&app, "Of the bakery");
    let text = export(&app, &["--markdown"]);
    assert!(text.contains("Of the bakery") && !text.contains("Of the shop"), "{text}");
    assert_eq!(places(&text), ["2"]);
    let app = app.in_folder("elsewhere");
    let text = export(&app, &["--markdown"]);
    assert!(text.find("record of bakery").unwrap() < text.find("record of shop").unwrap());
    assert!(text.contains("Of the shop"), "{text}");
    let lines = export(&app, &[]);
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!((lines.lines().count(), &first["place"]), (2, &json!(1)));
}

#[test]
fn nothing_that_an_agent_wrote_is_markup() {
    let app = TestApp::init();
    let mut server = app.serve();
    let project = app.here().to_str().unwrap();
    let evil = "a | b <script> @all\n\n| 99 | # x\n```\n\u{1b}[2J";
    server.call(
        "create_task",
        json!({ "project_path": project, "title": evil, "description": evil }),
    );
    server.call(
        "record_decision",
        json!({ "task_id": "TASK-001", "author_agent": "a|b", "title": evil, "summary": evil }),
    );
    server.close();
    let text = export(&app, &["--markdown"]);
    assert_eq!(places(&text), ["1", "2"]);
    for markup in ["<script", "@all", "\n# x", "\n```", "\n| 99", "\u{1b}"] {
        assert!(!text.contains(markup), "{markup:?}: {text}");
    }
}
