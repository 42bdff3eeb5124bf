//! The timeline of the demo's task as a table.

use chrono::DateTime;
use serde_json::Value as Json;

use crate::cli::Failure;
use crate::cli::demo::stage::Stage;
use crate::cli::read::events::gist;
use crate::cli::set_up::mcp_client::Client;

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
        stage.row(
            &format!("{after:>4} ms  {kind:<26}"),
            &gist(kind, &event["payload"], event["doubt"].as_str()),
        )?;
    }
    Ok(())
}

fn milliseconds(event: &Json) -> Option<i64> {
    let time = DateTime::parse_from_rfc3339(event["created_at"].as_str()?).ok()?;
    Some(time.timestamp_millis())
}
