//! How fast the built binary is, over stdin and stdout, as ratios where a ratio is possible.
//!
//! `cargo bench --bench speed [-- DECISIONS... TOOL...]` measures the start, the memory, every
//! tool at three sizes of the ledger (100, 10 000 and 100 000 decisions, with ten events for
//! each; or just the tools named, and nothing else), several processes that write at once, and
//! `audit verify` (alone if it is named as `verify`). The base of a latency is the server's own
//! `ping` in the same run, and of a write the same transaction made by SQLite alone.
#![allow(clippy::print_stdout, reason = "it is made to be read")]
#![allow(clippy::disallowed_methods, reason = "it starts git and the server")]

#[path = "speed/client.rs"]
mod client;
#[path = "speed/ledger.rs"]
mod ledger;
#[path = "speed/record.rs"]
mod record;
#[path = "../it/support/mod.rs"]
#[allow(dead_code, reason = "it is the suite's")]
mod support;

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

/// How many decisions the record has that is verified, and how often it is.
const VERIFIED: usize = 30_000;
const VERIFICATIONS: usize = 7;

fn main() {
    // `cargo bench` adds a flag of its own.
    let arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (mut sizes, mut only) = (Vec::new(), Vec::new());
    for argument in arguments {
        match argument.parse() {
            Ok(size) => sizes.push(size),
            Err(_error) => only.push(argument),
        }
    }
    if sizes.is_empty() {
        sizes = vec![100, 10_000, 100_000];
    }
    if only == ["verify"] {
        return verify();
    }
    if !only.is_empty() {
        return tools(&sizes, &only);
    }
    start();
    memory();
    tools(&sizes, &[]);
    processes();
    verify();
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

/// A running server over a ledger of some size.
struct Sized {
    app: TestApp,
    size: usize,
    client: Client,
}

fn tools(sizes: &[usize], only: &[String]) {
    let mut servers: Vec<Sized> = sizes
        .iter()
        .map(|&size| {
            let app = TestApp::init();
            ledger::fill(&app.ledger_path(), size);
            let mut client = Client::start(app.command());
            client.initialize();
            Sized { app, size, client }
        })
        .collect();
    let first = servers.first_mut().expect("one size at least");
    let mut pings: Vec<Duration> =
        (0..CALLS).map(|_| first.client.timed("ping", &json!({})).0).collect();
    let mut raw = ledger::raw_writes(first.app.root(), CALLS);
    let (ping, raw) = (median(&mut pings), median(&mut raw));
    println!("\ntools: median, and p99, of {CALLS} calls; ratios to the median at {}", sizes[0]);
    println!("  a ping takes {}, a write by SQLite alone {}", ms(ping), ms(raw));
    let heads: Vec<String> =
        sizes.iter().map(|size| format!("{:>30}", format!("{size} decisions"))).collect();
    println!("  {:26}{} {:>8}", "", heads.concat(), "of ping");
    let tools: Vec<_> = servers
        .iter()
        .map(|server| {
            let commit = server.app.git(&["rev-parse", "HEAD"]);
            calls(&server.app, server.size, commit.trim())
        })
        .collect();
    let names: Vec<&str> = tools[0].iter().map(|(name, ..)| *name).collect();
    for (tool, name) in names.into_iter().enumerate() {
        if !only.is_empty() && !only.iter().any(|wanted| wanted == name) {
            continue;
        }
        let mut times = vec![Vec::new(); sizes.len()];
        // In turns, so that whatever else the machine does slows every size down alike; the
        // first ones open connections and prepare statements.
        for number in 0..CALLS + 10 {
            for (index, server) in servers.iter_mut().enumerate() {
                let (_, method, params) = &tools[index][tool];
                let (elapsed, reply) = server.client.timed(method, &params(number));
                let refused = name.starts_with("unknown");
                assert_eq!(reply["result"]["isError"] == json!(true), refused, "{reply}");
                assert!(reply.get("error").is_none(), "{reply}");
                if number >= 10 {
                    times[index].push(elapsed);
                }
            }
        }
        let medians: Vec<Duration> = times.iter_mut().map(|times| median(times)).collect();
        let columns: Vec<String> = times
            .iter_mut()
            .zip(&medians)
            .map(|(times, middle)| {
                let ratio = middle.as_secs_f64() / medians[0].as_secs_f64();
                format!(" {:>9} {:>10} {ratio:>6.2}x ", ms(*middle), ms(p99(times)))
            })
            .collect();
        let of_ping = medians[0].as_secs_f64() / ping.as_secs_f64();
        println!("  {name:26}{} {of_ping:>7.1}x", columns.concat());
    }
    for server in servers {
        server.client.end();
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

fn verify() {
    let app = TestApp::init();
    record::fill(&app.ledger_path(), VERIFIED);
    let events = VERIFIED * record::EVENTS;
    let export = app.root().join("record.jsonl");
    let export = export.to_str().unwrap();
    assert!(app.govforge(&["export", "-o", export]).status.success());
    println!("\naudit verify of {events} events, {VERIFICATIONS} times, with the start");
    for (name, arguments) in [
        ("the ledger", vec!["audit", "verify"]),
        ("with --strict", vec!["audit", "verify", "--strict"]),
        ("its export", vec!["audit", "verify", "--strict", export]),
    ] {
        let mut times: Vec<Duration> = (0..VERIFICATIONS)
            .map(|_| {
                let begin = Instant::now();
                let output = app.govforge(&arguments);
                let elapsed = begin.elapsed();
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
                elapsed
            })
            .collect();
        let rate = |time: Duration| events as f64 / time.as_secs_f64();
        let middle = median(&mut times);
        println!(
            "  {name}: {:.0} events a second (median; fastest {:.0})",
            rate(middle),
            rate(times[0])
        );
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
