//! Names that read the same to a person: in any case, with other blanks, or spelled with
//! letters of another script.
//!
//! What counts as look-alike is Unicode's own table of confusables, after compatibility
//! forms (full width, mathematical letters) and accents are taken away, and the letters that
//! neither leads back: small capitals, enclosed ones, halves of flags.
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
    let name = &bare_letters(name);
    let bare = |name: &str| -> String { name.nfkd().filter(|c| !is_combining_mark(*c)).collect() };
    let by_looks = |name: &str| looks(&bare(&looks(name))).to_lowercase();
    let plain = bare(name).to_lowercase();
    let lower = looks(&plain).to_lowercase();
    let upper = looks(&bare(name)).to_lowercase();
    [plain, lower, upper, by_looks(name), by_looks(&name.to_lowercase())]
}

/// The name with each letter that stands in a frame, or is a small capital, as the plain one.
pub(super) fn bare_letters(name: &str) -> String {
    /// From a to z; there is none of x.
    const SMALL_CAPITALS: &str = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡxʏᴢ";
    /// Where alphabets begin: in parentheses, in circles and squares, of flags.
    const FRAMED: [u32; 7] = [0x249c, 0x24d0, 0x1f110, 0x1f130, 0x1f150, 0x1f170, 0x1f1e6];
    let plain = |letter: char| {
        if letter.is_ascii() {
            return letter;
        }
        let place = SMALL_CAPITALS.chars().position(|small| small == letter);
        let framed = || FRAMED.iter().filter_map(|first| u32::from(letter).checked_sub(*first));
        let place =
            place.or_else(|| framed().map(|place| place as usize).find(|place| *place < 26));
        place.and_then(|place| ('a'..='z').nth(place)).unwrap_or(letter)
    };
    name.chars().map(plain).collect()
}

/// The name with each sign and digit that is written for a letter as that letter, where it is
/// written with any: `cl4ude`, `(laude`. A one may be an `i` or an `l`.
pub(super) fn signs_as_letters(name: &str) -> Vec<String> {
    let letter = |sign: char, one: char| match sign {
        '4' | '@' => 'a',
        '8' => 'b',
        '(' | '<' | '{' | '[' | '\u{a2}' | '\u{a9}' => 'c',
        '3' | '\u{20ac}' => 'e',
        '6' | '9' => 'g',
        '1' | '!' | '|' | '\u{a1}' => one,
        '\u{a3}' => 'l',
        '0' => 'o',
        '5' | '$' => 's',
        '7' | '+' => 't',
        other => other,
    };
    let written = |one| name.chars().map(|sign| letter(sign, one)).collect::<String>();
    let mut readings = vec![written('i'), written('l')];
    readings.dedup();
    readings.retain(|reading| reading != name);
    readings
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
