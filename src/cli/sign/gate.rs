//! `govforge gate`: whether a commit may pass, for CI and hooks.

use crate::cli::terminal::screen::{GOOD, Screen, styled};
use crate::cli::{Failure, print_json, wait};
use crate::ledger::Service;

/// Let a commit pass only if a person approved exactly its diff
///
/// Exit code 0 if the diff of the commit belongs to an approved decision, else 1 with the
/// reason: no decision, not approved, or approved for another diff.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The commit: a hash, a branch, a tag, or a revision such as HEAD~1
    #[arg(default_value = "HEAD")]
    revision: String,
    /// JSON for a machine
    #[arg(long)]
    json: bool,
}

/// Answers.
///
/// # Errors
/// As [`Service::gate`]; refuses a commit that may not pass.
pub fn run(service: &Service, args: &Args) -> Result<(), Failure> {
    let answer = wait(service.gate(&args.revision))?;
    if args.json {
        print_json(&answer)?;
    } else if answer.passes {
        Screen::stdout().line(styled(GOOD, &answer.message))?;
    }
    match answer.passes {
        true => Ok(()),
        false => Err(Failure::Refused(answer.message)),
    }
}
