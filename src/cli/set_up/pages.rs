//! `govforge completions` and `govforge man`: made from the definition of the command line.

use std::io::{self, Write as _};

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::{Cli, Failure};
use crate::domain::excerpt::quoted;

/// Print completions for a shell
///
/// Examples:
///   govforge completions bash > ~/.local/share/bash-completion/completions/govforge
///   govforge completions zsh > ~/.zfunc/_govforge
///   govforge completions fish > ~/.config/fish/completions/govforge.fish
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Print the manual page, of the program or of a verb
///
/// Examples:
///   govforge man | man -l -
///   govforge man connect > govforge-connect.1
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ManArgs {
    /// The verb; without one, the page is the program's
    verb: Option<String>,
}

/// Prints the completions.
///
/// # Errors
/// A closed output.
pub fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut page = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "govforge", &mut page);
    Ok(io::stdout().lock().write_all(&page)?)
}

/// Prints the manual page in roff.
///
/// # Errors
/// Refuses an unknown verb; a closed output.
pub fn man(args: &ManArgs) -> Result<(), Failure> {
    let mut program = Cli::command();
    // Gives the verbs their full names.
    program.build();
    let page_of = match &args.verb {
        None => clap_mangen::Man::new(program),
        Some(verb) => {
            let command = found(&program, verb)?;
            let title = format!("govforge-{}", command.get_name());
            clap_mangen::Man::new(command).title(title)
        }
    };
    let mut page = Vec::new();
    page_of.render(&mut page)?;
    Ok(io::stdout().lock().write_all(&page)?)
}

fn found(program: &Command, verb: &str) -> Result<Command, Failure> {
    let found = program.find_subcommand(verb).ok_or_else(|| {
        let verbs: Vec<_> = program.get_subcommands().map(Command::get_name).collect();
        Failure::Usage(format!(
            "There is no verb {}. The verbs are {}.",
            quoted(verb),
            verbs.join(", ")
        ))
    })?;
    Ok(found.clone())
}
