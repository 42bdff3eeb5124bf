//! `govforge list`: the decisions in a table.

use anstyle::Style;

use crate::cli::terminal::screen::{BAD, CODE, FAINT, GOOD, NOTE, PLAIN, STRONG, Screen, styled};
use crate::cli::{Failure, arguments, print_json, wait};
use crate::domain::excerpt::{one_line, quoted};
use crate::domain::names::nearest::nearest;
use crate::domain::since::Since;
use crate::domain::value::{DecisionStatus, RiskLevel};
use crate::ledger::Service;
use crate::ledger::reading::overview::{Author, DecisionListed, ListDecisions};

/// List decisions, newest first
///
/// Those of the project around the working directory, or of the whole ledger outside any.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only decisions in this status, such as review_required
    #[arg(long, value_parser = arguments::value::<DecisionStatus>)]
    status: Option<DecisionStatus>,
    /// Only decisions of this risk: low, medium, high or critical
    #[arg(long, value_parser = arguments::value::<RiskLevel>)]
    risk: Option<RiskLevel>,
    /// Only decisions of this author
    #[arg(long, alias = "agent", value_name = "NAME")]
    author: Option<String>,
    /// Only decisions since then: 2026-11-30, yesterday, "2 weeks ago", 12h, 7d, "last monday", or
    /// an RFC 3339 time; days begin at midnight in UTC
    #[arg(long, value_name = "WHEN", value_parser = arguments::since)]
    since: Option<Since>,
    /// At most so many, the newest
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
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
    let list = wait(service.list_decisions(ListDecisions {
        status: args.status,
        risk_level: args.risk,
        author: args.author.clone(),
        since: args.since,
        limit: args.limit,
        all_projects: args.all,
    }))?;
    if args.json {
        return print_json(&list.decisions);
    }
    let mut screen = Screen::paged();
    if let (Some(author), Some(authors)) = (&args.author, &list.authors) {
        unknown(&mut screen, author, authors)?;
    } else if list.decisions.is_empty() {
        let filtered = args.status.is_some()
            || args.risk.is_some()
            || args.author.is_some()
            || args.since.is_some();
        screen.line(match filtered {
            true => "No decision is like that. Leave an option out to see more.".to_owned(),
            false => format!(
                "No decision yet. {} shows how one comes about.",
                styled(CODE, "govforge demo")
            ),
        })?;
    } else {
        table(&mut screen, &list.decisions)?;
        let more = list.total - list.decisions.len();
        if more > 0 {
            screen.line(styled(FAINT, format!("{more} more; leave --limit out to see all.")))?;
        }
    }
    Ok(screen.finish()?)
}

/// Says who has decided, where nobody has that name.
fn unknown(screen: &mut Screen, author: &str, authors: &[Author]) -> std::io::Result<()> {
    let meant = nearest(author, authors.iter().map(|one| one.name.as_str()));
    let hint = meant.map(|name| format!(" Did you mean {}?", quoted(name))).unwrap_or_default();
    let text = format!("No decision is by {}.{hint}", quoted(author));
    screen.hanging(("", PLAIN), &text, str::to_owned)?;
    let names: Vec<String> =
        authors.iter().map(|one| format!("{} ({})", one_line(&one.name), one.decisions)).collect();
    match names.is_empty() {
        true => screen.line("There is no decision yet."),
        false => screen.hanging(("Authors here: ", PLAIN), &names.join(", "), str::to_owned),
    }
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
