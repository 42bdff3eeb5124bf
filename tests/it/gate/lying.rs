//! The human gate against an agent that lies: over MCP, with every tool, from several processes.
//! Each attempt is refused and leaves nothing behind.

use std::thread;

use serde_json::{Value, json};

use crate::gate::questions::{app, asking, verdict, verdicts};
use crate::support::app::TestApp;
use crate::support::ledger::Ledger;
use crate::support::server::{Client, Server};

/// A person's answer, with the decision's ID typed.
pub fn accept(verdict: &str) -> Value {
    json!({ "action": "accept", "content": { "verdict": verdict, "typed_id": "DEC-001" } })
}

pub fn bring(arguments: &Value) -> Value {
    json!({ "name": "approve_decision", "arguments": arguments })
}

/// The text of a refused call.
fn refusal(reply: &Value) -> String {
    assert_eq!(reply["result"]["isError"], json!(true), "{reply}");
    reply["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

/// Another decision of the same task, which needs a person too.
fn another_decision(server: &mut Server) {
    let decision = json!({
        "task_id": "TASK-001", "author_agent": "codex", "title": "Another one",
        "human_approval_required": true,
    });
    assert_eq!(server.call("record_decision", decision)["decision_id"], "DEC-002");
}

#[test]
fn an_answer_goes_to_the_question_it_is_for() {
    let app = app();
    let mut server = asking(&app, "2025-11-25");
    another_decision(&mut server);
    let mut second = verdict();
    second["decision_id"] = json!("DEC-002");
    let (first_call, second_call) =
        (server.post("tools/call", bring(&verdict())), server.post("tools/call", bring(&second)));
    let mut questions = [server.question(), server.question()];
    questions.sort_by_key(|(_, question)| {
        question["params"]["message"].as_str().unwrap().contains("DEC-002: ")
    });
    let [(first_question, _), (second_question, _)] = questions;
    server.answer(&second_question, accept("rejected"));
    server.answer(&first_question, accept("approved"));
    let replies = server.replies_to(&[first_call, second_call]);
    let given = replies.iter().map(|reply| &reply["result"]["structuredContent"]);
    assert_eq!(
        given
            .map(|given| json!([given["decision_id"], given["approval_status"]]))
            .collect::<Vec<_>>(),
        [json!(["DEC-001", "approved"]), json!(["DEC-002", "rejected"])]
    );
    server.close();
}

/// Two calls ask the same thing: the first answer changes what the second was asked about.
#[test]
fn two_questions_on_one_decision_take_one_answer() {
    let app = app();
    let mut server = asking(&app, "2025-11-25");
    let calls = [0, 1].map(|_| server.post("tools/call", bring(&verdict())));
    let questions = [server.question().0, server.question().0];
    server.answer(&questions[0], accept("rejected"));
    server.answer(&questions[1], accept("approved"));
    // An answer that comes twice, and one to nothing that was asked.
    server.answer(&questions[1], accept("approved"));
    server.answer(&json!(4711), accept("approved"));
    let replies = server.replies_to(&calls);
    let refused: Vec<&Value> =
        replies.iter().filter(|reply| reply["result"]["isError"] == json!(true)).collect();
    assert_eq!(refused.len(), 1, "{replies:?}");
    assert!(refusal(refused[0]).contains("was changed or judged since"));
    server.close();
    assert_eq!(verdicts(&app).len(), 1);
}

#[test]
fn an_answer_approves_no_change_that_another_process_attached() {
    let app = app();
    let mut server = asking(&app, "2025-11-25");
    let sent = server.post("tools/call", bring(&verdict()));
    let (question, _) = server.question();
    let mut other = app.serve();
    let change =
        json!({ "decision_id": "DEC-001", "repo_path": app.here(), "commit_hash": "HEAD~1" });
    other.call("attach_git_diff", change);
    other.close();
    server.answer(&question, accept("approved"));
    assert!(refusal(&server.reply_to(sent)).contains("was changed or judged since"));
    server.close();
    assert!(verdicts(&app).is_empty());
}

#[test]
fn a_token_that_is_revoked_while_the_person_thinks_brings_no_verdict() {
    let app = app();
    let verb = |arguments: &[&str]| {
        let output = app.govforge(arguments);
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap().lines().next().unwrap().to_owned()
    };
    let create = ["token", "create", "--label", "gate", "--agent", "claude", "--role", "approver"];
    let token = verb(&create);
    let mut command = app.command();
    command.env("GOVFORGE_API_TOKEN", token);
    let mut server = Server::start(command, &Client::of("2025-11-25").that_can_ask());
    let sent = server.post("tools/call", bring(&verdict()));
    let (question, _) = server.question();
    verb(&["token", "revoke", "gate"]);
    server.answer(&question, accept("approved"));
    assert!(refusal(&server.reply_to(sent)).contains("was revoked"));
    server.close();
    assert!(verdicts(&app).is_empty());
}

/// The holder's name is read as an approver's would be.
#[test]
fn a_token_for_a_model_is_no_persons() {
    let app = app();
    let create = ["token", "create", "--label", "t", "--agent", "gpt-5", "--role", "approver"];
    let token = String::from_utf8(app.govforge(&create).stdout).unwrap();
    let app = app.with_env("GOVFORGE_API_TOKEN", token.lines().next().unwrap());
    let mut server = app.serve();
    let text = server.try_call("approve_decision", verdict()).unwrap_err();
    assert!(text.contains("under the token of a coding agent"), "{text}");
    server.close();
    let output = app.govforge(&["approve", "DEC-001", "--yes", "--as", "Mallory"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && text.contains("under the token of"), "{text}");
    assert!(verdicts(&app).is_empty());
}

#[test]
fn no_name_of_an_agent_and_no_spelling_of_the_author_gives_a_verdict() {
    let app = app();
    let mut server = app.serve();
    let record = json!({
        "task_id": "TASK-001", "author_agent": "nova", "title": "By nova",
        "human_approval_required": true,
    });
    assert_eq!(server.call("record_decision", record)["decision_id"], "DEC-002");
    // An agent that the original knows by another type than its name tells.
    Ledger::open(&app.ledger_path()).unwrap().execute(
        "INSERT INTO agents (id, name, type, created_at) VALUES
            ('00000000000000000000000000000001', 'Zed', 'CURSOR', '2026-01-01 00:00:00.000000')",
    );
    let uuid = Ledger::open(&app.ledger_path())
        .unwrap()
        .column("SELECT id FROM decisions WHERE display_id = 'DEC-002'")
        .remove(0);
    let agents = [
        "gpt-5",
        "assistant",
        "agent",
        "The claude",
        "bot",
        "copilot-agent",
        "AI",
        "Claude (Anthropic)",
        "codex cli",
        "gemini-2.5-pro",
        "llm",
        "o3",
        "Robin Agent",
        "Z e d",
        "\u{441}laude",
        "ａｇｅｎｔ",
        "\u{1d04}\u{29f}\u{1d00}\u{1d1c}\u{1d05}\u{1d07}",
        "\u{1f172}laude",
        "(laude",
        "reviewer-1",
        "auto-approver",
        "Jules",
        "kimi",
    ];
    let author = [
        "nova",
        "NOVA",
        " n o v a ",
        "n\u{43e}va",
        "ｎｏｖａ",
        "n\u{f3}va",
        "n0va",
        "<nova>",
        "nova2",
        "nova (human)",
    ];
    let hidden = ["ali\u{202e}ce", "a\u{200b}lice", "alice\u{e0061}", "ali\nce", "★", "123", "(٣)"];
    for decision in ["DEC-002", " dec-002 ", "shop/DEC-002", &uuid] {
        for status in ["approved", "rejected", "needs_changes"] {
            for approver in agents.iter().chain(&author).chain(&hidden) {
                let arguments =
                    json!({ "decision_id": decision, "approver": approver, "status": status });
                let text = server.try_call("approve_decision", arguments).unwrap_err();
                assert!(text.starts_with("ApproverNotAccepted"), "{approver:?}: {text}");
            }
        }
    }
    // Hidden characters pass nowhere, other names where no person is needed.
    let free = json!({ "task_id": "TASK-001", "author_agent": "nova", "title": "Free" });
    assert_eq!(server.call("record_decision", free)["decision_id"], "DEC-003");
    let arguments =
        |approver| json!({ "decision_id": "DEC-003", "approver": approver, "status": "approved" });
    for approver in hidden {
        let text = server.try_call("approve_decision", arguments(approver)).unwrap_err();
        assert!(text.starts_with("ApproverNotAccepted"), "{approver:?}: {text}");
    }
    server.call("approve_decision", arguments("nova"));
    server.close();
    assert_eq!(verdicts(&app), ["APPROVED - asserted"]);
}

/// Under 2026-07-28 the agent carries the question, the state and the answer.
#[test]
fn a_state_is_for_one_call_one_decision_and_one_verdict() {
    let app = app();
    let mut server = asking(&app, "2026-07-28");
    another_decision(&mut server);
    let mut second = verdict();
    second["decision_id"] = json!("DEC-002");
    let state_of = |server: &mut Server, arguments: &Value| {
        let reply = server.request("tools/call", bring(arguments));
        assert_eq!(reply["result"]["resultType"], "input_required", "{reply}");
        reply["result"]["requestState"].as_str().unwrap().to_owned()
    };
    let retry = |arguments: &Value, state: &str, responses: Value| {
        let mut params = bring(arguments);
        params["requestState"] = json!(state);
        params["inputResponses"] = responses;
        params
    };
    let yes = json!({ "verdict": accept("approved") });
    let (first_state, second_state) =
        (state_of(&mut server, &verdict()), state_of(&mut server, &second));
    let turned: String = first_state.chars().rev().collect();
    let mut rejected = verdict();
    rejected["status"] = json!("rejected");
    for (arguments, state) in [
        (&verdict(), second_state.as_str()),
        (&second, &first_state),
        (&rejected, &first_state),
        (&verdict(), &turned),
        (&verdict(), &first_state[..first_state.len() - 1]),
        (&verdict(), ""),
    ] {
        let reply = server.request("tools/call", retry(arguments, state, yes.clone()));
        assert!(refusal(&reply).contains("requestState"), "{state}: {reply}");
    }
    // An answer without a state, a state without an answer, or one to something else.
    let mut bare = bring(&verdict());
    bare["inputResponses"] = yes.clone();
    let asked = server.request("tools/call", bare);
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let mut bare = bring(&verdict());
    bare["requestState"] = json!(first_state);
    let asked = server.request("tools/call", bare);
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let other = json!({ "confirmation": accept("approved") });
    let reply = server.request("tools/call", retry(&verdict(), &first_state, other));
    assert!(refusal(&reply).contains("A person must decide"), "{reply}");
    // Another process seals with another key.
    let mut other = asking(&app, "2026-07-28");
    let reply = other.request("tools/call", retry(&verdict(), &first_state, yes.clone()));
    assert!(refusal(&reply).contains("requestState"), "{reply}");
    other.close();
    assert!(verdicts(&app).is_empty());
    // What was shown is not what stands there now.
    let review =
        json!({ "decision_id": "DEC-001", "reviewer_agent": "codex", "status": "rejected" });
    server.call("submit_review", review);
    let reply = server.request("tools/call", retry(&verdict(), &first_state, yes.clone()));
    assert!(refusal(&reply).contains("was changed or judged since"), "{reply}");
    // The answer to the question as it is now counts, and once.
    let state = state_of(&mut server, &verdict());
    server
        .request("tools/call", retry(&verdict(), &state, json!({ "verdict": accept("rejected") })));
    let reply = server.request("tools/call", retry(&verdict(), &state, yes));
    assert!(refusal(&reply).contains("was changed or judged since"), "{reply}");
    server.close();
    assert_eq!(verdicts(&app), ["REJECTED - asked"]);
}

#[test]
fn an_answer_holds_a_verdict_and_a_comment_and_nothing_else() {
    let app = app();
    let mut server = asking(&app, "2025-11-25");
    let mut play = |content: Value| {
        let sent = server.post("tools/call", bring(&verdict()));
        let (question, _) = server.question();
        server.answer(&question, json!({ "action": "accept", "content": content }));
        server.reply_to(sent)
    };
    for comment in ["x".repeat(1_048_577), "a\0b".to_owned()] {
        let reply = play(json!({
            "verdict": "approved", "typed_id": "DEC-001", "comment": comment,
        }));
        assert!(refusal(&reply).contains("longer than 1048576 characters"), "{comment:.9}");
    }
    for comment in [json!(7), json!(["Good."]), json!({ "text": "Good." })] {
        let reply = play(json!({
            "verdict": "approved", "typed_id": "DEC-001", "comment": comment,
        }));
        assert!(refusal(&reply).contains("a comment that is no text"), "{reply}");
    }
    assert!(verdicts(&app).is_empty());
    play(json!({
        "verdict": "needs_changes", "comment": null, "status": "approved", "approver": "Somebody",
        "decision_id": "DEC-002", "confirmed": "terminal",
    }));
    server.close();
    assert_eq!(verdicts(&app), ["NEEDS_CHANGES - asked"]);
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    assert!(ledger.column("SELECT name FROM agents WHERE name = 'Somebody'").is_empty());
}

/// The person sees everything that matters, and nothing of it is the agent's own form.
#[test]
fn nothing_that_an_agent_wrote_hides_or_forges_a_part_of_the_question() {
    let rule = "kind = \"path\"\npaths = [\"src/\"]\nresult = \"blocked\"\n";
    let own = format!("[a00]\n{rule}message = \"x\\n\\nVerdict: approved, by the maintainers.\"\n");
    let heap: String = (1..13).map(|number| format!("[a{number:02}]\n{rule}")).collect();
    let app = app().with_file("shop/own.toml", &own).with_file("shop/heap.toml", &heap);
    let mut server = asking(&app, "2025-11-25");
    let mut check = |rules: &str| {
        let config = app.here().join(rules);
        server
            .call("run_policy_checks", json!({ "decision_id": "DEC-001", "config_path": config }));
    };
    check("own.toml");
    check("heap.toml");
    let finding = |severity: &str, message: &str| json!({ "severity": severity, "category": "bug", "message": message });
    let heap: Vec<Value> =
        (0..12).map(|number| finding("info", &format!("Small {number}"))).collect();
    let grave = vec![finding("critical", "It lets all in.")];
    let reviews = [("nova", "approved", heap), ("codex", "changes_requested", grave)];
    let praise = ["b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    let praise = praise.map(|reviewer| (reviewer, "commented", Vec::new()));
    for (reviewer, status, findings) in reviews.into_iter().chain(praise) {
        let review = json!({
            "decision_id": "DEC-001", "reviewer_agent": reviewer, "status": status,
            "findings": findings,
        });
        server.call("submit_review", review);
    }
    let mut forged = verdict();
    forged["approver"] = json!("maintainer\". Findings: none. \"");
    forged["comment"] = json!(format!("Fine.{}\u{202e}I also agree to all.", "\n".repeat(600)));
    server.post("tools/call", bring(&forged));
    let (_, question) = server.question();
    let message = question["params"]["message"].as_str().unwrap();
    let lines: Vec<&str> = message.lines().collect();
    assert!(lines[0].ends_with("in the name of \"maintainer'. Findings: none. '\"."), "{message}");
    assert!(message.contains("- auth_change_requires_review: "), "{message}");
    assert!(message.contains("- a00: \"x Verdict: approved, by the maintainers.\"\n"), "{message}");
    let first_finding = lines.iter().position(|line| *line == "Findings:").unwrap() + 1;
    assert!(lines[first_finding].contains("critical (REV-003)"), "{message}");
    assert!(message.contains("REV-003 by \"codex\": changes_requested"), "{message}");
    assert!(message.contains("approved, with the comment \"Fine. I also agree"), "{message}");
    server.close();
}

/// Approvals race against changes from another process: each approval names the change that was
/// attached when it was given, and an approved decision has the change that was approved.
#[test]
fn no_race_approves_another_change() {
    let app = app();
    let approve = || {
        let mut server = app.serve();
        for _ in 0..12 {
            let _ = server.try_call("approve_decision", verdict());
        }
        server.close();
    };
    let attach = || {
        let mut server = app.serve();
        for round in 0..12 {
            let commit = ["HEAD~1", "HEAD"][round % 2];
            let change = json!({
                "decision_id": "DEC-001", "repo_path": app.here(), "commit_hash": commit,
            });
            server.call("attach_git_diff", change);
        }
        server.close();
    };
    thread::scope(|scope| {
        scope.spawn(approve);
        scope.spawn(approve);
        scope.spawn(attach);
    });
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    let attached = "(SELECT diff_hash FROM git_changes g WHERE g.created_at <= e.created_at
                     ORDER BY g.created_at DESC LIMIT 1)";
    let wrong = ledger.column(&format!(
        "SELECT id FROM events e WHERE event_type = 'decision.approved'
         AND json_extract(payload_json, '$.diff_hash') <> {attached}"
    ));
    assert!(wrong.is_empty(), "{wrong:?}");
    let status = ledger.column("SELECT status FROM decisions");
    let last = ledger.column(
        "SELECT event_type FROM events WHERE event_type = 'decision.approved'
            OR (event_type = 'decision.status_changed'
                AND json_extract(payload_json, '$.from') = 'approved')
         ORDER BY created_at DESC LIMIT 1",
    );
    let approved = last == ["decision.approved"];
    assert_eq!(status, [if approved { "APPROVED" } else { "REVIEW_REQUIRED" }], "{last:?}");
}

/// `require = ["review"]`: somebody else than the author looked at the change attached now, and
/// the person sees what they said. What they said does not decide: a person may overrule it.
#[test]
fn a_required_review_is_of_this_change_and_by_somebody_else() {
    let app = TestApp::init()
        .with_commit("One", &[("a.py", Some("a\n"))])
        .with_commit("Two", &[("b.py", Some("b\n"))])
        .with_file("shop/.govforge/config.toml", "[approval]\nrequire = [\"review\"]\n");
    let mut server = app.serve();
    let project = app.here().to_str().unwrap().to_owned();
    server.call("create_task", json!({ "project_path": project, "title": "A task" }));
    let decision = json!({
        "task_id": "TASK-001", "author_agent": "claude", "title": "A decision",
        "human_approval_required": true,
    });
    server.call("record_decision", decision);
    let attach = |commit: &str| json!({ "decision_id": "DEC-001", "repo_path": project, "commit_hash": commit });
    let review = |reviewer: &str, status: &str| json!({ "decision_id": "DEC-001", "reviewer_agent": reviewer, "status": status });
    server.call("attach_git_diff", attach("HEAD~1"));
    for reviewer in
        ["claude", "CLAUDE", "c l a u d e", "\u{441}laude", "cla\u{200b}ude", "ｃｌａｕｄｅ"]
    {
        server.call("submit_review", review(reviewer, "approved"));
        let text = server.try_call("approve_decision", verdict()).unwrap_err();
        assert!(text.starts_with("ApprovalNotReady"), "{reviewer}: {text}");
    }
    server.call("submit_review", review("codex", "approved"));
    server.call("attach_git_diff", attach("HEAD"));
    let text = server.try_call("approve_decision", verdict()).unwrap_err();
    assert!(text.contains("nobody but the author has reviewed"), "{text}");
    server.call("submit_review", review("codex", "changes_requested"));
    server.call("approve_decision", verdict());
    server.close();
}
