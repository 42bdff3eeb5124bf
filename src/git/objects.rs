//! Raw reads from the object database, with the refusals for what is not there.

use std::collections::BTreeSet;
use std::path::Path;

use git2::{ErrorCode, ObjectFormat, ObjectType, Odb, OdbObject, Oid};

use super::refusals::{self, Absence};
use super::stop::Stop;
use crate::error::{Error, Result};

/// The objects of one repository. libgit2 checks each against its id while reading.
pub(super) struct Objects<'r> {
    odb: Odb<'r>,
    repository: &'r git2::Repository,
    root: &'r Path,
}

/// What a commit object says of its content, without grafts.
pub(super) struct CommitHeader {
    pub(super) tree: Oid,
    pub(super) first_parent: Option<Oid>,
}

impl<'r> Objects<'r> {
    pub(super) fn of(repository: &'r git2::Repository, root: &'r Path) -> Result<Self> {
        let odb = repository.odb().map_err(|_| refusals::damaged(root, "its object database"))?;
        Ok(Self { odb, repository, root })
    }

    /// The kind and size of an object, without reading its content; `None` if it is missing.
    pub(super) fn header(&self, id: Oid) -> Result<Option<(usize, ObjectType)>> {
        match self.odb.read_header(id) {
            Ok(header) => Ok(Some(header)),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(_) => Err(self.damaged("object", id)),
        }
    }

    /// A blob's content; `None` if it is missing.
    pub(super) fn blob(&self, id: Oid) -> Result<Option<OdbObject<'_>>> {
        self.read(id, ObjectType::Blob)
    }

    pub(super) fn tree(&self, id: Oid) -> Result<OdbObject<'_>> {
        self.read(id, ObjectType::Tree)?
            .ok_or_else(|| self.missing(&refusals::object("tree", id), false))
    }

    /// A commit's tree and first parent, as the commit itself names them: neither grafts nor
    /// the boundary of a shallow clone hide the parent.
    pub(super) fn commit(&self, id: Oid) -> Result<Option<CommitHeader>> {
        let Some(object) = self.read(id, ObjectType::Commit)? else { return Ok(None) };
        let header = parse_commit(object.data(), id.as_bytes().len());
        header.map(Some).ok_or_else(|| self.damaged("commit", id))
    }

    /// The commits whose hash starts with `prefix` (lower-case hex digits).
    pub(super) fn commits_starting_with(&self, prefix: &str, stop: Stop<'_>) -> Result<Vec<Oid>> {
        let mut ids = BTreeSet::new();
        let listed = self.odb.foreach(|id| {
            if id.to_string().starts_with(prefix) {
                ids.insert(id.to_string());
            }
            !stop()
        });
        refusals::check(stop)?;
        listed.map_err(|_| refusals::damaged(self.root, "its object database"))?;
        let mut commits = Vec::new();
        for id in ids {
            let Some(id) = full_id(&id, id.len() / 2) else { continue };
            if matches!(self.header(id)?, Some((_, ObjectType::Commit))) {
                commits.push(id);
            }
        }
        Ok(commits)
    }

    /// The refusal for something that is missing; `history`: a parent, which a shallow clone
    /// cuts off.
    pub(super) fn missing(&self, what: &str, history: bool) -> Error {
        let kind = if history && self.repository.is_shallow() {
            Absence::Shallow
        } else if self.is_partial() {
            Absence::Partial
        } else {
            Absence::Unexplained
        };
        refusals::missing(self.root, what, kind)
    }

    /// The refusal for an object that is not what it should be.
    pub(super) fn damaged(&self, kind: &str, id: Oid) -> Error {
        refusals::damaged(self.root, &refusals::object(kind, id))
    }

    fn is_partial(&self) -> bool {
        let Ok(config) = self.repository.config() else { return false };
        config.get_string("extensions.partialclone").is_ok()
            || config
                .entries(Some(r"^remote\..*\.promisor$"))
                .is_ok_and(|mut entries| entries.next().is_some())
    }

    fn read(&self, id: Oid, kind: ObjectType) -> Result<Option<OdbObject<'_>>> {
        match self.odb.read(id) {
            Ok(object) if object.kind() == kind => Ok(Some(object)),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            _ => Err(self.damaged(kind.str(), id)),
        }
    }
}

/// The id that is written out in full, in either case of letters.
pub(super) fn full_id(text: &str, id_len: usize) -> Option<Oid> {
    if text.len() != id_len * 2 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let format = if id_len == 20 { ObjectFormat::Sha1 } else { ObjectFormat::Sha256 };
    Oid::from_str_ext(text, format).ok()
}

fn parse_commit(data: &[u8], id_len: usize) -> Option<CommitHeader> {
    let mut lines = data.split(|&byte| byte == b'\n');
    let tree = hex_id(lines.next()?.strip_prefix(b"tree ")?, id_len)?;
    let parent = lines.next().and_then(|line| line.strip_prefix(b"parent "));
    let first_parent = match parent {
        Some(hex) => Some(hex_id(hex, id_len)?),
        None => None,
    };
    Some(CommitHeader { tree, first_parent })
}

fn hex_id(hex: &[u8], id_len: usize) -> Option<Oid> {
    let hex = std::str::from_utf8(hex).ok()?;
    full_id(hex, id_len)
}
