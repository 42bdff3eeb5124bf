//! The timeline of the demo's task as a table.

use chrono::DateTime;
use serde_json::Value as Json;

use crate::cli::Failure;
use crate::cli::demo::stage::Stage;
use crate::cli::mcp_client::Client;

/// Reads the timeline of `task` as a resource and shows it, oldest first.
///
/// # Errors
/// As [`Client::read`].
pub fn show(stage: &mut Stage, client: &mut Client, task: &str) -> Result<(), Failure> {
    let uri = format!("govforge://task/{task}/timeline");
    let timeline = client.read(&uri)?;
    let events = timeline["events"].as_array().cloned().unwrap_or_default();
    stage.gap()?;
    stage.title(&format!("What stays: the timeline of {task}"))?;
    stage.tell(&format!("The resource {uri}, which every client can read:"))?;
    stage.gap()?;
    let start = events.first().and_then(milliseconds).unwrap_or_default();
    for event in &events {
        let after = milliseconds(event).unwrap_or(start) - start;
        let kind = event["type"].as_str().unwrap_or_default();
        stage.row(&format!("{after:>4} ms  {kind:<26}"), &gist(kind, &event["payload"]))?;
    }
    Ok(())
}

fn milliseconds(event: &Json) -> Option<i64> {
    let time = DateTime::parse_from_rfc3339(event["created_at"].as_str()?).ok()?;
    Some(time.timestamp_millis())
}

/// What a person wants to know of an event, from its payload.
fn gist(kind: &str, payload: &Json) -> String {
    let text = |field: &str| match &payload[field] {
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    };
    match kind {
        "task.created" | "decision.created" => format!("{} {}", text("display_id"), text("title")),
        "decision.git_attached" => format!(
            "{:.7} +{} -{}: {}",
            text("commit_hash"),
            text("insertions"),
            text("deletions"),
            text("files_changed"),
        ),
        "decision.policy_evaluated" => format!(
            "{} policies: {} blocked, {} with a warning",
            text("policy_count"),
            text("blocked"),
            text("warnings"),
        ),
        "review.requested" => format!("focus: {}", text("focus")),
        "review.submitted" => format!(
            "{} {}, findings: {}",
            text("display_id"),
            text("status"),
            text("findings_count"),
        ),
        "disagreement.recorded" => text("topic"),
        // Status changes and verdicts.
        _ => format!("from {} to {}", text("from"), text("to")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn says_what_happened_in_a_few_words() {
        let attached = json!({
            "commit_hash": "5f3a2c1d9e8b7a6f5f3a2c1d9e8b7a6f5f3a2c1d",
            "files_changed": ["a.py", "b.py"], "insertions": 3, "deletions": 1,
        });
        assert_eq!(gist("decision.git_attached", &attached), "5f3a2c1 +3 -1: a.py, b.py");
        let changed = json!({"from": "draft", "to": "approved", "comment": null});
        assert_eq!(gist("decision.approved", &changed), "from draft to approved");
    }
}
