//! Proving the record: the walk along the chain, and its head.

use crate::store::engine::Connection;

use crate::domain::access::UseCase;
use crate::domain::chain::GENESIS;
use crate::domain::chain::walk::{KEPT, Problem, Walk};
use crate::domain::excerpt;
use crate::error::{Error, Result};
use crate::ledger::Service;
use crate::store;
use crate::store::chain::links::{self, PAGE, Page};
use crate::store::chain::unlinked::{self, Standing};
use crate::store::events::AheadOfTime;

/// The last link of the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// How many events are in the chain.
    pub place: i64,
    /// Its hash, 64 hex digits; zeros for an empty chain.
    pub hash: String,
    /// How many events wait for the next write to be taken in.
    pub waiting: i64,
}

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The head of the chain as it was walked.
    pub head: Head,
    /// What is not as it was recorded, in the order of the chain; at most a hundred, and
    /// `problem_count` tells how many there are.
    pub problems: Vec<Problem>,
    pub problem_count: usize,
    /// The events that another program wrote, each by its place; at most a hundred.
    pub foreign: Vec<(i64, String)>,
    pub foreign_count: usize,
    /// What keeps the record from being proved by this program's own events alone, as
    /// sentences without their full stop.
    pub unproved: Vec<String>,
    /// The events that are dated more than a day ahead of this machine's clock, at most 20: the
    /// order follows from the chain, whatever time they have. None of an export.
    pub ahead: Vec<AheadOfTime>,
    /// With a head that was kept outside: the place where it stands in the chain, `None` if
    /// it does not, so that what came before it was rewritten.
    pub kept: Option<Option<i64>>,
}

impl Verified {
    /// Whether everything is as it was recorded.
    pub fn is_sound(&self) -> bool {
        self.problem_count == 0 && self.kept != Some(None)
    }
}

impl Service {
    /// The head of the chain.
    ///
    /// # Errors
    ///
    /// As for any reading.
    pub async fn audit_head(&self) -> Result<Head> {
        let mut read = self.ledger.read(UseCase::Audit).await?;
        let (place, hash) = store::chain::head(&mut read).await?;
        Ok(Head { place, hash, waiting: store::chain::waiting(&mut read).await? })
    }

    /// Walks the whole chain and every row that an event vouches for. `kept` is a head that was
    /// kept outside, 64 hex digits. `whole_file` has SQLite look through all of the file too,
    /// with every index, which takes longer than the rest.
    ///
    /// # Errors
    ///
    /// Refuses a head that is none.
    pub async fn audit_verify(&self, kept: Option<&str>, whole_file: bool) -> Result<Verified> {
        let kept = kept.map(read_head).transpose()?;
        let mut read = self.ledger.read(UseCase::Audit).await?;
        let mut walk = Walk::new(kept.clone());
        for name in unlinked::no_tables(&mut read).await? {
            let what = format!("the table {name} of the ledger is no table any more");
            walk.tell(Problem { place: None, what });
        }
        let mut walk = self.walk(&mut read, walk).await?;
        walk.finish();
        let waiting = store::chain::waiting(&mut read).await?;
        for event in unlinked::waiting_events(&mut read).await? {
            walk.listen(&event);
        }
        check_rows(&mut read, &mut walk, waiting).await?;
        check_decisions(&mut read, &mut walk).await?;
        if whole_file {
            for line in unlinked::damage(&mut read).await? {
                let what = format!("the file is damaged: {}", excerpt::quoted(&line));
                walk.tell(Problem { place: None, what });
            }
        }
        let mut unproved = unproved(&walk, waiting);
        let hashed = walk.found_rows.get("policy_results").copied().unwrap_or_default();
        let counted = unlinked::policy_results(&mut read).await? - hashed;
        if counted > 0 {
            unproved.push(format!("{counted} policy result(s) are counted, but no link has them"));
        }
        let horizon = self.clock.now().a_day_ahead();
        let ahead = store::events::dated_after(&mut read, None, horizon).await?;
        Ok(Verified { ahead, ..verified(walk, waiting, unproved, kept.is_some()) })
    }

    /// Walks from the start to the head that `read` sees.
    ///
    /// Two connections read in turns, and what they read is hashed on a third thread meanwhile:
    /// reading is most of it. The second sees the same record or a later one, and what stands
    /// in the chain is never changed by a later call.
    async fn walk(&self, read: &mut Connection, walk: Walk) -> Result<Walk> {
        read.read_all_of_it().await?;
        let (last, _) = store::chain::head(read).await?;
        let mut second = match last > PAGE {
            true => Some(self.ledger.read(UseCase::Audit).await?),
            false => None,
        };
        if let Some(second) = &mut second {
            second.read_all_of_it().await?;
        }
        let mut walking = tokio::task::spawn_blocking(|| Ok(walk));
        let mut place = 0;
        while place < last {
            let middle = last.min(place.saturating_add(PAGE));
            let end = last.min(middle.saturating_add(PAGE));
            let pages = match &mut second {
                Some(second) => {
                    let first = links::between(read, place, middle);
                    let (first, second) =
                        tokio::try_join!(first, links::between(second, middle, end))?;
                    [first, second]
                }
                None => [links::between(read, place, last).await?, Page::default()],
            };
            place = match pages.iter().all(Page::is_empty) {
                // Somebody left a gap, which may be of any size.
                true => unlinked::place_after(read, end).await?.map_or(last, |next| next - 1),
                false => end,
            };
            let mut walk = finished(walking).await?;
            walking = tokio::task::spawn_blocking(move || {
                for page in &pages {
                    for link in page.links() {
                        walk.step(&link?);
                    }
                }
                Ok(walk)
            });
        }
        finished(walking).await
    }
}

async fn finished(walking: tokio::task::JoinHandle<Result<Walk>>) -> Result<Walk> {
    walking.await.map_err(|error| Error::fault("the walk along the chain failed", error))?
}

/// Tells of rows that no event vouches for, of policies that are not as the last run left them,
/// and of triggers that are not the ledger's.
async fn check_rows(read: &mut Connection, walk: &mut Walk, waiting: i64) -> Result<()> {
    let mut told = Vec::new();
    // Each event of this program vouches for a row of its own: where there are no others, as
    // many rows as were found are all.
    let is_own = walk.foreign_count == 0 && walk.earlier_count == 0 && waiting == 0;
    let counts = unlinked::counts(read).await?;
    let found = |name| walk.found_rows.get(name).copied().unwrap_or_default();
    let is_complete = is_own && counts.iter().all(|(name, count)| found(name) == *count);
    if !is_complete {
        for (table, id) in unlinked::unvouched(read, KEPT as u32).await? {
            told.push(match table {
                "events" => format!("the event {id} was added past the chain"),
                _ => format!("the row {id} of {table} was added: no event vouches for it"),
            });
        }
    }
    for (table, id) in store::chain::company::unvouched(read, KEPT as u32).await? {
        told.push(match table {
            "aoa_events" => format!("the event {id} of a company was added past the chain"),
            _ => format!("the row {id} of {table} was added: no event vouches for it"),
        });
    }
    // The others have been counted, or looked through now.
    let mut tables = vec!["projects", "agents", "policies"];
    if !is_complete {
        tables.extend(counts.iter().map(|(name, _)| *name));
    }
    for (table, count) in unlinked::rows_without_an_id(read, tables).await? {
        told.push(format!("{count} row(s) of {table} were added without an id of their own"));
    }
    let out_of_place = unlinked::links_out_of_place(read).await?;
    if out_of_place > 0 {
        told.push(format!("{out_of_place} link(s) were added beside the places of the chain"));
    }
    for id in unlinked::lost_projects(read).await? {
        told.push(format!("the project {id} was removed"));
    }
    for id in unlinked::settled(read).await? {
        told.push(format!("the disagreement {id} was settled: no event vouches for that"));
    }
    if let Some(policies) = unlinked::policies(read).await? {
        let mut changed: Vec<_> = walk.policies.iter().collect();
        changed.retain(|(id, (_, digest))| policies.get(*id) != Some(digest));
        changed.sort();
        for (id, (place, _)) in changed {
            let what = if policies.contains_key(id) { "changed" } else { "removed" };
            told.push(format!("the policy {id} was {what} after the run of event {place}"));
        }
    }
    for (name, what) in unlinked::odd_triggers(read).await? {
        told.push(format!("the trigger {} of the ledger was {what}", excerpt::quoted(&name)));
    }
    told.into_iter().for_each(|what| walk.tell(Problem { place: None, what }));
    Ok(())
}

/// Tells of decisions that do not stand where their events leave them.
async fn check_decisions(read: &mut Connection, walk: &mut Walk) -> Result<()> {
    let mut problems = Vec::new();
    let see = |decision: Standing| {
        let Some(told) = walk.decisions.get(&decision.id) else { return };
        let name = &decision.display_id;
        if told.status.to_uppercase() != decision.status {
            let stands = decision.status.to_lowercase();
            // Lists that go by the stored spelling would miss it.
            let spelled = if stands == told.status { " in another spelling" } else { "" };
            problems.push(format!(
                "{name} stands at {stands}{spelled}, but its events leave it at {}",
                told.status
            ));
        }
        let results = u64::try_from(decision.results).unwrap_or(0);
        if let Some(told) = told.results
            && told != results
        {
            problems
                .push(format!("{name} has {results} policy result(s), but its runs stored {told}"));
        }
    };
    unlinked::each_decision(read, see).await?;
    problems.into_iter().for_each(|what| walk.tell(Problem { place: None, what }));
    Ok(())
}

/// What keeps a walk from proving everything by this program's own events.
pub(in crate::ledger) fn unproved(walk: &Walk, waiting: i64) -> Vec<String> {
    let mut reasons = Vec::new();
    if walk.earlier_count > 0 {
        let count = walk.earlier_count;
        reasons.push(format!("{count} event(s) were there before the chain"));
    }
    if walk.foreign_count > 0 {
        let count = walk.foreign_count;
        reasons.push(format!("{count} event(s) were written by another program"));
    }
    if waiting > 0 {
        reasons.push(format!("{waiting} event(s) wait to be taken in"));
    }
    reasons
}

pub(in crate::ledger) fn verified(
    walk: Walk,
    waiting: i64,
    unproved: Vec<String>,
    looked_for: bool,
) -> Verified {
    Verified {
        head: Head { place: walk.place, hash: walk.head, waiting },
        problems: walk.problems,
        problem_count: walk.problem_count,
        foreign: walk.foreign,
        foreign_count: walk.foreign_count,
        unproved,
        ahead: Vec::new(),
        kept: looked_for.then_some(walk.found),
    }
}

pub(in crate::ledger) fn read_head(text: &str) -> Result<String> {
    let text = text.trim().to_ascii_lowercase();
    if text.len() == GENESIS.len() && text.chars().all(|c| c.is_ascii_hexdigit()) {
        return Ok(text);
    }
    Err(Error::invalid(format!(
        "\"{text}\" is no head of a chain: it has 64 hex digits, as `govforge audit head` prints \
         them."
    )))
}
