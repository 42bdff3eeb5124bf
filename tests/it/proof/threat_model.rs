//! The promises of `docs/threat-model.md`, each looked at from outside while every tool,
//! resource and prompt is used.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Map, Value, json};

use crate::support::app::TestApp;
use crate::support::ledger::{Ledger, as_text};
use crate::support::server::Server;
use crate::support::story;

/// Uses everything that the server offers, `after_each` call.
pub fn use_everything(app: &TestApp, server: &mut Server, mut after_each: impl FnMut(&str)) {
    for (tool, arguments) in story::calls(app) {
        server.call(tool, arguments);
        after_each(tool);
    }
    for (tool, wrong) in [
        ("create_task", json!({ "project_path": app.root(), "title": "A task" })),
        ("attach_git_diff", json!({ "decision_id": "DEC-001", "repo_path": app.root() })),
        ("run_policy_checks", json!({ "decision_id": "DEC-001", "config_path": "/etc/passwd" })),
    ] {
        server.try_call(tool, wrong).expect_err(tool);
        after_each(tool);
    }
    story::read_everything(server);
    after_each("reading");
}

/// Promise: the server writes no file but the ledger and its side files.
#[test]
fn the_server_writes_no_file_but_the_ledgers() {
    let app = story::app();
    let is_ledger = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.parent().is_some_and(|folder| folder.ends_with("shop/.govforge"))
            && ["govforge.db", "govforge.db-wal", "govforge.db-shm", "govforge.db-journal"]
                .contains(&name.as_ref())
    };
    let before = files(app.root(), &is_ledger);
    let mut server = app.serve();
    use_everything(&app, &mut server, |tool| {
        assert_same(&before, &files(app.root(), &is_ledger), tool);
    });
    server.close();
    assert_same(&before, &files(app.root(), &is_ledger), "the end");
}

/// Promise: the repository is only read. Its `.git` folder is the same after every tool, byte
/// for byte and time for time.
#[test]
fn no_tool_changes_the_state_of_git() {
    let app = story::app();
    let state = || files(&app.here().join(".git"), &|_| false);
    let before = state();
    let mut server = app.serve();
    use_everything(&app, &mut server, |tool| assert_same(&before, &state(), tool));
    server.close();
}

/// Promise: what a repository's own configuration names (hooks, filters, drivers, monitors)
/// is never run.
#[test]
fn nothing_that_a_repository_configures_is_run() {
    let app = story::app();
    let mark = app.root().join("ran");
    let run = format!("touch {}", mark.display());
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "credential.helper",
    ] {
        app.git(&["config", key, &run]);
    }
    let app = app
        .with_file("shop/.gitattributes", "* diff=evil filter=evil\n")
        .with_file("shop/.git/hooks/post-index-change", &format!("#!/bin/sh\n{run}\n"))
        .with_file("shop/.git/hooks/reference-transaction", &format!("#!/bin/sh\n{run}\n"));
    let mut server = app.serve();
    use_everything(&app, &mut server, |tool| assert!(!mark.exists(), "after {tool}"));
    server.close();
}

/// Promise: no tool deletes, and what is on the record is not rewritten. Only the status of a
/// decision and the times of change move.
#[test]
fn no_tool_deletes_or_rewrites_a_row() {
    let app = story::app();
    let mut server = app.serve();
    let mut before = BTreeMap::new();
    use_everything(&app, &mut server, |tool| {
        let after = records(&app);
        for (row, was) in &before {
            assert_eq!(after.get(row), Some(was), "{row} after {tool}");
        }
        before = after;
    });
    server.close();
}

/// Promise: the text that a secret pattern matched is neither stored nor logged nor returned.
#[test]
fn a_matched_secret_is_nowhere_but_in_the_commit() {
    let app = story::app().with_env("RUST_LOG", "trace");
    let mut server = app.serve();
    for (tool, arguments) in story::calls(&app) {
        let result = server.call(tool, arguments);
        assert!(!result.to_string().contains(story::SECRET), "{tool}");
    }
    for uri in ["govforge://decision/DEC-001", "govforge://task/TASK-001/timeline"] {
        let reply = server.request("resources/read", json!({ "uri": uri }));
        assert!(!reply.to_string().contains(story::SECRET), "{uri}");
    }
    let stderr = server.close();
    assert!(!stderr.contains(story::SECRET), "the log holds it");
    let folder = app.here().join(".govforge");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let secret = story::SECRET.as_bytes();
        assert!(!bytes.windows(secret.len()).any(|part| part == secret), "{path:?}");
    }
    let blocked = Ledger::open(&app.ledger_path()).unwrap().column(
        "SELECT r.status FROM policy_results r JOIN policies p ON p.id = r.policy_id
         WHERE p.name = 'secret_pattern_detection'",
    );
    assert_eq!(blocked, ["BLOCKED"], "the policy found it");
}

/// Every row by table and id, without what may move.
fn records(app: &TestApp) -> BTreeMap<String, Map<String, Value>> {
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    let mut records = BTreeMap::new();
    for table in crate::support::ledger::TABLES {
        for mut row in ledger.rows(&format!("SELECT * FROM {table}")) {
            row.shift_remove("updated_at");
            if table == "decisions" {
                row.shift_remove("status");
            }
            records.insert(format!("{table} {}", as_text(&row["id"])), row);
        }
    }
    records
}

/// What a file is: its content, or the kind of the entry; and when it was last changed.
type State = (Vec<u8>, Option<SystemTime>);

fn files(folder: &Path, leave_out: &dyn Fn(&Path) -> bool) -> BTreeMap<PathBuf, State> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if leave_out(&path) {
                continue;
            }
            let meta = path.symlink_metadata().unwrap();
            if meta.is_dir() {
                // The ledger's own folder changes when a side file comes or goes.
                found.insert(path.clone(), (b"folder".to_vec(), None));
                folders.push(path);
            } else {
                let content = std::fs::read(&path).unwrap_or_default();
                found.insert(path, (content, meta.modified().ok()));
            }
        }
    }
    found
}

fn assert_same(before: &BTreeMap<PathBuf, State>, after: &BTreeMap<PathBuf, State>, tool: &str) {
    let changed: Vec<&PathBuf> = before
        .keys()
        .chain(after.keys())
        .filter(|path| before.get(*path) != after.get(*path))
        .collect();
    assert!(changed.is_empty(), "{tool} changed {changed:?}");
}
