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
    let gist = gist(&one.event.event_type, &one.event.payload, one.event.doubt.as_deref());
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

/// What a person wants to know of an event, from its payload, and why not to rely on it.
pub fn gist(kind: &str, payload: &Json, doubt: Option<&str>) -> String {
    let gist = told(kind, payload, doubt.is_none());
    match doubt {
        Some(doubt) if gist.is_empty() => doubt.to_owned(),
        Some(doubt) => format!("{gist}, {doubt}"),
        None => gist,
    }
}

fn told(kind: &str, payload: &Json, is_vouched: bool) -> String {
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
        "decision.settings_changed" => settings(&payload["before"], &payload["after"]),
        // Status changes and verdicts.
        _ if payload["to"].is_string() => {
            // What anybody can write tells nothing.
            let confirmed = match payload["confirmed"].as_str().filter(|_| is_vouched) {
                Some(how) => format!(", {how}"),
                None => String::new(),
            };
            format!("from {} to {}{confirmed}", text("from"), text("to"))
        }
        // Another program's.
        _ => payload.to_string(),
    }
}

/// Which of the settings of the human gate are others than at the last verdict.
fn settings(before: &Json, after: &Json) -> String {
    let text = |value: &Json| match value {
        Json::String(text) => text.clone(),
        Json::Array(items) if items.is_empty() => "nothing".to_owned(),
        Json::Array(items) => {
            items.iter().map(|item| item.as_str().unwrap_or_default()).collect::<Vec<_>>().join("+")
        }
        other => other.to_string(),
    };
    let changed = ["confirm", "require", "gate_accepts"].into_iter().filter_map(|name| {
        let (before, after) = (&before[name], &after[name]);
        (before != after).then(|| format!("{name} from {} to {}", text(before), text(after)))
    });
    changed.collect::<Vec<_>>().join(", ")
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
        let gist = |kind: &str, payload: &Json| super::gist(kind, payload, None);
        assert_eq!(gist("decision.git_attached", &attached), "5f3a2c1 +3 -1: a.py, b.py");
        let changed = json!({"from": "draft", "to": "approved", "comment": null});
        assert_eq!(gist("decision.approved", &changed), "from draft to approved");
        let signed = json!({"from": "draft", "to": "approved", "confirmed": "terminal"});
        assert_eq!(gist("decision.approved", &signed), "from draft to approved, terminal");
        assert_eq!(gist("decision.noted", &json!({"by": "x"})), "{\"by\":\"x\"}");
        let changed = json!({
            "before": {"confirm": "auto", "require": [], "gate_accepts": [], "digest": "a"},
            "after": {"confirm": "never", "require": [], "gate_accepts": ["asserted"], "digest": "b"},
        });
        assert_eq!(
            gist("decision.settings_changed", &changed),
            "confirm from auto to never, gate_accepts from nothing to asserted"
        );
    }

    #[test]
    fn what_another_program_claims_is_not_told_as_known() {
        let signed = json!({"from": "draft", "to": "approved", "confirmed": "terminal"});
        let doubt = "written by another program";
        assert_eq!(
            gist("decision.approved", &signed, Some(doubt)),
            "from draft to approved, written by another program"
        );
        assert_eq!(gist("review.requested", &json!({"focus": []}), Some(doubt)), doubt);
    }
}
