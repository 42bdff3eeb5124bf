//! Regular expressions of a policy file: compiled within bounds, with what went wrong in words
//! of our own, and with the literals that prove that one cannot match.

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ast::ErrorKind as AstError;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};
use regex_syntax::{Error, ParserBuilder};

/// A compiled pattern above this size is refused, in bytes.
const LARGEST: usize = 1024 * 1024;
/// A shorter literal stands in too many lines to sort any out.
const SHORTEST_LITERAL: usize = 3;
/// So many alternatives of a literal are followed.
const MOST_LITERALS: usize = 64;
/// Literals grow no longer than this, in bytes.
const LONGEST_LITERAL: usize = 32;
/// A class of more characters is no alternative of literals.
const WIDEST_CLASS: usize = 4;

/// A pattern over bytes in which `\w`, `\d`, `\b` and the case mean ASCII unless it says `(?u)`.
#[derive(Debug)]
pub(in crate::policy) struct Pattern {
    pub regex: Regex,
    /// Texts in lower case, one of which is part, in some ASCII case, of whatever matches;
    /// `None` if there are none that help.
    pub literals: Option<Vec<Vec<u8>>>,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// The end of a sentence that begins with the pattern as its subject. It shows nothing of
    /// the pattern.
    pub(in crate::policy) fn new(pattern: &str) -> Result<Self, String> {
        let hir = ParserBuilder::new()
            .unicode(false)
            .utf8(false)
            .nest_limit(100)
            .build()
            .parse(pattern)
            .map_err(|error| explain(&error))?;
        let regex = RegexBuilder::new(pattern)
            .unicode(false)
            .nest_limit(100)
            .size_limit(LARGEST)
            .dfa_size_limit(LARGEST)
            .build()
            .map_err(|_too_large| {
                "is too large: it repeats long parts many times. Shorten its repetitions."
                    .to_owned()
            })?;
        if regex.is_match(b"") && regex.is_match(b"\x01") {
            return Err("matches the empty text, so everything would match. Give it a part that \
                        must be there."
                .to_owned());
        }
        let literals = required(&hir);
        let is_across_lines =
            |literals: &Vec<Vec<u8>>| literals.iter().all(|literal| literal.contains(&b'\n'));
        if literals.as_ref().is_some_and(is_across_lines) {
            return Err("matches only across a line break, so nothing could match: lines and \
                        paths are looked at one by one. Look for one of the lines."
                .to_owned());
        }
        Ok(Self { regex, literals })
    }
}

fn explain(error: &Error) -> String {
    let (place, what) = match error {
        Error::Parse(error) => (
            error.span().start.offset,
            match error.kind() {
                AstError::UnsupportedLookAround => {
                    "look-around (`(?=`, `(?!`, `(?<=`, `(?<!`) is not supported, because it \
                     cannot be matched in linear time; match more of the text instead"
                }
                AstError::UnsupportedBackreference => {
                    "a backreference such as `\\1` is not supported, because it cannot be matched \
                     in linear time"
                }
                AstError::GroupUnclosed => "a `(` is not closed",
                AstError::GroupUnopened => "a `)` has no `(`; write `\\)` for the character",
                AstError::ClassUnclosed => "a `[` is not closed",
                AstError::ClassRangeInvalid => "a range such as `z-a` runs backwards",
                AstError::RepetitionMissing => {
                    "there is nothing to repeat before `*`, `+`, `?` or `{`; this is a regular \
                     expression, no glob"
                }
                AstError::RepetitionCountInvalid
                | AstError::RepetitionCountDecimalEmpty
                | AstError::RepetitionCountUnclosed
                | AstError::DecimalInvalid => {
                    "a repetition is written `{2}`, `{2,}` or `{2,5}`; write `\\{` for the \
                     character"
                }
                AstError::EscapeUnrecognized | AstError::EscapeUnexpectedEof => {
                    "this backslash begins no escape that is known"
                }
                AstError::FlagUnrecognized | AstError::FlagUnexpectedEof => {
                    "the flags are `(?i)`, `(?m)`, `(?s)`, `(?x)`, `(?U)` and `(?u)`"
                }
                AstError::NestLimitExceeded(_) => "it is nested too deeply",
                _ => "this is no regular expression",
            },
        ),
        Error::Translate(error) => (
            error.span().start.offset,
            "characters beyond ASCII in a class, `\\p` and their like need `(?u)` in front",
        ),
        _ => (0, "this is no regular expression"),
    };
    format!("does not compile, at its byte {}: {what}.", place + 1)
}

/// What is known of the texts that a part of a pattern matches.
#[derive(Debug, Default)]
struct Known {
    /// All of them, in lower case.
    exact: Option<Vec<Vec<u8>>>,
    /// Else texts of which each of them holds one.
    holds: Option<Vec<Vec<u8>>>,
}

impl Known {
    fn exact(texts: Vec<Vec<u8>>) -> Self {
        Self { exact: Some(texts), holds: None }
    }

    fn holding(texts: Option<Vec<Vec<u8>>>) -> Self {
        Self { exact: None, holds: texts }
    }

    fn required(self) -> Option<Vec<Vec<u8>>> {
        self.exact.or(self.holds)
    }
}

fn required(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    let mut literals = known(hir).required()?;
    literals.sort_unstable();
    literals.dedup();
    (shortest(&literals) >= SHORTEST_LITERAL).then_some(literals)
}

fn shortest(texts: &[Vec<u8>]) -> usize {
    texts.iter().map(Vec::len).min().unwrap_or_default()
}

/// Of two sets that both hold for whatever matches, the one that sorts out more lines.
fn better(one: Option<Vec<Vec<u8>>>, other: Option<Vec<Vec<u8>>>) -> Option<Vec<Vec<u8>>> {
    match (one, other) {
        (Some(one), Some(other)) => {
            let worth = |texts: &Vec<Vec<u8>>| (shortest(texts).min(8), usize::MAX - texts.len());
            Some(if worth(&other) > worth(&one) { other } else { one })
        }
        (one, other) => one.or(other),
    }
}

fn known(hir: &Hir) -> Known {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Known::exact(vec![Vec::new()]),
        HirKind::Literal(literal) => {
            let text = literal.0.to_ascii_lowercase();
            match text.len() {
                0..=LONGEST_LITERAL => Known::exact(vec![text]),
                _ => Known::holding(Some(vec![text[..LONGEST_LITERAL].to_vec()])),
            }
        }
        HirKind::Class(class) => characters(class).map_or_else(Known::default, Known::exact),
        HirKind::Capture(capture) => known(&capture.sub),
        HirKind::Repetition(repetition) => repeated(repetition),
        HirKind::Concat(parts) => concatenated(parts),
        HirKind::Alternation(parts) => alternated(parts),
    }
}

/// The characters of a narrow class, in lower case and as UTF-8.
fn characters(class: &Class) -> Option<Vec<Vec<u8>>> {
    let mut texts: Vec<Vec<u8>> = Vec::new();
    let mut add = |text: Vec<u8>| {
        let text = text.to_ascii_lowercase();
        if !texts.contains(&text) {
            texts.push(text);
        }
        texts.len() <= WIDEST_CLASS
    };
    let is_narrow = match class {
        Class::Unicode(class) => class.iter().all(|range| {
            (range.start()..=range.end()).all(|character| add(character.to_string().into_bytes()))
        }),
        Class::Bytes(class) => {
            class.iter().all(|range| (range.start()..=range.end()).all(|byte| add(vec![byte])))
        }
    };
    (is_narrow && !texts.is_empty()).then_some(texts)
}

fn repeated(repetition: &Repetition) -> Known {
    let sub = known(&repetition.sub);
    if repetition.min == 0 {
        return match (sub.exact, repetition.max) {
            (Some(mut texts), Some(1)) => {
                texts.push(Vec::new());
                Known::exact(texts)
            }
            _ => Known::default(),
        };
    }
    let Some(texts) = sub.exact else { return Known::holding(sub.holds) };
    let mut all = texts.clone();
    for _ in 1..repetition.min {
        match product(&all, &texts) {
            Some(longer) => all = longer,
            None => return Known::holding(Some(all)),
        }
    }
    if repetition.max == Some(repetition.min) {
        Known::exact(all)
    } else {
        Known::holding(Some(all))
    }
}

fn concatenated(parts: &[Hir]) -> Known {
    let mut is_exact = true;
    let mut run = vec![Vec::new()];
    let mut best = None;
    for part in parts {
        let part = known(part);
        let Some(texts) = part.exact else {
            is_exact = false;
            best = better(better(best, Some(run)), part.holds);
            run = vec![Vec::new()];
            continue;
        };
        match product(&run, &texts) {
            Some(longer) => run = longer,
            None => {
                is_exact = false;
                best = better(best, Some(run));
                run = texts;
            }
        }
    }
    if is_exact { Known::exact(run) } else { Known::holding(better(best, Some(run))) }
}

fn alternated(parts: &[Hir]) -> Known {
    let mut is_exact = true;
    let mut all = Vec::new();
    for part in parts {
        let part = known(part);
        is_exact &= part.exact.is_some();
        match part.required() {
            Some(texts) => all.extend(texts),
            None => return Known::default(),
        }
        if all.len() > MOST_LITERALS {
            return Known::default();
        }
    }
    if is_exact { Known::exact(all) } else { Known::holding(Some(all)) }
}

/// Each text followed by each of `tails`, unless that grows too much.
fn product(texts: &[Vec<u8>], tails: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
    let longest = |texts: &[Vec<u8>]| texts.iter().map(Vec::len).max().unwrap_or_default();
    let fits = texts.len() * tails.len() <= MOST_LITERALS
        && longest(texts) + longest(tails) <= LONGEST_LITERAL;
    fits.then(|| {
        texts.iter().flat_map(|text| tails.iter().map(|tail| [&text[..], tail].concat())).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literals(pattern: &str) -> Vec<String> {
        let literals = Pattern::new(pattern).unwrap().literals.unwrap_or_default();
        literals.into_iter().map(|literal| String::from_utf8(literal).unwrap()).collect()
    }

    #[test]
    fn finds_the_literals_that_every_match_holds() {
        for (pattern, expected) in [
            ("abc", &["abc"][..]),
            (r"\bAKIA[A-Z2-7]{16}\b", &["akia"]),
            ("(?:AKIA|ASIA)[A-Z2-7]{16}", &["akia", "asia"]),
            ("[rs]k_(?:live|test)_[0-9a-z]+", &["rk_live_", "rk_test_", "sk_live_", "sk_test_"]),
            ("(?i)password", &["password"]),
            (r"(?i)(?:pass|pwd)\s*=", &["pass", "pwd"]),
            (r"[a-z]+://[^@]+@", &["://"]),
            ("x[0-9]+-----BEGIN", &["-----begin"]),
            ("(?:ab){2}c?", &["abab", "ababc"]),
            ("(?:abc)+", &["abc"]),
            ("(abc)?", &[]),
            ("a.b", &[]),
            ("abc|.", &[]),
            (r"\w+", &[]),
            // The Kelvin sign is a k, in Unicode's fold, and not in ASCII's.
            ("(?iu)kelvin", &["kelvin", "\u{212a}elvin"]),
        ] {
            match Pattern::new(pattern) {
                Ok(_) => assert_eq!(literals(pattern), expected, "{pattern}"),
                Err(_) => assert_eq!(expected, &[] as &[&str], "{pattern}"),
            }
        }
    }

    #[test]
    fn a_match_holds_a_literal() {
        let texts = ["ak", "AKIA", "bk_live_x", "sk_LIVE_x", "abab", "a://b@", "xx://yy@z"];
        for pattern in ["AKIA|b", "(?i)[rs]k_live_", "(?:ab)+", "[a-z]+://[^@]+@", "k.|ab"] {
            let pattern = Pattern::new(pattern).unwrap();
            let Some(literals) = &pattern.literals else { continue };
            for text in texts.iter().filter(|text| pattern.regex.is_match(text.as_bytes())) {
                let lower = text.to_ascii_lowercase();
                let holds = literals.iter().any(|literal| {
                    lower.as_bytes().windows(literal.len()).any(|part| part == literal)
                });
                assert!(holds, "{pattern:?} in {text}");
            }
        }
    }

    #[test]
    fn says_what_is_wrong_without_showing_the_pattern() {
        for (pattern, expected) in [
            ("hunter(?!2)", "look-around"),
            ("(?<=hunter)2", "look-around"),
            (r"(hunter)\1", "backreference"),
            ("(hunter", "a `(` is not closed"),
            ("hunter)", "a `)` has no `(`"),
            ("[hunter", "a `[` is not closed"),
            ("*.hunter", "no glob"),
            (r"hunter\y", "begins no escape"),
            ("[é]hunter", "need `(?u)`"),
            ("(?:hunter{1000}){1000}", "too large"),
            ("(?:hunter)*", "matches the empty text"),
            ("^", "matches the empty text"),
            (r"hunter\n2", "across a line break"),
        ] {
            let told = Pattern::new(pattern).unwrap_err();
            assert!(told.contains(expected), "{pattern}: {told}");
            assert!(!told.contains("hunter"), "{told}");
        }
        assert!(Pattern::new("hunter(?!2)").unwrap_err().contains("at its byte 7"));
    }
}
