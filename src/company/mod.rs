//! The use cases of the companies: who somebody is ([`identity`]), what administers a company
//! ([`set_up`]), and its work. Each owns its transaction and writes its events: a call that fails
//! leaves nothing behind.
//!
//! A use case takes the [`Caller`](identity::caller::Caller) first. Only
//! [`identity`] makes one, from a credential that holds; a write looks once more, inside its
//! transaction, whether it still does.

use std::path::PathBuf;
use std::sync::Arc;

use crate::domain::time::{Clock, Ids};
use crate::error::Result;
use crate::store::engine::{Durability, Ledger};

pub mod identity;
mod named;
pub mod record;
pub mod refusals;
pub mod set_up;
pub mod work;

/// The use cases over one ledger.
#[derive(Clone)]
pub struct Service {
    ledger: Arc<Ledger>,
    durability: Durability,
    /// The label of the token under which the program runs.
    token: Option<Arc<str>>,
    keyring: Arc<identity::keyring::Keyring>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
}

impl Service {
    /// The service over a ledger; opens nothing yet. `secret` is the file with the secret that
    /// signs run tokens, which is made when the first one is.
    pub fn new(
        ledger: Arc<Ledger>,
        durability: Durability,
        secret: PathBuf,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
    ) -> Self {
        let keyring = Arc::new(identity::keyring::Keyring::new(secret));
        Self { ledger, durability, token: None, keyring, clock, ids }
    }

    /// The same service in a program that runs under a token of that label, which stands with
    /// every event.
    #[must_use]
    pub fn under(self, token: Option<&str>) -> Self {
        Self { token: token.map(Arc::from), ..self }
    }

    /// Whether the ledger answers.
    ///
    /// # Errors
    ///
    /// As for any reading.
    pub async fn is_ready(&self) -> Result<()> {
        self.ledger.read().await.map(drop)
    }

    /// Closes the ledger; called once, when nothing is in flight any more.
    pub async fn close(&self) {
        self.ledger.close().await;
    }
}
