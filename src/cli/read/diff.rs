//! `govforge diff`: the attached change in colour.

use std::io;

use crate::cli::terminal::screen::{BAD, CODE, GOOD, PLAIN, STRONG, Screen, styled};
use crate::cli::{Failure, arguments, wait};
use crate::domain::excerpt::printable;
use crate::ledger::Service;
use crate::policy::Masked;

/// Show the change that is attached to a decision
///
/// The text is what git prints for the commit, and what the recorded diff hash is the hash of, but
/// for secrets: what a secret policy finds is masked.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The decision, such as DEC-001
    #[arg(value_parser = arguments::decision)]
    decision: String,
}

/// Shows it.
///
/// # Errors
/// As [`Service::attached`] and [`crate::ledger::work::attached::Attached::searched`], and a closed
/// output; refuses a diff that is not the recorded one, after showing it.
pub fn run(service: &Service, args: &Args) -> Result<(), Failure> {
    let attached = wait(service.attached(&args.decision))?;
    let mut searched = attached.searched(&|| false)?;
    let mut screen = Screen::paged();
    let mut in_hunk = false;
    let mut written: io::Result<()> = Ok(());
    let same = searched.lines(&|| false, &mut |line| {
        if written.is_ok() {
            written = paint(&mut screen, &line, &mut in_hunk);
        }
    })?;
    written?;
    screen.finish()?;
    match same {
        true => Ok(()),
        false => Err(Failure::Refused(format!(
            "This is the diff of commit {}, but its hash is not the one recorded for {}: the \
             change was recorded by another program, or the record was changed (`govforge audit \
             verify`). Have the author attach the commit again.",
            attached.change.commit_hash, attached.decision_id
        ))),
    }
}

/// Writes a line in its colour. Before the hunks of a file, `---` and `+++` are no changed lines.
fn paint(screen: &mut Screen, line: &Masked, in_hunk: &mut bool) -> io::Result<()> {
    // A tab is no danger; every other control could steer the terminal.
    let text = line.to_text();
    let text: Vec<String> = text.split('\t').map(printable).collect();
    let text = text.join("\t");
    if text.starts_with("diff --git ") {
        *in_hunk = false;
    } else if text.starts_with("@@ ") {
        *in_hunk = true;
        return screen.line(styled(CODE, text));
    }
    let style = match (*in_hunk, text.as_bytes().first()) {
        (false, _) => STRONG,
        (true, Some(b'+')) => GOOD,
        (true, Some(b'-')) => BAD,
        _ => PLAIN,
    };
    screen.line(styled(style, text))
}
