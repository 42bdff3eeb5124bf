//! The diff text of one path: git's headers and hunks, pure over entries and blobs.
//!
//! Written from what git prints, see `docs/diff-hash.md` for the command.

use super::hunk_context::HunkContext;
use super::lines::{self, Hunk, Origin, Piece};
use super::quote;
use super::tree_walk::{Entry, Mode};
use crate::error::Result;
use crate::git::stop::Stop;

/// git looks for a NUL in this many bytes at the start of a file.
const BINARY_PROBE_BYTES: usize = 8000;

/// What a path holds on one side of the change.
pub(super) struct Side<'a> {
    pub(super) entry: Entry,
    /// The blob, a link's target, or a submodule's line; `None` above [`MAX_TEXT_BYTES`].
    pub(super) content: Option<&'a [u8]>,
}

/// Files above this size are binary to git (its default `core.bigFileThreshold`).
pub(super) const MAX_TEXT_BYTES: usize = 512 * 1024 * 1024;

/// Whether git takes a content for binary: a NUL in its first 8,000 bytes.
pub(super) fn is_binary(content: &[u8]) -> bool {
    memchr::memchr(0, &content[..content.len().min(BINARY_PROBE_BYTES)]).is_some()
}

/// Added and removed lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) insertions: u64,
    pub(super) deletions: u64,
}

/// Writes the text of one changed path to `out`, and counts its lines as git counts them.
///
/// A side that is `None` does not have the path. Equal sides give no text.
pub(super) fn write(
    path: &[u8],
    old: Option<&Side<'_>>,
    new: Option<&Side<'_>>,
    stop: Stop<'_>,
    out: &mut dyn FnMut(&[u8]),
) -> Result<Counts> {
    match (old, new) {
        (Some(old), Some(new)) if old.entry.mode.kind() != new.entry.mode.kind() => {
            // git prints a change of type as two changes, but counts it as one.
            write_one(path, Some(old), None, stop, out)?;
            write_one(path, None, Some(new), stop, out)?;
            count(old.content, new.content, stop)
        }
        _ => write_one(path, old, new, stop, out),
    }
}

fn count(old: Option<&[u8]>, new: Option<&[u8]>, stop: Stop<'_>) -> Result<Counts> {
    let mut counts = Counts::default();
    if let (Some(old), Some(new)) = (text(old), text(new)) {
        lines::diff(old, new, stop, &mut |piece| counts.add(&piece))?;
    }
    Ok(counts)
}

impl Counts {
    fn add(&mut self, piece: &Piece<'_>) {
        match piece {
            Piece::Line(Origin::Added, _) => self.insertions += 1,
            Piece::Line(Origin::Removed, _) => self.deletions += 1,
            _ => {}
        }
    }
}

fn write_one(
    path: &[u8],
    old: Option<&Side<'_>>,
    new: Option<&Side<'_>>,
    stop: Stop<'_>,
    out: &mut dyn FnMut(&[u8]),
) -> Result<Counts> {
    let names = Names::new(path, old.is_some(), new.is_some());
    header(&names, old.map(|side| side.entry), new.map(|side| side.entry), out);
    let mut counts = Counts::default();
    if let (Some(old), Some(new)) = (old, new)
        && old.entry.id == new.entry.id
    {
        return Ok(counts);
    }
    let (Some(old), Some(new)) = (side_text(old), side_text(new)) else {
        out(b"Binary files ");
        out(&names.old);
        out(b" and ");
        out(&names.new);
        out(b" differ\n");
        return Ok(counts);
    };
    let mut context = HunkContext::new(old);
    let mut first = true;
    lines::diff(old, new, stop, &mut |piece| {
        if std::mem::take(&mut first) {
            name_line(b"--- ", &names.old, out);
            name_line(b"+++ ", &names.new, out);
        }
        counts.add(&piece);
        match piece {
            Piece::Hunk(hunk) => hunk_line(hunk, &mut context, out),
            Piece::Line(origin, line) => content_line(origin, line, out),
        }
    })?;
    Ok(counts)
}

/// The text of a side; empty if it does not have the path.
fn side_text<'a>(side: Option<&Side<'a>>) -> Option<&'a [u8]> {
    text(side.map_or(Some(&b""[..]), |side| side.content))
}

/// The content, unless git would not show it.
fn text(content: Option<&[u8]>) -> Option<&[u8]> {
    content.filter(|content| !is_binary(content))
}

/// The names of both sides as the text shows them.
struct Names {
    git_old: Vec<u8>,
    git_new: Vec<u8>,
    old: Vec<u8>,
    new: Vec<u8>,
}

impl Names {
    fn new(path: &[u8], in_old: bool, in_new: bool) -> Self {
        let git_old = quote::in_diff("a/", path);
        let git_new = quote::in_diff("b/", path);
        let missing = || b"/dev/null".to_vec();
        Self {
            old: if in_old { git_old.clone() } else { missing() },
            new: if in_new { git_new.clone() } else { missing() },
            git_old,
            git_new,
        }
    }
}

fn header(names: &Names, old: Option<Entry>, new: Option<Entry>, out: &mut dyn FnMut(&[u8])) {
    out(b"diff --git ");
    out(&names.git_old);
    out(b" ");
    out(&names.git_new);
    out(b"\n");
    let mode = |mode: Mode| mode.octal();
    let (old_id, new_id, suffix) = match (old, new) {
        (Some(old), Some(new)) => {
            if old.mode != new.mode {
                let (old, new) = (mode(old.mode), mode(new.mode));
                out(format!("old mode {old}\nnew mode {new}\n").as_bytes());
            }
            if old.id == new.id {
                return;
            }
            let suffix = (old.mode == new.mode).then(|| format!(" {}", mode(old.mode)));
            (old.id.to_string(), new.id.to_string(), suffix.unwrap_or_default())
        }
        (Some(old), None) => {
            out(format!("deleted file mode {}\n", mode(old.mode)).as_bytes());
            let id = old.id.to_string();
            (id.clone(), "0".repeat(id.len()), String::new())
        }
        (None, Some(new)) => {
            out(format!("new file mode {}\n", mode(new.mode)).as_bytes());
            let id = new.id.to_string();
            ("0".repeat(id.len()), id, String::new())
        }
        (None, None) => return,
    };
    out(format!("index {old_id}..{new_id}{suffix}\n").as_bytes());
}

fn name_line(mark: &[u8], name: &[u8], out: &mut dyn FnMut(&[u8])) {
    out(mark);
    out(name);
    if name.contains(&b' ') {
        out(b"\t");
    }
    out(b"\n");
}

fn hunk_line(hunk: Hunk, context: &mut HunkContext<'_>, out: &mut dyn FnMut(&[u8])) {
    let range = |start: u64, lines: u64| {
        if lines == 1 { start.to_string() } else { format!("{start},{lines}") }
    };
    let old = range(hunk.old_start, hunk.old_lines);
    let new = range(hunk.new_start, hunk.new_lines);
    out(format!("@@ -{old} +{new} @@").as_bytes());
    let lines_before = hunk.old_start - u64::from(hunk.old_lines > 0);
    if let Some(context) = context.above(lines_before) {
        out(b" ");
        out(context);
    }
    out(b"\n");
}

fn content_line(origin: Origin, line: &[u8], out: &mut dyn FnMut(&[u8])) {
    out(match origin {
        Origin::Context => b" ",
        Origin::Removed => b"-",
        Origin::Added => b"+",
    });
    out(line);
    if !line.ends_with(b"\n") {
        out(b"\n\\ No newline at end of file\n");
    }
}
