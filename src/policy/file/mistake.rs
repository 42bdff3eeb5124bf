//! What is wrong in a policy file, and where.

use std::fmt;

/// More mistakes than these are summed up in a last one.
const SHOWN: usize = 50;

/// One mistake in a policy file. Its message names sections and keys of a policy file and
/// what would be accepted, and never a value of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// Whole sentences.
    pub message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

/// The mistakes found so far, each at a byte offset of the file.
#[derive(Debug, Default)]
pub(in crate::policy) struct Mistakes {
    found: Vec<(usize, String)>,
}

impl Mistakes {
    pub(in crate::policy) fn add(&mut self, at: usize, message: impl Into<String>) {
        self.found.push((at, message.into()));
    }

    pub(in crate::policy) fn append(&mut self, mut other: Self) {
        self.found.append(&mut other.found);
    }

    /// Keeps the first on each line of `text`: the others mostly follow from it.
    pub(in crate::policy) fn keep_first_of_lines(&mut self, text: &str) {
        self.found.sort_by_key(|(at, _)| *at);
        self.found.dedup_by_key(|(at, _)| line_start(text, *at));
    }

    pub(in crate::policy) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Drops those that stand on the same line of `text` as one of `others`.
    pub(in crate::policy) fn drop_lines_of(&mut self, others: &Self, text: &str) {
        let lines: std::collections::HashSet<usize> =
            others.found.iter().map(|(at, _)| line_start(text, *at)).collect();
        self.found.retain(|(at, _)| !lines.contains(&line_start(text, *at)));
    }

    /// All of them in the order of the file, each with its line and column in `text`.
    pub(in crate::policy) fn into_placed(mut self, text: &str) -> Vec<Mistake> {
        self.found.sort_by_key(|(at, _)| *at);
        let rest = self.found.len().saturating_sub(SHOWN);
        let mut placed: Vec<Mistake> = self
            .found
            .into_iter()
            .take(SHOWN)
            .map(|(at, message)| {
                let start = line_start(text, at);
                let line = 1 + text[..start].matches('\n').count();
                let column = 1 + text[start..floor(text, at)].chars().count();
                Mistake { line, column, message }
            })
            .collect();
        if rest > 0
            && let Some(last) = placed.last().cloned()
        {
            placed.push(Mistake { message: format!("{rest} more mistake(s) follow."), ..last });
        }
        placed
    }
}

/// Where the lines of a text begin.
#[derive(Debug)]
pub(in crate::policy) struct Lines {
    breaks: Vec<usize>,
}

impl Lines {
    pub(in crate::policy) fn new(text: &str) -> Self {
        Self { breaks: text.match_indices('\n').map(|(at, _)| at).collect() }
    }

    /// The line of a byte offset, from 1.
    pub(in crate::policy) fn line(&self, at: usize) -> usize {
        1 + self.breaks.partition_point(|line_break| *line_break < at)
    }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..floor(text, at)].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The nearest offset at or before `at` where a character begins.
fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(text: &str, at: &[usize]) -> Vec<(usize, usize)> {
        let mut mistakes = Mistakes::default();
        at.iter().for_each(|at| mistakes.add(*at, "wrong"));
        mistakes.into_placed(text).iter().map(|m| (m.line, m.column)).collect()
    }

    #[test]
    fn places_are_counted_from_one_in_characters() {
        assert_eq!(placed("", &[0]), [(1, 1)]);
        assert_eq!(placed("é = 1\nb = 2", &[0, 3, 7, 99]), [(1, 1), (1, 3), (2, 1), (2, 6)]);
        assert_eq!(placed("a\r\nb", &[3]), [(2, 1)]);
    }

    #[test]
    fn they_come_in_the_order_of_the_file() {
        assert_eq!(placed("a\nb\nc", &[4, 0, 2]), [(1, 1), (2, 1), (3, 1)]);
    }

    #[test]
    fn a_flood_is_summed_up() {
        let text = "a\n".repeat(200);
        let mut mistakes = Mistakes::default();
        (0..200).for_each(|line| mistakes.add(2 * line, "wrong"));
        let placed = mistakes.into_placed(&text);
        assert_eq!(placed.len(), SHOWN + 1);
        assert_eq!(placed[SHOWN].message, "150 more mistake(s) follow.");
    }

    #[test]
    fn a_mistake_that_follows_from_another_on_its_line_goes() {
        let text = "a = b\nc = d\n";
        let (mut syntax, mut meaning) = (Mistakes::default(), Mistakes::default());
        syntax.add(4, "no quotes");
        meaning.add(0, "unknown key");
        meaning.add(6, "unknown key");
        meaning.drop_lines_of(&syntax, text);
        assert_eq!(meaning.into_placed(text).len(), 1);
    }
}
