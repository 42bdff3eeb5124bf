//! `govforge hook install`: the gate as a hook of git.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueEnum};

use crate::cli::Failure;
use crate::cli::terminal::screen::Screen;
use crate::domain::excerpt::{one_line, shell_word};
use crate::error::in_words;
use crate::git::{self, HooksDirectory};

/// Stands in every hook that this program wrote.
const MARK: &str = "# Written by `govforge hook install";
/// What is added to the name of a hook that was there before.
const BEFORE: &str = "before-govforge";
/// The scripts, in which `@GOVFORGE@` stands for the binary.
const PRE_PUSH: &str = include_str!("pre-push.sh");
const PRE_COMMIT: &str = include_str!("pre-commit.sh");

/// Let git ask the gate before a push or a commit
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Write the hook; one that is there is kept and runs first
    ///
    /// `pre-push` lets only commits out whose diff a person approved, each new one, merges too.
    /// `pre-commit` lets only a staged change be committed that has the diff of an approved
    /// decision, such as one that was approved on another branch.
    Install {
        /// Which hook
        hook: Hook,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Hook {
    PrePush,
    PreCommit,
}

/// Installs it in the repository around the working directory.
///
/// # Errors
/// Refuses a directory outside any repository, a repository that cannot be opened, hooks that are shared with other repositories,
/// and a file that cannot be written.
pub fn run(args: &Args) -> Result<(), Failure> {
    let What::Install { hook } = &args.what;
    let here = std::env::current_dir().unwrap_or_else(|_error| PathBuf::from("."));
    let refused = |message: String| Err(Failure::Refused(message));
    let Some(located) = git::locate(&here)? else {
        return refused(format!(
            "{} is in no git repository. Run this in the one that is meant.",
            here.display()
        ));
    };
    let root = &located.worktree_root;
    let HooksDirectory { path: directory, is_shared } = git::hooks_directory(root)?;
    if is_shared {
        return refused(format!(
            "core.hooksPath leads to {}, which other repositories use too. Nothing was written. \
             Set `git config core.hooksPath .git/hooks` in this repository first, or call \
             `govforge gate` from the hook there.",
            directory.display()
        ));
    }
    let (name, script) = match hook {
        Hook::PrePush => ("pre-push", PRE_PUSH),
        Hook::PreCommit => ("pre-commit", PRE_COMMIT),
    };
    let path = directory.join(name);
    let kept = write(&directory, &path, name, script).map_err(|error| {
        Failure::Refused(format!(
            "{} cannot be written ({}). Check the permissions of the file and of its directory.",
            path.display(),
            in_words(&error)
        ))
    })??;
    let mut screen = Screen::stdout();
    screen.line(one_line(&format!("Wrote {}", path.display())))?;
    if let Some(kept) = kept {
        screen.line(one_line(&format!("It runs the hook that was there: {}", kept.display())))?;
    }
    Ok(())
}

/// Writes the hook, and gives the one that was there and runs first, if there is one.
fn write(
    directory: &Path,
    path: &Path,
    name: &str,
    script: &str,
) -> std::io::Result<Result<Option<PathBuf>, Failure>> {
    fs::create_dir_all(directory)?;
    let before = directory.join(format!("{name}.{BEFORE}"));
    if fs::symlink_metadata(path).is_ok() {
        let is_own = fs::read(path).is_ok_and(|text| {
            String::from_utf8_lossy(&text).lines().any(|line| line.starts_with(MARK))
        });
        if !is_own {
            if fs::symlink_metadata(&before).is_ok() {
                return Ok(Err(Failure::Refused(format!(
                    "There is a hook {} and another one kept from before, {}. Nothing was \
                     written. Make one of the two, then repeat.",
                    path.display(),
                    before.display()
                ))));
            }
            fs::rename(path, &before)?;
        }
    }
    let binary = std::env::current_exe().unwrap_or_else(|_error| PathBuf::from("govforge"));
    let script = script.replace("@GOVFORGE@", &shell_word(binary.display()));
    // Not in place: a hook that runs just now is read to its end.
    let new = directory.join(format!("{name}.new-govforge"));
    fs::write(&new, script)?;
    make_executable(&new)?;
    fs::rename(&new, path)?;
    Ok(Ok(fs::symlink_metadata(&before).is_ok().then_some(before)))
}

#[cfg(unix)]
fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> std::io::Result<()> {
    Ok(())
}
