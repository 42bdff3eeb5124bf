//! The text after a hunk's second `@@`: the function that the hunk is in.

/// git cuts the context here, in bytes.
const MAX_BYTES: usize = 80;

/// Finds each hunk's context in the old text; the hunks come in ascending order.
pub(super) struct HunkContext<'a> {
    /// What is left of the old text from `line` on.
    rest: &'a [u8],
    /// How many lines of the old text have been looked at.
    line: u64,
    /// The last line that looks like the start of a function, up to `line`.
    last: Option<&'a [u8]>,
}

impl<'a> HunkContext<'a> {
    pub(super) fn new(old: &'a [u8]) -> Self {
        Self { rest: old, line: 0, last: None }
    }

    /// The context of a hunk before which the old text has `lines_before` lines: the last
    /// of them that starts with a letter, `_` or `$`.
    pub(super) fn above(&mut self, lines_before: u64) -> Option<&'a [u8]> {
        while self.line < lines_before {
            let Some(first) = self.rest.first() else { break };
            let (line, rest) = split_line(self.rest);
            if first.is_ascii_alphabetic() || matches!(first, b'_' | b'$') {
                self.last = Some(line);
            }
            self.rest = rest;
            self.line += 1;
        }
        self.last.map(cut)
    }
}

/// The first line with its newline, and the rest.
pub(super) fn split_line(text: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr::memchr(b'\n', text).map_or(text.len(), |at| at + 1);
    text.split_at(end)
}

fn cut(line: &[u8]) -> &[u8] {
    let line = &line[..line.len().min(MAX_BYTES)];
    let line = trim_end(line);
    match std::str::from_utf8(line) {
        Ok(_) => line,
        Err(error) => &line[..error.valid_up_to()],
    }
}

fn trim_end(line: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let end = line.iter().rposition(|byte| !blank(byte)).map_or(0, |at| at + 1);
    &line[..end]
}
