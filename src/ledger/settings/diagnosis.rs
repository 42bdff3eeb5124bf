//! What `govforge doctor` and `govforge connect` ask of the surroundings; nothing is written.

use std::path::{Path, PathBuf};

use super::config;
use crate::domain::access::UseCase;
use crate::domain::entity::Project;
use crate::error::Result;
use crate::git::{self, Repository};
use crate::ledger::Service;
use crate::ledger::settings::location::Location;
use crate::store;
use crate::store::events::AheadOfTime;

/// The working tree around the working directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkingTree {
    pub root: PathBuf,
    /// The branch checked out, if there is one.
    pub branch: Option<String>,
}

/// What a ledger that can be used holds.
#[derive(Debug, Clone)]
pub struct LedgerContent {
    /// Every registered project.
    pub projects: Vec<Project>,
    /// The one that the working directory or `GOVFORGE_PROJECT` chooses.
    pub current: Option<Project>,
    /// Events that are dated more than a day ahead of this machine's clock, at most 20.
    pub ahead: Vec<AheadOfTime>,
}

impl Service {
    /// Where the program stands.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The working tree around the working directory; `None` outside any repository.
    ///
    /// # Errors
    ///
    /// Refuses a directory that may not be read.
    pub fn working_tree(&self) -> Result<Option<WorkingTree>> {
        let located = git::locate(&self.location.directory)?;
        Ok(located.map(|found| WorkingTree { root: found.worktree_root, branch: found.branch }))
    }

    /// Opens the repository of a working tree as a tool call does.
    ///
    /// # Errors
    ///
    /// Refuses a repository that cannot be read.
    pub fn open_repository(&self, tree: &WorkingTree) -> Result<()> {
        Repository::open(".", &tree.root, &tree.root).map(drop)
    }

    /// Reads the settings of a project; says what is looser than the default.
    ///
    /// # Errors
    ///
    /// Refuses a file with a mistake, naming its place.
    pub fn check_settings(&self, project: &Project) -> Result<Vec<&'static str>> {
        config::approval_settings(Path::new(&project.root_path)).map(|settings| settings.looser())
    }

    /// Opens the ledger and reads its projects.
    ///
    /// # Errors
    ///
    /// As [`crate::store::engine::Ledger::read`], and a `GOVFORGE_PROJECT` that names none.
    pub async fn ledger_content(&self) -> Result<LedgerContent> {
        let mut read = self.ledger.read(UseCase::Diagnosis).await?;
        let projects = store::ledger::projects::all(&mut read).await?;
        let current = self.current_project(&mut read).await?;
        let horizon = self.clock.now().a_day_ahead();
        let ahead = store::events::dated_after(&mut read, None, horizon).await?;
        Ok(LedgerContent { projects, current, ahead })
    }
}
