//! The documents against what they speak of.

use std::path::{Path, PathBuf};

use govforge::domain::chain;
use govforge::domain::chain::company::{COMPANY_EVENT_COLUMNS, COMPANY_FORM};
use govforge::domain::chain::tables::{EVENT_COLUMNS, FORM, POLICY_COLUMNS};
use regex::Regex;
use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::ledger::Ledger;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_test_that_the_threat_model_names_exists() {
    let mut code = String::new();
    for folder in ["src", "tests"] {
        files(&root().join(folder), "rs").iter().for_each(|path| code.push_str(&read(path)));
    }
    let page = read("docs/threat-model.md");
    let tables = page.split("| promise | test |\n| --- | --- |\n").skip(1);
    let rows = tables.flat_map(|table| table.lines().take_while(|line| line.starts_with("| ")));
    let named = Regex::new("`([a-z0-9_]+)`").unwrap();
    let mut count = 0;
    for row in rows {
        let tests = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let before = count;
        for test in named.captures_iter(tests) {
            assert!(code.contains(&format!("fn {}(", &test[1])), "no test is named {}", &test[1]);
            count += 1;
        }
        assert!(count > before, "no test is named for: {row}");
    }
    assert!(count > 30, "only {count} tests are named");
}

/// The threat model says for each column what vouches for it, or why nothing has to.
#[test]
fn every_table_and_column_is_in_the_threat_model() {
    let app = TestApp::init();
    let page = read("docs/threat-model.md");
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    for table in ledger.counts().into_keys() {
        let first_cell = |row: &&str| {
            let cell = row.split(" | ").next().unwrap_or_default();
            cell.starts_with("| ") && cell.contains(&format!("`{table}`"))
        };
        let row = page.lines().find(first_cell);
        let row = row.unwrap_or_else(|| panic!("{table} is not in the threat model"));
        let hashed = match table.as_str() {
            "events" => EVENT_COLUMNS.as_slice(),
            "policies" => POLICY_COLUMNS.as_slice(),
            "aoa_events" => COMPANY_EVENT_COLUMNS.as_slice(),
            name => chain::table(name, FORM)
                .or(chain::table(name, COMPANY_FORM))
                .map_or([].as_slice(), |table| table.columns),
        };
        for column in ledger.column(&format!("SELECT name FROM pragma_table_info('{table}')")) {
            let told = hashed.contains(&column.as_str()) || row.contains(&format!("`{column}`"));
            // What is hashed of the others is no row of a record, and told in words.
            assert!(told || hashed.is_empty(), "{table}.{column}");
        }
    }
}

#[test]
fn every_link_between_the_documents_leads_somewhere() {
    let link = Regex::new(r"\]\(([^)#:]+)(#[^)]*)?\)").unwrap();
    let mut pages = files(&root().join("docs"), "md");
    pages.push(root().join("README.md"));
    for page in pages {
        for target in link.captures_iter(&read(&page)) {
            let target = page.parent().unwrap().join(&target[1]);
            assert!(target.exists(), "{} links to {}", page.display(), target.display());
        }
    }
}

#[test]
fn the_architecture_explains_every_dependency() {
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let page = read("docs/architecture.md");
    let table = &page[page.find("| crate |").unwrap()..];
    let first_cells: Vec<&str> = table.lines().filter_map(|row| row.split('|').nth(1)).collect();
    for name in manifest["dependencies"].as_table().unwrap().keys() {
        let is_told =
            first_cells.iter().any(|cell| cell.split(", ").any(|told| told.trim() == name));
        assert!(is_told, "docs/architecture.md does not say why {name} is there");
    }
}

#[test]
fn every_verb_has_an_example_in_the_documents() {
    let page = read("docs/cli.md");
    let output = TestApp::empty().govforge(&["-h"]);
    let help = String::from_utf8(output.stdout).unwrap();
    let commands = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    let verb = Regex::new(r"(?m)^  ([a-z-]+) ").unwrap();
    let verbs: Vec<&str> =
        verb.captures_iter(commands).map(|found| found.get(1).unwrap().as_str()).collect();
    assert!(verbs.len() > 10, "{help}");
    for verb in verbs {
        let row = format!("| `{verb}` | `govforge {verb}");
        assert!(page.contains(&row), "docs/cli.md has no example of {verb}");
    }
}

/// The entry for the MCP registry has the fields that its schema of 2025-12-11 publishes, in the
/// forms and lengths that it allows. The schema itself is in no package that can be installed.
#[test]
fn the_registry_entry_has_the_published_form() {
    let entry: Value = serde_json::from_str(&read("docs/distribution/server.json")).unwrap();
    let text = |value: &Value, pattern: &str| {
        let text = value.as_str().unwrap_or_else(|| panic!("{value} is no text"));
        assert!(Regex::new(&format!("^(?:{pattern})$")).unwrap().is_match(text), "{text}");
    };
    let fields = |value: &Value, known: &[&str]| {
        for name in value.as_object().unwrap().keys() {
            assert!(known.contains(&name.as_str()), "{name} is none of {known:?}");
        }
    };
    fields(
        &entry,
        &["$schema", "name", "title", "description", "version", "packages", "repository", "icons"],
    );
    text(&entry["$schema"], r"https://[^ ]+/2025-12-11/server\.schema\.json");
    text(&entry["name"], "[a-zA-Z0-9.-]{1,99}/[a-zA-Z0-9._-]{1,99}");
    text(&entry["title"], ".{1,100}");
    text(&entry["description"], ".{1,100}");
    text(&entry["version"], r"[0-9]+\.[0-9]+\.[0-9]+");
    let packages = entry["packages"].as_array().unwrap();
    assert!(!packages.is_empty());
    for package in packages {
        // The identifier of a bundle is its address, which holds the version.
        fields(
            package,
            &["registryType", "identifier", "fileSha256", "transport", "environmentVariables"],
        );
        assert_eq!(package["registryType"], "mcpb");
        text(&package["identifier"], r"https://[^ ]+/v[0-9.]+/[^ /]*\.mcpb");
        assert!(package["identifier"].as_str().unwrap().contains(env!("CARGO_PKG_VERSION")));
        text(&package["fileSha256"], "[a-f0-9]{64}");
        assert_eq!(package["transport"], json!({ "type": "stdio" }));
        for variable in package["environmentVariables"].as_array().unwrap() {
            fields(variable, &["name", "description", "format", "isRequired", "isSecret"]);
            text(&variable["name"], "GOVFORGE_[A-Z_]+");
            text(&variable["description"], ".+");
            assert!(variable["isRequired"].is_boolean() && variable["isSecret"].is_boolean());
            if let Some(format) = variable.get("format") {
                text(format, "string|number|boolean|filepath");
            }
        }
    }
}
