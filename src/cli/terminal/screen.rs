//! Where the verbs write: standard output, held locked, plain unless it is a terminal.

use std::fmt::{Display, Write as _};
use std::io::{self, IsTerminal as _, Write};
use std::process::Child;

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::pager;
use crate::domain::excerpt::printable;

/// Columns where the output is no terminal, and so has no width of its own.
const PLAIN_WIDTH: usize = 80;
/// Lines longer than this are tiring to read, however wide the terminal is.
const MAX_WIDTH: usize = 100;
/// Below this, wrapping would leave a word a line.
const MIN_WIDTH: usize = 40;
/// The widest cell of a table in a terminal, except in its last column.
const MAX_CELL: usize = 32;
/// Fewer columns would leave too little of a table's last cell to read.
const MIN_LAST: usize = 30;
/// How far the further lines of a table's row are set in.
const INDENT: usize = 4;

/// What stands out.
pub const STRONG: Style = Style::new().bold();
/// As everything else.
pub const PLAIN: Style = Style::new();
/// What may be passed over.
pub const FAINT: Style = Style::new().dimmed();
/// What went well.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// What asks for attention.
pub const NOTE: Style = AnsiColor::Yellow.on_default();
/// What stands in the way.
pub const BAD: Style = AnsiColor::Red.on_default();
/// What can be typed or called.
pub const CODE: Style = AnsiColor::Cyan.on_default();

/// Output that fits the terminal's width. Styles are dropped where they would be noise: in a
/// pipe, with `NO_COLOR` set, on a dumb terminal.
pub struct Screen {
    out: Box<dyn Write>,
    width: usize,
    /// The whole width for tables; `None` where the output is no terminal: nothing is cut there.
    columns: Option<usize>,
    pager: Option<Child>,
}

impl Screen {
    /// Standard output, locked for as long as the screen lives.
    pub fn stdout() -> Self {
        let columns = terminal_size::terminal_size_of(io::stdout())
            .map(|(width, _)| usize::from(width.0).max(MIN_WIDTH));
        let width = columns.map_or(PLAIN_WIDTH, |columns| columns.min(MAX_WIDTH));
        Self { out: Box::new(anstream::stdout().lock()), width, columns, pager: None }
    }

    /// Standard output through the person's pager, where it is a terminal: `PAGER`, else `less`.
    /// An empty `PAGER`, or `cat`, means none. [`Screen::finish`] must come last.
    pub fn paged() -> Self {
        let mut screen = Self::stdout();
        if io::stdout().is_terminal()
            && let Some(mut pager) = pager::start()
            && let Some(input) = pager.stdin.take()
        {
            let choice = AutoStream::choice(&io::stdout());
            screen.out = Box::new(AutoStream::new(Box::new(input) as Box<dyn Write>, choice));
            screen.pager = Some(pager);
        }
        screen
    }

    /// Waits until the person has left the pager, if there is one.
    ///
    /// # Errors
    /// The sink's, such as a closed pipe.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        drop(self.out);
        if let Some(mut pager) = self.pager {
            pager.wait()?;
        }
        Ok(())
    }

    /// Columns of the terminal, or as many as are taken where it is none.
    pub fn width(&self) -> usize {
        self.width
    }

    /// One line as it is, however long.
    ///
    /// # Errors
    /// The sink's, such as a closed pipe.
    pub fn line(&mut self, text: impl Display) -> io::Result<()> {
        writeln!(self.out, "{text}")
    }

    /// Text behind a `lead`, wrapped to the width, later lines set in as far as the lead is
    /// wide. `dress` styles each line after the wrapping, so that styles cost no width.
    ///
    /// # Errors
    /// The sink's, such as a closed pipe.
    pub fn hanging(
        &mut self,
        lead: (&str, Style),
        text: &str,
        dress: impl Fn(&str) -> String,
    ) -> io::Result<()> {
        let (lead, style) = lead;
        let indent = lead.width();
        for (index, line) in wrap(text, self.width.saturating_sub(indent)).iter().enumerate() {
            match index {
                0 => write!(self.out, "{}", styled(style, lead))?,
                _ => write!(self.out, "{:indent$}", "")?,
            }
            writeln!(self.out, "{}", dress(line))?;
        }
        self.out.flush()
    }
}

impl Screen {
    /// A heading after an empty line.
    ///
    /// # Errors
    /// The sink's, such as a closed pipe.
    pub fn heading(&mut self, text: &str) -> io::Result<()> {
        self.line("")?;
        self.line(styled(STRONG, text))
    }

    /// A text of others, each of its lines wrapped, all set in as far as the `lead` is wide.
    /// Nothing in it steers the terminal.
    ///
    /// # Errors
    /// The sink's, such as a closed pipe.
    pub fn quote(&mut self, lead: (&str, Style), text: &str) -> io::Result<()> {
        let text = printable(text.trim_end());
        let blank = " ".repeat(lead.0.width());
        let mut lead = lead;
        for line in text.split('\n') {
            self.hanging(lead, line, str::to_owned)?;
            lead = (&blank, PLAIN);
        }
        Ok(())
    }

    /// Rows in columns as wide as their widest cell. In a terminal, a row that is too wide goes on
    /// in the next line, and what still is too long is cut. Nothing in a cell steers the terminal.
    ///
    /// # Errors
    /// The sink's, such as a closed pipe.
    pub fn table<const N: usize>(&mut self, rows: &[[(String, Style); N]]) -> io::Result<()> {
        let mut widths = [0; N];
        let most = self.columns.map_or(usize::MAX, |_| MAX_CELL);
        let clean = |text: &str| printable(text).replace('\n', " ");
        for row in rows {
            for (index, (width, (text, _))) in widths.iter_mut().zip(row).enumerate() {
                let most = if index + 1 == N { usize::MAX } else { most };
                *width = (*width).max(clean(text).width().min(most));
            }
        }
        let breaks = breaks(&widths, self.columns);
        for row in rows {
            let mut used = 0;
            let mut line = String::new();
            for (index, ((text, style), width)) in row.iter().zip(widths).enumerate() {
                if breaks[index] {
                    self.line(line.trim_end())?;
                    line = " ".repeat(INDENT);
                    used = INDENT;
                }
                let room = self.columns.map_or(usize::MAX, |columns| columns.saturating_sub(used));
                let text = cut(&clean(text), if index + 1 == N { room } else { room.min(most) });
                let gap = if index + 1 == N { String::new() } else { gap(&text, width + 2) };
                let _ = write!(line, "{}{gap}", styled(*style, text));
                used += width + 2;
            }
            self.line(line.trim_end())?;
        }
        Ok(())
    }
}

/// Before which columns of a table a new line begins, so that none is wider than the terminal.
fn breaks<const N: usize>(widths: &[usize; N], columns: Option<usize>) -> [bool; N] {
    let mut breaks = [false; N];
    let Some(columns) = columns else { return breaks };
    let mut used = 0;
    for (index, width) in widths.iter().enumerate() {
        let least = if index + 1 == N { (*width).min(MIN_LAST) } else { *width };
        if used > 0 && used + least > columns {
            breaks[index] = true;
            used = INDENT;
        }
        used += width + 2;
    }
    breaks
}

/// At most `room` columns, the last of which tells that something was cut.
fn cut(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut used = 0;
    let fits = |character: &char| {
        used += character.width().unwrap_or(0);
        used < room
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// The blanks between a text and the column at which the next one begins.
pub fn gap(text: &str, column: usize) -> String {
    " ".repeat(column.saturating_sub(text.width()))
}

/// `text` in a style.
pub fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Breaks at blanks, and between the letters of scripts that have none, so that no line takes
/// more than `width` columns, unless one word does. Runs of two or more blanks inside a line are
/// kept: they part columns.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        for (index, piece) in pieces(word).into_iter().enumerate() {
            let line = lines.last_mut().expect("there is always a line");
            let gap = if index == 0 && (used > 0 || !line.is_empty()) { " " } else { "" };
            if used > 0 && used + gap.len() + piece.width() > width {
                line.truncate(line.trim_end().len());
                lines.push(piece.to_owned());
                used = piece.width();
            } else {
                let _ = write!(line, "{gap}{piece}");
                used += gap.len() + piece.width();
            }
        }
    }
    lines
}

/// The parts of a word between which a line may end: before each character that takes two
/// columns, unless it is joined to the one before.
fn pieces(word: &str) -> Vec<&str> {
    const JOINER: char = '\u{200d}';
    const SKIN_TONES: std::ops::RangeInclusive<char> = '\u{1f3fb}'..='\u{1f3ff}';
    let mut pieces = Vec::new();
    let (mut start, mut before) = (0, JOINER);
    for (index, character) in word.char_indices() {
        let is_wide = character.width() == Some(2);
        if is_wide && before != JOINER && !SKIN_TONES.contains(&character) {
            pieces.push(&word[start..index]);
            start = index;
        }
        before = character;
    }
    pieces.push(&word[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_too_wide_goes_on_in_the_next_line() {
        let widths = [7, 17, 8, 11, 16, 60];
        assert_eq!(breaks(&widths, None), [false; 6], "not in a pipe");
        assert_eq!(breaks(&widths, Some(100)), [false; 6]);
        assert_eq!(breaks(&widths, Some(80)), [false, false, false, false, false, true]);
        assert_eq!(breaks(&widths, Some(60)), [false, false, false, false, true, false]);
        assert_eq!(breaks(&[7, 17, 8, 11, 16, 9], Some(80)), [false; 6], "all of it fits");
    }

    #[test]
    fn wraps_at_blanks_and_keeps_long_words_whole() {
        assert_eq!(wrap("one two three", 9), ["one two", "three"]);
        assert_eq!(wrap("a-very-long-word b", 6), ["a-very-long-word", "b"]);
        assert_eq!(wrap("passed  name", 20), ["passed  name"]);
        assert_eq!(wrap("größer — ja", 8), ["größer —", "ja"]);
        assert_eq!(wrap("", 8), [""]);
    }

    #[test]
    fn a_line_takes_the_columns_that_a_terminal_gives_it() {
        assert_eq!(wrap("認証を強化する", 6), ["認証を", "強化す", "る"]);
        assert_eq!(wrap("ab 認証 cd", 7), ["ab 認証", "cd"]);
        assert_eq!(wrap("👩\u{200d}💻👍🏽 ok", 4), ["👩\u{200d}💻👍🏽", "ok"]);
        assert_eq!(wrap("e\u{301}e\u{301} e\u{301}", 4), ["e\u{301}e\u{301} e\u{301}"]);
        assert_eq!(cut("認証を強化", 7), "認証を…");
        assert_eq!(cut("認証を強化", 6), "認証…");
        assert_eq!(cut("認証を強化", 10), "認証を強化");
        assert_eq!(cut("e\u{301}e\u{301}", 2), "e\u{301}e\u{301}");
        assert_eq!(cut("abc", 0), "…");
        assert_eq!(gap("認証", 6), "  ");
        assert_eq!(gap("auth", 2), "");
    }
}
