//! One section of a policy file, and how a rule reads its keys from it.

use std::cell::Cell;
use std::rc::Rc;

use strum::IntoEnumIterator;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::mistake::Mistakes;
use crate::domain::names::nearest::nearest;
use crate::domain::value::Value;
use crate::policy::patterns::globs::{self, Globs};
use crate::policy::patterns::regexes::Pattern;

/// A policy file has at most so many regular expressions and globs: each takes memory.
const MOST_PATTERNS: usize = 2000;

/// A section as it was written. A rule asks it for each of its keys; what nobody asked for
/// is a mistake.
#[derive(Debug)]
pub(in crate::policy) struct Section<'i> {
    name: String,
    at: usize,
    entries: Vec<Entry<'i>>,
    asked: Vec<&'static str>,
    /// Where the values of the keys that were asked for begin.
    places: Vec<(&'static str, usize)>,
    mistakes: Mistakes,
    /// How many more patterns the whole file may have.
    budget: Rc<Cell<usize>>,
}

/// A regular expression under the name that a result shows.
#[derive(Debug)]
pub(in crate::policy) struct Named {
    pub name: String,
    pub text: String,
    pub pattern: Pattern,
}

#[derive(Debug)]
struct Entry<'i> {
    key: String,
    at: usize,
    value: Spanned<DeValue<'i>>,
}

impl<'i> Section<'i> {
    /// The section called `name` that begins at the byte offset `at`.
    pub(in crate::policy) fn new(name: &str, at: usize, table: DeTable<'i>) -> Self {
        let entries = table
            .into_iter()
            .map(|(key, value)| Entry {
                at: key.span().start,
                key: key.into_inner().into_owned(),
                value,
            })
            .collect();
        Self {
            name: name.to_owned(),
            at,
            entries,
            asked: Vec::new(),
            places: Vec::new(),
            mistakes: Mistakes::default(),
            budget: Self::budget(),
        }
    }

    /// What the sections of one file share, by [`Section::within`].
    pub(in crate::policy) fn budget() -> Rc<Cell<usize>> {
        Rc::new(Cell::new(MOST_PATTERNS))
    }

    /// The same section, which counts its patterns against `budget`.
    pub(in crate::policy) fn within(self, budget: &Rc<Cell<usize>>) -> Self {
        Self { budget: Rc::clone(budget), ..self }
    }

    /// A section without any key: what a rule reads from it are its defaults.
    pub(in crate::policy) fn empty(name: &str) -> Self {
        Self::new(name, 0, DeTable::new())
    }

    /// A section of its own with nothing but its kind.
    pub(in crate::policy) fn of_kind(kind: &'static str) -> Self {
        let mut section = Self::empty("rule");
        let value = DeValue::String(kind.into());
        section.entries.push(Entry { key: "kind".into(), at: 0, value: Spanned::new(0..0, value) });
        section
    }

    pub(in crate::policy) fn name(&self) -> &str {
        &self.name
    }

    /// Where its name stands, in bytes from the start of the file.
    pub(in crate::policy) fn at(&self) -> usize {
        self.at
    }

    /// The keys that were asked for, in that order.
    pub(in crate::policy) fn asked(&self) -> &[&'static str] {
        &self.asked
    }

    /// The keys that were asked for and are there, and where their values stand.
    pub(in crate::policy) fn places(&self) -> &[(&'static str, usize)] {
        &self.places
    }

    /// Leaves the keys that nobody asked for alone: what they mean cannot be known.
    pub(in crate::policy) fn forgive_unknown_keys(&mut self) {
        self.entries.clear();
    }

    /// `true` or `false`.
    pub(in crate::policy) fn boolean(&mut self, key: &'static str, default: bool) -> bool {
        let Some(entry) = self.take(key) else { return default };
        entry.value.get_ref().as_bool().unwrap_or_else(|| {
            self.wrong_type(&entry, "true or false, without quotes");
            default
        })
    }

    /// A whole number from 0 on, if the key is there.
    pub(in crate::policy) fn count(&mut self, key: &'static str) -> Option<u64> {
        let entry = self.take(key)?;
        let Some(integer) = entry.value.get_ref().as_integer() else {
            self.wrong_type(&entry, "a whole number, without quotes");
            return None;
        };
        match i128::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(number) if number < 0 => {
                let message = format!("`{key}` is negative: it must be 0 or more.");
                self.mistakes.add(entry.value.span().start, message);
                None
            }
            Ok(number) if number <= i128::from(i64::MAX) => Some(number as u64),
            _ => {
                let message = format!("`{key}` is too large: at most {}.", i64::MAX);
                self.mistakes.add(entry.value.span().start, message);
                None
            }
        }
    }

    /// A text, if the key is there and holds one that is not blank, and where it stands.
    pub(in crate::policy) fn text(&mut self, key: &'static str) -> Option<(String, usize)> {
        let entry = self.take(key)?;
        let at = entry.value.span().start;
        match entry.value.get_ref().as_str() {
            Some(text) if !text.trim().is_empty() => return Some((text.to_owned(), at)),
            Some(_) => self.mistakes.add(at, format!("`{key}` is blank. Leave it out instead.")),
            None => self.wrong_type(&entry, "a text in quotes"),
        }
        None
    }

    /// One of the values of an enum, in any case.
    pub(in crate::policy) fn value<T: Value + IntoEnumIterator>(
        &mut self,
        key: &'static str,
        default: T,
    ) -> T {
        let known: Vec<&'static str> = T::iter().map(T::wire).collect();
        self.choice(key, &known).and_then(T::read).unwrap_or(default)
    }

    /// One of some words, in any case, if the key is there.
    pub(in crate::policy) fn choice(
        &mut self,
        key: &'static str,
        known: &[&'static str],
    ) -> Option<&'static str> {
        let entry = self.take(key)?;
        let Some(text) = entry.value.get_ref().as_str() else {
            let expected = format!("a text in quotes, one of {}", listed(known));
            self.wrong_type(&entry, &expected);
            return None;
        };
        let found = known.iter().find(|word| word.eq_ignore_ascii_case(text.trim()));
        if found.is_none() {
            let hint = nearest(text, known.iter().copied())
                .map(|name| format!(" Did you mean `{name}`?"))
                .unwrap_or_default();
            let message = format!("`{key}` must be one of {}.{hint}", listed(known));
            self.mistakes.add(entry.value.span().start, message);
        }
        found.copied()
    }

    /// A list of globs; empty if the key is not there.
    pub(in crate::policy) fn globs(&mut self, key: &'static str) -> Globs {
        let mut sound = Vec::new();
        for (text, at) in self.placed_patterns(key, &[]) {
            match globs::check(&text) {
                Ok(()) if self.spend(key, at) => sound.push(text),
                Ok(()) => {}
                Err(wrong) => self.mistakes.add(at, format!("A glob of `{key}` {wrong}")),
            }
        }
        Globs::new(sound).unwrap_or_else(|| {
            self.refuse(key, format!("The globs of `{key}` are too large together."));
            Globs::new(Vec::new()).expect("no glob is never too large")
        })
    }

    /// A list of regular expressions, each its own name; empty if the key is not there.
    pub(in crate::policy) fn regexes(&mut self, key: &'static str) -> Vec<Named> {
        let texts = self.placed_patterns(key, &[]);
        let named = texts.into_iter().map(|(text, at)| (text.clone(), text, at)).collect();
        self.compiled(key, named)
    }

    /// A table of regular expressions under their names, in the order of the file; empty if
    /// the key is not there.
    pub(in crate::policy) fn named_regexes(&mut self, key: &'static str) -> Vec<Named> {
        let Some(entry) = self.take(key) else { return Vec::new() };
        let at = entry.value.span().start;
        let DeValue::Table(table) = entry.value.into_inner() else {
            let message = format!(
                "`{key}` must be a section of its own, `[{}.{key}]`, with lines such as \
                 name = 'regular expression'.",
                self.name
            );
            self.mistakes.add(at, message);
            return Vec::new();
        };
        let mut entries: Vec<_> = table.into_iter().collect();
        entries.sort_by_key(|(name, _)| name.span().start);
        let mut named = Vec::new();
        for (name, value) in entries {
            let at = value.span().start;
            if !is_plain(name.get_ref()) {
                let message = format!(
                    "A name in `{key}` has letters, digits, `_` and `-` only, at most 64: a \
                     comment that excuses a line has to name it."
                );
                self.mistakes.add(name.span().start, message);
            } else if let Some(text) = value.get_ref().as_str() {
                named.push((name.get_ref().to_string(), text.to_owned(), at));
            } else {
                let kind = kind(value.get_ref());
                let message =
                    format!("Each value of `{key}` must be a text in quotes, not {kind}.");
                self.mistakes.add(at, message);
            }
        }
        self.compiled(key, named)
    }

    fn compiled(&mut self, key: &str, named: Vec<(String, String, usize)>) -> Vec<Named> {
        let mut compiled = Vec::new();
        for (name, text, at) in named {
            if !self.spend(key, at) {
                break;
            }
            match Pattern::new(&text) {
                Ok(pattern) => compiled.push(Named { name, text, pattern }),
                Err(wrong) => self.mistakes.add(at, format!("A pattern of `{key}` {wrong}")),
            }
        }
        compiled
    }

    /// Counts a pattern against what a file may have.
    fn spend(&mut self, key: &str, at: usize) -> bool {
        let left = self.budget.get();
        if left == 0 {
            let message = format!(
                "With this pattern of `{key}` the file has more than {MOST_PATTERNS} globs and \
                 regular expressions. Join some of them."
            );
            self.mistakes.add(at, message);
        }
        self.budget.set(left.saturating_sub(1));
        left > 0
    }

    /// A list of texts, none of them blank, in the order of the file and each once.
    pub(in crate::policy) fn patterns(
        &mut self,
        key: &'static str,
        default: &[&str],
    ) -> Vec<String> {
        self.placed_patterns(key, default).into_iter().map(|(text, _)| text).collect()
    }

    /// As [`Section::patterns`], each with the place where it stands.
    fn placed_patterns(&mut self, key: &'static str, default: &[&str]) -> Vec<(String, usize)> {
        let default = || default.iter().map(|&pattern| (pattern.to_owned(), 0)).collect();
        let Some(entry) = self.take(key) else { return default() };
        let Some(items) = entry.value.get_ref().as_array() else {
            self.wrong_type(&entry, "a list of texts, such as [\"one\", \"two\"]");
            return default();
        };
        let mut patterns = Vec::with_capacity(items.len());
        let mut known = std::collections::HashSet::with_capacity(items.len());
        for item in items {
            let at = item.span().start;
            match item.get_ref().as_str() {
                None => {
                    let kind = kind(item.get_ref());
                    let message =
                        format!("Each item of `{key}` must be a text in quotes, not {kind}.");
                    self.mistakes.add(at, message);
                }
                Some(text) if text.trim().is_empty() => {
                    let message = format!(
                        "A pattern of `{key}` is empty, so everything would match. Remove it."
                    );
                    self.mistakes.add(at, message);
                }
                Some(text) if text.contains(['\n', '\r']) => {
                    let message = format!(
                        "A pattern of `{key}` holds a line break, so nothing could match: lines \
                         and paths are looked at one by one. Split it."
                    );
                    self.mistakes.add(at, message);
                }
                Some(text) => {
                    if known.insert(text) {
                        patterns.push((text.to_owned(), at));
                    }
                }
            }
        }
        patterns
    }

    /// Notes that the value of `key` makes no sense, unless something is wrong already.
    pub(in crate::policy) fn refuse(&mut self, key: &'static str, message: impl Into<String>) {
        let place = self.places.iter().find(|(asked, _)| *asked == key);
        if self.mistakes.is_empty() {
            self.mistakes.add(place.map_or(self.at, |(_, at)| *at), message);
        }
    }

    /// Notes a mistake at a place of the file.
    pub(in crate::policy) fn mistake(&mut self, at: usize, message: impl Into<String>) {
        self.mistakes.add(at, message);
    }

    /// The section's mistakes, with each key that no rule asked for.
    pub(in crate::policy) fn finish(mut self) -> Mistakes {
        for entry in std::mem::take(&mut self.entries) {
            let hint = nearest(&entry.key, self.asked.iter().copied())
                .map(|key| format!(" Did you mean `{key}`?"))
                .unwrap_or_default();
            let message = format!(
                "`{}` has no key {}.{hint} Its keys are {}.",
                self.name,
                shown(&entry.key),
                listed(&self.asked),
            );
            self.mistakes.add(entry.at, message);
        }
        self.mistakes
    }

    fn take(&mut self, key: &'static str) -> Option<Entry<'i>> {
        self.asked.push(key);
        let index = self.entries.iter().position(|entry| entry.key == key)?;
        let entry = self.entries.swap_remove(index);
        self.places.push((key, entry.value.span().start));
        Some(entry)
    }

    fn wrong_type(&mut self, entry: &Entry<'_>, expected: &str) {
        let message =
            format!("`{}` must be {expected}, not {}.", entry.key, kind(entry.value.get_ref()));
        self.mistakes.add(entry.value.span().start, message);
    }
}

/// The kind of a value in a person's words.
pub(in crate::policy) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// Names for a sentence, such as "`a`, `b`".
pub(in crate::policy) fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A name of the file for a message: only what looks like a key, so that no text that was
/// put into quotes is ever repeated.
pub(in crate::policy) fn shown(name: &str) -> String {
    if is_plain(name) { format!("`{name}`") } else { "of this name".to_owned() }
}

/// Whether a name has 1 to 64 letters, digits, `_` and `-`.
pub(in crate::policy) fn is_plain(name: &str) -> bool {
    const LONGEST: usize = 64;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !name.is_empty() && name.len() <= LONGEST && name.bytes().all(plain)
}
