//! `govforge show`: one decision, as a person wants to read it.

use std::io;

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

use crate::cli::policy::places::excused;
use crate::cli::read::events::rows;
use crate::cli::read::list::{of_risk, of_status};
use crate::cli::terminal::screen::{
    BAD, CODE, FAINT, GOOD, NOTE, PLAIN, STRONG, Screen, gap, styled,
};
use crate::cli::{Failure, print_json, wait};
use crate::domain::excerpt::one_line;
use crate::domain::value::{ApprovalStatus, FindingSeverity, PolicyResultStatus};
use crate::git::FileCounts;
use crate::ledger::Service;
use crate::ledger::reading::context::GitChangeShown;
use crate::ledger::reading::named::NamedRecord;

/// The longest bar of a file's changed lines, in characters.
const BAR: usize = 30;
/// The longest bar where names leave no more room.
const SHORT_BAR: usize = 10;
/// The columns beside a file's name and its bar: blanks, and the number of lines.
const COUNTS: usize = 11;
/// Marks what is about another change than the one attached now.
const STALE: &str = " (about an older change)";

/// Show a decision: what, why, the change, checks, findings, disagreements and verdicts
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The decision, such as DEC-001
    decision: String,
    /// JSON for a machine
    #[arg(long)]
    json: bool,
}

/// Shows it.
///
/// # Errors
/// As [`Service::named_record_with_files`], and a closed output.
pub fn run(service: &Service, args: &Args) -> Result<(), Failure> {
    let record = wait(service.named_record_with_files(&args.decision))?;
    if args.json {
        return print_json(&record);
    }
    let mut screen = Screen::paged();
    show(&mut screen, &record)?;
    Ok(screen.finish()?)
}

fn show(screen: &mut Screen, record: &NamedRecord) -> io::Result<()> {
    head(screen, record)?;
    change(screen, record)?;
    policies(screen, record)?;
    findings(screen, record)?;
    reviews(screen, record)?;
    disagreements(screen, record)?;
    verdicts(screen, record)?;
    screen.heading("Timeline (UTC)")?;
    screen.table(&rows(&record.events))
}

fn head(screen: &mut Screen, record: &NamedRecord) -> io::Result<()> {
    let decision = &record.decision;
    screen.quote((&format!("{}  ", decision.id), STRONG), &one_line(&decision.title))?;
    let status = decision.status.to_string().replace('_', " ");
    let person = match decision.human_approval_required {
        true => ", a person's verdict is required",
        false => "",
    };
    let caveat = decision.caveat.as_ref().map(|caveat| styled(BAD, format!(" ({caveat})")));
    screen.line(format!(
        "{}{}, risk {}{person}",
        styled(of_status(decision.status), status),
        caveat.unwrap_or_default(),
        styled(of_risk(decision.risk_level), decision.risk_level)
    ))?;
    let task = record.task.as_ref().map_or("no task".to_owned(), |task| task.id.clone());
    let about = format!(
        "{}, {task}, by {}, {} UTC",
        record.project,
        record.author,
        record.created_at.minute()
    );
    screen.line(styled(FAINT, one_line(&about)))?;
    screen.line("")?;
    screen.quote(("What  ", STRONG), decision.summary.as_deref().unwrap_or("(not told)"))?;
    screen.quote(("Why   ", STRONG), decision.rationale.as_deref().unwrap_or("(not told)"))
}

fn change(screen: &mut Screen, record: &NamedRecord) -> io::Result<()> {
    screen.heading("Change")?;
    let Some(change) = &record.git_change else {
        return screen.line("  None is attached.");
    };
    let total = change.files_changed_total.unwrap_or(change.files_changed.len());
    let branch = change.branch_name.as_ref().map(|name| format!(" on {name}")).unwrap_or_default();
    let line = format!(
        "  commit {}{branch}, {total} file(s), +{} -{}",
        short(change),
        change.insertions,
        change.deletions
    );
    screen.line(one_line(&line))?;
    if let Some(hash) = &change.diff_hash {
        screen.line(styled(FAINT, format!("  {}", one_line(hash))))?;
    }
    match &record.files {
        Some(files) => {
            bars(screen, files)?;
        }
        None => {
            for file in &change.files_changed {
                screen.line(format!("  {}", one_line(file)))?;
            }
            screen.line(styled(NOTE, "  The commit cannot be read in the repository now."))?;
        }
    }
    let command = format!("govforge diff {}", record.decision.id);
    screen.line(format!("  {}", styled(FAINT, format!("{command} shows the lines"))))
}

/// The changed lines of each file: a number, and a bar as long as there is room for.
fn bars(screen: &mut Screen, files: &[FileCounts]) -> io::Result<()> {
    let lines = |file: &FileCounts| file.insertions + file.deletions;
    let names: Vec<String> = files.iter().map(|file| one_line(&file.path)).collect();
    let room = screen.width().saturating_sub(COUNTS);
    let widest = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let widest = widest.min(room.saturating_sub(SHORT_BAR));
    let longest = room.saturating_sub(widest).clamp(SHORT_BAR, BAR);
    let scale = files.iter().map(lines).max().unwrap_or(0).max(longest as u64);
    let bar = |lines: u64, sign: &str| {
        let length = (lines * longest as u64).div_ceil(scale);
        sign.repeat(usize::try_from(length).unwrap_or(0))
    };
    for (file, name) in files.iter().zip(&names) {
        let mut lead = name.as_str();
        // A name that is too long for its column has a line of its own.
        if name.width() > widest {
            screen.line(format!("  {name}"))?;
            lead = "";
        }
        screen.line(format!(
            "  {lead}{}  {:>5} {}{}",
            gap(lead, widest),
            lines(file),
            styled(GOOD, bar(file.insertions, "+")),
            styled(BAD, bar(file.deletions, "-"))
        ))?;
    }
    Ok(())
}

fn short(change: &GitChangeShown) -> &str {
    change.commit_hash.get(..12).unwrap_or(&change.commit_hash)
}

fn policies(screen: &mut Screen, record: &NamedRecord) -> io::Result<()> {
    screen.heading("Policies")?;
    let results = record.newest_results();
    if results.is_empty() {
        return screen.line("  Not run yet.");
    }
    for full in results {
        let result = &full.result;
        let lead = format!("  {:<9}", result.status.to_string());
        let stale = match (result.stale, result.current_config) {
            (true, _) => STALE,
            (false, Some(false)) => " (by older rules)",
            _ => "",
        };
        let message = result.message.as_deref().unwrap_or_default();
        screen.quote(
            (&lead, of_policy(result.status)),
            &format!("{}: {message}{stale}", result.policy),
        )?;
        if let Some(excused) = full.evidence.as_ref().and_then(excused) {
            screen.quote(("           ", PLAIN), &excused)?;
        }
    }
    Ok(())
}

fn findings(screen: &mut Screen, record: &NamedRecord) -> io::Result<()> {
    screen.heading("Findings")?;
    let findings = record.findings();
    if findings.is_empty() {
        return screen.line("  None.");
    }
    for (review, finding) in findings {
        let lead = format!("  {:<9}", finding.severity.to_string());
        let stale = if review.what.review.stale { STALE } else { "" };
        screen.quote(
            (&lead, of_severity(finding.severity)),
            &one_line(&format!(
                "{}{} ({}, {}){stale}",
                finding.place().map(|place| format!("{place}, ")).unwrap_or_default(),
                finding.category,
                review.what.review.id,
                review.by
            )),
        )?;
        screen.quote(("           ", PLAIN), &finding.message)?;
        if let Some(advice) = &finding.recommendation {
            screen.quote(("           -> ", CODE), advice)?;
        }
    }
    Ok(())
}

fn reviews(screen: &mut Screen, record: &NamedRecord) -> io::Result<()> {
    screen.heading("Reviews")?;
    if record.reviews.is_empty() {
        return screen.line("  None.");
    }
    for signed in &record.reviews {
        let review = &signed.what.review;
        let stale = if review.stale { STALE } else { "" };
        let status = review.status.to_string().replace('_', " ");
        let summary = review.summary.as_deref().map(|summary| format!(": {summary}"));
        let text = format!("{}, {status}{stale}{}", signed.by, summary.unwrap_or_default());
        screen.quote((&format!("  {}  ", review.id), PLAIN), &text)?;
    }
    Ok(())
}

fn disagreements(screen: &mut Screen, record: &NamedRecord) -> io::Result<()> {
    if record.disagreements.is_empty() {
        return Ok(());
    }
    screen.heading("Disagreements")?;
    for full in &record.disagreements {
        let disagreement = &full.disagreement;
        let who = if disagreement.requires_human_decision { " (a person decides)" } else { "" };
        screen.quote(("  ", PLAIN), &format!("{}{who}", disagreement.topic))?;
        let positions = [
            ("    author    ", &full.author_position),
            ("    reviewer  ", &full.reviewer_position),
            ("    risk      ", &full.risk_summary),
            ("    settled   ", &disagreement.resolution),
        ];
        for (lead, text) in positions {
            if let Some(text) = text {
                screen.quote((lead, FAINT), text)?;
            }
        }
    }
    Ok(())
}

fn verdicts(screen: &mut Screen, record: &NamedRecord) -> io::Result<()> {
    screen.heading("Verdicts")?;
    if record.approvals.is_empty() {
        let command = format!("govforge approve {}", record.decision.id);
        return screen.line(format!("  None yet. {} gives one.", styled(CODE, command)));
    }
    for signed in &record.approvals {
        let approval = &signed.what;
        let stale = if approval.stale { STALE } else { "" };
        let lead = format!("  {:<15}", approval.status.to_string().replace('_', " "));
        let comment = approval.comment.as_deref().map(|comment| format!(": {comment}"));
        let text = format!(
            "{}, {}, {} UTC{stale}{}",
            signed.by,
            approval.known(),
            signed.created_at.minute(),
            comment.unwrap_or_default()
        );
        let style = if approval.vouched { of_verdict(approval.status) } else { BAD };
        screen.quote((&lead, style), &text)?;
    }
    Ok(())
}

fn of_policy(status: PolicyResultStatus) -> Style {
    match status {
        PolicyResultStatus::Passed => GOOD,
        PolicyResultStatus::Warning => NOTE,
        PolicyResultStatus::Blocked => BAD,
    }
}

fn of_severity(severity: FindingSeverity) -> Style {
    match severity {
        FindingSeverity::Info | FindingSeverity::Low => PLAIN,
        FindingSeverity::Medium => NOTE,
        FindingSeverity::High | FindingSeverity::Critical => BAD,
    }
}

fn of_verdict(status: ApprovalStatus) -> Style {
    match status {
        ApprovalStatus::Approved => GOOD,
        ApprovalStatus::Rejected => BAD,
        ApprovalStatus::NeedsChanges => NOTE,
    }
}
