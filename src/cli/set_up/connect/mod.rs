//! `govforge connect`: writes a client's configuration, so that it starts this program on this
//! ledger.

pub mod clients;
pub mod config_file;
pub mod edit;
mod json_text;
pub mod mistake;
mod toml_text;

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use strum::IntoEnumIterator as _;

use self::clients::{ClientName, Machine, Scope, Shared, Target, Wiring};
use self::config_file::ConfigFile;
use self::mistake::Mistake;
use crate::cli::Failure;
use crate::cli::terminal::screen::Screen;
use crate::domain::excerpt::{one_line, printable};
use crate::error::Error;
use crate::ledger::Service;

/// Let a client start govforge: write its configuration
///
/// Writes an entry `govforge` into the client's own configuration file, with the absolute path
/// of this program and of the ledger that is used in this directory. Everything else in the
/// file stays as it is, comments and order included, and the version before is kept: in the
/// repository's .govforge/backups/, or beside the file as FILE.govforge-backup. Running it again changes nothing. A file that is malformed is not
/// touched.
///
/// Without CLIENT it lists the clients that it finds on this machine and asks.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  govforge connect claude-code           for this repository: .mcp.json
  govforge connect codex --user          for you, everywhere: ~/.codex/config.toml
  govforge connect vscode --print        show what would be written, and where
  govforge connect claude-code --remove  take the entry out again")]
pub struct Args {
    /// The client; without one, those found are listed
    client: Option<ClientName>,
    /// In the repository, for everyone who works in it [default, where the client can]
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// In your home directory, for you in every directory
    #[arg(long)]
    user: bool,
    /// Only show the file and what would be written
    #[arg(long)]
    print: bool,
    /// Take the entry out instead
    #[arg(long)]
    remove: bool,
}

/// Connects the client, and says what was done.
///
/// # Errors
/// Refuses a client that has no file for the scope, a malformed file, and one that cannot be
/// read or written; a closed output.
pub fn run(service: &Service, args: &Args) -> Result<(), Failure> {
    let machine = machine(service)?;
    let clients = match args.client {
        Some(client) => vec![client],
        None => ask(&machine)?,
    };
    let mut screen = Screen::stdout();
    if clients.is_empty() {
        return Ok(screen.line("Nothing was changed.")?);
    }
    for client in clients {
        let (scope, targets) = targets(client, args, &machine)?;
        for target in &targets {
            let lines = match args.remove {
                true => remove(client, target, &machine, args.print)?,
                false => connect(service, client, target, &machine, args.print)?,
            };
            for line in lines {
                screen.line(printable(&line))?;
            }
        }
        let advice = client.advice(scope).filter(|_| !args.print && !args.remove);
        if let Some(advice) = advice {
            screen.line(advice)?;
        }
    }
    if !args.print && !args.remove {
        screen.line("Next: start the client anew; `govforge doctor` checks the whole way.")?;
    }
    Ok(())
}

/// The machine as the verbs see it.
///
/// # Errors
/// Refuses to go on without a home directory, or where the working directory may not be read.
pub fn machine(service: &Service) -> Result<Machine, Failure> {
    let home = std::env::home_dir().filter(|home| home.is_absolute()).ok_or_else(|| {
        Failure::Refused("There is no home directory: set HOME to its absolute path.".to_owned())
    })?;
    let project = service.working_tree()?.map(|tree| tree.root);
    Ok(Machine::read(home, project))
}

/// The ledger by its resolved, absolute path, also while it does not exist.
///
/// # Errors
/// Refuses where the setting that names the ledger is wrong.
pub fn ledger(service: &Service) -> Result<PathBuf, Failure> {
    let path = service.location().ledger.clone().map_err(Error::from)?;
    Ok(resolved(&path))
}

/// A path without links and dots, as far as it exists.
pub fn resolved(path: &Path) -> PathBuf {
    if let Ok(path) = dunce::canonicalize(path) {
        return path;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolved(parent).join(name),
        _ => path.to_owned(),
    }
}

fn targets(
    client: ClientName,
    args: &Args,
    machine: &Machine,
) -> Result<(Scope, Vec<Target>), Failure> {
    let in_project = client.targets(Scope::Project, machine);
    if args.user || (in_project.is_empty() && !args.project) {
        return Ok((Scope::User, client.targets(Scope::User, machine)));
    }
    if !in_project.is_empty() {
        return Ok((Scope::Project, in_project));
    }
    Err(Failure::Refused(match machine.project {
        Some(_) => format!(
            "{client} has no configuration in a repository. Leave out --project, or say --user."
        ),
        None => "This directory is in no git repository. Go to the repository, or say --user."
            .to_owned(),
    }))
}

fn connect(
    service: &Service,
    client: ClientName,
    target: &Target,
    machine: &Machine,
    only_print: bool,
) -> Result<Vec<String>, Failure> {
    let ledger = ledger(service)?;
    let wiring = Wiring { binary: text(&this_program()?)?, ledger: text(&ledger)? };
    let entry = client.entry(target.scope, &wiring);
    let file = ConfigFile::read(&target.file)?;
    let before = file.text.as_deref().unwrap_or_default();
    let after = with_final_newline(
        target
            .syntax
            .set(before, &target.keys, &entry)
            .map_err(|mistake| refuse(&file, mistake))?,
        before,
    );
    if only_print {
        // The entry alone: the rest of the file may hold what is nobody's business.
        let alone = target.syntax.set("", &target.keys, &entry);
        let alone = alone.map_err(|mistake| refuse(&file, mistake))?;
        return Ok(vec![format!("In {}:", file.path.display()), alone.trim_end().to_owned()]);
    }
    let mut lines = vec![];
    if after == before && file.text.is_some() {
        lines.push(format!("{} has it already: nothing was changed.", file.path.display()));
        return Ok(lines);
    }
    let backup = file.replace(&after, machine.project.as_deref())?;
    lines.push(format!("Connected {client} in {}", file.path.display()));
    if let Some(backup) = backup {
        lines.push(format!("The version before is {}", backup.display()));
    }
    lines.push(format!("The ledger is {}", ledger.display()));
    if !ledger.exists() {
        lines.push("It does not exist yet: `govforge init` makes the repository's own.".to_owned());
    }
    lines.push(match target.scope {
        Scope::Project => {
            "It names paths of this machine. Before you commit it, let it start plain `govforge` and \
             take GOVFORGE_DB out."
                .to_owned()
        }
        Scope::User => {
            "All your sessions of this client use this ledger, in every directory.".into()
        }
    });
    Ok(lines)
}

fn remove(
    client: ClientName,
    target: &Target,
    machine: &Machine,
    only_print: bool,
) -> Result<Vec<String>, Failure> {
    let file = ConfigFile::read(&target.file)?;
    let before = file.text.as_deref().unwrap_or_default();
    let shown = file.path.display();
    let keys = target.keys.join(".");
    // An absent or empty file has no entry, whatever its syntax.
    let after = match before.trim().is_empty() {
        true => before.to_owned(),
        false => {
            target.syntax.remove(before, &target.keys).map_err(|mistake| refuse(&file, mistake))?
        }
    };
    if after == before {
        return Ok(vec![format!("{shown} has no {keys}: nothing was changed.")]);
    }
    let shared = (target.scope == Scope::Project).then(|| client.shares_its_file()).flatten();
    if let Some(Shared { with, owner }) = shared
        && owner != client
    {
        return Err(Failure::Refused(format!(
            "The {keys} in {shown} is {with}'s too, and taking it out would disconnect both. \
             Nothing was changed: `govforge connect {owner} --remove` does it for both."
        )));
    }
    if only_print {
        return Ok(vec![format!("Would remove {keys} from {shown}")]);
    }
    let mut lines = vec![format!("Removed {keys} from {shown}")];
    if let Some(Shared { with, .. }) = shared {
        lines.push(format!("It was {with}'s too: both are disconnected here."));
    }
    if let Some(backup) = file.replace(&after, machine.project.as_deref())? {
        lines.push(format!("The version before is {}", backup.display()));
    }
    Ok(lines)
}

fn refuse(file: &ConfigFile, Mistake(mistake): Mistake) -> Failure {
    Failure::Refused(format!(
        "{} {mistake}. It was not touched: correct it, then run this again.",
        file.path.display()
    ))
}

/// A file that is made ends its last line.
fn with_final_newline(text: String, before: &str) -> String {
    match before.trim().is_empty() && !text.ends_with('\n') {
        true => text + "\n",
        false => text,
    }
}

fn this_program() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::Fault(format!("The path of this program is unknown: {error}")))
}

fn text(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::Refused(format!(
            "{} is not UTF-8 text, which a configuration file has to be. Rename it.",
            path.display()
        ))
    })
}

/// Lists the clients that are found, and lets a person at a terminal choose.
fn ask(machine: &Machine) -> Result<Vec<ClientName>, Failure> {
    let found: Vec<_> = ClientName::iter().filter(|client| client.is_installed(machine)).collect();
    let all = ClientName::iter().map(|client| client.to_string()).collect::<Vec<_>>().join(", ");
    if found.is_empty() {
        return Err(Failure::Refused(format!(
            "No client was found on this machine. Name one: `govforge connect CLIENT`, which is \
             one of {all}."
        )));
    }
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        let names: Vec<_> = found.iter().map(ToString::to_string).collect();
        return Err(Failure::Refused(format!(
            "Name the client: `govforge connect CLIENT`. Found on this machine: {}. Known: {all}.",
            names.join(", ")
        )));
    }
    let mut out = anstream::stdout().lock();
    writeln!(out, "Found on this machine:")?;
    for (number, client) in found.iter().enumerate() {
        writeln!(out, "  {}  {client}", number + 1)?;
    }
    write!(out, "Connect which? Numbers, `all`, or nothing to stop: ")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    chosen(&answer, &found).ok_or_else(|| {
        Failure::Refused(format!(
            "{} is no choice. Give numbers of the list, such as `1 3`, or `all`.",
            one_line(answer.trim())
        ))
    })
}

/// The clients that an answer chooses, each once.
fn chosen(answer: &str, found: &[ClientName]) -> Option<Vec<ClientName>> {
    if answer.trim() == "all" {
        return Some(found.to_vec());
    }
    let mut chosen = vec![];
    for word in answer.split([' ', ',']).map(str::trim).filter(|word| !word.is_empty()) {
        let client = *found.get(word.parse::<usize>().ok()?.checked_sub(1)?)?;
        if !chosen.contains(&client) {
            chosen.push(client);
        }
    }
    Some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_chooses_by_number() {
        let found = [ClientName::ClaudeCode, ClientName::Codex, ClientName::Gemini];
        assert_eq!(chosen("3, 1 3\n", &found), Some(vec![found[2], found[0]]));
        assert_eq!(chosen("all\n", &found), Some(found.to_vec()));
        assert_eq!(chosen("\n", &found), Some(vec![]));
        for wrong in ["0", "4", "codex", "1 x"] {
            assert_eq!(chosen(wrong, &found), None, "{wrong}");
        }
    }

    #[test]
    fn a_path_is_resolved_as_far_as_it_exists() {
        let directory = tempfile::tempdir().unwrap();
        let root = dunce::canonicalize(directory.path()).unwrap();
        assert_eq!(resolved(&root.join("a/b.db")), root.join("a/b.db"));
    }
}
