//! Tokens: making and revoking them, and what the one of this process covers.

use std::fmt;
use std::path::Path;

use serde::Deserialize;
use sqlx::SqliteConnection;

use crate::domain::access::Scope;
use crate::domain::digest;
use crate::domain::names::approver::reads_as_agent;
use crate::domain::time::Timestamp;
use crate::domain::value::{AgentType, Value as _};
use crate::error::{Code, Error, Refusal, Result};
use crate::ledger::Service;
use crate::store;
use crate::store::tokens::Token;

/// What every secret begins with.
const MARK: &str = "gfp_";

/// How many characters of a secret find its token.
const PREFIX: usize = 8;

/// Random bytes in a secret.
const RANDOM: usize = 32;

/// The file that may hold the token, in the user's directory of settings.
const AUTH_FILE: &str = "govforge/auth.toml";

/// A secret; it is never shown by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// The text, to be shown once.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// `auth.toml`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Auth {
    token: Option<String>,
}

/// The token of this process: `GOVFORGE_API_TOKEN`, else `token` in `govforge/auth.toml` below
/// `XDG_CONFIG_HOME` or `~/.config`.
///
/// # Errors
///
/// Refuses a file with a mistake; the message does not quote it.
pub fn find(home: Option<&Path>) -> std::result::Result<Option<Secret>, Refusal> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(token) = variable("GOVFORGE_API_TOKEN") {
        return Ok(Some(Secret(token.to_string_lossy().trim().to_owned())));
    }
    let settings = variable("XDG_CONFIG_HOME").map(Into::into);
    let Some(settings) = settings.or_else(|| home.map(|home| home.join(".config"))) else {
        return Ok(None);
    };
    from_file(&settings.join(AUTH_FILE))
}

fn from_file(file: &Path) -> std::result::Result<Option<Secret>, Refusal> {
    let wrong = |what: &str| Refusal {
        code: Code::InvalidConfig,
        message: format!("{} {what} It may hold one key: token = \"gfp_...\".", file.display()),
    };
    match std::fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(wrong(&format!("cannot be read ({}).", error.kind()))),
        Ok(text) => match toml::from_str::<Auth>(&text) {
            Ok(auth) => Ok(auth.token.map(|token| Secret(token.trim().to_owned()))),
            Err(error) => {
                let start = error.span().map_or(0, |span| span.start);
                let line = text[..start.min(text.len())].matches('\n').count() + 1;
                Err(wrong(&format!("has a mistake in line {line}.")))
            }
        },
    }
}

/// What the caller of this process may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// No token: everything, as without roles.
    Everything,
    /// What the token covers.
    Scopes {
        /// Stands with every event that is written under it.
        label: String,
        agent_type: AgentType,
        scopes: Vec<Scope>,
    },
    /// Nothing, and why.
    Nothing(String),
}

impl Access {
    /// Whether what needs that scope may be done.
    pub fn covers(&self, scope: Scope) -> bool {
        match self {
            Self::Everything => true,
            Self::Scopes { scopes, .. } => scope.is_in(scopes),
            Self::Nothing(_) => false,
        }
    }

    /// Refuses `what`, which needs that scope, if it is not covered.
    ///
    /// # Errors
    ///
    /// The refusal says why, and who may do it.
    pub fn check(&self, scope: Scope, what: &str) -> Result<()> {
        let message = match self {
            _ if self.covers(scope) => return Ok(()),
            Self::Nothing(why) => why.clone(),
            Self::Scopes { label, scopes, .. } => {
                let has: Vec<&str> = scopes.iter().map(|scope| scope.name()).collect();
                format!(
                    "The token \"{label}\" does not cover {what}: that needs {}, and it has {}. \
                     Leave this step to whoever may do it.",
                    scope.name(),
                    has.join(", ")
                )
            }
            Self::Everything => return Ok(()),
        };
        Err(Error::refused(Code::NotPermitted, message))
    }
}

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
    /// The same service for whoever holds a token.
    pub fn under(self, token: std::result::Result<Option<Secret>, Refusal>) -> Self {
        Self { token: std::sync::Arc::new(token), ..self }
    }

    /// What the token of this process covers now: it may have been revoked meanwhile. Without
    /// a token the ledger is not touched.
    ///
    /// # Errors
    ///
    /// As for any reading.
    pub async fn access(&self) -> Result<Access> {
        match &*self.token {
            Ok(None) => Ok(Access::Everything),
            Err(refusal) => Ok(Access::Nothing(refusal.message.clone())),
            Ok(Some(secret)) => {
                let mut read = self.ledger.read().await?;
                let token = self.accepted(&mut read, secret).await?;
                Ok(match token {
                    Ok(token) => Access::Scopes {
                        scopes: read_scopes(&token.scopes_csv),
                        agent_type: token.agent_type,
                        label: token.label,
                    },
                    Err(why) => Access::Nothing(why),
                })
            }
        }
    }

    /// The token under which a write happens; refuses one that is not accepted any more.
    pub(in crate::ledger) async fn writing_token(
        &self,
        connection: &mut SqliteConnection,
        now: Timestamp,
    ) -> Result<Option<Token>> {
        let secret = match &*self.token {
            Ok(None) => return Ok(None),
            Err(refusal) => return Err(refusal.clone().into()),
            Ok(Some(secret)) => secret,
        };
        match self.accepted(connection, secret).await? {
            Ok(token) => {
                store::tokens::touch(connection, token.id, now).await?;
                Ok(Some(token))
            }
            Err(why) => Err(Error::refused(Code::NotPermitted, why)),
        }
    }

    /// The token of a secret, or why it is not accepted.
    async fn accepted(
        &self,
        connection: &mut SqliteConnection,
        secret: &Secret,
    ) -> Result<std::result::Result<Token, String>> {
        let prefix: String = secret.0.chars().take(PREFIX).collect();
        let hash = hash(secret);
        let found = store::tokens::by_prefix(connection, &prefix).await?;
        let mut token = None;
        for candidate in found {
            if same(&candidate.hashed_secret, &hash) {
                token = Some(candidate);
            }
        }
        let why = |what: &str| {
            Err(format!(
                "The token of this server {what}, so it may do nothing. Ask the person who runs \
                 it for another one (`govforge token create`), in GOVFORGE_API_TOKEN or auth.toml."
            ))
        };
        let now = self.clock.now();
        Ok(match token {
            None => why("is not known to the ledger"),
            Some(token) if token.revoked_at.is_some() => why("was revoked"),
            Some(token) if token.expires_at.is_some_and(|end| end <= now) => why("has expired"),
            Some(token) => Ok(token),
        })
    }

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
        let mut bytes = [0; RANDOM];
        getrandom::fill(&mut bytes)
            .map_err(|error| Error::fault("the system gives no random bytes", error))?;
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let secret = Secret(format!("{MARK}{digits}"));
        let mut write = self.begin().await?;
        let known = store::tokens::all(write.connection()).await?;
        if known.iter().any(|token| token.label == label && token.revoked_at.is_none()) {
            return Err(Error::invalid(format!(
                "A token \"{label}\" is there already. Choose another label, or revoke it first: \
                 `govforge token revoke \"{label}\"`."
            )));
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
            prefix: secret.0[..PREFIX].to_owned(),
            hashed_secret: hash(&secret),
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
        let mut read = self.ledger.read().await?;
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
        let mut write = self.begin().await?;
        let known = store::tokens::all(write.connection()).await?;
        let mut found = known.iter().filter(|token| {
            token.revoked_at.is_none()
                && (token.label == name || token.prefix == name || token.id.to_string() == name)
        });
        let (Some(token), None) = (found.next(), found.next()) else {
            let labels: Vec<&str> = known
                .iter()
                .filter(|token| token.revoked_at.is_none())
                .map(|token| token.label.as_str())
                .collect();
            return Err(Error::invalid(format!(
                "\"{name}\" names no single active token. Active are: {}.",
                labels.join(", ")
            )));
        };
        let token = token.clone();
        let now = write.now;
        store::tokens::revoke(write.connection(), token.id, now).await?;
        write.commit().await?;
        Ok(token)
    }
}

fn read_scopes(csv: &str) -> Vec<Scope> {
    // A scope of a newer program means nothing here.
    csv.split(',').filter_map(|name| name.trim().parse().ok()).collect()
}

/// SHA-256 of a secret, 64 hex digits.
fn hash(secret: &Secret) -> String {
    digest::of(&secret.0).trim_start_matches("sha256:").to_owned()
}

/// Compares without telling by the time taken where two texts differ.
fn same(a: &str, b: &str) -> bool {
    let differs = a.bytes().zip(b.bytes()).fold(a.len() ^ b.len(), |differs, (a, b)| {
        std::hint::black_box(differs | usize::from(a ^ b))
    });
    differs == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_compared_whole_and_never_shown() {
        assert!(same("abc", "abc"));
        assert!(!same("abc", "abd"));
        assert!(!same("abc", "ab"));
        assert_eq!(format!("{:?}", Secret("gfp_x".to_owned())), "Secret");
    }

    #[test]
    fn the_file_holds_one_key_and_is_not_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("auth.toml");
        assert_eq!(from_file(&file), Ok(None));
        std::fs::write(&file, "token = \"gfp_abc\"\n").unwrap();
        assert_eq!(from_file(&file), Ok(Some(Secret("gfp_abc".to_owned()))));
        std::fs::write(&file, "\ntokn = \"gfp_abc\"\n").unwrap();
        let message = from_file(&file).unwrap_err().message;
        assert!(message.contains("line 2") && !message.contains("gfp_abc"), "{message}");
    }
}
