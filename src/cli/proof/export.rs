//! `govforge export`: the whole record, for a machine to verify or for a person to read.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::cli::read::events;
use crate::cli::read::report::markdown::{decision, plain, quoted, words};
use crate::cli::terminal::output;
use crate::cli::terminal::screen::Screen;
use crate::cli::{Failure, harmless_json, wait};
use crate::domain::entity::Project;
use crate::domain::excerpt::one_line;
use crate::ledger::Service;
use crate::ledger::reading::history::{EventRecorded, Record, TaskRecorded};

/// Write the whole record: as JSON lines with the chain, or as Markdown to read
///
/// As JSON lines it is the whole ledger, one line for each event in the order of the chain: the
/// event and the rows that it vouches for, as they are stored, and the hashes. `govforge audit
/// verify FILE` checks it anywhere.
///
/// As Markdown it is this project, or every one outside any: tasks, decisions with their
/// changes, policy results, findings, disagreements and verdicts, and every event once, in the
/// order of the chain.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// JSON lines with the chain (the default)
    #[arg(long, conflicts_with = "markdown")]
    jsonl: bool,
    /// Markdown for a person
    #[arg(long)]
    markdown: bool,
    /// The file to write, instead of the standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes the export.
///
/// # Errors
/// As [`Service::export`] or [`Service::audit_record`]; refuses a ledger
/// as the file to write, and one that cannot be written.
pub fn run(service: &Service, args: &Args) -> Result<(), Failure> {
    let output = args.output.as_deref();
    let (count, hash) = match args.markdown {
        false => {
            // Nothing is written over before it is known that there is something to read.
            wait(service.audit_head())?;
            let mut out = Noting { out: open(service, output)?, error: None };
            let exported = wait(async { Ok(service.export(&mut out).await) })?;
            // The service cannot tell a reader who has had enough from a full disk.
            if let Some(error) = out.error {
                return Err(error.into());
            }
            let head = exported?;
            (head.place, head.hash)
        }
        true => wait(async { Ok(markdown(service, output).await) })??,
    };
    if let Some(path) = output {
        let mut screen = Screen::stdout();
        screen.line(one_line(&format!("Wrote {count} event(s) to {}", path.display())))?;
        screen.line(format!("The head is {hash}"))?;
    }
    Ok(())
}

/// A sink of JSON that steers no terminal, and that keeps what went wrong with it.
struct Noting {
    out: Box<dyn Write>,
    error: Option<io::Error>,
}

impl Noting {
    fn note<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let kind = error.kind();
            self.error.get_or_insert(error);
            kind.into()
        })
    }
}

impl Write for Noting {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let result = match str::from_utf8(text) {
            Ok(json) => self.out.write_all(harmless_json(json).as_bytes()),
            Err(_) => self.out.write_all(text),
        };
        self.note(result.map(|()| text.len()))
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.out.flush();
        self.note(result)
    }
}

fn open(service: &Service, output: Option<&Path>) -> Result<Box<dyn Write>, Failure> {
    let Some(path) = output else { return Ok(Box::new(BufWriter::new(io::stdout().lock()))) };
    Ok(Box::new(BufWriter::new(output::create(path, service.ledger_path())?)))
}

/// Writes every project; tells how many events there were, and the head of the chain.
async fn markdown(service: &Service, output: Option<&Path>) -> Result<(i64, String), Failure> {
    let mut record = service.audit_record().await?;
    // Nothing is written over before it is known that there is something to read.
    let out = &mut open(service, output)?;
    let (place, hash) = &record.head;
    writeln!(
        out,
        "Written by govforge {} from its ledger, whose chain holds {place} event(s) and ends with \
         `{hash}`. Times are in UTC. `govforge audit verify` proves the ledger; this text is for \
         reading.",
        env!("CARGO_PKG_VERSION")
    )?;
    if record.projects.is_empty() {
        writeln!(out, "\nNo project has been registered yet.")?;
    }
    let mut count = 0;
    for project in record.projects.clone() {
        count += of_project(service, &mut record, &project, out).await?;
    }
    out.flush()?;
    Ok((count, record.head.1))
}

async fn of_project(
    service: &Service,
    record: &mut Record,
    project: &Project,
    out: &mut dyn Write,
) -> Result<i64, Failure> {
    let mut reading = service.reading(project).await?;
    writeln!(
        out,
        "\n# Audit record of {}\n\n{}, registered {}\n\n## Tasks",
        plain(&project.name),
        plain(&project.root_path),
        project.created_at
    )?;
    let mut none = "\nNone.\n";
    loop {
        let tasks = record.tasks(&mut reading).await?;
        if tasks.is_empty() {
            break;
        }
        none = "";
        for recorded in &tasks {
            task(recorded, out)?;
        }
    }
    writeln!(out, "{none}")?;
    loop {
        let decisions = record.decisions(&mut reading).await?;
        if decisions.is_empty() {
            break;
        }
        for record in &decisions {
            decision(record, &record.policy_results.iter().collect::<Vec<_>>(), out)?;
        }
    }
    writeln!(
        out,
        "## Timeline\n\nEvery event of {}, by its place in the chain.\n\n\
         | place | when | who | about | what | |\n| ---: | --- | --- | --- | --- | --- |",
        plain(&project.name)
    )?;
    let mut count = 0;
    loop {
        let events = record.events(&mut reading).await?;
        if events.is_empty() {
            return Ok(count);
        }
        for recorded in &events {
            event(recorded, out)?;
            count += 1;
        }
    }
}

fn task(recorded: &TaskRecorded, out: &mut dyn Write) -> io::Result<()> {
    let TaskRecorded { by, task } = recorded;
    writeln!(
        out,
        "\n### {} {}\n\n**{}**, risk {}, by {}, {}",
        plain(&task.display_id),
        plain(&task.title),
        words(task.status),
        task.risk_level,
        plain(by.as_deref().unwrap_or("nobody named")),
        task.created_at
    )?;
    match &task.description {
        Some(text) => write!(out, "\n{}", quoted(text)),
        None => Ok(()),
    }
}

fn event(recorded: &EventRecorded, out: &mut dyn Write) -> io::Result<()> {
    let event = &recorded.signed.event;
    writeln!(
        out,
        "| {} | {} | {} | {} | {} | {} |",
        recorded.place.map_or("-".to_owned(), |place| place.to_string()),
        event.created_at,
        plain(recorded.signed.actor.as_deref().unwrap_or("-")),
        plain(recorded.signed.about.as_deref().unwrap_or("-")),
        plain(&event.event_type),
        plain(&events::words(&recorded.signed))
    )
}
