//! `govforge approve`, `reject` and `needs-changes`: the human gate from a terminal.

use std::io::{self, IsTerminal as _, Write as _};

use tokio::runtime::Builder;

use crate::cli::Failure;
use crate::cli::screen::Screen;
use crate::domain::value::ApprovalStatus;
use crate::service::Service;
use crate::service::approvals::ApproveDecision;
use crate::service::gate::{Confirmation, Confirmed};

/// What a verdict needs.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The decision, such as DEC-001
    decision: String,
    /// Your reasons or conditions
    #[arg(short, long)]
    message: Option<String>,
    /// Your name [default: GOVFORGE_USER]
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
    let name = args.name.clone().or_else(|| std::env::var("GOVFORGE_USER").ok());
    let approver = name.filter(|name| !name.trim().is_empty()).ok_or_else(|| {
        Failure::Refused("Whose verdict is it? Name yourself with --as or GOVFORGE_USER.".into())
    })?;
    let input = ApproveDecision {
        decision_id: args.decision.clone(),
        approver,
        status,
        comment: args.message.clone(),
    };
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Fault(format!("The program cannot start: {error}")))?;
    let question = runtime.block_on(service.verdict_question(&input))?;
    let mut screen = Screen::stdout();
    screen.line(&question)?;
    let how = match args.yes {
        true => Confirmed::Asserted,
        false => {
            confirm(&question.decision_id, &input)?;
            Confirmed::Terminal
        }
    };
    let confirmation = Confirmation { how, seen: Some(question.fingerprint) };
    let given = runtime.block_on(service.approve_decision(input, confirmation))?;
    screen.line(format!("{} is now {}.", given.decision_id, given.decision_status))?;
    Ok(())
}

/// Asks for the decision's ID: a `y` is typed too easily.
fn confirm(decision_id: &str, input: &ApproveDecision) -> Result<(), Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::Refused(
            "A verdict is given in a terminal, and this is none. Nothing was recorded.".to_owned(),
        ));
    }
    let verdict = input.status;
    let mut out = io::stderr().lock();
    write!(
        out,
        "To record \"{verdict}\" as {}, type {decision_id}; anything else records nothing: ",
        input.approver.trim()
    )?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    match answer.trim().eq_ignore_ascii_case(decision_id) {
        true => Ok(()),
        false => Err(Failure::Refused("Nothing was recorded.".to_owned())),
    }
}
