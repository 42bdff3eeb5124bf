//! `govforge diff`: the attached change in colour.

use std::io;

use crate::cli::terminal::screen::{BAD, CODE, GOOD, PLAIN, STRONG, Screen, styled};
use crate::cli::{Failure, wait};
use crate::domain::excerpt::printable;
use crate::ledger::Service;

/// Show the change that is attached to a decision
///
/// The text is what git prints for the commit, and what the recorded diff hash is the hash of.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The decision, such as DEC-001
    decision: String,
}

/// Shows it.
///
/// # Errors
/// As [`Service::attached`] and [`crate::ledger::work::attached::Attached::write`], and a closed
/// output; refuses a diff that is not the recorded one, after showing it.
pub fn run(service: &Service, args: &Args) -> Result<(), Failure> {
    let attached = wait(service.attached(&args.decision))?;
    let mut screen = Screen::paged();
    let mut painter = Painter::default();
    let mut written: io::Result<()> = Ok(());
    let same = attached.write(&|| false, &mut |text| {
        if written.is_ok() {
            written = painter.paint(&mut screen, text);
        }
    })?;
    written?;
    painter.end(&mut screen)?;
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

/// Colours a diff line by line, of which the pieces need not be lines.
#[derive(Default)]
struct Painter {
    rest: Vec<u8>,
    /// Whether hunks have begun in this file; before, `---` and `+++` are no changed lines.
    in_hunk: bool,
}

impl Painter {
    fn paint(&mut self, screen: &mut Screen, text: &[u8]) -> io::Result<()> {
        self.rest.extend_from_slice(text);
        while let Some(end) = memchr::memchr(b'\n', &self.rest) {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            self.line(screen, &line[..end])?;
        }
        Ok(())
    }

    fn end(&mut self, screen: &mut Screen) -> io::Result<()> {
        match std::mem::take(&mut self.rest) {
            rest if rest.is_empty() => Ok(()),
            rest => self.line(screen, &rest),
        }
    }

    fn line(&mut self, screen: &mut Screen, line: &[u8]) -> io::Result<()> {
        // A tab is no danger; every other control could steer the terminal.
        let text = String::from_utf8_lossy(line);
        let text: Vec<String> = text.split('\t').map(printable).collect();
        let text = text.join("\t");
        if text.starts_with("diff --git ") {
            self.in_hunk = false;
        } else if text.starts_with("@@ ") {
            self.in_hunk = true;
            return screen.line(styled(CODE, text));
        }
        let style = match (self.in_hunk, text.as_bytes().first()) {
            (false, _) => STRONG,
            (true, Some(b'+')) => GOOD,
            (true, Some(b'-')) => BAD,
            _ => PLAIN,
        };
        screen.line(styled(style, text))
    }
}
