//! Who may do what: every tool, by every kind of caller, inside the scope and outside of it.
//!
//! What must come stands in `tests/fixtures/company/permissions.tsv`, a line for each tool and
//! place, a column for each caller; docs/aoa.md shows the same.

use std::path::Path;

use serde_json::{Value, json};

use super::fixtures::world;
use crate::support::company::Company;

const TABLE: &str = include_str!("../../fixtures/company/permissions.tsv");

/// Who stands for a column.
const CALLERS: [(&str, &str); 5] = [
    ("mcp founder", "frank"),
    ("mcp team_lead", "alice"),
    ("mcp team_member", "bob"),
    ("board founder", "board"),
    ("agent", "coder"),
];

/// The arguments with which a tool is about that place, for that caller. What it needs is made
/// first.
fn arguments(tool: &str, place: &str, _who: &str) -> Value {
    let project = match place {
        "another project" => "<id of Web>",
        _ => "<id of Shop>",
    };
    match tool {
        "me" => json!({}),
        "create-task" => json!({ "title": "A task", "projectId": project }),
        _ => panic!("{tool} is there, and nothing is known of its arguments"),
    }
}

#[test]
fn every_cell_of_the_table_of_permissions_holds_over_http() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/company");
    let company = Company::start(&world(&folder, "acme"));
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let list = company.send("board", &list, &[]).json();
    let there: Vec<&str> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let mut lines = TABLE.lines();
    let columns: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let mut wrong = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        let (tool, place) = (cells[0], cells[1]);
        if !there.contains(&tool) {
            continue;
        }
        for (column, who) in CALLERS {
            let index = columns.iter().position(|name| *name == column).expect(column);
            let (status, shown) = company.try_call(who, tool, &arguments(tool, place, who));
            let came = if status == 200 { "yes".to_owned() } else { status.to_string() };
            if came != cells[index] {
                wrong.push(format!("{tool}, {place}, as {column}: {came} {shown}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
