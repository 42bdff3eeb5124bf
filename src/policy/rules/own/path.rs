//! `kind = "path"`: certain files are changed.

use serde_json::{Value, json};

use super::kind::{Finding, Holds, Kind};
use crate::policy::file::section::{Named, Section};
use crate::policy::findings::evidence::{Bounded, PathHit, files_with_patterns};
use crate::policy::patterns::globs::Globs;
use crate::policy::rules::rule::Facts;

#[derive(Debug)]
pub(super) struct PathRule {
    paths: Globs,
    regexes: Vec<Named>,
    except_paths: Globs,
}

impl PathRule {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let rule = Self {
            paths: section.globs("paths"),
            regexes: section.regexes("regexes"),
            except_paths: section.globs("except_paths"),
        };
        if rule.paths.is_empty() && rule.regexes.is_empty() {
            section.refuse(
                "paths",
                "`paths` and `regexes` are both missing or empty, so the rule could never hold. \
                 Name some, or write `enabled = false`.",
            );
        }
        rule
    }

    fn patterns(&self, path: &str) -> Vec<&String> {
        if self.except_paths.is_match(path) {
            return Vec::new();
        }
        let regexes = self.regexes.iter();
        let regexes = regexes.filter(|named| named.pattern.regex.is_match(path.as_bytes()));
        self.paths.matching(path).chain(regexes.map(|named| &named.text)).collect()
    }
}

impl Kind for PathRule {
    fn holds_when(&self) -> &'static str {
        "a changed path matches one of `paths` or `regexes`"
    }

    fn config(&self) -> Value {
        json!({
            "paths": self.paths.as_slice(),
            "regexes": self.regexes.iter().map(|named| &named.text).collect::<Vec<_>>(),
            "except_paths": self.except_paths.as_slice(),
        })
    }

    fn find(&self, facts: &Facts<'_>) -> Option<Finding> {
        let mut hits = Bounded::default();
        for path in facts.subject.files_changed {
            let patterns = self.patterns(path);
            if !patterns.is_empty() {
                hits.push(|| PathHit::new(path, patterns.into_iter()));
            }
        }
        let count = hits.total();
        Some(Finding {
            holds: if count > 0 { Holds::Yes } else { Holds::No },
            count,
            files: hits.kept().iter().map(|hit| hit.path().to_owned()).collect(),
            files_total: count,
            message: match count {
                0 => "No changed file matches.".to_owned(),
                _ => "{count} changed file(s) match: {files}.".to_owned(),
            },
            evidence: files_with_patterns(&hits),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::domain::value::PolicyResultStatus::{Passed, Warning};
    use crate::policy::testing::change;

    const RULE: &str = "[infra]\nkind = \"path\"\npaths = [\"infra/**\", \"*.tf\"]\n\
                        regexes = ['(?i)^docker', 'v[0-9]+\\.lock$']\n\
                        except_paths = [\"infra/docs/\"]";

    #[test]
    fn a_changed_path_holds() {
        for (path, expected) in [
            ("infra/a", Warning),
            ("x/y.tf", Warning),
            ("Dockerfile", Warning),
            ("deps/v12.lock", Warning),
            ("infra/docs/a.tf", Passed),
            ("infra", Passed),
            ("x/Dockerfile", Passed),
        ] {
            assert_eq!(change(&[path]).result(RULE).unwrap().0, expected, "{path}");
        }
        assert_eq!(change(&[]).result(RULE).unwrap().0, Passed);
    }

    #[test]
    fn the_evidence_names_paths_and_patterns() {
        let (_, _, evidence) = change(&["infra/a.tf", "b.md"]).verdict(RULE).unwrap();
        let files = json!([{ "path": "infra/a.tf", "patterns": ["infra/**", "*.tf"] }]);
        assert_eq!(evidence, json!({ "files": files, "files_total": 1 }));
    }
}
