//! How fast the built binary is, over stdin and stdout, as ratios where a ratio is possible.
//!
//! `cargo bench --bench speed [-- DECISIONS...]` measures the start, the memory, every tool at
//! three sizes of the ledger (100, 10 000 and 100 000 decisions, with ten events for each),
//! several processes that write at once, and the size of the binary. The base of a latency is
//! the server's own `ping` in the same run, and of a write the same transaction made by
//! SQLite alone.
#![allow(clippy::print_stdout, reason = "it is made to be read")]
#![allow(clippy::disallowed_methods, reason = "it starts git and the server")]

#[path = "speed/client.rs"]
mod client;
#[path = "speed/ledger.rs"]
mod ledger;
#[path = "../it/support/mod.rs"]
#[allow(dead_code, reason = "it is the suite's")]
mod support;

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use client::{Client, memory_peak};
use support::app::TestApp;

/// How often each tool is called for a median.
const CALLS: usize = 300;

/// How often the program is started.
const STARTS: usize = 40;

/// After how many calls the memory is looked at again.
const MANY_CALLS: usize = 10_000;

/// How many writes each of several processes makes.
const WRITES: usize = 300;

fn main() {
    let sizes: Vec<usize> = std::env::args()
        .skip(1)
        // `cargo bench` adds a flag of its own.
        .filter(|argument| argument != "--bench")
        .map(|text| text.parse().expect("the arguments are numbers of decisions"))
        .collect();
    let sizes = if sizes.is_empty() { vec![100, 10_000, 100_000] } else { sizes };
    start();
    memory();
    tools(&sizes);
    processes();
    let size = std::fs::metadata(env!("CARGO_BIN_EXE_govforge")).unwrap().len();
    println!("\nbinary: {:.1} MiB", size as f64 / 1024.0 / 1024.0);
}

fn start() {
    let app = TestApp::init();
    let mut spawns = Vec::new();
    let mut lists = Vec::new();
    let mut writes = Vec::new();
    for number in 0..STARTS {
        let begin = Instant::now();
        app.hermetic("true").status().unwrap();
        spawns.push(begin.elapsed());
        let begin = Instant::now();
        let mut client = Client::start(app.command());
        client.initialize();
        client.request("tools/list", &json!({}));
        lists.push(begin.elapsed());
        client.end();
        let begin = Instant::now();
        let mut client = Client::start(app.command());
        client.initialize();
        let title = format!("Task {number}");
        client.call("create_task", &json!({ "project_path": app.here(), "title": title }));
        writes.push(begin.elapsed());
        client.end();
    }
    let base = median(&mut spawns);
    println!("start, from the spawn on (median of {STARTS}; `true` takes {})", ms(base));
    for (name, mut times) in [("answered tools/list", lists), ("first answered write", writes)] {
        println!("  to the {name:21} {}, p99 {}", ms(median(&mut times)), ms(p99(&mut times)));
    }
}

fn memory() {
    let app = TestApp::init();
    let mut client = Client::start(app.command());
    client.initialize();
    client.request("tools/list", &json!({}));
    println!("\npeak memory");
    println!("  after the start          {}", memory_peak(client.process_id()));
    client.call("create_task", &json!({ "project_path": app.here(), "title": "A task" }));
    println!("  after the first write    {}", memory_peak(client.process_id()));
    let mut record = 0;
    for number in 0..MANY_CALLS {
        if number % 4 == 0 {
            record += 1;
            let title = format!("Decision {number}");
            let call = json!({ "task_id": "TASK-001", "author_agent": "claude", "title": title });
            client.call("record_decision", &call);
        } else {
            let call = json!({ "decision_id": format!("DEC-{record:03}") });
            client.call("get_decision_context", &call);
        }
    }
    println!("  after {MANY_CALLS} calls more   {}", memory_peak(client.process_id()));
    client.end();
}

fn tools(sizes: &[usize]) {
    let mut medians: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    for &size in sizes {
        let app = TestApp::init();
        ledger::fill(&app.ledger_path(), size);
        let commit = app.git(&["rev-parse", "HEAD"]);
        let mut client = Client::start(app.command());
        client.initialize();
        let mut pings = times(|_| client.request("ping", &json!({})));
        let (ping, slow) = (median(&mut pings), p99(&mut pings));
        let mut raw = ledger::raw_writes(app.root(), CALLS);
        let raw = median(&mut raw);
        println!(
            "\n{size} decisions: ping {}, p99 {}; a write by SQLite alone {}",
            ms(ping),
            ms(slow),
            ms(raw)
        );
        println!(
            "  {:26} {:>9} {:>9} {:>10} {:>12}",
            "", "median", "p99", "of a ping", "of the least"
        );
        for (name, method, params) in calls(&app, size, commit.trim()) {
            let mut times = times(|number| {
                let params = params(number);
                let begin = Instant::now();
                let reply = client.request(method, &params);
                let elapsed = begin.elapsed();
                let expected = name.starts_with("unknown");
                assert_eq!(reply["result"]["isError"] == json!(true), expected, "{reply}");
                assert!(reply.get("error").is_none(), "{reply}");
                elapsed
            });
            let (middle, slow) = (median(&mut times), p99(&mut times));
            let before = medians.entry(name).or_default();
            before.push(middle);
            println!(
                "  {name:26} {:>9} {:>9} {:>9.1}x {:>11.2}x",
                ms(middle),
                ms(slow),
                middle.as_secs_f64() / ping.as_secs_f64(),
                middle.as_secs_f64() / before[0].as_secs_f64(),
            );
        }
        client.end();
    }
}

type Params = Box<dyn Fn(usize) -> Value>;

/// Every tool and list, with parameters for the nth call.
fn calls(app: &TestApp, size: usize, commit: &str) -> Vec<(&'static str, &'static str, Params)> {
    let project = app.here().to_str().unwrap().to_owned();
    let (of_project, of_repo) = (json!({ "project_path": project }), project.clone());
    let commit = commit.to_owned();
    let decision = move |number: usize| format!("DEC-{:03}", 1 + number * 7919 % size);
    let tool = |name: &'static str, arguments: Box<dyn Fn(usize) -> Value>| -> (_, _, Params) {
        let params = move |number: usize| json!({ "name": name, "arguments": arguments(number) });
        (name, "tools/call", Box::new(params))
    };
    let pending = of_project.clone();
    let unknown = |number: usize| {
        let arguments = json!({ "decision_id": format!("DEC-9{number:06}") });
        json!({ "name": "get_decision_context", "arguments": arguments })
    };
    vec![
        tool("get_decision_context", Box::new(move |n| json!({ "decision_id": decision(n) }))),
        tool("list_open_reviews", Box::new(move |_| of_project.clone())),
        tool("list_pending_approvals", Box::new(move |_| pending.clone())),
        ("unknown decision", "tools/call", Box::new(unknown)),
        ("resources/list", "resources/list", Box::new(|_| json!({}))),
        tool(
            "create_task",
            Box::new(move |n| json!({ "project_path": project, "title": format!("Task {n}") })),
        ),
        tool(
            "record_decision",
            Box::new(|n| {
                json!({
                    "task_id": "TASK-001", "author_agent": "Agent 7",
                    "title": format!("Decision {n}"),
                })
            }),
        ),
        tool(
            "attach_git_diff",
            Box::new(move |n| {
                json!({
                    "decision_id": decision(n), "repo_path": of_repo, "commit_hash": commit,
                })
            }),
        ),
        tool("run_policy_checks", Box::new(move |n| json!({ "decision_id": decision(n) }))),
        tool(
            "request_review",
            Box::new(move |n| json!({ "decision_id": decision(n), "reviewer_agent": "agent 8" })),
        ),
        tool(
            "submit_review",
            Box::new(move |n| {
                json!({
                    "decision_id": decision(n), "reviewer_agent": "agent 8",
                    "status": "commented", "summary": format!("Review {n}"),
                })
            }),
        ),
        tool(
            "record_disagreement",
            Box::new(move |n| json!({ "decision_id": decision(n), "topic": format!("T {n}") })),
        ),
        tool(
            "approve_decision",
            Box::new(move |n| {
                json!({
                    "decision_id": decision(n), "approver": "maintainer", "status": "approved",
                })
            }),
        ),
    ]
}

fn processes() {
    println!("\nprocesses that write at once, {WRITES} writes each");
    let mut alone = None;
    for count in [1, 2, 4, 8] {
        let app = TestApp::init();
        let start = Barrier::new(count + 1);
        let (elapsed, mut times) = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..count)
                .map(|writer| {
                    let (app, start) = (&app, &start);
                    scope.spawn(move || {
                        let mut client = Client::start(app.command());
                        client.initialize();
                        start.wait();
                        let times: Vec<Duration> = (0..WRITES)
                            .map(|number| {
                                let title = format!("Task {number} of {writer}");
                                let call = json!({ "project_path": app.here(), "title": title });
                                let begin = Instant::now();
                                client.call("create_task", &call);
                                begin.elapsed()
                            })
                            .collect();
                        (client, times)
                    })
                })
                .collect();
            start.wait();
            let begin = Instant::now();
            let done: Vec<_> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
            let elapsed = begin.elapsed();
            let mut times = Vec::new();
            for (client, own) in done {
                client.end();
                times.extend(own);
            }
            (elapsed, times)
        });
        let throughput = (count * WRITES) as f64 / elapsed.as_secs_f64();
        let alone = *alone.get_or_insert(throughput);
        println!(
            "  {count}: {throughput:5.0} writes a second ({:.2}x of one), median {}, p99 {}",
            throughput / alone,
            ms(median(&mut times)),
            ms(p99(&mut times)),
        );
    }
}

fn times<T: Timed>(mut call: impl FnMut(usize) -> T) -> Vec<Duration> {
    // The first ones open connections and prepare statements.
    for number in 0..10 {
        call(CALLS + number);
    }
    (0..CALLS)
        .map(|number| {
            let begin = Instant::now();
            let outcome = call(number);
            outcome.measured().unwrap_or_else(|| begin.elapsed())
        })
        .collect()
}

/// What a call gives: the time that it measured itself, or anything.
trait Timed {
    fn measured(&self) -> Option<Duration>;
}

impl Timed for Duration {
    fn measured(&self) -> Option<Duration> {
        Some(*self)
    }
}

impl Timed for Value {
    fn measured(&self) -> Option<Duration> {
        None
    }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn p99(times: &mut [Duration]) -> Duration {
    times.sort();
    times[(times.len() * 99 / 100).min(times.len() - 1)]
}

fn ms(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1000.0)
}
