//! How many of a repository's last commits have the change that git itself prints.
//!
//! `cargo bench --bench parity -- REPOSITORY [COMMITS]` compares, for the last COMMITS
//! commits (default 200) of any branch: the diff hash, the list of files, and the counted
//! lines. It prints the commits that differ with the class of the difference, and the time
//! against git's in the same run: one `git diff-tree` process for each commit, as
//! someone who checks a hash runs it, and one process for all.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is made to be read")]
#![allow(clippy::disallowed_methods, reason = "git is the judge")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use govforge::git::{Change, Repository};
use sha2::{Digest, Sha256};

const DEFAULT_COMMITS: &str = "200";

fn main() -> ExitCode {
    // `cargo bench` adds a flag of its own.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let Some(path) = args.first() else {
        eprintln!("usage: cargo bench --bench parity -- REPOSITORY [COMMITS]");
        // Not a failure: `cargo bench` without arguments runs every benchmark.
        return ExitCode::SUCCESS;
    };
    let root = Path::new(path).canonicalize().expect("the repository exists");
    let judge = Judge::new(&root);
    let limit = args.get(1).map_or(DEFAULT_COMMITS, String::as_str);
    let commits = judge.text(&["rev-list", "--all", "--parents", &format!("--max-count={limit}")]);
    let repository = Repository::open(".", &root, &root).unwrap_or_else(|error| panic!("{error}"));

    let mut tally = Tally::default();
    for line in commits.lines() {
        let mut ids = line.split(' ');
        let commit = ids.next().expect("rev-list prints a commit");
        let parent = ids.next().unwrap_or(&judge.empty_tree);
        tally.commit(&repository, &judge, parent, commit);
    }
    let all_at_once = judge.all_at_once(&commits);
    tally.print(all_at_once);
    if tally.different.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[derive(Default)]
struct Tally {
    commits: usize,
    hashes: usize,
    files: usize,
    counts: usize,
    bytes: usize,
    different: Vec<String>,
    ours: Vec<Duration>,
    git: Vec<Duration>,
}

impl Tally {
    fn commit(&mut self, repository: &Repository, judge: &Judge, parent: &str, commit: &str) {
        self.commits += 1;
        let begin = Instant::now();
        let change = repository.change(commit, &|| false);
        self.ours.push(begin.elapsed());
        let begin = Instant::now();
        let text = judge.diff(&["-p"], parent, commit);
        self.git.push(begin.elapsed());
        self.bytes += text.len();
        let change = match change {
            Ok(change) => change,
            Err(error) => {
                self.different.push(format!("{commit} refused: {error}"));
                return;
            }
        };
        let hash =
            Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let (files, insertions, deletions) = judge.numstat(parent, commit);
        let same_hash = change.diff_hash == format!("sha256:{hash}");
        let same_files = change.files_changed == files;
        let same_counts = (change.insertions, change.deletions) == (insertions, deletions);
        self.hashes += usize::from(same_hash);
        self.files += usize::from(same_files);
        self.counts += usize::from(same_counts);
        if !same_hash {
            let class = class_of(repository, &change, &text);
            self.different.push(format!("{commit} diff hash: {class}"));
        }
        if !same_files {
            self.different
                .push(format!("{commit} files: {:?}, git: {files:?}", change.files_changed));
        }
        if !same_counts {
            self.different.push(format!(
                "{commit} counts: +{} -{}, git: +{insertions} -{deletions}",
                change.insertions, change.deletions
            ));
        }
    }

    fn print(&mut self, all_at_once: Duration) {
        let share = |equal: usize| {
            format!(
                "{equal} of {} ({:.2} %)",
                self.commits,
                100.0 * equal as f64 / self.commits as f64
            )
        };
        println!("diff hashes equal to git's: {}", share(self.hashes));
        println!("file lists equal to git's:  {}", share(self.files));
        println!("counts equal to git's:      {}", share(self.counts));
        println!("diff text:                  {:.1} MB", self.bytes as f64 / 1e6);
        println!("time here:                  {}", times(&mut self.ours));
        println!("time of git, one by one:    {}", times(&mut self.git));
        println!("time of git, in one go:     {all_at_once:.2?} in all");
        for line in &self.different {
            println!("different: {line}");
        }
    }
}

fn times(times: &mut [Duration]) -> String {
    times.sort();
    let all: Duration = times.iter().sum();
    match (times.get(times.len() / 2), times.last()) {
        (Some(median), Some(last)) => {
            format!("{all:.2?} in all, median {median:.2?}, longest {last:.2?}")
        }
        _ => "none".to_owned(),
    }
}

/// What kind of line differs first: `docs/diff-hash.md` names the known kinds.
fn class_of(repository: &Repository, change: &Change, git: &[u8]) -> String {
    let mut ours = Vec::new();
    if let Err(error) = repository
        .diff_text(&change.commit_hash, &|| false, &mut |piece| ours.extend_from_slice(piece))
    {
        return error.to_string();
    }
    let lines = |text: &[u8]| -> Vec<Vec<u8>> {
        text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
    };
    let (ours, git) = (lines(&ours), lines(git));
    let first = ours.iter().zip(&git).position(|(ours, git)| ours != git);
    let Some(at) = first else { return "one text ends early".to_owned() };
    let class = match git[at].first() {
        Some(b'@') if ours[at].starts_with(b"@@") => {
            let range = |line: &[u8]| line.split(|&byte| byte == b'@').nth(2).map(<[u8]>::to_vec);
            if range(&ours[at]) == range(&git[at]) { "hunk context" } else { "hunk range" }
        }
        Some(b'+' | b'-' | b' ' | b'\\') => "line diff",
        _ => "header",
    };
    format!("{class}\n  ours: {}\n  git:  {}", ours[at].escape_ascii(), git[at].escape_ascii())
}

/// git on one repository.
struct Judge<'a> {
    root: &'a Path,
    empty_tree: String,
}

impl<'a> Judge<'a> {
    fn new(root: &'a Path) -> Self {
        let mut judge = Self { root, empty_tree: String::new() };
        judge.empty_tree = judge.text(&["hash-object", "-t", "tree", "--stdin"]).trim().to_owned();
        judge
    }

    fn diff(&self, format: &[&str], parent: &str, commit: &str) -> Vec<u8> {
        let mut args = self.diff_tree(format);
        args.extend([parent.to_owned(), commit.to_owned()]);
        self.bytes(&args, b"")
    }

    /// The changed paths as the extractor shows them, and the counts.
    fn numstat(&self, parent: &str, commit: &str) -> (Vec<String>, u64, u64) {
        let (mut files, mut insertions, mut deletions) = (Vec::new(), 0, 0);
        let quoted = self.diff(&["-r", "--name-only"], parent, commit);
        let quoted = quoted.split(|&byte| byte == b'\n');
        let plain = self.diff(&["-r", "--numstat", "-z"], parent, commit);
        let plain = plain.split(|&byte| byte == 0).filter(|line| !line.is_empty());
        for (line, quoted) in plain.zip(quoted) {
            let mut fields = line.splitn(3, |&byte| byte == b'\t');
            let mut count = || -> u64 {
                let field = fields.next().and_then(|field| std::str::from_utf8(field).ok());
                field.and_then(|field| field.parse().ok()).unwrap_or(0)
            };
            insertions += count();
            deletions += count();
            let path = fields.next().unwrap_or_default();
            let shown = match std::str::from_utf8(path) {
                Ok(path) if !path.starts_with('"') => path,
                _ => std::str::from_utf8(quoted).expect("git quotes what is not ASCII"),
            };
            files.push(shown.to_owned());
        }
        files.sort();
        (files, insertions, deletions)
    }

    fn all_at_once(&self, commits: &str) -> Duration {
        let begin = Instant::now();
        let input: String = commits
            .lines()
            .map(|line| {
                let mut ids = line.split(' ');
                let commit = ids.next().unwrap_or_default();
                match ids.next() {
                    Some(parent) => format!("{commit} {parent}\n"),
                    None => format!("{commit}\n"),
                }
            })
            .collect();
        let args = self.diff_tree(&["--stdin", "--root", "-p"]);
        self.bytes(&args, input.as_bytes());
        begin.elapsed()
    }

    fn diff_tree(&self, format: &[&str]) -> Vec<String> {
        let attributes = format!("--attr-source={}", self.empty_tree);
        let fixed = [
            "--no-replace-objects",
            &attributes,
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
        let parts = [&fixed[..], format, &options[..]];
        parts.concat().into_iter().map(str::to_owned).collect()
    }

    fn text(&self, args: &[&str]) -> String {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        String::from_utf8(self.bytes(&args, b"")).expect("git prints ids")
    }

    fn bytes(&self, args: &[String], input: &[u8]) -> Vec<u8> {
        let mut child = Command::new("git")
            .arg("-C")
            .arg(self.root)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("git is there");
        let mut stdin = child.stdin.take().expect("stdin is piped");
        let output = std::thread::scope(|scope| {
            scope.spawn(move || stdin.write_all(input));
            child.wait_with_output().expect("git ends")
        });
        assert!(output.status.success(), "git {args:?} failed");
        output.stdout
    }
}
