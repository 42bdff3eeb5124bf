//! `test_required_for_high_risk`: a risky change comes with a test.

use serde_json::{Value, json};

use super::test_paths::is_test;
use super::{Facts, Judgement, Rule};
use crate::domain::value::RiskLevel;
use crate::policy::evidence::{files, matching};
use crate::policy::section::Section;

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
        let evidence = files(&tests);
        Some(match tests.total() {
            0 => {
                let changed = facts.subject.files_changed.len();
                let message = format!(
                    "No test among {changed} modified file(s) of a {risk}-risk change — tests \
                     expected."
                );
                Judgement::warning(message, evidence)
            }
            tests => Judgement::passed(format!("{tests} test file(s) modified."), evidence),
        })
    }
}
