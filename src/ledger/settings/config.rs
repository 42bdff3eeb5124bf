//! `.govforge/config.toml`: the settings of a project and of the ledger beside it.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::domain::digest;
use crate::error::{Code, Error, Result};
use crate::ledger::settings::file;
use crate::ledger::settings::location::DIRECTORY;
use crate::store::engine::Durability;

/// The settings' name in `.govforge/`.
const FILE: &str = "config.toml";

/// The keys of the file. `api_url` is the original's, and means nothing to this program.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    #[serde(rename = "api_url")]
    _api_url: Option<String>,
    #[serde(default)]
    project: ProjectSettings,
    #[serde(default)]
    ledger: LedgerSettings,
    #[serde(default)]
    approval: ApprovalSettings,
}

/// `[approval]`: how a person's verdict is taken.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalSettings {
    /// Whether the person is asked.
    #[serde(default)]
    pub confirm: Confirm,
    /// What must hold for the diff that is attached before a decision can be approved.
    #[serde(default)]
    pub require: Vec<Requirement>,
    /// Which approvals `govforge gate` takes beside those that a person confirmed.
    #[serde(default)]
    pub gate_accepts: Vec<Unconfirmed>,
}

impl ApprovalSettings {
    /// Whether an approval needs a run of the policies.
    pub fn asks_for_policy_checks(&self) -> bool {
        self.require.contains(&Requirement::PolicyChecks)
    }

    /// The settings as a verdict's event records them: each in one spelling and order, and their
    /// digest.
    pub fn recorded(&self) -> Json {
        let sorted = |mut names: Vec<Json>| {
            names.sort_by_key(Json::to_string);
            names.dedup();
            names
        };
        let mut settings = json!({
            "confirm": self.confirm,
            "require": sorted(self.require.iter().map(|one| json!(one)).collect()),
            "gate_accepts": sorted(self.gate_accepts.iter().map(|one| json!(one)).collect()),
        });
        settings["digest"] = json!(digest::of(settings.to_string()));
        settings
    }

    /// What is looser than the default, a sentence without its full stop for each.
    pub fn looser(&self) -> Vec<&'static str> {
        let mut looser = Vec::new();
        if self.confirm == Confirm::Never {
            looser.push("confirm = \"never\": nobody is asked, an agent's word is taken");
        }
        if self.accepts(Unconfirmed::Asserted) {
            looser.push("gate_accepts \"asserted\": the gate takes an agent's word");
        }
        if self.accepts(Unconfirmed::OtherPrograms) {
            looser.push("gate_accepts \"other_programs\": the gate takes what nothing vouches for");
        }
        looser
    }

    /// Whether the gate takes approvals of that kind.
    pub fn accepts(&self, kind: Unconfirmed) -> bool {
        self.gate_accepts.contains(&kind)
    }
}

/// An approval that no person is known to have confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unconfirmed {
    /// Whoever brought it said that it is a person's.
    Asserted,
    /// Another program wrote it, such as the original.
    OtherPrograms,
}

impl Unconfirmed {
    /// Whether settings that an event recorded accept approvals of that kind.
    pub fn is_in(self, recorded: &Json) -> bool {
        recorded["gate_accepts"].as_array().is_some_and(|kinds| kinds.contains(&json!(self)))
    }
}

/// Whether a person is asked to confirm a verdict that an agent brings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confirm {
    /// Where the client can ask; elsewhere the agent's word is taken.
    #[default]
    Auto,
    /// Always; where the client cannot ask, the verdict is refused.
    Always,
    /// Never; the agent's word is taken.
    Never,
}

/// What can be asked for before an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Requirement {
    /// The policies have been run.
    PolicyChecks,
    /// Somebody who is not the author has reviewed it.
    Review,
    /// Every disagreement is settled.
    NoOpenDisagreement,
}

/// `[ledger]`: how the ledger in the same directory is kept.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LedgerSettings {
    #[serde(default)]
    durability: DurabilitySetting,
}

/// `"full"` or `"normal"`.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum DurabilitySetting {
    #[default]
    Full,
    Normal,
}

/// `[project]`: what a project is registered as.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectSettings {
    /// Instead of the directory's name.
    pub name: Option<String>,
    /// Instead of the branch that is checked out.
    pub default_branch: Option<String>,
}

/// Reads `[project]` of the project at `root`; a missing file sets nothing.
///
/// # Errors
///
/// Refuses a file with a mistake, naming its place; the mistake is also logged.
pub fn project_settings(root: &Path) -> Result<ProjectSettings> {
    read(&root.join(DIRECTORY)).map(|config| config.project)
}

/// Reads `[approval]` of the project at `root`; a missing file sets nothing.
///
/// # Errors
///
/// As [`project_settings`].
pub fn approval_settings(root: &Path) -> Result<ApprovalSettings> {
    read(&root.join(DIRECTORY)).map(|config| config.approval)
}

/// Reads `[ledger]` of the `.govforge/` that holds the ledger file; a missing file sets
/// nothing.
///
/// # Errors
///
/// As [`project_settings`].
pub fn durability(directory: &Path) -> Result<Durability> {
    Ok(match read(directory)?.ledger.durability {
        DurabilitySetting::Full => Durability::Full,
        DurabilitySetting::Normal => Durability::Normal,
    })
}

fn read(directory: &Path) -> Result<Config> {
    let file = directory.join(FILE);
    let wrong = |what: String| {
        tracing::warn!("{} {what}", file.display());
        Error::refused_by_audience(Code::InvalidConfig, |to| {
            format!("{} {what} Correct it, then {}.", file.display(), to.again())
        })
    };
    let Some(bytes) = file::read(&file).map_err(wrong)? else {
        return Ok(Default::default());
    };
    if bytes.len() as u64 > file::MAX_BYTES {
        return Err(wrong("is larger than 1 MiB.".to_owned()));
    }
    let text = String::from_utf8(bytes).map_err(|_error| wrong("is not UTF-8 text.".to_owned()))?;
    let config: Config = toml::from_str(&text).map_err(|error| {
        let (line, column) = error.span().map_or((1, 1), |span| place(&text, span.start));
        let what = without_content(error.message());
        wrong(format!("has a mistake in line {line}, column {column}: {what}."))
    })?;
    let blank = |text: &Option<String>| text.as_deref().is_some_and(|text| text.trim().is_empty());
    if blank(&config.project.name) || blank(&config.project.default_branch) {
        return Err(wrong("has a blank value in [project].".to_owned()));
    }
    Ok(config)
}

/// A message of the parser without what it quotes of the file: a repository can make the file
/// a link to any other one of the user's, and no message may show what that holds.
fn without_content(message: &str) -> String {
    // The parser quotes the file below its first line, serde what it found before the last
    // "expected"; behind that stand the program's own words.
    let message = message.lines().next().unwrap_or_default();
    let (found, expected) = match message.rsplit_once(", expected") {
        Some((found, expected)) => (found, format!(", expected{expected}")),
        None => (message, String::new()),
    };
    let kind = found.split(['`', '"', ':']).next().unwrap_or_default().trim_end();
    format!("{kind}{expected}")
}

/// Line and column, both from 1 on and the column in characters, of a byte in a text.
fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config> {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(FILE), text).unwrap();
        super::read(directory.path())
    }

    #[test]
    fn the_files_of_the_original_stay_valid() {
        let text = "api_url = \"http://localhost:8000\"\n[project]\nname = \"shop\"\n\
                    default_branch = \"trunk\"\n";
        let expected =
            ProjectSettings { name: Some("shop".into()), default_branch: Some("trunk".into()) };
        assert_eq!(read(text).unwrap().project, expected);
        assert_eq!(read("").unwrap().project, ProjectSettings::default());
    }

    #[test]
    fn no_message_shows_what_the_file_holds() {
        for text in [
            "hunter2 = 1\n",
            "\"hunter2, expected hunter2\" = 1\n",
            "\"\\u001b\\nhunter2\" = 1\n",
            "[project]\nname = { hunter2 = 1 }\n",
            "project = \"hunter2\"\n",
            "[ledger]\ndurability = \"hunter2\"\n",
            "hunter2 hunter2\n",
            "api_url = hunter2\n",
            "api_url = \"\"\napi_url = \"hunter2\"\n",
            "[hunter2]\n[hunter2]\n",
        ] {
            let message = read(text).unwrap_err().to_string();
            assert!(!message.contains("hunter2") && !message.contains('\u{1b}'), "{message}");
            assert!(message.contains("in line "), "{message}");
        }
        let message = read("colour = 1\n").unwrap_err().to_string();
        assert!(message.contains("unknown field, expected one of `api_url`"), "{message}");
    }

    #[test]
    fn approval_is_as_in_the_original_unless_set() {
        assert_eq!(read("").unwrap().approval, ApprovalSettings::default());
        let text = "[approval]\nconfirm = \"always\"\nrequire = [\"policy_checks\", \"review\", \
                    \"no_open_disagreement\"]\ngate_accepts = [\"other_programs\"]\n";
        let set = read(text).unwrap().approval;
        assert_eq!(set.confirm, Confirm::Always);
        let all = [Requirement::PolicyChecks, Requirement::Review, Requirement::NoOpenDisagreement];
        assert_eq!(set.require, all);
        assert_eq!(set.gate_accepts, [Unconfirmed::OtherPrograms]);
    }

    #[test]
    fn settings_are_recorded_alike_in_whatever_order_they_stand() {
        let recorded = |text: &str| read(text).unwrap().approval.recorded();
        let both = recorded("[approval]\nrequire = [\"review\", \"policy_checks\", \"review\"]\n");
        assert_eq!(
            both,
            recorded("[approval]\nconfirm = \"auto\"\nrequire = [\"policy_checks\", \"review\"]\n")
        );
        assert_eq!(both["require"], json!(["policy_checks", "review"]));
        assert_ne!(both["digest"], recorded("")["digest"]);
        let loose = recorded("[approval]\ngate_accepts = [\"asserted\"]\n");
        assert!(Unconfirmed::Asserted.is_in(&loose) && !Unconfirmed::OtherPrograms.is_in(&loose));
        assert!(!Unconfirmed::Asserted.is_in(&Json::Null));
    }

    #[test]
    fn what_is_looser_than_the_default_is_told() {
        let looser = |text: &str| read(text).unwrap().approval.looser().len();
        let strict = "[approval]\nconfirm = \"always\"\nrequire = [\"review\"]\n";
        assert_eq!((looser(""), looser(strict)), (0, 0));
        let loose = "[approval]\nconfirm = \"never\"\ngate_accepts = [\"asserted\", \
                     \"other_programs\"]\n";
        assert_eq!(looser(loose), 3);
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        for (text, place) in [
            ("[project]\nnmae = \"shop\"\n", "line 2, column 1"),
            ("[project]\nname = 3\n", "line 2, column 8"),
            ("api_url = \n", "line 1, column 11"),
            ("[project]\nname = \" \"\n", "blank"),
            ("[ledger]\ndurability = \"fast\"\n", "line 2, column 14"),
            ("[approval]\nconfirm = \"maybe\"\n", "line 2, column 11"),
            ("[approval]\nconfirm = true\n", "line 2, column 11"),
            ("[approval]\nrequire = [\"review\", \"tests\"]\n", "line 2, column 22"),
            ("[approval]\nrequires = []\n", "line 2, column 1"),
            ("[approval]\ngate_accepts = [\"agents\"]\n", "line 2, column 17"),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.code(), Some(Code::InvalidConfig));
            assert!(error.to_string().contains(place), "{error}");
        }
    }
}
