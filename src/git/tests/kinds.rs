//! Which repositories are read, and what the refusal of the others says.

use std::path::Path;

use super::support::{Git, Place, go_on, skip};
use crate::error::{Audience, Code, Refusal};
use crate::git::{Located, Repository, locate};

fn open(repo_path: impl AsRef<Path>, project: &Path) -> Result<Repository, Refusal> {
    Repository::open(repo_path.as_ref().to_str().unwrap(), project, project).map_err(refusal)
}

fn refusal(error: crate::error::Error) -> Refusal {
    match error {
        crate::error::Error::Refused(refusal) => refusal,
        fault => panic!("{fault}"),
    }
}

fn change_refusal(repository: &Repository, revision: &str) -> Refusal {
    refusal(repository.change(revision, &go_on).unwrap_err())
}

#[track_caller]
fn assert_refused(result: Result<Repository, Refusal>, code: Code, parts: &[&str]) {
    assert_says(&result.unwrap_err(), code, parts);
}

#[track_caller]
fn assert_says(refusal: &Refusal, code: Code, parts: &[&str]) {
    assert_eq!(refusal.code, code, "{refusal}");
    for part in parts {
        assert!(refusal.told(Audience::Agent).contains(part), "no {part:?} in: {refusal}");
    }
}

fn shown(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn the_projects_own_root_opens_by_any_name() {
    let place = Place::new();
    let git = place.small("project");
    std::fs::create_dir(git.root.join("sub")).unwrap();
    for name in [".", "./", "sub/..", "../project", shown(&git.root)] {
        let repository = open(name, &git.root).unwrap();
        assert_eq!(repository.root(), git.root);
        assert_eq!(repository.branch().as_deref(), Some("main"));
    }
}

#[test]
fn a_linked_worktree_opens_wherever_it_lies() {
    let place = Place::new();
    let git = place.small("project");
    for tree in [place.path("elsewhere"), git.root.join("inside")] {
        let branch = tree.file_name().unwrap().to_str().unwrap();
        git.run(&["worktree", "add", "-q", "-b", branch, shown(&tree)]);
        let commit = Git::at(&tree).commit_file("new.txt", "new\n");
        let repository = open(&tree, &git.root).unwrap();
        let change = repository.change("", &go_on).unwrap();
        assert_eq!(change.repo_path, tree);
        assert_eq!(change.branch_name.as_deref(), Some(branch));
        assert_eq!(change.commit_hash, commit);
        // And the other way round, where the worktree is what is registered.
        assert_eq!(open(&git.root, &tree).unwrap().root(), git.root);
    }
}

#[test]
fn a_worktree_with_relative_paths_opens() {
    let place = Place::new();
    let git = place.small("project");
    let tree = place.path("linked");
    git.run(&["worktree", "add", "-q", shown(&tree)]);
    // What newer versions of git write with `worktree.useRelativePaths`.
    git.run(&["config", "core.repositoryFormatVersion", "1"]);
    git.run(&["config", "extensions.relativeWorktrees", "true"]);
    std::fs::write(tree.join(".git"), "gitdir: ../project/.git/worktrees/linked\n").unwrap();
    let back = git.root.join(".git/worktrees/linked/gitdir");
    std::fs::write(back, "../../../../linked/.git\n").unwrap();
    let change = open(&tree, &git.root).unwrap().change("HEAD", &go_on).unwrap();
    assert_eq!(change.branch_name.as_deref(), Some("linked"));
    assert_eq!(locate(&tree).unwrap().unwrap().main_root, git.root);
}

#[test]
fn repositories_inside_the_project_open() {
    let place = Place::new();
    let git = place.small("project");
    let library = place.small("library");
    git.run(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        shown(&library.root),
        "library",
    ]);
    git.commit();
    let submodule = git.root.join("library");
    assert_eq!(open("library", &git.root).unwrap().root(), submodule);
    for internal in [".git/modules/library", "library/.git"] {
        assert_refused(open(internal, &git.root), Code::NotARepository, &[shown(&submodule)]);
    }
    let nested = Git::init(&git.root.join("nested/deep"), &[]);
    nested.commit_file("a", "a\n");
    assert_eq!(open("nested/deep", &git.root).unwrap().root(), nested.root);
    let bare = git.root.join("store.git");
    git.run(&["clone", "-q", "--bare", ".", shown(&bare)]);
    let repository = open("store.git", &git.root).unwrap();
    assert_eq!(repository.root(), bare);
    assert_eq!(repository.change("HEAD", &go_on).unwrap().branch_name.as_deref(), Some("main"));
}

#[test]
fn a_worktrees_own_submodule_opens() {
    let place = Place::new();
    let git = place.small("project");
    let library = place.small("library");
    let tree = place.path("linked");
    git.run(&["worktree", "add", "-q", shown(&tree)]);
    let linked = Git::at(&tree);
    linked.run(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        shown(&library.root),
        "library",
    ]);
    assert_eq!(open("library", &tree).unwrap().root(), tree.join("library"));
}

#[test]
fn a_project_whose_git_directory_lies_elsewhere_opens() {
    let place = Place::new();
    let root = place.path("project");
    let store = place.path("store");
    let git = Git::init(&root, &["--separate-git-dir", shown(&store)]);
    git.commit_file("a", "a\n");
    assert_eq!(open(".", &root).unwrap().root(), root);
}

#[test]
fn other_repositories_are_outside() {
    let place = Place::new();
    let git = place.small("project");
    let other = place.small("other");
    place.small("project-two");
    for path in ["../other", "../project-two", shown(&other.root), "../other/.git", "..", "/"] {
        assert_refused(
            open(path, &git.root),
            Code::PathOutsideRepo,
            &[path, shown(&git.root), "linked worktrees"],
        );
    }
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_project_is_outside() {
    let place = Place::new();
    let git = place.small("project");
    let other = place.small("other");
    std::os::unix::fs::symlink(&other.root, git.root.join("link")).unwrap();
    assert_refused(open("link", &git.root), Code::PathOutsideRepo, &[shown(&other.root)]);
    // A directory inside whose git data is someone else's.
    std::fs::create_dir_all(git.root.join("borrowed/linked")).unwrap();
    let dot_git = format!("gitdir: {}\n", other.root.join(".git").display());
    std::fs::write(git.root.join("borrowed/.git"), dot_git).unwrap();
    std::os::unix::fs::symlink(other.root.join(".git"), git.root.join("borrowed/linked/.git"))
        .unwrap();
    for path in ["borrowed", "borrowed/linked"] {
        assert_refused(open(path, &git.root), Code::PathOutsideRepo, &[path]);
    }
    // A link that stays inside, and one that leads to the project from outside.
    std::os::unix::fs::symlink(".", git.root.join("self")).unwrap();
    std::os::unix::fs::symlink(&git.root, place.path("alias")).unwrap();
    for path in ["self", "../alias"] {
        assert_eq!(open(path, &git.root).unwrap().root(), git.root);
    }
    let alias = place.path("alias");
    assert_eq!(open(&alias, &alias).unwrap().root(), git.root);
}

#[test]
fn what_is_not_a_root_is_refused_with_the_root() {
    let place = Place::new();
    let git = place.small("project");
    std::fs::create_dir_all(git.root.join("src/deep")).unwrap();
    for path in ["src/deep", ".git", "file.txt", ".git/objects"] {
        assert_refused(
            open(path, &git.root),
            Code::NotARepository,
            &[path, &format!("Pass repo_path `{}`", shown(&git.root))],
        );
    }
    // The project itself is only a part of a repository.
    let part = git.root.join("src");
    assert_refused(
        open(".", &part),
        Code::NotARepository,
        &["only a part", &format!("govforge init \"{}\"", shown(&git.root))],
    );
    // No repository at all, and nothing at all.
    std::fs::create_dir_all(place.path("plain/sub")).unwrap();
    assert_refused(open("sub", &place.path("plain")), Code::NotARepository, &["git init"]);
    assert_refused(open("gone", &git.root), Code::NotARepository, &["gone", "does not exist"]);
    assert_refused(open(" ", &git.root), Code::InvalidInput, &["repo_path", shown(&git.root)]);
    assert_refused(open(".", &place.path("gone")), Code::NotARepository, &["put a link there"]);
}

#[test]
fn a_repository_without_a_commit_opens_and_says_so() {
    let place = Place::new();
    let git = place.empty("project");
    let repository = open(".", &git.root).unwrap();
    assert_eq!(repository.branch().as_deref(), Some("main"));
    assert_says(&change_refusal(&repository, "HEAD"), Code::CommitNotFound, &["no commit yet"]);
}

#[test]
fn a_shallow_boundary_is_never_taken_for_a_root() {
    let place = Place::new();
    let git = place.small("source");
    let root = git.head();
    git.commit_file("file.txt", "two\n");
    let boundary = git.commit_file("file.txt", "three\n");
    let top = git.commit_file("file.txt", "four\n");
    let url = format!("file://{}", shown(&git.root));
    git.run(&["clone", "-q", "--depth=2", &url, "../shallow"]);
    let shallow = place.path("shallow");
    let repository = open(".", &shallow).unwrap();
    let change = repository.change("HEAD", &go_on).unwrap();
    assert_eq!((change.commit_hash, change.insertions), (top, 1));
    assert_says(
        &change_refusal(&repository, &boundary),
        Code::IncompleteHistory,
        &["shallow", "--deepen=1", &boundary],
    );
    assert!(repository.visit_lines(&boundary, &go_on, &mut |_| {}).is_err());
    assert_says(&change_refusal(&repository, &root), Code::CommitNotFound, &["--unshallow"]);
    // What the message asks for.
    Git::at(&shallow).run(&["fetch", "-q", "--deepen=1"]);
    assert_eq!(open(".", &shallow).unwrap().change(&boundary, &go_on).unwrap().insertions, 1);
}

#[test]
fn a_partial_clone_says_which_file_it_lacks() {
    let place = Place::new();
    let git = place.small("source");
    git.run(&["config", "uploadpack.allowFilter", "true"]);
    git.commit_file("file.txt", "two\n");
    git.run(&["update-index", "--chmod=+x", "file.txt"]);
    let mode = git.commit();
    let url = format!("file://{}", shown(&git.root));
    git.run(&["clone", "-q", "--filter=blob:none", "--no-checkout", &url, "../partial"]);
    let partial = place.path("partial");
    let repository = open(".", &partial).unwrap();
    assert_says(
        &change_refusal(&repository, "HEAD~1"),
        Code::IncompleteHistory,
        &["partial clone", "`file.txt`", "git -C"],
    );
    let scan = repository.visit_lines("HEAD~1", &go_on, &mut |_| {}).unwrap();
    assert_eq!(scan.not_scanned[0].path, "file.txt");
    assert_eq!(scan.not_scanned[0].why, crate::git::Why::Missing);
    // A change of mode needs no content.
    assert_eq!(repository.change("HEAD", &go_on).unwrap().commit_hash, mode);
    // What the message asks for.
    Git::at(&partial).run(&["show", "--text", "-m", "--first-parent", "HEAD~1"]);
    assert_eq!(open(".", &partial).unwrap().change("HEAD~1", &go_on).unwrap().insertions, 1);
}

#[test]
fn missing_and_damaged_objects_are_refused() {
    let place = Place::new();
    let git = place.small("project");
    let blob = git.run(&["rev-parse", "HEAD:file.txt"]);
    let file = git.root.join(".git/objects").join(&blob[..2]).join(&blob[2..]);
    let whole = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let repository = open(".", &git.root).unwrap();
    assert_says(&change_refusal(&repository, "HEAD"), Code::IncompleteHistory, &["fsck", &blob]);
    let mut broken = whole;
    let last = broken.len() - 1;
    broken[last] ^= 0xff;
    std::fs::write(&file, broken).unwrap();
    let repository = open(".", &git.root).unwrap();
    assert_says(&change_refusal(&repository, "HEAD"), Code::UnreadableRepository, &["fsck", &blob]);
}

#[test]
fn a_sha256_repository_reads_as_any_other() {
    let place = Place::new();
    let git = Git::init(&place.path("project"), &["--object-format=sha256"]);
    git.commit_file("a.txt", "one\n");
    let commit = git.commit_file("b.txt", "two\n");
    let change = open(".", &git.root).unwrap().change(&commit[..10], &go_on).unwrap();
    assert_eq!(change.commit_hash, commit);
    assert_eq!(change.commit_hash.len(), 64);
    super::parity::check(&git, &[commit, git.run(&["rev-parse", "HEAD~1"])]);
}

#[test]
fn a_reftable_repository_is_refused_with_the_way_out() {
    let place = Place::new();
    let root = place.path("project");
    std::fs::create_dir(&root).unwrap();
    let git = Git::at(&root);
    if git.try_bytes(&["init", "-q", "-b", "main", "--ref-format=reftable"], b"").is_err() {
        skip("this git has no reftable");
        return;
    }
    git.commit_file("a", "a\n");
    assert_refused(
        open(".", &root),
        Code::UnreadableRepository,
        &["extensions.refstorage", "reftable", "refs migrate --ref-format=files"],
    );
    let located = Located { worktree_root: root.clone(), main_root: root.clone(), branch: None };
    assert_eq!(locate(&root).unwrap(), Some(located));
    if git.try_bytes(&["refs", "migrate", "--ref-format=files"], b"").is_err() {
        skip("this git cannot migrate references");
        return;
    }
    assert!(open(".", &root).unwrap().change("HEAD", &go_on).is_ok());
}

#[test]
fn an_unknown_extension_is_refused_by_name() {
    let place = Place::new();
    let git = place.small("project");
    git.run(&["config", "core.repositoryFormatVersion", "1"]);
    for (name, value) in [("partialClone", "origin"), ("preciousObjects", "true"), ("noop", "1")] {
        git.run(&["config", &format!("extensions.{name}"), value]);
    }
    assert!(open(".", &git.root).is_ok());
    let config = git.root.join(".git/config");
    let mut text = std::fs::read_to_string(&config).unwrap();
    text.push_str("[extensions]\n\tbrandNew = yes\n");
    std::fs::write(&config, text).unwrap();
    assert_refused(
        open(".", &git.root),
        Code::UnreadableRepository,
        &["extensions.brandnew", "`yes`"],
    );
}

#[test]
fn replaced_objects_and_grafts_do_not_count() {
    let place = Place::new();
    let git = place.small("project");
    let first = git.head();
    let second = git.commit_file("file.txt", "two\n");
    let third = git.commit_file("file.txt", "three\n");
    git.run(&["replace", &second, &first]);
    std::fs::write(git.root.join(".git/info/grafts"), format!("{third}\n")).unwrap();
    let change = open(".", &git.root).unwrap().change(&third, &go_on).unwrap();
    assert_eq!(change.parent_commit_hash.as_ref(), Some(&second));
    assert_eq!((change.insertions, change.deletions), (1, 1));
}

#[test]
fn locate_finds_worktrees_and_branches() {
    let place = Place::new();
    let git = place.empty("project");
    std::fs::create_dir_all(git.root.join("sub/deep")).unwrap();
    let at = |root: &Path, main: &Path, branch: Option<&str>| Located {
        worktree_root: root.to_path_buf(),
        main_root: main.to_path_buf(),
        branch: branch.map(str::to_owned),
    };
    // Also before the first commit, and from inside.
    let main = at(&git.root, &git.root, Some("main"));
    for path in ["", "sub/deep", ".git", ".git/refs"] {
        assert_eq!(locate(&git.root.join(path)).unwrap().as_ref(), Some(&main));
    }
    git.commit_file("sub/a", "a\n");
    let tree = place.path("linked");
    git.run(&["worktree", "add", "-q", "-b", "feature/x", shown(&tree)]);
    let linked = at(&tree, &git.root, Some("feature/x"));
    assert_eq!(locate(&tree.join("sub")).unwrap(), Some(linked));
    git.run(&["checkout", "-q", "--detach"]);
    assert_eq!(locate(&git.root).unwrap(), Some(at(&git.root, &git.root, None)));
    git.run(&["clone", "-q", "--bare", ".", "../bare.git"]);
    let bare = place.path("bare.git");
    assert_eq!(locate(&bare).unwrap().unwrap().worktree_root, bare);
    std::fs::create_dir(place.path("plain")).unwrap();
    // The directory of the tests may itself lie in a repository.
    let outer = locate(&place.path("plain")).unwrap();
    assert!(outer.is_none_or(|outer| !outer.worktree_root.starts_with(place.path(""))));
    assert_eq!(locate(&place.path("gone")).unwrap(), None);
}

#[test]
fn a_submodules_worktree_has_the_submodule_as_its_main_root() {
    let place = Place::new();
    let git = place.small("project");
    let library = place.small("library");
    let url = shown(&library.root);
    git.run(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "lib"]);
    let submodule = Git::at(&git.root.join("lib"));
    let tree = place.path("linked");
    submodule.run(&["worktree", "add", "-q", shown(&tree)]);
    let located = locate(&tree).unwrap().unwrap();
    assert_eq!((located.worktree_root, located.main_root), (tree, submodule.root));
}
