//! The scratch machine of a fixture, as its file describes it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::app::TestApp;
use super::json::fold;
use super::ledger::Maker;

/// Repositories, files and the environment; see `tests/fixtures/README.md`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct World {
    #[serde(default, rename = "about")]
    _about: String,
    /// Repositories by name, made in this order.
    #[serde(default)]
    repos: Map<String, Value>,
    /// Files below the machine's root, outside any commit.
    #[serde(default)]
    files: Map<String, Value>,
    /// Symbolic links, by the path of the link, to a path below the root.
    #[serde(default)]
    links: BTreeMap<String, String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// The server's working directory; the first repository if absent.
    folder: Option<String>,
    /// Where the ledger must be, if that is not plain from the rest.
    ledger: Option<String>,
    #[serde(default)]
    pub before: Vec<Call>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Repo {
    #[serde(default)]
    commits: Vec<Commit>,
    /// Further git commands, run after the commits.
    #[serde(default)]
    git: Vec<Vec<String>>,
    /// Whether `govforge init` runs here.
    #[serde(default = "yes")]
    init: bool,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Commit {
    message: String,
    /// Content by path: a text, a list of lines, or null for a file to remove.
    files: Map<String, Value>,
}

/// A call that must succeed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub call: String,
    #[serde(default)]
    pub with: Value,
}

/// The repositories that fixtures copy, each made by git once.
#[derive(Default)]
pub struct Repositories(Mutex<BTreeMap<String, TestApp>>);

impl Repositories {
    fn copy_to(&self, app: TestApp, name: &str, commits: &[Commit]) -> TestApp {
        let key = serde_json::to_string(commits).unwrap();
        let mut made = self.0.lock().unwrap();
        let original = made.entry(key).or_insert_with(|| {
            commits.iter().fold(TestApp::empty().with_repo("repo"), |app, commit| {
                let files: Vec<(&str, Option<String>)> = commit
                    .files
                    .iter()
                    .map(|(path, content)| (path.as_str(), text(content)))
                    .collect();
                let files: Vec<(&str, Option<&str>)> =
                    files.iter().map(|(path, content)| (*path, content.as_deref())).collect();
                app.with_commit(&commit.message, &files)
            })
        });
        let original = original.here().to_owned();
        drop(made);
        app.with_copy(name, &original)
    }
}

impl World {
    /// Reads a world that a fixture names or writes out; the folder holds the named ones.
    pub fn read(folder: &Path, written: &Value) -> Self {
        let whole = assemble(folder, written);
        serde_json::from_value(whole).unwrap_or_else(|error| panic!("no world: {error}"))
    }

    /// Makes the machine, without the calls; the ledgers of its repositories are the maker's.
    pub fn build(&self, repositories: &Repositories, ledgers: Maker) -> TestApp {
        let mut app = TestApp::empty();
        for (name, value) in &self.env {
            let value = value.replace("<tmp>", app.root().to_str().unwrap());
            app = app.with_env(name, &value);
        }
        for (name, repo) in &self.repos {
            let repo: Repo = serde_json::from_value(repo.clone()).expect("a repository");
            app = repositories.copy_to(app, name, &repo.commits);
            for command in &repo.git {
                let root = app.root().to_str().unwrap();
                let command: Vec<String> =
                    command.iter().map(|word| word.replace("<tmp>", root)).collect();
                app.git(&command.iter().map(String::as_str).collect::<Vec<_>>());
            }
            if repo.init {
                let named = app.has_named_ledger().then(|| app.ledger_path());
                ledgers.prepare(&named.unwrap_or_else(|| app.here().join(".govforge/govforge.db")));
                app = app.registered();
            }
        }
        for (path, content) in &self.files {
            app = app.with_file(path, &text(content).expect("a file has a content"));
        }
        for (link, target) in &self.links {
            link_folder(&app.root().join(target), &app.root().join(link));
        }
        if let Some(path) = &self.ledger {
            app = app.with_ledger(path);
        }
        match self.folder.as_deref().or_else(|| self.repos.keys().next().map(String::as_str)) {
            Some(folder) => app.in_folder(folder),
            None => app,
        }
    }
}

/// A world is a name, or an object that may build on a named one (`like`): its calls follow
/// the other's, its repositories are added to the other's or change fields of theirs, and
/// every other field takes the place of the other's.
fn assemble(folder: &Path, world: &Value) -> Value {
    let own = match world.as_str() {
        Some(name) => {
            let path = folder.join("worlds").join(format!("{name}.json"));
            let text = std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("no {path:?}"));
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
        }
        None => world.clone(),
    };
    let Some(base) = own.get("like") else { return own };
    let mut whole = assemble(folder, base);
    for (field, value) in own.as_object().unwrap() {
        match (field.as_str(), whole.get_mut(field)) {
            ("like", _) => {}
            ("before", Some(calls)) => {
                let more = value.as_array().unwrap().iter().cloned();
                calls.as_array_mut().unwrap().extend(more);
            }
            ("repos", Some(repos)) => {
                for (name, repo) in value.as_object().unwrap() {
                    for (field, value) in repo.as_object().unwrap() {
                        repos[name][field] = value.clone();
                    }
                }
            }
            _ => whole[field] = value.clone(),
        }
    }
    whole
}

fn yes() -> bool {
    true
}

/// A text as it is, or a list of lines, each of which ends with a line feed.
fn text(content: &Value) -> Option<String> {
    match fold(content) {
        Value::Null => None,
        Value::Array(lines) => {
            Some(lines.iter().map(|line| format!("{}\n", line.as_str().unwrap())).collect())
        }
        other => Some(other.as_str().expect("a text").to_owned()),
    }
}

#[cfg(unix)]
fn link_folder(target: &Path, link: &Path) {
    std::os::unix::fs::symlink(target, link).unwrap();
}

#[cfg(windows)]
fn link_folder(target: &Path, link: &Path) {
    std::os::windows::fs::symlink_dir(target, link).unwrap();
}
