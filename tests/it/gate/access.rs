//! Who may do what: each tool, resource and verb with each token, as the table in
//! `docs/tokens.md` says it.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use clap::CommandFactory as _;
use govforge::cli::Cli;
use serde_json::{Value, json};

use crate::gate::lying::{accept, bring};
use crate::gate::questions::{asking, verdict};
use crate::support::app::TestApp;
use crate::support::ledger::Ledger;
use crate::support::server::{Client, Server};
use crate::support::story;

const TABLE: &str = include_str!("../../../docs/tokens.md");

/// A row of the table: what is done, and under which tokens it may be.
struct Entry {
    what: String,
    /// By the heading of the column.
    may: BTreeMap<String, bool>,
}

fn table() -> Vec<Entry> {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect()
    };
    let mut lines = TABLE.lines().skip_while(|line| !line.starts_with("| to do |"));
    let heading = cells(lines.next().unwrap());
    let rows = lines.skip(1).take_while(|line| line.starts_with('|')).map(cells);
    rows.map(|row| {
        assert_eq!(row.len(), heading.len(), "{row:?}");
        let may = heading.iter().zip(&row).skip(1).map(|(column, cell)| {
            let may = match cell.as_str() {
                "yes" => true,
                "no" => false,
                other => panic!("{other} in the row of {}", row[0]),
            };
            (column.clone(), may)
        });
        Entry { what: row[0].clone(), may: may.collect() }
    })
    .collect()
}

/// A ledger with a story, and a secret of each kind.
struct Tokens {
    app: TestApp,
    /// By the column that they belong to.
    secrets: Vec<(&'static str, String)>,
    /// The ledger as it is before each attempt.
    ledger: Vec<u8>,
    /// How many links its chain has.
    links: usize,
    rows: String,
}

/// One attempt, on a copy of the ledger.
struct Attempt<'a> {
    tokens: &'a Tokens,
    column: &'static str,
    secret: &'a str,
    ledger: PathBuf,
}

impl Tokens {
    /// With every kind of record but a verdict.
    fn undecided() -> Self {
        let app = story::app();
        let mut server = app.serve();
        for (tool, arguments) in story::calls(&app) {
            if tool != "approve_decision" {
                server.call(tool, arguments);
            }
        }
        server.close();
        Self::of(app)
    }

    /// With a person's approval too, so that the gate lets the commit pass.
    fn approved() -> Self {
        let app = story::told().with_file("shop/.govforge/policies.toml", "");
        let mut server = asking(&app, "2025-11-25");
        let sent = server.post("tools/call", bring(&verdict()));
        let (question, _) = server.question();
        server.answer(&question, accept("approved"));
        let reply = server.reply_to(sent);
        assert_eq!(reply["result"]["structuredContent"]["decision_status"], "approved", "{reply}");
        server.close();
        Self::of(app)
    }

    fn of(app: TestApp) -> Self {
        let create = |label: &str, rest: &[&str]| {
            let start = ["token", "create", "--label", label, "--agent", "human"];
            let output = app.govforge(&[&start, rest].concat());
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap().lines().next().unwrap().to_owned()
        };
        let secrets = vec![
            ("author", create("author", &["--role", "author"])),
            ("reviewer", create("reviewer", &["--role", "reviewer"])),
            ("approver", create("approver", &["--role", "approver"])),
            ("admin", create("admin", &["--scopes", "admin"])),
            ("not accepted", "gfp_unknown".to_owned()),
            ("not accepted", create("revoked", &["--scopes", "admin"])),
            ("not accepted", create("expired", &["--scopes", "admin", "--expires", "1"])),
            ("no token", String::new()),
        ];
        create("spare", &["--role", "author"]);
        for words in ["create Acme", "user add Acme alice", "agent add Acme coder"] {
            let arguments: Vec<&str> = ["company"].into_iter().chain(words.split(' ')).collect();
            assert!(app.govforge(&arguments).status.success(), "{words}");
        }
        assert!(app.govforge(&["token", "revoke", "revoked"]).status.success());
        let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
        ledger.execute(
            "UPDATE api_tokens SET expires_at = '2020-01-01 00:00:00.000000'
             WHERE label = 'expired';
             PRAGMA wal_checkpoint(TRUNCATE);",
        );
        let links = ledger.rows("SELECT 1 FROM event_chain").len();
        let rows = rows(&mut ledger);
        let ledger = std::fs::read(app.ledger_path()).unwrap();
        Self { app, secrets, ledger, links, rows }
    }

    fn each(&self, mut attempt: impl FnMut(&Attempt<'_>)) {
        for (column, secret) in &self.secrets {
            let folder = tempfile::tempdir_in(self.app.root()).unwrap();
            let ledger = folder.path().join("govforge.db");
            std::fs::write(&ledger, &self.ledger).unwrap();
            attempt(&Attempt { tokens: self, column, secret, ledger });
        }
    }
}

impl Attempt<'_> {
    fn command(&self) -> Command {
        let mut command = self.tokens.app.command();
        command.env("GOVFORGE_API_TOKEN", self.secret).env("GOVFORGE_DB", &self.ledger);
        command
    }

    /// What was refused left nothing behind, and what was written carries the token's label.
    fn check(&self, refused: bool, told: &str) {
        let mut ledger = Ledger::open(&self.ledger).unwrap();
        assert!(!refused || rows(&mut ledger) == self.tokens.rows, "{told}: something was written");
        let labels = ledger.column("SELECT coalesce(token, 'no token') FROM event_chain");
        for label in labels.iter().skip(self.tokens.links) {
            assert_eq!(label, self.column, "{told}");
        }
    }
}

/// Runs a server until it serves, or has said why it does not.
fn served(command: &mut Command) -> Output {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    let serves = line.contains("govforge serves");
    if serves {
        child.kill().unwrap();
    }
    let output = child.wait_with_output().unwrap();
    let status = if serves { Default::default() } else { output.status };
    Output { status, stderr: line.into_bytes(), ..output }
}

/// Every row of every table.
fn rows(ledger: &mut Ledger) -> String {
    let tables = ledger.counts().into_keys();
    tables
        .map(|table| json!(ledger.rows(&format!("SELECT * FROM \"{table}\""))).to_string())
        .collect()
}

#[test]
fn every_verb_does_what_its_token_covers_and_nothing_else() {
    let tokens = Tokens::approved();
    for entry in table().iter().filter(|entry| entry.what.starts_with("govforge ")) {
        let arguments: Vec<&str> = entry.what.split(' ').skip(1).collect();
        tokens.each(|attempt| {
            let output = match arguments[0] {
                "serve" => served(attempt.command().args(&arguments)),
                _ => attempt.command().args(&arguments).output().unwrap(),
            };
            let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
            let told = format!("{} under {}: {text:?}", entry.what, attempt.column);
            let refused = text.iter().any(|text| text.contains("The token "));
            assert_eq!(refused, !entry.may[attempt.column], "{told}");
            assert_eq!(output.status.code(), Some(i32::from(refused)), "{told}");
            assert!(!refused || arguments == ["doctor"] || text[0].is_empty(), "{told}");
            attempt.check(refused, &told);
        });
    }
}

#[test]
fn every_tool_and_resource_is_listed_and_answered_as_far_as_its_token_covers_it() {
    let tokens = Tokens::undecided();
    let calls: BTreeMap<&str, Value> = story::calls(&tokens.app).into_iter().collect();
    let mut ledger = Ledger::open(&tokens.app.ledger_path()).unwrap();
    let project = ledger.column("SELECT id FROM projects").remove(0);
    let names = [("project", project.as_str()), ("decision", "DEC-001"), ("task", "TASK-001")];
    for entry in table().iter().filter(|entry| !entry.what.starts_with("govforge ")) {
        let is_tool = calls.contains_key(entry.what.as_str());
        let names = names.iter().chain(&[("review", "REV-001")]);
        let name = names.fold(entry.what.clone(), |name, (kind, id)| {
            name.replace(&format!("{{{kind}_id}}"), id)
        });
        tokens.each(|attempt| {
            let mut server = Server::start(attempt.command(), &Client::of("2025-11-25"));
            let told = format!("{} under {}", entry.what, attempt.column);
            let (list, key) = if is_tool { ("tools", "name") } else { ("resources", "uri") };
            let reply = server.request(&format!("{list}/list"), Value::Null);
            let mut listed = reply["result"][list].as_array().unwrap().iter();
            let unhyphened = |text: &Value| text.as_str().unwrap().replace('-', "");
            let is_listed = listed.any(|one| unhyphened(&one[key]) == name.replace('-', ""));
            assert_eq!(is_listed, entry.may[attempt.column], "{told}: {reply}");
            let answer = match is_tool {
                true => server.try_call(&name, calls[name.as_str()].clone()),
                false => {
                    let reply = server.request("resources/read", json!({ "uri": name }));
                    let refusal = reply["error"]["message"].as_str().map(str::to_owned);
                    refusal.map_or(Ok(reply), Err)
                }
            };
            server.close();
            let refusal = answer.err();
            assert_eq!(refusal.is_none(), entry.may[attempt.column], "{told}: {refusal:?}");
            let is_named = |text: &String| text.starts_with("NotPermitted: The token ");
            assert!(refusal.as_ref().is_none_or(is_named), "{told}: {refusal:?}");
            attempt.check(refusal.is_some(), &told);
        });
    }
}

/// What is not in the table has not been thought about.
#[test]
fn every_tool_resource_and_verb_is_in_the_table() {
    let entries = table();
    let told = |what: &str| {
        entries
            .iter()
            .any(|entry| entry.what == what || entry.what.starts_with(&format!("{what} ")))
    };
    let mut server = TestApp::init().serve();
    let tools = server.request("tools/list", Value::Null);
    for tool in tools["result"]["tools"].as_array().unwrap() {
        assert!(told(tool["name"].as_str().unwrap()), "{tool}");
    }
    let templates = server.request("resources/templates/list", Value::Null);
    for template in templates["result"]["resourceTemplates"].as_array().unwrap() {
        assert!(told(template["uriTemplate"].as_str().unwrap()), "{template}");
    }
    server.close();
    let mut open = vec![(String::from("govforge"), Cli::command())];
    while let Some((path, command)) = open.pop() {
        let verbs: Vec<_> = command.get_subcommands().cloned().collect();
        assert!(!verbs.is_empty() || told(&path), "{path}");
        open.extend(verbs.into_iter().map(|verb| (format!("{path} {}", verb.get_name()), verb)));
    }
}

/// A token that is not accepted makes nothing: no folder, no file, no ledger.
#[test]
fn under_a_token_that_is_not_accepted_nothing_is_made() {
    let app = TestApp::empty().with_repo("shop").with_commit("Start", &[("a", Some("a\n"))]);
    let folder = app.here().join(".govforge");
    for secret in ["gfp_unknown", " "] {
        let run = |arguments: &[&str]| {
            let mut command = app.command();
            command.env("GOVFORGE_API_TOKEN", secret).args(arguments).output().unwrap()
        };
        let output = run(&["init"]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("The token in GOVFORGE_API_TOKEN is not known"), "{text}");
        run(&["token", "create", "--label", "x", "--agent", "human", "--role", "approver"]);
        assert!(!folder.exists() && !app.ledger_path().exists());
    }
}

/// The token at home counts for the verbs as for the server, and a mistake there lets nobody in.
#[test]
fn a_verb_reads_the_token_at_home() {
    let app = TestApp::init();
    let create = ["token", "create", "--label", "r", "--agent", "human", "--role", "reviewer"];
    let secret = String::from_utf8(app.govforge(&create).stdout).unwrap();
    let secret = secret.lines().next().unwrap();
    let file = "home/.config/govforge/auth.toml";
    let app = app.with_file(file, &format!("token = \"{secret}\"\n"));
    assert!(app.govforge(&["status"]).status.success());
    let output = app.govforge(&["token", "list"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("The token \"r\" does not cover the list of tokens"), "{text}");
    let app = app.with_file(file, "tokne = \"gfp_x\"\n");
    let output = app.govforge(&["status"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && text.contains("line 1"), "{text}");
}
