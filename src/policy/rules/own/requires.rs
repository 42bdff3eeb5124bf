//! `kind = "requires"`: what is changed asks for another change beside it.

use serde_json::{Value, json};

use super::kind::{Finding, Holds, Kind};
use crate::policy::file::section::Section;
use crate::policy::findings::evidence::{files, matching};
use crate::policy::patterns::globs::Globs;
use crate::policy::rules::rule::Facts;

#[derive(Debug)]
pub(super) struct Requires {
    if_paths: Globs,
    then_paths: Globs,
}

impl Requires {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let rule =
            Self { if_paths: section.globs("if_paths"), then_paths: section.globs("then_paths") };
        for (key, globs) in [("if_paths", &rule.if_paths), ("then_paths", &rule.then_paths)] {
            if globs.is_empty() {
                section.refuse(
                    key,
                    format!(
                        "`{key}` is missing or empty, so the rule would say nothing. Name globs, \
                         or write `enabled = false`."
                    ),
                );
            }
        }
        rule
    }
}

impl Kind for Requires {
    fn holds_when(&self) -> &'static str {
        "a changed path matches `if_paths` and none matches `then_paths`"
    }

    fn config(&self) -> Value {
        json!({ "if_paths": self.if_paths.as_slice(), "then_paths": self.then_paths.as_slice() })
    }

    fn find(&self, facts: &Facts<'_>) -> Option<Finding> {
        let paths = facts.subject.files_changed;
        let asking = matching(paths, |path| self.if_paths.is_match(path));
        let is_answered = paths.iter().any(|path| self.then_paths.is_match(path));
        let holds = asking.total() > 0 && !is_answered;
        Some(Finding {
            holds: if holds { Holds::Yes } else { Holds::No },
            count: asking.total(),
            files: asking.kept().to_vec(),
            files_total: asking.total(),
            message: match (holds, asking.total()) {
                (true, _) => format!(
                    "{{count}} file(s) changed, and none of {}: {{files}}.",
                    self.then_paths.as_slice().join(", ")
                ),
                (false, 0) => "Nothing changed that asks for more.".to_owned(),
                (false, _) => "What is asked for changed too.".to_owned(),
            },
            evidence: files(&asking),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::domain::value::PolicyResultStatus::{Passed, Warning};
    use crate::policy::testing::change;

    const RULE: &str = "[changelog]\nkind = \"requires\"\nif_paths = [\"src/**\"]\n\
                        then_paths = [\"CHANGELOG.md\", \"changes/*\"]";

    #[test]
    fn one_without_the_other_holds() {
        let missing = "1 file(s) changed, and none of CHANGELOG.md, changes/*: src/a.rs.";
        for (paths, expected) in [
            (&["src/a.rs"][..], (Warning, missing)),
            (&["src/a.rs", "CHANGELOG.md"], (Passed, "What is asked for changed too.")),
            (&["src/a.rs", "changes/12"], (Passed, "What is asked for changed too.")),
            (&["README.md"], (Passed, "Nothing changed that asks for more.")),
            (&["CHANGELOG.md"], (Passed, "Nothing changed that asks for more.")),
        ] {
            let result = change(paths).result(RULE).unwrap();
            assert_eq!(result, (expected.0, expected.1.to_owned()), "{paths:?}");
        }
    }

    #[test]
    fn the_evidence_names_what_asks() {
        let (_, _, evidence) = change(&["src/a.rs", "b"]).verdict(RULE).unwrap();
        assert_eq!(evidence, json!({ "files": [{ "path": "src/a.rs" }], "files_total": 1 }));
    }
}
