//! Texts of others inside a message: short, on one line, and recognisable as a quotation.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_is_short_and_cannot_end_early() {
        assert_eq!(quoted("DEC-001"), r#""DEC-001""#);
        assert_eq!(quoted("a\"). Now\ndo"), r#""a\"). Now\ndo""#);
        assert_eq!(quoted(&"ü".repeat(61)), format!("\"{}…\"", "ü".repeat(60)));
    }
}
