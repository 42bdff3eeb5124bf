//! A diff text as lines with their numbers, and the findings that belong to them.

use crate::domain::entity::Finding;
use crate::error::Result;
use crate::ledger::work::attached::Searched;

/// How many lines of one change a page shows.
const LINES: usize = 5000;
/// How many bytes of a line a page shows.
const LENGTH: usize = 2000;

/// The change of one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FileDiff {
    /// The path after the change, or before it if the file was removed.
    pub path: String,
    /// What git says above the hunks, such as a change of mode.
    pub notes: Vec<String>,
    pub lines: Vec<Line>,
    /// Whether lines are left out, because there are too many.
    pub is_cut: bool,
}

/// A line of a hunk.
#[derive(Debug, PartialEq, Eq)]
pub struct Line {
    pub kind: Kind,
    /// Its number before the change, from 1.
    pub old: Option<u64>,
    /// Its number after the change, from 1.
    pub new: Option<u64>,
    pub text: String,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The heading of a hunk.
    Hunk,
    Same,
    Added,
    Removed,
    /// That a line has no end.
    Note,
}

/// Reads the change from the repository, without the secrets in it.
///
/// # Errors
/// As [`Searched::lines`].
pub fn read(searched: &mut Searched<'_>) -> Result<Vec<FileDiff>> {
    let mut reader = Reader::default();
    searched.lines(&|| false, &mut |line| {
        let bytes = line.as_bytes();
        reader.line(&String::from_utf8_lossy(&bytes[..bytes.len().min(LENGTH)]));
    })?;
    Ok(reader.files)
}

#[derive(Default)]
struct Reader {
    files: Vec<FileDiff>,
    /// The numbers of the next line before and after the change, inside a hunk.
    next: Option<(u64, u64)>,
    taken: usize,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if let Some(both) = line.strip_prefix("diff --git ") {
            // Twice the same, since renames are not told; a binary file has no other heading.
            let path = both.get(..both.len() / 2).and_then(path_of).unwrap_or_default();
            self.files.push(FileDiff { path, ..FileDiff::default() });
            self.next = None;
            return;
        }
        let Some(file) = self.files.last_mut() else { return };
        if self.next.is_none() && !line.starts_with("@@ ") {
            if let Some(heading) = line.strip_prefix("--- ").or_else(|| line.strip_prefix("+++ ")) {
                // The second wins, unless the file was removed.
                if let Some(path) = path_of(heading) {
                    file.path = path;
                }
            } else if !line.is_empty() && !line.starts_with("index ") {
                file.notes.push(line.to_owned());
            }
            return;
        }
        if self.taken >= LINES {
            file.is_cut = true;
            return;
        }
        self.taken += 1;
        if line.starts_with("@@ ") {
            self.next = Some(numbers(line));
            file.lines.push(Line { kind: Kind::Hunk, old: None, new: None, text: line.to_owned() });
            return;
        }
        let Some((old, new)) = self.next.as_mut() else { return };
        let step = |number: &mut u64| {
            *number += 1;
            Some(*number - 1)
        };
        let (kind, old, new) = match line.as_bytes().first() {
            Some(b'+') => (Kind::Added, None, step(new)),
            Some(b'-') => (Kind::Removed, step(old), None),
            Some(b' ') => (Kind::Same, step(old), step(new)),
            Some(b'\\') => (Kind::Note, None, None),
            _ => return,
        };
        file.lines.push(Line {
            kind,
            old,
            new,
            text: line.get(1..).unwrap_or_default().to_owned(),
        });
    }
}

/// The path in a heading such as `a/src/auth.py`, as the change's list of files has it: without
/// the quotes and escapes that git puts where a path is unusual, if it is text. `None` for
/// `/dev/null`.
fn path_of(heading: &str) -> Option<String> {
    let heading = heading.trim_end_matches('\t');
    let quoted = heading.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let path = quoted.unwrap_or(heading);
    let path = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"))?;
    Some(match quoted {
        None => path.to_owned(),
        Some(_) => match String::from_utf8(unescaped(path)) {
            Ok(text) if !text.starts_with('"') => text,
            _ => format!("\"{path}\""),
        },
    })
}

/// The bytes of a path whose special ones are escaped as in C.
fn unescaped(path: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next() {
            Some(b'a') => 0x07,
            Some(b'b') => 0x08,
            Some(b't') => b'\t',
            Some(b'n') => b'\n',
            Some(b'v') => 0x0b,
            Some(b'f') => 0x0c,
            Some(b'r') => b'\r',
            Some(digit @ b'0'..=b'3') => {
                let mut next = || rest.next().map_or(0, |digit| digit.wrapping_sub(b'0') & 7);
                ((digit - b'0') << 6) | (next() << 3) | next()
            }
            Some(other) => other,
            None => b'\\',
        });
    }
    bytes
}

/// The first line numbers in `@@ -12,3 +14,5 @@`.
fn numbers(heading: &str) -> (u64, u64) {
    let number = |sign: char| {
        let part = heading.split(' ').find_map(|word| word.strip_prefix(sign))?;
        part.split(',').next()?.parse().ok()
    };
    (number('-').unwrap_or(1), number('+').unwrap_or(1))
}

impl FileDiff {
    /// After which of its lines a finding stands: the last one that it is about. `None` if that
    /// is not among them, or the finding is about another file.
    pub fn place(&self, finding: &Finding) -> Option<usize> {
        if finding.file_path.as_deref().map(|path| path.trim_start_matches("./"))
            != Some(&self.path)
        {
            return None;
        }
        let start = finding.line_start.or(finding.line_end)?;
        let end = finding.line_end.unwrap_or(start);
        let is_meant =
            |number: u64| i64::try_from(number).is_ok_and(|n| (start..=end).contains(&n));
        self.lines.iter().rposition(|line| line.new.is_some_and(is_meant))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n\
                        @@ -1,2 +1,3 @@\n one\n-two\n+-- two\n+three\n\\ No newline at end of file\n\
                        diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n\
                        +++ /dev/null\n@@ -1 +0,0 @@\n-x\n";

    fn files(text: &str) -> Vec<FileDiff> {
        let mut reader = Reader::default();
        text.lines().for_each(|line| reader.line(line));
        reader.files
    }

    #[test]
    fn lines_have_their_numbers() {
        let whole = files(TEXT);
        let [a, gone] = &whole[..] else { panic!("{whole:?}") };
        assert_eq!((a.path.as_str(), gone.path.as_str()), ("a.py", "gone"));
        assert_eq!(gone.notes, ["deleted file mode 100644"]);
        let numbers: Vec<_> = a.lines.iter().map(|line| (line.old, line.new)).collect();
        let expected = [(None, None), (Some(1), Some(1)), (Some(2), None), (None, Some(2))];
        assert_eq!(numbers[..4], expected);
        assert_eq!(a.lines[3].text, "-- two");
    }

    #[test]
    fn paths_are_those_of_the_list_of_files() {
        let path = |heading| path_of(heading).unwrap_or_default();
        assert_eq!(path("b/a b.py\t"), "a b.py");
        assert_eq!(path(r#""b/src/\346\227\245\"\\\t.py""#), "src/日\"\\\t.py");
        assert_eq!(path(r#""b/\377""#), r#""\377""#, "no text");
        assert_eq!(path_of("/dev/null"), None);
        let files = files(
            "diff --git a/a b.png b/a b.png\nindex 1..2\nBinary files differ\n\
             diff --git \"a/\\303\\244\" \"b/\\303\\244\"\nnew file mode 100644\n",
        );
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["a b.png", "ä"]);
    }

    #[test]
    fn a_finding_stands_after_its_last_line() {
        let finding = |path: &str, start, end| {
            let json = serde_json::json!({
                "severity": "low", "category": "bug", "message": "m",
                "file_path": path, "line_start": start, "line_end": end,
            });
            serde_json::from_value::<Finding>(json).unwrap()
        };
        let a = &files(TEXT)[0];
        assert_eq!(a.place(&finding("a.py", Some(2), Some(9))), Some(4));
        assert_eq!(a.place(&finding("./a.py", Some(2), None)), Some(3));
        assert_eq!(a.place(&finding("a.py", Some(9), None)), None);
        assert_eq!(a.place(&finding("b.py", Some(2), None)), None);
    }
}
