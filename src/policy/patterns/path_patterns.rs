//! Texts that a changed path may contain, in any case.

use super::literals::{Found, Literals};
use crate::policy::findings::evidence::{Bounded, PathHit};

/// The patterns as configured, and the automaton that finds them in lower case.
#[derive(Debug)]
pub(in crate::policy) struct PathPatterns {
    patterns: Vec<String>,
    literals: Literals,
}

impl PathPatterns {
    pub(in crate::policy) fn new(patterns: Vec<String>) -> Self {
        let lower: Vec<String> = patterns.iter().map(|pattern| pattern.to_lowercase()).collect();
        Self { literals: Literals::new(&lower), patterns }
    }

    /// The patterns as they were configured.
    pub(in crate::policy) fn as_slice(&self) -> &[String] {
        &self.patterns
    }

    /// The paths that contain one or more of the patterns, each with those it contains.
    pub(in crate::policy) fn matching(&self, paths: &[String]) -> Bounded<PathHit> {
        let mut hits = Bounded::default();
        let mut found = Found::default();
        for path in paths {
            self.literals.find(path.to_lowercase().as_bytes(), &mut found);
            if !found.indices().is_empty() {
                let patterns = found.indices().iter().map(|&index| &self.patterns[index]);
                hits.push(|| PathHit::new(path, patterns));
            }
        }
        hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_anywhere_in_the_path_and_in_any_case() {
        let patterns = PathPatterns::new(vec!["auth".into(), "Jwt".into(), "prüfung".into()]);
        let matching = |path: &str| {
            let hits = patterns.matching(&[path.to_owned()]);
            match hits.kept() {
                [hit] => hit.json()["patterns"].to_string(),
                _ => String::new(),
            }
        };
        for (path, expected) in [
            ("auth.py", r#"["auth"]"#),
            ("src/OAuth2/client.rs", r#"["auth"]"#),
            ("AUTHORS", r#"["auth"]"#),
            ("src/Auth/jwt.rs", r#"["auth","Jwt"]"#),
            ("docs/PRÜFUNG.md", r#"["prüfung"]"#),
            ("src/main.rs", ""),
            ("au/th.py", ""),
        ] {
            assert_eq!(matching(path), expected, "{path}");
        }
    }
}
