//! `govforge init`: puts a repository under governance.

use std::path::PathBuf;

use tokio::runtime::Builder;

use crate::cli::Failure;
use crate::cli::terminal::screen::Screen;
use crate::domain::excerpt::one_line;
use crate::ledger::Service;
use crate::ledger::work::projects::Initialised;

/// Put a repository under governance: make .govforge/ and register it as a project
///
/// Makes `.govforge/` in the repository: the ledger (`govforge.db`), the policies
/// (`policies.toml`, every key explained) and a `.gitignore` that keeps the ledger out of git.
/// In a linked worktree it is the main repository that is meant. What is there already stays
/// as it is, so running it again changes nothing. With `GOVFORGE_DB` set, that ledger is made
/// and used instead.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A path in the repository
    #[arg(default_value = ".")]
    path: PathBuf,
    /// The project's name, as in `NAME/DEC-001` [default: the name of the directory]
    #[arg(long)]
    name: Option<String>,
}

/// Initialises, and says what was done.
///
/// # Errors
/// As [`Service::init`], and a closed output.
pub fn run(service: &Service, args: &Args) -> Result<(), Failure> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Fault(format!("The program cannot start: {error}")))?;
    let done = runtime.block_on(service.init(&args.path, args.name.as_deref()))?;
    let mut screen = Screen::stdout();
    for line in report(&done, args.name.as_deref()) {
        screen.line(one_line(&line))?;
    }
    Ok(())
}

fn report(done: &Initialised, name: Option<&str>) -> Vec<String> {
    let Initialised { project, ledger, created, registered } = done;
    let mut lines = vec![match registered {
        true => format!("Registered {} (default branch {}).", project.name, project.default_branch),
        false => format!("{} is registered already.", project.name),
    }];
    if !registered && name.is_some_and(|name| name != project.name) {
        lines.push(format!("It keeps its name, {}.", project.name));
    }
    for path in created {
        lines.push(format!("Made {}", path.display()));
    }
    if !created.contains(ledger) {
        lines.push(format!("The ledger is {}", ledger.display()));
    }
    lines.push(match (registered, created.is_empty()) {
        (false, true) => "Nothing was changed.".to_owned(),
        _ => "Next: commit .govforge/, then `govforge connect` your client.".to_owned(),
    });
    lines
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::domain::entity::Project;
    use crate::domain::time::Timestamp;

    fn done(created: &[&str], registered: bool) -> Initialised {
        let time = Timestamp::read("2026-05-10 14:02:11").unwrap();
        Initialised {
            project: Project {
                id: Uuid::nil(),
                name: "shop".into(),
                root_path: "/repos/shop".into(),
                default_branch: "main".into(),
                created_at: time,
                updated_at: time,
            },
            ledger: "/repos/shop/.govforge/govforge.db".into(),
            created: created.iter().map(PathBuf::from).collect(),
            registered,
        }
    }

    #[test]
    fn says_what_was_made() {
        let made = ["/repos/shop/.govforge/policies.toml", "/repos/shop/.govforge/govforge.db"];
        assert_eq!(
            report(&done(&made, true), None),
            [
                "Registered shop (default branch main).",
                "Made /repos/shop/.govforge/policies.toml",
                "Made /repos/shop/.govforge/govforge.db",
                "Next: commit .govforge/, then `govforge connect` your client.",
            ]
        );
    }

    #[test]
    fn says_that_a_second_run_changed_nothing_and_kept_the_name() {
        assert_eq!(
            report(&done(&[], false), Some("store")),
            [
                "shop is registered already.",
                "It keeps its name, shop.",
                "The ledger is /repos/shop/.govforge/govforge.db",
                "Nothing was changed.",
            ]
        );
    }
}
