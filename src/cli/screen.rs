//! Where the verbs write: standard output, held locked, plain unless it is a terminal.

use std::fmt::{Display, Write as _};
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

/// Columns where the output is no terminal, and so has no width of its own.
const PLAIN_WIDTH: usize = 80;
/// Lines longer than this are tiring to read, however wide the terminal is.
const MAX_WIDTH: usize = 100;
/// Below this, wrapping would leave a word a line.
const MIN_WIDTH: usize = 40;

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
}

impl Screen {
    /// Standard output, locked for as long as the screen lives.
    pub fn stdout() -> Self {
        let width = terminal_size::terminal_size_of(io::stdout())
            .map_or(PLAIN_WIDTH, |(width, _)| usize::from(width.0).clamp(MIN_WIDTH, MAX_WIDTH));
        Self { out: Box::new(anstream::stdout().lock()), width }
    }

    /// Any other sink, at a given width, with styles kept.
    #[cfg(test)]
    pub fn new(out: impl Write + 'static, width: usize) -> Self {
        Self { out: Box::new(out), width }
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
        let indent = lead.chars().count();
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

/// `text` in a style.
pub fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Breaks at blanks so that no line is longer than `width` characters, unless one word is.
/// Runs of two or more blanks inside a line are kept: they part columns.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        let line = lines.last_mut().expect("there is always a line");
        if used > 0 && used + 1 + length > width {
            line.truncate(line.trim_end().len());
            lines.push(word.to_owned());
            used = length;
        } else {
            let gap = if used > 0 || !line.is_empty() { " " } else { "" };
            let _ = write!(line, "{gap}{word}");
            used += gap.len() + length;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_at_blanks_and_keeps_long_words_whole() {
        assert_eq!(wrap("one two three", 9), ["one two", "three"]);
        assert_eq!(wrap("a-very-long-word b", 6), ["a-very-long-word", "b"]);
        assert_eq!(wrap("passed  name", 20), ["passed  name"]);
        assert_eq!(wrap("größer — ja", 8), ["größer —", "ja"]);
        assert_eq!(wrap("", 8), [""]);
    }
}
