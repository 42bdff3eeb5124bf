//! Proving the record: the walk along the chain, its head, and the export that carries both.

use std::io::{BufRead, Write};

use serde_json::{Map, Value as Json, json};

use super::Service;
use crate::domain::chain::{EVENT_COLUMNS, GENESIS, Link, Problem, Row, TABLES, Walk};
use crate::domain::excerpt;
use crate::error::{Error, Result};
use crate::store;

/// How many problems are told one by one.
const TOLD: usize = 100;

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
    /// The events that another program wrote, each by its place.
    pub foreign: Vec<(i64, String)>,
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
        let mut read = self.ledger.read().await?;
        let (place, hash) = store::chain::head(&mut read).await?;
        Ok(Head { place, hash, waiting: store::chain::waiting(&mut read).await? })
    }

    /// Walks the whole chain and every row that an event vouches for, in one consistent state
    /// of the ledger. `kept` is a head that was kept outside, 64 hex digits.
    ///
    /// # Errors
    ///
    /// Refuses a head that is none.
    pub async fn audit_verify(&self, kept: Option<&str>) -> Result<Verified> {
        let kept = kept.map(read_head).transpose()?;
        let mut read = self.ledger.read().await?;
        let mut walk = Walk::new(kept.clone());
        loop {
            let links = store::chain::links_after(&mut read, walk.place).await?;
            if links.is_empty() {
                break;
            }
            links.iter().for_each(|link| walk.step(link));
        }
        let mut problems = std::mem::take(&mut walk.problems);
        for (table, id) in store::chain::unvouched(&mut read, TOLD).await? {
            let what = match table {
                "projects" => format!("the project {id} was removed"),
                "events" => format!("the event {id} was added past the chain"),
                "resolutions" => {
                    format!("the disagreement {id} was settled: no event vouches for that")
                }
                _ => format!("the row {id} of {table} was added: no event vouches for it"),
            };
            problems.push(Problem { place: None, what });
        }
        for (name, what) in store::chain::odd_triggers(&mut read).await? {
            let what = format!("the trigger {} of the ledger was {what}", excerpt::quoted(&name));
            problems.push(Problem { place: None, what });
        }
        let mut last = String::new();
        loop {
            let decisions = store::chain::decisions_after(&mut read, &last).await?;
            let Some(end) = decisions.last() else { break };
            last.clone_from(&end.id);
            for decision in decisions {
                let Some(told) = walk.decisions.get(&decision.id) else { continue };
                let results = u64::try_from(decision.results).unwrap_or(0);
                let counted = told.results.is_none_or(|told| told == results);
                if (told.status == decision.status && counted)
                    || store::chain::is_waiting(&mut read, &decision.id).await?
                {
                    continue;
                }
                let name = &decision.display_id;
                if told.status != decision.status {
                    let what = format!(
                        "{name} stands at {}, but its events leave it at {}",
                        decision.status, told.status
                    );
                    problems.push(Problem { place: None, what });
                }
                if !counted {
                    let what = format!(
                        "{name} has {results} policy result(s), but its runs stored {}",
                        told.results.unwrap_or_default()
                    );
                    problems.push(Problem { place: None, what });
                }
            }
        }
        let waiting = store::chain::waiting(&mut read).await?;
        Ok(verified(walk, problems, waiting, kept.is_some()))
    }

    /// Writes the whole record as JSON lines: each link of the chain with its event and the
    /// rows that it vouches for, as they are stored, in the order of the chain.
    ///
    /// # Errors
    ///
    /// Faults when `out` cannot be written to.
    pub async fn export(&self, out: &mut dyn Write) -> Result<Head> {
        let mut read = self.ledger.read().await?;
        let (mut place, mut hash) = (0, GENESIS.to_owned());
        loop {
            let links = store::chain::links_after(&mut read, place).await?;
            let Some(last) = links.last() else { break };
            (place, hash) = (last.place, last.hash.clone());
            for link in &links {
                writeln!(out, "{}", line(link))
                    .map_err(|error| Error::fault("the export cannot be written", error))?;
            }
        }
        out.flush().map_err(|error| Error::fault("the export cannot be written", error))?;
        Ok(Head { place, hash, waiting: store::chain::waiting(&mut read).await? })
    }
}

/// Verifies an export without the ledger that it came from.
///
/// # Errors
///
/// Refuses a head that is none, and a file that is no export, naming the line.
pub fn verify_export(input: impl BufRead, kept: Option<&str>) -> Result<Verified> {
    let kept = kept.map(read_head).transpose()?;
    let mut walk = Walk::new(kept.clone());
    for (index, text) in input.lines().enumerate() {
        let text = text.map_err(|error| {
            Error::invalid(format!("Line {} cannot be read ({}).", index + 1, error.kind()))
        })?;
        if text.trim().is_empty() {
            continue;
        }
        let link = serde_json::from_str(&text).ok().and_then(|json: Json| read_line(&json));
        let link = link.ok_or_else(|| {
            Error::invalid(format!(
                "Line {} is no line of an export. `govforge export` writes one.",
                index + 1
            ))
        })?;
        walk.step(&link);
    }
    let problems = std::mem::take(&mut walk.problems);
    Ok(verified(walk, problems, 0, kept.is_some()))
}

fn verified(walk: Walk, mut problems: Vec<Problem>, waiting: i64, looked_for: bool) -> Verified {
    let problem_count = problems.len();
    problems.truncate(TOLD);
    Verified {
        head: Head { place: walk.place, hash: walk.head, waiting },
        problems,
        problem_count,
        foreign: walk.foreign,
        kept: looked_for.then_some(walk.found),
    }
}

fn read_head(text: &str) -> Result<String> {
    let text = text.trim().to_ascii_lowercase();
    if text.len() == GENESIS.len() && text.chars().all(|c| c.is_ascii_hexdigit()) {
        return Ok(text);
    }
    Err(Error::invalid(format!(
        "\"{text}\" is no head of a chain: it has 64 hex digits, as `govforge audit head` prints \
         them."
    )))
}

fn line(link: &Link) -> Json {
    let object = |names: &[&str], cells: &[Option<String>]| -> Json {
        names.iter().zip(cells).map(|(name, cell)| ((*name).to_owned(), json!(cell))).collect()
    };
    let rows: Vec<Json> = link
        .rows
        .iter()
        .map(|row| json!({ "table": row.table.name, "row": object(row.table.columns, &row.cells) }))
        .collect();
    json!({
        "place": link.place,
        "hash": link.hash,
        "event": link.event.as_ref().map(|cells| object(&EVENT_COLUMNS, cells)),
        "event_id": link.event_id,
        "event_digest": link.event_digest,
        "actor": link.actor,
        "actor_now": link.actor_now,
        "origin": link.origin,
        "token": link.token,
        "record_kind": link.record_kind,
        "record_id": link.record_id,
        "record_digest": link.record_digest,
        "record": rows,
    })
}

/// `None` if it is no line of an export.
fn read_line(json: &Json) -> Option<Link> {
    let text = |name: &str| json.get(name)?.as_str().map(str::to_owned);
    let cells = |names: &[&str], row: &Map<String, Json>| -> Vec<Option<String>> {
        names.iter().map(|name| row.get(*name)?.as_str().map(str::to_owned)).collect()
    };
    let mut rows = Vec::new();
    for entry in json.get("record")?.as_array()? {
        let name = entry.get("table")?.as_str()?;
        let table = TABLES.into_iter().find(|table| table.name == name)?;
        let cells = cells(table.columns, entry.get("row")?.as_object()?);
        rows.push(Row { table, cells });
    }
    Some(Link {
        place: json.get("place")?.as_i64()?,
        event_id: text("event_id")?,
        event_digest: text("event_digest")?,
        actor: text("actor"),
        record_kind: text("record_kind"),
        record_id: text("record_id"),
        record_digest: text("record_digest"),
        origin: text("origin")?,
        token: text("token"),
        hash: text("hash")?,
        event: json.get("event")?.as_object().map(|event| cells(&EVENT_COLUMNS, event)),
        actor_now: text("actor_now"),
        rows,
    })
}
