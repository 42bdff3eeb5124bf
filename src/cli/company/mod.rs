//! `govforge company`: what administers a company of the endpoint.

mod people;
mod set_up;

use clap::Subcommand;
use serde_json::Value as Json;

use crate::cli::terminal::screen::Screen;
use crate::cli::{Failure, print_json, wait};
use crate::company::Service;
use crate::company::identity::caller::Caller;

/// Administer the companies of `govforge serve`
///
/// COMPANY is a company's id or name; people, agents and projects are named by id or name too.
/// Running a verb twice changes nothing where that makes sense. With --json each prints one JSON
/// object.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON for a machine
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Create(set_up::Create),
    List(set_up::List),
    Pause(set_up::Pause),
    Resume(set_up::Resume),
    Archive(set_up::Archive),
    /// Projects and departments of a company
    #[command(subcommand)]
    Project(set_up::Project),
    /// People of a company
    #[command(subcommand)]
    User(people::User),
    /// Agents of a company
    #[command(subcommand)]
    Agent(people::Agent),
    /// Keys of people, for MCP clients
    #[command(subcommand)]
    Key(people::Key),
}

/// What a verb has to say: for a machine, and for a person.
struct Told {
    json: Json,
    lines: Vec<String>,
}

impl Told {
    fn new(json: Json, lines: impl IntoIterator<Item = String>) -> Self {
        Self { json, lines: lines.into_iter().collect() }
    }
}

/// Runs a verb.
///
/// # Errors
/// As the use case.
pub fn run(service: &Service, args: &Args) -> Result<(), Failure> {
    let told = wait(async {
        match &args.what {
            What::Create(verb) => verb.run(service).await,
            What::List(verb) => verb.run(service).await,
            What::Pause(verb) => verb.run(service).await,
            What::Resume(verb) => verb.run(service).await,
            What::Archive(verb) => verb.run(service).await,
            What::Project(verb) => verb.run(service).await,
            What::User(verb) => verb.run(service).await,
            What::Agent(verb) => verb.run(service).await,
            What::Key(verb) => verb.run(service).await,
        }
    })?;
    if args.json {
        return print_json(&told.json);
    }
    let mut screen = Screen::stdout();
    for line in told.lines {
        screen.line(line)?;
    }
    Ok(())
}

/// The caller of a verb, in a company.
async fn operator(service: &Service, company: &str) -> crate::error::Result<Caller> {
    service.operator(company).await
}
