//! Whose verdict counts: a person's, for which the chain vouches.

use std::collections::HashSet;
use std::path::Path;

use uuid::Uuid;

use crate::domain::entity::Decision;
use crate::domain::value::Confirmed;
use crate::domain::verdict::{Backing, Flaw, Verdict, is_of_a_verdict};
use crate::error::Result;
use crate::ledger::settings::config::{self, ApprovalSettings, Unconfirmed};
use crate::ledger::verdict::staleness::AttachedChanges;
use crate::ledger::work::references::vanished;
use crate::store;
use crate::store::engine::Connection;
use crate::store::events::EventTold;

/// The events of verdicts that the chain vouches for.
pub(in crate::ledger) fn events<'a>(
    verdicts: impl IntoIterator<Item = &'a Verdict>,
) -> HashSet<Uuid> {
    let vouched = verdicts.into_iter().filter_map(Verdict::vouched);
    vouched.filter_map(|vouched| vouched.event_id).collect()
}

/// Those among some events, of whichever decisions.
pub(in crate::ledger) async fn events_among(
    connection: &mut Connection,
    told: impl IntoIterator<Item = &EventTold>,
) -> Result<HashSet<Uuid>> {
    let of_verdicts = told.into_iter().filter(|told| is_of_a_verdict(&told.event.event_type));
    let mut decisions: Vec<Uuid> = of_verdicts.map(|told| told.event.entity_id).collect();
    decisions.sort_unstable();
    decisions.dedup();
    let verdicts = store::ledger::approvals::of_decisions(connection, &decisions).await?;
    Ok(events(verdicts.values().flat_map(|verdicts| verdicts.iter())))
}

/// Why not to rely on an event, in words that stand behind it; that of a verdict is only as good
/// as what is among the `vouched`.
pub(in crate::ledger) fn doubt(told: &EventTold, vouched: &HashSet<Uuid>) -> Option<&'static str> {
    let is_unvouched = is_of_a_verdict(&told.event.event_type) && !vouched.contains(&told.event.id);
    told.written_by.doubt().or_else(|| is_unvouched.then(|| Flaw::Changed.told()))
}

/// An approval that the gate takes: nothing but [`take`](Self::take) makes one.
#[derive(Debug, Clone, Copy)]
pub(in crate::ledger) struct PersonsApproval<'a> {
    verdict: &'a Verdict,
    accepted_as: Option<Unconfirmed>,
}

/// Why the gate does not take an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ledger) enum NotTaken {
    /// It was given on another diff than the one attached now.
    AnotherDiff,
    /// It stands under the name of an agent, or was asserted under the author's.
    ByAnAgent,
    /// It was asserted, and the settings do not accept that.
    Asserted,
    /// The settings accept asserted ones now, and did not when it was given.
    AssertedBefore,
    /// Another program wrote it, and the settings do not accept that.
    AnotherProgram,
    /// Nothing stands behind it.
    Unvouched(Flaw),
}

/// What an approval is judged by.
pub(in crate::ledger) struct Judged<'a> {
    pub settings: &'a ApprovalSettings,
    /// The changes of the decision.
    pub changes: &'a AttachedChanges,
}

impl<'a> PersonsApproval<'a> {
    /// Takes an approval of the change that is attached now.
    ///
    /// # Errors
    ///
    /// Says why it is none of a person's, or none that is known to be.
    pub fn take(verdict: &'a Verdict, by: &Judged<'_>) -> Result<Self, NotTaken> {
        let vouched = match verdict.backing() {
            Backing::Vouched(vouched) => Some(vouched),
            Backing::AnotherProgram if by.settings.accepts(Unconfirmed::OtherPrograms) => None,
            Backing::AnotherProgram => return Err(NotTaken::AnotherProgram),
            Backing::Nothing(flaw) => return Err(NotTaken::Unvouched(*flaw)),
        };
        if verdict.is_an_agents() {
            return Err(NotTaken::ByAnAgent);
        }
        let covers = match vouched {
            // The event itself says which diff it was given on.
            Some(vouched) => vouched.diff_hash.as_deref() == by.changes.diff_hash(),
            None => !by.changes.is_stale(verdict.recorded()),
        };
        if !covers {
            return Err(NotTaken::AnotherDiff);
        }
        let accepted_as = match vouched {
            None => Some(Unconfirmed::OtherPrograms),
            Some(vouched) => match vouched.confirmed {
                Confirmed::Asked | Confirmed::Terminal | Confirmed::Board => None,
                Confirmed::Asserted if !by.settings.accepts(Unconfirmed::Asserted) => {
                    return Err(NotTaken::Asserted);
                }
                // Whoever loosens the settings for the moment of a push leaves no trace; who does
                // it for a verdict does.
                Confirmed::Asserted if !Unconfirmed::Asserted.is_in(&vouched.settings) => {
                    return Err(NotTaken::AssertedBefore);
                }
                Confirmed::Asserted => Some(Unconfirmed::Asserted),
            },
        };
        Ok(Self { verdict, accepted_as })
    }

    pub fn verdict(self) -> &'a Verdict {
        self.verdict
    }

    /// What the settings let pass, if no person confirmed it.
    pub fn accepted_as(self) -> Option<Unconfirmed> {
        self.accepted_as
    }
}

/// The verdicts on a decision that are known to have been given, oldest first: the chain vouches
/// for them, or another program wrote them and the settings take those.
pub(in crate::ledger) async fn known(
    connection: &mut Connection,
    decision: &Decision,
) -> Result<Vec<Verdict>> {
    let verdicts = store::ledger::approvals::of_decision(connection, decision.id).await?;
    let is_foreign = |verdict: &Verdict| *verdict.backing() == Backing::AnotherProgram;
    // A file is read only where it decides something.
    let takes_foreign = verdicts.iter().any(is_foreign)
        && settings_of(connection, decision).await?.accepts(Unconfirmed::OtherPrograms);
    let is_known =
        |verdict: &Verdict| verdict.vouched().is_some() || takes_foreign && is_foreign(verdict);
    Ok(verdicts.into_iter().filter(is_known).collect())
}

/// The newest of them that is a person's, as far as that is known.
pub(in crate::ledger) async fn persons(
    connection: &mut Connection,
    decision: &Decision,
) -> Result<Option<Verdict>> {
    Ok(known(connection, decision).await?.into_iter().rfind(|verdict| !verdict.is_an_agents()))
}

async fn settings_of(connection: &mut Connection, decision: &Decision) -> Result<ApprovalSettings> {
    let project = store::ledger::projects::by_id(connection, decision.project_id).await?;
    config::approval_settings(Path::new(&project.ok_or_else(vanished)?.root_path))
}
