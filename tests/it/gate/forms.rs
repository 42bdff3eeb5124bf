//! The form at the gate: what it shows, that nothing is filled in, and that no client which fills
//! forms in by itself approves.

use serde_json::{Map, Value, json};

use crate::gate::lying::bring;
use crate::gate::questions::{app, asking, verdict, verdicts};
use crate::support::app::TestApp;
use crate::support::server::Server;

/// A question, and how its answer goes back: before 2026-07-28, or with the call sent again.
enum Asked {
    Open { sent: u64, id: Value, form: Value },
    Returned { state: Value, form: Value },
}

impl Asked {
    /// Brings a verdict.
    fn bring(server: &mut Server, revision: &str) -> Self {
        if revision < "2026-07-28" {
            let sent = server.post("tools/call", bring(&verdict()));
            let (id, question) = server.question();
            return Self::Open { sent, id, form: question["params"].clone() };
        }
        let reply = server.request("tools/call", bring(&verdict()));
        let result = &reply["result"];
        Self::Returned {
            state: result["requestState"].clone(),
            form: result["inputRequests"]["verdict"]["params"].clone(),
        }
    }

    fn form(&self) -> &Value {
        let (Self::Open { form, .. } | Self::Returned { form, .. }) = self;
        form
    }

    /// Sends the form filled in, and gives the reply to the call.
    fn accept(self, server: &mut Server, content: Value) -> Value {
        let answer = json!({ "action": "accept", "content": content });
        match self {
            Self::Open { sent, id, .. } => {
                server.answer(&id, answer);
                server.reply_to(sent)
            }
            Self::Returned { state, .. } => {
                let mut again = bring(&verdict());
                again["requestState"] = state;
                again["inputResponses"] = json!({ "verdict": answer });
                server.request("tools/call", again)
            }
        }
    }
}

/// The text of a call for which nobody has decided.
fn unanswered(reply: &Value) -> &str {
    assert_eq!(reply["result"]["isError"], json!(true), "{reply}");
    let text = reply["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("PersonMustDecide") && text.contains("no rejection"), "{text}");
    text
}

const REVISIONS: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];

/// What a client that shows nobody the form makes of a field.
type Filler = fn(name: &str, field: &Value) -> Value;

/// Fillers as they are met: of each field its default, the first or the last choice, or a text at
/// hand.
const FILLERS: [(&str, Filler); 6] = [
    ("nothing", |_, _| Value::Null),
    ("the defaults", |_, field| field["default"].clone()),
    ("the first choices", |_, field| choice(field, 0).unwrap_or_else(|| json!(""))),
    ("the defaults, else the first choices", |_, field| {
        let default = field.get("default").cloned();
        default.or_else(|| choice(field, 0)).unwrap_or_else(|| json!("string"))
    }),
    ("the last choices", |_, field| {
        choice(field, usize::MAX).unwrap_or_else(|| field["title"].clone())
    }),
    ("the arguments of the call", |name, field| {
        let arguments = verdict();
        let status = field.get("enum").map(|_| arguments["status"].clone());
        status.or_else(|| arguments.get(name).cloned()).unwrap_or_else(|| json!(name))
    }),
];

fn choice(field: &Value, place: usize) -> Option<Value> {
    let choices = field["enum"].as_array()?;
    choices.get(place.min(choices.len() - 1)).cloned()
}

#[test]
fn a_client_that_fills_the_form_in_by_itself_approves_nothing() {
    let app = app();
    for revision in REVISIONS {
        let mut server = asking(&app, revision);
        for (filler, fill) in FILLERS {
            let asked = Asked::bring(&mut server, revision);
            let fields = asked.form()["requestedSchema"]["properties"].as_object().unwrap();
            let is_blank = |field: &Value| field.get("default").is_none_or(|text| text == "");
            assert!(fields.values().all(is_blank) && fields["verdict"].get("default").is_none());
            let content: Map<String, Value> = fields
                .iter()
                .map(|(name, field)| (name.clone(), fill(name, field)))
                .filter(|(_, value)| !value.is_null())
                .collect();
            let reply = asked.accept(&mut server, json!(content));
            let text = unanswered(&reply);
            assert!(text.contains("DEC-001"), "{revision}, {filler}: {text}");
        }
        server.close();
    }
    assert!(verdicts(&app).is_empty());
}

/// As in a terminal. Who rejects types nothing.
#[test]
fn an_approval_has_the_id_typed_and_no_word_of_the_agent() {
    for revision in REVISIONS {
        let app = app();
        let mut server = asking(&app, revision);
        for typed in
            [json!("DEC-002"), json!("DEC"), json!("approved"), json!(1), json!(["DEC-001"])]
        {
            let asked = Asked::bring(&mut server, revision);
            let content = json!({ "verdict": "approved", "typed_id": typed });
            let reply = asked.accept(&mut server, content);
            assert!(unanswered(&reply).contains("without DEC-001 typed into it"), "{typed}");
        }
        let asked = Asked::bring(&mut server, revision);
        let reply = asked.accept(&mut server, json!({ "verdict": "undecided" }));
        assert!(unanswered(&reply).contains("came back undecided"), "{reply}");
        let asked = Asked::bring(&mut server, revision);
        asked.accept(&mut server, json!({ "verdict": "rejected" }));
        let asked = Asked::bring(&mut server, revision);
        let message = asked.form()["message"].as_str().unwrap();
        assert!(message.contains("approved, with the comment \"Looks fine.\""), "{message}");
        asked.accept(&mut server, json!({ "verdict": "approved", "typed_id": " dec-001 " }));
        server.close();
        assert_eq!(verdicts(&app), ["REJECTED - asked", "APPROVED - asked"]);
    }
}

/// A decision with everything that a person has to know, at length.
fn told_at_length() -> TestApp {
    let app = app();
    let mut server = app.serve();
    let long = |what: &str| format!("{what}. {}", "It goes on. ".repeat(200));
    let decision = json!({
        "task_id": "TASK-001", "author_agent": "claude", "title": "Check it twice",
        "summary": "login() takes the password.", "rationale": long("It let everybody in"),
        "human_approval_required": true,
    });
    server.call("record_decision", decision);
    let project = app.here().to_str().unwrap();
    server.call("attach_git_diff", json!({ "decision_id": "DEC-002", "repo_path": project }));
    server.call("run_policy_checks", json!({ "decision_id": "DEC-002" }));
    let review = json!({
        "decision_id": "DEC-002", "reviewer_agent": "codex", "status": "changes_requested",
        "summary": "One thing to fix.",
        "findings": [{ "severity": "high", "category": "tests", "message": "No test.",
                       "recommendation": "Write one." }],
    });
    server.call("submit_review", review);
    let disagreement = json!({
        "decision_id": "DEC-002", "topic": "Whether it needs a test",
        "author_position": "It is plain.", "reviewer_position": long("It will break"),
        "risk_summary": "Nobody gets in.",
    });
    server.call("record_disagreement", disagreement);
    server.close();
    app
}

/// What every surface shows before it asks.
const SHEET: [&str; 14] = [
    "DEC-002: \"Check it twice\"",
    "Summary: \"login() takes the password.\"",
    "Rationale: \"It let everybody in. It goes on.",
    "(800 of 2420 characters)",
    "Blocked by policies:",
    "- auth_change_requires_review: \"1 auth-adjacent file(s) modified",
    "Policies passed: 3 (",
    "- REV-002 by \"codex\": changes_requested",
    "  \"One thing to fix.\"",
    "- high (REV-002) \"No test.\"",
    "  Recommended: \"Write one.\"",
    "  The author: \"It is plain.\"",
    "  The reviewer: \"It will break. It goes on.",
    "`govforge show DEC-002`",
];

#[test]
fn the_form_shows_what_and_why_and_both_positions() {
    let app = told_at_length();
    let mut server = asking(&app, "2025-11-25");
    let mut arguments = verdict();
    arguments["decision_id"] = json!("DEC-002");
    server.post("tools/call", bring(&arguments));
    let (_, question) = server.question();
    let message = question["params"]["message"].as_str().unwrap();
    for shown in SHEET {
        assert!(message.contains(shown), "{shown} is not in {message}");
    }
    assert!(message.contains("(800 of 2414 characters)"), "{message}");
    server.close();
}

/// The same sheet in a terminal, and a verdict that is typed there.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_shows_the_same_sheet_and_asks_for_the_id() {
    use std::io::Write as _;
    use std::process::Stdio;

    let app = told_at_length().with_env("NO_COLOR", "1");
    let typed = |verb: &str, answer: &str| {
        let govforge = env!("CARGO_BIN_EXE_govforge");
        let command = format!("stty cols 200 -echo && {govforge} {verb} DEC-002 --as maintainer");
        let mut script = app.hermetic("script");
        script.args(["-qec", &command, "/dev/null"]).env("TERM", "xterm");
        let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        writeln!(child.stdin.as_mut().unwrap(), "{answer}").unwrap();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap().replace('\r', "");
        Some((output.status.success(), text))
    };
    let Some((approved, text)) = typed("approve", "y") else {
        return; // There is no `script` here, so no terminal.
    };
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for shown in SHEET {
        assert!(flat.contains(shown.trim()), "{shown} is not in {text}");
    }
    assert!(!approved && verdicts(&app).is_empty(), "{text}");
    assert!(typed("approve", "DEC-002").unwrap().0);
    assert_eq!(verdicts(&app), ["APPROVED - terminal"]);
}
