//! Plays every file under `tests/fixtures/company/`; its README has the format.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::support::case::RAW_TEXTS;
use crate::support::company::{Before, Company, World, result_of, tool_call};
use crate::support::http::Reply;
use crate::support::json::{all_text, diff, fold, pretty, unfold};
use crate::support::ledger::{Ledger, as_text};
use crate::support::output_schema;

/// More than there are cores: a fixture waits for processes and the disk most of its time.
const AT_ONCE: usize = 6;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(rename = "about")]
    _about: String,
    world: String,
    #[serde(default)]
    before: Vec<Before>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    #[serde(default, rename = "about")]
    _about: String,
    #[serde(default = "board", rename = "as")]
    who: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Another path, and another method than POST.
    path: Option<String>,
    method: Option<String>,
    call: Option<String>,
    #[serde(default)]
    with: Value,
    send: Option<Value>,
    /// A body as it is, where it is no JSON.
    body: Option<String>,
    /// The words of a verb that is run in the place of a request.
    verb: Option<Vec<String>>,
    /// What the id in the result is called from here on.
    id: Option<String>,
    #[serde(default)]
    mentions: Vec<String>,
    #[serde(default)]
    omits: Vec<String>,
    /// Headers of the reply that are shown.
    #[serde(default)]
    shows: Vec<String>,
    // The rest is compared as it stands in the file.
    #[serde(default, rename = "status")]
    _status: Value,
    #[serde(default, rename = "shown")]
    _shown: Value,
    #[serde(default, rename = "reply")]
    _reply: Value,
    #[serde(default, rename = "events")]
    _events: Value,
}

fn board() -> String {
    "board".to_owned()
}

/// Each fixture gets the status, the reply and the new events that its file gives.
///
/// `GOVFORGE_FIXTURE=part/of/the/path` plays only some, `GOVFORGE_BLESS=1` writes what came into
/// the files: read the difference before you commit it.
#[test]
fn every_fixture_of_the_endpoint_gets_its_reply() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/company");
    let bless = std::env::var_os("GOVFORGE_BLESS").is_some_and(|value| value != "0");
    let only = std::env::var("GOVFORGE_FIXTURE").unwrap_or_default();
    let mut files = Vec::new();
    find(&folder, &mut files);
    files.retain(|path| path.to_string_lossy().replace('\\', "/").contains(&only));
    files.sort();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(report) = run(&folder, path, bless) {
                        let name = path.strip_prefix(&folder).unwrap().display();
                        failures.lock().unwrap().push(format!("{name}\n{report}"));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    assert!(
        failures.is_empty(),
        "{} of {} fixtures failed (- expected, + came):\n\n{}",
        failures.len(),
        files.len(),
        failures.join("\n")
    );
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("company/worlds") {
                find(&path, files);
            }
        } else if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
}

fn run(folder: &Path, path: &Path, bless: bool) -> Result<(), String> {
    let text = std::fs::read_to_string(path).unwrap();
    let file: Value = serde_json::from_str(&text).map_err(|error| format!("  {error}\n"))?;
    let played = catch_unwind(AssertUnwindSafe(|| play(folder, &file)));
    let (actual, broken) = played.map_err(|panic| {
        let message = panic.downcast_ref::<String>().cloned();
        let message = message.or_else(|| panic.downcast_ref::<&str>().map(|m| (*m).to_owned()));
        format!("  {}\n", message.unwrap_or_default())
    })?;
    let mut report: String = broken.iter().map(|what| format!("  {what}\n")).collect();
    if bless {
        std::fs::write(path, pretty(&actual)).unwrap();
    } else if actual != file {
        report.push_str(&diff(&pretty(&file), &pretty(&actual)));
    }
    if report.is_empty() { Ok(()) } else { Err(report) }
}

/// The file as it would stand if everything that came were expected, and what is wrong whatever
/// the file expects.
fn play(folder: &Path, file: &Value) -> (Value, Vec<String>) {
    let case: Case = serde_json::from_value(file.clone()).unwrap_or_else(|error| panic!("{error}"));
    let mut world = world(folder, &case.world);
    world.before.extend(case.before);
    let mut company = Company::start(&world);
    let (mut actual, mut broken) = (file.clone(), Vec::new());
    for (index, step) in case.steps.iter().enumerate() {
        let shown = step.play(&mut company, &mut broken);
        let place = actual["steps"][index].as_object_mut().unwrap();
        for (name, value) in shown {
            match value.is_null() {
                true => drop(place.shift_remove(name)),
                false => drop(place.insert(name.to_owned(), value)),
            }
        }
    }
    (actual, broken)
}

/// A world by its name.
pub fn world(folder: &Path, name: &str) -> World {
    let path = folder.join("worlds").join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("no world {name}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

impl Step {
    fn play(&self, company: &mut Company, broken: &mut Vec<String>) -> Vec<(&'static str, Value)> {
        if let Some(words) = &self.verb {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            company.verb(&words);
            return Vec::new();
        }
        let before = rows(company);
        let reply = self.request(company);
        let after = rows(company);
        let json = reply.json();
        let failed = json.get("error").is_some();
        for (table, count) in &after.counts {
            let was = before.counts.get(table).copied().unwrap_or_default();
            if failed && *count > was {
                broken.push(format!("the failed call left a row in {table}"));
            }
        }
        let shown = match (&self.call, json.get("error")) {
            (Some(tool), None) => {
                let ok = json!({ "ok": self.checked(company, tool, &json["result"], broken) });
                if let Some(name) = &self.id {
                    company.name(name, ok["ok"]["id"].as_str().expect("an id"));
                }
                ok
            }
            (_, Some(error)) if self.send.is_none() => json!({ "error": error }),
            _ => json,
        };
        let shown = company.hide(&shown);
        self.check_text(failed, &shown, broken);
        let headers: Map<String, Value> = self
            .shows
            .iter()
            .filter_map(|name| Some((name.clone(), json!(reply.header(name)?))))
            .collect();
        let new = after.events.iter().skip(before.events.len()).cloned();
        let events = company.hide(&Value::Array(new.collect()));
        vec![
            ("status", json!(reply.status)),
            ("shown", if headers.is_empty() { Value::Null } else { json!(headers) }),
            ("reply", unfold(&shown)),
            ("events", if events == json!([]) { Value::Null } else { events }),
        ]
    }

    fn request(&self, company: &Company) -> Reply {
        let message = match (&self.call, &self.send, &self.body) {
            (Some(tool), None, None) => Some(tool_call(tool, &self.with).to_string()),
            (None, Some(message), None) => Some(fold(message).to_string()),
            (None, None, Some(body)) => Some(body.clone()),
            (None, None, None) => None,
            _ => panic!("a step has one of call, send, body and verb"),
        };
        let reveal = |text: &str| as_text(&company.reveal(&json!(text)));
        let message = message.map(|text| reveal(&text));
        let headers = self.headers.iter().map(|(name, value)| (name.clone(), reveal(value)));
        let headers: Vec<_> = company.credential(&self.who).into_iter().chain(headers).collect();
        let path = self.path.as_deref().map_or_else(|| company.path(), reveal);
        let method = self.method.as_deref().unwrap_or("POST");
        let body = message.as_deref().map(str::as_bytes);
        company.endpoint.request(method, &path, &headers, body)
    }

    /// A tool's result: what is left out of it is checked here.
    fn checked(
        &self,
        company: &Company,
        tool: &str,
        result: &Value,
        broken: &mut Vec<String>,
    ) -> Value {
        let shown = result_of(result);
        match (&shown, result.get("structuredContent")) {
            (Value::Object(_), Some(structured)) if *structured == shown => {}
            (Value::Object(_), _) | (_, Some(_)) => {
                broken.push(format!("{tool}: the structured content is not the text: {result}"));
            }
            _ => {}
        }
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        let list = company.send("board", &list, &[]).json();
        let tools = list["result"]["tools"].as_array().cloned().unwrap_or_default();
        let published = tools.iter().find(|published| published["name"] == tool);
        let schema = published.map(|published| published["outputSchema"].clone());
        if let Some(schema) = schema.filter(|schema| schema.is_object()) {
            for mismatch in output_schema::mismatches(&schema, &shown) {
                broken.push(format!("{tool}: against its own output schema: {mismatch}"));
            }
        }
        if let Some(empty) = empty_field(&shown) {
            broken.push(format!("{tool}: the field {empty} is empty"));
        }
        shown
    }

    fn check_text(&self, failed: bool, shown: &Value, broken: &mut Vec<String>) {
        let text = all_text(shown);
        for wanted in self.mentions.iter().filter(|wanted| !text.contains(*wanted)) {
            broken.push(format!("the reply does not mention {wanted:?}: {text}"));
        }
        for unwanted in self.omits.iter().filter(|unwanted| text.contains(*unwanted)) {
            broken.push(format!("the reply mentions {unwanted:?}: {text}"));
        }
        for raw in RAW_TEXTS.iter().filter(|raw| failed && text.contains(**raw)) {
            broken.push(format!("the reply shows a library's text, {raw:?}: {text}"));
        }
    }
}

/// A field that is null: no reply has one.
fn empty_field(value: &Value) -> Option<String> {
    match value {
        Value::Object(fields) => fields.iter().find_map(|(name, value)| match value {
            Value::Null => Some(name.clone()),
            value => empty_field(value),
        }),
        Value::Array(items) => items.iter().find_map(empty_field),
        _ => None,
    }
}

struct Rows {
    counts: BTreeMap<String, i64>,
    events: Vec<Value>,
}

/// How many rows each table holds, and the events of companies in their order.
fn rows(company: &Company) -> Rows {
    let mut ledger = Ledger::open(&company.app.ledger_path()).expect("a ledger");
    let events = ledger.rows("SELECT * FROM aoa_events ORDER BY id");
    let events = events.into_iter().map(|event| {
        let payload: Value = serde_json::from_str(&as_text(&event["payload_json"])).unwrap();
        let mut shown = json!({
            "type": event["event_type"],
            "record": event["entity_type"],
            "actor": event["actor"],
            "payload": payload,
        });
        for (name, column) in [
            ("user", "user_id"),
            ("agent", "agent_id"),
            ("key", "key_id"),
            ("session", "session_id"),
            ("run", "run_id"),
        ] {
            if !event[column].is_null() {
                shown[name] = json!(dashed(&as_text(&event[column])));
            }
        }
        shown
    });
    Rows { events: events.collect(), counts: ledger.counts() }
}

fn dashed(hex: &str) -> String {
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}
