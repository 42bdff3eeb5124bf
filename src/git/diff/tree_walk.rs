//! What differs between two trees, path by path, in git's order.

use std::cmp::Ordering;

use git2::{OdbObject, Oid};

use crate::error::Result;
use crate::git::objects::Objects;
use crate::git::refusals;
use crate::git::stop::Stop;

/// What a tree says of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) mode: Mode,
    pub(super) id: Oid,
}

/// The mode of an entry, one of the five that git knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Tree,
    File,
    Executable,
    Link,
    Submodule,
}

/// What stays when a file's executable bit is left out: a change of kind is a change of
/// type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Tree,
    Blob,
    Link,
    Submodule,
}

impl Mode {
    /// As git reads the modes that old programs wrote, such as 100664.
    pub(super) fn from_bits(bits: u32) -> Self {
        match bits & 0o170_000 {
            0o040_000 => Self::Tree,
            0o100_000 if bits & 0o100 != 0 => Self::Executable,
            0o100_000 => Self::File,
            0o120_000 => Self::Link,
            _ => Self::Submodule,
        }
    }

    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Tree => Kind::Tree,
            Self::File | Self::Executable => Kind::Blob,
            Self::Link => Kind::Link,
            Self::Submodule => Kind::Submodule,
        }
    }

    /// The six digits of the diff text.
    pub(super) fn octal(self) -> &'static str {
        match self {
            Self::Tree => "040000",
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
            Self::Submodule => "160000",
        }
    }
}

/// A path that differs; at least one side has it.
pub(super) struct Delta<'a> {
    pub(super) path: &'a [u8],
    pub(super) old: Option<Entry>,
    pub(super) new: Option<Entry>,
}

/// Tells `each` every path (never a directory) that differs between two trees; `None` is
/// the empty tree.
///
/// Keeps its own stack: a hostile depth of directories must not exhaust the thread's.
pub(super) fn walk(
    objects: &Objects<'_>,
    old: Option<Oid>,
    new: Option<Oid>,
    stop: Stop<'_>,
    each: &mut dyn FnMut(Delta<'_>) -> Result<()>,
) -> Result<()> {
    if old == new {
        return Ok(());
    }
    let mut path = Vec::new();
    let mut stack = vec![Level::open(objects, old, new, 0)?];
    while let Some(level) = stack.last_mut() {
        refusals::check(stop)?;
        path.truncate(level.path_len);
        let Some((old, new)) = level.next(objects, &mut path)? else {
            stack.pop();
            continue;
        };
        if old == new {
            continue;
        }
        // Names are matched together with "is a directory", so both sides agree on it.
        if old.or(new).is_some_and(|entry| entry.mode == Mode::Tree) {
            path.push(b'/');
            let id = |entry: Option<Entry>| entry.map(|entry| entry.id);
            stack.push(Level::open(objects, id(old), id(new), path.len())?);
        } else {
            each(Delta { path: &path, old, new })?;
        }
    }
    Ok(())
}

/// One directory on both sides, and how far each is read.
struct Level<'o> {
    old: Cursor<'o>,
    new: Cursor<'o>,
    path_len: usize,
}

impl<'o> Level<'o> {
    fn open(
        objects: &'o Objects<'_>,
        old: Option<Oid>,
        new: Option<Oid>,
        path_len: usize,
    ) -> Result<Self> {
        Ok(Self { old: Cursor::open(objects, old)?, new: Cursor::open(objects, new)?, path_len })
    }

    /// Moves to the next name on either side, which is added to `path`.
    fn next(
        &mut self,
        objects: &Objects<'_>,
        path: &mut Vec<u8>,
    ) -> Result<Option<(Option<Entry>, Option<Entry>)>> {
        let (old, new) = (self.old.peek(objects)?, self.new.peek(objects)?);
        let order = match (&old, &new) {
            (None, None) => return Ok(None),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => old.order(new),
        };
        let old = old.filter(|_| order.is_le());
        let new = new.filter(|_| order.is_ge());
        if let Some(named) = old.as_ref().or(new.as_ref()) {
            path.extend_from_slice(named.name);
        }
        let (old_entry, old_len) = Named::split(old);
        let (new_entry, new_len) = Named::split(new);
        self.old.at += old_len;
        self.new.at += new_len;
        Ok(Some((old_entry, new_entry)))
    }
}

/// An entry, its name, and how many bytes of the tree both take.
struct Named<'t> {
    name: &'t [u8],
    entry: Entry,
    len: usize,
}

impl Named<'_> {
    /// git sorts a directory as if its name ended with a slash.
    fn order(&self, other: &Self) -> Ordering {
        let common = self.name.len().min(other.name.len());
        let after = |named: &Self| match named.name.get(common) {
            Some(&byte) => byte,
            None if named.entry.mode == Mode::Tree => b'/',
            None => 0,
        };
        self.name[..common]
            .cmp(&other.name[..common])
            .then_with(|| after(self).cmp(&after(other)))
            .then_with(|| self.name.len().cmp(&other.name.len()))
    }

    fn split(named: Option<Self>) -> (Option<Entry>, usize) {
        named.map_or((None, 0), |named| (Some(named.entry), named.len))
    }
}

/// Reads a tree object entry by entry.
struct Cursor<'o> {
    tree: Option<OdbObject<'o>>,
    at: usize,
}

impl<'o> Cursor<'o> {
    fn open(objects: &'o Objects<'_>, id: Option<Oid>) -> Result<Self> {
        Ok(Self { tree: id.map(|id| objects.tree(id)).transpose()?, at: 0 })
    }

    fn peek(&self, objects: &Objects<'_>) -> Result<Option<Named<'_>>> {
        let Some(tree) = &self.tree else { return Ok(None) };
        let rest = &tree.data()[self.at..];
        if rest.is_empty() {
            return Ok(None);
        }
        let named = parse(rest, tree.id().as_bytes().len());
        named.map(Some).ok_or_else(|| objects.damaged("tree", tree.id()))
    }
}

/// The first entry: `mode SP name NUL id`.
fn parse(rest: &[u8], id_len: usize) -> Option<Named<'_>> {
    let space = memchr::memchr(b' ', rest)?;
    let nul = space + memchr::memchr(0, &rest[space..])?;
    let len = nul + 1 + id_len;
    let id = Oid::from_bytes(rest.get(nul + 1..len)?).ok()?;
    let bits = u32::from_str_radix(std::str::from_utf8(&rest[..space]).ok()?, 8).ok()?;
    let entry = Entry { mode: Mode::from_bits(bits), id };
    Some(Named { name: &rest[space + 1..nul], entry, len })
}
