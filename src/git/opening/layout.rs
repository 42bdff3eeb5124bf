//! Where a repository is, found by its files alone.
//!
//! This works for every kind of repository, also those that cannot be opened and those of
//! another user: libgit2 is only asked where the main working tree of a linked one is, and
//! may fail.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::libgit2::open_exactly;
use crate::error::{Code, Error, Result};

/// What `govforge init` and the lookup of a project need, for a path in a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The root of the working tree that holds the path (the repository itself, if bare),
    /// resolved.
    pub worktree_root: PathBuf,
    /// The root of the main working tree; equals `worktree_root` unless that is a linked one.
    pub main_root: PathBuf,
    /// The branch checked out, also one without a commit yet; `None` if detached or unknown.
    pub branch: Option<String>,
}

/// Finds the repository that holds `path`; `Ok(None)` if none does, or if the path does not
/// exist.
///
/// Needs no readable repository, only its files.
///
/// # Errors
///
/// `NotARepository` if the path exists but may not be read.
pub fn locate(path: &Path) -> Result<Option<Located>> {
    let resolved = match dunce::canonicalize(path) {
        Ok(resolved) => resolved,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(_) => {
            return Err(Error::refused(
                Code::NotARepository,
                format!(
                    "the path {} cannot be read: check that every directory on the way may be \
                     entered.",
                    path.display()
                ),
            ));
        }
    };
    Ok(resolved.ancestors().find_map(Layout::at).map(Layout::located))
}

/// A repository's places on disk, resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::git) struct Layout {
    /// The root of the working tree, or the bare repository itself.
    pub(in crate::git) root: PathBuf,
    /// The directory of this working tree's `HEAD`.
    pub(in crate::git) git_dir: PathBuf,
    /// The directory of the objects, shared by all working trees.
    pub(in crate::git) common_dir: PathBuf,
}

impl Layout {
    /// The repository whose root is exactly `path`, which must be resolved.
    pub(in crate::git) fn at(path: &Path) -> Option<Self> {
        let is_dot_git = path.file_name().is_some_and(|name| name == ".git");
        if is_dot_git && path.parent().and_then(Self::at).is_some() {
            return None;
        }
        let dot_git = path.join(".git");
        let git_dir = match fs::metadata(&dot_git) {
            Ok(meta) if meta.is_dir() => dunce::canonicalize(dot_git).ok()?,
            Ok(_) => linked(&dot_git, path)?,
            Err(_) => path.to_path_buf(),
        };
        let common_dir = match read_line(&git_dir.join("commondir")) {
            Some(common) => dunce::canonicalize(git_dir.join(common)).ok()?,
            None => git_dir.clone(),
        };
        let is_repository = fs::symlink_metadata(git_dir.join("HEAD")).is_ok()
            && common_dir.join("objects").is_dir()
            && common_dir.join("refs").exists();
        is_repository.then(|| Self { root: path.to_path_buf(), git_dir, common_dir })
    }

    fn located(self) -> Located {
        let branch = read_line(&self.git_dir.join("HEAD"))
            .and_then(|head| head.strip_prefix("ref: refs/heads/").map(str::to_owned))
            // What a reftable repository keeps there for old programs.
            .filter(|branch| branch != ".invalid");
        let main_root = if self.common_dir == self.git_dir {
            self.root.clone()
        } else {
            main_root(&self.common_dir)
        };
        Located { worktree_root: self.root, main_root, branch }
    }
}

/// The main working tree of a repository that has linked ones.
fn main_root(common_dir: &Path) -> PathBuf {
    let configured = open_exactly(common_dir)
        .ok()
        .and_then(|main| main.workdir().and_then(|root| dunce::canonicalize(root).ok()));
    let around_dot_git = || match common_dir.file_name() {
        Some(name) if name == ".git" => common_dir.parent().map(Path::to_path_buf),
        _ => None,
    };
    configured.or_else(around_dot_git).unwrap_or_else(|| common_dir.to_path_buf())
}

/// The directory that a `.git` file names.
fn linked(dot_git: &Path, root: &Path) -> Option<PathBuf> {
    let line = read_line(dot_git)?;
    let target = line.strip_prefix("gitdir:")?.trim_start();
    dunce::canonicalize(root.join(target)).ok()
}

/// The text of a file of one line.
fn read_line(file: &Path) -> Option<String> {
    // Such a file holds one path or name; anything longer is something else.
    let meta = fs::metadata(file).ok()?;
    if !meta.is_file() || meta.len() > 8192 {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}
