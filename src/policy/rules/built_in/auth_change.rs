//! `auth_change_requires_review`: changes near authentication are reviewed.

use serde_json::{Value, json};

use crate::policy::file::section::Section;
use crate::policy::findings::evidence::{files_with_patterns, paths, texts};
use crate::policy::patterns::path_patterns::PathPatterns;
use crate::policy::rules::rule::{Facts, Judgement, Rule};

const PATTERNS: [&str; 5] = ["auth", "session", "jwt", "permission", "middleware"];

#[derive(Debug)]
pub(super) struct AuthChange {
    patterns: PathPatterns,
}

impl AuthChange {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let patterns = section.patterns("patterns", &PATTERNS);
        if patterns.is_empty() {
            section.refuse(
                "patterns",
                "`patterns` is empty, so the policy could never hold. Name patterns, or write \
                 `enabled = false`.",
            );
        }
        Self { patterns: PathPatterns::new(patterns) }
    }
}

impl Rule for AuthChange {
    fn description(&self) -> &str {
        "Blocks when a changed path contains one of `patterns`, in any case: such a change is \
         reviewed."
    }

    fn config(&self) -> Value {
        json!({ "patterns": self.patterns.as_slice() })
    }

    fn judge(&self, facts: &Facts<'_>) -> Option<Judgement> {
        let hits = self.patterns.matching(facts.subject.files_changed);
        let mut evidence = files_with_patterns(&hits);
        evidence["patterns"] = texts(self.patterns.as_slice());
        if hits.total() > 0 {
            evidence["matched_files"] = paths(&hits);
        }
        Some(match hits.total() {
            0 => Judgement::passed("No auth-adjacent files modified.", evidence),
            files => Judgement::blocked(
                format!("{files} auth-adjacent file(s) modified — review required."),
                evidence,
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::domain::value::PolicyResultStatus::{Blocked, Passed};
    use crate::policy::testing::change;

    const DEFAULT: &str = "[auth_change_requires_review]";

    #[test]
    fn a_path_near_authentication_blocks() {
        let blocked =
            |files| (Blocked, format!("{files} auth-adjacent file(s) modified — review required."));
        for (paths, expected) in [
            (&["src/auth.py"][..], blocked(1)),
            (&["src/OAuth/Client.java", "README.md"], blocked(1)),
            (&["app/Sessions/store.rb", "lib/JWT.go"], blocked(2)),
            (&["web/permissions.ts", "web/middlewares/log.ts", "AUTHORS"], blocked(3)),
            (&["src/main.py"], (Passed, "No auth-adjacent files modified.".to_owned())),
            (&[], (Passed, "No auth-adjacent files modified.".to_owned())),
        ] {
            assert_eq!(change(paths).result(DEFAULT), Some(expected), "{paths:?}");
        }
    }

    #[test]
    fn its_patterns_replace_the_default() {
        let file = "[auth_change_requires_review]\npatterns = [\"Billing/\"]";
        let status = |path| change(&[path]).result(file).map(|(status, _)| status);
        assert_eq!(status("src/billing/charge.py"), Some(Blocked));
        assert_eq!(status("src/auth.py"), Some(Passed));
    }

    #[test]
    fn the_evidence_names_paths_and_patterns() {
        let (_, _, evidence) = change(&["a.md", "auth/jwt.py"]).verdict(DEFAULT).unwrap();
        let files = json!([{ "path": "auth/jwt.py", "patterns": ["auth", "jwt"] }]);
        let patterns = ["auth", "session", "jwt", "permission", "middleware"];
        assert_eq!(
            evidence,
            json!({
                "files": files, "files_total": 1,
                "patterns": patterns, "matched_files": ["auth/jwt.py"],
            })
        );
        let (_, _, evidence) = change(&["a.md"]).verdict(DEFAULT).unwrap();
        assert_eq!(evidence, json!({ "files": [], "files_total": 0, "patterns": patterns }));
    }
}
