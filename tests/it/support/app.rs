//! A scratch machine: a temporary folder with a home, repositories made by git, and the
//! environment in which the binary runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use super::server::{Client, Server};

/// Builds a scratch machine step by step; each `with_` acts on the repository made last.
pub struct TestApp {
    /// Canonical, so that what the server prints can be recognised.
    root: PathBuf,
    /// The repository made last, and the server's working directory.
    here: PathBuf,
    env: BTreeMap<String, String>,
    /// Where the ledger must be, if that is not plain.
    ledger: Option<PathBuf>,
    commits: u32,
    _folder: TempDir,
}

impl TestApp {
    /// A machine with one registered repository `shop`, on `main`, with a root commit.
    pub fn init() -> Self {
        Self::empty()
            .with_repo("shop")
            .with_commit("Start the shop", &[("README.md", Some("# Shop\n"))])
            .registered()
    }

    /// A machine without a repository.
    pub fn empty() -> Self {
        let folder = tempfile::Builder::new().prefix("govforge-it-").tempdir().unwrap();
        let root = dunce::canonicalize(folder.path()).unwrap();
        for name in ["home", "tmp"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        let here = root.join("home");
        Self { root, here, env: BTreeMap::new(), ledger: None, commits: 0, _folder: folder }
    }

    /// Makes a repository without a commit and goes there.
    pub fn with_repo(mut self, name: &str) -> Self {
        self.here = self.root.join(name);
        std::fs::create_dir_all(&self.here).unwrap();
        self.git(&["init", "-q", "--template=", "--initial-branch=main"]);
        self
    }

    /// Copies a repository that is already there and goes to the copy.
    pub fn with_copy(mut self, name: &str, of: &Path) -> Self {
        self.here = self.root.join(name);
        copy(of, &self.here);
        self
    }

    /// Commits the files; `None` removes one. Author and dates are fixed, so that the same
    /// calls give the same hashes on every machine.
    pub fn with_commit(mut self, message: &str, files: &[(&str, Option<&str>)]) -> Self {
        for (path, content) in files {
            match content {
                Some(content) => write(&self.here.join(path), content),
                None => std::fs::remove_file(self.here.join(path)).unwrap(),
            }
            self.git(&["add", "-A", "--", path]);
        }
        self.commits += 1;
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self
    }

    /// Writes a file below the machine's root, uncommitted.
    pub fn with_file(self, path: &str, content: &str) -> Self {
        write(&self.root.join(path), content);
        self
    }

    /// Sets a variable for the server.
    pub fn with_env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Sets the server's working directory, relative to the machine's root.
    pub fn in_folder(mut self, path: &str) -> Self {
        self.here = self.root.join(path);
        std::fs::create_dir_all(&self.here).unwrap();
        self
    }

    /// Says where the server must keep its ledger, relative to the machine's root.
    pub fn with_ledger(mut self, path: &str) -> Self {
        self.ledger = Some(self.root.join(path));
        self
    }

    /// Registers the repository as a person does.
    pub fn registered(self) -> Self {
        let output = self.govforge(&["init"]);
        assert!(
            output.status.success(),
            "`govforge init` failed with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        self
    }

    /// The machine's root: everything that belongs to the test lies below it.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The server's working directory.
    pub fn here(&self) -> &Path {
        &self.here
    }

    /// Whether the environment names the ledger.
    pub fn has_named_ledger(&self) -> bool {
        self.env.contains_key("GOVFORGE_DB")
    }

    /// The ledger that the server uses in its working directory.
    pub fn ledger_path(&self) -> PathBuf {
        if let Some(path) = &self.ledger {
            return path.clone();
        }
        if let Some(named) = self.env.get("GOVFORGE_DB") {
            let path = named.strip_prefix("sqlite://").unwrap_or(named);
            return self.here.join(path);
        }
        let near = self.here.ancestors().map(|folder| folder.join(".govforge"));
        let near = near.take_while(|folder| folder.starts_with(&self.root));
        let found = near.filter(|folder| folder.is_dir()).map(|folder| folder.join("govforge.db"));
        found.into_iter().next().unwrap_or_else(|| self.root.join("home/.govforge/govforge.db"))
    }

    /// Runs git in the working directory and gives what it prints.
    pub fn git(&self, arguments: &[&str]) -> String {
        let date = format!("2026-01-01T00:{:02}:00Z", self.commits % 60);
        let output = self
            .hermetic("git")
            .args(arguments)
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .output()
            .expect("the suite needs git to build its repositories");
        assert!(
            output.status.success(),
            "git {arguments:?} failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a verb of the binary to its end.
    pub fn govforge(&self, arguments: &[&str]) -> Output {
        self.command().args(arguments).stdin(Stdio::null()).output().unwrap()
    }

    /// The binary, ready to start in the working directory.
    pub fn command(&self) -> Command {
        self.hermetic(env!("CARGO_BIN_EXE_govforge"))
    }

    /// Any program in the same place and with the same environment as the server.
    pub fn hermetic(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.here).env_clear();
        for name in ["PATH", "SystemRoot", "LD_LIBRARY_PATH", "LLVM_PROFILE_FILE"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        let null = if cfg!(windows) { "NUL" } else { "/dev/null" };
        command
            .env("HOME", self.root.join("home"))
            .env("USERPROFILE", self.root.join("home"))
            .env("TMPDIR", self.root.join("tmp"))
            .env("TEMP", self.root.join("tmp"))
            .env("GIT_CONFIG_GLOBAL", null)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CEILING_DIRECTORIES", &self.root)
            .env("GIT_AUTHOR_NAME", "Author")
            .env("GIT_AUTHOR_EMAIL", "author@example.com")
            .env("GIT_COMMITTER_NAME", "Author")
            .env("GIT_COMMITTER_EMAIL", "author@example.com")
            .envs(&self.env);
        command
    }

    /// Starts the server and shakes hands as a client of 2025-11-25 does.
    pub fn serve(&self) -> Server {
        Server::start(self.command(), &Client::of("2025-11-25"))
    }
}

fn write(path: &Path, content: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
