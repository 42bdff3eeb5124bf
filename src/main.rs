//! Arguments, logging to stderr, and one match into serving or a verb.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Parser as _;
use govforge::cli::proof::{audit, export};
use govforge::cli::read::{diff, list, report, show, status, timeline};
use govforge::cli::set_up::{connect, doctor, init, pages};
use govforge::cli::sign::{gate, hook, token, verdict};
use govforge::cli::{self, Cli, Failure, Verb};
use govforge::company;
use govforge::domain::access::UseCase;
use govforge::domain::time::System;
use govforge::domain::value::ApprovalStatus;
use govforge::ledger::Service;
use govforge::ledger::access::caller::Caller;
use govforge::ledger::settings::config;
use govforge::ledger::settings::location::{Environment, Location};
use govforge::ledger::settings::missing::Beginning;
use govforge::logging;
use govforge::stdio::serve::serve;
use govforge::stdio::server::Server;
use govforge::store::engine::Ledger;

fn main() {
    cli::set_colors();
    let cli = Cli::parse();
    logging::init(if cli.verb.is_some() { logging::Mode::Verb } else { logging::Mode::Server });
    let location = location(cli.db.clone());
    if let (Some(_), Err(refusal)) = (&cli.db, &location.ledger) {
        std::process::exit(cli::conclude(Err(Failure::misused(refusal))));
    }
    let service = || service(location.clone());
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
        Some(Verb::Approve(args)) => verdict::run(&service(), &args, ApprovalStatus::Approved),
        Some(Verb::Reject(args)) => verdict::run(&service(), &args, ApprovalStatus::Rejected),
        Some(Verb::NeedsChanges(args)) => {
            verdict::run(&service(), &args, ApprovalStatus::NeedsChanges)
        }
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
        Some(Verb::Company(args)) => {
            companies(location.clone()).and_then(|companies| cli::company::run(&companies, &args))
        }
        Some(Verb::Serve(args)) => {
            companies(location.clone()).and_then(|companies| cli::serve::run(companies, &args))
        }
    });
    // Work that cannot be interrupted may still run on another thread; it must not keep the
    // process, whose replies are all sent.
    std::process::exit(code)
}

/// Where the program was started, with the ledger that `--db` names or else the surroundings.
fn location(db: Option<OsString>) -> Location {
    let directory = std::env::current_dir().unwrap_or_else(|_error| PathBuf::from("."));
    let environment = Environment::read();
    Location::find(directory, Environment { ledger: db.or(environment.ledger), ..environment })
}

/// The use cases for whoever started the program.
fn service(location: Location) -> Service {
    let caller = Caller::of_process(Environment::read().home.as_deref());
    Service::new(location, caller, Arc::new(System), Arc::new(System))
}

/// The use cases of the companies, over the same ledger, for who may administer them.
fn companies(location: Location) -> Result<company::Service, Failure> {
    let ledger = match &location.ledger {
        Ok(path) => Ledger::new(path.clone()),
        Err(refusal) => Ledger::refusing(refusal.clone()),
    };
    let access = cli::wait(service(location).access())?;
    access.check(UseCase::AdministerCompanies)?;
    let directory = ledger.path().parent().unwrap_or(Path::new(".")).to_owned();
    let durability = config::durability(&directory)?;
    let secret = directory.join("aoa.secret");
    let (clock, ids) = (Arc::new(System), Arc::new(System));
    let companies = company::Service::new(Arc::new(ledger), durability, secret, clock, ids);
    Ok(companies.under(access.label()))
}
