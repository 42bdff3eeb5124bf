//! Whether what a client's configuration says leads to this ledger.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Outcome, told};
use crate::cli::Failure;
use crate::cli::set_up::connect::clients::{
    ClientName, Configured, LEDGER_VARIABLE, Machine, SERVER, Scope, Target,
};
use crate::cli::set_up::connect::config_file::ConfigFile;
use crate::cli::set_up::connect::mistake::Mistake;
use crate::cli::set_up::connect::resolved;
use crate::cli::set_up::mcp_client::{Client, configured};
use crate::error::{Audience, in_words};
use crate::ledger::settings::location::{Environment, Location};

/// What Cursor and VS Code replace by the directory that is open in them.
const WORKSPACE: &str = "${workspaceFolder}";

/// Against what entries are checked.
pub struct Wired<'a> {
    machine: &'a Machine,
    ledger: &'a Path,
    /// Where a client would start the server.
    directory: &'a Path,
}

impl<'a> Wired<'a> {
    /// Checks against this ledger, in this directory.
    pub fn new(machine: &'a Machine, ledger: &'a Path, directory: &'a Path) -> Self {
        let directory = machine.project.as_deref().unwrap_or(directory);
        Self { machine, ledger, directory }
    }

    /// The state of an entry; `None` if there is none.
    pub fn check(&self, client: ClientName, target: &Target) -> Option<Outcome> {
        let shown = target.file.display();
        let file = match ConfigFile::read(&target.file) {
            Ok(file) => file,
            Err(failure) => return Some(Outcome::Wrong(told(failure))),
        };
        let text = file.text.as_deref().filter(|text| !text.trim().is_empty())?;
        let entry = match target.syntax.get(text, &target.keys) {
            Ok(entry) => entry?,
            Err(Mistake(mistake)) => {
                return Some(Outcome::Wrong(format!("{shown} {mistake}. Correct it.")));
            }
        };
        let fix = match (target.is_personal_project_entry(), target.scope) {
            (true, _) => format!(
                "Run `claude mcp remove -s local {SERVER}`, then `govforge connect {client}`."
            ),
            (false, Scope::Project) => format!("Run `govforge connect {client} --project`."),
            (false, Scope::User) => format!("Run `govforge connect {client} --user`."),
        };
        let wrong = |what: String| Some(Outcome::Wrong(format!("{shown} {what}. {fix}")));
        let Some(mut configured) = client.read_entry(&entry) else {
            return wrong("has an entry that starts no command".to_owned());
        };
        for value in configured.env.values_mut() {
            *value = value.replace(WORKSPACE, &self.directory.to_string_lossy());
        }
        let Some(program) = self.machine.program(&configured.command, self.directory) else {
            return wrong(format!("starts {}, which is no program", configured.command));
        };
        match self.ledger_of(&configured) {
            Err(reason) => return wrong(format!("names no ledger that can be used: {reason}")),
            Ok(None) => {
                return Some(Outcome::Note(format!(
                    "{shown} names its ledger with a variable that only {client} knows: it was \
                     not checked."
                )));
            }
            Ok(Some(ledger)) if ledger != self.ledger => {
                return wrong(format!(
                    "uses the ledger {}, this directory {}",
                    ledger.display(),
                    self.ledger.display()
                ));
            }
            Ok(Some(_)) => {}
        }
        if target.scope == Scope::Project && !may_start(&program, &configured) {
            return Some(Outcome::Note(format!(
                "{shown} starts {}, which is not this program: a command that a repository \
                 brings along is not tried. {fix}",
                program.display()
            )));
        }
        Some(match handshake(&program, &configured, self.directory, target.scope) {
            Ok(tools) => Outcome::Fine(format!("{shown}, same ledger, handshake, {tools} tools")),
            Err(failure) => Outcome::Wrong(format!(
                "{shown} starts {}, but the handshake fails: {} {fix}",
                program.display(),
                told(failure)
            )),
        })
    }

    /// The ledger that the server would use; `None` if only the client can tell.
    fn ledger_of(&self, configured: &Configured) -> Result<Option<PathBuf>, String> {
        let setting = configured.env.get(LEDGER_VARIABLE).filter(|value| !value.is_empty());
        if setting.is_some_and(|value| value.contains("${")) {
            return Ok(None);
        }
        let environment = Environment {
            ledger: setting.map(Into::into),
            project: None,
            home: Some(self.machine.home.clone()),
        };
        let location = Location::find(self.directory.to_owned(), environment);
        location
            .ledger
            .map(|path| Some(resolved(&path)))
            .map_err(|refusal| refusal.told(Audience::Person).to_owned())
    }
}

/// Whether a command that a file of the repository names may be started: anybody may have
/// written it, and nobody has been asked.
fn may_start(program: &Path, configured: &Configured) -> bool {
    let this = std::env::current_exe().ok().map(|path| resolved(&path));
    configured.args.is_empty() && this == Some(resolved(program))
}

/// Starts the server as the client would; gives the number of its tools.
fn handshake(
    program: &Path,
    entry: &Configured,
    directory: &Path,
    scope: Scope,
) -> Result<usize, Failure> {
    let folder =
        tempfile::Builder::new().prefix("govforge-doctor-").tempdir().map_err(|error| {
            Failure::Refused(format!("No temporary folder could be made ({}).", in_words(&error)))
        })?;
    // A variable such as LD_PRELOAD makes another program of it.
    let is_harmless = |name: &String| scope == Scope::User || name.starts_with("GOVFORGE_");
    let variables: BTreeMap<String, String> =
        entry.env.clone().into_iter().filter(|(name, _)| is_harmless(name)).collect();
    let mut command = configured(program, &entry.args, &variables, directory);
    if !entry.env.contains_key(LEDGER_VARIABLE) {
        command.env_remove(LEDGER_VARIABLE);
    }
    let mut client = Client::start(command, folder.path().join("log"))?;
    if client.server() != SERVER {
        return Err(Failure::Refused("It answers as another server.".to_owned()));
    }
    let tools = client.request("tools/list", serde_json::json!({}))?;
    Ok(tools["tools"].as_array().map_or(0, Vec::len))
}
