//! Plays every file under `tests/fixtures/`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::support::case::{Outcome, play};
use crate::support::json::{diff, pretty};
use crate::support::ledger::Maker;
use crate::support::world::Repositories;

/// More than there are cores: a fixture waits for processes and the disk most of its time.
const AT_ONCE: usize = 6;

/// The families that are also played on ledgers whose tables the original made: whatever lists,
/// sorts, filters or shows what was recorded.
const ON_THE_ORIGINALS_LEDGER: [&str; 6] = [
    "/resources/",
    "/story/",
    "/tools/approve_decision/",
    "/tools/get_decision_context/",
    "/tools/list_open_reviews/",
    "/tools/list_pending_approvals/",
];

/// Each fixture gets the reply, the new rows and the new events that its file gives.
///
/// `GOVFORGE_FIXTURE=part/of/the/path` plays only some, `GOVFORGE_BLESS=1` writes what came
/// into the files: read the difference before you commit it.
#[test]
fn every_fixture_gets_its_reply() {
    let bless = std::env::var_os("GOVFORGE_BLESS").is_some_and(|value| value != "0");
    let only = std::env::var("GOVFORGE_FIXTURE").unwrap_or_default();
    let played = play_all(Maker::Govforge, bless, |path| path.contains(&only));
    assert!(played > 0, "no fixture is named {only:?}");
}

/// The same replies, rows and events come from a ledger that the original made, whose columns
/// turn text into numbers where it reads as one.
#[test]
fn fixtures_get_their_reply_on_a_ledger_of_the_original() {
    play_all(Maker::Original, false, |path| {
        ON_THE_ORIGINALS_LEDGER.iter().any(|family| path.contains(family))
    });
}

/// Plays the fixtures whose path is wanted, and returns how many those are.
fn play_all(ledgers: Maker, bless: bool, is_wanted: impl Fn(&str) -> bool) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut files = Vec::new();
    find(&folder, &mut files);
    files.retain(|path| is_wanted(&path.to_string_lossy().replace('\\', "/")));
    files.sort();

    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let repositories = Repositories::default();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(report) = run(&folder, path, &repositories, ledgers, bless) {
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
    files.len()
}

fn run(
    folder: &Path,
    path: &Path,
    repositories: &Repositories,
    ledgers: Maker,
    bless: bool,
) -> Result<(), String> {
    let text = std::fs::read_to_string(path).unwrap();
    let file: Value = serde_json::from_str(&text).map_err(|error| format!("  {error}\n"))?;
    let played = catch_unwind(AssertUnwindSafe(|| play(folder, &file, repositories, ledgers)));
    let Outcome { actual, broken } = played.map_err(|panic| {
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

/// Every fixture below the folder; `worlds` holds what they share.
fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let is_fixtures = !path.ends_with("fixtures/worlds");
            // Those of the endpoint are played over HTTP.
            if is_fixtures && !path.ends_with("fixtures/company") {
                find(&path, files);
            }
        } else if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
}
