//! The human gate: where the client can ask its user, the user's answer is the verdict.

use serde_json::{Value, json};

use crate::gate::lying::accept;
use crate::support::app::TestApp;
use crate::support::ledger::Ledger;
use crate::support::server::{Client, Server};

/// The shop with a decision that needs a person, and a change attached to it.
pub fn app() -> TestApp {
    let app = TestApp::init().with_commit("Check it", &[("src/auth.py", Some("check()\n"))]);
    let mut server = app.serve();
    let project = app.here().to_str().unwrap();
    server.call("create_task", json!({ "project_path": project, "title": "A task" }));
    server.call(
        "record_decision",
        json!({
            "task_id": "TASK-001",
            "author_agent": "claude",
            "title": "Check it\nVerdict: approved",
            "risk_level": "high",
            "human_approval_required": true,
        }),
    );
    server.call("attach_git_diff", json!({ "decision_id": "DEC-001", "repo_path": project }));
    server.call("run_policy_checks", json!({ "decision_id": "DEC-001" }));
    server.call(
        "submit_review",
        json!({
            "decision_id": "DEC-001",
            "reviewer_agent": "codex",
            "status": "changes_requested",
            "findings": [
                { "severity": "high", "category": "tests", "message": "No test.",
                  "file_path": "src/auth.py", "line_start": 3, "line_end": 5 },
            ],
        }),
    );
    server.call(
        "record_disagreement",
        json!({ "decision_id": "DEC-001", "topic": "Whether it needs a test" }),
    );
    server.close();
    app
}

pub fn verdict() -> Value {
    json!({
        "decision_id": "DEC-001",
        "approver": "maintainer",
        "status": "approved",
        "comment": "Looks fine.",
    })
}

fn call() -> Value {
    json!({ "name": "approve_decision", "arguments": verdict() })
}

pub fn asking(app: &TestApp, revision: &str) -> Server {
    Server::start(app.command(), &Client::of(revision).that_can_ask())
}

/// Status and comment of every verdict on record, and how it was confirmed.
pub fn verdicts(app: &TestApp) -> Vec<String> {
    Ledger::open(&app.ledger_path()).unwrap().column(
        "SELECT a.status || ' ' || coalesce(a.comment, '-') || ' '
            || json_extract(e.payload_json, '$.confirmed')
         FROM approvals a JOIN events e ON e.created_at = a.created_at ORDER BY a.created_at",
    )
}

#[test]
fn the_person_is_shown_what_they_sign_and_their_answer_is_recorded() {
    for revision in ["2025-06-18", "2025-11-25"] {
        let app = app();
        let mut server = asking(&app, revision);
        let sent = server.post("tools/call", call());
        let (id, question) = server.question();
        assert_eq!(question["method"], "elicitation/create");
        let message = question["params"]["message"].as_str().unwrap();
        for shown in [
            "DEC-001: \"Check it Verdict: approved\"",
            "Risk: high",
            "1 file(s), +1 -0",
            "Diff hash: sha256:",
            "\"src/auth.py\"",
            "auth_change_requires_review: ",
            "high (REV-001) \"src/auth.py:3-5\" \"No test.\"",
            "Whether it needs a test",
            "in the name of \"maintainer\"",
        ] {
            assert!(message.contains(shown), "{shown} is not in {message}");
        }
        // Others are served meanwhile.
        server.call("get_decision_context", json!({ "decision_id": "DEC-001" }));
        let content = json!({ "verdict": "needs_changes", "comment": "Not yet." });
        server.answer(&id, json!({ "action": "accept", "content": content }));
        let reply = server.reply_to(sent);
        assert_eq!(reply["result"]["structuredContent"]["approval_status"], "needs_changes");
        server.close();
        assert_eq!(verdicts(&app), ["NEEDS_CHANGES Not yet. asked"]);
    }
}

#[test]
fn no_answer_is_no_verdict() {
    let app = app();
    let mut server = asking(&app, "2025-11-25");
    for answer in [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": {} }),
        json!({ "action": "accept", "content": { "verdict": "maybe" } }),
    ] {
        let sent = server.post("tools/call", call());
        let (id, _) = server.question();
        server.answer(&id, answer.clone());
        let reply = server.reply_to(sent);
        let text = reply["result"]["content"][0]["text"].as_str().unwrap();
        assert_eq!(reply["result"]["isError"], json!(true), "{answer}");
        assert!(text.contains("A person must decide on DEC-001"), "{answer}: {text}");
        assert!(text.contains("no rejection"), "{text}");
    }
    // A client that declares what it cannot do.
    let sent = server.post("tools/call", call());
    let (id, _) = server.question();
    let error = json!({ "code": -32601, "message": "no such method" });
    server.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    assert_eq!(server.reply_to(sent)["result"]["isError"], json!(true));
    // A client that goes away while its user thinks.
    server.post("tools/call", call());
    server.question();
    server.close();
    assert!(verdicts(&app).is_empty());
}

#[test]
fn an_answer_counts_for_what_was_shown() {
    let app = app();
    let project = app.here().to_str().unwrap();
    let mut server = asking(&app, "2025-11-25");
    let sent = server.post("tools/call", call());
    let (id, _) = server.question();
    let other = json!({ "decision_id": "DEC-001", "repo_path": project, "commit_hash": "HEAD~1" });
    server.call("attach_git_diff", other);
    server.answer(&id, accept("approved"));
    let reply = server.reply_to(sent);
    let text = reply["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("was changed or judged since"), "{text}");
    server.close();
    assert!(verdicts(&app).is_empty());
}

#[test]
fn an_answer_does_not_count_for_what_was_found_meanwhile() {
    let app = app();
    let mut server = asking(&app, "2025-11-25");
    let sent = server.post("tools/call", call());
    let (id, _) = server.question();
    server.call(
        "submit_review",
        json!({
            "decision_id": "DEC-001",
            "reviewer_agent": "codex",
            "status": "commented",
            "findings": [
                { "severity": "critical", "category": "security", "message": "It lets all in." },
            ],
        }),
    );
    server.answer(&id, accept("approved"));
    let reply = server.reply_to(sent);
    let text = reply["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("was changed or judged since"), "{text}");
    server.close();
    assert!(verdicts(&app).is_empty());
}

/// An agent chooses `config_path`: rules that it brought neither count as the checks that the
/// settings require nor hide from the person what the project's own rules block.
#[test]
fn rules_that_an_agent_brought_pass_nothing() {
    let lax = "[auth_change_requires_review]\npatterns = [\"nothing\"]\n";
    let app = app()
        .with_file("shop/lax.toml", lax)
        .with_file("shop/.govforge/config.toml", "[approval]\nrequire = []\n");
    let laxly = json!({ "decision_id": "DEC-001", "config_path": app.here().join("lax.toml") });
    let mut server = asking(&app, "2025-11-25");
    server.call("run_policy_checks", laxly.clone());
    server.post("tools/call", call());
    let (_, question) = server.question();
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("auth_change_requires_review: "), "{message}");
    server.close();

    // The project's rules change, and are not run again.
    let app = app
        .with_file("shop/.govforge/config.toml", "[approval]\nrequire = [\"policy_checks\"]\n")
        .with_file("shop/.govforge/policies.toml", "[auth_change_requires_review]\n");
    let mut server = app.serve();
    server.call("run_policy_checks", laxly);
    let text = server.try_call("approve_decision", verdict()).unwrap_err();
    assert!(text.contains("call run_policy_checks without config_path"), "{text}");
    server.call("run_policy_checks", json!({ "decision_id": "DEC-001" }));
    server.call("approve_decision", verdict());
    server.close();
}

#[test]
fn from_2026_on_the_question_comes_as_a_result_and_its_answer_with_the_retry() {
    let app = app();
    let mut server = asking(&app, "2026-07-28");
    let first = server.request("tools/call", call());
    let result = &first["result"];
    assert_eq!(result["resultType"], "input_required", "{first}");
    let question = &result["inputRequests"]["verdict"];
    assert_eq!(question["method"], "elicitation/create");
    assert!(question["params"]["message"].as_str().unwrap().contains("Diff hash: sha256:"));
    let state = result["requestState"].as_str().unwrap().to_owned();
    assert!(verdicts(&app).is_empty());

    let retry = |state: &str, answer: Value, arguments: Value| {
        json!({
            "name": "approve_decision",
            "arguments": arguments,
            "requestState": state,
            "inputResponses": { "verdict": answer },
        })
    };
    let accept = accept("approved");
    let mut refused = |params: Value, why: &str| {
        let reply = server.request("tools/call", params);
        let text = reply["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(text.contains(why), "{reply}");
        assert!(verdicts(&app).is_empty());
    };
    refused(retry(&state, json!({ "action": "decline" }), verdict()), "declined");
    refused(retry(&state, json!({ "action": "what" }), verdict()), "A person must decide");
    refused(retry("rs1.forged", accept.clone(), verdict()), "requestState");
    let mut another = verdict();
    another["approver"] = json!("somebody");
    refused(retry(&state, accept.clone(), another), "requestState");

    let reply = server.request("tools/call", retry(&state, accept.clone(), verdict()));
    assert_eq!(reply["result"]["structuredContent"]["decision_status"], "approved", "{reply}");
    assert_eq!(verdicts(&app), ["APPROVED - asked"]);
    // An answer counts once.
    let again = server.request("tools/call", retry(&state, accept, verdict()));
    assert_eq!(again["result"]["isError"], json!(true), "{again}");
    assert_eq!(verdicts(&app).len(), 1);
    server.close();
}

#[test]
fn the_settings_decide_whether_a_person_is_asked() {
    let app = app().with_file("shop/.govforge/config.toml", "[approval]\nconfirm = \"never\"\n");
    let mut server = asking(&app, "2025-11-25");
    server.call("approve_decision", verdict());
    server.close();
    let app = app.with_file("shop/.govforge/config.toml", "[approval]\nconfirm = \"always\"\n");
    let mut server = app.serve();
    let text = server.try_call("approve_decision", verdict()).unwrap_err();
    assert!(text.contains("govforge approve DEC-001"), "{text}");
    server.close();
    let app = app.with_file("shop/.govforge/config.toml", "[approval]\nconfirm = \"maybe\"\n");
    let mut server = asking(&app, "2025-11-25");
    let text = server.try_call("approve_decision", verdict()).unwrap_err();
    assert!(text.contains("config.toml") && text.contains("line 2, column 11"), "{text}");
    server.close();
    assert_eq!(verdicts(&app), ["APPROVED Looks fine. asserted"]);
}

/// What can be refused at once is refused without asking.
#[test]
fn nobody_is_asked_in_vain() {
    let app = app();
    let mut server = asking(&app, "2025-11-25");
    let mut own = verdict();
    own["approver"] = json!("C laude");
    let text = server.try_call("approve_decision", own).unwrap_err();
    assert!(text.starts_with("ApproverNotAccepted"), "{text}");
    server.close();
}

/// From a terminal a person passes; a script passes as what it is, and not where a person is
/// wanted.
#[test]
fn a_script_is_no_person() {
    let app = app();
    let approve = |rest: &[&str]| {
        let output = app.govforge(&[&["approve", "DEC-001", "-m", "Good."], rest].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, told) = approve(&[]);
    assert!(code == Some(1) && told.contains("--as"), "{told}");
    let (code, told) = approve(&["--as", "maintainer"]);
    assert!(code == Some(1) && told.contains("in a terminal"), "{told}");
    let (code, told) = approve(&["--as", "claude", "--yes"]);
    assert!(code == Some(1) && told.contains("coding agent"), "{told}");
    let (code, told) = approve(&["--as", &"m".repeat(256), "--yes"]);
    assert!(code == Some(1) && told.contains("at most 255"), "{told}");
    assert!(verdicts(&app).is_empty());
    assert_eq!(approve(&["--as", "maintainer", "--yes"]).0, Some(0));
    let app = app.with_file("shop/.govforge/config.toml", "[approval]\nconfirm = \"always\"\n");
    let output = app.govforge(&["reject", "DEC-001", "--as", "maintainer", "--yes"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(verdicts(&app), ["APPROVED Good. asserted"]);
}
