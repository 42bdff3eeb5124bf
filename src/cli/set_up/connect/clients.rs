//! The clients: where each keeps its configuration, and how an entry looks there. Pure, but
//! for looking whether files exist.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json, json};

use crate::cli::set_up::connect::edit::Syntax;

/// What the server is called in every client.
pub const SERVER: &str = "govforge";
/// Where an entry names the ledger.
pub const LEDGER_VARIABLE: &str = "GOVFORGE_DB";

/// Where Claude Code keeps what belongs to one person in one directory.
const PROJECTS: &str = "projects";

/// A program that starts MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, strum::Display, strum::EnumIter)]
#[strum(serialize_all = "kebab-case")]
pub enum ClientName {
    ClaudeCode,
    Codex,
    Cursor,
    Cline,
    Vscode,
    Gemini,
    Qwen,
    Copilot,
    Opencode,
}

/// For whom a configuration counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Scope {
    /// Everybody who works in the repository's directory.
    Project,
    /// One person, in every directory.
    User,
}

/// The machine as far as configuration files lie on it.
#[derive(Debug, Clone, Default)]
pub struct Machine {
    pub home: PathBuf,
    /// The working tree around the working directory.
    pub project: Option<PathBuf>,
    /// Directories that the environment moves, by variable.
    pub moved: BTreeMap<&'static str, PathBuf>,
    /// `PATH`.
    pub search_path: Option<OsString>,
}

/// One place where an entry can stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub file: PathBuf,
    pub syntax: Syntax,
    /// The way to the entry in the file.
    pub keys: Vec<String>,
    pub scope: Scope,
}

/// That two clients read one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shared {
    /// The other one, as it calls itself.
    pub with: &'static str,
    /// Whose file it is: the one that takes the entry out for both.
    pub owner: ClientName,
}

/// What an entry has to say: both absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wiring {
    pub binary: String,
    pub ledger: String,
}

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configured {
    pub command: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
}

impl Machine {
    /// Reads the environment.
    pub fn read(home: PathBuf, project: Option<PathBuf>) -> Self {
        let moved = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "APPDATA"]
            .into_iter()
            .filter_map(|name| Some((name, PathBuf::from(std::env::var_os(name)?))))
            .filter(|(_, directory)| directory.is_absolute())
            .collect();
        Self { home, project, moved, search_path: std::env::var_os("PATH") }
    }

    /// The program that a command starts: a path as seen from `base`, a bare name by `PATH`.
    pub fn program(&self, command: &str, base: &Path) -> Option<PathBuf> {
        let path = Path::new(command);
        if path.components().count() > 1 {
            return Some(base.join(path)).filter(|path| is_program(path));
        }
        std::env::split_paths(self.search_path.as_ref()?)
            .flat_map(|directory| {
                let plain = directory.join(command);
                let named = directory.join(format!("{command}{}", std::env::consts::EXE_SUFFIX));
                [plain, named]
            })
            .find(|path| is_program(path))
    }

    fn at_home(&self, path: &str) -> PathBuf {
        self.home.join(path)
    }

    /// A directory that a variable may move as a whole.
    fn directory(&self, variable: &str, default: &str) -> PathBuf {
        self.moved.get(variable).cloned().unwrap_or_else(|| self.home.join(default))
    }

    /// Where VS Code keeps what belongs to a user.
    fn vscode_user(&self) -> PathBuf {
        let above = if cfg!(target_os = "macos") {
            self.at_home("Library/Application Support")
        } else if cfg!(windows) {
            self.directory("APPDATA", "AppData/Roaming")
        } else {
            self.directory("XDG_CONFIG_HOME", ".config")
        };
        above.join("Code/User")
    }

    fn cline_extension(&self) -> PathBuf {
        self.vscode_user().join("globalStorage/saoudrizwan.claude-dev")
    }
}

impl Target {
    /// Whether it is Claude Code's third kind, for one person in one directory, which
    /// `govforge connect` does not write, and which comes before the others.
    pub fn is_personal_project_entry(&self) -> bool {
        self.keys.first().is_some_and(|key| key == PROJECTS)
    }
}

impl ClientName {
    /// Where `govforge connect` writes; empty if the client has nothing for the scope.
    pub fn targets(self, scope: Scope, machine: &Machine) -> Vec<Target> {
        let files = match scope {
            Scope::User => self.user_files(machine),
            Scope::Project => match (&machine.project, self.project_file()) {
                (Some(root), Some(file)) => vec![only_existing_variant(root.join(file))],
                _ => vec![],
            },
        };
        let keys = [self.container(), SERVER].map(str::to_owned).to_vec();
        let target = |file| Target { file, syntax: self.syntax(), keys: keys.clone(), scope };
        files.into_iter().map(target).collect()
    }

    /// Where the client may have an entry that somebody else wrote.
    pub fn places(self, machine: &Machine) -> Vec<Target> {
        let mut places = self.targets(Scope::Project, machine);
        if let (Self::ClaudeCode, Some(root)) = (self, &machine.project) {
            // `claude mcp add` without a scope: for one person in one directory.
            let root = root.to_string_lossy();
            let keys = [PROJECTS, &root, self.container(), SERVER].map(str::to_owned).to_vec();
            let user = self.targets(Scope::User, machine);
            places.extend(user.into_iter().map(|target| Target { keys: keys.clone(), ..target }));
        }
        places.extend(self.targets(Scope::User, machine));
        places
    }

    /// Whether the client seems to be on this machine.
    pub fn is_installed(self, machine: &Machine) -> bool {
        let (program, traces) = match self {
            Self::ClaudeCode => ("claude", self.user_files(machine)),
            Self::Codex => ("codex", vec![machine.directory("CODEX_HOME", ".codex")]),
            Self::Cursor => ("cursor", vec![machine.at_home(".cursor")]),
            Self::Cline => ("cline", vec![machine.at_home(".cline"), machine.cline_extension()]),
            Self::Vscode => ("code", vec![machine.vscode_user()]),
            Self::Gemini => ("gemini", vec![machine.at_home(".gemini")]),
            Self::Qwen => ("qwen", vec![machine.at_home(".qwen")]),
            Self::Copilot => ("copilot", vec![machine.at_home(".copilot")]),
            Self::Opencode => {
                ("opencode", vec![machine.directory("XDG_CONFIG_HOME", ".config").join("opencode")])
            }
        };
        traces.iter().any(|trace| trace.exists())
            || machine.program(program, &machine.home).is_some()
    }

    /// The entry that starts the server.
    pub fn entry(self, scope: Scope, wiring: &Wiring) -> Map<String, Json> {
        let Wiring { binary, ledger } = wiring;
        let env = json!({ LEDGER_VARIABLE: ledger });
        let entry = match (self, scope) {
            (Self::ClaudeCode | Self::Cursor | Self::Vscode, _) => {
                json!({"type": "stdio", "command": binary, "args": [], "env": env})
            }
            (Self::Codex | Self::Cline | Self::Gemini | Self::Qwen, _) => {
                json!({"command": binary, "args": [], "env": env})
            }
            // In the project it shares a file with Claude Code, which knows no "local".
            (Self::Copilot, Scope::Project) => json!({
                "type": "stdio", "command": binary, "args": [], "env": env, "tools": ["*"],
            }),
            (Self::Copilot, Scope::User) => json!({
                "type": "local", "command": binary, "args": [], "env": env, "tools": ["*"],
            }),
            (Self::Opencode, _) => json!({
                "type": "local", "command": [binary], "environment": env, "enabled": true,
            }),
        };
        match entry {
            Json::Object(entry) => entry,
            _ => Map::new(),
        }
    }

    /// Reads an entry; `None` if it starts no command.
    pub fn read_entry(self, entry: &Json) -> Option<Configured> {
        let texts = |value: &Json| -> Vec<String> {
            let items = value.as_array().into_iter().flatten();
            items.filter_map(Json::as_str).map(str::to_owned).collect()
        };
        let (command, args) = match &entry["command"] {
            Json::String(command) => (command.clone(), texts(&entry["args"])),
            list => {
                let mut words = texts(list).into_iter();
                (words.next()?, words.collect())
            }
        };
        let env = match self {
            Self::Opencode => &entry["environment"],
            _ => &entry["env"],
        };
        let env = env.as_object().into_iter().flatten();
        let env = env.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
        Some(Configured { command, args, env: env.collect() })
    }

    /// With whom the client shares its file in a repository, and so the entry, if with anybody.
    pub fn shares_its_file(self) -> Option<Shared> {
        let with = match self {
            Self::Copilot => "Claude Code",
            Self::ClaudeCode => "Copilot",
            _ => return None,
        };
        Some(Shared { with, owner: Self::ClaudeCode })
    }

    /// What the person has to know about the client's part, if anything.
    pub fn advice(self, scope: Scope) -> Option<&'static str> {
        match (self, scope) {
            (Self::ClaudeCode, Scope::Project) => {
                Some("Claude Code asks once whether it may start a server of .mcp.json.")
            }
            (Self::Codex, Scope::Project) => Some("Codex reads it once you trust the project."),
            (Self::Qwen, Scope::Project) => {
                Some("Qwen Code asks once whether it may start a server of the project.")
            }
            (Self::ClaudeCode, Scope::User) | (Self::Gemini | Self::Qwen, _) => {
                Some("Servers are started only in folders that you trust.")
            }
            (Self::Vscode, Scope::Project) => {
                Some("VS Code asks once whether you trust the server.")
            }
            _ => None,
        }
    }

    fn syntax(self) -> Syntax {
        match self {
            Self::Codex => Syntax::Toml,
            Self::ClaudeCode | Self::Cline => Syntax::Json,
            Self::Cursor
            | Self::Vscode
            | Self::Gemini
            | Self::Qwen
            | Self::Copilot
            | Self::Opencode => Syntax::JsonWithComments,
        }
    }

    fn container(self) -> &'static str {
        match self {
            Self::Codex => "mcp_servers",
            Self::Vscode => "servers",
            Self::Opencode => "mcp",
            _ => "mcpServers",
        }
    }

    fn project_file(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode | Self::Copilot => Some(".mcp.json"),
            Self::Codex => Some(".codex/config.toml"),
            Self::Cursor => Some(".cursor/mcp.json"),
            Self::Cline => None,
            Self::Vscode => Some(".vscode/mcp.json"),
            Self::Gemini => Some(".gemini/settings.json"),
            Self::Qwen => Some(".qwen/settings.json"),
            Self::Opencode => Some("opencode.json"),
        }
    }

    fn user_files(self, machine: &Machine) -> Vec<PathBuf> {
        let file = match self {
            Self::ClaudeCode => machine.directory("CLAUDE_CONFIG_DIR", "").join(".claude.json"),
            Self::Codex => machine.directory("CODEX_HOME", ".codex").join("config.toml"),
            Self::Cursor => machine.at_home(".cursor/mcp.json"),
            Self::Cline => {
                let settings = "settings/cline_mcp_settings.json";
                let cli = machine.at_home(".cline");
                let extension = machine.cline_extension();
                let mut files = vec![];
                if extension.exists() {
                    files.push(extension.join(settings));
                }
                if cli.exists() || files.is_empty() {
                    files.push(cli.join("data").join(settings));
                }
                return files;
            }
            Self::Vscode => machine.vscode_user().join("mcp.json"),
            Self::Gemini => machine.at_home(".gemini/settings.json"),
            Self::Qwen => machine.at_home(".qwen/settings.json"),
            Self::Copilot => machine.at_home(".copilot/mcp-config.json"),
            Self::Opencode => only_existing_variant(
                machine.directory("XDG_CONFIG_HOME", ".config").join("opencode/opencode.json"),
            ),
        };
        vec![file]
    }
}

/// OpenCode reads `opencode.jsonc` as well: where only that exists, it is the one to edit.
fn only_existing_variant(file: PathBuf) -> PathBuf {
    let with_comments = file.with_extension("jsonc");
    match file.ends_with("opencode.json") && !file.exists() && with_comments.exists() {
        true => with_comments,
        false => file,
    }
}

fn is_program(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else { return false };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    metadata.is_file() && may_run
}

#[cfg(test)]
mod tests {
    use strum::IntoEnumIterator as _;

    use super::*;

    fn machine() -> Machine {
        let project = Some(PathBuf::from("/repos/shop"));
        Machine { home: "/home/me".into(), project, ..Machine::default() }
    }

    fn files(client: ClientName, scope: Scope) -> Vec<String> {
        let targets = client.targets(scope, &machine());
        targets.iter().map(|target| target.file.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_files_are_the_clients_own() {
        for (client, project, user) in [
            (ClientName::ClaudeCode, ".mcp.json", ".claude.json"),
            (ClientName::Codex, ".codex/config.toml", ".codex/config.toml"),
            (ClientName::Cursor, ".cursor/mcp.json", ".cursor/mcp.json"),
            (ClientName::Gemini, ".gemini/settings.json", ".gemini/settings.json"),
            (ClientName::Qwen, ".qwen/settings.json", ".qwen/settings.json"),
            (ClientName::Copilot, ".mcp.json", ".copilot/mcp-config.json"),
            (ClientName::Opencode, "opencode.json", ".config/opencode/opencode.json"),
        ] {
            assert_eq!(files(client, Scope::Project), [format!("/repos/shop/{project}")]);
            assert_eq!(files(client, Scope::User), [format!("/home/me/{user}")]);
        }
        assert_eq!(files(ClientName::Cline, Scope::Project), [""; 0]);
        let cline = "/home/me/.cline/data/settings/cline_mcp_settings.json";
        assert_eq!(files(ClientName::Cline, Scope::User), [cline]);
        assert_eq!(files(ClientName::Vscode, Scope::Project), ["/repos/shop/.vscode/mcp.json"]);
    }

    #[test]
    fn variables_move_directories() {
        let mut machine = machine();
        machine.moved.insert("CODEX_HOME", "/elsewhere".into());
        machine.moved.insert("CLAUDE_CONFIG_DIR", "/claude".into());
        let file = |client: ClientName| client.targets(Scope::User, &machine)[0].file.clone();
        assert_eq!(file(ClientName::Codex), Path::new("/elsewhere/config.toml"));
        assert_eq!(file(ClientName::ClaudeCode), Path::new("/claude/.claude.json"));
    }

    #[test]
    fn every_entry_reads_back_as_what_it_was_made_of() {
        let wiring = Wiring { binary: "/bin/govforge".into(), ledger: "/l.db".into() };
        for client in ClientName::iter() {
            for scope in [Scope::Project, Scope::User] {
                let entry = Json::Object(client.entry(scope, &wiring));
                let expected = Configured {
                    command: wiring.binary.clone(),
                    args: vec![],
                    env: [(LEDGER_VARIABLE.to_owned(), wiring.ledger.clone())].into(),
                };
                assert_eq!(client.read_entry(&entry), Some(expected), "{client}");
            }
        }
        assert_eq!(ClientName::Cursor.read_entry(&json!({"url": "http://x"})), None);
    }

    #[test]
    fn the_names_on_the_command_line_are_the_names_shown() {
        for client in ClientName::iter() {
            let value = clap::ValueEnum::to_possible_value(&client).unwrap();
            assert_eq!(value.get_name(), client.to_string());
        }
    }
}
