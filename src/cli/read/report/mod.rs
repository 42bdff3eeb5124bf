//! `govforge report`: decisions as a page to keep, to print or to send.

mod classes;
mod diff_lines;
mod html;
pub mod markdown;
mod picture;

use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::PathBuf;

use self::diff_lines::FileDiff;
use crate::cli::terminal::output;
use crate::cli::terminal::screen::Screen;
use crate::cli::{Failure, arguments, wait};
use crate::domain::excerpt::one_line;
use crate::ledger::Service;
use crate::ledger::reading::named::NamedRecord;
use crate::ledger::reading::overview::{DecisionListed, ListDecisions};
use crate::policy::SecretSearch;

/// Write a decision, or all, as one HTML page or as Markdown
///
/// The page needs no network and no script: what, why, the change with the findings at their
/// lines, checks, disagreements, verdicts, and the timeline as a picture. It prints well.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The decision, such as DEC-001
    #[arg(required_unless_present = "all", value_parser = arguments::decision)]
    decision: Option<String>,
    /// Every decision of the project, or of the whole ledger outside any
    #[arg(long, conflicts_with = "decision")]
    all: bool,
    /// Markdown for a pull request, without the diff
    #[arg(long)]
    markdown: bool,
    /// The file to write, instead of the standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A decision with its diff.
struct Entry {
    record: NamedRecord,
    /// Or why it cannot be shown.
    diff: Result<Vec<FileDiff>, String>,
}

/// Writes it.
///
/// # Errors
/// As [`Service::named_record_with_files`]; refuses a file that cannot be written or is a ledger,
/// and to write HTML to a terminal.
pub fn run(service: &Service, args: &Args) -> Result<(), Failure> {
    if args.output.is_none() && !args.markdown && io::stdout().is_terminal() {
        return Err(Failure::Usage(
            "The report is a page for a browser. Pass -o FILE.html, send the output elsewhere, \
             or add --markdown."
                .to_owned(),
        ));
    }
    let listed = match &args.decision {
        Some(_) => None,
        None => {
            let mut all = wait(service.list_decisions(ListDecisions::default()))?.decisions;
            all.reverse();
            let mut masker = SecretSearch::new(None).without_lines();
            all.iter_mut().for_each(|one| one.title = masker.text(&one.title));
            Some(all)
        }
    };
    let references: Vec<&str> = match (&listed, &args.decision) {
        (Some(all), _) => all.iter().map(|one| one.reference.as_str()).collect(),
        (None, decision) => decision.iter().map(String::as_str).collect(),
    };
    // Nothing is written over before it is known that there is something to write.
    let first = references.first().map(|reference| load(service, args, reference)).transpose()?;
    let rest = references.iter().skip(1).map(|reference| load(service, args, reference));
    let entries = first.map(Ok).into_iter().chain(rest);
    match &args.output {
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            write(args, listed.as_deref(), entries, &mut out)
        }
        Some(path) => {
            let mut file = BufWriter::new(output::create(path, service.ledger_path())?);
            write(args, listed.as_deref(), entries, &mut file)?;
            let line = format!("Wrote {} decision(s) to {}", references.len(), path.display());
            Ok(Screen::stdout().line(one_line(&line))?)
        }
    }
}

/// Reads a decision. In a report, which is made to be passed on, no text of the record repeats a
/// secret that stands in the diff or has the shape of one.
fn load(service: &Service, args: &Args, reference: &str) -> Result<Entry, Failure> {
    let mut record = match args.markdown {
        true => wait(service.named_record(reference))?,
        false => wait(service.named_record_with_files(reference))?,
    };
    let mut diff = Ok(Vec::new());
    let mut masker = match record.git_change.is_some() {
        false => SecretSearch::new(None).without_lines(),
        true => {
            let attached = wait(service.attached(reference))?;
            // A repository that is gone is told in the page.
            match record.files.as_ref().map(|_| attached.searched(&|| false)) {
                None => attached.masker(),
                Some(Err(error)) => {
                    diff = Err(error.to_string());
                    attached.masker()
                }
                Some(Ok(mut searched)) => {
                    diff = diff_lines::read(&mut searched).map_err(|error| error.to_string());
                    searched.into_masker()
                }
            }
        }
    };
    record.rewrite(&mut |text| masker.text(text));
    Ok(Entry { record, diff })
}

/// Writes one decision after the other, so that one is held at a time.
fn write(
    args: &Args,
    listed: Option<&[DecisionListed]>,
    entries: impl Iterator<Item = Result<Entry, Failure>>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut begun = false;
    for (index, entry) in entries.enumerate() {
        let entry = entry?;
        if let Some(all) = listed {
            progress(index + 1, all.len());
        }
        let written = match args.markdown {
            true => markdown::write(&entry.record, index, out),
            false if begun => html::article(&entry, index, out),
            false => {
                let decision = &entry.record.decision;
                let title = format!("{} {}", decision.id, decision.title);
                html::begin(&title, listed, out).and_then(|()| html::article(&entry, index, out))
            }
        };
        written?;
        begun = true;
    }
    let ended = match args.markdown {
        true if begun => Ok(()),
        true => writeln!(out, "No decision has been recorded yet."),
        false if begun => html::end(out),
        false => html::begin("", listed, out).and_then(|()| html::end(out)),
    };
    Ok(ended.and_then(|()| out.flush())?)
}

/// Tells a person who waits how far it is.
fn progress(done: usize, total: usize) {
    const WORTH_TELLING: usize = 20;
    let mut stderr = io::stderr().lock();
    if total >= WORTH_TELLING && stderr.is_terminal() {
        let end = if done == total { "\n" } else { "" };
        let _ = write!(stderr, "\r{done} of {total} decisions{end}");
    }
}
