//! What a secret policy matched is drawn nowhere: not in its line, and not in the others.

use std::process::Output;

use serde_json::json;

use crate::support::app::TestApp;

const PASSWORD: &str = "h4nter2-very-secret";
const OLD: &str = "0ld-h4nter-secret";
const BODY: &str = "MIIEpAIBAAKCAQEAq83Dk2TnU7zG0Vb5yXwLq";

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// A made-up token of the right shape, which no scanner should see whole.
fn token() -> String {
    format!("{}{}", "ghp_", "Q3EGSO6NW2XMD5KZq7w8e9r1t2y3u4i5o6p7")
}

#[test]
fn no_view_of_a_change_repeats_a_secret() {
    let token = token();
    let key = |word: &str| format!("-----{word} RSA PRIVATE KEY-----");
    let config = format!(
        "# {PASSWORD} again\nclass A:\n    password={PASSWORD} # govforge:allow password=\n    \
         x = '{token}'\n"
    );
    let pem = format!("{}\n{BODY}\nq83D\n{}\n", key("BEGIN"), key("END"));
    let app = TestApp::init()
        .with_commit(
            "Start",
            &[("a.py", Some(&format!("old {OLD}\nb\nc\npassword={OLD}\n"))), ("b.md", Some("b\n"))],
        )
        .with_commit(
            "Connect",
            &[
                ("a.py", Some(&config)),
                ("b.md", Some(&format!("b\nUse {PASSWORD}, {token} or {BODY}.\n"))),
                ("id.pem", Some(&pem)),
            ],
        );
    // Git takes it for binary; what the policy finds in it is hidden in the text too.
    std::fs::write(app.here().join("c.bin"), b"\0\npassword=b1nary-s3cret\n").unwrap();
    std::fs::write(app.here().join("d.md"), "The b1nary-s3cret\n").unwrap();
    app.git(&["add", "."]);
    app.git(&["commit", "-q", "--amend", "-m", "Connect"]);
    let mut server = app.serve();
    let here = app.here().to_str().unwrap();
    server.call("create_task", json!({ "project_path": here, "title": "A task" }));
    let with = json!({
        "task_id": "TASK-001", "author_agent": "claude", "title": format!("Use {token}"),
        "rationale": format!("The password is {PASSWORD}."),
    });
    server.call("record_decision", with);
    server.call("attach_git_diff", json!({ "decision_id": "DEC-001", "repo_path": here }));
    let run = server.call("run_policy_checks", json!({ "decision_id": "DEC-001" }));
    assert!(run.to_string().contains("blocked"), "{run}");
    let finding = json!({
        "severity": "high", "category": "security", "message": format!("{PASSWORD} leaks"),
        "file_path": "a.py", "line_start": 3,
    });
    let review = json!({
        "decision_id": "DEC-001", "reviewer_agent": "codex", "status": "commented",
        "summary": format!("It holds {token}."), "findings": [finding],
    });
    server.call("submit_review", review);
    server.close();

    let secrets = [PASSWORD, OLD, token.as_str(), BODY, "q83D", "b1nary-s3cret"];
    for verb in [
        &["diff", "DEC-001"][..],
        &["report", "DEC-001"],
        &["report", "--all"],
        &["policy", "run"],
        &["policy", "run", "--json"],
        &["policy", "run", "--sarif"],
    ] {
        let told = text(&app.govforge(verb));
        for secret in secrets {
            assert!(!told.contains(secret), "{secret} in {verb:?}: {told}");
        }
    }
    let diff = text(&app.govforge(&["diff", "DEC-001"]));
    for line in [
        "-old [masked: password=]",
        "-password=[masked: password=]",
        "+# [masked: password=] again",
        "+    x = '[masked: github_token]'",
        "+Use [masked: password=], [masked: github_token] or [masked: private key].",
        "+[masked: pem_key]",
        "+[masked: private key]",
        "+The [masked: password=]",
    ] {
        assert!(diff.lines().any(|told| told == line), "{line} in {diff}");
    }
    let report = text(&app.govforge(&["report", "DEC-001"]));
    assert!(report.contains("[masked: password=] leaks"), "{report}");
    // Without the diff, what has the shape of a secret is hidden all the same.
    let markdown = text(&app.govforge(&["report", "DEC-001", "--markdown"]));
    assert!(!markdown.contains(&token[4..]), "{markdown}");
    // The hash is that of the whole text, so the diff is still known to be the recorded one.
    assert!(app.govforge(&["diff", "DEC-001"]).status.success(), "{diff}");
}
