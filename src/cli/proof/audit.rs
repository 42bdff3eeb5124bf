//! `govforge audit`: proving that the record is what was recorded.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use clap::Subcommand;
use tokio::runtime::Builder;

use crate::cli::Failure;
use crate::cli::terminal::screen::Screen;
use crate::domain::excerpt::one_line;
use crate::error::in_words;
use crate::ledger::Service;
use crate::ledger::record::audit::Verified;
use crate::ledger::record::export::verify_export;
use crate::store::events::AheadOfTime;

/// How many events of another program are told one by one.
const FOREIGN_SHOWN: usize = 20;

/// Prove that the record is what was recorded
///
/// Every event has a place in a chain of SHA-256 hashes over its content, the rows that it
/// vouches for and the event before. What was changed, added or removed past the program
/// shows, and from which event on.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Walk the chain and every row that an event vouches for
    ///
    /// Exit code 0 if everything is as it was recorded, 1 if not. Events that another program
    /// wrote are told, and do not change that.
    Verify {
        /// An export to verify instead of the ledger
        file: Option<PathBuf>,
        /// A head that was kept outside: proves that nothing before it was changed
        #[arg(long, value_name = "HASH")]
        head: Option<String>,
        /// Also fail where something is not proved by this program's own events
        ///
        /// Events of another program, or from before the chain, and policy results that are
        /// counted, but in no link: nothing tells them from what somebody wrote by hand. Also
        /// has SQLite check the whole file: an index that leaves a row out hides it from lists.
        #[arg(long)]
        strict: bool,
    },
    /// Print the hash of the last event, to be kept outside the ledger
    ///
    /// In a git note, a commit's trailer or a ticket: whoever can write to the ledger could
    /// make a whole new chain, but not one with a hash that is written down elsewhere.
    Head,
}

/// Verifies, or prints the head.
///
/// # Errors
/// Refuses a record that is not sound, and a file that cannot be read.
pub fn run(service: &Service, args: &Args) -> Result<(), Failure> {
    let runtime = runtime()?;
    let mut screen = Screen::stdout();
    match &args.what {
        What::Head => {
            let head = runtime.block_on(service.audit_head())?;
            screen.line(&head.hash)?;
            Ok(())
        }
        What::Verify { file, head, strict } => {
            let verified = match file {
                Some(path) => {
                    let file = File::open(path).map_err(|error| {
                        Failure::Refused(format!(
                            "{} cannot be read ({}). Name a file that `govforge export -o FILE` \
                             wrote.",
                            path.display(),
                            in_words(&error)
                        ))
                    })?;
                    verify_export(BufReader::new(file), head.as_deref())?
                }
                None => runtime.block_on(service.audit_verify(head.as_deref(), *strict))?,
            };
            for line in report(&verified, *strict) {
                screen.line(line)?;
            }
            if !verified.is_sound() {
                return Err(Failure::Refused("The record is not as it was recorded.".to_owned()));
            }
            match *strict && !verified.unproved.is_empty() {
                true => Err(Failure::Refused("Not all of the record is proved.".to_owned())),
                false => Ok(()),
            }
        }
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Fault(format!("The program cannot start: {error}")))
}

fn report(verified: &Verified, strict: bool) -> Vec<String> {
    let Verified { head, problems, problem_count, foreign, foreign_count, unproved, ahead, kept } =
        verified;
    let mut lines = vec![match problem_count {
        0 => format!("{} event(s), each as it was recorded.", head.place),
        count => format!("{} event(s), {count} problem(s):", head.place),
    }];
    lines.extend(problems.iter().map(|problem| match problem.place {
        Some(place) => format!("  from event {place} on: {}", problem.what),
        None => format!("  {}", problem.what),
    }));
    if *problem_count > problems.len() {
        lines.push(format!("  and {} more", problem_count - problems.len()));
    }
    if *foreign_count > 0 {
        lines.push(format!(
            "{} event(s) were written by another program than govforge; if none has this ledger, \
             they are forged:",
            foreign_count
        ));
        let named = foreign.iter().take(FOREIGN_SHOWN);
        lines.extend(named.map(|(place, name)| format!("  event {place}: {name}")));
        if *foreign_count > FOREIGN_SHOWN {
            lines.push(format!("  and {} more", foreign_count - FOREIGN_SHOWN));
        }
    }
    if !ahead.is_empty() {
        lines.push(
            "Dated more than a day ahead of this machine's clock, by a clock that was wrong or by \
             hand; the order follows from the chain, not from times:"
                .to_owned(),
        );
        let named = |one: &AheadOfTime| {
            one_line(&format!("  {} ({}): {}", one.event_type, one.event_id, one.created_at))
        };
        lines.extend(ahead.iter().map(named));
    }
    match kept {
        // What it covers is changed, or the hash itself was written there.
        Some(Some(place)) if *problem_count > 0 => lines.push(format!(
            "The head that was kept is event {place}; what is told above still counts."
        )),
        Some(Some(place)) => {
            lines.push(format!(
                "The head that was kept is event {place}: nothing before it changed."
            ));
        }
        Some(None) => lines.push(
            "The head that was kept is not in this chain: what came before it was rewritten."
                .to_owned(),
        ),
        None => {}
    }
    if head.waiting > 0 {
        lines.push(format!(
            "{} event(s) of another program wait to be taken in by the next write.",
            head.waiting
        ));
    }
    if strict {
        lines.extend(unproved.iter().map(|reason| format!("Not proved: {reason}.")));
    }
    lines.push(format!("The head is {}", head.hash));
    lines
}
