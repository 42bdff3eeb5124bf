//! Listings, cursors, filters and sorts over rows as the original writes them, on tables that
//! either program made: the original's columns turn text into numbers where it reads as one, and
//! its database's default gives times without a fraction.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::ledger::{Ledger, Maker};

/// How many tasks, decisions and reviews there are: some pages of each.
const EACH: usize = 150;

/// When the row of an index was recorded. Sixty share a whole second without a fraction, and the
/// newest is of the last day that can be written.
fn recorded(index: usize) -> String {
    match index {
        0..60 => "2026-05-10 14:02:11".to_owned(),
        149 => "9999-12-31 23:59:59.999999".to_owned(),
        _ => format!("2026-05-{:02} 08:30:00.{index:06}", 11 + index % 9),
    }
}

/// A registered repository whose ledger holds many rows that the original wrote.
fn full_ledger_of(maker: Maker) -> TestApp {
    let app = TestApp::empty().with_repo("shop").with_commit("Start", &[("a.txt", Some("a\n"))]);
    maker.prepare(&app.here().join(".govforge/govforge.db"));
    let app = app.registered();
    let mut ledger = Ledger::open(&app.ledger_path()).unwrap();
    let project = &ledger.column("SELECT id FROM projects")[0];
    let agent = format!("{:032x}", 1);
    let mut statements = format!(
        "BEGIN; INSERT INTO agents VALUES('{agent}', '2026', 'OTHER', 'null', '2026-05-10 14:02:11');"
    );
    for index in 0..EACH {
        let (task, decision, review) =
            (format!("{:032x}", 1000 + index), format!("{:032x}", 2000 + index), 3000 + index);
        let (number, at) = (index + 1, recorded(index));
        statements += &format!(
            "INSERT INTO tasks VALUES('{task}', 'TASK-{number:03}', '{project}', '{number}', NULL, \
             'HIGH', 'OPEN', '{agent}', '{at}', '{at}');\
             INSERT INTO decisions VALUES('{decision}', 'DEC-{number:03}', '{project}', '{task}', \
             '{agent}', '{number}', '1e3', NULL, 'REVIEW_REQUIRED', 'HIGH', {}, '{at}', '{at}');\
             INSERT INTO reviews VALUES('{review:032x}', 'REV-{number:03}', '{decision}', \
             '{agent}', 'COMMENTED', NULL, '{at}');",
            index % 2
        );
    }
    ledger.execute(&(statements + "COMMIT;"));
    app
}

fn json_of(app: &TestApp, arguments: &[&str]) -> Value {
    let output = app.govforge(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The display IDs of `records` in the order of a listing that puts the newest first.
fn newest_first(prefix: &str, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let mut rows: Vec<(String, usize)> =
        (0..EACH).map(|index| (recorded(index), index)).filter(|(at, _)| wanted(at)).collect();
    rows.sort();
    rows.iter().rev().map(|(_, index)| format!("{prefix}-{:03}", index + 1)).collect()
}

#[test]
fn every_record_is_listed_once_and_the_newest_first() {
    for maker in [Maker::Govforge, Maker::Original] {
        let app = full_ledger_of(maker);
        let mut server = app.serve();
        let (mut uris, mut cursor) = (Vec::new(), Value::Null);
        for page in 0.. {
            assert!(page < 10, "the pages have no end");
            let parameters = match cursor {
                Value::Null => json!({}),
                cursor => json!({ "cursor": cursor }),
            };
            let reply = server.request("resources/list", parameters);
            let listed = reply["result"]["resources"].as_array().unwrap();
            uris.extend(listed.iter().map(|one| one["uri"].as_str().unwrap().to_owned()));
            cursor = reply["result"]["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        for (form, prefix) in [("task", "TASK"), ("decision", "DEC"), ("review", "REV")] {
            let start = format!("govforge://{form}/");
            let ids: Vec<&str> =
                uris.iter().filter_map(|uri| uri.strip_prefix(&start)?.split('/').next()).collect();
            assert_eq!(ids, newest_first(prefix, |_| true));
        }
        assert_eq!(uris.len(), 2 + 3 * EACH);
        assert_eq!(uris.iter().collect::<BTreeSet<_>>().len(), uris.len());
    }
}

#[test]
fn the_lists_of_the_tools_hold_every_record_oldest_first() {
    for maker in [Maker::Govforge, Maker::Original] {
        let app = full_ledger_of(maker);
        let mut server = app.serve();
        let project = json!({ "project_path": app.here() });
        let reviews = server.call("list_open_reviews", project.clone());
        let ids: Vec<&str> = reviews["reviews"]
            .as_array()
            .unwrap()
            .iter()
            .rev()
            .map(|one| one["review_id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, newest_first("REV", |_| true));
        let pending = server.call("list_pending_approvals", project);
        let pending = pending["decisions"].as_array().unwrap();
        assert_eq!(pending.len(), EACH / 2);
        assert!(pending.iter().all(|one| one["title"].as_str().unwrap().parse::<i64>().is_ok()));
    }
}

#[test]
fn filters_of_the_verbs_find_what_either_program_wrote() {
    for maker in [Maker::Govforge, Maker::Original] {
        let app = full_ledger_of(maker);
        let ids = |arguments: &[&str]| -> Vec<String> {
            let listed = json_of(&app, &[&["list", "--json"], arguments].concat());
            let listed = listed.as_array().unwrap();
            listed.iter().map(|one| one["decision_id"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(ids(&[]), newest_first("DEC", |_| true));
        assert_eq!(ids(&["--status", "review-required", "--risk", "high"]).len(), EACH);
        assert_eq!(ids(&["--agent", "2026"]).len(), EACH);
        // A time without a fraction is as early as one with none left.
        assert_eq!(ids(&["--since", "2026-05-10T14:02:11Z"]), newest_first("DEC", |_| true));
        assert_eq!(ids(&["--since", "2026-05-12"]), newest_first("DEC", |at| at >= "2026-05-12"));
        assert_eq!(ids(&["--since", "9999-01-01"]), ["DEC-150"]);
        let status = json_of(&app, &["status", "--json"]);
        assert_eq!(status["projects"][0]["decisions"]["review_required"], json!(EACH));
        let verdicts = status["projects"][0]["verdicts"].as_array().unwrap();
        assert_eq!(verdicts.len(), EACH / 2);
        let shown = json_of(&app, &["show", "DEC-150", "--json"]);
        assert_eq!(shown["decision"]["summary"], "1e3");
        assert_eq!(shown["author"], "2026");
        let export = app.govforge(&["export", "--markdown"]);
        let text = String::from_utf8(export.stdout).unwrap();
        for index in 1..=EACH {
            assert!(text.contains(&format!("DEC-{index:03}")), "DEC-{index:03} is not exported");
        }
    }
}
