//! What is staged: the index against `HEAD`, for a check before the commit is made.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use git2::{ErrorCode, ObjectType};

use super::scan::{ChangedLine, Scan};
use super::tree_walk::{self, Delta, Entry, Mode};
use super::{change, quote};
use crate::error::{Code, Error, Result};
use crate::git::objects::Objects;
use crate::git::opening::repository::Repository;
use crate::git::refusals;
use crate::git::stop::Stop;

/// A path whose staged content is one that does not exist yet: `git add --intent-to-add`.
const INTENT_TO_ADD: u16 = 1 << 13;

/// A change that is not committed yet.
pub struct Staged<'r> {
    objects: Objects<'r>,
    deltas: Vec<(Vec<u8>, Option<Entry>, Option<Entry>)>,
    /// The changed paths, as in [`super::change::Change::files_changed`].
    pub files_changed: Vec<String>,
    /// Added lines; a binary file counts none.
    pub insertions: u64,
    /// Removed lines; a binary file counts none.
    pub deletions: u64,
}

impl Repository {
    /// What is staged: in the repository's index, or in the one that git names to its hooks.
    /// The index is read and never written, not even refreshed. Without a commit yet,
    /// everything in the index is staged.
    ///
    /// # Errors
    ///
    /// `UnreadableRepository` for an index of a kind that cannot be read, or with conflicts;
    /// otherwise as [`Repository::change`].
    pub fn staged(&self, index: Option<&Path>, stop: Stop<'_>) -> Result<Staged<'_>> {
        let objects = Objects::of(&self.inner, self.root())?;
        let mut sides: BTreeMap<Vec<u8>, (Option<Entry>, Option<Entry>)> = BTreeMap::new();
        if let Some(tree) = self.head_tree(&objects)? {
            tree_walk::walk(&objects, Some(tree), None, stop, &mut |delta| {
                sides.entry(delta.path.to_vec()).or_default().0 = delta.old;
                Ok(())
            })?;
        }
        let index = match index {
            Some(path) => git2::Index::open_ext(path, self.inner.object_format()),
            None => self.inner.index(),
        };
        let index = index.map_err(|_| {
            let what = "its index cannot be read. A sparse or split index has to be a plain one: \
                        run `git sparse-checkout reapply --no-sparse-index`, or `git update-index \
                        --no-split-index`";
            self.unreadable(what)
        })?;
        for entry in index.iter() {
            if (entry.flags >> 12) & 0b11 != 0 {
                return Err(
                    self.unreadable("it has conflicts that are not resolved: add the files")
                );
            }
            if entry.flags_extended & INTENT_TO_ADD == 0 {
                let new = Entry { mode: Mode::from_bits(entry.mode), id: entry.id };
                sides.entry(entry.path).or_default().1 = Some(new);
            }
        }
        let deltas: Vec<_> = sides
            .into_iter()
            .filter(|(_, (old, new))| old != new)
            .map(|(path, (old, new))| (path, old, new))
            .collect();
        let mut files = BTreeSet::new();
        let (mut insertions, mut deletions) = (0, 0);
        for (path, old, new) in &deltas {
            refusals::check(stop)?;
            let delta = Delta { path, old: *old, new: *new };
            let counts = change::write_delta(&objects, &delta, stop, &mut |_| {})?;
            insertions += counts.insertions;
            deletions += counts.deletions;
            files.insert(quote::shown(path).into_owned());
        }
        let files_changed = files.into_iter().collect();
        Ok(Staged { objects, deltas, files_changed, insertions, deletions })
    }

    /// `None` where there is no commit yet.
    fn head_tree(&self, objects: &Objects<'_>) -> Result<Option<git2::Oid>> {
        let head = match self.inner.head() {
            Ok(head) => head,
            Err(error) if error.code() == ErrorCode::UnbornBranch => return Ok(None),
            Err(_) => return Err(refusals::damaged(self.root(), "HEAD")),
        };
        let commit = head
            .peel(ObjectType::Commit)
            .map_err(|_| refusals::damaged(self.root(), "the commit of HEAD"))?;
        let header = objects.commit(commit.id())?;
        Ok(header.map(|header| header.tree))
    }

    fn unreadable(&self, what: &str) -> Error {
        let root = self.root().display();
        Error::refused(
            Code::UnreadableRepository,
            format!("what is staged in {root} cannot be told: {what}, then retry."),
        )
    }
}

impl Staged<'_> {
    /// Visits every added and removed line, as [`Repository::visit_lines`] does.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn visit_lines(
        &self,
        stop: Stop<'_>,
        visit: &mut dyn FnMut(ChangedLine<'_>),
    ) -> Result<Scan> {
        let mut scan = Scan::default();
        for (path, old, new) in &self.deltas {
            refusals::check(stop)?;
            let delta = Delta { path, old: *old, new: *new };
            scan.path(&self.objects, &delta, stop, visit)?;
        }
        Ok(scan)
    }
}
