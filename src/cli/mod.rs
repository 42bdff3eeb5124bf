//! The verbs that a person types, and the help that introduces the program.
//!
//! Exit codes: 0 fine, 1 refused or blocked by a policy, 2 wrong usage, 3 a fault of the ledger
//! or of the server.

pub mod arguments;
pub mod company;
pub mod demo;
pub mod policy;
pub mod proof;
pub mod read;
pub mod serve;
pub mod set_up;
pub mod sign;
mod terminal;

use std::borrow::Cow;
use std::error::Error as _;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::OnceLock;

use clap::{Parser, Subcommand};
use serde::Serialize;
use tokio::runtime::{Builder, Runtime};

use self::proof::{audit, export};
use self::read::{diff, list, report, show, status, timeline};
use self::set_up::{connect, init, pages};
use self::sign::{gate, hook, token, verdict};
use crate::domain::excerpt::{is_layout, printable};
use crate::error::{Audience, Code, Error, Refusal, in_words};

/// A local ledger that keeps AI coding agents accountable, served over MCP
///
/// govforge records what coding agents decide in your repository and why: tasks, decisions,
/// the commits that carry them out, policy checks, reviews with findings, disagreements, and
/// the verdict of a person. Agents (Claude Code, Codex, Cursor, Cline and others) start it as
/// an MCP server over stdin and stdout and call its tools. Everything is kept in one SQLite
/// file on this machine; the server opens no socket and starts no process.
///
/// Without a verb it serves MCP on stdin and stdout.
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "`govforge --help` also tells where the ledger is and how to wire a client.",
    after_long_help = WIRING,
)]
pub struct Cli {
    /// What to do; without one, serve MCP on stdin and stdout
    #[command(subcommand)]
    pub verb: Option<Verb>,
    /// The ledger, before GOVFORGE_DB: a path, or sqlite:///absolute/path
    #[arg(long, global = true, value_name = "PATH", value_parser = arguments::not_empty(), display_order = 900)]
    pub db: Option<OsString>,
    /// When to colour: in a terminal (auto), always or never
    // The value is taken before clap reads the line, see [`set_colors`].
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", display_order = 901)]
    color: clap::ColorChoice,
}

/// Colours as `--color` says, everywhere: what is no value of it is refused when the line is read.
pub fn set_colors() {
    let value = arguments::early("--color", std::env::args_os());
    let choice = match value.as_ref().and_then(|value| value.to_str()) {
        Some("always") => anstream::ColorChoice::Always,
        Some("never") => anstream::ColorChoice::Never,
        _ => anstream::ColorChoice::Auto,
    };
    choice.write_global();
}

/// What a person can ask for.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Put a repository under governance
    Init(init::Args),
    Connect(connect::Args),
    /// Check everything between a client and the ledger, and say how to mend it
    ///
    /// One line for each check: the repository, the ledger, the projects and their policies,
    /// and for each client whether its configuration starts an existing program on the same
    /// ledger, which is tried with a real handshake. Ends with 1 if a check fails. Nothing is
    /// written. What a file of the repository tells to start is started only if it is this
    /// very program.
    Doctor,
    Status(status::Args),
    List(list::Args),
    Show(show::Args),
    Diff(diff::Args),
    Timeline(timeline::Args),
    Report(report::Args),
    /// Give a person's verdict on a decision: approve it
    Approve(verdict::Args),
    /// Give a person's verdict on a decision: reject it
    Reject(verdict::Args),
    /// Give a person's verdict on a decision: ask for changes
    NeedsChanges(verdict::Args),
    Gate(gate::Args),
    Hook(hook::Args),
    Audit(audit::Args),
    Export(export::Args),
    Token(token::Args),
    Demo(demo::Args),
    Policy(policy::Args),
    Company(company::Args),
    Serve(serve::Args),
    Completions(pages::CompletionsArgs),
    Man(pages::ManArgs),
}

const WIRING: &str = "\
Start here:
  govforge demo                        see a whole decision play out
  govforge init                        in your repository: make .govforge/
  govforge policy run --staged         judge what is staged, in a hook or CI
  govforge connect                     let your client use it
  govforge doctor                      check all from the client to the ledger

`govforge connect` knows Claude Code, Codex, Cursor, Cline, VS Code, Gemini,
Qwen, Copilot and OpenCode. Any other client starts the command `govforge`
without arguments; `govforge connect cursor --print` shows the usual form.

The ledger is the first of:
  1. the file that --db or GOVFORGE_DB names
  2. govforge.db in the nearest .govforge/ at or above the working directory,
     or at the root of the main working tree of a linked one
  3. ~/.govforge/govforge.db
  A missing file is made by `govforge init`, or by the first write of a server.

Environment:
  GOVFORGE_DB       the ledger: a path, sqlite:///absolute/path or sqlite://path
  GOVFORGE_API_TOKEN
                    a token; server and verbs do only what it covers
  GOVFORGE_PROJECT  where a bare DEC-001 is looked up first: a project's name,
                    path or UUID; else the project around the working directory
  GOVFORGE_USER     your name, for approve, reject and needs-changes; else git's
                    user.name
  PAGER             shows long output; less if unset, none if empty
  RUST_LOG          what is logged to stderr, such as info or govforge=debug
  NO_COLOR          no colours, unless --color=always asks for them

Exit codes:
  0  fine
  1  refused, or blocked by a policy; the message says what to do
  2  wrong usage
  3  a fault of the ledger, the server or the machine";

/// Why a verb did not do what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// The person can put it right: exit code 1.
    Refused(String),
    /// What was typed can be right on no ledger: exit code 2.
    Usage(String),
    /// The ledger, the server or the machine failed: exit code 3.
    Fault(String),
    /// Whoever read the output has had enough, as `head` does: nothing went wrong.
    OutputClosed,
}

impl Failure {
    /// What was typed is refused, whatever the ledger holds.
    pub fn misused(refusal: &Refusal) -> Self {
        Self::Usage(refusal.told(Audience::Person).to_owned())
    }
}

impl From<io::Error> for Failure {
    /// The only I/O that a verb does itself is its output.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Fault(format!(
                "The output could not be written: {error}. Send it where there is room for it."
            )),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(refusal) => match refusal.code {
                Code::InvalidInput => Self::misused(&refusal),
                _ => Self::Refused(refusal.told(Audience::Person).to_owned()),
            },
            Error::Fault(fault) => {
                if let Some(cause) = fault.source() {
                    tracing::error!(%cause, "{fault}");
                }
                // What went wrong is in the log, above the message.
                Self::Fault(format!("{}. `govforge doctor` looks for the cause.", fault.summary))
            }
        }
    }
}

/// Carries out what a verb asks of the service.
///
/// # Errors
/// As the use case.
pub fn wait<T>(work: impl Future<Output = crate::error::Result<T>>) -> Result<T, Failure> {
    // One for all: the ledger's connections outlive a use case.
    static RUNTIME: OnceLock<io::Result<Runtime>> = OnceLock::new();
    let runtime = RUNTIME
        .get_or_init(|| Builder::new_current_thread().enable_all().build())
        .as_ref()
        .map_err(|error| Failure::Fault(format!("The program cannot start: {error}")))?;
    Ok(runtime.block_on(work)?)
}

/// JSON for a machine, which steers no terminal that it is printed on.
///
/// # Errors
/// A closed output.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::Fault(format!("The result is no JSON: {error}")))?;
    writeln!(io::stdout().lock(), "{}", harmless_json(&text))?;
    Ok(())
}

/// JSON that says the same and steers no terminal that it is printed on.
pub fn harmless_json(text: &str) -> Cow<'_, str> {
    let steers = |c: char| matches!(c, '\u{7f}'..='\u{9f}') || is_layout(c);
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut harmless = String::with_capacity(text.len());
    for character in text.chars() {
        match steers(character) {
            true => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(harmless, "\\u{unit:04x}");
                }
            }
            false => harmless.push(character),
        }
    }
    Cow::Owned(harmless)
}

/// The refusal of a file that cannot be written.
pub fn unwritable(path: &Path, error: &io::Error) -> Failure {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let why = match folder {
        Some(folder) => format!("there is no directory {}", folder.display()),
        None => in_words(error),
    };
    Failure::Refused(format!(
        "{} cannot be written ({why}). Name a file in a directory that you may write to.",
        path.display()
    ))
}

/// The exit code of a verb, after telling on stderr what went wrong.
pub fn conclude(result: Result<(), Failure>) -> i32 {
    let (message, code) = match result {
        Ok(()) | Err(Failure::OutputClosed) => return 0,
        Err(Failure::Refused(message)) => (message, 1),
        Err(Failure::Usage(message)) => (message, 2),
        Err(Failure::Fault(message)) => (message, 3),
    };
    let _ = writeln!(io::stderr().lock(), "govforge: {}", printable(&message));
    code
}
