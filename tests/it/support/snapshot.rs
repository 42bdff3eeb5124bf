//! The rows of the ledger at one moment, and what came between two.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::ledger::{Ledger, TABLES, as_text};

/// How many rows each table holds, and the events, oldest first.
pub struct Snapshot {
    counts: BTreeMap<String, i64>,
    events: Vec<Map<String, Value>>,
}

impl Snapshot {
    /// What the ledger holds now; nothing if there is none yet.
    pub fn take(ledger: Option<&mut Ledger>) -> Self {
        let Some(ledger) = ledger else {
            return Self { counts: BTreeMap::new(), events: Vec::new() };
        };
        let counts = ledger.counts();
        let events = match counts.get("events") {
            Some(_) => ledger.rows("SELECT * FROM events ORDER BY created_at, id"),
            None => Vec::new(),
        };
        Self { counts, events }
    }

    /// How many rows each of the twelve tables gained; null if none did.
    pub fn grown(&self, before: &Self) -> Value {
        let grown: Map<String, Value> = TABLES
            .iter()
            .map(|table| ((*table).to_owned(), self.count(table) - before.count(table)))
            .filter(|(_, more)| *more != 0)
            .map(|(table, more)| (table, json!(more)))
            .collect();
        if grown.is_empty() { Value::Null } else { Value::Object(grown) }
    }

    /// The events that came: type, entity and payload; null if there are none.
    pub fn new_events(&self, before: &Self) -> Value {
        let new: Vec<Value> = self
            .events
            .iter()
            .filter(|event| before.events.iter().all(|old| old["id"] != event["id"]))
            .map(|event| {
                let payload = as_text(&event["payload_json"]);
                let payload: Value = serde_json::from_str(&payload).unwrap_or_default();
                json!({
                    "type": event["event_type"],
                    "entity": event["entity_type"],
                    "payload": payload,
                })
            })
            .collect();
        if new.is_empty() { Value::Null } else { json!(new) }
    }

    /// What no call may do: remove a row, or leave one although it failed. All tables count,
    /// those beside the twelve too, once there is a file.
    pub fn broken(&self, before: &Self, failed: bool) -> Vec<String> {
        let lost = before
            .counts
            .keys()
            .filter(|table| self.count(table) < before.count(table))
            .map(|table| format!("{table} lost a row"));
        let kept = self
            .counts
            .keys()
            .filter(|table| !before.counts.is_empty() || TABLES.contains(&table.as_str()))
            .filter(|table| failed && self.count(table) > before.count(table))
            .map(|table| format!("the failed call left a row in {table}"));
        lost.chain(kept).collect()
    }

    fn count(&self, table: &str) -> i64 {
        self.counts.get(table).copied().unwrap_or_default()
    }
}
