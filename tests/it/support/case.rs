//! One fixture: a scratch machine, and what is said to the server and heard from it.
//! `tests/fixtures/README.md` gives the format.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, OnceLock};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::app::TestApp;
use super::json::{all_text, fold, unfold};
use super::ledger::{Ledger, TABLES};
use super::mask::{self, Mask};
use super::output_schema;
use super::server::{Client, Server};

/// The fields that make a step, in the file's own place for a fixture of a single step.
const STEP: [&str; 10] =
    ["call", "read", "prompt", "send", "with", "mentions", "omits", "reply", "rows", "events"];

/// What a library would say, and an agent must never see.
const RAW_TEXTS: [&str; 12] = [
    "sqlite",
    "SQLITE",
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
struct World {
    #[serde(default, rename = "about")]
    _about: String,
    /// Repositories by name, made in this order.
    #[serde(default)]
    repos: Map<String, Value>,
    /// Files below the machine's root, outside any commit.
    #[serde(default)]
    files: Map<String, Value>,
    /// Symbolic links, by the path of the link, to a path below the root.
    #[serde(default)]
    links: BTreeMap<String, String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// The server's working directory; the first repository if absent.
    folder: Option<String>,
    /// Where the ledger must be, if that is not plain from the rest.
    ledger: Option<String>,
    #[serde(default)]
    before: Vec<Call>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Repo {
    #[serde(default)]
    commits: Vec<Commit>,
    /// Further git commands, run after the commits.
    #[serde(default)]
    git: Vec<Vec<String>>,
    /// Whether `govforge init` runs here.
    #[serde(default = "yes")]
    init: bool,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Commit {
    message: String,
    /// Content by path: a text, a list of lines, or null for a file to remove.
    files: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    call: String,
    #[serde(default)]
    with: Value,
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

fn yes() -> bool {
    true
}

/// The repositories that fixtures copy, each made by git once.
#[derive(Default)]
pub struct Repositories(Mutex<BTreeMap<String, TestApp>>);

impl Repositories {
    fn copy_to(&self, app: TestApp, name: &str, commits: &[Commit]) -> TestApp {
        let key = serde_json::to_string(commits).unwrap();
        let mut made = self.0.lock().unwrap();
        let original = made.entry(key).or_insert_with(|| {
            commits.iter().fold(TestApp::empty().with_repo("repo"), |app, commit| {
                let files: Vec<(&str, Option<String>)> = commit
                    .files
                    .iter()
                    .map(|(path, content)| (path.as_str(), text(content)))
                    .collect();
                let files: Vec<(&str, Option<&str>)> =
                    files.iter().map(|(path, content)| (*path, content.as_deref())).collect();
                app.with_commit(&commit.message, &files)
            })
        });
        let original = original.here().to_owned();
        drop(made);
        app.with_copy(name, &original)
    }
}

/// What came of a fixture.
pub struct Outcome {
    /// The file as it would stand if everything that came were expected.
    pub actual: Value,
    /// What is wrong whatever the file expects.
    pub broken: Vec<String>,
}

/// Plays a fixture from the folder that also holds the worlds.
pub fn play(folder: &Path, file: &Value, repositories: &Repositories) -> Outcome {
    let single = file.get("steps").is_none();
    let case = read_case(file);
    let mut world = read_world(folder, &case.world);
    let app = build(&world, repositories);
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

fn read_world(folder: &Path, world: &Value) -> World {
    let written = assemble(folder, world);
    serde_json::from_value(written).unwrap_or_else(|error| panic!("no world: {error}"))
}

/// A world is a name, or an object that may build on a named one (`like`): its calls follow
/// the other's, its repositories are added to the other's or change fields of theirs, and
/// every other field takes the place of the other's.
fn assemble(folder: &Path, world: &Value) -> Value {
    let own = match world.as_str() {
        Some(name) => {
            let path = folder.join("worlds").join(format!("{name}.json"));
            let text = std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("no {path:?}"));
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
        }
        None => world.clone(),
    };
    let Some(base) = own.get("like") else { return own };
    let mut whole = assemble(folder, base);
    for (field, value) in own.as_object().unwrap() {
        match (field.as_str(), whole.get_mut(field)) {
            ("like", _) => {}
            ("before", Some(calls)) => {
                let more = value.as_array().unwrap().iter().cloned();
                calls.as_array_mut().unwrap().extend(more);
            }
            ("repos", Some(repos)) => {
                for (name, repo) in value.as_object().unwrap() {
                    for (field, value) in repo.as_object().unwrap() {
                        repos[name][field] = value.clone();
                    }
                }
            }
            _ => whole[field] = value.clone(),
        }
    }
    whole
}

fn build(world: &World, repositories: &Repositories) -> TestApp {
    let mut app = TestApp::empty();
    for (name, value) in &world.env {
        let value = value.replace("<tmp>", app.root().to_str().unwrap());
        app = app.with_env(name, &value);
    }
    for (name, repo) in &world.repos {
        let repo: Repo = serde_json::from_value(repo.clone()).expect("a repository");
        app = repositories.copy_to(app, name, &repo.commits);
        for command in &repo.git {
            let root = app.root().to_str().unwrap();
            let command: Vec<String> =
                command.iter().map(|word| word.replace("<tmp>", root)).collect();
            app.git(&command.iter().map(String::as_str).collect::<Vec<_>>());
        }
        if repo.init {
            app = app.registered();
        }
    }
    for (path, content) in &world.files {
        app = app.with_file(path, &text(content).expect("a file has a content"));
    }
    for (link, target) in &world.links {
        link_folder(&app.root().join(target), &app.root().join(link));
    }
    if let Some(path) = &world.ledger {
        app = app.with_ledger(path);
    }
    match world.folder.as_deref().or_else(|| world.repos.keys().next().map(String::as_str)) {
        Some(folder) => app.in_folder(folder),
        None => app,
    }
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
        self.check_rows(failed, &before, &after);
        let shown = match &step.call {
            Some(tool) => self.tool_outcome(tool, &reply),
            None => reply.clone(),
        };
        let mask = self.mask();
        let shown = mask.hide(&shown);
        self.check_text(step, failed, &shown);
        let events: Vec<Value> = after.events[before.events.len().min(after.events.len())..]
            .iter()
            .map(mask::event)
            .collect();
        let events = if events.is_empty() { Value::Null } else { mask.hide(&json!(events)) };
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

    /// A call that fails leaves no row behind, and no call removes one.
    fn check_rows(&mut self, failed: bool, before: &Snapshot, after: &Snapshot) {
        for (table, count) in &before.counts {
            let now = after.counts.get(table).copied().unwrap_or_default();
            if now < *count {
                self.broken.push(format!("{table} had {count} rows and now has {now}"));
            }
        }
        let was = |table: &String| before.counts.get(table).copied();
        for (table, count) in &after.counts {
            // What a new file is made with is no trace of the call.
            let tell = !before.counts.is_empty() || TABLES.contains(&table.as_str());
            if failed && tell && was(table).unwrap_or_default() != *count {
                self.broken.push(format!("the failed call left a row in {table}"));
            }
        }
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

/// The rows of the ledger at one moment.
struct Snapshot {
    counts: BTreeMap<String, i64>,
    events: Vec<Map<String, Value>>,
}

impl Snapshot {
    fn take(ledger: Option<&mut Ledger>) -> Self {
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
    fn grown(&self, before: &Self) -> Value {
        let count = |of: &Self, table: &str| of.counts.get(table).copied().unwrap_or_default();
        let grown: Map<String, Value> = TABLES
            .iter()
            .map(|table| ((*table).to_owned(), count(self, table) - count(before, table)))
            .filter(|(_, more)| *more != 0)
            .map(|(table, more)| (table, json!(more)))
            .collect();
        if grown.is_empty() { Value::Null } else { Value::Object(grown) }
    }
}

/// A text as it is, or a list of lines, each of which ends with a line feed.
fn text(content: &Value) -> Option<String> {
    match fold(content) {
        Value::Null => None,
        Value::Array(lines) => {
            Some(lines.iter().map(|line| format!("{}\n", line.as_str().unwrap())).collect())
        }
        other => Some(other.as_str().expect("a text").to_owned()),
    }
}

#[cfg(unix)]
fn link_folder(target: &Path, link: &Path) {
    std::os::unix::fs::symlink(target, link).unwrap();
}

#[cfg(windows)]
fn link_folder(target: &Path, link: &Path) {
    std::os::windows::fs::symlink_dir(target, link).unwrap();
}
