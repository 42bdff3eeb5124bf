//! Events in a few words.

use anstyle::Style;
use serde_json::Value as Json;

use crate::cli::terminal::screen::{BAD, FAINT, GOOD, NOTE, PLAIN};
use crate::ledger::reading::named::EventSigned;

/// Rows of a table: when (UTC), who, what, and in a few words what else.
pub fn rows(events: &[EventSigned]) -> Vec<[(String, Style); 4]> {
    events.iter().map(row).collect()
}

/// Such rows with what each is about, for events of several decisions.
pub fn rows_about(events: &[EventSigned]) -> Vec<[(String, Style); 5]> {
    let with = |one: &EventSigned| {
        let [when, who, what, words] = row(one);
        let about = one.about.clone().unwrap_or_else(|| "-".to_owned());
        [when, (about, PLAIN), who, what, words]
    };
    events.iter().map(with).collect()
}

fn row(one: &EventSigned) -> [(String, Style); 4] {
    let kind = one.event.event_type.clone();
    let style = style(&kind);
    [
        (one.event.created_at.minute(), FAINT),
        (one.actor.clone().unwrap_or_else(|| "-".to_owned()), PLAIN),
        (kind, style),
        (words(one), PLAIN),
    ]
}

/// What a person wants to know of an event, with the name of whoever was asked for a review.
pub fn words(one: &EventSigned) -> String {
    let gist = gist(&one.event.event_type, &one.event.payload);
    match &one.reviewer {
        None => gist,
        Some(reviewer) if gist.is_empty() => reviewer.clone(),
        Some(reviewer) => format!("{reviewer}, {gist}"),
    }
}

fn style(kind: &str) -> Style {
    match kind {
        "decision.approved" => GOOD,
        "decision.rejected" => BAD,
        "decision.needs_changes" | "disagreement.recorded" => NOTE,
        _ => PLAIN,
    }
}

/// What a person wants to know of an event, from its payload.
pub fn gist(kind: &str, payload: &Json) -> String {
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
        "review.requested" => match text("focus") {
            focus if focus.is_empty() => focus,
            focus => format!("focus: {focus}"),
        },
        "review.submitted" => format!(
            "{} {}, findings: {}",
            text("display_id"),
            text("status"),
            text("findings_count"),
        ),
        "disagreement.recorded" => text("topic"),
        // Status changes and verdicts.
        _ if payload["to"].is_string() => {
            let confirmed = match payload["confirmed"].as_str() {
                Some(how) => format!(", {how}"),
                None => String::new(),
            };
            format!("from {} to {}{confirmed}", text("from"), text("to"))
        }
        // Another program's.
        _ => payload.to_string(),
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
        let signed = json!({"from": "draft", "to": "approved", "confirmed": "terminal"});
        assert_eq!(gist("decision.approved", &signed), "from draft to approved, terminal");
        assert_eq!(gist("decision.noted", &json!({"by": "x"})), "{\"by\":\"x\"}");
    }
}
