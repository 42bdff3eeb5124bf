//! The places that a policy result's evidence names, for a reader.

use serde_json::Value as Json;

/// So many excused lines are told one by one.
const EXCUSED: usize = 3;

/// A place that a result is about.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub path: String,
    pub line: Option<u64>,
    pub patterns: Vec<String>,
}

impl Place {
    fn read(entry: &Json) -> Option<Self> {
        let texts = entry["patterns"].as_array().into_iter().flatten();
        Some(Self {
            path: entry["path"].as_str()?.to_owned(),
            line: entry["line"].as_u64(),
            patterns: texts.filter_map(Json::as_str).map(str::to_owned).collect(),
        })
    }

    pub(super) fn shown(&self) -> String {
        let plain = |character: char| if character.is_control() { '\u{fffd}' } else { character };
        let path: String = self.path.chars().map(plain).collect();
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        match self.patterns.is_empty() {
            true => format!("{path}{line}"),
            false => format!("{path}{line}: {}", self.patterns.join(", ")),
        }
    }
}

/// The places that a result's evidence names.
pub(super) fn places(evidence: &Json) -> Vec<Place> {
    let lists = ["lines", "files", "not_scanned"].iter();
    let entries = lists.flat_map(|list| evidence[list].as_array().into_iter().flatten());
    entries.filter_map(Place::read).collect()
}

/// How many lines that match are no findings, and the first of them with the reason of each, if
/// there are any.
pub(in crate::cli) fn excused(evidence: &Json) -> Option<String> {
    let total = evidence["excused_total"].as_u64().filter(|total| *total > 0)?;
    let entries = evidence["excused"].as_array().into_iter().flatten();
    let told = entries.take(EXCUSED).filter_map(|entry| {
        let reason = entry["reason"].as_str().unwrap_or("comment").replace('_', " ");
        Some(format!("{} ({reason})", Place::read(entry)?.shown()))
    });
    let told: Vec<String> = told.collect();
    let more = match total.saturating_sub(told.len() as u64) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    Some(format!("{total} line(s) excused: {}{more}.", told.join("; ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn excused_lines_are_counted_and_the_first_are_named() {
        let line = |number: u64| {
            json!({
                "path": "a\n.py", "line": number, "patterns": ["password="], "reason": "placeholder",
            })
        };
        let evidence = |lines: u64| {
            json!({
                "excused": (1..=lines).map(line).collect::<Vec<_>>(), "excused_total": lines,
            })
        };
        assert_eq!(
            excused(&evidence(1)).as_deref(),
            Some("1 line(s) excused: a\u{fffd}.py:1: password= (placeholder).")
        );
        let many = excused(&evidence(5)).unwrap();
        assert!(many.starts_with("5 line(s) excused: a"), "{many}");
        assert!(many.ends_with(".py:3: password= (placeholder); and 2 more."), "{many}");
        assert_eq!(excused(&evidence(0)), None);
        assert_eq!(excused(&json!({})), None);
    }
}
