//! Several servers on one ledger, as several agents start them.

use std::collections::BTreeSet;
use std::sync::Barrier;

use serde_json::json;

use crate::support::app::TestApp;
use crate::support::ledger::Ledger;

/// Eight servers that write at the same time: no number is given twice, none is left out,
/// and no agent ever hears of a lock.
#[test]
fn eight_servers_share_the_sequences() {
    const SERVERS: usize = 8;
    const CALLS: usize = 6;
    let app = TestApp::init();
    let project = app.here().to_str().unwrap();
    let start = Barrier::new(SERVERS);
    let ids = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..SERVERS)
            .map(|number| {
                let (app, start) = (&app, &start);
                scope.spawn(move || {
                    let mut server = app.serve();
                    start.wait();
                    let mut ids = Vec::new();
                    for call in 0..CALLS {
                        let task = server.call(
                            "create_task",
                            json!({
                                "project_path": project,
                                "title": format!("Task {call} of server {number}"),
                                "actor_agent": "the same agent",
                            }),
                        );
                        let decision = server.call(
                            "record_decision",
                            json!({
                                "task_id": task["task_id"],
                                "author_agent": format!("agent {call}"),
                                "title": "A decision",
                            }),
                        );
                        for id in [&task["task_id"], &decision["decision_id"]] {
                            ids.push(id.as_str().unwrap().to_owned());
                        }
                    }
                    server.close();
                    ids
                })
            })
            .collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect::<Vec<_>>()
    });
    let given: BTreeSet<String> = ids.iter().cloned().collect();
    let expected: BTreeSet<String> = (1..=SERVERS * CALLS)
        .flat_map(|number| [format!("TASK-{number:03}"), format!("DEC-{number:03}")])
        .collect();
    assert_eq!(ids.len(), given.len(), "a number was given twice: {ids:?}");
    assert_eq!(given, expected);

    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    let counts = ledger.counts();
    assert_eq!(counts["tasks"], 48);
    assert_eq!(counts["decisions"], 48);
    assert_eq!(counts["events"], 96);
    assert_eq!(counts["agents"], 7, "one row for each name");
}

/// Sixteen servers that start at the same moment on a ledger that does not exist: the file is
/// made once, and every first call succeeds.
#[test]
fn sixteen_servers_start_on_a_missing_ledger() {
    const SERVERS: usize = 16;
    let app = TestApp::empty()
        .with_repo("shop")
        .with_commit("Start", &[(".govforge/policies.toml", Some(""))]);
    let project = app.here().to_str().unwrap();
    assert!(!app.ledger_path().exists());
    let start = Barrier::new(SERVERS);
    let mut ids: Vec<String> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..SERVERS)
            .map(|_| {
                let (app, start) = (&app, &start);
                scope.spawn(move || {
                    start.wait();
                    let mut server = app.serve();
                    let call = json!({ "project_path": project, "title": "A task" });
                    let task = server.call("create_task", call);
                    server.close();
                    task["task_id"].as_str().unwrap().to_owned()
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    ids.sort();
    let expected: Vec<String> = (1..=SERVERS).map(|number| format!("TASK-{number:03}")).collect();
    assert_eq!(ids, expected);
    let counts = Ledger::open(&app.ledger_path()).unwrap().counts();
    assert_eq!(counts["projects"], 1, "registered once");
}

/// Calls that a client sends without waiting are all answered, each with a number of its own.
#[test]
fn calls_sent_at_once_are_all_answered() {
    const CALLS: usize = 40;
    let app = TestApp::init();
    let project = app.here().to_str().unwrap();
    let mut server = app.serve();
    let sent: Vec<u64> = (0..CALLS)
        .map(|number| {
            let call = json!({ "project_path": project, "title": format!("Task {number}") });
            server.post("tools/call", json!({ "name": "create_task", "arguments": call }))
        })
        .collect();
    let replies = server.replies_to(&sent);
    server.close();
    let given: BTreeSet<&str> = replies
        .iter()
        .map(|reply| reply["result"]["structuredContent"]["task_id"].as_str().unwrap())
        .collect();
    assert_eq!(given.len(), CALLS, "{given:?}");
}
