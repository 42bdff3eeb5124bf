//! What is kept with a result: paths, line numbers and names of patterns, never a line of
//! the change. Lists are bounded and come with their totals.

use serde_json::{Value, json};

use super::excuses::Excuse;

/// So many entries of a list are kept.
const KEPT: usize = 100;
/// So many of the patterns that one line or path matches are kept.
const KEPT_PATTERNS: usize = 20;
/// So many characters of a path or a pattern are kept.
const KEPT_CHARACTERS: usize = 512;

/// The first entries of a list, and how many there were.
#[derive(Debug)]
pub(in crate::policy) struct Bounded<T> {
    kept: Vec<T>,
    total: u64,
}

impl<T> Default for Bounded<T> {
    fn default() -> Self {
        Self { kept: Vec::new(), total: 0 }
    }
}

impl<T> Bounded<T> {
    /// Counts an entry, and keeps it while there is room.
    pub(in crate::policy) fn push(&mut self, entry: impl FnOnce() -> T) {
        if self.kept.len() < KEPT {
            self.kept.push(entry());
        }
        self.total += 1;
    }

    pub(in crate::policy) fn total(&self) -> u64 {
        self.total
    }

    pub(in crate::policy) fn kept(&self) -> &[T] {
        &self.kept
    }
}

/// An added line that holds patterns.
#[derive(Debug)]
pub(in crate::policy) struct LineHit {
    path: String,
    number: u64,
    patterns: Vec<String>,
}

impl LineHit {
    pub(in crate::policy) fn new<'a>(
        path: &str,
        number: u64,
        patterns: impl Iterator<Item = &'a String>,
    ) -> Self {
        Self { path: clipped(path), number, patterns: names(patterns) }
    }

    pub(in crate::policy) fn path(&self) -> &str {
        &self.path
    }

    pub(in crate::policy) fn json(&self) -> Value {
        json!({ "path": self.path, "line": self.number, "patterns": self.patterns })
    }
}

/// Patterns that a line holds and that are no findings, all for the same reason.
#[derive(Debug)]
pub(in crate::policy) struct Excused {
    pub line: LineHit,
    pub why: Excuse,
}

impl Excused {
    pub(in crate::policy) fn json(&self) -> Value {
        let mut json = self.line.json();
        json["reason"] = json!(self.why);
        json
    }
}

/// A part of the change that could not be read; without a path, the change as a whole.
#[derive(Debug)]
pub(in crate::policy) struct Unread {
    path: Option<String>,
    reason: String,
}

impl Unread {
    pub(in crate::policy) fn new(path: Option<&str>, reason: &str) -> Self {
        Self { path: path.map(clipped), reason: clipped(reason) }
    }

    pub(in crate::policy) fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    pub(in crate::policy) fn json(&self) -> Value {
        json!({ "path": self.path, "reason": self.reason })
    }
}

/// A changed path, and the patterns it matches.
#[derive(Debug)]
pub(in crate::policy) struct PathHit {
    path: String,
    patterns: Vec<String>,
}

impl PathHit {
    pub(in crate::policy) fn new<'a>(
        path: &str,
        patterns: impl Iterator<Item = &'a String>,
    ) -> Self {
        Self { path: clipped(path), patterns: names(patterns) }
    }

    pub(in crate::policy) fn path(&self) -> &str {
        &self.path
    }

    pub(in crate::policy) fn json(&self) -> Value {
        json!({ "path": self.path, "patterns": self.patterns })
    }
}

/// A bounded list of the paths among `paths` for which `matches` holds.
pub(in crate::policy) fn matching(
    paths: &[String],
    matches: impl Fn(&str) -> bool,
) -> Bounded<String> {
    let mut matching = Bounded::default();
    for path in paths.iter().filter(|path| matches(path)) {
        matching.push(|| clipped(path));
    }
    matching
}

/// `{"files": [{"path"}], "files_total"}`.
pub(in crate::policy) fn files(paths: &Bounded<String>) -> Value {
    let files: Vec<Value> = paths.kept().iter().map(|path| json!({ "path": path })).collect();
    json!({ "files": files, "files_total": paths.total() })
}

/// `{"files": [{"path", "patterns"}], "files_total"}`.
pub(in crate::policy) fn files_with_patterns(hits: &Bounded<PathHit>) -> Value {
    let files: Vec<Value> = hits.kept().iter().map(PathHit::json).collect();
    json!({ "files": files, "files_total": hits.total() })
}

/// The entries that are kept, each as `json` has it.
pub(in crate::policy) fn listed<T>(entries: &Bounded<T>, json: impl Fn(&T) -> Value) -> Vec<Value> {
    entries.kept().iter().map(json).collect()
}

/// The first of some texts, for a list that is shown beside what was found.
pub(in crate::policy) fn texts<'a>(texts: impl IntoIterator<Item = &'a String>) -> Value {
    texts.into_iter().take(KEPT).map(|text| json!(clipped(text))).collect()
}

/// The paths that are kept, as the original lists them.
pub(in crate::policy) fn paths(hits: &Bounded<PathHit>) -> Value {
    texts(hits.kept().iter().map(|hit| &hit.path))
}

fn names<'a>(patterns: impl Iterator<Item = &'a String>) -> Vec<String> {
    patterns.take(KEPT_PATTERNS).map(|pattern| clipped(pattern)).collect()
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(KEPT_CHARACTERS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_keeps_its_first_entries_and_its_total() {
        let paths: Vec<String> = (0..250).map(|n| format!("{n}.py")).collect();
        let evidence = files(&matching(&paths, |path| path != "0.py"));
        assert_eq!(evidence["files"].as_array().map(Vec::len), Some(KEPT));
        assert_eq!(evidence["files"][0], json!({ "path": "1.py" }));
        assert_eq!(evidence["files_total"], 249);
    }

    #[test]
    fn a_line_with_many_patterns_keeps_the_first() {
        let patterns: Vec<String> = (0..50).map(|n| format!("p{n}")).collect();
        let evidence = LineHit::new("a.py", 1, patterns.iter()).json();
        assert_eq!(evidence["patterns"].as_array().map(Vec::len), Some(KEPT_PATTERNS));
    }

    #[test]
    fn a_long_path_is_clipped_at_a_character() {
        let clipped = clipped(&"é".repeat(2000));
        assert_eq!(clipped.chars().count(), KEPT_CHARACTERS + 1);
        assert!(clipped.ends_with('…'));
    }
}
