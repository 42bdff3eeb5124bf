//! A scratch company: verbs fill it, names stand for its ids, and callers reach it over HTTP.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::Deserialize;
use serde_json::{Value, json};

use super::app::TestApp;
use super::http::{Endpoint, Reply};
use super::json::{fold, map_strings};

static UUID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").unwrap()
});
static TIME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z").unwrap());
static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new("<(id|key) of ([^>]+)>").unwrap());

/// How a company is filled; `tests/fixtures/company/README.md` has the format.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct World {
    #[serde(rename = "about")]
    _about: String,
    verbs: Vec<Verb>,
    #[serde(default)]
    pub before: Vec<Before>,
    /// Further arguments of `govforge serve`.
    #[serde(default)]
    serve: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Verb {
    /// The words after `govforge company`.
    run: Vec<String>,
    /// What the id that it prints is called.
    id: Option<String>,
    /// Who sends the key or token that it prints.
    key: Option<String>,
}

/// A call that must succeed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Before {
    #[serde(default = "board", rename = "as")]
    who: String,
    call: String,
    #[serde(default)]
    with: Value,
    /// What the id in its result is called.
    id: Option<String>,
}

fn board() -> String {
    "board".to_owned()
}

/// A company that is served.
pub struct Company {
    pub app: TestApp,
    pub endpoint: Endpoint,
    /// Ids by name.
    ids: BTreeMap<String, String>,
    /// Keys and tokens by who sends them.
    keys: BTreeMap<String, String>,
}

impl Company {
    /// Fills a company and serves it.
    pub fn start(world: &World) -> Self {
        let app = TestApp::empty().with_env("GOVFORGE_DB", "ledger.db");
        let (mut ids, mut keys) = (BTreeMap::new(), BTreeMap::new());
        for verb in &world.verbs {
            let told = run(&app, &ids, &verb.run);
            for (names, name, field) in [(&mut ids, &verb.id, "id"), (&mut keys, &verb.key, "key")]
            {
                if let Some(name) = name {
                    let found = [field, "token"].iter().find_map(|field| told[*field].as_str());
                    names.insert(name.clone(), found.expect(name).to_owned());
                }
            }
        }
        let serve: Vec<&str> = world.serve.iter().map(String::as_str).collect();
        let endpoint = Endpoint::start(app.command(), &serve);
        let mut company = Self { app, endpoint, ids, keys };
        for before in &world.before {
            let result = company.call(&before.who, &before.call, &before.with);
            if let Some(name) = &before.id {
                let id = result["id"].as_str().expect("a result with an id").to_owned();
                company.ids.insert(name.clone(), id);
            }
        }
        company
    }

    /// Runs a verb of `govforge company` that must succeed; gives what it prints.
    pub fn verb(&self, words: &[&str]) -> Value {
        run(&self.app, &self.ids, words)
    }

    /// The id of that name.
    pub fn id(&self, name: &str) -> &str {
        self.ids.get(name).unwrap_or_else(|| panic!("nothing is called {name}"))
    }

    /// Calls something by a name from now on.
    pub fn name(&mut self, name: &str, id: &str) {
        self.ids.insert(name.to_owned(), id.to_owned());
    }

    /// The key of that name, as `Authorization` has it; none for the board.
    pub fn credential(&self, who: &str) -> Vec<(String, String)> {
        if who == "board" {
            return Vec::new();
        }
        let key = self.keys.get(who).unwrap_or_else(|| panic!("nobody is called {who}"));
        vec![("Authorization".to_owned(), format!("Bearer {key}"))]
    }

    /// The path of the endpoint.
    pub fn path(&self) -> String {
        format!("/companies/{}/mcp", self.id("company"))
    }

    /// Sends a JSON-RPC message as somebody.
    pub fn send(&self, who: &str, message: &Value, headers: &[(String, String)]) -> Reply {
        let headers = [self.credential(who), headers.to_vec()].concat();
        let body = self.reveal(message).to_string();
        self.endpoint.request("POST", &self.path(), &headers, Some(body.as_bytes()))
    }

    /// Calls a tool as somebody: the status, and the result or the error.
    pub fn try_call(&self, who: &str, tool: &str, with: &Value) -> (u16, Value) {
        let message = tool_call(tool, with);
        let reply = self.send(who, &message, &[]);
        let json = reply.json();
        let shown = match json.get("error") {
            Some(error) => error.clone(),
            None => result_of(&json["result"]),
        };
        (reply.status, shown)
    }

    /// Calls a tool that must succeed.
    pub fn call(&self, who: &str, tool: &str, with: &Value) -> Value {
        match self.try_call(who, tool, with) {
            (200, result) => result,
            (status, error) => panic!("{tool} as {who}: {status} {error}"),
        }
    }

    /// Replaces names by ids: `<id of Shop>`, `<key of alice>`.
    pub fn reveal(&self, written: &Value) -> Value {
        map_strings(&fold(written), &|text| {
            let text = NAME.replace_all(text, |found: &Captures| match &found[1] {
                "id" => self.id(&found[2]).to_owned(),
                _ => self.keys.get(&found[2]).expect("a key of that name").clone(),
            });
            json!(text)
        })
    }

    /// Replaces ids and times by names.
    pub fn hide(&self, value: &Value) -> Value {
        let names: BTreeMap<&str, &str> =
            self.ids.iter().map(|(name, id)| (id.as_str(), name.as_str())).collect();
        map_strings(value, &|text| {
            let text = UUID.replace_all(text, |id: &Captures| match names.get(&id[0]) {
                Some(name) => format!("<id of {name}>"),
                None if &id[0] == "00000000-0000-4000-8000-000000000001" => {
                    "<id of local-board>".to_owned()
                }
                None => "<uuid>".to_owned(),
            });
            let text = TIME.replace_all(&text, "<time>");
            match text.as_ref() {
                env!("CARGO_PKG_VERSION") => json!("<version>"),
                text => {
                    let port = self.endpoint.address.rsplit(':').next().unwrap();
                    let text = text.replace(&self.endpoint.address, "<address>");
                    json!(text.replace(&format!("port {port}"), "port <port>"))
                }
            }
        })
    }
}

/// The request that calls a tool.
pub fn tool_call(tool: &str, with: &Value) -> Value {
    let mut params = json!({ "name": tool });
    if !with.is_null() {
        params["arguments"] = with.clone();
    }
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
}

/// What a tool gave: its first text, which is JSON.
pub fn result_of(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("no result of a tool: {result}"));
    serde_json::from_str(text).expect("the text is JSON")
}

fn run(app: &TestApp, ids: &BTreeMap<String, String>, words: &[impl AsRef<str>]) -> Value {
    let words: Vec<String> = words
        .iter()
        .map(|word| {
            let named = |found: &Captures| ids.get(&found[2]).expect("an id of that name").clone();
            NAME.replace_all(word.as_ref(), named).into_owned()
        })
        .collect();
    let mut arguments = vec!["company"];
    arguments.extend(words.iter().map(String::as_str));
    arguments.push("--json");
    let output = app.govforge(&arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("the verb prints JSON")
}
