//! The story itself: one decision from a task to a person's approval.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::cli::Failure;
use crate::cli::demo::shop::{self, File};
use crate::cli::demo::stage::Stage;
use crate::cli::demo::timeline;
use crate::cli::set_up::mcp_client::{Client, this_binary};
use crate::git::scratch::{Author, ScratchRepository};

const AUTHOR: &str = "claude-code";
const REVIEWER: &str = "codex-reviewer";
const PERSON: &str = "maintainer";
/// An address that can be nobody's (RFC 2606).
const EMAIL: &str = "demo@example.invalid";
/// 2026-01-05T09:00:00Z: a fixed time gives the same commit hashes every time.
const COMMIT_TIME: i64 = 1_767_603_600;

/// Plays the whole story in `folder`, which is empty.
///
/// # Errors
/// The first thing that goes wrong, whoever's fault it is.
pub fn play(stage: &mut Stage, folder: &Path) -> Result<(), Failure> {
    stage.title("govforge demo: one decision, from a task to a person's approval")?;
    stage.gap()?;
    stage.tell(&format!(
        "Two coding agents, {AUTHOR} and {REVIEWER}, and a person, the {PERSON}, change the \
         sign-in of a small shop. The repository, the servers and their answers are real; the \
         players are a script. $ is a command, > a call over MCP, < its answer in short.",
    ))?;

    let root = folder.join("shop");
    std::fs::create_dir(&root)
        .map_err(|error| Failure::Fault(format!("{} cannot be made: {error}", root.display())))?;
    let shop = Shop { repository: ScratchRepository::init(&root)?, root };
    shop.commit(&shop::START, PERSON, "Start the shop")?;
    register(stage, &shop)?;
    let server = |log: &str| {
        let mut command = this_binary(&shop.root)?;
        command.env("GOVFORGE_DB", shop.ledger());
        Client::start(command, folder.join(log))
    };
    let mut author = server("author.log")?;
    let mut reviewer = server("reviewer.log")?;
    meet(stage, &mut author)?;
    let task = propose(stage, &mut author, &shop)?;
    let decision = record(stage, &mut author, &task)?;
    change(stage, &mut author, &shop, &decision)?;
    review(stage, &mut author, &mut reviewer, &decision)?;
    answer(stage, &mut author, &shop, &decision)?;
    disagree(stage, &mut reviewer, &decision)?;
    decide(stage, &mut author, &shop, &decision)?;
    look_back(stage, &mut reviewer, &decision)?;
    timeline::show(stage, &mut author, &task)?;
    author.close()?;
    reviewer.close()
}

/// The repository that everything is about.
struct Shop {
    repository: ScratchRepository,
    root: PathBuf,
}

impl Shop {
    fn ledger(&self) -> PathBuf {
        self.root.join(".govforge").join("govforge.db")
    }

    fn commit(&self, files: &[File], author: &str, message: &str) -> Result<(), Failure> {
        let author = Author { name: author, email: EMAIL, seconds: COMMIT_TIME };
        self.repository.commit(message, &author, files)?;
        Ok(())
    }
}

fn register(stage: &mut Stage, shop: &Shop) -> Result<(), Failure> {
    stage.scene("The maintainer", "registers the repository, once.")?;
    stage.command("govforge init")?;
    let output = this_binary(&shop.root)?.arg("init").output().map_err(|error| {
        Failure::Fault(format!("`govforge init` could not be started: {error}"))
    })?;
    if !output.status.success() {
        return Err(Failure::Fault(format!(
            "`govforge init` ended with {}:\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end(),
        )));
    }
    let root = format!("{}{}", shop.root.display(), std::path::MAIN_SEPARATOR);
    for (index, line) in String::from_utf8_lossy(&output.stdout).lines().enumerate() {
        let line = line.replace(&root, "");
        match index {
            0 => stage.reply(&line)?,
            _ => stage.more(&line)?,
        }
    }
    Ok(())
}

fn meet(stage: &mut Stage, author: &mut Client) -> Result<(), Failure> {
    let count = |listed: &Json, what: &str| listed[what].as_array().map_or(0, Vec::len);
    let tools = author.request("tools/list", json!({}))?;
    let resources = author.request("resources/templates/list", json!({}))?;
    let prompts = author.request("prompts/list", json!({}))?;
    stage.scene("Both agents", "start a server each. The two servers share one ledger.")?;
    stage.command("govforge")?;
    stage.reply(&format!(
        "{} tools, {} kinds of resources, {} prompts, and instructions for the agent",
        count(&tools, "tools"),
        count(&resources, "resourceTemplates"),
        count(&prompts, "prompts"),
    ))?;
    Ok(())
}

fn propose(stage: &mut Stage, author: &mut Client, shop: &Shop) -> Result<String, Failure> {
    stage.scene(AUTHOR, "opens a task, so that all that follows has a place.")?;
    let task = stage.call(
        author,
        "create_task",
        &json!({
            "project_path": shop.root,
            "title": "Sign out users idle for 30 minutes",
            "risk_level": "high",
            "actor_agent": AUTHOR,
        }),
    )?;
    text(&task, "task_id")
}

fn record(stage: &mut Stage, author: &mut Client, task: &str) -> Result<String, Failure> {
    stage.scene(
        AUTHOR,
        "records what it decided and why, before the code hides the reasons. It touches the \
         sign-in, so a person has to approve.",
    )?;
    let decision = stage.call(
        author,
        "record_decision",
        &json!({
            "task_id": task,
            "author_agent": AUTHOR,
            "title": "Keep the last use in the cookie",
            "summary": "The cookie gains the time of last use, under the same signature.",
            "rationale": "No lookup on each request, no table to clean up, no new dependency.",
            "risk_level": "high",
            "human_approval_required": true,
        }),
    )?;
    text(&decision, "decision_id")
}

fn change(
    stage: &mut Stage,
    author: &mut Client,
    shop: &Shop,
    decision: &str,
) -> Result<(), Failure> {
    stage.scene(AUTHOR, "commits the change and attaches it: the record now holds its hash.")?;
    shop.commit(&shop::IDLE_TIMEOUT, AUTHOR, "Sign idle users out")?;
    stage.command("git commit -m \"Sign idle users out\"")?;
    attach(stage, author, shop, decision)?;

    stage.scene(AUTHOR, "runs the project's policies over the change. Sign-in code may not pass on an agent's word: \
         the decision has to be reviewed.")?;
    check(stage, author, decision)?;
    Ok(())
}

fn review(
    stage: &mut Stage,
    author: &mut Client,
    reviewer: &mut Client,
    decision: &str,
) -> Result<(), Failure> {
    stage.scene(AUTHOR, "asks another agent for a review, and says where to look.")?;
    stage.call(
        author,
        "request_review",
        &json!({
            "decision_id": decision,
            "reviewer_agent": REVIEWER,
            "focus": ["security", "tests"],
            "actor_agent": AUTHOR,
        }),
    )?;

    stage.scene(
        REVIEWER,
        "reads the record, finds a bug, and says where it is and what to do about it.",
    )?;
    stage.call(
        reviewer,
        "submit_review",
        &json!({
            "decision_id": decision,
            "reviewer_agent": REVIEWER,
            "status": "changes_requested",
            "summary": "The idea holds; one kind of cookie brings the request down.",
            "findings": [{
                "severity": "high",
                "category": "bug",
                "file_path": "auth.py",
                "line_start": shop::BUG_LINE,
                "message": "A cookie without exactly two dots raises ValueError.",
                "recommendation": "Treat a malformed cookie as signed out, and test it.",
            }],
        }),
    )?;
    Ok(())
}

fn answer(
    stage: &mut Stage,
    author: &mut Client,
    shop: &Shop,
    decision: &str,
) -> Result<(), Failure> {
    stage.scene(AUTHOR, "fixes it, attaches the follow-up commit and has it checked again.")?;
    shop.commit(&shop::FIX, AUTHOR, "Treat a malformed cookie as signed out")?;
    stage.command("git commit -m \"Treat a malformed cookie as signed out\"")?;
    attach(stage, author, shop, decision)?;
    check(stage, author, decision)
}

fn disagree(stage: &mut Stage, reviewer: &mut Client, decision: &str) -> Result<(), Failure> {
    stage.scene(
        REVIEWER,
        "is content with the fix, but not with the design. Neither agent gives in, so both \
         positions go on the record for a person.",
    )?;
    stage.call(
        reviewer,
        "record_disagreement",
        &json!({
            "decision_id": decision,
            "topic": "Where the last use is kept",
            "author_position": "In the cookie: nothing to look up, nothing to clean up.",
            "reviewer_position": "In a sessions table: a stolen cookie can be revoked.",
            "risk_summary": "A stolen cookie works until it has been idle for 30 minutes.",
            "actor_agent": REVIEWER,
        }),
    )?;
    Ok(())
}

fn decide(
    stage: &mut Stage,
    author: &mut Client,
    shop: &Shop,
    decision: &str,
) -> Result<(), Failure> {
    stage.scene(
        "The maintainer",
        "asks what waits for a person, weighs both positions and decides.",
    )?;
    let waiting = json!({"project_path": shop.root});
    let waiting = stage.ask(author, "list_pending_approvals", &waiting)?;
    for decision in list(&waiting, "decisions") {
        stage.reply(&format!(
            "{} {}, risk {}: {}",
            text(decision, "decision_id")?,
            text(decision, "status")?,
            text(decision, "risk_level")?,
            text(decision, "title")?,
        ))?;
    }
    stage.call(
        author,
        "approve_decision",
        &json!({
            "decision_id": decision,
            "approver": PERSON,
            "status": "approved",
            "comment": "The cookie will do: half an hour is short. Revoking is a task of its own.",
        }),
    )?;
    Ok(())
}

fn look_back(stage: &mut Stage, reviewer: &mut Client, decision: &str) -> Result<(), Failure> {
    stage.scene(
        "Anyone",
        "who asks months later, person or agent, gets the whole record in one call.",
    )?;
    let context = stage.ask(reviewer, "get_decision_context", &json!({"decision_id": decision}))?;
    let (decision, change) = (&context["decision"], &context["git_change"]);
    stage.reply(&format!(
        "{} {}, risk {}: {}",
        text(decision, "id")?,
        text(decision, "status")?,
        text(decision, "risk_level")?,
        text(decision, "title")?,
    ))?;
    stage.detail("rationale   ", &text(decision, "rationale")?)?;
    stage.detail(
        "change      ",
        &format!(
            "commit {:.10}: {}, +{} -{}",
            text(change, "commit_hash")?,
            counted(list(change, "files_changed").len(), "file"),
            change["insertions"],
            change["deletions"],
        ),
    )?;
    for review in list(&context, "reviews") {
        let findings = review["findings_count"].as_u64().unwrap_or_default() as usize;
        let status = text(review, "status")?;
        let line = format!("{} {status}, {}", text(review, "id")?, counted(findings, "finding"));
        stage.detail("review      ", &line)?;
    }
    let results = list(&context, "policy_results");
    let blocked = results.iter().filter(|result| result["status"] == "blocked").count();
    let line = format!("{}, {blocked} of them blocked", counted(results.len(), "result"));
    stage.detail("policies    ", &line)?;
    for disagreement in list(&context, "disagreements") {
        stage.detail("disagreement", &text(disagreement, "topic")?)?;
    }
    for approval in list(&context, "approvals") {
        let line = format!("{}: {}", text(approval, "status")?, text(approval, "comment")?);
        stage.detail("verdict     ", &line)?;
    }
    stage.detail("events      ", &list(&context, "events").len().to_string())?;
    Ok(())
}

fn attach(
    stage: &mut Stage,
    author: &mut Client,
    shop: &Shop,
    decision: &str,
) -> Result<(), Failure> {
    stage.call(
        author,
        "attach_git_diff",
        &json!({"decision_id": decision, "repo_path": shop.root, "actor_agent": AUTHOR}),
    )?;
    Ok(())
}

fn check(stage: &mut Stage, author: &mut Client, decision: &str) -> Result<(), Failure> {
    let run = stage.call(
        author,
        "run_policy_checks",
        &json!({"decision_id": decision, "actor_agent": AUTHOR}),
    )?;
    let (passed, others): (Vec<_>, Vec<_>) =
        list(&run, "results").iter().partition(|result| result["status"] == "passed");
    for result in others {
        let status = text(result, "status")?;
        let line = format!("{}: {}", text(result, "policy")?, text(result, "message")?);
        stage.detail(&format!("{status:<7}"), &line)?;
    }
    let passed: Vec<_> = passed.iter().filter_map(|result| result["policy"].as_str()).collect();
    stage.detail("passed ", &passed.join(", "))?;
    Ok(())
}

fn text(reply: &Json, field: &str) -> Result<String, Failure> {
    reply[field]
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| Failure::Fault(format!("The server's answer has no `{field}`: {reply}")))
}

fn list<'a>(reply: &'a Json, field: &str) -> &'a [Json] {
    reply[field].as_array().map_or(&[], Vec::as_slice)
}

fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
