//! Texts of others inside a message: short, on one line, and recognisable as a quotation.

use std::fmt::Display;

/// A text cut after 60 characters.
pub fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A text cut after 60 characters, in double quotes, with line ends and quotes escaped.
pub fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text))
}

/// A text in which nothing moves a terminal's cursor, changes its colours, reverses the direction
/// of reading or is there without being seen: such characters are escaped. Line ends stay.
pub fn printable(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut printable, character| {
        match character {
            '\n' => printable.push('\n'),
            other if other.is_control() || is_layout(other) => {
                printable.extend(other.escape_unicode());
            }
            other => printable.push(other),
        }
        printable
    })
}

/// As [`printable`], on one line.
pub fn one_line(text: &str) -> String {
    printable(text).replace('\n', "\\n")
}

/// A path as one word of a command that a message tells to run, always in quotes: nothing in it
/// is carried out by a shell, whoever named the directory.
pub fn shell_word(path: impl Display) -> String {
    let path = path.to_string();
    // On Windows a backslash parts directories, and no name holds a double quote.
    let plain = |character: char| match character {
        '\\' => cfg!(windows),
        other => !matches!(other, '"' | '$' | '`' | '!') && !other.is_control(),
    };
    if path.chars().all(plain) {
        format!("\"{path}\"")
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

/// Separators of lines, the controls of Unicode's bidirectional algorithm, and characters that
/// show nothing; but for those that join and part the letters of a word, or emoji.
pub fn is_layout(character: char) -> bool {
    matches!(character,
        '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A text of which the middle is left out where it is longer than 8 KiB: whatever a message
/// quotes or lists, what it begins with and the next step at its end stay readable.
pub fn without_middle(text: &str) -> String {
    const HEAD: usize = 6 * 1024;
    const TAIL: usize = 2 * 1024;
    if text.len() <= HEAD + TAIL {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(HEAD);
    let tail = text.ceil_char_boundary(text.len() - TAIL);
    format!("{} … {}", &text[..head], &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_is_short_and_cannot_end_early() {
        assert_eq!(quoted("DEC-001"), r#""DEC-001""#);
        assert_eq!(quoted("a\"). Now\ndo"), r#""a\"). Now\ndo""#);
        assert_eq!(quoted(&"ü".repeat(61)), format!("\"{}…\"", "ü".repeat(60)));
    }

    #[test]
    fn nothing_that_is_shown_steers_a_terminal() {
        assert_eq!(
            printable("größer\n\u{1b}[31m\u{202e}\u{9b}"),
            "größer\n\\u{1b}[31m\\u{202e}\\u{9b}"
        );
        assert_eq!(printable("a\u{200b}\u{61c}\u{e0041}"), "a\\u{200b}\\u{61c}\\u{e0041}");
        assert_eq!(printable("👩\u{200d}💻 می\u{200c}رود"), "👩\u{200d}💻 می\u{200c}رود");
        assert_eq!(one_line("a\nb\u{2028}\r"), "a\\nb\\u{2028}\\u{d}");
    }

    #[test]
    fn no_shell_carries_out_a_part_of_a_path() {
        assert_eq!(shell_word("/repos/my shop"), "\"/repos/my shop\"");
        assert_eq!(shell_word("/repos/$(id)"), "'/repos/$(id)'");
        assert_eq!(shell_word("/it's `id`"), r"'/it'\''s `id`'");
    }

    #[test]
    fn a_long_message_keeps_its_beginning_and_its_end() {
        let long = format!("first {} last", "ü".repeat(100_000));
        let short = without_middle(&long);
        assert!(short.starts_with("first ü") && short.ends_with("ü last") && short.len() < 9000);
        assert_eq!(without_middle("all of it"), "all of it");
    }
}
