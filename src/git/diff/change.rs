//! What `attach_git_diff` records of a commit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use git2::{ObjectType, OdbObject, Oid};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::quote;
use super::text::{self, MAX_TEXT_BYTES, Side};
use super::tree_walk::{self, Delta, Entry, Mode};
use crate::domain::digest;
use crate::error::Result;
use crate::git::objects::Objects;
use crate::git::opening::repository::Repository;
use crate::git::stop::Stop;
use crate::git::{refusals, revision};

/// A commit's change against its first parent, or against the empty tree for a root commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The root of the repository, resolved.
    pub repo_path: PathBuf,
    /// The branch now checked out there; `None` when detached.
    pub branch_name: Option<String>,
    /// The full hash: 40 hex digits, 64 in a SHA-256 repository.
    pub commit_hash: String,
    /// The first parent's full hash; `None` for a root commit.
    pub parent_commit_hash: Option<String>,
    /// `sha256:` and the hex SHA-256 of the diff text (`docs/diff-hash.md`).
    pub diff_hash: String,
    /// The changed paths, sorted by their bytes, each once. A path that is not UTF-8, or
    /// starts with a double quote, is written as git quotes it: `"caf\351.txt"`.
    pub files_changed: Vec<String>,
    /// Added lines; a binary file counts none.
    pub insertions: u64,
    /// Removed lines; a binary file counts none.
    pub deletions: u64,
}

/// What a commit changes in one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileCounts {
    /// The path, as in [`Change::files_changed`].
    pub path: String,
    /// Added lines; a binary file counts none.
    pub insertions: u64,
    /// Removed lines; a binary file counts none.
    pub deletions: u64,
}

/// The trees that a commit's change lies between.
pub(super) struct Ends {
    pub(super) parent: Option<Oid>,
    pub(super) old_tree: Option<Oid>,
    pub(super) new_tree: Oid,
}

impl Repository {
    /// The change of the commit that `revision` names: a full or short hash, a branch, a
    /// tag, or an expression such as `HEAD~2`; blank means `HEAD`.
    ///
    /// # Errors
    ///
    /// `InvalidInput` or `CommitNotFound` if it names no commit, `IncompleteHistory` if the
    /// parent or a file is not in this clone, `UnreadableRepository` for damaged objects; a
    /// fault if `stop` ended it. Nothing partial is ever returned.
    pub fn change(&self, revision: &str, stop: Stop<'_>) -> Result<Change> {
        let id = revision::resolve(self, revision, stop)?;
        let objects = Objects::of(&self.inner, self.root())?;
        let ends = ends(&objects, id)?;
        let mut hash = Sha256::new();
        let mut files = BTreeSet::new();
        let (mut insertions, mut deletions) = (0, 0);
        tree_walk::walk(&objects, ends.old_tree, Some(ends.new_tree), stop, &mut |delta| {
            let counts = write_delta(&objects, &delta, stop, &mut |text| hash.update(text))?;
            insertions += counts.insertions;
            deletions += counts.deletions;
            files.insert(quote::shown(delta.path).into_owned());
            Ok(())
        })?;
        Ok(Change {
            repo_path: self.root().to_path_buf(),
            branch_name: self.branch(),
            commit_hash: id.to_string(),
            parent_commit_hash: ends.parent.map(|parent| parent.to_string()),
            diff_hash: digest::shown(hash),
            files_changed: files.into_iter().collect(),
            insertions,
            deletions,
        })
    }

    /// The counts of [`Repository::change`] for each path, sorted by the path.
    ///
    /// # Errors
    ///
    /// As [`Repository::change`].
    pub fn file_counts(&self, revision: &str, stop: Stop<'_>) -> Result<Vec<FileCounts>> {
        let id = revision::resolve(self, revision, stop)?;
        let objects = Objects::of(&self.inner, self.root())?;
        let ends = ends(&objects, id)?;
        let mut files = BTreeMap::new();
        tree_walk::walk(&objects, ends.old_tree, Some(ends.new_tree), stop, &mut |delta| {
            let counts = write_delta(&objects, &delta, stop, &mut |_text| {})?;
            // A file that gives way to a directory of its name comes twice.
            let (insertions, deletions) =
                files.entry(quote::shown(delta.path).into_owned()).or_insert((0, 0));
            *insertions += counts.insertions;
            *deletions += counts.deletions;
            Ok(())
        })?;
        let counts = |(path, (insertions, deletions))| FileCounts { path, insertions, deletions };
        Ok(files.into_iter().map(counts).collect())
    }

    /// Hands the diff text of a commit to `out`, piece by piece: what [`Change::diff_hash`]
    /// is the hash of.
    ///
    /// # Errors
    ///
    /// As [`Repository::change`].
    pub fn diff_text(
        &self,
        revision: &str,
        stop: Stop<'_>,
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        let id = revision::resolve(self, revision, stop)?;
        let objects = Objects::of(&self.inner, self.root())?;
        let ends = ends(&objects, id)?;
        tree_walk::walk(&objects, ends.old_tree, Some(ends.new_tree), stop, &mut |delta| {
            write_delta(&objects, &delta, stop, out).map(|_| ())
        })
    }
}

pub(super) fn ends(objects: &Objects<'_>, id: Oid) -> Result<Ends> {
    let missing = |what, id| objects.missing(&refusals::object(what, id), true);
    let commit = objects.commit(id)?.ok_or_else(|| missing("commit", id))?;
    let old_tree = match commit.first_parent {
        Some(parent) => Some(
            objects
                .commit(parent)?
                .ok_or_else(|| {
                    objects.missing(&format!("the parent {parent} of the commit {id}"), true)
                })?
                .tree,
        ),
        None => None,
    };
    Ok(Ends { parent: commit.first_parent, old_tree, new_tree: commit.tree })
}

pub(super) fn write_delta(
    objects: &Objects<'_>,
    delta: &Delta<'_>,
    stop: Stop<'_>,
    out: &mut dyn FnMut(&[u8]),
) -> Result<text::Counts> {
    // A mere change of the executable bit needs no content.
    let same = match (delta.old, delta.new) {
        (Some(old), Some(new)) => old.id == new.id && old.mode.kind() == new.mode.kind(),
        _ => false,
    };
    let load = |entry: Option<Entry>| match entry {
        Some(entry) if !same => Content::load(objects, delta.path, entry).map(Some),
        _ => Ok(None),
    };
    let (old, new) = (load(delta.old)?, load(delta.new)?);
    let old_side = delta.old.map(|entry| Side { entry, content: bytes(old.as_ref()) });
    let new_side = delta.new.map(|entry| Side { entry, content: bytes(new.as_ref()) });
    text::write(delta.path, old_side.as_ref(), new_side.as_ref(), stop, out)
}

fn bytes<'c>(content: Option<&'c Content<'_>>) -> Option<&'c [u8]> {
    content.map_or(Some(&b""[..]), Content::bytes)
}

/// What one side of a path holds.
enum Content<'o> {
    Blob(OdbObject<'o>),
    Submodule(String),
    /// Too large to be text.
    Oversize,
}

impl<'o> Content<'o> {
    fn load(objects: &'o Objects<'_>, path: &[u8], entry: Entry) -> Result<Self> {
        if entry.mode == Mode::Submodule {
            return Ok(Self::Submodule(format!("Subproject commit {}\n", entry.id)));
        }
        let missing = || {
            let path = quote::shown(path);
            objects.missing(&format!("the content {} of the file `{path}`", entry.id), false)
        };
        let (size, kind) = objects.header(entry.id)?.ok_or_else(missing)?;
        if kind == ObjectType::Blob && size > MAX_TEXT_BYTES {
            return Ok(Self::Oversize);
        }
        objects.blob(entry.id)?.map(Self::Blob).ok_or_else(missing)
    }

    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Blob(blob) => Some(blob.data()),
            Self::Submodule(line) => Some(line.as_bytes()),
            Self::Oversize => None,
        }
    }
}
