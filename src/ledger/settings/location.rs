//! Where the program stands: the working directory, the ledger file and the current project,
//! as the environment and the directories tell.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::{Code, Refusal};
use crate::git;

/// The directory that a project keeps its ledger and settings in.
pub const DIRECTORY: &str = ".govforge";

/// The ledger's name in [`DIRECTORY`].
pub const LEDGER_FILE: &str = "govforge.db";

/// The policies' name in [`DIRECTORY`].
pub const POLICIES_FILE: &str = "policies.toml";

/// What the environment says. Empty variables count as unset.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `GOVFORGE_DB`: a path, `sqlite:///abs/path` or `sqlite://path`.
    pub ledger: Option<OsString>,
    /// `GOVFORGE_PROJECT`: name, path or UUID of the current project.
    pub project: Option<String>,
    /// The home directory.
    pub home: Option<PathBuf>,
}

impl Environment {
    /// Reads the process's environment.
    pub fn read() -> Self {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Self {
            ledger: variable("GOVFORGE_DB"),
            project: variable("GOVFORGE_PROJECT").map(|name| name.to_string_lossy().into_owned()),
            home: std::env::home_dir().filter(|home| !home.as_os_str().is_empty()),
        }
    }
}

/// Where the program stands.
#[derive(Debug, Clone)]
pub struct Location {
    /// The working directory.
    pub directory: PathBuf,
    /// `GOVFORGE_PROJECT`.
    pub project: Option<String>,
    /// Whether `GOVFORGE_DB` chose the ledger.
    pub ledger_is_set: bool,
    /// The ledger file, or why there can be none.
    pub ledger: Result<PathBuf, Refusal>,
}

impl Location {
    /// Finds the ledger for a working directory: `GOVFORGE_DB`; else `govforge.db` in the
    /// nearest `.govforge/` at or above it, where a linked worktree counts as its main one;
    /// else in the home directory. Looks at directories only, never into the ledger.
    pub fn find(directory: PathBuf, environment: Environment) -> Self {
        let ledger = match &environment.ledger {
            Some(setting) => from_setting(setting, &directory, environment.home.as_deref()),
            None => nearest(&directory)
                .or_else(|| environment.home.as_ref().map(|home| home.join(DIRECTORY)))
                .map(|found| found.join(LEDGER_FILE))
                .map(|ledger| inside(ledger, environment.home.as_deref()))
                .unwrap_or_else(|| {
                    Err(Refusal::new(
                        Code::InvalidConfig,
                        "There is no home directory to keep a ledger in. Run `govforge init` in \
                         the repository, or set GOVFORGE_DB to the path of a file.",
                    ))
                }),
        };
        Self {
            directory,
            project: environment.project,
            ledger_is_set: environment.ledger.is_some(),
            ledger,
        }
    }
}

/// The ledger that `GOVFORGE_DB` names.
fn from_setting(
    setting: &OsString,
    directory: &Path,
    home: Option<&Path>,
) -> Result<PathBuf, Refusal> {
    let Some(text) = setting.to_str() else { return Ok(directory.join(setting)) };
    let path = match text.split_once("://") {
        None => text,
        // `sqlite+aiosqlite` and the like are how SQLAlchemy names its drivers.
        Some((scheme, rest)) if scheme == "sqlite" || scheme.starts_with("sqlite+") => rest,
        Some((scheme, _)) => {
            return Err(Refusal::by_audience(Code::InvalidConfig, |to| {
                let name = to.pick("GOVFORGE_DB", "GOVFORGE_DB or --db");
                format!(
                    "{name} names a database of the kind \"{scheme}\". The ledger is one SQLite \
                     file: set {name} to a path, or to sqlite:///absolute/path."
                )
            }));
        }
    };
    // An absolute Windows path stands behind the third slash: `sqlite:///C:/ledger.db`.
    let path = match path.strip_prefix('/') {
        Some(rest) if cfg!(windows) && rest.as_bytes().get(1) == Some(&b':') => rest,
        _ => path,
    };
    // No shell has expanded what stands in a client's configuration file.
    Ok(match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => directory.join(path),
    })
}

/// A ledger that was found, unless links lead it out of the directory that holds
/// `.govforge/`: they came with a repository, and nobody has asked for what they lead to to be
/// written. What the user keeps at home may lead anywhere.
fn inside(ledger: PathBuf, home: Option<&Path>) -> Result<PathBuf, Refusal> {
    let directory = ledger.parent().unwrap_or(&ledger);
    if directory.parent() == home {
        return Ok(ledger);
    }
    let link = [directory, &ledger].into_iter().find(|path| leads_out(path)).map(outside);
    link.map_or(Ok(ledger), Err)
}

/// Whether a path is a link that leads out of the directory above it, or to nothing.
pub fn leads_out(path: &Path) -> bool {
    let root = path.parent().and_then(|root| dunce::canonicalize(root).ok());
    let target = dunce::canonicalize(path).ok();
    path.is_symlink() && !root.zip(target).is_some_and(|(root, target)| target.starts_with(root))
}

/// The refusal of a link that [`leads_out`].
pub fn outside(link: &Path) -> Refusal {
    let message = format!(
        "{} is a link that leads out of its directory. A ledger is not written through a link \
         that a repository brings along: remove the link, or set GOVFORGE_DB to the file that is \
         meant.",
        link.display()
    );
    Refusal::new(Code::InvalidConfig, message)
}

/// The `.govforge/` for a directory.
fn nearest(directory: &Path) -> Option<PathBuf> {
    let main = main_worktree(directory).map(|root| root.join(DIRECTORY));
    main.filter(|found| found.is_dir()).or_else(|| {
        directory.ancestors().map(|above| above.join(DIRECTORY)).find(|found| found.is_dir())
    })
}

/// The root of the main worktree, if the directory lies in a linked one. A linked worktree
/// has a file `.git` at its root: only then is the repository asked.
fn main_worktree(directory: &Path) -> Option<PathBuf> {
    let git = directory.ancestors().map(|above| above.join(".git")).find(|git| git.exists())?;
    if !git.is_file() {
        return None;
    }
    let located = git::locate(directory).ok()??;
    (located.main_root != located.worktree_root).then_some(located.main_root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(setting: &str) -> Result<PathBuf, Refusal> {
        from_setting(&setting.into(), Path::new("/repos"), Some(Path::new("/home/me")))
    }

    #[test]
    fn the_setting_takes_paths_and_urls() {
        for (setting, path) in [
            ("/var/ledger.db", "/var/ledger.db"),
            ("ledger.db", "/repos/ledger.db"),
            ("sqlite:///var/ledger.db", "/var/ledger.db"),
            ("sqlite://ledger.db", "/repos/ledger.db"),
            ("sqlite+aiosqlite:///var/ledger.db", "/var/ledger.db"),
            ("~/ledger.db", "/home/me/ledger.db"),
        ] {
            assert_eq!(ledger(setting).unwrap(), Path::new(path), "{setting}");
        }
        let refusal = ledger("postgres://db/ledger").unwrap_err();
        assert_eq!(refusal.code, Code::InvalidConfig);
    }

    #[cfg(unix)]
    #[test]
    fn links_of_a_repository_do_not_lead_the_ledger_elsewhere() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().unwrap();
        let elsewhere = root.path().join("elsewhere");
        let home = root.path().join("home");
        let find = |directory: &Path| {
            let environment = Environment { home: Some(home.clone()), ..Environment::default() };
            Location::find(directory.to_owned(), environment).ledger
        };
        for path in [&elsewhere, &home, &root.path().join("a"), &root.path().join("b/.govforge")] {
            std::fs::create_dir_all(path).unwrap();
        }
        symlink(&elsewhere, root.path().join("a/.govforge")).unwrap();
        symlink("../../elsewhere/new.db", root.path().join("b/.govforge/govforge.db")).unwrap();
        for repository in ["a", "b"] {
            let refusal = find(&root.path().join(repository)).unwrap_err();
            assert_eq!(refusal.code, Code::InvalidConfig, "{repository}");
        }
        symlink(&elsewhere, home.join(".govforge")).unwrap();
        assert_eq!(find(&home).unwrap(), home.join(".govforge/govforge.db"));
    }

    #[test]
    fn the_nearest_directory_wins_over_the_home_directory() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("repository/src/deep");
        std::fs::create_dir_all(&inner).unwrap();
        let environment =
            || Environment { home: Some(root.path().join("home")), ..Environment::default() };
        let at_home = Location::find(inner.clone(), environment()).ledger.unwrap();
        assert_eq!(at_home, root.path().join("home/.govforge/govforge.db"));
        std::fs::create_dir(root.path().join("repository/.govforge")).unwrap();
        let nearest = Location::find(inner, environment()).ledger.unwrap();
        assert_eq!(nearest, root.path().join("repository/.govforge/govforge.db"));
    }
}
