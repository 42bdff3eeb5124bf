//! What the verbs need to know of a repository's configuration.

use std::path::{Path, PathBuf};

use super::layout::Layout;
use super::libgit2::open_exactly;
use super::repository::cannot_open;
use crate::error::Result;
use crate::git::refusals::damaged;

/// Where git looks for the hooks of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HooksDirectory {
    pub path: PathBuf,
    /// Whether `core.hooksPath` leads out of the working tree, to hooks of other repositories.
    pub is_shared: bool,
}

/// The hooks of the repository at `root`, which must be resolved: in `core.hooksPath`, else in
/// `hooks` beside the objects.
///
/// # Errors
///
/// Refuses a repository that cannot be opened, such as another user's.
pub fn hooks_directory(root: &Path) -> Result<HooksDirectory> {
    let layout = Layout::at(root).ok_or_else(|| damaged(root, "its `.git`"))?;
    let repository = open_exactly(&layout.root).map_err(|error| cannot_open(&layout, &error))?;
    let config = repository.config().map_err(|_error| damaged(root, "its configuration"))?;
    Ok(match config.get_path("core.hooksPath") {
        Ok(path) => {
            let path = layout.root.join(path);
            let own = path.starts_with(&layout.root) || path.starts_with(&layout.common_dir);
            HooksDirectory { path, is_shared: !own }
        }
        Err(_) => HooksDirectory { path: layout.common_dir.join("hooks"), is_shared: false },
    })
}

/// `user.name` from the settings of the repository that holds `path`, else of the user.
pub fn user_name(path: &Path) -> Option<String> {
    let layout = path.ancestors().find_map(Layout::at);
    let own = layout.map(|layout| layout.common_dir.join("config"));
    let global = [git2::Config::find_global(), git2::Config::find_xdg()];
    own.into_iter().chain(global.into_iter().flatten()).find_map(|file| {
        let name = git2::Config::open(&file).ok()?.get_string("user.name").ok()?;
        Some(name.trim().to_owned()).filter(|name| !name.is_empty())
    })
}
