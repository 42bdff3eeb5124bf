//! The verbs that a person types, and what they leave behind.

use std::io::{BufRead, BufReader};
use std::process::{Output, Stdio};

use serde_json::json;

use crate::support::app::TestApp;
use crate::support::server::{Client, Server};

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn help_tells_the_verbs_the_environment_and_the_wiring_in_80_columns() {
    let output = TestApp::empty().govforge(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    let help = stdout(&output);
    for told in [
        "init",
        "demo",
        "policy",
        "GOVFORGE_DB",
        "GOVFORGE_PROJECT",
        "RUST_LOG",
        "~/.govforge",
        "govforge connect",
    ] {
        assert!(help.contains(told), "{told}");
    }
    // What clap does not wrap: the part below its own.
    let own = &help[help.find("Start here:").unwrap()..];
    for line in own.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn version_is_the_packages() {
    let output = TestApp::empty().govforge(&["--version"]);
    assert_eq!(stdout(&output), format!("govforge {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn wrong_usage_ends_with_2_and_names_the_nearest_verb() {
    let output = TestApp::empty().govforge(&["dmo"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("'demo'"), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
}

/// Whatever the ledger holds, and also where there is none.
#[test]
fn a_value_that_no_ledger_can_make_right_ends_with_2() {
    for wrong in [
        &["list", "--status", "nope"][..],
        &["list", "--since", "soon"],
        &["list", "--limit", "0"],
        &["timeline", "banana"],
        &["diff", "TASK-001"],
        &["report", ""],
        &["approve", "banana", "--as", "maintainer", "--yes"],
        &["audit", "verify", "--head", "abc"],
        &["token", "create", "--label", "", "--agent", "codex", "--role", "author"],
        &["policy", "run", "--risk", "huge"],
        &["man", "nope"],
        &["status", "--db", ""],
        &["status", "--db", "postgres://host/ledger"],
        &["status", "--color", "purple"],
    ] {
        let output = TestApp::empty().govforge(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {}", stderr(&output));
    }
    let app = TestApp::init();
    for range in ["HEAD~1..HEAD", "a...b"] {
        assert_eq!(app.govforge(&["gate", range]).status.code(), Some(2), "{range}");
    }
}

#[test]
fn the_ledger_that_the_command_line_names_goes_before_all_others() {
    let app = TestApp::init().with_env("GOVFORGE_DB", "/nowhere/else.db");
    let ledger = app.here().join(".govforge/govforge.db");
    let ledger = ledger.to_str().unwrap();
    for verb in [["--db", ledger, "status"], ["status", "--db", ledger]] {
        let output = app.govforge(&verb);
        assert!(stdout(&output).contains(&format!("Ledger {ledger}\n")), "{}", stderr(&output));
    }
    let mut command = app.command();
    command.args(["--db", ledger]);
    let mut server = Server::start(command, &Client::of("2025-11-25"));
    let project = json!({ "project_path": app.here().to_str().unwrap(), "title": "T" });
    server.call("create_task", project);
    server.close();
    let output = app.govforge(&["--db", ledger, "timeline", "TASK-001"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn colours_come_where_they_are_asked_for() {
    let app = TestApp::init();
    let coloured = |arguments: &[&str]| {
        let output = app.govforge(arguments);
        let told = [output.stdout, output.stderr].concat();
        String::from_utf8(told).unwrap().contains('\u{1b}')
    };
    for verb in [&["status"][..], &["list", "--status", "nope"], &["doctor"], &["--help"]] {
        assert!(!coloured(verb), "{verb:?}");
        assert!(!coloured(&[verb, &["--color", "never"]].concat()), "{verb:?}");
        assert!(coloured(&[verb, &["--color=always"]].concat()), "{verb:?}");
    }
}

#[test]
fn init_makes_the_folder_once_and_then_changes_nothing() {
    let app = TestApp::empty().with_repo("shop");
    let first = app.govforge(&["init", "--name", "store"]);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    assert!(stdout(&first).starts_with("Registered store (default branch main).\n"));
    let folder = app.here().join(".govforge");
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let before = ["policies.toml", ".gitignore"].map(read);

    let second = app.govforge(&["init"]);
    assert_eq!(second.status.code(), Some(0), "{}", stderr(&second));
    assert!(stdout(&second).starts_with("store is registered already.\n"), "{}", stdout(&second));
    assert!(stdout(&second).ends_with("Nothing was changed.\n"), "{}", stdout(&second));
    assert_eq!(before, ["policies.toml", ".gitignore"].map(read));
}

#[test]
fn init_keeps_the_ledger_and_its_side_files_out_of_git() {
    let app = TestApp::init();
    app.git(&["add", "--all"]);
    assert_eq!(
        app.git(&["diff", "--cached", "--name-only"]),
        ".govforge/.gitignore\n.govforge/policies.toml\n"
    );
}

#[test]
fn init_in_a_linked_worktree_registers_the_main_repository() {
    let app = TestApp::init();
    app.git(&["worktree", "add", "-q", "../side"]);
    let app = app.in_folder("side");
    let output = app.govforge(&["init"]);
    assert!(stdout(&output).starts_with("shop is registered already.\n"), "{}", stdout(&output));
    assert!(!app.here().join(".govforge").exists());
}

#[test]
fn init_uses_the_ledger_that_the_environment_names() {
    let app = TestApp::empty().with_repo("shop");
    let ledger = app.root().join("elsewhere.db");
    let app = app.with_env("GOVFORGE_DB", ledger.to_str().unwrap());
    let output = app.govforge(&["init"]);
    assert!(stdout(&output).contains(&format!("Made {}\n", ledger.display())));
    assert!(ledger.exists() && !app.here().join(".govforge/govforge.db").exists());
}

#[test]
fn init_outside_a_repository_is_refused_with_1() {
    let output = TestApp::empty().govforge(&["init"]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""));
    assert!(stderr(&output).contains("git init"), "{}", stderr(&output));
}

#[test]
fn init_on_a_file_that_is_no_ledger_is_refused_and_leaves_it() {
    let app = TestApp::empty().with_repo("shop").with_file("notes.db", &"no ledger ".repeat(99));
    let notes = app.root().join("notes.db");
    let app = app.with_env("GOVFORGE_DB", notes.to_str().unwrap());
    let output = app.govforge(&["init"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("not a ledger"), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(notes).unwrap(), "no ledger ".repeat(99));
}

/// What the demo prints, but for what differs from run to run.
fn without_ids_and_times(text: &str) -> String {
    let uuid = regex::Regex::new("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").unwrap();
    let time = regex::Regex::new("(?m)^ +[0-9]+ ms").unwrap();
    time.replace_all(&uuid.replace_all(text, "UUID"), "TIME").into_owned()
}

#[test]
fn the_demo_plays_the_whole_story_in_plain_text_and_leaves_nothing() {
    let app = TestApp::empty();
    let output = app.govforge(&["demo"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    for told in [
        "create_task",
        "record_decision",
        "attach_git_diff",
        "run_policy_checks",
        "blocked auth_change_requires_review: 1 auth-adjacent file(s) modified",
        "request_review",
        "submit_review",
        "record_disagreement",
        "approve_decision",
        "get_decision_context",
        "timeline of TASK-001",
        "from changes_requested to approved",
    ] {
        assert!(text.contains(told), "{told} is missing from:\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "colours in a pipe");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert_eq!(std::fs::read_dir(app.root().join("tmp")).unwrap().count(), 0, "a folder is left");
    let again = stdout(&app.govforge(&["demo"]));
    assert_eq!(without_ids_and_times(&text), without_ids_and_times(&again));
}

#[test]
fn the_demo_takes_nothing_from_the_environment() {
    let app = TestApp::init();
    let before = std::fs::read(app.ledger_path()).unwrap();
    let app = app
        .with_env("GOVFORGE_DB", "/nowhere/ledger.db")
        .with_env("GOVFORGE_PROJECT", "nobody's")
        .with_env("GIT_DIR", "/nowhere/.git");
    let output = app.govforge(&["demo"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let ledger = app.here().join(".govforge/govforge.db");
    assert_eq!(before, std::fs::read(ledger).unwrap());
}

#[test]
fn the_demo_keeps_its_folder_on_request() {
    let app = TestApp::empty();
    let output = app.govforge(&["demo", "--keep"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let kept = std::fs::read_dir(app.root().join("tmp")).unwrap().next().unwrap().unwrap().path();
    assert!(kept.join("shop/.govforge/govforge.db").exists() && kept.join("shop/.git").exists());
    // The line may be wrapped, but no path is broken.
    assert!(stdout(&output).contains(kept.to_str().unwrap()), "{}", stdout(&output));
}

#[test]
fn a_reader_who_has_had_enough_ends_the_demo_quietly() {
    let app = TestApp::empty();
    let mut child = app
        .command()
        .arg("demo")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("govforge demo"));
    drop(lines);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    assert_eq!(std::fs::read_dir(app.root().join("tmp")).unwrap().count(), 0, "a folder is left");
}

#[cfg(unix)]
#[test]
fn a_demo_that_is_stopped_leaves_nothing() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let app = TestApp::empty();
        let folder = app.root().join("tmp");
        let count = || std::fs::read_dir(&folder).unwrap().count();
        let mut child = app
            .command()
            .arg("demo")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // It may stop as soon as there is something to leave.
        while count() == 0 && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        let process = child.id().to_string();
        std::process::Command::new("kill").args([signal, &process]).status().unwrap();
        let status = child.wait().unwrap();
        assert!(matches!(status.code(), Some(0 | 130)), "{signal}: {status}");
        assert_eq!(count(), 0, "{signal}");
    }
}
