//! `test_required_for_high_risk`: a risky change comes with a test.

use serde_json::{Value, json};

use super::test_paths::is_test;
use crate::domain::value::RiskLevel;
use crate::policy::file::section::Section;
use crate::policy::findings::evidence::{files, matching, texts};
use crate::policy::rules::rule::{Facts, Judgement, Rule};

#[derive(Debug)]
pub(super) struct TestRequired;

impl TestRequired {
    pub(super) fn read(_: &mut Section<'_>) -> Self {
        Self
    }
}

impl Rule for TestRequired {
    fn description(&self) -> &str {
        "Warns when a decision of high or critical risk changes no test file. It does not apply \
         at a lower risk."
    }

    fn config(&self) -> Value {
        json!({})
    }

    fn judge(&self, facts: &Facts<'_>) -> Option<Judgement> {
        let risk = facts.subject.risk_level;
        if risk < RiskLevel::High {
            return None;
        }
        let tests = matching(facts.subject.files_changed, is_test);
        let mut evidence = files(&tests);
        Some(match tests.total() {
            0 => {
                let changed = facts.subject.files_changed.len();
                evidence["risk_level"] = json!(risk);
                evidence["files_changed"] = texts(facts.subject.files_changed);
                evidence["files_changed_total"] = json!(changed);
                let message = format!(
                    "No test among {changed} modified file(s) of a {risk}-risk change — tests \
                     expected."
                );
                Judgement::warning(message, evidence)
            }
            count => {
                evidence["test_files"] = texts(tests.kept());
                Judgement::passed(format!("{count} test file(s) modified."), evidence)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::value::PolicyResultStatus::{Passed, Warning};
    use crate::policy::testing::change;

    const DEFAULT: &str = "[test_required_for_high_risk]";

    #[test]
    fn a_risky_change_without_a_test_is_warned_of() {
        let result = |risk, paths: &[&str]| change(paths).risk(risk).result(DEFAULT);
        assert_eq!(
            result(RiskLevel::High, &["a.py", "latest.py"]),
            Some((
                Warning,
                "No test among 2 modified file(s) of a high-risk change — tests expected.".into()
            ))
        );
        assert_eq!(
            result(RiskLevel::Critical, &[]),
            Some((
                Warning,
                "No test among 0 modified file(s) of a critical-risk change — tests expected."
                    .into()
            ))
        );
        assert_eq!(
            result(RiskLevel::Critical, &["a.py", "test_a.py", "tests/b.py"]),
            Some((Passed, "2 test file(s) modified.".into()))
        );
    }

    #[test]
    fn it_does_not_apply_at_a_lower_risk() {
        assert_eq!(change(&["a.py"]).risk(RiskLevel::Low).result(DEFAULT), None);
        assert_eq!(change(&["a.py"]).risk(RiskLevel::Medium).result(DEFAULT), None);
    }

    #[test]
    fn the_evidence_names_the_tests() {
        let (_, _, evidence) =
            change(&["a.py", "test_a.py"]).risk(RiskLevel::High).verdict(DEFAULT).unwrap();
        assert_eq!(
            evidence,
            json!({
                "files": [{ "path": "test_a.py" }], "files_total": 1, "test_files": ["test_a.py"],
            })
        );
        let (_, _, evidence) =
            change(&["a.py", "b.py"]).risk(RiskLevel::High).verdict(DEFAULT).unwrap();
        assert_eq!(
            evidence,
            json!({
                "files": [], "files_total": 0, "risk_level": "high",
                "files_changed": ["a.py", "b.py"], "files_changed_total": 2,
            })
        );
    }
}
