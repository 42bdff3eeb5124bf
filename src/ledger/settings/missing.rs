//! What a ledger that is not there means, by whether one may be begun.

use std::path::Path;

use crate::error::{Code, Refusal};
use crate::ledger::settings::location::Location;
use crate::store::engine::Missing;

/// Whether a new ledger may be begun where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    /// By no verb: to read nothing would say that nothing was recorded, and to prove nothing
    /// that all is well.
    Never,
    /// By the first call of an MCP server that writes: a colleague may have registered the
    /// project.
    Unasked,
    /// By `govforge init`, which is there for it.
    OnPurpose,
}

/// What it means at that location that no ledger is at `path`.
pub(in crate::ledger) fn meaning(
    location: &Location,
    beginning: Beginning,
    path: &Path,
) -> Missing {
    if beginning != Beginning::Never {
        return Missing::Begins;
    }
    let shown = path.display();
    let lack = match path.exists() {
        true => "is an empty file",
        false => "does not exist",
    };
    let message = match location.ledger_is_set {
        true => format!(
            "The ledger {shown}, which GOVFORGE_DB names, {lack}. Correct GOVFORGE_DB, or run \
             `govforge init` in a repository to begin that ledger."
        ),
        false => format!(
            "There is no ledger yet: {shown} {lack}. Run `govforge init` in the repository whose \
             decisions you want to keep; `govforge demo` shows how it works."
        ),
    };
    Missing::Refused(Refusal::new(Code::LedgerMissing, message))
}
