//! The promises of `docs/threat-model.md`, each looked at from outside while every tool,
//! resource and prompt is used.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use serde_json::{Map, Value, json};

use crate::support::app::TestApp;
use crate::support::ledger::{Ledger, as_text};
use crate::support::server::{Client, Server};
use crate::support::story;

/// Uses everything that the server offers, `after_each` call.
fn use_everything(app: &TestApp, server: &mut Server, mut after_each: impl FnMut(&str)) {
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

/// Promise: the server starts no process and opens no socket. Looked at with strace where it
/// is installed; where it is not, by what `/proc` shows after each call; elsewhere skipped.
#[test]
#[cfg(target_os = "linux")]
fn the_server_starts_no_process_and_opens_no_socket() {
    let app = story::app();
    let trace = app.root().join("trace");
    let Some(command) = traced(&app, "process,network", &trace) else {
        report("strace is not installed: only children and sockets left open are looked for");
        let mut server = app.serve();
        let process = PathBuf::from(format!("/proc/{}", server.process_id()));
        use_everything(&app, &mut server, |after| check_proc(&process, after));
        server.close();
        return;
    };
    let mut server = Server::start(command, &Client::of("2025-11-25"));
    use_everything(&app, &mut server, |_| {});
    server.close();
    let trace = std::fs::read_to_string(trace).unwrap();
    let mut programs = 0;
    for line in trace.lines() {
        let (name, arguments) = system_call(line);
        match name {
            // The first is the server itself.
            "execve" | "execveat" => programs += 1,
            "fork" | "vfork" => panic!("a process: {line}"),
            "clone" | "clone3" => assert!(arguments.contains("CLONE_THREAD"), "{line}"),
            "socket" | "connect" | "bind" | "listen" | "accept" | "accept4" => {
                panic!("a socket: {line}")
            }
            // A pair inside the process, by which a signal wakes the runtime.
            "socketpair" => assert!(arguments.starts_with("AF_UNIX"), "{line}"),
            _ => {}
        }
    }
    assert_eq!(programs, 1, "{trace}");
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

/// The same promise by the system calls: nothing is opened for writing, made, renamed or
/// removed anywhere on the machine but the ledger's files.
#[test]
#[cfg(target_os = "linux")]
fn the_server_opens_no_file_for_writing_but_the_ledgers() {
    let app = story::app();
    let trace = app.root().join("trace");
    let Some(command) = traced(&app, "file", &trace) else {
        report("strace is not installed: writing calls are not looked for");
        return;
    };
    let mut server = Server::start(command, &Client::of("2025-11-25"));
    use_everything(&app, &mut server, |_| {});
    server.close();
    let ledger = app.here().join(".govforge/govforge.db").to_str().unwrap().to_owned();
    for line in std::fs::read_to_string(trace).unwrap().lines() {
        let (name, arguments) = system_call(line);
        let writes = match name {
            "open" | "openat" | "openat2" => ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"]
                .iter()
                .any(|flag| arguments.contains(flag)),
            "creat" | "mkdir" | "mkdirat" | "rmdir" | "unlink" | "unlinkat" | "rename"
            | "renameat" | "renameat2" | "link" | "linkat" | "symlink" | "symlinkat"
            | "truncate" | "chmod" | "fchmodat" | "chown" | "utimensat" | "mknod" | "mknodat" => {
                true
            }
            _ => false,
        };
        let harmless = arguments.contains(&ledger)
            || arguments.contains("\"/dev/null\"")
            || arguments.contains(" = -1 ");
        assert!(!writes || harmless, "{line}");
    }
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

/// The server under strace; `None` where strace is missing or may not trace.
fn traced(app: &TestApp, what: &str, into: &Path) -> Option<Command> {
    let works = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    if !works.is_ok_and(|output| output.status.success()) {
        return None;
    }
    let mut command = app.hermetic("strace");
    command
        .args(["-f", "-qq", "-s", "4096", "-e", &format!("trace={what}"), "-o"])
        .arg(into)
        .arg(env!("CARGO_BIN_EXE_govforge"));
    Some(command)
}

/// The name and the arguments of a line such as `1234 socket(AF_INET, ..) = 3`.
fn system_call(line: &str) -> (&str, &str) {
    let line = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    line.split_once('(').unwrap_or((line, ""))
}

#[cfg(target_os = "linux")]
fn check_proc(process: &Path, after: &str) {
    for task in std::fs::read_dir(process.join("task")).unwrap() {
        let children = std::fs::read_to_string(task.unwrap().path().join("children"));
        assert_eq!(children.unwrap_or_default(), "", "a child after {after}");
    }
    let sockets = std::fs::read_dir(process.join("fd")).unwrap().filter(|entry| {
        let target = std::fs::read_link(entry.as_ref().unwrap().path());
        target.is_ok_and(|target| target.to_string_lossy().starts_with("socket:"))
    });
    // The pair by which a signal wakes the runtime.
    assert!(sockets.count() <= 2, "a socket after {after}");
}

/// Tells on stderr what this machine cannot check.
fn report(skipped: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "skipped in part: {skipped}");
}
