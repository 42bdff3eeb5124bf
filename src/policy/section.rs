//! One section of a policy file, and how a rule reads its keys from it.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::mistake::Mistakes;
use crate::domain::nearest::nearest;
use crate::domain::value::{FindingSeverity, Value as _};

/// A section as it was written. A rule asks it for each of its keys; what nobody asked for
/// is a mistake.
#[derive(Debug)]
pub(super) struct Section<'i> {
    name: String,
    at: usize,
    entries: Vec<Entry<'i>>,
    asked: Vec<&'static str>,
    /// Where the values of the keys that were asked for begin.
    places: Vec<(&'static str, usize)>,
    mistakes: Mistakes,
}

#[derive(Debug)]
struct Entry<'i> {
    key: String,
    at: usize,
    value: Spanned<DeValue<'i>>,
}

impl<'i> Section<'i> {
    /// The section called `name` that begins at the byte offset `at`.
    pub(super) fn new(name: &str, at: usize, table: DeTable<'i>) -> Self {
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
        }
    }

    /// A section without any key: what a rule reads from it are its defaults.
    pub(super) fn empty(name: &str) -> Self {
        Self::new(name, 0, DeTable::new())
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The keys that were asked for, in that order.
    pub(super) fn asked(&self) -> &[&'static str] {
        &self.asked
    }

    /// `true` or `false`.
    pub(super) fn boolean(&mut self, key: &'static str, default: bool) -> bool {
        let Some(entry) = self.take(key) else { return default };
        entry.value.get_ref().as_bool().unwrap_or_else(|| {
            self.wrong_type(&entry, "true or false, without quotes");
            default
        })
    }

    /// A whole number from 0 on.
    pub(super) fn count(&mut self, key: &'static str, default: u64) -> u64 {
        let Some(entry) = self.take(key) else { return default };
        let Some(integer) = entry.value.get_ref().as_integer() else {
            self.wrong_type(&entry, "a whole number, without quotes");
            return default;
        };
        match i128::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(number) if number < 0 => {
                let message = format!("`{key}` is negative: it must be 0 or more.");
                self.mistakes.add(entry.value.span().start, message);
                default
            }
            Ok(number) if number <= i128::from(i64::MAX) => number as u64,
            _ => {
                let message = format!("`{key}` is too large: at most {}.", i64::MAX);
                self.mistakes.add(entry.value.span().start, message);
                default
            }
        }
    }

    /// One of the severities, in any case.
    pub(super) fn severity(
        &mut self,
        key: &'static str,
        default: FindingSeverity,
    ) -> FindingSeverity {
        let Some(entry) = self.take(key) else { return default };
        let Some(text) = entry.value.get_ref().as_str() else {
            self.wrong_type(
                &entry,
                "a text in quotes, one of `info`, `low`, `medium`, `high`, `critical`",
            );
            return default;
        };
        FindingSeverity::read(text).unwrap_or_else(|| {
            use strum::IntoEnumIterator as _;
            let known: Vec<_> = FindingSeverity::iter().map(FindingSeverity::wire).collect();
            let hint = nearest(text, known.iter().copied())
                .map(|name| format!(" Did you mean `{name}`?"))
                .unwrap_or_default();
            let message = format!("`{key}` must be one of {}.{hint}", listed(&known));
            self.mistakes.add(entry.value.span().start, message);
            default
        })
    }

    /// A list of texts, none of them blank, in the order of the file and each once.
    pub(super) fn patterns(&mut self, key: &'static str, default: &[&str]) -> Vec<String> {
        let default = || default.iter().map(|&pattern| pattern.to_owned()).collect();
        let Some(entry) = self.take(key) else { return default() };
        let Some(items) = entry.value.get_ref().as_array() else {
            self.wrong_type(&entry, "a list of texts, such as [\"one\", \"two\"]");
            return default();
        };
        let mut patterns: Vec<String> = Vec::with_capacity(items.len());
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
                        patterns.push(text.to_owned());
                    }
                }
            }
        }
        patterns
    }

    /// Notes that the value of `key` makes no sense, unless something is wrong already.
    pub(super) fn refuse(&mut self, key: &'static str, message: impl Into<String>) {
        let place = self.places.iter().find(|(asked, _)| *asked == key);
        if self.mistakes.is_empty() {
            self.mistakes.add(place.map_or(self.at, |(_, at)| *at), message);
        }
    }

    /// The section's mistakes, with each key that no rule asked for.
    pub(super) fn finish(mut self) -> Mistakes {
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
pub(super) fn kind(value: &DeValue<'_>) -> &'static str {
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
pub(super) fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A name of the file for a message: only what looks like a key, so that no text that was
/// put into quotes is ever repeated.
pub(super) fn shown(name: &str) -> String {
    const LONGEST: usize = 64;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !name.is_empty() && name.len() <= LONGEST && name.bytes().all(plain) {
        format!("`{name}`")
    } else {
        "of this name".to_owned()
    }
}
