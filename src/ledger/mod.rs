//! One method per use case. Each owns its transaction and writes its events: a call that
//! fails leaves nothing behind.
//!
//! The parameters of a use case are plain structs that `mcp` reads from a tool call and `cli`
//! fills by hand; their doc comments and length limits are what the published schemas say.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use self::access::caller::Caller;
use self::access::guard::Guarded;
use self::policies::rules;
use self::settings::missing::Beginning;
use self::settings::{config, location, missing};
use crate::domain::time::{Clock, Ids};
use crate::error::Result;
use crate::store::engine::{Durability, Ledger};

pub mod access;
pub mod policies;
pub mod reading;
pub mod record;
pub mod review;
pub mod settings;
pub mod verdict;
pub mod work;

/// The use cases over one ledger.
#[derive(Clone)]
pub struct Service {
    ledger: Arc<Guarded>,
    durability: Arc<OnceLock<Durability>>,
    location: Arc<location::Location>,
    compiled: Arc<rules::Compiled>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
}

impl Service {
    /// The service for a caller at a location, which begins no ledger; opens nothing yet.
    pub fn new(
        location: location::Location,
        caller: Caller,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
    ) -> Self {
        let location = Arc::new(location);
        let ledger = ledger(&location, Beginning::Never);
        Self {
            ledger: Arc::new(Guarded::new(ledger, Arc::new(caller), Arc::clone(&clock))),
            durability: Arc::default(),
            location,
            compiled: Arc::default(),
            clock,
            ids,
        }
    }

    /// The same service, which may begin a ledger where there is none.
    pub fn which_begins(self, beginning: Beginning) -> Self {
        let ledger = Arc::new(self.ledger.elsewhere(ledger(&self.location, beginning)));
        Self { ledger, ..self }
    }

    /// The ledger file.
    pub fn ledger_path(&self) -> &Path {
        self.ledger.path()
    }

    /// Closes the ledger; called once, when nothing is in flight any more.
    pub async fn close(&self) {
        self.ledger.close().await;
    }

    /// How safe an acknowledged write has to be: what the settings beside the ledger say,
    /// read once.
    fn durability(&self) -> Result<Durability> {
        if let Some(durability) = self.durability.get() {
            return Ok(*durability);
        }
        let durability = match self.ledger.path().parent() {
            Some(directory) => config::durability(directory)?,
            None => Durability::default(),
        };
        Ok(*self.durability.get_or_init(|| durability))
    }

    /// The same service over a ledger that is to be begun.
    fn beginning(&self, path: PathBuf) -> Self {
        let location = location::Location { ledger: Ok(path), ..(*self.location).clone() };
        let service =
            Self { location: Arc::new(location), durability: Arc::default(), ..self.clone() };
        service.which_begins(Beginning::OnPurpose)
    }
}

/// The ledger of a location; opens nothing yet.
fn ledger(location: &Arc<location::Location>, beginning: Beginning) -> Ledger {
    match &location.ledger {
        Ok(path) => {
            let location = Arc::clone(location);
            Ledger::new(path.clone())
                .when_missing(move |path| missing::meaning(&location, beginning, path))
        }
        Err(refusal) => Ledger::refusing(refusal.clone()),
    }
}

/// A path as the ledger keeps it.
fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// How many paths of a large change a result, a resource or an event carries at most; the
/// ledger keeps all of them. A longer list would flood an agent's context.
const FILES_SHOWN: usize = 500;

/// The paths to show of a change, and how many there are when that is not all of them.
fn shown(files: &[String]) -> (Vec<String>, Option<usize>) {
    let total = (files.len() > FILES_SHOWN).then_some(files.len());
    (files.iter().take(FILES_SHOWN).cloned().collect(), total)
}
