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
    let line = trim_end(&line[..line.len().min(MAX_BYTES)]);
    &line[..utf8_len(line)]
}

fn trim_end(line: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let end = line.iter().rposition(|byte| !blank(byte)).map_or(0, |at| at + 1);
    &line[..end]
}

/// How far git takes the line for UTF-8: up to the first byte that is not, which includes
/// the noncharacters U+FFFE and U+FFFF, but not those of the other planes.
fn utf8_len(line: &[u8]) -> usize {
    let valid = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&line[..error.valid_up_to()]).unwrap_or_default(),
    };
    valid.find(['\u{fffe}', '\u{ffff}']).unwrap_or(valid.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn above(old: &str, lines_before: u64) -> Option<&str> {
        HunkContext::new(old.as_bytes())
            .above(lines_before)
            .map(|context| std::str::from_utf8(context).unwrap())
    }

    #[test]
    fn the_last_line_that_starts_like_a_name_counts() {
        let old = "fn a() {\n  x\n}\n_b = 1 \t\r\n$c\n1\n";
        assert_eq!(above(old, 0), None);
        assert_eq!(above(old, 3), Some("fn a() {"));
        assert_eq!(above(old, 4), Some("_b = 1"));
        assert_eq!(above(old, 6), Some("$c"));
        assert_eq!(above(old, 60), Some("$c"));
    }

    #[test]
    fn an_earlier_context_is_carried_over() {
        let mut context = HunkContext::new(b"a\n1\n2\n3\n");
        assert_eq!(context.above(2), Some(&b"a"[..]));
        assert_eq!(context.above(4), Some(&b"a"[..]));
    }

    #[test]
    fn the_cut_is_at_80_bytes_before_blanks_and_within_characters() {
        let cases = [
            ("a".repeat(81), "a".repeat(80)),
            ("a".repeat(78) + "   b", "a".repeat(78)),
            ("a".repeat(79) + "\u{20ac}", "a".repeat(79)),
            ("a \u{ffff} b".to_owned(), "a ".to_owned()),
            ("a \u{1ffff} b".to_owned(), "a \u{1ffff} b".to_owned()),
        ];
        for (line, expected) in cases {
            assert_eq!(above(&line, 1), Some(expected.as_str()));
        }
        assert_eq!(HunkContext::new(b"ab \xe9t\xe9").above(1), Some(&b"ab "[..]));
    }
}
