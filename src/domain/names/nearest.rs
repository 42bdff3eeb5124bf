//! "Did you mean": the known name nearest to one that was given.

/// The known name that is most like `given`, in any case; `None` if none is like it at all.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Below this, Jaro-Winkler pairs words that a reader finds unrelated.
    const SIMILAR: f64 = 0.7;
    known
        .into_iter()
        .map(|name| (likeness(given, name), name))
        .filter(|(likeness, _)| *likeness >= SIMILAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// How alike two names are, in any case: 0 for not at all, 1 for equal.
pub fn likeness(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(&a.to_lowercase(), &b.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_misspelt_name_and_nothing_far_away() {
        let known = ["task_id", "title", "author_agent"];
        assert_eq!(nearest("taskId", known), Some("task_id"));
        assert_eq!(nearest("TITEL", known), Some("title"));
        assert_eq!(nearest("zzzz", known), None);
    }
}
