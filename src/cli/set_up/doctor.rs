//! `govforge doctor`: one line for each check, with the fix.

mod wired;

use std::path::{Path, PathBuf};

use strum::IntoEnumIterator as _;
use tokio::runtime::{Builder, Runtime};

use self::wired::Wired;
use crate::cli::Failure;
use crate::cli::set_up::connect::clients::{ClientName, Machine};
use crate::cli::set_up::connect::{ledger, machine};
use crate::cli::terminal::screen::{BAD, GOOD, NOTE, Screen, styled};
use crate::domain::entity::Project;
use crate::domain::excerpt::one_line;
use crate::ledger::Service;

/// What a check came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Fine(String),
    /// Worth knowing; nothing is broken.
    Note(String),
    /// What is wrong, and the fix.
    Wrong(String),
}

/// Checks, and says what was found.
///
/// # Errors
/// Refuses where a check fails that a person can mend; faults where the ledger failed.
pub fn run(service: &Service) -> Result<(), Failure> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Fault(format!("The program cannot start: {error}")))?;
    let mut report = Report { screen: Screen::stdout(), wrong: 0, faults: 0, checks: 0 };
    report.show("repository", repository(service))?;
    let projects = check_ledger(service, &runtime, &mut report)?;
    for project in &projects {
        let name = format!("project {}", project.name);
        report.show(&name, check_project(service, &runtime, project))?;
        // A mistake in them has been told just now.
        for looser in service.check_settings(project).unwrap_or_default() {
            let text = format!("[approval] is looser than the default: {looser}.");
            report.show(&name, Outcome::Note(text))?;
        }
    }
    runtime.block_on(service.close());
    if let (Ok(machine), Ok(ledger)) = (machine(service), ledger(service)) {
        check_clients(&machine, &ledger, &service.location().directory, &mut report)?;
    }
    let Report { wrong, faults, checks, .. } = report;
    let summary = format!("{wrong} of {checks} checks failed; each line above says what to do.");
    match (wrong, faults) {
        (0, _) => Ok(()),
        (_, 0) => Err(Failure::Refused(summary)),
        _ => Err(Failure::Fault(summary)),
    }
}

struct Report {
    screen: Screen,
    wrong: usize,
    /// How many of them are faults of the ledger.
    faults: usize,
    checks: usize,
}

impl Report {
    fn show(&mut self, name: &str, outcome: Outcome) -> Result<(), Failure> {
        let (mark, style, text) = match &outcome {
            Outcome::Fine(text) => ("ok  ", GOOD, text),
            Outcome::Note(text) => ("note", NOTE, text),
            Outcome::Wrong(text) => ("FAIL", BAD, text),
        };
        self.checks += 1;
        self.wrong += usize::from(matches!(outcome, Outcome::Wrong(_)));
        Ok(self.screen.line(format!(
            "{}  {}: {}",
            styled(style, mark),
            one_line(name),
            one_line(text)
        ))?)
    }
}

fn repository(service: &Service) -> Outcome {
    let tree = match service.working_tree() {
        Ok(Some(tree)) => tree,
        Ok(None) => {
            return Outcome::Note(format!(
                "{} is in no git repository. Go to yours, or run `git init` there.",
                service.location().directory.display()
            ));
        }
        Err(error) => return Outcome::Wrong(told(error.into())),
    };
    match service.open_repository(&tree) {
        Ok(()) => Outcome::Fine(match tree.branch {
            Some(branch) => format!("{} (branch {branch})", tree.root.display()),
            None => format!("{} (no branch checked out)", tree.root.display()),
        }),
        Err(error) => Outcome::Wrong(told(error.into())),
    }
}

/// Shows whether the ledger can be used; gives its projects.
fn check_ledger(
    service: &Service,
    runtime: &Runtime,
    report: &mut Report,
) -> Result<Vec<Project>, Failure> {
    let path = match ledger(service) {
        Ok(path) => path,
        Err(failure) => {
            report.show("ledger", Outcome::Wrong(told(failure)))?;
            return Ok(vec![]);
        }
    };
    let content = match runtime.block_on(service.ledger_content()) {
        Ok(content) => content,
        Err(error) => {
            let failure = Failure::from(error);
            report.faults += usize::from(matches!(failure, Failure::Fault(_)));
            report.show("ledger", Outcome::Wrong(told(failure)))?;
            return Ok(vec![]);
        }
    };
    let count = content.projects.len();
    report.show("ledger", Outcome::Fine(format!("{}, {count} project(s)", path.display())))?;
    if let Some(first) = content.ahead.first() {
        let text = format!(
            "{} event(s) are dated more than a day ahead of this machine's clock, the first {} at \
             {}. Correct the clock if it is wrong; else one was wrong, or somebody wrote them by \
             hand. Nothing follows them.",
            content.ahead.len(),
            first.event_type,
            first.created_at
        );
        report.show("times", Outcome::Note(text))?;
    }
    report.show(
        "here",
        match &content.current {
            Some(project) => Outcome::Fine(format!("this directory belongs to {}", project.name)),
            None => Outcome::Wrong(
                "this directory belongs to no registered project: run `govforge init` in the \
                 repository."
                    .to_owned(),
            ),
        },
    )?;
    Ok(content.projects)
}

fn check_project(service: &Service, runtime: &Runtime, project: &Project) -> Outcome {
    let root = PathBuf::from(&project.root_path);
    if !root.is_dir() {
        return Outcome::Note(format!(
            "{} is not there any more. If the repository has moved, move it back, or put a link \
             there to where it is now: `govforge init` elsewhere begins a record of its own.",
            root.display()
        ));
    }
    if let Err(error) = service.check_settings(project) {
        return Outcome::Wrong(told(error.into()));
    }
    match runtime.block_on(service.project_policies(&project.id.to_string())) {
        Ok(policies) => {
            Outcome::Fine(format!("{}, {} policies", root.display(), policies.policies.len()))
        }
        Err(error) => Outcome::Wrong(format!(
            "{} Correct it; `govforge policy check` looks at it again.",
            told(error.into())
        )),
    }
}

fn check_clients(
    machine: &Machine,
    ledger: &Path,
    directory: &Path,
    report: &mut Report,
) -> Result<(), Failure> {
    let wired = Wired::new(machine, ledger, directory);
    let mut seen = vec![];
    let mut is_connected = false;
    for client in ClientName::iter() {
        let mut has_entry = false;
        for target in client.places(machine) {
            let place = (target.file.clone(), target.keys.clone());
            let Some(outcome) = wired.check(client, &target) else { continue };
            has_entry = true;
            // Two clients may read one file.
            if !seen.contains(&place) {
                seen.push(place);
                report.show(&format!("{client} ({})", target.scope), outcome)?;
            }
        }
        is_connected |= has_entry;
        if !has_entry && client.is_installed(machine) {
            let text = format!("installed, not connected: `govforge connect {client}`.");
            report.show(&client.to_string(), Outcome::Note(text))?;
        }
    }
    if !is_connected {
        let text = "none is connected: run `govforge connect`.".to_owned();
        report.show("clients", Outcome::Note(text))?;
    }
    Ok(())
}

/// What a failure tells a person.
pub fn told(failure: Failure) -> String {
    match failure {
        Failure::Refused(message) | Failure::Usage(message) | Failure::Fault(message) => message,
        Failure::OutputClosed => "the output is closed".to_owned(),
    }
}
