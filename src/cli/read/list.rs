//! `govforge list`: the decisions in a table.

use anstyle::Style;

use crate::cli::terminal::screen::{BAD, CODE, FAINT, GOOD, NOTE, PLAIN, STRONG, Screen, styled};
use crate::cli::{Failure, print_json, read_value, wait};
use crate::domain::value::{DecisionStatus, RiskLevel};
use crate::ledger::Service;
use crate::ledger::reading::overview::{DecisionListed, ListDecisions};

/// List decisions, newest first
///
/// Those of the project around the working directory, or of the whole ledger outside any.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only decisions in this status, such as review_required
    #[arg(long, value_parser = read_value::<DecisionStatus>)]
    status: Option<DecisionStatus>,
    /// Only decisions of this risk: low, medium, high or critical
    #[arg(long, value_parser = read_value::<RiskLevel>)]
    risk: Option<RiskLevel>,
    /// Only decisions of this author
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only decisions since then: 2026-05-10, an RFC 3339 time, or an age such as 12h, 7d, 2w
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Of every project of the ledger
    #[arg(long)]
    all: bool,
    /// JSON for a machine
    #[arg(long)]
    json: bool,
}

/// Lists them.
///
/// # Errors
/// As [`Service::list_decisions`], and a closed output.
pub fn run(service: &Service, args: &Args) -> Result<(), Failure> {
    let decisions = wait(service.list_decisions(ListDecisions {
        status: args.status,
        risk_level: args.risk,
        agent: args.agent.clone(),
        since: args.since.clone(),
        all_projects: args.all,
    }))?;
    if args.json {
        return print_json(&decisions);
    }
    let mut screen = Screen::paged();
    if decisions.is_empty() {
        let filtered = args.status.is_some()
            || args.risk.is_some()
            || args.agent.is_some()
            || args.since.is_some();
        screen.line(match filtered {
            true => "No decision is like that. Leave an option out to see more.".to_owned(),
            false => format!(
                "No decision yet. {} shows how one comes about.",
                styled(CODE, "govforge demo")
            ),
        })?;
    } else {
        table(&mut screen, &decisions)?;
    }
    Ok(screen.finish()?)
}

fn table(screen: &mut Screen, decisions: &[DecisionListed]) -> std::io::Result<()> {
    let several = decisions.iter().any(|one| one.project != decisions[0].project);
    let heading = ["DECISION", "STATUS", "RISK", "AUTHOR", "RECORDED (UTC)", "TITLE"];
    let mut rows = vec![heading.map(|text| (text.to_owned(), FAINT))];
    rows.extend(decisions.iter().map(|one| {
        let id = match several {
            true => format!("{}/{}", one.project, one.decision_id),
            false => one.decision_id.clone(),
        };
        [
            (id, STRONG),
            match &one.caveat {
                Some(caveat) => (format!("{} ({caveat})", one.status), BAD),
                None => (one.status.to_string(), of_status(one.status)),
            },
            (one.risk_level.to_string(), of_risk(one.risk_level)),
            (one.author.clone(), PLAIN),
            (one.created_at.minute(), FAINT),
            (one.title.clone(), PLAIN),
        ]
    }));
    screen.table(&rows)
}

/// How a decision's status looks.
pub fn of_status(status: DecisionStatus) -> Style {
    match status {
        DecisionStatus::Draft => PLAIN,
        DecisionStatus::ReviewRequired | DecisionStatus::ChangesRequested => NOTE,
        DecisionStatus::Approved => GOOD,
        DecisionStatus::Rejected => BAD,
    }
}

/// How a risk looks.
pub fn of_risk(risk: RiskLevel) -> Style {
    match risk {
        RiskLevel::Low | RiskLevel::Medium => PLAIN,
        RiskLevel::High => NOTE,
        RiskLevel::Critical => BAD,
    }
}
