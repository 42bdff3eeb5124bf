//! What the extractor leaves alone: the repository, the environment, other users' data.
#![allow(clippy::disallowed_methods, reason = "the environment is set for a child process")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::support::{Place, go_on};

/// Every file below, with its content and the time it was last written.
fn snapshot(root: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let mut files = BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let meta = path.symlink_metadata().unwrap();
            if meta.is_dir() {
                files.insert(path.clone(), (Vec::new(), meta.modified().unwrap()));
                open.push(path);
            } else {
                let content = std::fs::read(&path).unwrap();
                files.insert(path, (content, meta.modified().unwrap()));
            }
        }
    }
    files
}

#[test]
fn nothing_in_the_repository_is_written() {
    let place = Place::new();
    let git = place.small("project");
    let commit = git.commit_file("file.txt", "two\n");
    // An index whose times no longer fit is what other readers refresh.
    std::fs::write(git.root.join("file.txt"), "three\n").unwrap();
    let before = snapshot(&git.root);
    let repository = git.open();
    repository.change(&commit, &go_on).unwrap();
    repository.visit_lines(&commit, &go_on, &mut |_| {}).unwrap();
    assert!(repository.change("abcd", &go_on).is_err());
    crate::git::locate(&git.root).unwrap();
    drop(repository);
    assert!(snapshot(&git.root) == before);
}

/// Runs an ignored test of this module alone in a process, with that environment.
fn child(test: &str, variables: &[(&str, &Path)]) -> std::process::Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", &format!("git::tests::unchanged::{test}")]);
    command.envs(variables.iter().copied()).output().unwrap()
}

#[test]
fn the_environment_is_ignored() {
    let place = Place::new();
    let git = place.small("project");
    let other = place.small("other");
    let output = child(
        "child_opens_the_repository",
        &[
            ("TEST_REPOSITORY", &git.root),
            ("GIT_DIR", &other.root.join(".git")),
            ("GIT_WORK_TREE", &other.root),
            ("GIT_COMMON_DIR", &other.root.join(".git")),
            ("GIT_OBJECT_DIRECTORY", &other.root.join("nowhere")),
            ("GIT_INDEX_FILE", &other.root.join("nowhere")),
            ("GIT_NAMESPACE", Path::new("other")),
            ("GIT_CEILING_DIRECTORIES", &git.root),
            ("GIT_EXTERNAL_DIFF", Path::new("false")),
            ("GIT_DIFF_OPTS", Path::new("-u0")),
        ],
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
#[ignore = "run by the_environment_is_ignored"]
fn child_opens_the_repository() {
    let root = PathBuf::from(std::env::var_os("TEST_REPOSITORY").unwrap());
    let repository = crate::git::Repository::open(".", &root, &root).unwrap();
    assert_eq!(repository.root(), root);
    assert_eq!(repository.change("HEAD", &go_on).unwrap().insertions, 1);
}

#[cfg(unix)]
#[test]
fn another_users_repository_needs_safe_directory() {
    let place = Place::new();
    let git = place.small("project");
    let given = [git.root.clone(), git.root.join(".git")];
    if !given.iter().all(|path| std::os::unix::fs::chown(path, Some(54321), None).is_ok()) {
        super::support::skip("only root can give a repository to another user");
        return;
    }
    let home = place.path("home");
    std::fs::create_dir(&home).unwrap();
    let run = || {
        let output = child(
            "child_tells_the_refusal",
            &[("TEST_REPOSITORY", &git.root), ("HOME", &home), ("XDG_CONFIG_HOME", &home)],
        );
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        std::fs::read_to_string(home.join("said")).unwrap()
    };
    let said = run();
    let path = git.root.display();
    let command = format!("git config --global --add safe.directory \"{path}\"");
    assert!(said.starts_with("UnreadableRepository: ") && said.contains(&command), "{said}");
    std::fs::write(home.join(".gitconfig"), format!("[safe]\n\tdirectory = {path}\n")).unwrap();
    assert_eq!(run(), "opened");
}

#[cfg(unix)]
#[test]
#[ignore = "run by another_users_repository_needs_safe_directory"]
fn child_tells_the_refusal() {
    let root = PathBuf::from(std::env::var_os("TEST_REPOSITORY").unwrap());
    let said = match crate::git::Repository::open(".", &root, &root) {
        Ok(_) => "opened".to_owned(),
        Err(error) => error.to_string(),
    };
    let home = PathBuf::from(std::env::var_os("HOME").unwrap());
    std::fs::write(home.join("said"), said).unwrap();
}
