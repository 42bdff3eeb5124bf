//! The changed lines themselves, for the policies.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use git2::OdbObject;

use super::hunk_context::split_line;
use super::lines::{self, Origin, Piece};
use super::text::{MAX_TEXT_BYTES, is_binary};
use super::tree_walk::{self, Delta, Entry, Mode};
use super::{change, quote};
use crate::error::Result;
use crate::git::objects::Objects;
use crate::git::opening::repository::Repository;
use crate::git::stop::Stop;
use crate::git::{refusals, revision};

/// One line that the commit added or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangedLine<'a> {
    /// The path, as in [`super::change::Change::files_changed`].
    pub path: &'a str,
    /// The line's number in its own side, from 1.
    pub number: u64,
    /// Added, else removed.
    pub added: bool,
    /// Whether git takes the new content for binary (of a removed line, the old one): a NUL in
    /// its first 8,000 bytes. What stands between two newlines is visited all the same, so
    /// that a NUL hides nothing.
    pub binary: bool,
    /// The line without its newline, of any length and in any encoding; UTF-16 and UTF-32 (binary to
    /// git) come as UTF-8.
    pub text: &'a [u8],
}

/// What was visited, and what was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// How many added lines were visited.
    pub added: u64,
    /// How many removed lines were visited.
    pub removed: u64,
    /// The changed contents whose lines could not be visited, in the order of the diff.
    pub not_scanned: Vec<NotScanned>,
}

/// A content whose lines were not visited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotScanned {
    /// The path, as in [`super::change::Change::files_changed`].
    pub path: String,
    /// The reason.
    pub why: Why,
}

/// Why a content was not visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The content, or what it replaced, is not in this clone.
    Missing,
}

impl Repository {
    /// Visits every added and removed line of the commit's change, merges against their
    /// first parent, whatever `.gitattributes` says of showing it; link targets too. Holds
    /// one path's contents at a time.
    ///
    /// # Errors
    ///
    /// As [`Repository::change`], but files that are missing in this clone are told in the
    /// result instead.
    pub fn visit_lines(
        &self,
        commit_hash: &str,
        stop: Stop<'_>,
        visit: &mut dyn FnMut(ChangedLine<'_>),
    ) -> Result<Scan> {
        let id = revision::resolve(self, commit_hash, stop)?;
        let objects = Objects::of(&self.inner, self.root())?;
        let ends = change::ends(&objects, id)?;
        let mut scan = Scan::default();
        tree_walk::walk(&objects, ends.old_tree, Some(ends.new_tree), stop, &mut |delta| {
            scan.path(&objects, &delta, stop, visit)
        })?;
        Ok(scan)
    }
}

impl Scan {
    pub(super) fn path(
        &mut self,
        objects: &Objects<'_>,
        delta: &Delta<'_>,
        stop: Stop<'_>,
        visit: &mut dyn FnMut(ChangedLine<'_>),
    ) -> Result<()> {
        let path = quote::shown(delta.path);
        let (old, new) = (delta.old.filter(has_lines), delta.new.filter(has_lines));
        let same_kind = match (old, new) {
            (Some(old), Some(new)) => old.mode.kind() == new.mode.kind(),
            _ => false,
        };
        if same_kind && old.map(|entry| entry.id) == new.map(|entry| entry.id) {
            return Ok(());
        }
        let mut not_scanned =
            |why| self.not_scanned.push(NotScanned { path: path.to_string(), why });
        let (old, new) = (load(objects, old)?, load(objects, new)?);
        let (Some(old), Some(new)) = (old, new) else {
            not_scanned(Why::Missing);
            return Ok(());
        };
        let (old, new) = (Text::of(old.as_ref()), Text::of(new.as_ref()));
        let mut visitor = Visitor {
            scan: self,
            path: &path,
            old: 0,
            new: 0,
            binary: [old.binary, new.binary],
            only_hidden: false,
            visit,
        };
        if !same_kind {
            lines::diff(&old.bytes, b"", stop, &mut |piece| visitor.piece(piece))?;
            lines::diff(b"", &new.bytes, stop, &mut |piece| visitor.piece(piece))?;
        } else if old.binary || new.binary || old.bytes.len().max(new.bytes.len()) > MAX_TEXT_BYTES
        {
            unmatched(&old.bytes, &new.bytes, stop, &mut visitor)?;
        } else {
            lines::diff(&old.bytes, &new.bytes, stop, &mut |piece| visitor.piece(piece))?;
        }
        if old.decoded || new.decoded {
            visitor.only_hidden = true;
            unmatched(old.raw, new.raw, stop, &mut visitor)?;
        }
        Ok(())
    }
}

/// Counts the lines of both sides on their way to `visit`.
struct Visitor<'v> {
    scan: &'v mut Scan,
    path: &'v str,
    old: u64,
    new: u64,
    /// Whether the old side is binary, and the new one.
    binary: [bool; 2],
    /// Only lines that could hide behind other text: see [`is_hidden`].
    only_hidden: bool,
    visit: &'v mut dyn FnMut(ChangedLine<'_>),
}

impl Visitor<'_> {
    fn piece(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Hunk(hunk) => {
                self.old = hunk.old_start.max(1);
                self.new = hunk.new_start.max(1);
            }
            Piece::Line(Origin::Context, _) => {
                self.old += 1;
                self.new += 1;
            }
            Piece::Line(Origin::Removed, line) => {
                self.line(false, self.old, line);
                self.old += 1;
            }
            Piece::Line(Origin::Added, line) => {
                self.line(true, self.new, line);
                self.new += 1;
            }
        }
    }

    fn line(&mut self, added: bool, number: u64, line: &[u8]) {
        if self.only_hidden && !is_hidden(line) {
            return;
        }
        let count = if added { &mut self.scan.added } else { &mut self.scan.removed };
        *count += 1;
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let binary = self.binary[usize::from(added)];
        (self.visit)(ChangedLine { path: self.path, number, added, binary, text });
    }
}

/// For contents that are too large for the line diff, or binary: a line is changed if the other side has it fewer
/// times.
fn unmatched(old: &[u8], new: &[u8], stop: Stop<'_>, visitor: &mut Visitor<'_>) -> Result<()> {
    // Random keys: nobody can make a line that passes for another.
    let keys = RandomState::new();
    for (side, other, added) in [(old, new, false), (new, old, true)] {
        let mut spare: HashMap<u64, u64> = HashMap::new();
        each_line(other, stop, &mut |_, line| *spare.entry(keys.hash_one(line)).or_default() += 1)?;
        each_line(side, stop, &mut |number, line| match spare.get_mut(&keys.hash_one(line)) {
            Some(count) if *count > 0 => *count -= 1,
            _ => visitor.line(added, number, line),
        })?;
    }
    Ok(())
}

fn each_line(text: &[u8], stop: Stop<'_>, each: &mut dyn FnMut(u64, &[u8])) -> Result<()> {
    let mut rest = text;
    for number in 1.. {
        if rest.is_empty() {
            break;
        }
        if number % 1024 == 0 {
            refusals::check(stop)?;
        }
        let (line, after) = split_line(rest);
        each(number, line);
        rest = after;
    }
    Ok(())
}

/// A submodule's commit is not a line of anyone's text.
fn has_lines(entry: &Entry) -> bool {
    entry.mode != Mode::Submodule
}

/// A side's blob, `Some(None)` if the side has none; `None` if it is missing.
fn load<'o>(
    objects: &'o Objects<'_>,
    entry: Option<Entry>,
) -> Result<Option<Option<OdbObject<'o>>>> {
    match entry {
        Some(entry) => Ok(objects.blob(entry.id)?.map(Some)),
        None => Ok(Some(None)),
    }
}

/// What a blob says.
struct Text<'b> {
    bytes: Cow<'b, [u8]>,
    binary: bool,
    /// Whether `bytes` were UTF-16 or UTF-32.
    decoded: bool,
    raw: &'b [u8],
}

impl<'b> Text<'b> {
    fn of(blob: Option<&'b OdbObject<'_>>) -> Self {
        let content = blob.map_or(&b""[..], |blob| blob.data());
        let binary = is_binary(content);
        let as_it_is = Self { bytes: Cow::Borrowed(content), binary, decoded: false, raw: content };
        if let Some(decoded) = utf32(content).filter(|_| binary) {
            return Self { bytes: Cow::Owned(decoded.into_bytes()), decoded: true, ..as_it_is };
        }
        let (start, read) = match content {
            _ if !binary => return as_it_is,
            [0xff, 0xfe, ..] => (2, u16::from_le_bytes as fn([u8; 2]) -> u16),
            [0xfe, 0xff, ..] => (2, u16::from_be_bytes as fn([u8; 2]) -> u16),
            _ => match unmarked_utf16(content) {
                Some(read) => (0, read),
                None => return as_it_is,
            },
        };
        let units = content[start..].chunks_exact(2).map(|pair| read([pair[0], pair[1]]));
        let decoded: String = char::decode_utf16(units)
            .map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        let bytes = Cow::Owned(decoded.into_bytes());
        Self { bytes, decoded: true, ..as_it_is }
    }
}

/// What a content says as UTF-32, with or without a byte order mark, if most of its start is
/// that: no other text has NULs in the same half of nearly every four bytes.
fn utf32(content: &[u8]) -> Option<String> {
    const PROBE_UNITS: usize = 2000;
    const FEWEST_UNITS: usize = 4;
    let units = || content.chunks_exact(4).map(|unit| [unit[0], unit[1], unit[2], unit[3]]);
    let reads = |read: fn([u8; 4]) -> u32| {
        let is_char = |unit: [u8; 4]| char::from_u32(read(unit)).is_some_and(|c| c != '\0');
        let (mut chars, mut others) = (0, 0);
        units().take(PROBE_UNITS).for_each(|unit| match is_char(unit) {
            true => chars += 1,
            false => others += 1,
        });
        chars >= FEWEST_UNITS && others * 20 < chars
    };
    let read = [u32::from_le_bytes as fn([u8; 4]) -> u32, u32::from_be_bytes];
    let read = read.into_iter().find(|read| reads(*read))?;
    let char = |unit| char::from_u32(read(unit)).unwrap_or(char::REPLACEMENT_CHARACTER);
    Some(units().map(char).skip_while(|c| *c == '\u{feff}').collect())
}

/// Whether a line of what was read as UTF-16 is plain text nevertheless, which the start of the
/// file must not hide: UTF-16 has no such run of ASCII.
fn is_hidden(line: &[u8]) -> bool {
    const RUN: usize = 8;
    let is_plain = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
    line.chunk_by(|one, other| is_plain(one) == is_plain(other))
        .any(|run| run.len() >= RUN && run.first().is_some_and(is_plain))
}

/// How UTF-16 without a byte order mark is read, if a content looks like it: Latin letters
/// have a NUL in the same half of most units.
fn unmarked_utf16(content: &[u8]) -> Option<fn([u8; 2]) -> u16> {
    const PROBE_BYTES: usize = 8000;
    const FEWEST_UNITS: usize = 4;
    let probe = &content[..content.len().min(PROBE_BYTES)];
    let (mut first, mut second, mut units) = (0, 0, 0);
    for pair in probe.chunks_exact(2) {
        first += usize::from(pair[0] == 0);
        second += usize::from(pair[1] == 0);
        units += 1;
    }
    let mostly = |zeros: usize, others: usize| {
        units >= FEWEST_UNITS && zeros * 2 > units && others * 20 < units
    };
    if mostly(second, first) {
        Some(u16::from_le_bytes)
    } else if mostly(first, second) {
        Some(u16::from_be_bytes)
    } else {
        None
    }
}
