//! Names that read the same to a person: in any case, with other blanks, or spelled with
//! letters of another script.
//!
//! What counts as look-alike is Unicode's own table of confusables, after compatibility
//! forms (full width, mathematical letters) and accents are taken away.
//! <https://www.unicode.org/reports/tr39/#Confusable_Detection>

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

/// Whether two names read the same.
pub fn read_the_same(a: &str, b: &str) -> bool {
    let bare =
        |spelling: String| -> String { spelling.chars().filter(|c| c.is_alphanumeric()).collect() };
    let (a_bare, b_bare) = (spellings(a).map(bare), spellings(b).map(bare));
    let same_letters =
        a_bare.iter().any(|spelling| !spelling.is_empty() && b_bare.contains(spelling));
    same_letters || a.trim() == b.trim()
}

/// A name's letters in each order of folding: `I` is like `l` only while it is a capital.
/// Some letters (the lunate sigma `\u{3f2}`) look like one letter, and have another as their
/// compatibility form, so that each is also folded by its looks first.
pub(super) fn spellings(name: &str) -> [String; 5] {
    let bare = |name: &str| -> String { name.nfkd().filter(|c| !is_combining_mark(*c)).collect() };
    let by_looks = |name: &str| looks(&bare(&looks(name))).to_lowercase();
    let plain = bare(name).to_lowercase();
    let lower = looks(&plain).to_lowercase();
    let upper = looks(&bare(name)).to_lowercase();
    [plain, lower, upper, by_looks(name), by_looks(&name.to_lowercase())]
}

/// A name in the letters that it looks to be written in.
pub(super) fn looks(name: &str) -> String {
    skeleton(name).collect()
}

/// Whether the first word is a known one, or becomes it once the blanks (or anything else
/// that is no letter, seen or not) are taken out of it.
pub(super) fn begins_with(spelling: &str, known: &[String; 5]) -> bool {
    let words = spelling.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let mut start = String::new();
    words.into_iter().any(|word| {
        start.push_str(word);
        known.contains(&start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_read_the_same_are_alike() {
        for (a, b) in [
            ("Alice", "alice"),
            ("Alice", " A l i c e "),
            ("Alice", "\u{410}lice"),
            ("Alice", "A\u{200b}lice"),
            ("Alice", "AIice"),
            ("Alice", "\u{ff21}lice"),
            ("Alice", "\u{c1}lice"),
            ("morgan", "rnorgan"),
            ("jo-ann", "Jo Ann"),
        ] {
            assert!(read_the_same(a, b), "{a:?} {b:?}");
        }
        for (a, b) in [("Alice", "Alina"), ("Jo", "Joan"), ("dev 1", "dev 2"), ("★", "☆")] {
            assert!(!read_the_same(a, b), "{a:?} {b:?}");
        }
    }
}
