//! Lines of a change without the secrets in them.
//!
//! First all lines are searched, then each is shown: what a pattern finds in one line is hidden in
//! the others too. Only a [`Masker`] makes a [`Masked`], and only a finished search makes a
//! [`Masker`].

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use aho_corasick::{AhoCorasick, MatchKind};

use super::findings::extent::{self, Secret};
use super::findings::placeholders;
use super::patterns::content::{How, Owner};
use super::patterns::literals::Found;
use super::set::PolicySet;

/// A shorter text is not looked for in other lines.
const SHORTEST: usize = 4;
/// A shorter one is hidden only where it is a word of its own.
const SHORT: usize = 8;
/// The texts that are looked for in other lines are no more than this together, in bytes.
const LARGEST: usize = 1024 * 1024;
/// What begins a block whose lines are a key.
const KEY_BLOCKS: [&[u8]; 2] = [b"PRIVATE KEY", b"PuTTY-User-Key-File-"];
/// The name of what hides the lines of such a block.
const KEY: &str = "private key";

/// The policies of a fresh `govforge init`, whose secrets are hidden whatever the project's file
/// says.
static ALWAYS: LazyLock<Arc<PolicySet>> = LazyLock::new(|| {
    let set = PolicySet::parse(PolicySet::EXAMPLE.as_bytes());
    Arc::new(set.expect("a test holds the file to be valid"))
});

/// A text in which no secret is left: what may be shown of a line of a change, or of a text about
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked(Vec<u8>);

impl Masked {
    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// As text; what is none is replaced.
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

/// A search for the secrets of a change, line by line.
#[derive(Debug)]
pub struct SecretSearch {
    finder: Finder,
    /// The texts that it found, each with the name of its pattern.
    values: HashMap<Vec<u8>, String>,
    bytes: usize,
}

/// Hides the secrets that a search has found, and those that the patterns find in what is shown.
#[derive(Debug)]
pub struct Masker {
    finder: Finder,
    /// The texts to hide wherever they stand, and those to hide as words.
    anywhere: Texts,
    words: Texts,
}

/// The change holds more secrets than can be hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany;

impl SecretSearch {
    /// A search by the rules of a project, and by the built-in ones in any case.
    pub fn new(project: Option<Arc<PolicySet>>) -> Self {
        let mut sets = vec![Arc::clone(&ALWAYS)];
        sets.extend(project);
        Self { finder: Finder::new(sets), values: HashMap::new(), bytes: 0 }
    }

    /// Searches a line without its line end. They come in the order of their file.
    pub fn line(&mut self, text: &[u8]) {
        for (name, secret) in self.finder.line(text) {
            for value in secret.values {
                let value = &text[value];
                let is_known = self.values.contains_key(value);
                if value.len() < SHORTEST || is_known || placeholders::token(value).is_some() {
                    continue;
                }
                self.bytes += value.len();
                if self.bytes <= LARGEST {
                    self.values.insert(value.to_vec(), name.clone());
                }
            }
        }
    }

    /// The lines of another file, or of another place of the same, follow.
    pub fn next_file(&mut self) {
        self.finder.next_file();
    }

    /// Ends the search before any line: what is left are the expressions of its rules.
    pub fn without_lines(self) -> Masker {
        Masker { finder: self.finder, anywhere: Texts::default(), words: Texts::default() }
    }

    /// Ends the search.
    ///
    /// # Errors
    ///
    /// [`TooMany`] where the texts that were found are more than 1 MiB.
    pub fn finish(self) -> Result<Masker, TooMany> {
        if self.bytes > LARGEST {
            return Err(TooMany);
        }
        let mut finder = self.finder;
        finder.next_file();
        let (words, anywhere) = self.values.into_iter().partition(|(value, _)| value.len() < SHORT);
        Ok(Masker { finder, anywhere: Texts::new(anywhere)?, words: Texts::new(words)? })
    }
}

impl Masker {
    /// A line of the change as it may be shown, behind the `sign` that tells what it is. They come
    /// in the order of their file.
    pub fn line(&mut self, sign: &[u8], text: &[u8]) -> Masked {
        let secrets = self.finder.line(text);
        let hidden = secrets.into_iter().map(|(name, secret)| (secret.hidden, name)).collect();
        self.without(sign, text, hidden)
    }

    /// What stands above the lines of a file, such as its path, as it may be shown. The lines of
    /// that file follow.
    pub fn heading(&mut self, text: &[u8]) -> Masked {
        self.finder.next_file();
        self.without(b"", text, Vec::new())
    }

    /// A text about the change as it may be shown: without what the search and the expressions
    /// find. The names that a line of code would assign to are words like others here.
    pub fn text(&mut self, text: &str) -> String {
        self.finder.next_file();
        let lines = text.split('\n').map(|line| {
            let secrets = self.finder.in_prose(line.as_bytes());
            let hidden = secrets.into_iter().map(|(name, secret)| (secret.hidden, name)).collect();
            self.without(b"", line.as_bytes(), hidden).to_text()
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn without(&self, sign: &[u8], text: &[u8], mut hidden: Vec<(Range<usize>, String)>) -> Masked {
        hidden.extend(self.anywhere.find(text));
        hidden.extend(self.words.find(text).filter(|(found, _)| is_word(text, found)));
        hidden.retain(|(range, _)| !range.is_empty());
        hidden.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        let mut shown = Vec::with_capacity(sign.len() + text.len());
        shown.extend_from_slice(sign);
        let mut end = 0;
        for (range, name) in hidden {
            if range.start >= end {
                shown.extend_from_slice(&text[end..range.start]);
                shown.extend_from_slice(format!("[masked: {name}]").as_bytes());
            }
            end = end.max(range.end);
        }
        shown.extend_from_slice(&text[end..]);
        Masked(shown)
    }
}

/// Finds the secrets of a line by the patterns of several policy sets.
#[derive(Debug)]
struct Finder {
    sets: Vec<Arc<PolicySet>>,
    found: Found,
    candidates: Vec<Owner>,
    /// Whether the lines are those of a key block, and whether the last was.
    block: Option<bool>,
    /// The pattern whose value stands in the next line.
    goes_on: Option<String>,
}

impl Finder {
    fn new(sets: Vec<Arc<PolicySet>>) -> Self {
        Self { sets, found: Found::default(), candidates: Vec::new(), block: None, goes_on: None }
    }

    fn next_file(&mut self) {
        (self.block, self.goes_on) = (None, None);
    }

    fn line(&mut self, text: &[u8]) -> Vec<(String, Secret)> {
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let whole = || Secret { hidden: 0..text.len(), values: vec![trimmed(text)] };
        let mut secrets = self.by_patterns(text, |_| true);
        if let Some(name) = self.goes_on.take() {
            secrets.push((name, whole()));
        }
        let goes_on = secrets.iter().find(|(_, secret)| extent::goes_on(text, secret));
        self.goes_on = goes_on.map(|(name, _)| name.clone());
        let holds = |part: &[u8]| memchr::memmem::find(text, part).is_some();
        if KEY_BLOCKS.iter().any(|begin| holds(begin)) && !holds(b"-----END ") {
            self.block = Some(false);
        } else if holds(b"-----END ") {
            self.block = None;
        } else if let Some(follows) = self.block {
            let is_body = extent::is_key_body(text, follows);
            // Between the body's lines stand headings such as `DEK-Info: ...`.
            let is_heading =
                memchr::memmem::find(text, b": ").is_some() || text.trim_ascii().is_empty();
            if is_body {
                secrets.push((KEY.to_owned(), whole()));
            }
            self.block = (is_body || is_heading).then_some(is_body);
        }
        secrets
    }

    fn in_prose(&mut self, text: &[u8]) -> Vec<(String, Secret)> {
        self.by_patterns(text, |how| matches!(how, How::Regex(_)))
    }

    fn by_patterns(&mut self, text: &[u8], wanted: fn(&How) -> bool) -> Vec<(String, Secret)> {
        let mut secrets = Vec::new();
        for set in &self.sets {
            set.content.candidates(text, &mut self.found, &mut self.candidates);
            for &(policy, pattern) in &self.candidates {
                let Some(rule) = set.active[policy].rule.lines() else { continue };
                let sought = &rule.sought()[pattern];
                if wanted(&sought.how) && sought.is_in(text) {
                    let found = rule.secrets(pattern, text).into_iter();
                    secrets.extend(found.map(|secret| (sought.name.clone(), secret)));
                }
            }
        }
        secrets
    }
}

/// Texts that are looked for together.
#[derive(Debug, Default)]
struct Texts {
    finder: Option<AhoCorasick>,
    names: Vec<String>,
}

impl Texts {
    fn new(texts: HashMap<Vec<u8>, String>) -> Result<Self, TooMany> {
        let mut texts: Vec<(Vec<u8>, String)> = texts.into_iter().collect();
        texts.sort();
        let (texts, names): (Vec<_>, Vec<_>) = texts.into_iter().unzip();
        if texts.is_empty() {
            return Ok(Self::default());
        }
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts);
        Ok(Self { finder: Some(finder.map_err(|_too_large| TooMany)?), names })
    }

    fn find(&self, text: &[u8]) -> impl Iterator<Item = (Range<usize>, String)> {
        let found = self.finder.iter().flat_map(move |finder| finder.find_iter(text));
        found.map(|found| (found.range(), self.names[found.pattern().as_usize()].clone()))
    }
}

fn is_word(text: &[u8], range: &Range<usize>) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let before = range.start.checked_sub(1).and_then(|at| text.get(at));
    !before.is_some_and(is_part) && !text.get(range.end).is_some_and(is_part)
}

/// A line without the blanks and quotes around it.
fn trimmed(text: &[u8]) -> Range<usize> {
    let is_frame = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`,;\\+".contains(byte);
    let start = text.iter().position(|byte| !is_frame(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !is_frame(byte)).map_or(start, |last| last + 1);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A made-up token of the right shape, which no scanner should see whole.
    fn token() -> String {
        format!("{}{}", "ghp", "_Q3EGSO6NW2XMD5KZq7w8e9r1t2y3u4i5o6p7")
    }

    fn masked(project: Option<&str>, lines: &[&str]) -> Vec<String> {
        let project = project.map(|file| Arc::new(PolicySet::parse(file.as_bytes()).unwrap()));
        let mut search = SecretSearch::new(project);
        lines.iter().for_each(|line| search.line(line.as_bytes()));
        let mut masker = search.finish().unwrap();
        lines.iter().map(|line| masker.line(b"", line.as_bytes()).to_text()).collect()
    }

    #[test]
    fn what_a_pattern_found_is_hidden_in_every_line() {
        let token = token();
        let lines = masked(
            None,
            &[
                &format!("# see {token}."),
                "value = hunter2x1",
                "password=hunter2x1  ",
                &format!("x{token}y"),
                "password=${DB}",
                "nothing",
                "short: abc1 abc12",
                "f(password=abc1, x)",
            ],
        );
        assert_eq!(
            lines,
            [
                "# see [masked: github_token].",
                "value = [masked: password=]",
                "password=[masked: password=]  ",
                "x[masked: github_token]y",
                "password=${DB}",
                "nothing",
                "short: [masked: password=] abc12",
                "f(password=[masked: password=] x)",
            ]
        );
    }

    #[test]
    fn an_excuse_by_a_comment_shows_nothing() {
        let lines = masked(None, &["password=hunter2x1 # govforge:allow password=", "hunter2x1"]);
        assert!(!lines.join("\n").contains("hunter2"), "{lines:?}");
    }

    #[test]
    fn the_rules_of_the_project_hide_too() {
        let file = "[secret_pattern_detection]\ncontent_patterns = [\"zz9plural\"]\n\
                    [secret_pattern_detection.content_regexes]\nshop = 'shp:(?P<secret>[0-9a-f]{4})'";
        let lines =
            masked(Some(file), &["a shp:0a1b2c3d z", "at zz9plural now", "password=hunter2x1"]);
        assert_eq!(lines[0], "a shp:[masked: shop] z");
        assert_eq!(lines[2], "password=[masked: password=]");
        let off = "[secret_pattern_detection]\nenabled = false";
        assert_eq!(masked(Some(off), &["password=hunter2x1"])[0], "password=[masked: password=]");
    }

    #[test]
    fn the_block_of_a_key_is_hidden_whole() {
        let body = "MIIEpAIBAAKCAQEAq83Dk2TnU7zG0Vb5yXw";
        let begin = format!("-----{} RSA PRIVATE KEY-----", "BEGIN");
        let end = format!("-----{} RSA PRIVATE KEY-----", "END");
        let lines = masked(
            None,
            &[&begin, "Proc-Type: 4,ENCRYPTED", "", body, "q83D==", &end, "return total", body],
        );
        assert_eq!(lines[0], "[masked: pem_key]");
        assert_eq!(lines[3..5], ["[masked: private key]", "[masked: private key]"]);
        assert_eq!(lines[6..], ["return total", "[masked: private key]"]);
        // Code behind a heading alone stays to be read.
        let code = masked(None, &[&begin, "fn main() {", body]);
        assert_eq!(code[1..], ["fn main() {".to_owned(), body.to_owned()]);
    }

    #[test]
    fn a_value_in_the_next_line_is_hidden() {
        let lines =
            masked(None, &["password=\"\"\"", "hunter2x1", "next", "password=\\", "  q8Zk1x"]);
        assert_eq!(lines[1..3], ["[masked: password=]", "next"]);
        assert!(!lines[4].contains("q8Zk1x"), "{lines:?}");
    }

    #[test]
    fn texts_about_the_change_lose_what_was_found() {
        let mut search = SecretSearch::new(None);
        search.line(b"password=hunter2x1");
        let mut masker = search.finish().unwrap();
        let text = format!("The password=\nhunter2x1 leaks, {} too.", token());
        assert_eq!(
            masker.text(&text),
            "The password=\n[masked: password=] leaks, [masked: github_token] too."
        );
    }

    #[test]
    fn more_than_can_be_hidden_is_told() {
        let mut search = SecretSearch::new(None);
        for number in 0..100_000 {
            search.line(format!("password=hunter2x{number}").as_bytes());
        }
        assert_eq!(search.finish().err(), Some(TooMany));
    }
}
