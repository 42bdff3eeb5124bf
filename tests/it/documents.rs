//! The documents against what they speak of.

use std::path::{Path, PathBuf};

use regex::Regex;

use crate::support::app::TestApp;

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
    let rows = read("docs/threat-model.md");
    let rows: Vec<&str> = rows.lines().filter(|line| line.starts_with("| ")).collect();
    let named = Regex::new("`([a-z0-9_]+)`").unwrap();
    let mut count = 0;
    for row in rows.iter().filter(|row| !row.contains("---") && !row.contains("| promise |")) {
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
