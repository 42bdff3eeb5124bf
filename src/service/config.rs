//! `.govforge/config.toml`: the settings of a project.

use std::path::Path;

use serde::Deserialize;

use super::place::DIRECTORY;
use crate::error::{Code, Error, Result};

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
    let file = root.join(DIRECTORY).join(FILE);
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
    Ok(config.project)
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

    fn read(text: &str) -> Result<ProjectSettings> {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join(DIRECTORY)).unwrap();
        std::fs::write(root.path().join(DIRECTORY).join(FILE), text).unwrap();
        project_settings(root.path())
    }

    #[test]
    fn the_files_of_the_original_stay_valid() {
        let text = "api_url = \"http://localhost:8000\"\n[project]\nname = \"shop\"\n\
                    default_branch = \"trunk\"\n";
        let expected =
            ProjectSettings { name: Some("shop".into()), default_branch: Some("trunk".into()) };
        assert_eq!(read(text).unwrap(), expected);
        assert_eq!(read("").unwrap(), ProjectSettings::default());
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        for (text, place) in [
            ("[project]\nnmae = \"shop\"\n", "line 2, column 1"),
            ("[project]\nname = 3\n", "line 2, column 8"),
            ("api_url = \n", "line 1, column 11"),
            ("[project]\nname = \" \"\n", "blank"),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.code(), Some(Code::InvalidConfig));
            assert!(error.to_string().contains(place), "{error}");
        }
    }
}
