//! Servers that write to one ledger and are killed at random, and the audit afterwards: what
//! was acknowledged is compared with what the ledger holds.
//!
//! `cargo bench --bench torture` runs the same with larger numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::ledger::{Ledger, as_text};

/// How hard it is made for the servers.
pub struct Torture {
    /// How many clients, each with a server of its own.
    pub processes: u64,
    /// How many calls each client makes.
    pub calls: u64,
    /// Every how many calls, on average, the server is killed in the middle of one.
    pub kill_every: u64,
    /// What is called and killed follows from it; how the processes interleave does not.
    pub seed: u64,
}

/// What happened.
#[derive(Default)]
pub struct Outcome {
    acknowledged: Vec<Record>,
    /// Sent, and the server killed before it answered: on the ledger whole or not at all.
    in_doubt: Vec<Record>,
    found_in_doubt: usize,
    reads: usize,
    kills: usize,
    elapsed: Duration,
}

/// A record that a call was to make.
#[derive(Debug, Clone)]
struct Record {
    /// Named by the client, so that it can be found again: no two are the same.
    mark: String,
    table: Table,
    /// What the server answered: a display ID or a UUID.
    id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Table {
    Tasks,
    Decisions,
    Reviews,
    Disagreements,
    Approvals,
}

impl Table {
    const ALL: [Self; 5] =
        [Self::Tasks, Self::Decisions, Self::Reviews, Self::Disagreements, Self::Approvals];

    /// Name, the column that holds the mark, the key of the answer's id, and the event.
    fn names(self) -> (&'static str, &'static str, &'static str, &'static str) {
        match self {
            Self::Tasks => ("tasks", "title", "task_id", "task.created"),
            Self::Decisions => ("decisions", "title", "decision_id", "decision.created"),
            Self::Reviews => ("reviews", "summary", "review_id", "review.submitted"),
            Self::Disagreements => {
                ("disagreements", "topic", "disagreement_id", "disagreement.recorded")
            }
            // Its answer names no id of its own.
            Self::Approvals => ("approvals", "comment", "", "decision.approved"),
        }
    }
}

impl Torture {
    /// Runs it and audits the ledger.
    pub fn run(&self) -> Outcome {
        let app = TestApp::init();
        let begin = Instant::now();
        let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..self.processes)
                .map(|number| {
                    let client = Client::new(self, &app, number);
                    scope.spawn(|| client.run())
                })
                .collect();
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        });
        let mut all = Outcome { elapsed: begin.elapsed(), ..Outcome::default() };
        for outcome in outcomes {
            all.acknowledged.extend(outcome.acknowledged);
            all.in_doubt.extend(outcome.in_doubt);
            all.reads += outcome.reads;
            all.kills += outcome.kills;
        }
        audit(&app, &mut all);
        all
    }
}

struct Client<'a> {
    plan: &'a Torture,
    app: &'a TestApp,
    number: u64,
    random: Random,
    outcome: Outcome,
    /// What this client made, and may build on.
    task: Option<String>,
    decision: Option<String>,
}

impl<'a> Client<'a> {
    fn new(plan: &'a Torture, app: &'a TestApp, number: u64) -> Self {
        let random = Random(plan.seed.wrapping_mul(1_000_003).wrapping_add(number));
        let outcome = Outcome::default();
        Self { plan, app, number, random, outcome, task: None, decision: None }
    }

    fn run(mut self) -> Outcome {
        let mut server = self.app.serve();
        for call in 0..self.plan.calls {
            let mark = format!("client {} call {call}", self.number);
            let (tool, arguments, table) = self.choose(&mark);
            let params = json!({ "name": tool, "arguments": arguments });
            let id = server.post("tools/call", params);
            let killed = self.random.below(self.plan.kill_every) == 0;
            let reply = if killed {
                self.outcome.kills += 1;
                // Anywhere from before it was read to after it was answered.
                std::thread::sleep(Duration::from_micros(self.random.below(2_000)));
                let last = server.kill();
                server = self.app.serve();
                last.into_iter().find(|reply| reply["id"] == json!(id))
            } else {
                Some(server.reply_to(id))
            };
            self.note(mark, table, reply);
        }
        server.close();
        self.outcome
    }

    /// A call that this client can make now.
    fn choose(&mut self, mark: &str) -> (&'static str, Value, Option<Table>) {
        let project = self.app.here();
        // Names that several clients make at the same moment.
        let agent = format!("agent {}", self.random.below(7));
        let die = self.random.below(10);
        match (&self.task, &self.decision) {
            (Some(_), Some(decision)) if die >= 5 => match die {
                5 => (
                    "submit_review",
                    json!({
                        "decision_id": decision, "reviewer_agent": agent, "summary": mark,
                        "status": "changes_requested",
                        "findings": [
                            { "severity": "low", "category": "bug", "message": mark },
                            { "severity": "high", "category": "tests", "message": mark },
                        ],
                    }),
                    Some(Table::Reviews),
                ),
                6 => (
                    "record_disagreement",
                    json!({ "decision_id": decision, "topic": mark, "actor_agent": agent }),
                    Some(Table::Disagreements),
                ),
                7 => (
                    "approve_decision",
                    json!({
                        "decision_id": decision, "approver": agent, "status": "approved",
                        "comment": mark,
                    }),
                    Some(Table::Approvals),
                ),
                8 => ("get_decision_context", json!({ "decision_id": decision }), None),
                _ => ("list_open_reviews", json!({ "project_path": project }), None),
            },
            (Some(task), _) if die >= 2 => (
                "record_decision",
                json!({ "task_id": task, "author_agent": agent, "title": mark }),
                Some(Table::Decisions),
            ),
            _ => (
                "create_task",
                json!({ "project_path": project, "title": mark, "actor_agent": agent }),
                Some(Table::Tasks),
            ),
        }
    }

    fn note(&mut self, mark: String, table: Option<Table>, reply: Option<Value>) {
        let result = reply.map(|reply| {
            let wrong = reply.get("error").is_some() || reply["result"]["isError"] == json!(true);
            assert!(!wrong, "{mark} failed: {reply}");
            reply["result"]["structuredContent"].clone()
        });
        let Some(table) = table else {
            self.outcome.reads += usize::from(result.is_some());
            return;
        };
        let id = result.as_ref().and_then(|result| result[table.names().2].as_str());
        let record = Record { mark, table, id: id.map(str::to_owned) };
        match table {
            Table::Tasks if id.is_some() => self.task = record.id.clone(),
            Table::Decisions if id.is_some() => self.decision = record.id.clone(),
            _ => {}
        }
        match result {
            Some(_) => self.outcome.acknowledged.push(record),
            None => self.outcome.in_doubt.push(record),
        }
    }
}

/// Compares what the clients were told with what another program reads from the file.
fn audit(app: &TestApp, outcome: &mut Outcome) {
    let mut ledger = Ledger::open(&app.ledger_path()).expect("there is a ledger");
    assert_eq!(ledger.column("PRAGMA integrity_check"), ["ok"]);
    assert!(ledger.column("PRAGMA foreign_key_check").is_empty());
    let mut records = 0;
    for table in Table::ALL {
        let (name, mark, _, event) = table.names();
        let id = match table {
            Table::Disagreements | Table::Approvals => "id",
            _ => "display_id",
        };
        let query = format!("SELECT {mark} AS mark, {id} AS id FROM {name}");
        let rows = ledger.rows(&query);
        records += rows.len();
        let held: BTreeMap<String, String> =
            rows.iter().map(|row| (as_text(&row["mark"]), as_text(&row["id"]))).collect();
        assert_eq!(held.len(), rows.len(), "{name}: a call was recorded twice");
        let mut known = BTreeSet::new();
        for record in outcome.acknowledged.iter().filter(|record| record.table == table) {
            let found = held.get(&record.mark);
            assert!(found.is_some(), "{record:?} was acknowledged and is lost");
            if let Some(id) = &record.id {
                assert_eq!(found, Some(&id.replace('-', &dash(table))), "{record:?}");
            }
            known.insert(&record.mark);
        }
        for record in outcome.in_doubt.iter().filter(|record| record.table == table) {
            outcome.found_in_doubt += usize::from(held.contains_key(&record.mark));
            known.insert(&record.mark);
        }
        assert!(held.keys().all(|mark| known.contains(mark)), "{name}: a record of nobody");
        if id == "display_id" {
            let given: BTreeSet<&String> = held.values().collect();
            assert_eq!(given.len(), held.len(), "{name}: a number was given twice");
            // A transaction that is undone takes its number back with it.
            let numbers = given.iter().map(|id| id.rsplit('-').next().unwrap());
            let highest = numbers.map(|number| number.parse::<usize>().unwrap()).max();
            assert_eq!(highest.unwrap_or(0), held.len(), "{name}: a number was left out");
        }
        let events = format!("SELECT count(*) AS n FROM events WHERE event_type = '{event}'");
        assert_eq!(ledger.rows(&events)[0]["n"], json!(held.len()), "{name}: one event each");
    }
    assert!(records > 0, "nothing was recorded");
    let whole = "SELECT r.id FROM reviews r WHERE \
                 (SELECT count(*) FROM findings f WHERE f.review_id = r.id) <> 2";
    assert!(ledger.column(whole).is_empty(), "a review without all of its findings");
    // As many as the audit found, each agent once, and the timeline in the order of writing.
    let names = ledger.column("SELECT lower(name) FROM agents");
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    let times = ledger.column("SELECT created_at FROM events ORDER BY rowid");
    assert!(times.is_sorted(), "the timeline is out of order");
}

/// A UUID is stored without its dashes, a display ID with its dash.
fn dash(table: Table) -> String {
    if table == Table::Disagreements { String::new() } else { "-".to_owned() }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let writes = self.acknowledged.len();
        let seconds = self.elapsed.as_secs_f64();
        writeln!(f, "{writes} writes acknowledged, all of them in the ledger")?;
        writeln!(f, "{} reads answered", self.reads)?;
        writeln!(f, "{} servers killed in the middle of a call", self.kills)?;
        writeln!(
            f,
            "{} writes without an answer: {} in the ledger whole, the others not at all",
            self.in_doubt.len(),
            self.found_in_doubt
        )?;
        write!(f, "{seconds:.1} s, {:.0} acknowledged writes a second", writes as f64 / seconds)
    }
}

/// A small generator of numbers (SplitMix64, by Sebastiano Vigna, public domain): the suite
/// needs no better one, and a seed gives the same numbers everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

#[test]
fn what_was_acknowledged_is_in_the_ledger_after_kills() {
    let outcome = Torture { processes: 6, calls: 40, kill_every: 8, seed: 1 }.run();
    assert!(outcome.kills > 0);
}
