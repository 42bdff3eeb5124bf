//! The concrete list of resources, page by page.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::app::TestApp;

/// Every open record is listed once, newest first, however many pages it takes; the pages end.
#[test]
fn the_resources_are_listed_page_by_page() {
    const TASKS: usize = 130;
    let app = TestApp::init();
    let project = app.here().to_str().unwrap();
    let mut server = app.serve();
    for number in 1..=TASKS {
        let title = format!("Task number {number}");
        server.call("create_task", json!({ "project_path": project, "title": title }));
    }
    let (mut uris, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
    loop {
        let params = if cursor.is_null() { Value::Null } else { json!({ "cursor": cursor }) };
        let reply = server.request("resources/list", params);
        let result = &reply["result"];
        for resource in result["resources"].as_array().unwrap_or_else(|| panic!("{reply}")) {
            assert!(resource["name"].is_string(), "{resource}");
            assert_eq!(resource["mimeType"], "application/json", "{resource}");
            uris.push(resource["uri"].as_str().unwrap().to_owned());
        }
        pages += 1;
        cursor = result["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
        assert!(pages < 100, "the pages do not end");
    }
    server.close();
    let tasks: Vec<&String> =
        uris.iter().filter(|uri| uri.starts_with("govforge://task/")).collect();
    let expected: Vec<String> = (1..=TASKS)
        .rev()
        .map(|number| format!("govforge://task/TASK-{number:03}/timeline"))
        .collect();
    assert_eq!(tasks, expected.iter().collect::<Vec<_>>());
    assert_eq!(uris.iter().collect::<BTreeSet<_>>().len(), uris.len(), "{uris:?}");
    assert_eq!(uris.len(), TASKS + 2, "and the project's two");
    assert!(pages > 1, "so many do not come on one page");
}
