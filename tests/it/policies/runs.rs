//! `govforge policy`: what it prints, its exit codes, and that it leaves nothing behind.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Output;
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::support::app::TestApp;

fn code(output: &Output) -> i32 {
    output.status.code().expect("it was not killed")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}{}", String::from_utf8_lossy(&output.stdout), stderr(output))
    })
}

/// A repository that was never put under governance.
fn plain() -> TestApp {
    TestApp::empty()
        .with_repo("shop")
        .with_commit("Start the shop", &[("README.md", Some("# Shop\n"))])
}

/// A made-up key of the right shape, which no scanner should see whole.
fn key() -> String {
    format!("{}{}", "AKIA", "Q3EGSO6NW2XMD5KZ")
}

/// Every file below a folder, with its content and the time of its last change.
fn files(folder: &Path, found: &mut BTreeMap<String, (Vec<u8>, SystemTime)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            let changed = path.metadata().unwrap().modified().unwrap();
            found.insert(path.display().to_string(), (std::fs::read(&path).unwrap(), changed));
        }
    }
}

#[test]
fn check_tells_every_mistake_with_its_place() {
    let app = TestApp::init();
    let fine = app.govforge(&["policy", "check"]);
    assert_eq!(code(&fine), 0, "{}", stderr(&fine));
    assert!(stdout(&fine).contains("valid, 5 active"), "{}", stdout(&fine));

    let file = "[auth_change_requires_review]\nenabled = \"false\"\npattern = [\"x\"]\n";
    let app = app.with_file("shop/wrong.toml", file);
    let wrong = app.govforge(&["policy", "check", "wrong.toml"]);
    assert_eq!(code(&wrong), 1);
    let told = stdout(&wrong);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 2, "{told}");
    assert!(lines[0].contains("wrong.toml:2:11: `enabled` must be true or false"), "{told}");
    assert!(lines[1].contains("wrong.toml:3:1: "), "{told}");
    assert!(lines[1].contains("Did you mean `patterns`?"), "{told}");
    assert!(stderr(&wrong).contains("2 mistake(s)"));

    let missing = app.govforge(&["policy", "check", "nothing.toml"]);
    assert_eq!((code(&missing), stdout(&missing).as_str()), (1, ""));
    assert!(stderr(&missing).contains("nothing.toml"), "{}", stderr(&missing));
    assert_eq!(code(&app.govforge(&["policy", "chekc"])), 2);
}

#[test]
fn list_shows_what_is_active_and_where_it_comes_from() {
    let app = plain();
    let defaults = stdout(&app.govforge(&["policy", "list"]));
    assert!(defaults.starts_with("Without a policy file the defaults apply:\n"), "{defaults}");
    assert!(defaults.contains("max_lines_changed = 500  (default)"), "{defaults}");

    let file = "[large_diff_requires_human_approval]\nmax_lines_changed = 9\n\
                [migration_requires_review]\nenabled = false\n\
                [small]\nkind = \"size\"\nmax_files = 2\n";
    let app = app.with_file("shop/.govforge/policies.toml", file);
    let own = app.govforge(&["policy", "list"]);
    assert_eq!(code(&own), 0);
    let own = stdout(&own);
    assert!(own.contains("max_lines_changed = 9  (line 2)"), "{own}");
    assert!(own.contains("severity = \"medium\"  (default)"), "{own}");
    assert!(own.contains("max_files = 2  (line 7)"), "{own}");
    assert!(own.contains("migration_requires_review is switched off in line 3."), "{own}");
    assert!(!own.contains("auth_change"), "{own}");
}

#[test]
fn run_judges_a_commit_and_exits_with_1_where_it_is_blocked() {
    let app = plain().with_commit("Log in", &[("src/auth.py", Some("x = 1\n"))]);
    let blocked = app.govforge(&["policy", "run"]);
    assert_eq!(code(&blocked), 1, "{}", stderr(&blocked));
    let told = stdout(&blocked);
    assert!(told.contains("blocked  auth_change_requires_review: 1 auth-adjacent"), "{told}");
    assert!(told.contains("src/auth.py: auth"), "{told}");
    assert!(told.contains("test_required_for_high_risk: does not apply"), "{told}");
    assert!(stderr(&blocked).contains("blocked by 1 policy"), "{}", stderr(&blocked));

    let before = app.govforge(&["policy", "run", "HEAD~1"]);
    assert_eq!(code(&before), 0, "{}", stderr(&before));
    let risky = app.govforge(&["policy", "run", "HEAD~1", "--risk", "high", "--json"]);
    let risky = json_of(&risky);
    assert_eq!(risky["status"], "warning");
    assert_eq!(risky["commit_hash"], app.git(&["rev-parse", "HEAD~1"]).trim());
    assert_eq!(risky["not_applicable"], json!([]));
    assert_eq!(risky["results"].as_array().map(Vec::len), Some(5));

    assert_eq!(code(&app.govforge(&["policy", "run", "nothing"])), 1);
    assert_eq!(code(&app.govforge(&["policy", "run", "HEAD", "--staged"])), 2);
    assert_eq!(code(&app.govforge(&["policy", "run", "--risk", "huge"])), 2);
    let outside = app.in_folder("elsewhere").govforge(&["policy", "run"]);
    assert_eq!(code(&outside), 1);
    assert!(stderr(&outside).contains("no git repository"), "{}", stderr(&outside));
}

#[test]
fn run_judges_what_is_staged_and_nothing_else() {
    let app = plain().with_commit("More", &[("a.txt", Some("1\n")), ("b.txt", Some("2\n"))]);
    let app = app
        .with_file("shop/config.py", &format!("KEY = \"{}\"\n", key()))
        .with_file("shop/.govforge/policies.toml", include_str!("../../../policies.example.toml"));
    let clean = json_of(&app.govforge(&["policy", "run", "--staged", "--json"]));
    assert_eq!((&clean["status"], &clean["commit_hash"]), (&json!("passed"), &Value::Null));

    app.git(&["add", "config.py"]);
    app.git(&["rm", "-q", "--cached", "a.txt"]);
    let app = app.with_file("shop/config.py", "KEY = None\n");
    let staged = app.govforge(&["policy", "run", "--staged", "--json"]);
    assert_eq!(code(&staged), 1);
    assert!(!stdout(&staged).contains(&key()));
    let staged = json_of(&staged);
    let result = |policy: &str| {
        let results = staged["results"].as_array().unwrap().iter();
        results.clone().find(|result| result["policy"] == policy).unwrap().clone()
    };
    assert_eq!(
        result("secret_pattern_detection")["evidence"]["lines"],
        json!([{ "path": "config.py", "line": 1, "patterns": ["aws_access_key_id"] }])
    );
    let size = result("large_diff_requires_human_approval");
    assert_eq!(size["evidence"]["insertions"], 1);
    assert_eq!(size["evidence"]["deletions"], 1);
}

/// `git commit -a` gives its hooks an index of its own.
#[test]
#[cfg(unix)]
fn a_pre_commit_hook_sees_what_will_be_committed() {
    use std::os::unix::fs::PermissionsExt as _;

    let app = plain().with_file("shop/README.md", "password=hunter2\n");
    let hook = app.here().join(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let binary = env!("CARGO_BIN_EXE_govforge");
    std::fs::write(&hook, format!("#!/bin/sh\nexec '{binary}' policy run --staged\n")).unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let commit = app.hermetic("git").args(["commit", "-q", "-a", "-m", "A key"]).output().unwrap();
    assert!(!commit.status.success(), "{}{}", stdout(&commit), stderr(&commit));
    assert!(stderr(&commit).contains("README.md:1: password="), "{}", stderr(&commit));
    let app = app.with_file("shop/README.md", "nothing\n");
    let commit = app.hermetic("git").args(["commit", "-q", "-a", "-m", "Fine"]).output().unwrap();
    assert!(commit.status.success(), "{}{}", stdout(&commit), stderr(&commit));
}

#[test]
fn what_is_staged_before_the_first_commit_is_everything() {
    let app = TestApp::empty().with_repo("shop").with_file("shop/auth.py", "x\n");
    app.git(&["add", "auth.py"]);
    let staged = app.govforge(&["policy", "run", "--staged", "--json"]);
    assert_eq!(code(&staged), 1, "{}", stderr(&staged));
    assert_eq!(json_of(&staged)["results"][0]["evidence"]["files"][0]["path"], "auth.py");
}

#[test]
fn an_unfinished_merge_is_refused() {
    let app = plain();
    app.git(&["checkout", "-q", "-b", "side"]);
    let app = app.with_commit("Side", &[("README.md", Some("side\n"))]);
    app.git(&["checkout", "-q", "main"]);
    let app = app.with_commit("Main", &[("README.md", Some("main\n"))]);
    let merge = app.hermetic("git").args(["merge", "-q", "side"]).output().unwrap();
    assert!(!merge.status.success(), "it conflicts");
    let staged = app.govforge(&["policy", "run", "--staged"]);
    assert_eq!(code(&staged), 1);
    assert!(stderr(&staged).contains("conflicts"), "{}", stderr(&staged));
}

#[test]
fn the_verbs_write_nothing() {
    let app = plain().with_file("shop/new.py", "x\n");
    app.git(&["add", "new.py"]);
    // A changed time makes git refresh its index: this program must not.
    let app = app.with_file("shop/README.md", "# Shop\n");
    let look = || {
        let mut found = BTreeMap::new();
        files(app.root(), &mut found);
        found
    };
    let before = look();
    for arguments in [
        &["policy", "check"][..],
        &["policy", "list"],
        &["policy", "run"],
        &["policy", "run", "--staged"],
        &["policy", "run", "--staged", "--sarif"],
    ] {
        let output = app.govforge(arguments);
        assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
        assert!(look() == before, "{arguments:?} wrote");
    }
}

#[test]
fn sarif_names_the_rule_and_the_line() {
    let app = plain().with_commit("A key", &[("a b.py", Some("one\npassword=hunter2\n"))]);
    let output = app.govforge(&["policy", "run", "--sarif"]);
    assert_eq!(code(&output), 1);
    let log = json_of(&output);
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "govforge");
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "{log}");
    let index = results[0]["ruleIndex"].as_u64().unwrap() as usize;
    assert_eq!(run["tool"]["driver"]["rules"][index]["id"], results[0]["ruleId"]);
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%20b.py");
    assert_eq!(place["region"]["startLine"], 2);
    assert!(!log.to_string().contains("hunter2"));
}

/// A NUL makes git take a file for binary; it hides nothing from the policies.
#[test]
fn a_nul_hides_no_secret() {
    let app = plain();
    std::fs::write(app.here().join("a.py"), b"# \0\npassword=hunter2\n").unwrap();
    app.git(&["add", "a.py"]);
    let output = app.govforge(&["policy", "run", "--staged"]);
    assert_eq!(code(&output), 1, "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("a.py:2: password="), "{}", stdout(&output));
}

/// The most ordinary first run finds nothing, and says so in the words of the original.
#[test]
fn the_first_run_finds_nothing_and_excuses_nothing() {
    let app = TestApp::init().with_commit("Start", &[("README.md", Some("# Shop\n"))]);
    app.git(&["add", ".govforge"]);
    app.git(&["commit", "-q", "-m", "Put the shop under governance"]);
    let mut server = app.serve();
    let here = app.here().to_str().unwrap();
    server.call("create_task", json!({ "project_path": here, "title": "A task" }));
    let with = json!({ "task_id": "TASK-001", "author_agent": "claude", "title": "A decision" });
    server.call("record_decision", with);
    server.call("attach_git_diff", json!({ "decision_id": "DEC-001", "repo_path": here }));
    let run = server.call("run_policy_checks", json!({ "decision_id": "DEC-001" }));
    let results = run["results"].as_array().unwrap();
    let secrets = results.iter().find(|one| one["policy"] == "secret_pattern_detection").unwrap();
    assert_eq!(secrets["status"], "passed");
    assert_eq!(secrets["message"], "No secret patterns detected.");
    server.close();
    for verb in [&["policy", "run"][..], &["show", "DEC-001"], &["report", "DEC-001"]] {
        let told = stdout(&app.govforge(verb));
        assert!(told.contains("No secret patterns detected."), "{told}");
        assert!(!told.contains("line(s) excused"), "{told}");
    }
}

/// What the scan passes over is told wherever the result is shown, with where and why.
#[test]
fn what_is_excused_is_shown_with_the_result() {
    let lines = "password=${DB_PASSWORD}\npassword=hunter2 # govforge:allow password=\n";
    let app = TestApp::init().with_commit("Connect", &[("a.py", Some(lines))]);
    let mut server = app.serve();
    let here = app.here().to_str().unwrap();
    server.call("create_task", json!({ "project_path": here, "title": "A task" }));
    let with = json!({ "task_id": "TASK-001", "author_agent": "claude", "title": "A decision" });
    server.call("record_decision", with);
    server.call("attach_git_diff", json!({ "decision_id": "DEC-001", "repo_path": here }));
    server.call("run_policy_checks", json!({ "decision_id": "DEC-001" }));
    server.close();
    let wanted = "2 line(s) excused: a.py:1: password= (reference); a.py:2: password= (comment).";
    let markdown = wanted.replace('(', "\\(").replace(')', "\\)");
    for (verb, wanted) in [
        (&["policy", "run"][..], wanted),
        (&["show", "DEC-001"], wanted),
        (&["report", "DEC-001"], wanted),
        (&["report", "DEC-001", "--markdown"], &*markdown),
    ] {
        let told = stdout(&app.govforge(verb));
        assert!(told.contains("No secret patterns detected."), "{told}");
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(wanted), "{told}");
    }
    let told = json_of(&app.govforge(&["policy", "run", "--json"]));
    assert!(told.to_string().contains(r#""excused_total":2"#), "{told}");
}

/// Rules of one's own know who decides, and judge in the order of the file.
#[test]
fn own_rules_judge_a_decision() {
    let rules = "[people]\nkind = \"author\"\nagents = [\"human\"]\npaths = [\"src/\"]\n\
                 result = \"blocked\"\nmessage = \"Ask a person about {files}.\"\n\
                 [small]\nkind = \"size\"\nmax_file_lines = 2\n\
                 [no_debug]\nkind = \"content\"\nregexes = ['\\bdbg!']\nremoved = true\n";
    let app = TestApp::init()
        .with_commit("Start", &[("src/a.rs", Some("dbg!(1)\n"))])
        .with_commit("Go on", &[("src/a.rs", Some("1\n2\n"))])
        .with_file("shop/.govforge/policies.toml", rules);
    let mut server = app.serve();
    let here = app.here().to_str().unwrap();
    server.call("create_task", json!({ "project_path": here, "title": "A task" }));
    let mut judged = |author: &str, decision: &str| {
        let with = json!({ "task_id": "TASK-001", "author_agent": author, "title": "A decision" });
        server.call("record_decision", with);
        server.call("attach_git_diff", json!({ "decision_id": decision, "repo_path": here }));
        let run = server.call("run_policy_checks", json!({ "decision_id": decision }));
        run["results"].as_array().unwrap().clone()
    };
    let result = |policy: &str, status: &str, message: &str| json!({ "policy": policy, "status": status, "message": message });
    let small = result("small", "warning", "3 line(s) changed in one file, more than 2.");
    let debug = result("no_debug", "warning", "1 line(s) match in src/a.rs.");
    assert_eq!(
        judged("claude-code", "DEC-001"),
        [result("people", "blocked", "Ask a person about src/a.rs."), small.clone(), debug.clone()]
    );
    assert_eq!(
        judged("Maria", "DEC-002"),
        [result("people", "passed", "No file on which other agents decide."), small, debug]
    );
    server.close();
}

/// The results of a run name it, and whether its rules are still the project's.
#[test]
fn a_policy_file_that_changed_after_the_check_is_seen() {
    let app = TestApp::init().with_commit("Log in", &[("src/auth.py", Some("x = 1\n"))]);
    let mut server = app.serve();
    let here = app.here().to_str().unwrap();
    server.call("create_task", json!({ "project_path": here, "title": "A task" }));
    let decision = json!({ "task_id": "TASK-001", "author_agent": "claude", "title": "Log in" });
    server.call("record_decision", decision);
    server.call("attach_git_diff", json!({ "decision_id": "DEC-001", "repo_path": here }));
    server.call("run_policy_checks", json!({ "decision_id": "DEC-001" }));
    let mut context = || server.call("get_decision_context", json!({ "decision_id": "DEC-001" }));
    let before = context();
    let results = before["policy_results"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    let event = before["events"].as_array().unwrap().iter();
    let event = event.clone().find(|event| event["type"] == "decision.policy_evaluated").unwrap();
    for result in results {
        assert_eq!(result["current_config"], true, "{result}");
        assert_eq!(result["config_hash"], event["payload"]["config_hash"], "{result}");
        assert_eq!(result["run_id"], results[0]["run_id"], "{result}");
    }
    let file = app.here().join(".govforge/policies.toml");
    std::fs::write(&file, "[migration_requires_review]\n").unwrap();
    assert_eq!(context()["policy_results"][0]["current_config"], false);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(context()["policy_results"][0]["current_config"], false);
    server.close();
}
