//! Projects: which one a path belongs to, and how one is registered.

use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::domain::access::UseCase;
use crate::domain::entity::Project;
use crate::domain::excerpt::{quoted, shell_word};
use crate::error::{Code, Error, Result, in_words};
use crate::git::{self, Located};
use crate::ledger::record::write::Write;
use crate::ledger::settings::config::{self, ProjectSettings};
use crate::ledger::settings::location::{
    DIRECTORY, LEDGER_FILE, POLICIES_FILE, leads_out, outside,
};
use crate::ledger::work::references::vanished;
use crate::ledger::{Service, path_text};
use crate::policy::PolicySet;
use crate::store;
use crate::store::engine::Connection;

/// Taken where no branch is checked out and the settings name none.
const DEFAULT_BRANCH: &str = "main";

/// Keeps the ledger and SQLite's side files out of git; the policies belong in it.
const GITIGNORE: &str = "govforge.db\ngovforge.db-*\n";

/// What [`Service::init`] did.
#[derive(Debug, Clone)]
pub struct Initialised {
    /// The project, as it stands in the ledger.
    pub project: Project,
    /// The ledger file.
    pub ledger: PathBuf,
    /// The files that were made; those that were there stay as they are.
    pub created: Vec<PathBuf>,
    /// Whether the project was not registered before.
    pub registered: bool,
}

/// The project that a path belongs to.
pub(in crate::ledger) enum Found {
    Registered(Project),
    /// None yet, but a repository that carries `.govforge/`.
    Registrable(Located),
}

impl Service {
    /// Makes `.govforge/` in the repository that holds `path`, and registers its project.
    /// Whatever is there already stays as it is.
    ///
    /// # Errors
    ///
    /// Refuses a path outside any repository, and one that cannot be written to.
    pub async fn init(&self, path: &Path, name: Option<&str>) -> Result<Initialised> {
        let path = self.location.directory.join(path);
        let path = dunce::canonicalize(&path).unwrap_or(path);
        let located = git::locate(&path)?.ok_or_else(|| {
            Error::refused(
                Code::NotARepository,
                format!(
                    "{} is not in a git repository. Run `git init` there first, or name the \
                     repository: `govforge init PATH`.",
                    path.display()
                ),
            )
        })?;
        let root = &located.main_root;
        let directory = root.join(DIRECTORY);
        let ledger = directory.join(LEDGER_FILE);
        if let Some(link) = [&directory, &ledger].into_iter().find(|path| leads_out(path)) {
            return Err(outside(link).into());
        }
        let settings = config::project_settings(root)?;
        // The ledger in the repository, whatever lies above it, unless the user set another.
        let service = self.beginning(match self.location.ledger_is_set {
            true => self.location.ledger.clone()?,
            false => ledger,
        });
        service.ledger.check(UseCase::RegisterProject).await?;
        std::fs::create_dir_all(&directory).map_err(|error| unwritable(&directory, &error))?;
        let mut created = Vec::new();
        for (file, text) in [(POLICIES_FILE, PolicySet::EXAMPLE), (".gitignore", GITIGNORE)] {
            let file = directory.join(file);
            if create(&file, text)? {
                created.push(file);
            }
        }
        if !service.ledger.exists() {
            created.push(service.ledger.path().to_owned());
        }
        let mut write = service.begin(UseCase::RegisterProject).await?;
        let known = store::ledger::projects::by_root(write.connection(), &path_text(root)).await?;
        let registered = known.is_none();
        let project = match known {
            Some(project) => project,
            None => register(&mut write, &located, settings, name).await?,
        };
        write.commit().await?;
        // Whoever copies or commits the file now gets all of it.
        service.close().await;
        Ok(Initialised { project, ledger: service.ledger.path().to_owned(), created, registered })
    }

    /// The project of `project_path`, registered now if its repository carries `.govforge/`.
    pub(in crate::ledger) async fn project_or_register(
        &self,
        write: &mut Write<'_>,
        project_path: &str,
    ) -> Result<Project> {
        match self.find_project(write.connection(), project_path).await? {
            Found::Registered(project) => Ok(project),
            Found::Registrable(located) => {
                let settings = config::project_settings(&located.main_root)?;
                register(write, &located, settings, None).await
            }
        }
    }

    /// The project that `project_path` belongs to: by its stored root; by the path after
    /// symlinks are resolved; by the nearest registered directory above; in a linked worktree
    /// by the main one. A repository of its own that carries `.govforge/` comes before
    /// whatever is registered above it.
    ///
    /// # Errors
    ///
    /// Refuses a path that belongs to no project, naming the registered ones.
    pub(in crate::ledger) async fn find_project(
        &self,
        connection: &mut Connection,
        project_path: &str,
    ) -> Result<Found> {
        let given = project_path.trim();
        // A directory's name may end with a blank, and so may a path that was copied.
        let spellings = [project_path, given];
        for spelling in &spellings[usize::from(project_path == given)..] {
            if let Some(project) = store::ledger::projects::by_root(connection, spelling).await? {
                return Ok(Found::Registered(project));
            }
            if let Ok(path) = dunce::canonicalize(self.location.directory.join(spelling))
                && let Some(found) = project_at(connection, &path).await?
            {
                return Ok(found);
            }
        }
        Err(unregistered(connection, given, &self.location.directory.join(given)).await?)
    }

    /// The current project: the one `GOVFORGE_PROJECT` names, else the one that contains the
    /// working directory; `None` if that is none.
    ///
    /// # Errors
    ///
    /// Refuses a `GOVFORGE_PROJECT` that names no registered project.
    pub(in crate::ledger) async fn current_project(
        &self,
        connection: &mut Connection,
    ) -> Result<Option<Project>> {
        let Some(setting) = &self.location.project else {
            return Ok(match project_at(connection, &self.here()).await? {
                Some(Found::Registered(project)) => Some(project),
                _ => None,
            });
        };
        if let Ok(id) = Uuid::try_parse(setting)
            && let Some(project) = store::ledger::projects::by_id(connection, id).await?
        {
            return Ok(Some(project));
        }
        let named: Vec<Project> = store::ledger::projects::all(connection)
            .await?
            .into_iter()
            .filter(|project| project.name == *setting)
            .collect();
        match named.as_slice() {
            [] => {}
            [project] => return Ok(Some(project.clone())),
            several => {
                let roots: Vec<&str> = several.iter().map(|one| one.root_path.as_str()).collect();
                return Err(Error::refused(
                    Code::InvalidConfig,
                    format!(
                        "GOVFORGE_PROJECT is set to {}, the name of several projects. Set it to \
                         the path of one: {}.",
                        quoted(setting),
                        roots.join(", ")
                    ),
                ));
            }
        }
        match self.find_project(connection, setting).await {
            Ok(Found::Registered(project)) => Ok(Some(project)),
            Ok(Found::Registrable(_)) => Ok(None),
            Err(Error::Refused(refusal)) => {
                Err(Error::refused_by_audience(Code::InvalidConfig, |to| {
                    format!(
                        "GOVFORGE_PROJECT is set to a project that is not there. {}",
                        refusal.told(to)
                    )
                }))
            }
            Err(fault) => Err(fault),
        }
    }

    /// The project of that UUID.
    ///
    /// # Errors
    ///
    /// Refuses one that is not registered.
    pub(in crate::ledger) async fn project_by_id(
        &self,
        connection: &mut Connection,
        project_id: &str,
    ) -> Result<Project> {
        let project = match Uuid::try_parse(project_id.trim()) {
            Ok(id) => store::ledger::projects::by_id(connection, id).await?,
            Err(_error) => None,
        };
        match project {
            Some(project) => Ok(project),
            None => {
                let known = known_projects(connection).await?;
                Err(Error::refused(
                    Code::ProjectNotFound,
                    format!(
                        "There is no project with the UUID {} in the ledger. {known} The list of \
                         resources holds the URIs with their UUIDs.",
                        quoted(project_id)
                    ),
                ))
            }
        }
    }

    /// The project that a decision belongs to.
    pub(in crate::ledger) async fn project_of(
        &self,
        connection: &mut Connection,
        project_id: Uuid,
    ) -> Result<Project> {
        store::ledger::projects::by_id(connection, project_id).await?.ok_or_else(vanished)
    }

    /// Against which directory `path`, if it is relative, is meant in a call about `project`: the
    /// working directory if it belongs to the project, else the project's root.
    pub(in crate::ledger) async fn base_for(
        &self,
        connection: &mut Connection,
        project: &Project,
        path: &str,
    ) -> Result<PathBuf> {
        if Path::new(path.trim()).is_absolute() {
            return Ok(PathBuf::from(&project.root_path));
        }
        let here = self.here();
        Ok(match project_at(connection, &here).await? {
            Some(Found::Registered(current)) if current.id == project.id => here,
            _ => PathBuf::from(&project.root_path),
        })
    }

    /// The working directory, after symlinks are resolved.
    fn here(&self) -> PathBuf {
        dunce::canonicalize(&self.location.directory)
            .unwrap_or_else(|_error| self.location.directory.clone())
    }
}

/// The project at a resolved path.
async fn project_at(connection: &mut Connection, path: &Path) -> Result<Option<Found>> {
    let mut registered = registered_above(connection, path).await?;
    // A repository that cannot be read still belongs to what is registered above it.
    let located = git::locate(path).ok().flatten();
    if let Some(located) = located {
        if registered.is_none() {
            registered = registered_above(connection, &located.main_root).await?;
        }
        let carries = located.main_root.join(DIRECTORY).is_dir();
        let own = registered
            .as_ref()
            .is_none_or(|project| is_below(&located.main_root, Path::new(&project.root_path)));
        if carries && own {
            return Ok(Some(Found::Registrable(located)));
        }
    }
    Ok(registered.map(Found::Registered))
}

fn is_below(path: &Path, root: &Path) -> bool {
    path != root && path.starts_with(root)
}

/// The nearest project at or above a path.
async fn registered_above(connection: &mut Connection, path: &Path) -> Result<Option<Project>> {
    // A root is text: a path that is none can only be mistaken for another.
    let above: Vec<&str> = path.ancestors().filter_map(Path::to_str).collect();
    store::ledger::projects::nearest(connection, &above).await
}

/// Registers the repository: the name is the given one, else that of the settings, else that
/// of the directory; the default branch that of the settings, else the one checked out.
async fn register(
    write: &mut Write<'_>,
    located: &Located,
    settings: ProjectSettings,
    name: Option<&str>,
) -> Result<Project> {
    let root = &located.main_root;
    if root.to_str().is_none() {
        return Err(Error::invalid(format!(
            "The repository {} has a path that is not UTF-8 text, by which the ledger could not \
             find it again. Rename its directory, then register it.",
            root.display()
        )));
    }
    let directory_name = root.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .or(settings.name)
        .or(directory_name)
        .unwrap_or_else(|| path_text(root));
    let project = Project {
        id: write.id(),
        name,
        root_path: path_text(root),
        default_branch: settings
            .default_branch
            .or_else(|| located.branch.clone())
            .unwrap_or_else(|| DEFAULT_BRANCH.to_owned()),
        created_at: write.now,
        updated_at: write.now,
    };
    store::ledger::projects::insert(write.connection(), &project).await?;
    Ok(project)
}

async fn unregistered(connection: &mut Connection, given: &str, path: &Path) -> Result<Error> {
    let located = git::locate(path);
    let known = known_projects(connection).await?;
    Ok(Error::refused_by_audience(Code::ProjectNotFound, |to| {
        let send = to.pick("send", "name");
        let next = match &located {
            Ok(Some(located)) => format!(
                "Register it: run `govforge init {}`, then {}.",
                shell_word(located.main_root.display()),
                to.again()
            ),
            _ if path.is_dir() => format!(
                "It is in no git repository: {send} the absolute path of the project's, which \
                 `govforge init PATH` registers."
            ),
            _ => format!(
                "No such directory is here: {send} the absolute path of the project's \
                 repository, which `govforge init PATH` registers."
            ),
        };
        format!(
            "{}{} belongs to no registered project. {next} {known}",
            to.parameter("project_path"),
            quoted(given)
        )
    }))
}

async fn known_projects(connection: &mut Connection) -> Result<String> {
    let projects = store::ledger::projects::all(connection).await?;
    if projects.is_empty() {
        return Ok("No project is registered in this ledger yet.".to_owned());
    }
    let list: Vec<String> = projects
        .iter()
        .map(|project| format!("{} ({})", project.root_path, project.name))
        .collect();
    Ok(format!("Registered are: {}.", list.join(", ")))
}

/// Writes a file that is not there yet. Returns whether it did.
fn create(file: &Path, text: &str) -> Result<bool> {
    match std::fs::OpenOptions::new().write(true).create_new(true).open(file) {
        Ok(mut opened) => {
            std::io::Write::write_all(&mut opened, text.as_bytes())
                .map_err(|error| unwritable(file, &error))?;
            Ok(true)
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(unwritable(file, &error)),
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    tracing::error!(path = %path.display(), %error, "cannot write");
    Error::refused(
        Code::UnusableLedger,
        format!("{} cannot be written ({}).", path.display(), in_words(error)),
    )
}
