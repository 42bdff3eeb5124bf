//! `govforge status`: what there is, and what waits for whom.

use anstyle::Style;

use crate::cli::terminal::screen::{BAD, CODE, FAINT, GOOD, NOTE, PLAIN, STRONG, Screen, styled};
use crate::cli::{Failure, print_json, wait};
use crate::domain::excerpt::{one_line, shell_word};
use crate::ledger::Service;
use crate::ledger::reading::overview::{Overview, ProjectOverview, Waiting};

/// Show the projects, and what waits for whom
///
/// For each project of the ledger: reviews that were asked of an agent, decisions that wait for
/// a person's verdict, policy runs and reviews that are about an older change, and policies
/// that block.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// JSON for a machine
    #[arg(long)]
    json: bool,
}

/// Shows it.
///
/// # Errors
/// As [`Service::overview`], and a closed output.
pub fn run(service: &Service, args: &Args) -> Result<(), Failure> {
    let overview = wait(service.overview())?;
    if args.json {
        return print_json(&overview);
    }
    let mut screen = Screen::paged();
    show(&mut screen, &overview)?;
    Ok(screen.finish()?)
}

fn show(screen: &mut Screen, overview: &Overview) -> std::io::Result<()> {
    let ledger = one_line(&overview.ledger.display().to_string());
    screen.line(format!("{} {ledger}", styled(FAINT, "Ledger")))?;
    if overview.projects.is_empty() {
        return screen.line(format!(
            "It holds no project yet. Next: {} in a repository.",
            styled(CODE, "govforge init")
        ));
    }
    for project in &overview.projects {
        show_project(screen, project, overview.projects.len() > 1)?;
    }
    Ok(())
}

fn show_project(
    screen: &mut Screen,
    project: &ProjectOverview,
    is_one_of_several: bool,
) -> std::io::Result<()> {
    let total: usize = project.decisions.values().sum();
    screen.line("")?;
    screen.line(format!(
        "{}  {}",
        styled(STRONG, one_line(&project.name)),
        styled(FAINT, one_line(&project.root_path))
    ))?;
    let counts: Vec<String> = project
        .decisions
        .iter()
        .map(|(status, count)| format!("{count} {}", status.to_string().replace('_', " ")))
        .collect();
    match total {
        0 => screen.line("  No decision yet.")?,
        _ => screen.line(format!("  {total} decision(s): {}", counts.join(", ")))?,
    }
    if !project.unconfirmed.is_empty() {
        let kinds = project.unconfirmed.iter().map(|(caveat, count)| format!("{count} {caveat}"));
        let kinds = kinds.collect::<Vec<_>>().join(", ");
        screen.quote(("  Approved, but confirmed by no person: ", BAD), &kinds)?;
    }
    for looser in &project.settings.looser {
        screen.quote(("  Looser than the default: ", BAD), looser)?;
    }
    if let Some(mistake) = &project.settings.mistake {
        screen.quote(("  Settings: ", BAD), mistake)?;
    }
    for one in &project.ahead {
        let what = format!("{} of {}", one.event_type, one.created_at);
        screen.quote(("  Dated ahead of this machine's clock: ", NOTE), &one_line(&what))?;
    }
    type Words = fn(&Waiting) -> String;
    let lists: [(&str, &[Waiting], Style, Words); 4] = [
        ("Waiting for a person", &project.verdicts, NOTE, |one| {
            format!("{} (risk {}), {}", one.title, one.risk_level, one.what.replace('_', " "))
        }),
        ("Reviews asked for", &project.reviews, NOTE, |one| {
            format!("{}: {} (risk {})", one.what, one.title, one.risk_level)
        }),
        ("Blocked by a policy", &project.blocked, BAD, |one| one.what.clone()),
        ("About an older change", &project.stale, NOTE, |one| {
            format!("{}: {}", one.title, one.what)
        }),
    ];
    if total > 0 && lists.iter().all(|(_, list, ..)| list.is_empty()) {
        screen.line(styled(GOOD, "  Nothing waits."))?;
    }
    for (title, list, style, words) in lists.into_iter().filter(|(_, list, ..)| !list.is_empty()) {
        screen.line(format!("  {}", styled(style, format!("{title} ({})", list.len()))))?;
        for one in list {
            screen.quote((&format!("    {}  ", one.decision_id), PLAIN), &words(one))?;
        }
    }
    if let Some(first) = project.verdicts.first() {
        let decision = match is_one_of_several {
            true => one_line(&shell_word(format!("{}/{}", project.name, first.decision_id))),
            false => first.decision_id.clone(),
        };
        let command = format!("govforge approve {decision}");
        screen.line(format!("  Next: {}", styled(CODE, command)))?;
    }
    Ok(())
}
