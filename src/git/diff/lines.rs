//! The line diff of two texts, as git's own: libgit2 carries the same algorithm.

use super::hunk_context::split_line;
use crate::error::{Error, Result};
use crate::git::refusals;
use crate::git::stop::Stop;

/// How many lines pass between two questions whether to stop.
const LINES_PER_STOP: usize = 1024;

/// A run of changed lines with up to three lines of context around it. The starts count
/// from 1, or name the line before if the side has no line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hunk {
    pub(super) old_start: u64,
    pub(super) old_lines: u64,
    pub(super) new_start: u64,
    pub(super) new_lines: u64,
}

/// Which side a line is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Context,
    Removed,
    Added,
}

/// What a diff is made of, in the order of the text.
pub(super) enum Piece<'a> {
    Hunk(Hunk),
    /// A line with its newline, if it has one.
    Line(Origin, &'a [u8]),
}

/// Tells `each` the difference between two texts; nothing if they are equal.
pub(super) fn diff(
    old: &[u8],
    new: &[u8],
    stop: Stop<'_>,
    each: &mut dyn FnMut(Piece<'_>),
) -> Result<()> {
    if old == new {
        Ok(())
    } else if old.is_empty() {
        whole(Origin::Added, new, stop, each)
    } else if new.is_empty() {
        whole(Origin::Removed, old, stop, each)
    } else {
        changed(old, new, stop, each)
    }
}

/// One side is empty, so that every line of the other is changed: no algorithm needed.
fn whole(
    origin: Origin,
    text: &[u8],
    stop: Stop<'_>,
    each: &mut dyn FnMut(Piece<'_>),
) -> Result<()> {
    let newlines = memchr::memchr_iter(b'\n', text).count() as u64;
    let lines = newlines + u64::from(!text.ends_with(b"\n"));
    each(Piece::Hunk(match origin {
        Origin::Removed => Hunk { old_start: 1, old_lines: lines, new_start: 0, new_lines: 0 },
        _ => Hunk { old_start: 0, old_lines: 0, new_start: 1, new_lines: lines },
    }));
    let mut rest = text;
    for count in 0.. {
        if rest.is_empty() {
            break;
        }
        if count % LINES_PER_STOP == 0 {
            refusals::check(stop)?;
        }
        let (line, after) = split_line(rest);
        each(Piece::Line(origin, line));
        rest = after;
    }
    Ok(())
}

fn changed(old: &[u8], new: &[u8], stop: Stop<'_>, each: &mut dyn FnMut(Piece<'_>)) -> Result<()> {
    let fault = |cause| Error::fault("the line diff of a file failed", cause);
    let mut options = git2::DiffOptions::new();
    options.context_lines(3).interhunk_lines(0).indent_heuristic(true).force_text(true);
    refusals::check(stop)?;
    let patch =
        git2::Patch::from_buffers(old, None, new, None, Some(&mut options)).map_err(fault)?;
    for index in 0..patch.num_hunks() {
        let (hunk, lines) = patch.hunk(index).map_err(fault)?;
        each(Piece::Hunk(Hunk {
            old_start: hunk.old_start().into(),
            old_lines: hunk.old_lines().into(),
            new_start: hunk.new_start().into(),
            new_lines: hunk.new_lines().into(),
        }));
        for line in 0..lines {
            if line % LINES_PER_STOP == 0 {
                refusals::check(stop)?;
            }
            let line = patch.line_in_hunk(index, line).map_err(fault)?;
            let origin = match line.origin_value() {
                git2::DiffLineType::Context => Origin::Context,
                git2::DiffLineType::Deletion => Origin::Removed,
                git2::DiffLineType::Addition => Origin::Added,
                // The missing newline shows in the line itself.
                _ => continue,
            };
            each(Piece::Line(origin, line.content()));
        }
    }
    Ok(())
}
