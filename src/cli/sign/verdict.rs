//! `govforge approve`, `reject` and `needs-changes`: the human gate from a terminal.

use std::io::{self, IsTerminal as _, Write as _};

use crate::cli::terminal::screen::{BAD, PLAIN, STRONG, Screen, styled};
use crate::cli::{Failure, arguments, wait};
use crate::domain::excerpt::one_line;
use crate::domain::value::ApprovalStatus;
use crate::git;
use crate::ledger::Service;
use crate::ledger::verdict::approvals::ApproveDecision;
use crate::ledger::verdict::gate::{Confirmation, Confirmed};
use crate::ledger::verdict::sheet::{Part, Weight};

/// What a verdict needs.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The decision, such as DEC-001
    #[arg(value_parser = arguments::decision)]
    decision: String,
    /// Your reasons or conditions
    #[arg(short, long, value_name = "COMMENT")]
    message: Option<String>,
    /// Your name [default: GOVFORGE_USER, else git's user.name]
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,
    /// Do not ask; the verdict then stands as asserted, not as given in a terminal
    #[arg(long)]
    yes: bool,
}

/// Shows what is being judged, asks, and records the verdict.
///
/// # Errors
/// As [`Service::approve_decision`]; refuses without a terminal to ask in.
pub fn run(service: &Service, args: &Args, status: ApprovalStatus) -> Result<(), Failure> {
    let input = ApproveDecision {
        decision_id: args.decision.clone(),
        approver: signer(args)?,
        status,
        comment: args.message.clone().filter(|comment| !comment.trim().is_empty()),
    };
    let question = wait(service.verdict_question(&input))?;
    let mut screen = Screen::stdout();
    question.sheet().iter().try_for_each(|part| show(&mut screen, part))?;
    let how = match args.yes {
        true => Confirmed::Asserted,
        false => {
            confirm(&question.decision_id, &input)?;
            Confirmed::Terminal
        }
    };
    let confirmation = Confirmation { how, seen: Some(question.fingerprint) };
    let given = wait(service.approve_decision(input, confirmation))?;
    // Whoever copies or commits the file now gets the verdict too.
    wait(async {
        service.close().await;
        Ok(())
    })?;
    let status = given.decision_status.to_string().replace('_', " ");
    screen.line(format!("{} is now {}.", given.decision_id, styled(STRONG, status)))?;
    Ok(())
}

fn show(screen: &mut Screen, part: &Part) -> io::Result<()> {
    let style = match part.weight {
        Weight::Title => STRONG,
        Weight::Plain => PLAIN,
        Weight::Objection => BAD,
    };
    screen.hanging(("", PLAIN), &part.heading(), |line| styled(style, line))?;
    for entry in &part.entries {
        screen.hanging(("- ", PLAIN), &entry.text, str::to_owned)?;
        for detail in &entry.details {
            screen.hanging(("  ", PLAIN), detail, str::to_owned)?;
        }
    }
    match part.left_out {
        0 => Ok(()),
        more => screen.line(format!("- and {more} more")),
    }
}

fn signer(args: &Args) -> Result<String, Failure> {
    let variable = || std::env::var("GOVFORGE_USER").ok();
    let configured = || git::user_name(&std::env::current_dir().ok()?);
    let named = |name: &String| !name.trim().is_empty();
    let name = args.name.clone().or_else(|| variable().filter(named)).or_else(configured);
    name.filter(named).ok_or_else(|| {
        Failure::Refused(
            "Whose verdict is it? Name yourself with --as, GOVFORGE_USER or `git config \
             user.name`."
                .to_owned(),
        )
    })
}

/// Asks for the decision's ID: a `y` is typed too easily.
fn confirm(decision_id: &str, input: &ApproveDecision) -> Result<(), Failure> {
    let verb = match input.status {
        ApprovalStatus::Approved => "approve",
        ApprovalStatus::Rejected => "reject",
        ApprovalStatus::NeedsChanges => "needs-changes",
    };
    if !io::stdin().is_terminal() {
        return Err(Failure::Refused(format!(
            "A verdict is given in a terminal, and this is none. Nothing was recorded. Run \
             `govforge {verb} {decision_id}` in a terminal; a script adds --yes."
        )));
    }
    let mut out = io::stderr().lock();
    write!(
        out,
        "To record \"{}\" as {}, type {decision_id}; anything else records nothing: ",
        input.status,
        one_line(input.approver.trim())
    )?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    match answer.trim().eq_ignore_ascii_case(decision_id) {
        true => Ok(()),
        false => Err(Failure::Refused(format!(
            "Nothing was recorded. `govforge {verb} {decision_id}` asks again."
        ))),
    }
}
