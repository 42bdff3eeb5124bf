//! What a person is told who is refused: in the words of the terminal, never of the wire.

use std::path::{Path, PathBuf};

use regex::Regex;
use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::story;
use crate::support::transcript::Transcript;

/// What only an agent can do, beside tools and parameters.
const OF_THE_WIRE: [&str; 5] = ["the call", "this call", "Send ", "send ", "Call "];

/// The names of all tools, and of their parameters that are no plain words.
fn names_of_the_wire() -> Vec<String> {
    let mut server = TestApp::empty().serve();
    let reply = server.request("tools/list", Value::Null);
    server.close();
    let mut names = Vec::new();
    for tool in reply["result"]["tools"].as_array().unwrap() {
        names.push(tool["name"].as_str().unwrap().to_owned());
        let parameters = tool["inputSchema"]["properties"].as_object().unwrap().keys();
        names.extend(parameters.filter(|name| name.contains('_')).cloned());
    }
    names.sort();
    names.dedup();
    assert!(names.len() > 20, "{names:?}");
    names
}

/// Every verb is refused for each reason it has; how it is said is kept in the file.
#[test]
fn no_refusal_speaks_to_a_person_as_to_an_agent() {
    let mut transcript = Transcript::default();
    let mut told = Vec::new();
    let mut refused = |app: &TestApp, verbs: &[&str]| {
        for verb in verbs {
            let arguments: Vec<&str> =
                verb.split(' ').map(|word| word.trim_matches('\'')).collect();
            told.push((verb.to_string(), transcript.run(app, &arguments)));
        }
    };

    let nowhere = TestApp::empty();
    refused(
        &nowhere,
        &[
            "init",
            "init nowhere",
            "gate",
            "hook install pre-push",
            "policy run",
            "policy check nowhere.toml",
            "show DEC-001",
            "timeline TASK-001",
            "approve DEC-001 --as maintainer --yes",
            "connect",
            "connect nobody",
            "doctor",
            "token revoke nope",
            "audit verify nowhere.jsonl",
        ],
    );
    let empty = TestApp::init();
    let nothing_yet = ["show DEC-001", "timeline TASK-001", "token revoke nope"];
    refused(&empty, &nothing_yet);
    refused(&empty.with_env("GOVFORGE_DB", "../missing.db"), &["status", "audit verify"]);

    let app = story::app();
    let mut server = app.serve();
    for (tool, arguments) in story::calls(&app) {
        server.call(tool, arguments);
    }
    let decision = json!({ "task_id": "TASK-001", "author_agent": "claude", "title": "Another",
                           "human_approval_required": true });
    server.call("record_decision", decision);
    server.close();
    refused(
        &app,
        &[
            "show DEC-009",
            "show banana",
            "show REV-009",
            "diff DEC-002",
            "diff TASK-001",
            "timeline DEC-001",
            "timeline TASK-009",
            "report DEC-009",
            "report",
            "report DEC-001 -o nowhere/report.html",
            "list --since soon",
            "list --status nope",
            "list --risk huge",
            "gate",
            "gate nowhere",
            "gate HEAD~1..HEAD",
            "gate -- -x",
            "gate HEAD:src",
            "policy run nowhere",
            "approve DEC-009 --as maintainer --yes",
            "approve DEC-002 --as maintainer",
            "approve DEC-002 --as claude --yes",
            "approve DEC-002 --as ... --yes",
            "approve DEC-002 --yes",
            "token create --label '' --agent codex --role author",
            "token create --label ci --agent '' --role author",
            "token create --label ci --agent codex --scopes everything",
            "token create --label ci --agent codex",
            "audit verify --head abc",
            "audit verify nowhere.jsonl",
            "audit verify README.md",
            "export -o nowhere/audit.jsonl",
            "export -o .govforge/govforge.db",
            "man nope",
            "completions nope",
        ],
    );
    // The diff of the last commit, now attached to a decision that nobody has approved.
    let mut server = app.serve();
    let project = app.here().to_str().unwrap();
    server.call("attach_git_diff", json!({ "decision_id": "DEC-002", "repo_path": project }));
    server.close();
    refused(&app, &["gate"]);

    std::fs::write(
        app.here().join(".govforge/config.toml"),
        "[approval]\nconfirm = \"always\"\nrequire = [\"policy_checks\", \"review\", \
         \"no_open_disagreement\"]\n",
    )
    .unwrap();
    let mut server = app.serve();
    let disagreement = json!({ "decision_id": "DEC-002", "topic": "How to name it" });
    server.call("record_disagreement", disagreement);
    server.close();
    refused(
        &app,
        &["approve DEC-002 --as maintainer --yes", "reject DEC-002 --as maintainer --yes"],
    );
    std::fs::write(app.here().join(".govforge/config.toml"), "[approval]\nask = true\n").unwrap();
    refused(&app, &["approve DEC-002 --as maintainer --yes"]);
    std::fs::write(app.here().join(".govforge/policies.toml"), "[secrets\n").unwrap();
    refused(&app, &["policy check", "policy list", "policy run", "doctor"]);

    std::fs::remove_file(app.here().join(".govforge/config.toml")).unwrap();
    let create = ["token", "create", "--label", "ci", "--agent", "codex", "--role", "reviewer"];
    let secret = String::from_utf8(app.govforge(&create).stdout).unwrap();
    let app = app.with_env("GOVFORGE_API_TOKEN", secret.lines().next().unwrap());
    refused(&app, &["approve DEC-002 --as maintainer --yes", "audit head", "token list"]);
    let app = app.with_env("GOVFORGE_API_TOKEN", "gfp_0");
    refused(&app, &["status"]);

    let app = app.with_env("GOVFORGE_API_TOKEN", "").with_env("GOVFORGE_PROJECT", "nobody");
    refused(&app, &["status", "list", "show DEC-001"]);
    let app = app.with_env("GOVFORGE_PROJECT", "").with_env("GOVFORGE_DB", "postgres://x/y");
    refused(&app, &["status", "connect codex"]);
    let app = app.with_env("GOVFORGE_DB", "README.md");
    refused(&app, &["status"]);

    let names = names_of_the_wire();
    for (verb, text) in &told {
        let name = names.iter().find(|name| text.contains(name.as_str()));
        let word = OF_THE_WIRE.iter().find(|word| text.contains(**word));
        assert!(name.is_none() && word.is_none(), "govforge {verb}: {name:?} {word:?} in:\n{text}");
    }
    transcript.compare("refusals.txt");
}

/// The layers whose messages reach a person.
const SHARED: [&str; 5] = ["src/cli", "src/git", "src/ledger", "src/policy", "src/store/engine"];
/// The demo plays agents.
const OF_AGENTS: &str = "src/cli/demo";
/// How far before an agent's half of a message it is said whose half it is.
const NEAR: usize = 160;

/// What no call of this suite provokes is held by its source: a text that tells what to do names
/// a tool or a parameter only where the words depend on whom it tells, as the agent's half.
#[test]
fn a_text_names_the_wire_only_to_an_agent() {
    let names = names_of_the_wire();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in SHARED {
        rust_files(&root.join(folder), &mut files);
    }
    assert!(files.len() > 80, "{}", files.len());
    let mut found = Vec::new();
    let literal = Regex::new(LITERAL).unwrap();
    let braces = Regex::new(r"\{[^{}]*\}").unwrap();
    let sql = Regex::new(r"\b(SELECT|FROM|WHERE|JOIN|INSERT|VALUES|CREATE)\b").unwrap();
    for file in files {
        let shown = file.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
        if shown.starts_with(OF_AGENTS) || shown.contains("/tests") {
            continue;
        }
        let source = std::fs::read_to_string(&file).unwrap();
        let source = source.split("#[cfg(test)]\nmod").next().unwrap();
        for text in literal.find_iter(source).filter(|text| text.as_str().contains('"')) {
            let before = &source
                [source.floor_char_boundary(text.start().saturating_sub(NEAR))..text.start()];
            let is_agents =
                ["pick(", "parameter(", "Audience::Agent"].iter().any(|m| before.contains(m));
            // What stands in braces is put there when it is told.
            let text = braces.replace_all(text.as_str(), "");
            let is_prose = text.contains(' ') && !text.starts_with("//") && !sql.is_match(&text);
            let names_it = names.iter().any(|name| text.contains(name.as_str()));
            if is_prose && !is_agents && (names_it || text.contains("send the call")) {
                found.push(format!("{shown}: {text}"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Comments, characters and texts of Rust.
const LITERAL: &str =
    r##"//[^\n]*|'(?:\\.|[^'\\\n])'|r"[^"]*"|r#"(?s:.*?)"#|"(?:\\(?s:.)|[^"\\])*""##;

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
