//! The verbs with which a person looks and signs.

use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::ledger::Ledger;
use crate::support::{skipped, story};

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// What a verb prints, which must succeed.
fn run(app: &TestApp, arguments: &[&str]) -> String {
    let output = app.govforge(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    assert!(!stdout(&output).contains('\u{1b}'), "colours in a pipe");
    stdout(&output)
}

/// What a verb says on stderr when it refuses.
fn refused(app: &TestApp, arguments: &[&str]) -> String {
    let output = app.govforge(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", stdout(&output));
    stderr(&output)
}

/// What a verb says on stderr that can be right on no ledger.
fn misused(app: &TestApp, arguments: &[&str]) -> String {
    let output = app.govforge(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stdout(&output));
    stderr(&output)
}

/// The story of one decision, up to the call before `stop`.
fn played_until(stop: &str) -> TestApp {
    let app = story::app();
    let mut server = app.serve();
    for (tool, arguments) in story::calls(&app).into_iter().take_while(|(tool, _)| *tool != stop) {
        server.call(tool, arguments);
    }
    server.close();
    app
}

fn contains_all(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing from:\n{text}");
    }
}

#[test]
fn status_tells_what_waits_for_whom() {
    let app = played_until("submit_review");
    let text = run(&app, &["status"]);
    contains_all(
        &text,
        &[
            "1 decision(s): 1 review required",
            "Waiting for a person (1)",
            "Reviews asked for (1)",
            "DEC-001  codex: Check the password at login (risk high)",
            "Blocked by a policy (2)",
            "auth_change_requires_review: 2 auth-adjacent file(s)",
            "Next: govforge approve DEC-001",
        ],
    );
    let json: Value = serde_json::from_str(&run(&app, &["status", "--json"])).unwrap();
    assert_eq!(json["projects"][0]["decisions"], json!({ "review_required": 1 }));
    assert_eq!(json["projects"][0]["reviews"][0]["what"], "codex");

    let app = played_until("list_open_reviews");
    let text = run(&app, &["status"]);
    assert!(!text.contains("Reviews asked for"), "it was submitted: {text}");
    let mut server = app.serve();
    let app = app.with_commit("Go on", &[("src/auth.py", Some("def login():\n"))]);
    let project = app.here().to_str().unwrap();
    server.call("attach_git_diff", json!({ "decision_id": "DEC-001", "repo_path": project }));
    server.close();
    contains_all(
        &run(&app, &["status"]),
        &["About an older change", "the policy run", "every review"],
    );
}

#[test]
fn of_several_projects_status_names_the_one_to_sign_in() {
    let app = TestApp::init().with_env("GOVFORGE_DB", "../ledger.db").registered();
    let app = app.with_repo("bakery").with_commit("Start", &[("a", Some("a"))]).registered();
    let mut server = app.serve();
    let project = app.here().to_str().unwrap();
    server.call("create_task", json!({ "project_path": project, "title": "T" }));
    server.call(
        "record_decision",
        json!({ "task_id": "TASK-001", "author_agent": "claude", "title": "D",
                "human_approval_required": true }),
    );
    let request = json!({ "decision_id": "DEC-001", "reviewer_agent": "codex", "focus": ["bugs"] });
    server.call("request_review", request);
    server.close();
    let text = run(&app, &["status"]);
    contains_all(&text, &["Next: govforge approve \"bakery/DEC-001\""]);
    run(&app, &["show", "bakery/DEC-001"]);
}

#[test]
fn list_filters_and_status_of_an_empty_ledger_says_what_to_do() {
    let empty = TestApp::init();
    contains_all(&run(&empty, &["status"]), &["shop", "No decision yet."]);
    contains_all(&run(&empty, &["list"]), &["govforge demo"]);
    for report in [&["report", "--all"][..], &["report", "--all", "--markdown"]] {
        contains_all(&run(&empty, report), &["No decision has been recorded yet."]);
    }
    let app = played_until("submit_review");
    let found = |arguments: &[&str]| {
        let text = run(&app, &[&["list", "--json"], arguments].concat());
        serde_json::from_str::<Value>(&text).unwrap().as_array().unwrap().len()
    };
    assert_eq!(found(&[]), 1);
    assert_eq!(found(&["--status", "Review-Required", "--risk", "HIGH", "--agent", "Claude"]), 1);
    assert_eq!(found(&["--since", "1h", "--all"]), 1);
    assert_eq!(found(&["--since", "9999-01-01"]), 0);
    assert_eq!(found(&["--status", "approved"]), 0);
    assert_eq!(found(&["--risk", "low"]), 0);
    assert_eq!(found(&["--agent", "codex"]), 0);
    assert_eq!(found(&["--author", "CLAUDE", "--since", "yesterday", "--limit", "1"]), 1);
    contains_all(&run(&app, &["list", "--risk", "low"]), &["No decision is like that"]);
    contains_all(
        &run(&app, &["list"]),
        &["DECISION", "DEC-001   review_required  high", "Check the password at login"],
    );
    contains_all(&misused(&app, &["list", "--since", "soon"]), &["2026-11-30", "2 weeks ago"]);
    contains_all(&misused(&app, &["list", "--risk", "huge"]), &["low, medium, high, critical"]);
    contains_all(
        &run(&app, &["list", "--author", "claud"]),
        &["No decision is by \"claud\". Did you mean \"claude\"?", "Authors here: claude (1)"],
    );
    let mut server = app.serve();
    let decision = json!({ "task_id": "TASK-001", "author_agent": "claude", "title": "Another" });
    server.call("record_decision", decision);
    server.close();
    let text = run(&app, &["list", "--limit", "1"]);
    contains_all(&text, &["DEC-002", "1 more; leave --limit out"]);
    assert!(!text.contains("DEC-001"), "{text}");
}

#[test]
fn show_tells_the_whole_record_and_timeline_its_events() {
    let app = played_until("get_decision_context");
    let text = run(&app, &["show", "dec-001"]);
    contains_all(
        &text,
        &[
            "DEC-001  Check the password at login",
            "changes requested, risk high, a person's verdict is required",
            "What  login() takes the password.",
            "Why   It let everybody in.",
            "2 file(s), +4 -1",
            "src/auth.py             4 +++-",
            "blocked  auth_change_requires_review",
            "high     src/auth.py:3, security (REV-001, codex)",
            "A password stands in the code.",
            "-> Remove it and change it.",
            "author    It is only a test's.",
            "reviewer  It opens the door.",
            "needs changes  maintainer",
            "Remove it first.",
            "review.submitted",
        ],
    );
    assert!(!text.contains(story::SECRET));
    let json: Value = serde_json::from_str(&run(&app, &["show", "DEC-001", "--json"])).unwrap();
    assert_eq!(json["reviews"][0]["by"], "codex");
    assert_eq!(json["reviews"][0]["findings"][0]["line_start"], 3);
    assert_eq!(json["files"][0], json!({"path": "src/auth.py", "insertions": 3, "deletions": 1}));

    contains_all(
        &run(&app, &["timeline", "TASK-001"]),
        &[
            "TASK-001  Harden the login",
            "  TASK-001  claude      task.created",
            "  DEC-001   maintainer  decision.needs_changes",
            "review.requested           codex, focus: ",
            "  DEC-001   codex       review.submitted",
        ],
    );
    let json: Value =
        serde_json::from_str(&run(&app, &["timeline", "TASK-001", "--json"])).unwrap();
    assert_eq!(json["events"][0]["actor"], "claude");
    assert_eq!(json["events"][0]["about"], "TASK-001");
    contains_all(&run(&app, &["report", "DEC-001", "--markdown"]), &["| codex, focus: "]);
    contains_all(&run(&app, &["report", "DEC-001"]), &["<td>codex, focus: "]);
    contains_all(&refused(&app, &["show", "DEC-002"]), &["DEC-001"]);
    contains_all(&misused(&app, &["timeline", "DEC-001"]), &["TASK-001"]);
    contains_all(&run(&app, &["timeline", "1"]), &["TASK-001  Harden the login"]);
}

#[test]
fn a_damaged_ledger_ends_with_3() {
    let app = played_until("submit_review");
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    ledger.execute("UPDATE decisions SET created_at = 'never'");
    drop(ledger);
    for verb in [&["status"][..], &["list"], &["show", "DEC-001"]] {
        let output = app.govforge(verb);
        assert_eq!(output.status.code(), Some(3), "{verb:?}: {}", stderr(&output));
        contains_all(&stderr(&output), &["created_at", "`govforge doctor`"]);
    }
}

#[test]
fn diff_is_what_git_prints_but_for_secrets() {
    let app = played_until("submit_review");
    let git = app.git(&["show", "--format=", "-p", "--no-renames", "--full-index", "HEAD"]);
    let masked = git.replace(story::SECRET, "[masked: password=]");
    assert_ne!(masked, git);
    assert_eq!(run(&app, &["diff", "DEC-001"]), masked);
    let mut server = app.serve();
    let decision = json!({ "task_id": "TASK-001", "author_agent": "claude", "title": "Another" });
    server.call("record_decision", decision);
    server.close();
    contains_all(&refused(&app, &["diff", "DEC-002"]), &["Have its author attach one"]);
}

/// Agents work in working trees that are thrown away.
#[test]
fn a_change_is_shown_after_the_working_tree_that_it_came_from_is_gone() {
    let app = played_until("attach_git_diff");
    app.git(&["worktree", "add", "-q", "--detach", "../tree"]);
    let tree = app.root().join("tree");
    let mut server = app.serve();
    server.call("attach_git_diff", json!({ "decision_id": "DEC-001", "repo_path": tree }));
    server.close();
    let diff = run(&app, &["diff", "DEC-001"]);
    app.git(&["worktree", "remove", tree.to_str().unwrap()]);
    assert_eq!(run(&app, &["diff", "DEC-001"]), diff);
    contains_all(&run(&app, &["show", "DEC-001"]), &["src/auth.py             4 +++-"]);
}

/// `head` closes a pipe; what writes more than a pipe holds must not complain.
#[cfg(unix)]
#[test]
fn a_reader_who_has_had_enough_is_no_error() {
    let app = played_until("get_decision_context");
    for verb in [
        &["status"][..],
        &["list"],
        &["show", "DEC-001"],
        &["diff", "DEC-001"],
        &["timeline", "TASK-001"],
        &["report", "DEC-001"],
        &["export"],
        &["export", "--markdown"],
        &["audit", "verify"],
    ] {
        let mut child = app
            .command()
            .args(verb)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{verb:?}");
        assert_eq!(stderr(&output), "", "{verb:?}");
    }
}

#[test]
fn nothing_that_an_agent_wrote_steers_the_terminal_or_the_page() {
    let app = TestApp::init();
    let mut server = app.serve();
    let project = app.here().to_str().unwrap();
    let evil = "a\u{1b}[2J\u{9b}\u{202e}\u{200b}\u{e0041}<script>b</script>";
    server.call("create_task", json!({ "project_path": project, "title": evil }));
    server.call(
        "record_decision",
        json!({ "task_id": "TASK-001", "author_agent": "\u{1b}]claude", "title": evil,
                "summary": evil, "rationale": evil }),
    );
    server.call(
        "record_disagreement",
        json!({ "decision_id": "DEC-001", "topic": evil, "author_position": evil }),
    );
    server.close();
    let json = ["show", "DEC-001", "--json"];
    for verb in [
        &["status"][..],
        &["list"],
        &["show", "DEC-001"],
        &json,
        &["timeline", "TASK-001"],
        &["report", "DEC-001"],
        &["report", "--all", "--markdown"],
        &["export"],
        &["export", "--markdown"],
    ] {
        let text = run(&app, verb);
        let unseen = ['\u{202e}', '\u{200b}', '\u{e0041}'];
        let steers = |c: char| (c.is_control() && c != '\n') || unseen.contains(&c);
        assert!(!text.contains(steers), "{verb:?}: {text:?}");
        if verb[0] == "report" {
            assert!(!text.contains("<script"), "{text}");
        }
    }
    let shown: Value = serde_json::from_str(&run(&app, &json)).unwrap();
    assert_eq!(shown["decision"]["title"], evil, "a machine gets it as it is");
    let file = app.root().join("record.jsonl");
    run(&app, &["export", "-o", file.to_str().unwrap()]);
    contains_all(&run(&app, &["audit", "verify", file.to_str().unwrap()]), &["each as it was"]);
}

#[test]
fn tables_keep_their_columns_with_wide_and_combining_characters() {
    let app =
        TestApp::init().with_commit("Add", &[("日本語.py", Some("a\n")), ("b.py", Some("b\n"))]);
    let mut server = app.serve();
    let project = app.here().to_str().unwrap();
    server.call("create_task", json!({ "project_path": project, "title": "T" }));
    for author in ["レビュー", "e\u{301}va", "claude"] {
        let decision = json!({ "task_id": "TASK-001", "author_agent": author, "title": "強化" });
        server.call("record_decision", decision);
    }
    server.call("attach_git_diff", json!({ "decision_id": "DEC-001", "repo_path": project }));
    server.close();
    let rows = |text: &str, part: &str| {
        let rows = text.lines().filter(|line| line.contains(part));
        rows.map(str::to_owned).collect::<Vec<_>>()
    };
    let list = run(&app, &["list"]);
    let authors: Vec<String> = rows(&list, "DEC-00")
        .iter()
        .map(|row| row.split("medium  ").nth(1).unwrap().split("20").next().unwrap().to_owned())
        .collect();
    // Eight columns and two blanks, whatever the characters.
    assert_eq!(authors, ["claude    ", "e\u{301}va       ", "レビュー  "]);
    let files = rows(&run(&app, &["show", "DEC-001"]), ".py  ");
    assert_eq!(files, ["  b.py           1 +", "  日本語.py      1 +"]);
}

/// Runs a verb in a terminal of its own, with what a person types there.
fn in_a_terminal(app: &TestApp, command: &str, typed: &str) -> Option<Output> {
    let govforge = env!("CARGO_BIN_EXE_govforge");
    let mut child = app
        .hermetic("script")
        .args(["-qec", &format!("{govforge} {command}"), "/dev/null"])
        .env("PAGER", "")
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), typed.as_bytes()).unwrap();
    Some(child.wait_with_output().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_signs_in_a_terminal() {
    let app = played_until("approve_decision");
    let Some(output) = in_a_terminal(&app, "approve DEC-001 --as maintainer", "no\n") else {
        return skipped("there is no `script`: nobody signs in a terminal");
    };
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    contains_all(&text, &["Nothing was recorded", "Blocked by policies", "A password stands"]);
    let app = app.with_env("GOVFORGE_USER", "maintainer");
    let command = "needs-changes DEC-001 -m 'Not yet.'";
    let output = in_a_terminal(&app, command, "DEC-001\n").unwrap();
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    contains_all(&text, &["DEC-001 is now", "changes requested"]);
    let json: Value = serde_json::from_str(&run(&app, &["show", "DEC-001", "--json"])).unwrap();
    assert_eq!(json["approvals"].as_array().unwrap().len(), 1);
    assert_eq!(json["approvals"][0]["comment"], "Not yet.");
    let verdict = json["events"].as_array().unwrap().last().unwrap();
    assert_eq!(verdict["type"], "decision.needs_changes");
    assert_eq!(verdict["payload"]["confirmed"], "terminal");
    let colours = stdout(&in_a_terminal(&app, "show DEC-001", "").unwrap());
    assert!(colours.contains("\u{1b}[1mDEC-001"), "{colours:?}");
    let plain = app.with_env("NO_COLOR", "1");
    assert!(!stdout(&in_a_terminal(&plain, "show DEC-001", "").unwrap()).contains("\u{1b}[1m"));
}

/// Nothing that matters is cut in a narrow terminal, and no line is wider than it.
#[cfg(target_os = "linux")]
#[test]
fn a_narrow_terminal_shows_it_all() {
    let app = played_until("get_decision_context").with_env("NO_COLOR", "1");
    for width in [40, 60, 80, 140] {
        let resized = |verb: &str| {
            let govforge = env!("CARGO_BIN_EXE_govforge");
            let command = format!("stty cols {width} rows 24 && {govforge} {verb}");
            let mut script = app.hermetic("script");
            script.args(["-qec", &command, "/dev/null"]).stdin(Stdio::null());
            let output = script.env("PAGER", "").env("TERM", "xterm").output().ok()?;
            Some(stdout(&output).replace('\r', ""))
        };
        let Some(list) = resized("list") else {
            return skipped("there is no `script`: no terminal is made narrow");
        };
        contains_all(&list, &["TITLE", "Check the password at login"]);
        let timeline = resized("timeline TASK-001").unwrap();
        contains_all(&timeline, &["from draft to review_required", "policies: "]);
        for line in list.lines().chain(timeline.lines()) {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn the_name_of_the_signer_may_be_gits() {
    let app = played_until("approve_decision");
    app.git(&["config", "user.name", "maintainer"]);
    contains_all(&run(&app, &["reject", "DEC-001", "--yes"]), &["DEC-001 is now rejected."]);
    let text = run(&app, &["show", "DEC-001"]);
    contains_all(&text, &["rejected       maintainer"]);
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_person_approves_in_a_terminal_passes_the_gate() {
    let app = played_until("approve_decision");
    let Some(output) = in_a_terminal(&app, "approve DEC-001 --as maintainer", "DEC-001\n") else {
        return skipped("there is no `script`: nobody signs in a terminal");
    };
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    let json: Value = serde_json::from_str(&run(&app, &["gate", "--json"])).unwrap();
    assert_eq!(json["verdict"]["approver"], "maintainer");
    assert_eq!(json["verdict"]["confirmed"], "terminal");
}

/// With a gate that takes what a script says.
fn accepting_asserted(app: TestApp) -> TestApp {
    let settings = "[approval]\ngate_accepts = [\"asserted\"]\n";
    app.with_file("shop/.govforge/config.toml", settings)
}

#[test]
fn the_gate_lets_only_an_approved_diff_pass() {
    let app = accepting_asserted(played_until("attach_git_diff"));
    contains_all(&refused(&app, &["gate"]), &["No decision", "Have its author record one"]);
    let mut server = app.serve();
    let project = app.here().to_str().unwrap().to_owned();
    let attach = json!({ "decision_id": "DEC-001", "repo_path": project });
    server.call("attach_git_diff", attach);
    contains_all(&refused(&app, &["gate"]), &["not approved", "govforge approve DEC-001"]);
    run(&app, &["approve", "DEC-001", "--as", "maintainer", "--yes"]);
    contains_all(&run(&app, &["gate"]), &["approved by DEC-001"]);
    let json: Value = serde_json::from_str(&run(&app, &["gate", "HEAD", "--json"])).unwrap();
    assert_eq!((&json["passes"], &json["reason"]), (&json!(true), &json!("approved")));

    // The same diff under another commit passes, another diff does not.
    app.git(&["commit", "-q", "--amend", "-m", "Another message"]);
    run(&app, &["gate"]);
    std::fs::write(app.here().join("src/auth.py"), "def login():\n").unwrap();
    app.git(&["commit", "-q", "-a", "--amend", "-m", "Sneak in"]);
    contains_all(&refused(&app, &["gate"]), &["DEC-001 is approved, but for another diff"]);
    let output = app.govforge(&["gate", "--json"]);
    let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(json["reason"], "approved_for_another_diff");

    // Attached, it takes the approval back.
    server.call("attach_git_diff", json!({ "decision_id": "DEC-001", "repo_path": project }));
    server.close();
    contains_all(&refused(&app, &["gate"]), &["not approved (its status is review_required)"]);
    contains_all(&refused(&app, &["gate", "nowhere"]), &["nowhere"]);
    contains_all(&refused(&TestApp::empty(), &["gate"]), &["no git repository"]);
}

#[cfg(unix)]
#[test]
fn the_hook_keeps_the_one_that_was_there_and_stops_a_push() {
    let app = accepting_asserted(played_until("approve_decision"));
    let hooks = app.here().join(".git/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    let own = "#!/bin/sh\ncat > \"$(dirname \"$0\")/seen\"\n";
    std::fs::write(hooks.join("pre-push"), own).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(hooks.join("pre-push"), mode).unwrap();
    contains_all(&run(&app, &["hook", "install", "pre-push"]), &["pre-push.before-govforge"]);
    run(&app, &["hook", "install", "pre-push"]);
    let kept = std::fs::read_to_string(hooks.join("pre-push.before-govforge")).unwrap();
    assert_eq!(kept, own, "running it again keeps it too");

    app.git(&["init", "-q", "--bare", "../remote"]);
    app.git(&["remote", "add", "origin", "../remote"]);
    // What was there before the governance began.
    app.git(&["push", "-q", "--no-verify", "origin", "HEAD~1:refs/heads/main"]);
    let push = || app.hermetic("git").args(["push", "-q", "origin", "main"]).output().unwrap();
    let output = push();
    assert!(!output.status.success());
    contains_all(&stderr(&output), &["belongs to DEC-001, which is not approved"]);
    assert!(std::fs::read_to_string(hooks.join("seen")).unwrap().starts_with("refs/heads/main "));
    run(&app, &["approve", "DEC-001", "--as", "maintainer", "--yes"]);
    let output = push();
    assert!(output.status.success(), "{}", stderr(&output));
    app.git(&["push", "-q", "origin", ":main"]);

    std::fs::write(app.here().join(".git/config"), "[core\n").unwrap();
    contains_all(&refused(&app, &["hook", "install", "pre-push"]), &["fsck"]);
}

#[cfg(unix)]
#[test]
fn the_hook_before_a_commit_judges_what_is_staged() {
    let app = accepting_asserted(played_until("approve_decision"));
    run(&app, &["approve", "DEC-001", "--as", "maintainer", "--yes"]);
    run(&app, &["hook", "install", "pre-commit"]);
    let commit =
        |message| app.hermetic("git").args(["commit", "-q", "-m", message]).output().unwrap();
    app.git(&["reset", "-q", "--soft", "HEAD~1"]);
    let output = commit("The approved change again");
    assert!(output.status.success(), "{}", stderr(&output));
    std::fs::write(app.here().join("README.md"), "more\n").unwrap();
    app.git(&["add", "README.md"]);
    let output = commit("More");
    assert!(!output.status.success());
    contains_all(&stderr(&output), &["No decision has the diff"]);
    app.git(&["config", "core.hooksPath", "/elsewhere/hooks"]);
    contains_all(&refused(&app, &["hook", "install", "pre-push"]), &["core.hooksPath"]);
}

#[test]
fn the_report_is_one_page_that_needs_nothing_else() {
    let app = played_until("get_decision_context");
    let page = run(&app, &["report", "DEC-001"]);
    contains_all(
        &page,
        &[
            "<h1><span class=\"id\">DEC-001</span>Check the password at login</h1>",
            "default-src 'none'",
            "<svg",
            "It is only a test&#39;s.",
            "Remove it first.",
            "@media print",
        ],
    );
    for outside in ["<script", "http://", "https://", "<link", "<img", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    // The finding stands right below the line that it is about.
    let diff = &page[page.find("<h2>Diff</h2>").unwrap()..];
    assert!(!page.contains(story::SECRET));
    let line = diff.find("[masked: password=]").unwrap();
    let finding = diff.find("A password stands in the code.").unwrap();
    assert!(line < finding && !diff[line..finding].contains("class=\"added\""), "{diff}");

    let file = app.root().join("all.html");
    let told = run(&app, &["report", "--all", "-o", file.to_str().unwrap()]);
    assert_eq!(told, format!("Wrote 1 decision(s) to {}\n", file.display()));
    assert!(std::fs::read_to_string(file).unwrap().contains("DEC-001"));
    let text = run(&app, &["report", "DEC-001", "--markdown"]);
    contains_all(&text, &["## DEC-001 Check the password at login", "| blocked |", "### Verdicts"]);
    assert_eq!(app.govforge(&["report"]).status.code(), Some(2));
    contains_all(&refused(&app, &["report", "DEC-001", "-o", "/no/where"]), &["cannot be written"]);
}

/// What a browser makes of a page: its title, which a script of the test writes there. `None`
/// where no browser is installed.
#[cfg(target_os = "linux")]
fn told_by_a_browser(app: &TestApp, page: &str, width: u32, script: &str) -> Option<String> {
    // In a frame, because a headless window has a least width.
    let policy = "content=\"default-src 'none'; style-src 'unsafe-inline'\"";
    assert!(page.contains(policy));
    let probe = format!("<script>document.title = {script}</script></body>");
    let inner = page.replace(policy, "content=\"\"").replace("</body>", &probe);
    let inner = inner.replace('&', "&amp;").replace('"', "&quot;");
    let outer = format!(
        "<iframe width={width} height=900 srcdoc=\"{inner}\" \
         onload=\"document.title = this.contentDocument.title\"></iframe>"
    );
    let file = app.root().join(format!("{width}.html"));
    std::fs::write(&file, outer).unwrap();
    let output = browser(app)
        .arg("--dump-dom")
        .arg(format!("file://{}", file.display()))
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let dom = String::from_utf8_lossy(&output.stdout);
    let title = dom.split("<title>").nth(1).and_then(|rest| rest.split('<').next());
    let shown = title.unwrap_or_else(|| {
        panic!("no title: {:.300} {}", dom, stderr(&output));
    });
    Some(shown.to_owned())
}

#[cfg(target_os = "linux")]
fn browser(app: &TestApp) -> std::process::Command {
    let mut browser = app.hermetic("chromium");
    browser.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
    ]);
    browser
}

/// At both widths nothing is wider than the screen, as the browser itself measures it.
#[cfg(target_os = "linux")]
#[test]
fn a_browser_shows_the_report_at_two_widths() {
    let app = played_until("get_decision_context");
    let page = run(&app, &["report", "DEC-001"]);
    for width in [420, 1280] {
        let script = "document.documentElement.scrollWidth";
        let Some(shown) = told_by_a_browser(&app, &page, width, script) else {
            return skipped("chromium is not installed: no browser shows the report");
        };
        let shown: u32 = shown.parse().unwrap();
        assert!(shown <= width, "{shown} pixels wide in {width}");
    }
}

/// From a dark screen too, the page is printed black on white, with the colours of the diff, and
/// nothing that belongs together is cut or torn apart.
#[cfg(target_os = "linux")]
#[test]
fn a_browser_prints_the_report() {
    let app = played_until("get_decision_context");
    let page = run(&app, &["report", "DEC-001"]);
    let screen = "@media (prefers-color-scheme: dark)";
    let printed = page.replace(screen, "@media all").replace("@media print", "@media all");
    assert!(page.contains(screen) && page.contains("@media print"));
    let script = "JSON.stringify([\
        getComputedStyle(document.body).backgroundColor, \
        getComputedStyle(document.body).color, \
        getComputedStyle(document.querySelector('tr.added')).backgroundColor, \
        getComputedStyle(document.querySelector('tr.removed')).backgroundColor, \
        getComputedStyle(document.querySelector('tr.added')).printColorAdjust, \
        ...['.card', '.picture', 'tr.added'].map(one => \
            getComputedStyle(document.querySelector(one)).breakInside), \
        document.documentElement.scrollWidth <= 680])";
    let Some(told) = told_by_a_browser(&app, &printed, 680, script) else {
        return skipped("chromium is not installed: no browser prints the report");
    };
    assert_eq!(
        serde_json::from_str::<Value>(&told).unwrap(),
        json!([
            "rgb(255, 255, 255)",
            "rgb(0, 0, 0)",
            "rgb(227, 246, 232)",
            "rgb(253, 234, 234)",
            "exact",
            "avoid",
            "avoid",
            "avoid",
            true
        ])
    );
    let (file, paper) = (app.root().join("report.html"), app.root().join("report.pdf"));
    std::fs::write(&file, page).unwrap();
    let mut browser = browser(&app);
    browser.arg(format!("--print-to-pdf={}", paper.display()));
    browser.arg(format!("file://{}", file.display())).stdin(Stdio::null()).output().unwrap();
    assert!(std::fs::read(paper).unwrap().starts_with(b"%PDF"));
}
