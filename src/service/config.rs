//! `.govforge/config.toml`: the settings of a project and of the ledger beside it.

use std::path::Path;

use serde::Deserialize;

use super::place::DIRECTORY;
use crate::error::{Code, Error, Result};
use crate::store::ledger::Durability;

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
        let message = format!("{} {what} Correct it, then send the call again.", file.display());
        tracing::error!("{message}");
        Error::refused(Code::InvalidConfig, message)
    };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Default::default()),
        Err(error) => return Err(wrong(format!("cannot be read ({}).", error.kind()))),
    };
    let config: Config = toml::from_str(&text).map_err(|error| {
        let (line, column) = error.span().map_or((1, 1), |span| place(&text, span.start));
        // The parser quotes the file below its first line.
        let what = error.message().lines().next().unwrap_or_default().to_owned();
        wrong(format!("has a mistake in line {line}, column {column}: {what}."))
    })?;
    let blank = |text: &Option<String>| text.as_deref().is_some_and(|text| text.trim().is_empty());
    if blank(&config.project.name) || blank(&config.project.default_branch) {
        return Err(wrong("has a blank value in [project].".to_owned()));
    }
    Ok(config)
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
    fn a_mistake_is_told_with_its_place() {
        for (text, place) in [
            ("[project]\nnmae = \"shop\"\n", "line 2, column 1"),
            ("[project]\nname = 3\n", "line 2, column 8"),
            ("api_url = \n", "line 1, column 11"),
            ("[project]\nname = \" \"\n", "blank"),
            ("[ledger]\ndurability = \"fast\"\n", "line 2, column 14"),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.code(), Some(Code::InvalidConfig));
            assert!(error.to_string().contains(place), "{error}");
        }
    }
}
