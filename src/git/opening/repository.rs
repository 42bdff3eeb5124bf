//! Opening a repository: only the project's own, and only kinds that can be read whole.

use std::path::{Path, PathBuf};

use git2::ErrorCode;

use super::layout::Layout;
use super::libgit2::open_exactly;
use crate::domain::excerpt::shell_word;
use crate::error::{Code, Error, Result};
use crate::git::refusals;

/// All extensions that can be read, as the configuration names them.
const READABLE_EXTENSIONS: [&str; 7] = [
    "noop",
    "noop-v1",
    "objectformat",
    "partialclone",
    "preciousobjects",
    "relativeworktrees",
    "worktreeconfig",
];

/// A repository that the project may use, open for reading.
pub struct Repository {
    pub(in crate::git) inner: git2::Repository,
    root: PathBuf,
}

impl std::fmt::Debug for Repository {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repository").field("root", &self.root).finish_non_exhaustive()
    }
}

impl Repository {
    /// Opens the repository at `repo_path`, as the agent named it; a relative path counts
    /// from `base`.
    ///
    /// After symlinks are resolved it must be the working tree at `project_root`, one of its
    /// linked worktrees, or a repository inside `project_root` whose git directory lies there
    /// too (or in the project's own git directory, where submodules keep theirs).
    ///
    /// # Errors
    ///
    /// `PathOutsideRepo` for any other place; `NotARepository` if the path is not the root
    /// of a repository; `UnreadableRepository` for a kind that cannot be read (reftable,
    /// unknown extensions) or that belongs to another user; `InvalidInput` for a blank path.
    pub fn open(repo_path: &str, base: &Path, project_root: &Path) -> Result<Self> {
        if repo_path.trim().is_empty() {
            return Err(Error::refused_by_audience(Code::InvalidInput, |to| {
                format!(
                    "{} is blank. Name the root of the project's repository: {}.",
                    to.pick("repo_path", "The path"),
                    project_root.display()
                )
            }));
        }
        let project = dunce::canonicalize(project_root).map_err(|_| {
            Error::refused(
                Code::NotARepository,
                format!(
                    "the project's root {} does not exist any more, or may not be read. \
                     Move it back, or put a link there to where it is now.",
                    project_root.display()
                ),
            )
        })?;
        let path = resolve(repo_path, base, &project)?;
        let layout = in_scope(repo_path, &path, &project)?;
        let inner = open_git(&layout)?;
        Ok(Self { inner, root: layout.root })
    }

    /// The root of the working tree (of the repository, if bare), resolved: what the ledger
    /// keeps as `repo_path`.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The branch checked out, also one without a commit; `None` when detached.
    pub fn branch(&self) -> Option<String> {
        let head = self.inner.find_reference("HEAD").ok()?;
        let branch = head.symbolic_target_bytes()?.strip_prefix(b"refs/heads/")?;
        Some(String::from_utf8_lossy(branch).into_owned())
    }
}

fn resolve(repo_path: &str, base: &Path, project: &Path) -> Result<PathBuf> {
    let path = base.join(repo_path);
    dunce::canonicalize(&path).map_err(|_| {
        let place = match Path::new(repo_path).is_absolute() {
            true => String::new(),
            false => format!(" ({})", path.display()),
        };
        Error::refused_by_audience(Code::NotARepository, |to| {
            format!(
                "{}`{repo_path}`{place} does not exist, or may not be read. Name the root of the \
                 project's repository: {}.",
                to.parameter("repo_path"),
                project.display()
            )
        })
    })
}

/// Finds the repository at `path` and decides whether the project may use it.
fn in_scope(repo_path: &str, path: &Path, project: &Path) -> Result<Layout> {
    let own = Layout::at(project);
    let outside = || {
        Error::refused_by_audience(Code::PathOutsideRepo, |to| {
            format!(
                "{}`{repo_path}` leads to {}, which is not part of the project at {}. Accepted \
                 are that project's root, its linked worktrees, and repositories inside it.",
                to.parameter("repo_path"),
                path.display(),
                project.display()
            )
        })
    };
    let inside = path.starts_with(project);
    let Some(layout) = Layout::at(path) else {
        let holder = path.ancestors().skip(1).find_map(Layout::at);
        return match holder {
            Some(holder) if inside || is_worktree_of(&holder, own.as_ref()) => {
                Err(not_the_root(repo_path, &holder, project))
            }
            _ if inside => Err(not_a_repository(repo_path, path)),
            _ => Err(outside()),
        };
    };
    if path == project {
        return Ok(layout);
    }
    let git_dir_inside = |place: &Path| {
        place.starts_with(project)
            || own.as_ref().is_some_and(|own| place.starts_with(&own.common_dir))
    };
    let allowed = if inside {
        git_dir_inside(&layout.git_dir) && git_dir_inside(&layout.common_dir)
    } else {
        is_worktree_of(&layout, own.as_ref())
    };
    if allowed { Ok(layout) } else { Err(outside()) }
}

/// Whether it shares the project's own git directory.
fn is_worktree_of(layout: &Layout, own: Option<&Layout>) -> bool {
    own.is_some_and(|own| layout.common_dir == own.common_dir)
}

fn not_the_root(repo_path: &str, holder: &Layout, project: &Path) -> Error {
    let root = holder.root.display();
    let is_part = project != holder.root && project.starts_with(&holder.root);
    Error::refused_by_audience(Code::NotARepository, |to| {
        let next = match is_part {
            true => format!(
                "The project at {} is only a part of that repository: register the whole with \
                 `govforge init {}`.",
                project.display(),
                shell_word(&root)
            ),
            false => to.pick(format!("Pass repo_path `{root}`."), format!("Go to {root}.")),
        };
        format!(
            "{}`{repo_path}` is not the root of a repository; it lies in the repository {root}. \
             {next}",
            to.parameter("repo_path")
        )
    })
}

fn not_a_repository(repo_path: &str, path: &Path) -> Error {
    Error::refused_by_audience(Code::NotARepository, |to| {
        format!(
            "{}`{repo_path}` ({}) is not a git repository, and in none. Name a directory that \
             holds one, or make one with `git init {}`.",
            to.parameter("repo_path"),
            path.display(),
            shell_word(path.display())
        )
    })
}

fn open_git(layout: &Layout) -> Result<git2::Repository> {
    let repository = open_exactly(&layout.root).map_err(|error| cannot_open(layout, &error))?;
    // What was decided on must be what was opened.
    if dunce::canonicalize(repository.commondir()).ok().as_ref() != Some(&layout.common_dir) {
        return Err(refusals::damaged(&layout.root, "its `.git` file"));
    }
    // Configuration (core.worktree) can move the working tree away from the `.git` beside it.
    let root = repository.workdir().unwrap_or_else(|| repository.path());
    if dunce::canonicalize(root).ok().as_ref() == Some(&layout.root) {
        return Ok(repository);
    }
    Err(Error::refused(
        Code::NotARepository,
        format!(
            "{} is not the root of its repository's working tree, which is configured as {}. \
             Name the root of the project's repository.",
            layout.root.display(),
            root.display()
        ),
    ))
}

pub(in crate::git) fn cannot_open(layout: &Layout, error: &git2::Error) -> Error {
    let root = layout.root.display();
    let word = shell_word(&root);
    let unreadable = |message: String| Error::refused(Code::UnreadableRepository, message);
    if error.code() == ErrorCode::Owner {
        return unreadable(format!(
            "the repository {root} belongs to another user, and git data of others is not \
             trusted unasked. If you trust it, allow it with `git config --global --add \
             safe.directory {word}`, then retry."
        ));
    }
    match unreadable_extension(&layout.common_dir) {
        Some((name, value)) if name == "refstorage" => unreadable(format!(
            "the repository {root} keeps its references in the format `{value}` \
             (extensions.refstorage), which cannot be read here. Convert it with \
             `git -C {word} refs migrate --ref-format=files`, then retry."
        )),
        Some((name, value)) => unreadable(format!(
            "the repository {root} uses the git extension `extensions.{name}` (set to \
             `{value}`), which cannot be read here. Make a clone without it and use that, or \
             unset it if nothing depends on it."
        )),
        None => refusals::damaged(&layout.root, "its configuration or layout"),
    }
}

/// The first extension of the configuration that cannot be read, and its value.
fn unreadable_extension(common_dir: &Path) -> Option<(String, String)> {
    let config = git2::Config::open(&common_dir.join("config")).ok()?;
    let mut found = None;
    let entries = config.entries(Some(r"^extensions\.")).ok()?;
    entries
        .for_each(|entry| {
            let Ok(name) = entry.name() else { return };
            let name = name.trim_start_matches("extensions.").to_owned();
            let value = entry.value().unwrap_or_default().to_owned();
            let readable = match name.as_str() {
                "objectformat" => matches!(value.as_str(), "sha1" | "sha256"),
                known => READABLE_EXTENSIONS.contains(&known),
            };
            if !readable && found.is_none() {
                found = Some((name, value));
            }
        })
        .ok()?;
    found
}
