//! Arguments, logging to stderr, and one match into serving or a verb.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Parser as _;
use govforge::cli::{self, Cli, Verb};
use govforge::domain::time::System;
use govforge::domain::value::ApprovalStatus;
use govforge::logging;
use govforge::mcp::serve::serve;
use govforge::mcp::server::Server;
use govforge::service::Service;
use govforge::service::place::{Environment, Place};
use govforge::service::tokens;

fn main() {
    let cli = Cli::parse();
    logging::init();
    let code = cli::conclude(match cli.verb {
        None => {
            let service = service().under(tokens::find(std::env::home_dir().as_deref()));
            serve(|| Server::new(service.clone()), service.close()).map_err(Into::into)
        }
        Some(Verb::Init(args)) => cli::init::run(&service(), &args),
        Some(Verb::Status(args)) => cli::status::run(&service(), &args),
        Some(Verb::List(args)) => cli::list::run(&service(), &args),
        Some(Verb::Show(args)) => cli::show::run(&service(), &args),
        Some(Verb::Diff(args)) => cli::diff::run(&service(), &args),
        Some(Verb::Timeline(args)) => cli::timeline::run(&service(), &args),
        Some(Verb::Report(args)) => cli::report::run(&service(), &args),
        Some(Verb::Approve(args)) => verdict(&args, ApprovalStatus::Approved),
        Some(Verb::Reject(args)) => verdict(&args, ApprovalStatus::Rejected),
        Some(Verb::NeedsChanges(args)) => verdict(&args, ApprovalStatus::NeedsChanges),
        Some(Verb::Gate(args)) => cli::gate::run(&service(), &args),
        Some(Verb::Hook(args)) => cli::hook::run(&args),
        Some(Verb::Audit(args)) => cli::audit::run(&service(), &args),
        Some(Verb::Export(args)) => cli::export::run(&service(), &args),
        Some(Verb::Token(args)) => cli::token::run(&service(), &args),
        Some(Verb::Connect(args)) => cli::connect::run(&service(), &args),
        Some(Verb::Doctor) => cli::doctor::run(&service()),
        Some(Verb::Completions(args)) => cli::pages::completions(&args),
        Some(Verb::Man(args)) => cli::pages::man(&args),
        Some(Verb::Demo(args)) => cli::demo::run(&args),
        Some(Verb::Policy(args)) => cli::policy::run(&service(), &args),
    });
    // Work that cannot be interrupted may still run on another thread; it must not keep the
    // process, whose replies are all sent.
    std::process::exit(code)
}

fn verdict(args: &cli::verdict::Args, status: ApprovalStatus) -> Result<(), cli::Failure> {
    cli::verdict::run(&service(), args, status)
}

/// The use cases for the directory that the program was started in.
fn service() -> Service {
    let directory = std::env::current_dir().unwrap_or_else(|_error| PathBuf::from("."));
    let place = Place::find(directory, Environment::read());
    Service::new(place, Arc::new(System), Arc::new(System))
}
