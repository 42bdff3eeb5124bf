//! Characters that nobody sees, or that change how what stands around them is read.

/// The first character of a name that a reader does not see or that turns the direction of
/// reading; `None` where there is none.
///
/// The joiners U+200C and U+200D pass between letters of the scripts that are written with
/// them, such as Persian and Malayalam.
pub fn first_hidden(name: &str) -> Option<char> {
    let mut before = None;
    let mut rest = name.chars().peekable();
    while let Some(character) = rest.next() {
        let joins = matches!(character, '\u{200c}' | '\u{200d}')
            && before.is_some_and(is_joined)
            && rest.peek().copied().is_some_and(is_joined);
        if is_hidden(character) && !joins {
            return Some(character);
        }
        before = Some(character);
    }
    None
}

/// Whether a character is a control, reverses the direction of reading, or shows as nothing.
///
/// What shows as nothing are the default-ignorable code points of Unicode, and the two blanks
/// that are no white space. <https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point>
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Letters of the Arabic and Indic scripts.
fn is_joined(character: char) -> bool {
    matches!(character, '\u{600}'..='\u{dff}') && !is_hidden(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_character_is_found_and_a_joined_name_has_none() {
        for (name, hidden) in [
            ("ali\u{202e}ce", '\u{202e}'),
            ("\u{2066}alice", '\u{2066}'),
            ("alice\u{200b}", '\u{200b}'),
            ("al\u{200d}ice", '\u{200d}'),
            ("al\u{ad}ice", '\u{ad}'),
            ("alice\u{e0041}", '\u{e0041}'),
            ("alice\u{3164}", '\u{3164}'),
            ("ali\nce", '\n'),
            ("ali\u{2028}ce", '\u{2028}'),
            ("\u{feff}alice", '\u{feff}'),
            ("a\u{fe0f}", '\u{fe0f}'),
        ] {
            assert_eq!(first_hidden(name), Some(hidden), "{name:?}");
        }
        for name in [
            "Alice",
            "Jos\u{e9}",
            "e\u{301}",
            "\u{639}\u{644}\u{6cc}\u{200c}\u{631}\u{636}\u{627}",
            "李雷",
        ] {
            assert_eq!(first_hidden(name), None, "{name:?}");
        }
    }
}
