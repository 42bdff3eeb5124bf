//! Calls that are cut off, sent twice or overtaken by the clock: each happened whole or not
//! at all, and the next one finds a sound server.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::ledger::Ledger;

/// Far more than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

fn create_task(project: &Path, title: &str) -> Value {
    let arguments = json!({ "project_path": project, "title": title });
    json!({ "name": "create_task", "arguments": arguments })
}

/// Each task has its event and its number, and no number is left out: what was undone was
/// undone whole. Gives how many there are.
fn audit_tasks(app: &TestApp) -> usize {
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    let tasks = ledger.column("SELECT display_id FROM tasks ORDER BY rowid");
    let numbers: Vec<String> = (1..=tasks.len()).map(|n| format!("TASK-{n:03}")).collect();
    assert_eq!(tasks, numbers);
    let events = ledger.column(
        "SELECT t.display_id FROM tasks t JOIN events e ON e.entity_id = t.id ORDER BY t.rowid",
    );
    assert_eq!(tasks, events);
    assert_eq!(ledger.column("PRAGMA integrity_check"), ["ok"]);
    tasks.len()
}

/// Calls that the client takes back while they wait for another process, and while they run.
#[test]
fn cancelled_calls_happened_whole_or_not_at_all() {
    const CALLS: usize = 24;
    let app = TestApp::init();
    let mut server = app.serve();
    server.request("tools/call", create_task(app.here(), "The first"));
    let mut other = Ledger::open(&app.ledger_path()).unwrap();
    for held in [true, false] {
        if held {
            other.execute("BEGIN IMMEDIATE");
        }
        for call in 0..CALLS {
            let id = server.post("tools/call", create_task(app.here(), &format!("Task {call}")));
            std::thread::sleep(Duration::from_micros(100 * call as u64));
            let params = json!({ "requestId": id, "reason": "no longer wanted" });
            let method = "notifications/cancelled";
            server.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
            // Reading goes on meanwhile.
            server.call("list_open_reviews", json!({ "project_path": app.here() }));
        }
        if held {
            other.execute("COMMIT");
        }
        let task = server.request("tools/call", create_task(app.here(), "After all"));
        assert!(task["result"]["structuredContent"]["task_id"].is_string(), "{task}");
    }
    server.close();
    assert!((3..=3 + CALLS).contains(&audit_tasks(&app)), "what waited was taken back");
}

/// A client that is gone, with its calls under way and nobody to answer.
#[test]
fn calls_of_a_client_that_vanished_happened_whole_or_not_at_all() {
    let app = TestApp::init();
    for round in 0..8 {
        let mut command = app.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        for call in 0..10 {
            let params = create_task(app.here(), &format!("Task {call} of {round}"));
            let method = "tools/call";
            let call = json!({ "jsonrpc": "2.0", "id": call, "method": method, "params": params });
            writeln!(stdin, "{call}").unwrap();
        }
        std::thread::sleep(Duration::from_millis(round));
        drop(child.stdout.take());
        drop(stdin);
        let since = Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(since.elapsed() < PATIENCE, "the server outlives its client");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    audit_tasks(&app);
    let mut server = app.serve();
    server.request("tools/call", create_task(app.here(), "After all"));
    server.close();
    audit_tasks(&app);
}

/// SIGTERM while a write waits for another process, and while writes run.
#[cfg(unix)]
#[test]
fn a_signal_during_a_write_leaves_a_whole_ledger() {
    let app = TestApp::init();
    for round in 0..6 {
        let mut command = app.command();
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut other = Ledger::open(&app.ledger_path()).unwrap();
        if round == 0 {
            other.execute("BEGIN IMMEDIATE");
        }
        for call in 0..20 {
            let params = create_task(app.here(), &format!("Task {call} of {round}"));
            let method = "tools/call";
            let call = json!({ "jsonrpc": "2.0", "id": call, "method": method, "params": params });
            writeln!(stdin, "{call}").unwrap();
        }
        std::thread::sleep(Duration::from_millis(15 * round));
        let process = child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &process]).status().unwrap().success());
        let since = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            assert!(since.elapsed() < PATIENCE, "the server does not end");
            std::thread::sleep(Duration::from_millis(2));
        };
        // A signal that comes before the server listens ends it as any other program.
        assert!(status.success() || round == 0 || status.code().is_none(), "{status}");
        if round == 0 {
            other.execute("COMMIT");
            assert_eq!(audit_tasks(&app), 0, "it had not got the lock");
        }
    }
    audit_tasks(&app);
}

/// The machine's clock was ahead when something was recorded, and is set right: later times go on
/// from there, unless it is far ahead; the timeline keeps its order either way.
#[test]
fn a_clock_that_goes_backwards_leaves_the_timeline_in_order() {
    for (ahead, follows) in [("+5 hours", true), ("+100 years", false)] {
        let app = TestApp::init();
        let mut server = app.serve();
        server.request("tools/call", create_task(app.here(), "In the future"));
        let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
        ledger.damage(&format!(
            "UPDATE events SET created_at = strftime('%Y-%m-%d %H:%M:%S.000000', 'now', '{ahead}')"
        ));
        for title in ["One", "Two"] {
            let decision =
                json!({ "task_id": "TASK-001", "author_agent": "claude", "title": title });
            server.call("record_decision", decision);
        }
        let timeline = json!({ "uri": "govforge://task/TASK-001/timeline" });
        let reply = server.request("resources/read", timeline);
        server.close();
        let text = reply["result"]["contents"][0]["text"].as_str().unwrap();
        let timeline: Value = serde_json::from_str(text).unwrap();
        let events = timeline["events"].as_array().unwrap();
        let told: Vec<&Value> = events
            .iter()
            .map(|event| match event["payload"]["title"].as_str() {
                Some(_) => &event["payload"]["title"],
                None => &event["type"],
            })
            .collect();
        assert_eq!(told, ["In the future", "One", "Two"], "{ahead}");
        let times: Vec<&str> =
            events.iter().map(|event| event["created_at"].as_str().unwrap()).collect();
        let first = times[0].trim_end_matches('Z');
        let next = [format!("{first}.000001Z"), format!("{first}.000002Z")];
        assert_eq!(times[1..] == next, follows, "{times:?}");
        assert!(times[1] < times[2], "{times:?}");
        assert_eq!(first < times[1], follows, "{times:?}");
    }
}

/// A damaged time in the newest event is no reason to refuse every write after it.
#[test]
fn a_damaged_time_does_not_keep_others_from_being_recorded() {
    let app = TestApp::init();
    let mut server = app.serve();
    server.request("tools/call", create_task(app.here(), "One"));
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    ledger.damage("UPDATE events SET created_at = 'yesterday'");
    let task = server.call("create_task", json!({ "project_path": app.here(), "title": "Two" }));
    assert_eq!(task["task_id"], "TASK-002");
    server.close();
}

/// A client that timed out sends the same call again: both stand on the record, and the event
/// of the second says so. One that differs in anything is not flagged.
#[test]
fn a_call_sent_twice_is_recorded_twice_and_flagged() {
    let app = TestApp::init();
    let mut server = app.serve();
    let task = |title: &str| json!({ "project_path": app.here(), "title": title });
    for title in ["The same", "The same", "Another"] {
        server.call("create_task", task(title));
    }
    // Another server of the same ledger knows it too.
    let mut second = app.serve();
    second.call("create_task", task("Another"));
    second.close();
    server.close();
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    let flags = ledger.column(
        "SELECT coalesce(json_extract(payload_json, '$.duplicate_of'), '') FROM events \
         ORDER BY rowid",
    );
    assert_eq!(flags, ["", "TASK-001", "", "TASK-003"]);
}
