//! `kind = "content"`: changed lines say certain things.

use serde_json::{Value, json};

use super::kind::{Finding, Holds, Kind};
use crate::policy::file::section::{Named, Section};
use crate::policy::findings::evidence::{Bounded, Excused, LineHit, Unread, listed};
use crate::policy::findings::excuses::Excuse;
use crate::policy::patterns::content::{How, Sought, Weighed};
use crate::policy::patterns::globs::Globs;
use crate::policy::rules::rule::{Facts, ReadsLines};

#[derive(Debug)]
pub(super) struct ContentRule {
    regexes: Vec<Sought>,
    paths: Globs,
    except_paths: Globs,
    allow: Vec<Named>,
    removed: bool,
}

impl ContentRule {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let regexes = section.regexes("regexes");
        if regexes.is_empty() {
            section.refuse(
                "regexes",
                "`regexes` is missing or empty, so the rule could never hold. Name some, or \
                 write `enabled = false`.",
            );
        }
        let sought = |named: Named| Sought { name: named.text, how: How::Regex(named.pattern) };
        Self {
            regexes: regexes.into_iter().map(sought).collect(),
            paths: section.globs("paths"),
            except_paths: section.globs("except_paths"),
            allow: section.regexes("allow"),
            removed: section.boolean("removed", false),
        }
    }

    fn is_about(&self, path: &str) -> bool {
        (self.paths.is_empty() || self.paths.is_match(path)) && !self.except_paths.is_match(path)
    }
}

impl Kind for ContentRule {
    fn holds_when(&self) -> &'static str {
        match self.removed {
            false => "an added line matches one of `regexes`",
            true => "an added or removed line matches one of `regexes`",
        }
    }

    fn config(&self) -> Value {
        json!({
            "regexes": self.regexes.iter().map(|sought| &sought.name).collect::<Vec<_>>(),
            "paths": self.paths.as_slice(),
            "except_paths": self.except_paths.as_slice(),
            "allow": self.allow.iter().map(|named| &named.text).collect::<Vec<_>>(),
            "removed": self.removed,
        })
    }

    fn lines(&self) -> Option<&dyn ReadsLines> {
        Some(self)
    }

    fn find(&self, facts: &Facts<'_>) -> Option<Finding> {
        let (lines, excused) = (facts.lines, facts.excused);
        let mut unread = Bounded::default();
        for missed in facts.unread.kept() {
            if missed.path().is_none_or(|path| self.is_about(path)) {
                unread.push(|| missed);
            }
        }
        let mut files: Vec<String> = lines.kept().iter().map(|hit| hit.path().to_owned()).collect();
        files.dedup();
        let holds = match (lines.total(), unread.total()) {
            (0, 0) => Holds::No,
            (0, _) => Holds::Unknown,
            _ => Holds::Yes,
        };
        Some(Finding {
            count: lines.total(),
            files_total: files.len() as u64,
            files,
            message: match holds {
                Holds::No => "No line matches.".to_owned(),
                Holds::Unknown => format!(
                    "{} part(s) of the change not scanned — look at them by hand.",
                    unread.total()
                ),
                Holds::Yes => "{count} line(s) match in {files}.".to_owned(),
            },
            holds,
            evidence: json!({
                "lines": listed(lines, LineHit::json),
                "lines_total": lines.total(),
                "excused": listed(excused, Excused::json),
                "excused_total": excused.total(),
                "not_scanned": listed(&unread, |missed: &&Unread| missed.json()),
                "not_scanned_total": unread.total(),
            }),
        })
    }
}

impl ReadsLines for ContentRule {
    fn sought(&self) -> &[Sought] {
        &self.regexes
    }

    fn reads(&self, path: &str, added: bool) -> bool {
        (added || self.removed) && self.is_about(path)
    }

    fn weigh(&self, _path: &str, text: &[u8], found: Vec<usize>) -> Weighed {
        if self.allow.iter().any(|named| named.pattern.regex.is_match(text)) {
            let excused = found.into_iter().map(|pattern| (pattern, Excuse::Allowed)).collect();
            Weighed { counts: Vec::new(), excused }
        } else {
            Weighed { counts: found, excused: Vec::new() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::value::PolicyResultStatus::{Passed, Warning};
    use crate::policy::testing::change;

    const RULE: &str = "[no_debug]\nkind = \"content\"\nregexes = ['\\bdbg!', 'console\\.log\\(']\n\
                        paths = [\"src/\"]\nexcept_paths = [\"src/debug/\"]\nallow = ['// keep$']";

    #[test]
    fn a_matching_line_holds() {
        for (path, text, expected) in [
            ("src/a.rs", "    dbg!(x)", Warning),
            ("src/a.ts", "console.log(1)\r\n", Warning),
            ("src/a.rs", "xdbg!(x)", Passed),
            ("src/a.rs", "dbg!(x) // keep", Passed),
            ("src/a.rs", "dbg!(x) // keep\r\n", Passed),
            ("src/debug/a.rs", "dbg!(x)", Passed),
            ("lib/a.rs", "dbg!(x)", Passed),
        ] {
            let result = change(&[path]).added(path, 1, text).result(RULE);
            assert_eq!(result.unwrap().0, expected, "{path} {text}");
        }
    }

    #[test]
    fn removed_lines_are_looked_at_where_that_is_asked() {
        let both = format!("{RULE}\nremoved = true");
        let changed = change(&["src/a.rs"]).removed("src/a.rs", 4, "dbg!(x)");
        assert_eq!(changed.result(RULE).unwrap().0, Passed);
        assert_eq!(
            changed.result(&both),
            Some((Warning, "1 line(s) match in src/a.rs.".to_owned()))
        );
    }

    #[test]
    fn what_could_not_be_scanned_never_passes() {
        let missed = |path| change(&[]).not_scanned(path, "is not in this clone").result(RULE);
        assert_eq!(missed(Some("src/a.rs")).unwrap().0, Warning);
        assert_eq!(missed(None).unwrap().0, Warning);
        assert_eq!(missed(Some("lib/a.rs")).unwrap().0, Passed);
    }

    #[test]
    fn the_evidence_tells_where_and_never_what() {
        let changed = change(&["src/a.rs"]).added("src/a.rs", 7, "dbg!(hunter2)").added(
            "src/a.rs",
            8,
            "dbg!(hunter2) // keep",
        );
        let (_, message, evidence) = changed.verdict(RULE).unwrap();
        assert_eq!(
            evidence,
            json!({
                "lines": [{ "path": "src/a.rs", "line": 7, "patterns": ["\\bdbg!"] }],
                "lines_total": 1,
                "excused": [{
                    "path": "src/a.rs", "line": 8, "patterns": ["\\bdbg!"], "reason": "allowed"
                }],
                "excused_total": 1,
                "not_scanned": [],
                "not_scanned_total": 0,
            })
        );
        assert!(!format!("{message}{evidence}").contains("hunter"));
    }
}
