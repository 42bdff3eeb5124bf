//! Names for what differs from run to run: paths, ids, times.
//!
//! An id is named after its row, `<uuid of DEC-001>`, so that a reply with the id of
//! something else does not pass.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::json::map_strings;
use super::ledger::{Ledger, as_text};

static UUID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").unwrap()
});
static HEX: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b[0-9a-f]{32}\b").unwrap());
static TIME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.(\d{1,6}))?Z").unwrap());
static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new("<(hex|uuid) of [^>]+>").unwrap());

/// The shipped policy file grows with the program; its hash stands under a name.
static SHIPPED_POLICIES: LazyLock<String> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("policies.example.toml");
    std::fs::read(path).map(|bytes| hex(&Sha256::digest(bytes))).unwrap_or_default()
});

/// The names on one scratch machine at one moment.
pub struct Mask {
    root: String,
    /// By the id of a row in hex digits.
    names: BTreeMap<String, String>,
}

impl Mask {
    /// For the machine at `root` and the rows of its ledger, if it has one.
    pub fn new(root: &Path, ledger: Option<&mut Ledger>) -> Self {
        let names = ledger.map(names).unwrap_or_default();
        Self { root: root.to_str().unwrap().to_owned(), names }
    }

    /// Replaces what differs by its name. The program's version is named only as a whole text.
    pub fn hide(&self, value: &Value) -> Value {
        let names = &self.names;
        map_strings(value, &|text| {
            if text == env!("CARGO_PKG_VERSION") {
                return json!("<version>");
            }
            let text = self.hide_root(text);
            let text = UUID.replace_all(&text, |id: &Captures| {
                let hex = id[0].replace('-', "");
                names.get(&hex).map_or("<uuid>".to_owned(), |name| format!("<uuid of {name}>"))
            });
            let text = HEX.replace_all(&text, |id: &Captures| {
                names.get(&id[0]).map_or(id[0].to_owned(), |name| format!("<hex of {name}>"))
            });
            let text = TIME.replace_all(&text, "<time>");
            json!(match SHIPPED_POLICIES.as_str() {
                "" => text.into_owned(),
                hash => text.replace(hash, "<sha256 of policies.example.toml>"),
            })
        })
    }

    /// Replaces names by what they stand for: `<tmp>`, `<uuid of DEC-001>` and, without
    /// dashes, `<hex of DEC-001>`.
    pub fn reveal(&self, value: &Value) -> Value {
        let ids: BTreeMap<&str, &str> =
            self.names.iter().map(|(id, name)| (name.as_str(), id.as_str())).collect();
        map_strings(value, &|text| {
            let text = text.replace("<tmp>", &self.root);
            let text = NAME.replace_all(&text, |found: &Captures| {
                let (form, name) = found[0][1..found[0].len() - 1].split_once(" of ").unwrap();
                let hex = ids.get(name).unwrap_or_else(|| panic!("no row is named {name}"));
                if form == "hex" { (*hex).to_owned() } else { dashed(hex) }
            });
            json!(text)
        })
    }

    fn hide_root(&self, text: &str) -> String {
        let text = text.replace(&self.root, "<tmp>");
        if cfg!(windows) && text.contains("<tmp>") { text.replace('\\', "/") } else { text }
    }
}

fn dashed(hex: &str) -> String {
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Every row's id with its name.
fn names(ledger: &mut Ledger) -> BTreeMap<String, String> {
    let tables = ledger.counts();
    if !tables.contains_key("projects") {
        return BTreeMap::new();
    }
    let several = tables["projects"] > 1;
    let mut names = BTreeMap::new();
    for (table, name) in [("projects", "project"), ("agents", "agent"), ("policies", "policy")] {
        for row in ledger.rows(&format!("SELECT id, name FROM {table}")) {
            names.insert(as_text(&row["id"]), format!("{name} {}", as_text(&row["name"])));
        }
    }
    let displayed = "SELECT r.id, r.display_id, p.name AS project FROM (
            SELECT id, display_id, project_id FROM tasks
            UNION ALL SELECT id, display_id, project_id FROM decisions
            UNION ALL SELECT v.id, v.display_id, d.project_id
                FROM reviews v JOIN decisions d ON d.id = v.decision_id
        ) r JOIN projects p ON p.id = r.project_id";
    for row in ledger.rows(displayed) {
        let id = as_text(&row["display_id"]);
        let name = if several { format!("{}/{id}", as_text(&row["project"])) } else { id };
        names.insert(as_text(&row["id"]), name);
    }
    for (table, name) in [
        ("git_changes", "a git change"),
        ("findings", "a finding"),
        ("policy_results", "a policy result"),
        ("disagreements", "a disagreement"),
        ("approvals", "an approval"),
        ("events", "an event"),
    ] {
        for id in ledger.column(&format!("SELECT id FROM {table}")) {
            names.insert(id, name.to_owned());
        }
    }
    names
}
