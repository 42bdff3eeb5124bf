//! Arguments, logging to stderr, and one match into serving or a verb.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Parser as _;
use govforge::cli::proof::{audit, export};
use govforge::cli::read::{diff, list, report, show, status, timeline};
use govforge::cli::set_up::{connect, doctor, init, pages};
use govforge::cli::sign::{gate, hook, token, verdict};
use govforge::cli::{self, Cli, Verb};
use govforge::domain::time::System;
use govforge::domain::value::ApprovalStatus;
use govforge::ledger::Service;
use govforge::ledger::access::caller::Caller;
use govforge::ledger::settings::location::{Environment, Location};
use govforge::ledger::settings::missing::Beginning;
use govforge::logging;
use govforge::stdio::serve::serve;
use govforge::stdio::server::Server;

fn main() {
    let cli = Cli::parse();
    logging::init(if cli.verb.is_some() { logging::Mode::Verb } else { logging::Mode::Server });
    let code = cli::conclude(match cli.verb {
        None => {
            let service = service().which_begins(Beginning::Unasked);
            serve(|| Server::new(service.clone()), service.close()).map_err(Into::into)
        }
        Some(Verb::Init(args)) => init::run(&service(), &args),
        Some(Verb::Status(args)) => status::run(&service(), &args),
        Some(Verb::List(args)) => list::run(&service(), &args),
        Some(Verb::Show(args)) => show::run(&service(), &args),
        Some(Verb::Diff(args)) => diff::run(&service(), &args),
        Some(Verb::Timeline(args)) => timeline::run(&service(), &args),
        Some(Verb::Report(args)) => report::run(&service(), &args),
        Some(Verb::Approve(args)) => give(&args, ApprovalStatus::Approved),
        Some(Verb::Reject(args)) => give(&args, ApprovalStatus::Rejected),
        Some(Verb::NeedsChanges(args)) => give(&args, ApprovalStatus::NeedsChanges),
        Some(Verb::Gate(args)) => gate::run(&service(), &args),
        Some(Verb::Hook(args)) => hook::run(&args),
        Some(Verb::Audit(args)) => audit::run(&service(), &args),
        Some(Verb::Export(args)) => export::run(&service(), &args),
        Some(Verb::Token(args)) => token::run(&service(), &args),
        Some(Verb::Connect(args)) => connect::run(&service(), &args),
        Some(Verb::Doctor) => doctor::run(&service()),
        Some(Verb::Completions(args)) => pages::completions(&args),
        Some(Verb::Man(args)) => pages::man(&args),
        Some(Verb::Demo(args)) => cli::demo::run(&args),
        Some(Verb::Policy(args)) => cli::policy::run(&service(), &args),
    });
    // Work that cannot be interrupted may still run on another thread; it must not keep the
    // process, whose replies are all sent.
    std::process::exit(code)
}

fn give(args: &verdict::Args, status: ApprovalStatus) -> Result<(), cli::Failure> {
    verdict::run(&service(), args, status)
}

/// The use cases for whoever started the program, in the directory that it was started in.
fn service() -> Service {
    let directory = std::env::current_dir().unwrap_or_else(|_error| PathBuf::from("."));
    let environment = Environment::read();
    let caller = Caller::of_process(environment.home.as_deref());
    Service::new(Location::find(directory, environment), caller, Arc::new(System), Arc::new(System))
}
