//! The diff text, the counts and the file lists are git's.

use sha2::{Digest, Sha256};

use super::histories;
use super::support::{Git, Place, difference, go_on};

/// Compares the commits and reports the first that differs.
pub(super) fn check(git: &Git, commits: &[String]) {
    let repository = git.open();
    let empty = git.empty_tree();
    let pairs = git.with_parents(commits);
    assert_eq!(pairs.len(), commits.len());
    for [parent, commit] in &pairs {
        let judged = git.judge(&empty, [parent, commit]);
        let mut text = Vec::new();
        repository
            .diff_text(commit, &go_on, &mut |piece| text.extend_from_slice(piece))
            .unwrap_or_else(|error| panic!("{commit}: {error}"));
        assert!(
            text == judged.text,
            "the text of {commit} differs {}",
            difference(&text, &judged.text)
        );
        let change = repository.change(commit, &go_on).unwrap();
        let hash: String =
            Sha256::digest(&judged.text).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(change.diff_hash, format!("sha256:{hash}"), "{commit}");
        assert_eq!(change.files_changed, histories::shown(&judged.paths), "{commit}");
        assert_eq!(
            (change.insertions, change.deletions),
            (judged.insertions, judged.deletions),
            "{commit}"
        );
    }
}

#[test]
fn synthetic_histories_are_equal() {
    for seed in 1..=4 {
        let place = Place::new();
        let (git, commits) = histories::build(&place, seed, 60);
        check(&git, &commits);
    }
}

/// `PARITY_SEEDS=100..200` looks further than the suite has time for.
#[test]
#[ignore = "as long as the range of seeds in PARITY_SEEDS"]
fn many_synthetic_histories_are_equal() {
    let range = std::env::var("PARITY_SEEDS").unwrap_or_else(|_| "100..110".to_owned());
    let (from, to) = range.split_once("..").expect("PARITY_SEEDS is FROM..TO");
    for seed in from.parse().unwrap()..to.parse().unwrap() {
        let place = Place::new();
        let (git, commits) = histories::build(&place, seed, 100);
        check(&git, &commits);
    }
}

#[test]
fn no_configuration_or_attribute_changes_the_text() {
    let place = Place::new();
    let (git, commits) = histories::build(&place, 9, 25);
    let hostile = [
        ("core.abbrev", "4"),
        ("core.quotePath", "false"),
        ("core.ignoreCase", "true"),
        ("core.fileMode", "false"),
        ("core.symlinks", "false"),
        ("core.autocrlf", "true"),
        ("core.pager", "false"),
        ("color.ui", "always"),
        ("color.diff", "always"),
        ("diff.algorithm", "patience"),
        ("diff.context", "9"),
        ("diff.interHunkContext", "9"),
        ("diff.external", "false"),
        ("diff.ignoreSubmodules", "all"),
        ("diff.indentHeuristic", "false"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.noPrefix", "true"),
        ("diff.orderFile", "nowhere"),
        ("diff.relative", "true"),
        ("diff.renames", "copies"),
        ("diff.submodule", "log"),
        ("diff.suppressBlankEmpty", "true"),
        ("diff.wordRegex", "."),
        ("diff.python.textconv", "false"),
        ("diff.python.xfuncname", "^x"),
        ("diff.python.binary", "true"),
    ];
    for (name, value) in hostile {
        git.run(&["config", name, value]);
    }
    check(&git, &commits);
}

#[test]
fn modes_that_old_programs_wrote_are_read_as_git_reads_them() {
    let place = Place::new();
    let git = place.small("project");
    let blob = git.run(&["rev-parse", "HEAD:file.txt"]);
    let id: Vec<u8> =
        (0..20).map(|at| u8::from_str_radix(&blob[at * 2..at * 2 + 2], 16).unwrap()).collect();
    let mut parents = Vec::new();
    let mut commits = Vec::new();
    for (old, new) in [("100664", "100600"), ("100775", "100711"), ("100644", "100664")] {
        let tree: Vec<u8> = [("one", old), ("two", new)]
            .iter()
            .flat_map(|(name, mode)| [mode.as_bytes(), b" ", name.as_bytes(), b"\0", &id].concat())
            .collect();
        let write = ["hash-object", "-t", "tree", "-w", "--stdin", "--literally"];
        let tree = String::from_utf8(git.bytes(&write, &tree)).unwrap();
        let mut args = vec!["commit-tree", "-m", "change", tree.trim()];
        args.extend(parents.last().into_iter().flat_map(|parent: &String| ["-p", parent]));
        let commit = git.run(&args);
        parents.push(commit.clone());
        commits.push(commit);
    }
    check(&git, &commits);
}

#[test]
fn a_commit_with_a_malformed_author_is_read() {
    let place = Place::new();
    let git = place.small("project");
    let commit = git.bytes(&["cat-file", "commit", "HEAD"], b"");
    let broken = String::from_utf8(commit).unwrap().replace("<test@example.com>", "<<broken");
    let write = ["hash-object", "-t", "commit", "-w", "--stdin", "--literally"];
    let commit = String::from_utf8(git.bytes(&write, broken.as_bytes())).unwrap();
    check(&git, &[commit.trim().to_owned()]);
}

#[test]
fn directories_nested_as_deep_as_git_allows_are_walked() {
    let place = Place::new();
    let git = place.empty("project");
    let path = "d/".repeat(2000) + "file";
    let stream = format!(
        "commit refs/heads/main\ncommitter T <t@example.com> 1 +0000\ndata 0\n\n\
         M 100644 inline {path}\ndata 2\nx\n\n"
    );
    git.bytes(&["fast-import", "--quiet"], stream.as_bytes());
    check(&git, &[git.head()]);
}
