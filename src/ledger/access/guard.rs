//! The one way to the ledger. Whoever reads or writes says for which use case, and what the
//! caller's token does not cover is refused before anything is read or made.

use std::path::Path;
use std::sync::Arc;

use super::caller::{Caller, Held};
use crate::domain::access::{Scope, UseCase};
use crate::domain::secret::same;
use crate::domain::time::Clock;
use crate::domain::value::AgentType;
use crate::error::{Audience, Code, Error, Result};
use crate::ledger::Service;
use crate::store;
use crate::store::engine::{Connection, Durability, Ledger, WriteTransaction};
use crate::store::tokens::Token;

/// What a caller may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// No token: everything, as without roles.
    Everything,
    /// What the token covers.
    Token(Box<Token>),
    /// Nothing, and why.
    Nothing(String),
}

impl Access {
    /// Whether it may be done.
    pub fn covers(&self, use_case: UseCase) -> bool {
        match self {
            Self::Everything => true,
            Self::Token(token) => use_case.is_covered_by(&scopes(token)),
            Self::Nothing(_) => false,
        }
    }

    /// The label of the token, if there is one.
    pub fn label(&self) -> Option<&str> {
        match self {
            Self::Token(token) => Some(&token.label),
            Self::Everything | Self::Nothing(_) => None,
        }
    }

    /// What kind of agent holds the token, if there is one.
    pub fn holder(&self) -> Option<AgentType> {
        match self {
            Self::Token(token) => Some(token.agent_type),
            Self::Everything | Self::Nothing(_) => None,
        }
    }

    /// Refuses what may not be done.
    ///
    /// # Errors
    ///
    /// The refusal says why, and who may do it.
    pub fn check(&self, use_case: UseCase) -> Result<()> {
        let token = match self {
            Self::Everything => return Ok(()),
            Self::Token(_) if self.covers(use_case) => return Ok(()),
            Self::Nothing(why) => return Err(Error::refused(Code::NotPermitted, why)),
            Self::Token(token) => token,
        };
        Err(Error::refused_by_audience(Code::NotPermitted, |to| {
            let needed = named(use_case.scopes(), " or ");
            format!(
                "The token \"{}\" does not cover {}: that needs {needed}, and it has {}. Leave \
                 this step to whoever may do it.",
                token.label,
                to.pick(use_case.name().to_owned(), use_case.words()),
                named(&scopes(token), ", ")
            )
        }))
    }
}

/// The scopes that a token has now.
fn scopes(token: &Token) -> Vec<Scope> {
    // A scope of a newer program means nothing here.
    token.scopes_csv.split(',').filter_map(|name| name.trim().parse().ok()).collect()
}

fn named(scopes: &[Scope], between: &str) -> String {
    let names: Vec<&str> = scopes.iter().map(|scope| scope.name()).collect();
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(between),
    }
}

/// A ledger behind its caller's token.
pub(in crate::ledger) struct Guarded {
    /// Nothing but this module reaches it.
    ledger: Ledger,
    caller: Arc<Caller>,
    clock: Arc<dyn Clock>,
}

impl Guarded {
    pub(in crate::ledger) fn new(
        ledger: Ledger,
        caller: Arc<Caller>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { ledger, caller, clock }
    }

    /// Another ledger, for the same caller.
    pub(in crate::ledger) fn elsewhere(&self, ledger: Ledger) -> Self {
        Self::new(ledger, Arc::clone(&self.caller), Arc::clone(&self.clock))
    }

    /// The file.
    pub(in crate::ledger) fn path(&self) -> &Path {
        self.ledger.path()
    }

    /// Whether the file exists.
    pub(in crate::ledger) fn exists(&self) -> bool {
        self.ledger.exists()
    }

    /// Closes the file.
    pub(in crate::ledger) async fn close(&self) {
        self.ledger.close().await;
    }

    /// Begins to read for a use case.
    ///
    /// # Errors
    ///
    /// As [`Ledger::read`]; refuses what the caller's token does not cover.
    pub(in crate::ledger) async fn read(&self, use_case: UseCase) -> Result<Connection> {
        let mut read = self.ledger.read().await?;
        self.access_by(&mut read).await?.check(use_case)?;
        Ok(read)
    }

    /// Begins to write for a use case.
    ///
    /// # Errors
    ///
    /// As [`Ledger::write`]; refuses what the caller's token does not cover.
    pub(in crate::ledger) async fn write(
        &self,
        use_case: UseCase,
        durability: Durability,
    ) -> Result<(WriteTransaction<'_>, Access)> {
        // Who may not write waits for no lock, and makes no ledger that is missing.
        self.check(use_case).await?;
        let mut transaction = self.ledger.write(durability).await?;
        // The token may have been revoked since.
        let access = self.access_by(&mut transaction).await?;
        access.check(use_case)?;
        Ok((transaction, access))
    }

    /// Refuses what the caller's token does not cover, for a use case that does something before
    /// it writes.
    pub(in crate::ledger) async fn check(&self, use_case: UseCase) -> Result<()> {
        self.access().await?.check(use_case)
    }

    /// What the caller may do now. Without a token the ledger is not touched.
    async fn access(&self) -> Result<Access> {
        match &self.caller.token {
            Ok(None) => Ok(Access::Everything),
            _ => {
                let mut read = self.ledger.read().await?;
                self.access_by(&mut read).await
            }
        }
    }

    async fn access_by(&self, connection: &mut Connection) -> Result<Access> {
        match &self.caller.token {
            Ok(None) => Ok(Access::Everything),
            Err(refusal) => Ok(Access::Nothing(refusal.told(Audience::Agent).to_owned())),
            Ok(Some(held)) => self.accepted(connection, held).await,
        }
    }

    async fn accepted(&self, connection: &mut Connection, held: &Held) -> Result<Access> {
        let hash = held.secret.hash();
        let found = store::tokens::by_prefix(connection, &held.secret.prefix()).await?;
        let mut token = None;
        for candidate in found {
            if same(&candidate.hashed_secret, &hash) {
                token = Some(candidate);
            }
        }
        let nothing = |why: &str| {
            Access::Nothing(format!(
                "The token in {} {why}, so it may do nothing. Ask the person who put it there for \
                 another one (`govforge token create`).",
                held.place
            ))
        };
        let now = self.clock.now();
        Ok(match token {
            None => nothing("is not known to the ledger"),
            Some(token) if token.revoked_at.is_some() => nothing("was revoked"),
            Some(token) if token.expires_at.is_some_and(|end| end <= now) => nothing("has expired"),
            Some(token) => Access::Token(Box::new(token)),
        })
    }
}

impl Service {
    /// What the caller may do now: their token may have been revoked meanwhile.
    ///
    /// # Errors
    ///
    /// As for any reading.
    pub async fn access(&self) -> Result<Access> {
        self.ledger.access().await
    }
}
