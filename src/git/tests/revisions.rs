//! How a commit may be named.

use super::support::{Git, Place, go_on};
use crate::error::{Audience, Code, Error};

/// The commit that the extractor finds, or the refusal.
fn find(git: &Git, revision: &str) -> Result<String, (Code, String)> {
    match git.open().change(revision, &go_on) {
        Ok(change) => Ok(change.commit_hash),
        Err(Error::Refused(refusal)) => {
            Err((refusal.code, refusal.told(Audience::Agent).to_owned()))
        }
        Err(fault) => panic!("{fault}"),
    }
}

#[track_caller]
fn assert_refused(git: &Git, revision: &str, code: Code, parts: &[&str]) {
    let (found, message) = find(git, revision).unwrap_err();
    assert_eq!(found, code, "{message}");
    for part in parts {
        assert!(message.contains(part), "no {part:?} in: {message}");
    }
}

#[test]
fn every_usual_name_finds_its_commit() {
    let place = Place::new();
    let git = place.small("project");
    let first = git.head();
    git.run(&["tag", "light"]);
    git.run(&["tag", "-a", "-m", "noted", "noted"]);
    git.run(&["tag", "-a", "-m", "twice", "twice", "noted"]);
    git.run(&["branch", "feature/x"]);
    let second = git.commit_file("file.txt", "two\n");
    let third = git.commit_file("file.txt", "three\n");
    let tag_object = git.run(&["rev-parse", "noted"]);
    let cases = [
        ("", &third),
        ("HEAD", &third),
        (" HEAD ", &third),
        ("@", &third),
        ("main", &third),
        ("refs/heads/main", &third),
        ("HEAD~1", &second),
        ("HEAD~2", &first),
        ("HEAD^^", &first),
        ("main~1^{commit}", &second),
        ("light", &first),
        ("noted", &first),
        ("twice", &first),
        ("feature/x", &first),
        (&tag_object, &first),
        (&second, &second),
        (&second[..7], &second),
        (&second[..4], &second),
        (&second.to_uppercase(), &second),
    ];
    for (name, commit) in cases {
        assert_eq!(find(&git, name).as_ref(), Ok(commit), "{name}");
    }
}

#[test]
fn what_names_no_commit_is_refused_with_a_hint() {
    let place = Place::new();
    let git = place.small("project");
    let tree = git.run(&["rev-parse", "HEAD^{tree}"]);
    let blob = git.run(&["rev-parse", "HEAD:file.txt"]);
    git.run(&["tag", "-a", "-m", "a tree", "tree-tag", &tree]);
    assert_refused(&git, &tree, Code::CommitNotFound, &["names a tree, not a commit"]);
    assert_refused(&git, &tree[..8], Code::CommitNotFound, &["names a tree, not a commit"]);
    assert_refused(&git, &blob, Code::CommitNotFound, &["names a blob, not a commit"]);
    assert_refused(&git, "HEAD:file.txt", Code::CommitNotFound, &["names a blob"]);
    assert_refused(&git, "tree-tag", Code::CommitNotFound, &["not a commit"]);
    assert_refused(&git, "--all", Code::InvalidInput, &["starts with a dash", "HEAD"]);
    assert_refused(&git, "HEAD~1..HEAD", Code::InvalidInput, &["is a range"]);
    assert_refused(&git, "HEAD~7", Code::CommitNotFound, &["HEAD~7", "log --oneline"]);
    assert_refused(&git, "nosuch", Code::CommitNotFound, &["nosuch", "log --oneline"]);
    assert_refused(&git, "abc", Code::CommitNotFound, &["at least 4 digits"]);
    assert_refused(&git, "a\0b", Code::CommitNotFound, &["names no commit"]);
    assert_refused(&git, &"1".repeat(40), Code::CommitNotFound, &["must be fetched"]);
    assert_refused(&git, &"1".repeat(64), Code::CommitNotFound, &["names no commit"]);
}

#[test]
fn a_branch_that_only_a_remote_has_is_named() {
    let place = Place::new();
    let git = place.small("source");
    git.run(&["checkout", "-q", "-b", "topic/one"]);
    let commit = git.commit_file("file.txt", "two\n");
    git.run(&["checkout", "-q", "main"]);
    git.run(&["clone", "-q", ".", "../clone"]);
    let clone = Git::at(&place.path("clone"));
    assert_refused(&clone, "topic/one", Code::CommitNotFound, &["`origin/topic/one`"]);
    assert_eq!(find(&clone, "origin/topic/one"), Ok(commit));
}

#[test]
fn the_start_of_several_hashes_is_the_one_commit_or_refused() {
    let place = Place::new();
    let git = place.empty("project");
    // 2,000 blobs leave no start of four digits alone for long.
    let mut stream = Vec::new();
    for number in 0..2000 {
        let content = format!("blob {number}\n");
        stream.extend(format!("blob\ndata {}\n{content}", content.len()).bytes());
    }
    for number in 0..1000 {
        stream.extend(
            format!(
                "commit refs/heads/main\ncommitter T <t@example.com> {number} +0000\ndata 0\n\n"
            )
            .bytes(),
        );
    }
    git.bytes(&["fast-import", "--quiet"], &stream);
    let objects =
        git.run(&["cat-file", "--batch-check=%(objectname) %(objecttype)", "--batch-all-objects"]);
    let mut starts = std::collections::BTreeMap::<&str, Vec<&str>>::new();
    for line in objects.lines() {
        starts.entry(&line[..4]).or_default().push(line);
    }
    let is_commit = |line: &&&str| line.ends_with("commit");
    let mut seen = [0; 3];
    for (start, lines) in starts.iter().filter(|(_, lines)| lines.len() > 1) {
        let commits: Vec<_> = lines.iter().filter(is_commit).collect();
        seen[commits.len().min(2)] += 1;
        match commits[..] {
            [only] => assert_eq!(find(&git, start).as_deref(), Ok(&only[..40])),
            _ => assert_refused(&git, start, Code::CommitNotFound, &["several objects"]),
        }
    }
    assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
}
