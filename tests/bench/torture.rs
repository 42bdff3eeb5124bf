//! Many servers on one ledger, killed at random, and an audit at the end.
//!
//! `cargo bench --bench torture [-- PROCESSES CALLS KILL_EVERY SEED]` runs what `cargo test`
//! runs with smaller numbers: PROCESSES clients make CALLS calls each, and one call in
//! KILL_EVERY ends with a `kill -9` of its server. It fails at the first difference between
//! what was acknowledged and what the ledger holds.
#![allow(clippy::print_stdout, reason = "it is made to be read")]
#![allow(clippy::disallowed_methods, reason = "it starts git and the server")]

#[path = "../it/support/mod.rs"]
#[allow(dead_code, reason = "it is the suite's")]
mod support;
#[path = "../it/ledger/torture.rs"]
mod torture;

use torture::Torture;

fn main() {
    // `cargo bench` adds a flag of its own.
    let mut given = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let mut next = |default: u64| {
        given.next().map_or(default, |text| text.parse().expect("the arguments are numbers"))
    };
    let plan =
        Torture { processes: next(8), calls: next(500), kill_every: next(25), seed: next(1) };
    println!(
        "{} processes, {} calls each, one in {} killed, seed {}",
        plan.processes, plan.calls, plan.kill_every, plan.seed
    );
    println!("{}", plan.run());
}
