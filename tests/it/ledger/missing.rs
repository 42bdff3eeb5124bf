//! A ledger that is not there, or not any more, or whose log is not: never taken for an empty
//! one, and never begun anew unasked.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::json;

use crate::support::app::TestApp;
use crate::support::ledger::Ledger;
use crate::support::server::Server;

/// Every verb that reads the ledger.
const READING: [&[&str]; 17] = [
    &["status"],
    &["status", "--json"],
    &["list"],
    &["show", "DEC-001"],
    &["diff", "DEC-001"],
    &["timeline", "TASK-001"],
    &["report", "DEC-001"],
    &["report", "--all"],
    &["approve", "DEC-001", "--as", "Robin", "--yes"],
    &["gate"],
    &["audit", "verify"],
    &["audit", "verify", "--strict"],
    &["audit", "head"],
    &["export"],
    &["export", "--markdown"],
    &["token", "list"],
    &["token", "create", "--label", "ci", "--agent", "codex", "--role", "reviewer"],
];

fn text(output: &Output) -> String {
    let texts = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    texts.concat()
}

fn assert_refused(app: &TestApp, arguments: &[&str], told: &str) {
    let output = app.govforge(arguments);
    let text = text(&output);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {text}");
    assert!(text.contains(told) && text.contains("govforge init"), "{arguments:?}: {text}");
    assert!(output.stdout.is_empty(), "{arguments:?}: {text}");
}

#[test]
fn a_verb_reads_no_ledger_that_is_missing() {
    let repository = || {
        TestApp::empty().with_repo("shop").with_commit("Start", &[("README.md", Some("# Shop"))])
    };
    let named = repository().with_env("GOVFORGE_DB", "../missing.db");
    let unnamed = repository();
    let empty = repository().with_env("GOVFORGE_DB", "../empty.db").with_file("empty.db", "");
    for arguments in READING {
        assert_refused(&named, arguments, "missing.db, which GOVFORGE_DB names, does not exist");
        assert_refused(&unnamed, arguments, "There is no ledger yet: ");
        assert_refused(&empty, arguments, "empty.db, which GOVFORGE_DB names, is an empty file");
    }
    for app in [named, unnamed] {
        let output = app.govforge(&["doctor"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output).contains("FAIL  ledger: "), "{}", text(&output));
        assert!(!app.ledger_path().exists(), "nothing that reads makes one");
        assert_eq!(app.govforge(&["init"]).status.code(), Some(0));
        assert_eq!(app.govforge(&["audit", "verify", "--strict"]).status.code(), Some(0));
    }
    assert_eq!(std::fs::read(empty.root().join("empty.db")).unwrap(), b"");
}

/// Where a directory may not be entered, nothing says that there is no ledger.
#[cfg(unix)]
#[test]
fn a_ledger_that_cannot_be_seen_is_not_taken_for_a_missing_one() {
    let app = TestApp::init();
    let loop_ = app.root().join("loop");
    std::os::unix::fs::symlink(&loop_, &loop_).unwrap();
    let app = app.with_env("GOVFORGE_DB", loop_.join("govforge.db").to_str().unwrap());
    let output = app.govforge(&["status"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("cannot be seen"), "{}", text(&output));
    let mut server = app.serve();
    let list = json!({ "project_path": app.here() });
    let text = server.try_call("list_open_reviews", list).unwrap_err();
    assert!(text.starts_with("UnusableLedger") && text.contains("cannot be seen"), "{text}");
    server.close();
}

fn create_task(server: &mut Server, app: &TestApp) -> Result<String, String> {
    let call = json!({ "project_path": app.here(), "title": "A task" });
    let result = server.try_call("create_task", call)?;
    Ok(result["task_id"].as_str().unwrap().to_owned())
}

/// The ledger, its log and the log's index.
fn files(app: &TestApp) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|suffix| format!("{}{suffix}", app.ledger_path().display()).into())
}

fn assert_gone(server: &mut Server, app: &TestApp) -> String {
    let mut told = String::new();
    for _ in 0..2 {
        told = create_task(server, app).unwrap_err();
        assert!(told.starts_with("LedgerMissing: ") && told.contains("is gone"), "{told}");
        let list = json!({ "project_path": app.here() });
        let read = server.try_call("list_open_reviews", list).unwrap_err();
        assert!(read.starts_with("LedgerMissing: "), "{read}");
        let list = server.request("resources/list", json!({}));
        assert!(list["error"]["message"].as_str().unwrap().contains("is gone"), "{list}");
    }
    assert!(std::fs::metadata(app.ledger_path()).map_or(0, |file| file.len()) == 0);
    told
}

/// However it vanished: calls are refused until it is back, and then go on where they were.
#[cfg(unix)]
#[test]
fn a_ledger_that_vanished_under_a_server_is_not_begun_anew() {
    let app = TestApp::init();
    let mut server = app.serve();
    let [ledger, log, _] = files(&app);
    let kept = app.root().join("kept.db");
    let folder = app.here().join(".govforge");
    let away = app.root().join("away");
    type Step<'a> = &'a dyn Fn();
    let move_all = || std::fs::rename(&folder, &away).unwrap();
    let move_all_back = || std::fs::rename(&away, &folder).unwrap();
    let move_one = || std::fs::rename(&ledger, &kept).unwrap();
    let move_one_back = || std::fs::rename(&kept, &ledger).unwrap();
    let empty = || {
        // What stands in the log alone is lost with the rest.
        while log.metadata().unwrap().len() > 0 {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        std::fs::copy(&ledger, &kept).unwrap();
        std::fs::File::create(&ledger).unwrap();
    };
    let fill = || assert!(std::fs::copy(&kept, &ledger).unwrap() > 0);
    let steps: [(Step, Step, &str); 3] = [
        (&move_one, &move_one_back, "kept.db now: move it back"),
        (&move_all, &move_all_back, "away/govforge.db now: move it back"),
        (&empty, &fill, ""),
    ];
    for (number, (vanish, restore, told)) in steps.into_iter().enumerate() {
        assert_eq!(create_task(&mut server, &app).unwrap(), format!("TASK-{:03}", 2 * number + 1));
        vanish();
        let text = assert_gone(&mut server, &app);
        assert!(cfg!(not(target_os = "linux")) || text.contains(told), "{text}");
        restore();
        assert_eq!(create_task(&mut server, &app).unwrap(), format!("TASK-{:03}", 2 * number + 2));
    }
    server.close();
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    assert_eq!(ledger.counts()["tasks"], 6);
    assert_eq!(ledger.column("PRAGMA integrity_check"), ["ok"]);
    assert!(app.govforge(&["audit", "verify", "--strict"]).status.success());
}

/// Deleted, its content lives in the server, whose refusal says how to save it.
#[cfg(target_os = "linux")]
#[test]
fn a_ledger_that_was_deleted_can_be_saved_from_the_server() {
    for removed in [1, 3] {
        let app = TestApp::init();
        let mut server = app.serve();
        create_task(&mut server, &app).unwrap();
        for file in &files(&app)[..removed] {
            std::fs::remove_file(file).unwrap();
        }
        let text = assert_gone(&mut server, &app);
        let command = text.split('`').find(|part| part.starts_with("cp ")).expect(&text);
        assert!(app.hermetic("sh").args(["-c", command]).status().unwrap().success());
        assert_eq!(create_task(&mut server, &app).unwrap(), "TASK-002");
        server.close();
        assert!(app.govforge(&["audit", "verify", "--strict"]).status.success());
    }
}

/// `govforge init` is how a person begins anew, and running servers go on there.
#[cfg(unix)]
#[test]
fn a_new_ledger_is_begun_on_purpose() {
    let app = TestApp::init();
    let mut server = app.serve();
    create_task(&mut server, &app).unwrap();
    std::fs::remove_file(app.ledger_path()).unwrap();
    assert_gone(&mut server, &app);
    assert!(app.govforge(&["init"]).status.success());
    assert_eq!(create_task(&mut server, &app).unwrap(), "TASK-001");
    server.close();
}

/// What nothing was recorded in is not missed.
#[cfg(unix)]
#[test]
fn a_ledger_without_records_is_begun_again() {
    let app = TestApp::empty()
        .with_repo("shop")
        .with_commit("Start", &[(".govforge/policies.toml", Some(""))]);
    let mut server = app.serve();
    let elsewhere = json!({ "project_path": app.root(), "title": "A task" });
    server.try_call("create_task", elsewhere).unwrap_err();
    std::fs::remove_file(app.ledger_path()).unwrap();
    assert_eq!(create_task(&mut server, &app).unwrap(), "TASK-001");
    server.close();
}

/// The log is found by its name. A server that goes on in one that has lost it must not
/// acknowledge what nobody else will find.
#[cfg(unix)]
#[test]
fn a_log_that_was_removed_loses_no_acknowledged_call() {
    for removed in [&[1][..], &[2], &[1, 2], &[2, 1]] {
        let app = TestApp::init();
        let (mut first, mut second) = (app.serve(), app.serve());
        let remove = || {
            for number in removed {
                // The other server may have removed it.
                let _ = std::fs::remove_file(&files(&app)[*number]);
            }
        };
        let given = Cell::new(0);
        let next = |server: &mut Server| {
            given.set(given.get() + 1);
            assert_eq!(create_task(server, &app).unwrap(), format!("TASK-{:03}", given.get()));
        };
        next(&mut first);
        next(&mut second);
        std::thread::sleep(std::time::Duration::from_millis(1500));
        remove();
        next(&mut first);
        next(&mut second);
        remove();
        next(&mut second);
        first.kill();
        next(&mut second);
        let mut third = app.serve();
        next(&mut third);
        remove();
        next(&mut third);
        third.kill();
        next(&mut second);
        second.kill();
        let copy = |path: &Path| std::fs::copy(path, app.root().join(path.file_name().unwrap()));
        assert!(files(&app).iter().filter(|file| file.exists()).all(|file| copy(file).is_ok()));
        let mut ledger = Ledger::open(&app.root().join("govforge.db")).unwrap();
        assert_eq!(ledger.counts()["tasks"], given.get(), "{removed:?}");
        assert_eq!(ledger.column("PRAGMA integrity_check"), ["ok"]);
        let mut last = app.serve();
        next(&mut last);
        last.close();
        assert!(app.govforge(&["audit", "verify", "--strict"]).status.success());
    }
}
