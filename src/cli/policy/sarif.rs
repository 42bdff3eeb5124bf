//! SARIF 2.1.0 of a policy run: the part of the format that code scanning reads.
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use super::places::places;
use crate::domain::value::{PolicyResultStatus, Value as _};
use crate::ledger::policies::preview::{PoliciesRun, PolicyJudged};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// What stands in a path as it is (RFC 3986, unreserved, and the slash).
const PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The root of a file.
#[derive(Debug, Serialize)]
pub(super) struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    results: Vec<Finding>,
    column_kind: &'static str,
}

#[derive(Debug, Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Debug, Serialize)]
struct Driver {
    name: &'static str,
    version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: String,
    short_description: Text,
    properties: Properties,
}

#[derive(Debug, Serialize)]
struct Properties {
    severity: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding {
    rule_id: String,
    rule_index: usize,
    level: &'static str,
    message: Text,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Location>,
}

#[derive(Debug, Serialize)]
struct Text {
    text: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: PhysicalLocation,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation {
    uri: String,
    uri_base_id: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u64,
}

impl Log {
    /// The file for a run: a rule for each policy that applies, and a result for each place
    /// where one did not pass.
    pub(super) fn of(judged: &PoliciesRun) -> Self {
        let rules = judged.results.iter().map(|result| Rule {
            id: result.policy.clone(),
            short_description: Text { text: result.description.clone() },
            properties: Properties { severity: result.severity.wire() },
        });
        let results = judged.results.iter().enumerate();
        let driver = Driver {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
            rules: rules.collect(),
        };
        let run = Run {
            tool: Tool { driver },
            results: results.flat_map(|(index, result)| findings(index, result)).collect(),
            column_kind: "unicodeCodePoints",
        };
        Self { schema: SCHEMA, version: "2.1.0", runs: [run] }
    }
}

fn findings(rule_index: usize, result: &PolicyJudged) -> Vec<Finding> {
    let level = match result.status {
        PolicyResultStatus::Passed => return Vec::new(),
        PolicyResultStatus::Warning => "warning",
        PolicyResultStatus::Blocked => "error",
    };
    let finding = |text: String, locations| Finding {
        rule_id: result.policy.clone(),
        rule_index,
        level,
        message: Text { text },
        locations,
    };
    let mut findings: Vec<Finding> = places(&result.evidence)
        .into_iter()
        .map(|place| {
            let text = match place.patterns.is_empty() {
                true => result.message.clone(),
                false => format!("{} Here: {}.", result.message, place.patterns.join(", ")),
            };
            let artifact_location = ArtifactLocation {
                uri: utf8_percent_encode(&place.path, PATH).to_string(),
                uri_base_id: "%SRCROOT%",
            };
            let region = place.line.filter(|line| *line > 0);
            let region = region.map(|start_line| Region { start_line });
            let physical_location = PhysicalLocation { artifact_location, region };
            finding(text, vec![Location { physical_location }])
        })
        .collect();
    if findings.is_empty() {
        findings.push(finding(result.message.clone(), Vec::new()));
    }
    findings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::value::FindingSeverity;

    #[test]
    fn each_place_is_a_result_and_what_passed_is_none() {
        let result = |policy: &str, status, evidence| PolicyJudged {
            policy: policy.to_owned(),
            description: "Blocks.".to_owned(),
            severity: FindingSeverity::High,
            status,
            message: "Found.".to_owned(),
            evidence,
        };
        let line = json!({ "path": "a b/ü.py", "line": 3, "patterns": ["password="] });
        let log = Log::of(&PoliciesRun {
            commit_hash: None,
            status: PolicyResultStatus::Blocked,
            config_path: None,
            config_hash: None,
            results: vec![
                result("one", PolicyResultStatus::Blocked, json!({ "lines": [line] })),
                result("two", PolicyResultStatus::Passed, json!({ "files": [{ "path": "x" }] })),
                result("three", PolicyResultStatus::Warning, json!({})),
            ],
            not_applicable: Vec::new(),
        });
        let log = serde_json::to_value(log).unwrap();
        let results = &log["runs"][0]["results"];
        assert_eq!(
            results[0],
            json!({
                "ruleId": "one",
                "ruleIndex": 0,
                "level": "error",
                "message": { "text": "Found. Here: password=." },
                "locations": [{
                    "physicalLocation": {
                        "artifactLocation": {
                            "uri": "a%20b/%C3%BC.py",
                            "uriBaseId": "%SRCROOT%",
                        },
                        "region": { "startLine": 3 },
                    },
                }],
            })
        );
        assert_eq!(results[1]["ruleId"], "three");
        assert_eq!(results[1]["level"], "warning");
        assert_eq!(results[1].get("locations"), None);
        assert_eq!(results.as_array().map(Vec::len), Some(2));
        assert_eq!(log["runs"][0]["tool"]["driver"]["rules"].as_array().map(Vec::len), Some(3));
    }
}
