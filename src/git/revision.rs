//! From what an agent calls a commit to the commit.

use git2::{ErrorCode, ObjectFormat, ObjectType, Oid};

use super::objects::{Objects, full_id};
use super::opening::repository::Repository;
use super::refusals;
use super::stop::Stop;
use crate::domain::excerpt::shell_word;
use crate::error::{Code, Error, Result};

/// git accepts no shorter start of a hash.
const MIN_PREFIX_DIGITS: usize = 4;

/// How many of several candidates a message names.
const MAX_NAMED: usize = 5;

/// Finds the commit that `revision` names; blank means `HEAD`.
pub(super) fn resolve(repository: &Repository, revision: &str, stop: Stop<'_>) -> Result<Oid> {
    let revision = match revision.trim() {
        "" => "HEAD",
        revision => revision,
    };
    if revision.starts_with('-') {
        return Err(Error::refused_by_audience(Code::InvalidInput, |to| {
            format!(
                "{}`{revision}` starts with a dash, which no commit's name does. Pass a hash, a \
                 branch, a tag, or HEAD.",
                to.parameter("commit_hash")
            )
        }));
    }
    if revision.contains("..") {
        return Err(Error::refused_by_audience(Code::InvalidInput, |to| {
            format!(
                "{}`{revision}` is a range. Pass the one commit whose change is meant (it is \
                 compared with its first parent).",
                to.parameter("commit_hash")
            )
        }));
    }
    let id_len = match repository.inner.object_format() {
        ObjectFormat::Sha1 => 20,
        ObjectFormat::Sha256 => 32,
    };
    if let Some(id) = full_id(revision, id_len) {
        let objects = Objects::of(&repository.inner, repository.root())?;
        // A commit is not parsed here, so that one with a malformed author is found too.
        return match objects.header(id)? {
            Some((_, ObjectType::Commit)) => Ok(id),
            Some(_) => peel(repository, revision, id),
            None => Err(not_found(repository, revision)),
        };
    }
    match repository.inner.revparse_single(revision) {
        Ok(object) => peel(repository, revision, object.id()),
        Err(error)
            if error.code() == ErrorCode::Ambiguous && revision.len() >= MIN_PREFIX_DIGITS =>
        {
            the_one_commit(repository, revision, stop)
        }
        Err(_) => Err(not_found(repository, revision)),
    }
}

fn peel(repository: &Repository, revision: &str, id: Oid) -> Result<Oid> {
    let object = repository
        .inner
        .find_object(id, None)
        .map_err(|_| refusals::damaged(repository.root(), &refusals::object("object", id)))?;
    match object.peel(ObjectType::Commit) {
        Ok(commit) => Ok(commit.id()),
        Err(_) => {
            let kind = object.kind().map_or("no commit", |kind| kind.str());
            Err(Error::refused_by_audience(Code::CommitNotFound, |to| {
                format!(
                    "{}`{revision}` names a {kind}, not a commit. Pass the commit that contains \
                     it: `git log --oneline` lists commits.",
                    to.parameter("commit_hash")
                )
            }))
        }
    }
}

/// git takes the start of a hash for a commit where only one commit has it, whatever other
/// objects have it too.
fn the_one_commit(repository: &Repository, revision: &str, stop: Stop<'_>) -> Result<Oid> {
    let root = repository.root();
    let prefix = revision.to_ascii_lowercase();
    let objects = Objects::of(&repository.inner, root)?;
    let candidates = objects.commits_starting_with(&prefix, stop)?;
    match candidates[..] {
        [id] => Ok(id),
        _ => {
            let named: Vec<String> =
                candidates.iter().take(MAX_NAMED).map(ToString::to_string).collect();
            let named = match candidates.len() {
                0 => "none of them a commit".to_owned(),
                count if count > MAX_NAMED => format!("among them {}", named.join(", ")),
                _ => named.join(", "),
            };
            Err(Error::refused_by_audience(Code::CommitNotFound, |to| {
                format!(
                    "{}`{revision}` is the start of several objects: {named}. Pass more digits.",
                    to.parameter("commit_hash")
                )
            }))
        }
    }
}

fn not_found(repository: &Repository, revision: &str) -> Error {
    let root = repository.root().display();
    let word = shell_word(&root);
    if repository.inner.is_empty().unwrap_or(false)
        || (revision == "HEAD"
            && repository.inner.head().is_err_and(|error| error.code() == ErrorCode::UnbornBranch))
    {
        return Error::refused(
            Code::CommitNotFound,
            format!(
                "the branch checked out in {root} has no commit yet, so `{revision}` names none. \
                 Commit the change first, then retry."
            ),
        );
    }
    let remote = remote_branches(repository, revision);
    if let [first, ..] = &remote[..] {
        return Error::refused_by_audience(Code::CommitNotFound, |to| {
            format!(
                "{}`{revision}` names no commit in {root}; only a remote's branch has that name: \
                 pass `{first}`.",
                to.parameter("commit_hash")
            )
        });
    }
    let digits = revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    let hint = if digits && revision.len() < MIN_PREFIX_DIGITS {
        format!("The start of a hash needs at least {MIN_PREFIX_DIGITS} digits.")
    } else if repository.inner.is_shallow() {
        format!("The clone is shallow: older commits come with `git -C {word} fetch --unshallow`.")
    } else {
        "A commit of another clone must be fetched first.".to_owned()
    };
    Error::refused_by_audience(Code::CommitNotFound, |to| {
        format!(
            "{}`{revision}` names no commit in {root}. {hint} Pass a hash, a branch, a tag, or \
             HEAD: `git -C {word} log --oneline -5` shows the latest.",
            to.parameter("commit_hash")
        )
    })
}

/// The remotes' branches with that name, as `remote/branch`.
fn remote_branches(repository: &Repository, name: &str) -> Vec<String> {
    let Ok(remotes) = repository.inner.remotes() else { return Vec::new() };
    let remotes = remotes.iter().filter_map(|remote| remote.ok().flatten());
    remotes
        .map(|remote| format!("{remote}/{name}"))
        .filter(|branch| repository.inner.find_reference(&format!("refs/remotes/{branch}")).is_ok())
        .collect()
}
