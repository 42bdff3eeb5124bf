//! `govforge policy`: the policies for a person, a hook and CI.

pub(in crate::cli) mod places;
mod sarif;

use std::path::PathBuf;

use serde_json::Value as Json;

use self::places::{excused, places};
use crate::cli::terminal::screen::{BAD, FAINT, GOOD, NOTE, PLAIN, STRONG, Screen, styled};
use crate::cli::{Failure, arguments};
use crate::domain::value::{PolicyResultStatus, RiskLevel, Value as _};
use crate::ledger::Service;
use crate::ledger::policies::preview::{
    PoliciesActive, PoliciesRun, PolicyFileChecked, PolicyJudged, RunPolicies,
};
use crate::policy::PolicyInfo;

/// So many places are shown below a result; `--json` has more.
const PLACES: usize = 10;

/// Check, show or run the policies
///
/// None of these records anything or needs a ledger: they are for a person, a pre-commit hook
/// and CI. docs/policies.md explains the policies.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Find the mistakes in a policy file; exit code 1 if there are any
    Check {
        /// The file [default: .govforge/policies.toml of the project]
        file: Option<PathBuf>,
    },
    /// Show what is active for this project, and where each value comes from
    List,
    /// Judge a commit or what is staged, recording nothing; exit code 1 if it is blocked
    Run(Run),
}

#[derive(Debug, clap::Args)]
struct Run {
    /// The commit: a hash, a branch, a tag, or such as HEAD~2 [default: HEAD]
    revision: Option<String>,
    /// What is staged instead, for a pre-commit hook
    #[arg(long, conflicts_with = "revision")]
    staged: bool,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
    /// Write SARIF 2.1.0, for code scanning
    #[arg(long, conflicts_with = "json")]
    sarif: bool,
    /// The risk level to judge by: low, medium, high or critical
    #[arg(long, value_name = "LEVEL", default_value = "medium", value_parser = arguments::value::<RiskLevel>)]
    risk: RiskLevel,
    /// The agent who decides, for rules about authors
    #[arg(long, value_name = "NAME")]
    author: Option<String>,
}

/// Does what was asked.
///
/// # Errors
/// As the use cases; and refuses, after telling all, where a file has mistakes or a policy
/// blocks.
pub fn run(service: &Service, args: &Args) -> Result<(), Failure> {
    let mut screen = Screen::stdout();
    match &args.verb {
        Verb::Check { file } => check(&service.check_policy_file(file.as_deref())?, &mut screen),
        Verb::List => list(&service.active_policies()?, &mut screen),
        Verb::Run(run) => {
            let revision = run.revision.clone().unwrap_or_else(|| "HEAD".to_owned());
            let judged = service.run_policies(&RunPolicies {
                revision: (!run.staged).then_some(revision),
                index: std::env::var_os("GIT_INDEX_FILE").map(PathBuf::from),
                risk_level: run.risk,
                author: run.author.clone(),
            })?;
            if run.json {
                screen.line(json(&judged)?)?;
            } else if run.sarif {
                screen.line(json(&sarif::Log::of(&judged))?)?;
            } else {
                report(&judged, &mut screen)?;
            }
            conclude(&judged)
        }
    }
}

fn check(checked: &PolicyFileChecked, screen: &mut Screen) -> Result<(), Failure> {
    let Some(file) = &checked.file else {
        screen.line("There is no policy file: the defaults apply (see `govforge policy list`).")?;
        return Ok(());
    };
    let file = file.display();
    match &checked.outcome {
        Ok(policies) => {
            screen.line(format!("{file}: valid, {} active.", policies.len()))?;
            Ok(())
        }
        Err(mistakes) => {
            for mistake in mistakes {
                let (line, column) = (mistake.line, mistake.column);
                screen.line(format!("{file}:{line}:{column}: {}", mistake.message))?;
            }
            Err(Failure::Refused(format!("{} mistake(s) in {file}.", mistakes.len())))
        }
    }
}

fn list(policies: &PoliciesActive, screen: &mut Screen) -> Result<(), Failure> {
    screen.line(match &policies.file {
        Some(file) => format!("From {file}:"),
        None => "Without a policy file the defaults apply:".to_owned(),
    })?;
    for info in &policies.active {
        screen.line("")?;
        screen.line(styled(STRONG, &info.name))?;
        screen.hanging(("  ", PLAIN), &info.description, str::to_owned)?;
        for (key, value) in values(info) {
            let place = info.lines.iter().find(|(named, _)| *named == key);
            let source = match place {
                Some((_, line)) => format!("line {line}"),
                None => "default".to_owned(),
            };
            let lead = format!("  {key} ");
            screen.hanging((&lead, PLAIN), &format!("= {value}  ({source})"), str::to_owned)?;
        }
    }
    if !policies.off.is_empty() {
        screen.line("")?;
    }
    for off in &policies.off {
        screen.line(format!("{} is switched off in line {}.", off.name, off.line))?;
    }
    Ok(())
}

/// The keys of a policy with their values, as the file would have them.
fn values(info: &PolicyInfo) -> Vec<(String, String)> {
    let mut values = vec![("severity".to_owned(), format!("\"{}\"", info.severity.wire()))];
    for (key, value) in info.config.as_object().into_iter().flatten() {
        let value = match value {
            Json::Null => continue,
            Json::Object(named) => named.keys().cloned().collect::<Vec<_>>().join(", "),
            other => other.to_string(),
        };
        values.push((key.clone(), value));
    }
    values
}

fn report(judged: &PoliciesRun, screen: &mut Screen) -> Result<(), Failure> {
    for result in &judged.results {
        let style = match result.status {
            PolicyResultStatus::Passed => GOOD,
            PolicyResultStatus::Warning => NOTE,
            PolicyResultStatus::Blocked => BAD,
        };
        let lead = format!("{:<9}", result.status.wire());
        let text = format!("{}: {}", result.policy, result.message);
        screen.hanging((&lead, style), &text, str::to_owned)?;
        if result.status != PolicyResultStatus::Passed {
            let places = places(&result.evidence);
            for place in places.iter().take(PLACES) {
                screen.line(format!("           {}", place.shown()))?;
            }
            if places.len() > PLACES {
                let more = places.len() - PLACES;
                screen.line(format!("           and {more} more; --json has them"))?;
            }
        }
        if let Some(excused) = excused(&result.evidence) {
            screen.hanging(("           ", PLAIN), &excused, str::to_owned)?;
        }
    }
    for name in &judged.not_applicable {
        screen.line(styled(FAINT, format!("{:<9}{name}: does not apply", "-")))?;
    }
    Ok(())
}

fn conclude(judged: &PoliciesRun) -> Result<(), Failure> {
    let is_blocking = |result: &&PolicyJudged| result.status == PolicyResultStatus::Blocked;
    match judged.results.iter().filter(is_blocking).count() {
        0 => Ok(()),
        blocking => Err(Failure::Refused(format!("blocked by {blocking} policy result(s)."))),
    }
}

fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value)
        .map_err(|error| Failure::Fault(format!("The result cannot be written: {error}")))
}
