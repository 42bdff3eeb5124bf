//! What a disk does to a ledger: full, read-only, forbidden, damaged. Each is told clearly or
//! answered correctly, and what can still be used is.
//!
//! Some of it needs a mount of its own. Where the system allows none, the test says so and
//! ends; it is not counted as a failure.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::ledger::Ledger;
use crate::support::server::{Client, Server};
use crate::support::skipped;

/// No driver's or library's raw text.
fn assert_clear(text: &str) {
    for raw in ["Sqlite", "sqlx", "code: ", "database or disk", "malformed", "readonly database"] {
        assert!(!text.contains(raw), "{text}");
    }
}

/// Starts the server behind a command that runs `script` first, with the binary as `$0` and
/// `path` as `$1`, in a mount namespace of its own; `None` if the system allows none.
fn serve_behind(app: &TestApp, script: &str, path: &Path) -> Option<Server> {
    let isolate = |program: &str| {
        let mut command = app.hermetic("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-c", &format!("{script} && {program}")]);
        command.arg(app.command().get_program()).arg(path);
        command
    };
    let mut attempt = isolate("true");
    if !attempt.stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        skipped("this system allows no mounts of one's own");
        return None;
    }
    Some(Server::start(isolate("exec \"$0\""), &Client::of("2025-11-25")))
}

/// A disk that fills up, and has room again later.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_passes() {
    let app = TestApp::init();
    let disk = app.root().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let app = app.with_env("GOVFORGE_DB", disk.join("govforge.db").to_str().unwrap());
    let script = "mount -t tmpfs -o size=1500k none \"$1\"";
    let Some(mut server) = serve_behind(&app, script, &disk) else { return };
    // The disk as the server sees it.
    let seen = PathBuf::from(format!("/proc/{}/root", server.process_id()));
    let seen = seen.join(disk.strip_prefix("/").unwrap());
    std::fs::write(seen.join("filler"), vec![b'.'; 300 * 1024]).unwrap();

    let task = json!({
        "project_path": app.here(), "title": "A task", "description": "x".repeat(20_000),
    });
    let mut recorded = 0;
    let text = loop {
        match server.try_call("create_task", task.clone()) {
            Ok(_) => recorded += 1,
            Err(text) => break text,
        }
        assert!(recorded < 500, "the disk never fills up");
    };
    assert!(text.contains("-32603") && text.contains("the disk is full"), "{text}");
    assert_clear(&text);
    // Again and again: every connection must stay usable.
    for _ in 0..6 {
        let text = server.try_call("create_task", task.clone()).unwrap_err();
        assert!(text.contains("the disk is full"), "{text}");
        server.call("list_open_reviews", json!({ "project_path": app.here() }));
    }
    std::fs::remove_file(seen.join("filler")).unwrap();
    for _ in 0..2 {
        server.call("create_task", task.clone());
        recorded += 1;
    }
    // In this order, since the log may move into the file meanwhile.
    for name in ["govforge.db-wal", "govforge.db"] {
        std::fs::copy(seen.join(name), app.root().join(name)).unwrap();
    }
    let mut ledger = Ledger::open(&app.root().join("govforge.db")).unwrap();
    assert_eq!(ledger.column("PRAGMA integrity_check"), ["ok"]);
    assert_eq!(ledger.counts()["tasks"], recorded);
    assert_eq!(ledger.counts()["events"], recorded);
    server.close();
}

fn with_a_decision() -> TestApp {
    let app = TestApp::init();
    let mut server = app.serve();
    server.call("create_task", json!({ "project_path": app.here(), "title": "A task" }));
    record_decision(&mut server, "A decision");
    server.close();
    app
}

fn record_decision(server: &mut Server, title: &str) -> Value {
    let call = json!({ "task_id": "TASK-001", "author_agent": "claude", "title": title });
    server.call("record_decision", call)
}

/// What the calls say of a ledger that can only be read, if that: refused, with what to do.
fn assert_refused(server: &mut Server, app: &TestApp) {
    let task = json!({ "project_path": app.here(), "title": "Another" });
    let text = server.try_call("create_task", task).unwrap_err();
    assert!(text.starts_with("UnusableLedger") && text.contains("GOVFORGE_DB"), "{text}");
    assert_clear(&text);
    let context = json!({ "decision_id": "DEC-001" });
    match server.try_call("get_decision_context", context) {
        Ok(context) => assert_eq!(context["decision"]["title"], "A decision"),
        Err(text) => {
            assert!(text.starts_with("UnusableLedger") && text.contains("GOVFORGE_DB"), "{text}");
            assert_clear(&text);
        }
    }
    assert!(server.request("tools/list", Value::Null).get("result").is_some());
}

#[cfg(target_os = "linux")]
#[test]
fn a_read_only_directory_is_told() {
    let app = with_a_decision();
    let before = std::fs::read(app.ledger_path()).unwrap();
    let script = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\"";
    let directory = app.here().join(".govforge");
    let Some(mut server) = serve_behind(&app, script, &directory) else { return };
    assert_refused(&mut server, &app);
    server.close();
    assert_eq!(std::fs::read(app.ledger_path()).unwrap(), before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_missing_permission_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let app = with_a_decision();
    // The superuser may write to any file, unless that right is given up.
    let id = Command::new("id").arg("-u").output().unwrap();
    let mut command = app.command();
    if id.stdout == b"0\n" {
        command = app.hermetic("setpriv");
        command.args(["--bounding-set", "-dac_override,-dac_read_search"]);
        let works = app.hermetic("setpriv").arg("--version").stdout(Stdio::null()).status();
        if !works.is_ok_and(|status| status.success()) {
            skipped("the superuser cannot give up its rights here");
            return;
        }
        command.arg(app.command().get_program());
    }
    let allow = |mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        // SQLite makes its own files with the ledger's permissions.
        for suffix in ["", "-wal", "-shm"] {
            let path = format!("{}{suffix}", app.ledger_path().display());
            if Path::new(&path).exists() {
                std::fs::set_permissions(path, permissions.clone()).unwrap();
            }
        }
    };
    for mode in [0o400, 0o000] {
        allow(mode);
        let mut again = app.hermetic(command.get_program().to_str().unwrap());
        again.args(command.get_args());
        let mut server = Server::start(again, &Client::of("2025-11-25"));
        assert_refused(&mut server, &app);
        allow(0o600);
        record_decision(&mut server, "Allowed again");
        // Under the running server, too.
        allow(mode);
        assert_refused(&mut server, &app);
        allow(0o600);
        record_decision(&mut server, "And again");
        server.close();
    }
}

/// A page of the file is overwritten: what lies on it cannot be read, all the rest can.
#[test]
fn a_damaged_page_spoils_only_what_lies_on_it() {
    const DECISIONS: usize = 40;
    let app = TestApp::init();
    let mut server = app.serve();
    server.call("create_task", json!({ "project_path": app.here(), "title": "A task" }));
    let rationale = "because ".repeat(100);
    for number in 0..DECISIONS {
        let call = json!({
            "task_id": "TASK-001", "author_agent": "claude", "title": format!("Decision {number}"),
            "rationale": rationale,
        });
        server.call("record_decision", call);
    }
    server.close();
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    let size: usize = ledger.column("PRAGMA page_size")[0].parse().unwrap();
    let page = ledger.column(
        "SELECT pageno FROM dbstat WHERE name = 'decisions' AND pagetype = 'leaf' ORDER BY path",
    );
    let page: usize = page[0].parse().unwrap();
    drop(ledger);
    let mut bytes = std::fs::read(app.ledger_path()).unwrap();
    bytes[(page - 1) * size..page * size].fill(0xa5);
    std::fs::write(app.ledger_path(), &bytes).unwrap();

    let mut server = app.serve();
    let context = |number| json!({ "decision_id": format!("DEC-{number:03}") });
    let text = server.try_call("get_decision_context", context(1)).unwrap_err();
    assert!(text.contains("-32603") && text.contains("is damaged"), "{text}");
    assert_clear(&text);
    let last = server.call("get_decision_context", context(DECISIONS));
    assert_eq!(last["decision"]["title"], format!("Decision {}", DECISIONS - 1));
    let next = record_decision(&mut server, "After the damage");
    assert_eq!(next["decision_id"], format!("DEC-{:03}", DECISIONS + 1));
    server.call("create_task", json!({ "project_path": app.here(), "title": "Another task" }));
    server.close();
}

/// A policy's row is shared by every decision: damaged, it is written anew.
#[test]
fn the_damaged_settings_of_a_policy_are_written_anew() {
    let app = with_a_decision();
    let mut server = app.serve();
    let change = json!({ "decision_id": "DEC-001", "repo_path": app.here() });
    server.call("attach_git_diff", change);
    let before = server.call("run_policy_checks", json!({ "decision_id": "DEC-001" }));
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    let settings = "SELECT config_json FROM policies ORDER BY name";
    let good = ledger.column(settings);
    ledger.execute("UPDATE policies SET config_json = '{broken'");
    let after = server.call("run_policy_checks", json!({ "decision_id": "DEC-001" }));
    assert_eq!(after, before);
    assert_eq!(ledger.column(settings), good);
    server.close();
}
