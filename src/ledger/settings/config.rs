//! `.govforge/config.toml`: the settings of a project and of the ledger beside it.

use std::path::Path;

use serde::Deserialize;

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
}

impl ApprovalSettings {
    /// Whether an approval needs a run of the policies.
    pub fn asks_for_policy_checks(&self) -> bool {
        self.require.contains(&Requirement::PolicyChecks)
    }
}

/// Whether a person is asked to confirm a verdict that an agent brings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
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
                    \"no_open_disagreement\"]\n";
        let set = read(text).unwrap().approval;
        assert_eq!(set.confirm, Confirm::Always);
        let all = [Requirement::PolicyChecks, Requirement::Review, Requirement::NoOpenDisagreement];
        assert_eq!(set.require, all);
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
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.code(), Some(Code::InvalidConfig));
            assert!(error.to_string().contains(place), "{error}");
        }
    }
}
