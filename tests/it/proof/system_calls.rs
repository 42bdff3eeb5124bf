//! The promises of `docs/threat-model.md` that only the system calls show. Linux alone: strace
//! is looked for, and where it is missing the tests say what they could not see.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::proof::threat_model::use_everything;
use crate::support::app::TestApp;
use crate::support::server::{Client, Server};
use crate::support::skipped;
use crate::support::story;

/// Promise: the server starts no process and opens no socket. Looked at with strace where it
/// is installed; where it is not, by what `/proc` shows after each call.
#[test]
fn the_server_starts_no_process_and_opens_no_socket() {
    let app = story::app();
    let trace = app.root().join("trace");
    let Some(command) = traced(&app, "process,network", &trace) else {
        skipped("strace is not installed: only children and sockets left open are looked for");
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

/// Promise: the server writes no file but the ledger and its side files, by its system calls:
/// nothing is opened for writing, made, renamed or removed anywhere on the machine but the
/// ledger's files.
#[test]
fn the_server_opens_no_file_for_writing_but_the_ledgers() {
    let app = story::app();
    let trace = app.root().join("trace");
    let Some(command) = traced(&app, "file", &trace) else {
        skipped("strace is not installed: writing calls are not looked for");
        return;
    };
    let mut server = Server::start(command, &Client::of("2025-11-25"));
    use_everything(&app, &mut server, |_| {});
    server.close();
    let folder = app.here().join(".govforge").to_str().unwrap().to_owned();
    let ledger = format!("{folder}/govforge.db");
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
        // Before a write the server makes sure that the ledger's folder is there.
        let harmless = arguments.contains(&ledger)
            || (name == "mkdir" && arguments.contains(&format!("\"{folder}\"")))
            || arguments.contains("\"/dev/null\"");
        assert!(!writes || harmless, "{line}");
    }
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

fn check_proc(process: &Path, after: &str) {
    for task in std::fs::read_dir(process.join("task")).unwrap() {
        let children = std::fs::read_to_string(task.unwrap().path().join("children"));
        assert_eq!(children.unwrap_or_default(), "", "a child after {after}");
    }
    // The pair inside the process, by which a signal wakes the runtime, has no name.
    let pairs = std::fs::read_to_string(process.join("net/unix")).unwrap();
    let pairs: Vec<&str> = pairs
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|columns| columns.len() == 7)
        .map(|columns| columns[6])
        .collect();
    for entry in std::fs::read_dir(process.join("fd")).unwrap() {
        let target = std::fs::read_link(entry.unwrap().path()).unwrap_or_default();
        let target = target.to_string_lossy();
        if let Some(inode) = target.strip_prefix("socket:[") {
            let inode = inode.trim_end_matches(']');
            assert!(pairs.contains(&inode), "a socket after {after}: {inode}");
        }
    }
}
