//! `govforge timeline`: what happened to a task and its decisions.

use serde::Serialize;

use crate::cli::read::events::rows_about;
use crate::cli::terminal::screen::{STRONG, Screen};
use crate::cli::{Failure, arguments, print_json, wait};
use crate::domain::excerpt::one_line;
use crate::ledger::Service;
use crate::ledger::reading::named::{EventSigned, TaskNamed};

/// Show what happened to a task and to every decision linked to it
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The task, such as TASK-001
    #[arg(value_parser = arguments::task)]
    task: String,
    /// JSON for a machine
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct History<'a> {
    task: &'a TaskNamed,
    events: &'a [EventSigned],
}

/// Shows it.
///
/// # Errors
/// As [`Service::task_history`], and a closed output.
pub fn run(service: &Service, args: &Args) -> Result<(), Failure> {
    let (task, events) = wait(service.task_history(&args.task))?;
    if args.json {
        return print_json(&History { task: &task, events: &events });
    }
    let mut screen = Screen::paged();
    screen.quote((&format!("{}  ", task.id), STRONG), &one_line(&task.title))?;
    screen.table(&rows_about(&events))?;
    Ok(screen.finish()?)
}
