//! One fixture: a scratch machine, and what is said to the server and heard from it.
//! `tests/fixtures/README.md` gives the format.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::app::TestApp;
use super::json::{all_text, fold, unfold};
use super::ledger::{Ledger, Maker};
use super::mask::Mask;
use super::output_schema;
use super::server::{Client, Server};
use super::snapshot::Snapshot;
use super::world::{Call, Repositories, World};

/// The fields that make a step, in the file's own place for a fixture of a single step.
const STEP: [&str; 10] =
    ["call", "read", "prompt", "send", "with", "mentions", "omits", "reply", "rows", "events"];

/// What a library would say, and an agent must never see.
pub const RAW_TEXTS: [&str; 12] = [
    "Sqlite",
    "SQLITE_",
    "sqlx",
    "libgit2",
    "git2",
    "; class=",
    "(code: ",
    "os error",
    "panicked",
    "serde",
    "at line 1 column",
    "invalid type:",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(rename = "about")]
    _about: String,
    #[serde(default = "shop")]
    world: Value,
    #[serde(default)]
    before: Vec<Call>,
    #[serde(default = "current_revision")]
    client: String,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    #[serde(default, rename = "about")]
    _about: String,
    call: Option<String>,
    read: Option<String>,
    prompt: Option<String>,
    send: Option<Value>,
    #[serde(default)]
    with: Option<Value>,
    #[serde(default)]
    mentions: Vec<String>,
    #[serde(default)]
    omits: Vec<String>,
    // The rest is compared as it stands in the file.
    #[serde(default, rename = "reply")]
    _reply: Value,
    #[serde(default, rename = "rows")]
    _rows: Value,
    #[serde(default, rename = "events")]
    _events: Value,
}

fn shop() -> Value {
    json!("shop")
}

fn current_revision() -> String {
    "2025-11-25".to_owned()
}

/// What came of a fixture.
pub struct Outcome {
    /// The file as it would stand if everything that came were expected.
    pub actual: Value,
    /// What is wrong whatever the file expects.
    pub broken: Vec<String>,
}

/// Plays a fixture from the folder that also holds the worlds.
pub fn play(folder: &Path, file: &Value, repositories: &Repositories, ledgers: Maker) -> Outcome {
    let single = file.get("steps").is_none();
    let case = read_case(file);
    let mut world = World::read(folder, &case.world);
    let app = world.build(repositories, ledgers);
    world.before.extend(case.before);
    let client = match case.client.as_str() {
        "silent" => Client::silent(),
        revision => Client::of(revision),
    };
    let server = Server::start(app.command(), &client);
    let mut stage = Stage { app, server, ledger: None, broken: Vec::new() };
    stage.prepare(&world.before);
    let mut actual = file.clone();
    for (index, step) in case.steps.iter().enumerate() {
        let shown = stage.play(step);
        let place = if single { &mut actual } else { &mut actual["steps"][index] };
        for (name, value) in shown {
            if value.is_null() {
                place.as_object_mut().unwrap().shift_remove(name);
            } else {
                place[name] = value;
            }
        }
    }
    stage.server.close();
    Outcome { actual, broken: stage.broken }
}

fn read_case(file: &Value) -> Case {
    let mut file = file.clone();
    if file.get("steps").is_none() {
        let fields = file.as_object_mut().expect("a fixture is an object");
        let step: Map<String, Value> = STEP
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), fields.shift_remove(*name)?)))
            .collect();
        file["steps"] = json!([step]);
    }
    serde_json::from_value(file).unwrap_or_else(|error| panic!("no fixture: {error}"))
}

struct Stage {
    app: TestApp,
    server: Server,
    ledger: Option<Ledger>,
    broken: Vec<String>,
}

impl Stage {
    /// The calls that lead to the fixture; each must succeed.
    fn prepare(&mut self, calls: &[Call]) {
        for call in calls {
            let arguments = self.reveal(&call.with);
            self.server.call(&call.call, arguments);
        }
    }

    fn play(&mut self, step: &Step) -> [(&'static str, Value); 3] {
        let before = Snapshot::take(self.ledger());
        let (method, params) = request(step);
        let params = self.reveal(&params);
        let reply = self.server.request(&method, params);
        let after = Snapshot::take(self.ledger());

        let failed = reply.get("error").is_some() || reply["result"]["isError"] == json!(true);
        self.broken.extend(after.broken(&before, failed));
        let shown = match &step.call {
            Some(tool) => self.tool_outcome(tool, &reply),
            None => reply.clone(),
        };
        let mask = self.mask();
        let shown = mask.hide(&shown);
        self.check_text(step, failed, &shown);
        let events = mask.hide(&after.new_events(&before));
        [("reply", unfold(&shown)), ("rows", after.grown(&before)), ("events", events)]
    }

    /// What a tool call came to: `{"ok": ..}`, `{"refused": ..}` or `{"error": ..}`. What is
    /// left out of it is checked here.
    fn tool_outcome(&mut self, tool: &str, reply: &Value) -> Value {
        let result = &reply["result"];
        if reply.get("error").is_some() {
            return reply.clone();
        }
        let content = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let text = content.first().and_then(|block| block["text"].as_str()).unwrap_or_default();
        if content.len() != 1 || content[0]["type"] != "text" {
            self.broken.push(format!("{tool}: not exactly one text content: {result}"));
        }
        if result["isError"] == json!(true) {
            return json!({ "refused": text });
        }
        let structured = &result["structuredContent"];
        if serde_json::from_str::<Value>(text).ok().as_ref() != Some(structured) {
            self.broken.push(format!("{tool}: the text content is not the structured one: {text}"));
        }
        let schema = self.output_schema(tool);
        for mismatch in output_schema::mismatches(&schema, structured) {
            self.broken.push(format!("{tool}: against its own output schema: {mismatch}"));
        }
        json!({ "ok": structured })
    }

    fn output_schema(&mut self, tool: &str) -> Value {
        static BY_TOOL: OnceLock<BTreeMap<String, Value>> = OnceLock::new();
        let by_tool = BY_TOOL.get_or_init(|| {
            let reply = self.server.request("tools/list", Value::Null);
            let tools = reply["result"]["tools"].as_array().cloned().unwrap_or_default();
            let entry = |tool: Value| {
                (tool["name"].as_str().unwrap().to_owned(), tool["outputSchema"].clone())
            };
            tools.into_iter().map(entry).collect()
        });
        by_tool.get(tool).cloned().unwrap_or_default()
    }

    /// The ledger, from the moment when there is one.
    fn ledger(&mut self) -> Option<&mut Ledger> {
        if self.ledger.is_none() {
            self.ledger = Ledger::open(&self.app.ledger_path());
        }
        self.ledger.as_mut()
    }

    fn mask(&mut self) -> Mask {
        let root = self.app.root().to_owned();
        Mask::new(&root, self.ledger())
    }

    fn reveal(&mut self, written: &Value) -> Value {
        let text = written.to_string();
        let names_rows = text.contains("<uuid of ") || text.contains("<hex of ");
        let mask = if names_rows { self.mask() } else { Mask::new(self.app.root(), None) };
        mask.reveal(&fold(written))
    }

    fn check_text(&mut self, step: &Step, failed: bool, shown: &Value) {
        let text = all_text(shown);
        for wanted in &step.mentions {
            if !text.contains(wanted) {
                self.broken.push(format!("the reply does not mention {wanted:?}: {text}"));
            }
        }
        for unwanted in &step.omits {
            if text.contains(unwanted) {
                self.broken.push(format!("the reply mentions {unwanted:?}: {text}"));
            }
        }
        for raw in RAW_TEXTS {
            if failed && text.contains(raw) {
                self.broken.push(format!("the reply shows a library's text, {raw:?}: {text}"));
            }
        }
    }
}

fn request(step: &Step) -> (String, Value) {
    let with = step.with.clone();
    match (&step.call, &step.read, &step.prompt, &step.send) {
        (Some(tool), None, None, None) => {
            let mut params = json!({ "name": tool });
            if let Some(with) = with {
                params["arguments"] = with;
            }
            ("tools/call".to_owned(), params)
        }
        (None, Some(uri), None, None) => ("resources/read".to_owned(), json!({ "uri": uri })),
        (None, None, Some(prompt), None) => {
            let mut params = json!({ "name": prompt });
            if let Some(with) = with {
                params["arguments"] = with;
            }
            ("prompts/get".to_owned(), params)
        }
        (None, None, None, Some(message)) => {
            let method = message["method"].as_str().expect("a request has a method");
            (method.to_owned(), message["params"].clone())
        }
        _ => panic!("a step has exactly one of call, read, prompt and send"),
    }
}
