//! `govforge token`: who may do what.

use clap::{Subcommand, ValueEnum};
use tokio::runtime::Builder;

use crate::cli::Failure;
use crate::cli::terminal::screen::Screen;
use crate::domain::access::{Role, Scope};
use crate::ledger::Service;
use crate::ledger::access::tokens::NewToken;

/// Give agents tokens that cover only their part
///
/// A program that is started with GOVFORGE_API_TOKEN (or `token = "gfp_..."` in auth.toml below
/// $XDG_CONFIG_HOME/govforge) does only what the token covers: a server lists and runs those
/// tools alone, and a verb is refused that is not among it. Without a token all can be done.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make a token; its secret is shown once
    Create {
        /// What the token is called; it stands with every event written under it
        #[arg(long)]
        label: String,
        /// The agent it is for: claude, codex, cursor, cline, aider, human or another name
        #[arg(long)]
        agent: String,
        /// A usual set of scopes
        #[arg(long, value_enum, required_unless_present = "scopes")]
        role: Option<RoleName>,
        /// The scopes one by one, with commas between them
        #[arg(long, value_delimiter = ',', conflicts_with = "role", value_parser = scope)]
        scopes: Vec<Scope>,
        /// After how many days it expires
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=36_500))]
        expires: Option<u32>,
    },
    /// List the tokens
    List,
    /// Revoke a token; running servers notice
    Revoke {
        /// Its label, or the first 8 characters of its secret
        token: String,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RoleName {
    Author,
    Reviewer,
    Approver,
}

fn scope(name: &str) -> Result<Scope, String> {
    name.trim().parse().map_err(|_error| format!("the scopes are {}", Scope::names()))
}

/// Makes, lists or revokes.
///
/// # Errors
/// As the service's.
pub fn run(service: &Service, args: &Args) -> Result<(), Failure> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Fault(format!("The program cannot start: {error}")))?;
    let mut screen = Screen::stdout();
    match &args.what {
        What::Create { label, agent, role, scopes, expires } => {
            let role = role.map(|role| match role {
                RoleName::Author => Role::Author,
                RoleName::Reviewer => Role::Reviewer,
                RoleName::Approver => Role::Approver,
            });
            let scopes = role.map_or_else(|| scopes.clone(), |role| role.scopes().to_vec());
            let new =
                NewToken { label: label.clone(), agent: agent.clone(), scopes, days: *expires };
            let (token, secret) = runtime.block_on(service.create_token(new))?;
            screen.line(secret.reveal())?;
            screen.line("")?;
            screen.line(format!("This is the token \"{}\"; it is shown only now.", token.label))?;
            screen.line(format!("It covers {}.", token.scopes_csv.replace(',', ", ")))?;
            screen.line("Set GOVFORGE_API_TOKEN to it where the client starts the server.")?;
        }
        What::List => {
            let tokens = runtime.block_on(service.tokens())?;
            if tokens.is_empty() {
                screen.line("There is no token: everybody can do everything.")?;
            }
            for (token, state) in tokens {
                let used = token
                    .last_used_at
                    .map_or_else(|| "never used".to_owned(), |time| format!("last used {time}"));
                screen.line(format!(
                    "{}  {}  {}  {state}, {used}  {}",
                    token.prefix, token.label, token.agent_type, token.scopes_csv
                ))?;
            }
        }
        What::Revoke { token } => {
            let token = runtime.block_on(service.revoke_token(token))?;
            screen.line(format!("Revoked \"{}\".", token.label))?;
        }
    }
    Ok(())
}
