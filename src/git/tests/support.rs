//! Hermetic git for the tests, and what it says of a change.
#![allow(clippy::disallowed_methods, reason = "git builds and judges the test repositories")]

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::git::Repository;

/// A call that is never cancelled.
pub(super) fn go_on() -> bool {
    false
}

/// A directory with repositories, removed at the end of the test.
pub(super) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub(super) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// The path, resolved.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        dunce::canonicalize(self.dir.path()).unwrap().join(name)
    }

    /// A repository with no commit.
    pub(super) fn empty(&self, name: &str) -> Git {
        Git::init(&self.path(name), &[])
    }

    /// A repository with one commit of the file `file.txt`.
    pub(super) fn small(&self, name: &str) -> Git {
        let git = self.empty(name);
        git.commit_file("file.txt", "one\n");
        git
    }
}

/// git in one directory.
pub(super) struct Git {
    pub(super) root: PathBuf,
}

impl Git {
    pub(super) fn init(root: &Path, options: &[&str]) -> Self {
        std::fs::create_dir_all(root).unwrap();
        let git = Self { root: root.to_path_buf() };
        let mut args = vec!["init", "-q", "-b", "main"];
        args.extend(options);
        git.run(&args);
        git
    }

    pub(super) fn at(root: &Path) -> Self {
        Self { root: root.to_path_buf() }
    }

    /// Runs git, which must succeed; its output without the last newline.
    pub(super) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> String {
        let text = String::from_utf8(self.bytes(args, b"")).unwrap();
        text.trim_end_matches('\n').to_owned()
    }

    /// Runs git with an input; it must succeed.
    pub(super) fn bytes<S: AsRef<OsStr>>(&self, args: &[S], input: &[u8]) -> Vec<u8> {
        let args: Vec<&OsStr> = args.iter().map(AsRef::as_ref).collect();
        let output = self.try_bytes(&args, input);
        output.unwrap_or_else(|stderr| panic!("git {args:?}: {stderr}"))
    }

    /// Runs git; what it wrote to stderr if it fails.
    pub(super) fn try_bytes<S: AsRef<OsStr>>(
        &self,
        args: &[S],
        input: &[u8],
    ) -> Result<Vec<u8>, String> {
        let mut child = command(&self.root)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("git is needed for the tests");
        let mut stdin = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            scope.spawn(move || {
                // git may end without reading all of it.
                let _ = stdin.write_all(input);
            });
            child.wait_with_output().unwrap()
        });
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    pub(super) fn commit_file(&self, path: &str, content: impl AsRef<[u8]>) -> String {
        let file = self.root.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
        self.run(&["add", "--", path]);
        self.commit()
    }

    /// Commits what is staged, even nothing; the hash.
    pub(super) fn commit(&self) -> String {
        self.run(&["commit", "-q", "--allow-empty", "-m", "change"]);
        self.head()
    }

    pub(super) fn head(&self) -> String {
        self.run(&["rev-parse", "HEAD"])
    }

    /// The extractor on this repository as its own project.
    pub(super) fn open(&self) -> Repository {
        Repository::open(self.root.to_str().unwrap(), &self.root, &self.root).unwrap()
    }

    /// The id of the empty tree, which stands for the parent of a root commit.
    pub(super) fn empty_tree(&self) -> String {
        self.run(&["hash-object", "-t", "tree", "--stdin"])
    }

    /// The commits, each with its first parent or else the empty tree.
    pub(super) fn with_parents(&self, commits: &[String]) -> Vec<[String; 2]> {
        let empty = self.empty_tree();
        let list = self.bytes(
            &["rev-list", "--parents", "--no-walk=unsorted", "--stdin"],
            commits.join("\n").as_bytes(),
        );
        let list = String::from_utf8(list).unwrap();
        let pair = |line: &str| {
            let mut ids = line.split(' ');
            let commit = ids.next().unwrap().to_owned();
            [ids.next().unwrap_or(&empty).to_owned(), commit]
        };
        list.lines().map(pair).collect()
    }

    /// What git itself says of the change from a parent to a commit.
    pub(super) fn judge(&self, empty: &str, [parent, commit]: [&str; 2]) -> Judged {
        let text = self.bytes(&diff_tree(empty, &["-p"], &[parent, commit]), b"");
        let numstat =
            self.bytes(&diff_tree(empty, &["--numstat", "-z", "-r"], &[parent, commit]), b"");
        let mut judged = Judged { text, ..Judged::default() };
        for line in numstat.split(|&byte| byte == 0).filter(|line| !line.is_empty()) {
            let mut fields = line.splitn(3, |&byte| byte == b'\t');
            let mut count = || {
                let field = std::str::from_utf8(fields.next().unwrap()).unwrap();
                // A binary file has a dash.
                field.parse::<u64>().unwrap_or(0)
            };
            judged.insertions += count();
            judged.deletions += count();
            judged.paths.push(fields.next().unwrap().to_vec());
        }
        judged
    }
}

/// A change in git's own words.
#[derive(Debug, Default)]
pub(super) struct Judged {
    pub(super) text: Vec<u8>,
    pub(super) paths: Vec<Vec<u8>>,
    pub(super) insertions: u64,
    pub(super) deletions: u64,
}

/// The command of `docs/diff-hash.md`, with its output format exchangeable.
fn diff_tree<'a>(empty: &str, format: &[&'a str], ends: &[&'a str]) -> Vec<String> {
    let mut args = vec!["--no-replace-objects".to_owned(), format!("--attr-source={empty}")];
    let fixed = [
        "-c",
        "core.attributesFile=/dev/null",
        "-c",
        "core.quotePath=true",
        "-c",
        "diff.suppressBlankEmpty=false",
        "diff-tree",
    ];
    let options = [
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--no-renames",
        "--full-index",
        "--indent-heuristic",
        "--ignore-submodules=none",
    ];
    for part in [&fixed[..], format, &options[..], ends] {
        args.extend(part.iter().map(|&arg| arg.to_owned()));
    }
    args
}

/// git with nothing of the machine's configuration, and fixed names and dates.
fn command(root: &Path) -> Command {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    command
        .current_dir(root)
        .env("HOME", root)
        .env("XDG_CONFIG_HOME", root)
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_GLOBAL", if cfg!(windows) { "NUL" } else { "/dev/null" })
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_ALLOW_PROTOCOL", "file")
        .env("GIT_TERMINAL_PROMPT", "0");
    for role in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{role}_NAME"), "Test")
            .env(format!("GIT_{role}_EMAIL"), "test@example.com")
            .env(format!("GIT_{role}_DATE"), "2026-01-02T03:04:05Z");
    }
    command
}

/// Says why a test could not run on this machine.
#[allow(clippy::print_stderr, reason = "a skipped test must be visible")]
pub(super) fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}

/// The first place where two texts differ, with what is around it.
pub(super) fn difference(ours: &[u8], git: &[u8]) -> String {
    let at = ours.iter().zip(git).take_while(|(a, b)| a == b).count();
    let around = |text: &[u8]| {
        let part = &text[at.saturating_sub(200).min(text.len())..(at + 120).min(text.len())];
        part.escape_ascii().to_string().replace("\\n", "\n    ")
    };
    format!("at byte {at}\n  ours:\n    {}\n  git:\n    {}", around(ours), around(git))
}
