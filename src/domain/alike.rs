//! Names that read the same to a person: in any case, with other blanks, or spelled with
//! letters of another script.
//!
//! What counts as look-alike is Unicode's own table of confusables, after compatibility
//! forms (full width, mathematical letters) and accents are taken away.
//! <https://www.unicode.org/reports/tr39/#Confusable_Detection>

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

use super::agent::{self, infer_type};
use super::value::AgentType;

/// Whether two names read the same.
pub fn alike(a: &str, b: &str) -> bool {
    let bare =
        |spelling: String| -> String { spelling.chars().filter(|c| c.is_alphanumeric()).collect() };
    let (a_bare, b_bare) = (spellings(a).map(bare), spellings(b).map(bare));
    let alike = a_bare.iter().any(|spelling| !spelling.is_empty() && b_bare.contains(spelling));
    alike || a.trim() == b.trim()
}

/// The kind of coding agent that a name reads like; `None` for a person's. Stricter than
/// [`infer_type`], which names the rows of the ledger and is fixed by the original: here
/// `c l a u d e` and `Сlaude` with a Cyrillic letter are agents too.
pub fn reads_as_agent(name: &str) -> Option<AgentType> {
    let plain = infer_type(name);
    if plain != AgentType::Human {
        return Some(plain);
    }
    let spelled = spellings(name);
    agent::known().find_map(|(word, kind)| {
        // A letter may be like two (`m` is like `rn`), so the known word is spelled as well.
        let known = spellings(word);
        let reads = spelled.iter().any(|spelling| begins_with(spelling, &known));
        reads.then_some(kind)
    })
}

/// A name's letters in each order of folding: `I` is like `l` only while it is a capital.
/// Some letters (the lunate sigma `\u{3f2}`) look like one letter, and have another as their
/// compatibility form, so that each is also folded by its looks first.
fn spellings(name: &str) -> [String; 5] {
    let bare = |name: &str| -> String { name.nfkd().filter(|c| !is_combining_mark(*c)).collect() };
    let looks = |name: &str| -> String { skeleton(name).collect() };
    let by_looks = |name: &str| looks(&bare(&looks(name))).to_lowercase();
    let plain = bare(name).to_lowercase();
    let lower = looks(&plain).to_lowercase();
    let upper = looks(&bare(name)).to_lowercase();
    [plain, lower, upper, by_looks(name), by_looks(&name.to_lowercase())]
}

/// Whether the first word is a known one, or becomes it once the blanks (or anything else
/// that is no letter, seen or not) are taken out of it.
fn begins_with(spelling: &str, known: &[String; 5]) -> bool {
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
            assert!(alike(a, b), "{a:?} {b:?}");
        }
        for (a, b) in [("Alice", "Alina"), ("Jo", "Joan"), ("dev 1", "dev 2"), ("★", "☆")] {
            assert!(!alike(a, b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn an_agent_is_known_in_any_spelling() {
        for name in [
            "claude",
            "CLAUDE",
            "c l a u d e",
            "cla ude code",
            "\u{441}laude",
            "CIaude",
            "c1aude",
            "\u{ff43}laude",
            "cl\u{e0}ude",
            "cla\u{200b}ude",
            "@claude",
            "c\u{3bf}dex-reviewer",
            "C0dex",
            "\u{430}mp",
            "\u{3f2}laude",
            "\u{3f9}LAUDE",
        ] {
            assert!(reads_as_agent(name).is_some(), "{name:?}");
        }
        for name in ["Claudette", "maintainer", "Alder", "Amplify", "Клод", "Ampère", "Jean-Claude"]
        {
            assert_eq!(reads_as_agent(name), None, "{name:?}");
        }
    }
}
