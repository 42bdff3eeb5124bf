//! Tokens: making, listing and revoking them.

use crate::domain::access::{Scope, UseCase};
use crate::domain::excerpt::{quoted, shell_word};
use crate::domain::names::approver::reads_as_agent;
use crate::domain::secret::Secret;
use crate::domain::value::{AgentType, Value as _};
use crate::error::{Code, Error, Result};
use crate::ledger::Service;
use crate::store;
use crate::store::tokens::Token;

/// What every secret begins with.
const MARK: &str = "gfp_";

/// Random bytes in a secret.
const RANDOM: usize = 32;

/// What a token is made for.
#[derive(Debug, Clone)]
pub struct NewToken {
    pub label: String,
    /// An agent's name or type.
    pub agent: String,
    pub scopes: Vec<Scope>,
    /// After how many days it expires.
    pub days: Option<u32>,
}

impl Service {
    /// Makes a token; its secret is given out here and kept nowhere.
    ///
    /// # Errors
    ///
    /// Refuses a blank label, one that an active token has, a blank agent, and no scopes.
    pub async fn create_token(&self, new: NewToken) -> Result<(Token, Secret)> {
        let label = new.label.trim().to_owned();
        if label.is_empty() || label.chars().count() > 255 {
            return Err(Error::invalid("A label has 1 to 255 characters: it names the token."));
        }
        if new.agent.trim().is_empty() {
            return Err(Error::invalid(
                "The agent is blank. Name the one that the token is for, such as codex.",
            ));
        }
        if new.scopes.is_empty() {
            return Err(Error::invalid(format!("Name at least one scope of {}.", Scope::names())));
        }
        let mut write = self.begin(UseCase::CreateToken).await?;
        let secret = Secret::random(MARK, RANDOM)?;
        let known = store::tokens::all(write.connection()).await?;
        if known.iter().any(|token| token.label == label && token.revoked_at.is_none()) {
            return Err(Error::refused(
                Code::TokenExists,
                format!(
                    "A token \"{label}\" is there already. Choose another label, or revoke it \
                     first: `govforge token revoke {}`.",
                    shell_word(&label)
                ),
            ));
        }
        let (id, user, now) = (write.id(), write.id(), write.now);
        let user =
            store::tokens::ensure_user(write.connection(), user, "local", "This machine", now);
        let user_id = user.await?;
        let token = Token {
            id,
            user_id,
            label,
            agent_type: AgentType::read(&new.agent)
                .or_else(|| reads_as_agent(&new.agent))
                .unwrap_or(AgentType::Human),
            prefix: secret.prefix(),
            hashed_secret: secret.hash(),
            scopes_csv: new.scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>().join(","),
            created_at: now,
            last_used_at: None,
            expires_at: new.days.map(|days| now.days_later(days)),
            revoked_at: None,
        };
        store::tokens::insert(write.connection(), &token).await?;
        write.commit().await?;
        Ok((token, secret))
    }

    /// Every token, oldest first, and whether it is accepted now.
    ///
    /// # Errors
    ///
    /// As for any reading.
    pub async fn tokens(&self) -> Result<Vec<(Token, &'static str)>> {
        let mut read = self.ledger.read(UseCase::ListTokens).await?;
        let now = self.clock.now();
        let state = |token: &Token| match token {
            Token { revoked_at: Some(_), .. } => "revoked",
            Token { expires_at: Some(end), .. } if *end <= now => "expired",
            _ => "active",
        };
        let tokens = store::tokens::all(&mut read).await?;
        Ok(tokens.into_iter().map(|token| (token.clone(), state(&token))).collect())
    }

    /// Revokes the token of that label or beginning of the secret; running servers notice.
    ///
    /// # Errors
    ///
    /// Refuses a name that no active token has, or several have.
    pub async fn revoke_token(&self, name: &str) -> Result<Token> {
        let name = name.trim();
        let mut write = self.begin(UseCase::RevokeToken).await?;
        let known = store::tokens::all(write.connection()).await?;
        let active: Vec<&Token> = known.iter().filter(|token| token.revoked_at.is_none()).collect();
        let is_meant = |token: &&&Token| {
            token.label == name || token.prefix == name || token.id.to_string() == name
        };
        let found: Vec<&Token> = active.iter().filter(is_meant).copied().collect();
        let labels = |tokens: &[&Token]| {
            tokens.iter().map(|token| quoted(&token.label)).collect::<Vec<_>>().join(", ")
        };
        let name = quoted(name);
        let refused = |message: String| Err(Error::refused(Code::TokenNotFound, message));
        let token = match found[..] {
            [token] => token.clone(),
            [] if active.is_empty() => {
                return refused(format!("No active token is called {name}: there is none at all."));
            }
            [] => {
                let active = labels(&active);
                return refused(format!("No active token is called {name}. Active are: {active}."));
            }
            _ => {
                let found = labels(&found);
                return refused(format!(
                    "{name} begins several tokens. Name one by its label: {found}."
                ));
            }
        };
        let now = write.now;
        store::tokens::revoke(write.connection(), token.id, now).await?;
        write.commit().await?;
        Ok(token)
    }
}
