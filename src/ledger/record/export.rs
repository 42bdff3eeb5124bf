//! The export: the whole record with its chain, as lines that are verified without the ledger.

use std::borrow::Cow;
use std::fmt;
use std::io::{BufRead, Write};

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::{SerializeMap as _, Serializer};
use serde::{Deserialize, Serialize};

use super::audit::{Head, Verified, read_head, unproved, verified};
use crate::domain::access::UseCase;
use crate::domain::chain::walk::Walk;
use crate::domain::chain::{Cell, GENESIS, Link, Row, event_columns, table};
use crate::error::{Code, Error, Result, in_words};
use crate::ledger::Service;
use crate::store;
use crate::store::chain::links;

impl Service {
    /// Writes the whole record as JSON lines: each link of the chain with its event and the
    /// rows that it vouches for, as they are stored, in the order of the chain.
    ///
    /// # Errors
    ///
    /// Faults when `out` cannot be written to.
    pub async fn export(&self, out: &mut dyn Write) -> Result<Head> {
        let failed = |error| Error::fault("the export cannot be written", error);
        let mut read = self.ledger.read(UseCase::Export).await?;
        let (mut place, mut hash) = (0, GENESIS.to_owned());
        loop {
            let page = links::between(&mut read, place, i64::MAX).await?;
            if page.is_empty() {
                break;
            }
            for link in page.links() {
                let link = link?;
                let line = serde_json::to_string(&Line::of(&link))
                    .map_err(|error| Error::fault("the export cannot be written", error))?;
                writeln!(out, "{line}").map_err(failed)?;
                place = link.place;
                hash = link.hash.into_owned();
            }
        }
        out.flush().map_err(failed)?;
        Ok(Head { place, hash, waiting: store::chain::waiting(&mut read).await? })
    }
}

/// Verifies an export without the ledger that it came from.
///
/// # Errors
///
/// Refuses a head that is none, and a file that is no export, naming the line: also one with a
/// key that no export has, which nothing would vouch for.
pub fn verify_export(input: impl BufRead, kept: Option<&str>) -> Result<Verified> {
    let kept = kept.map(read_head).transpose()?;
    let mut walk = Walk::new(kept.clone());
    for (index, text) in input.lines().enumerate() {
        let number = index + 1;
        let text = text.map_err(|error| {
            Error::refused(
                Code::InvalidExport,
                format!("Line {number} cannot be read ({}).", in_words(&error)),
            )
        })?;
        if text.trim().is_empty() {
            continue;
        }
        let link = serde_json::from_str::<Line<'_>>(&text).ok().and_then(Line::link);
        let link = link.ok_or_else(|| {
            Error::refused(
                Code::InvalidExport,
                format!(
                    "Line {number} is no line of an export: a key is missing, too many, there \
                     twice, or has a value of another type. `govforge export` writes an export."
                ),
            )
        })?;
        walk.step(&link);
    }
    walk.finish();
    let unproved = unproved(&walk, 0);
    Ok(verified(walk, 0, unproved, kept.is_some()))
}

/// A line of an export.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    place: i64,
    hash: Cow<'a, str>,
    event: Option<Columns<'a>>,
    event_id: Cow<'a, str>,
    event_digest: Cow<'a, str>,
    actor: Cell<'a>,
    actor_now: Cell<'a>,
    origin: Cow<'a, str>,
    token: Cell<'a>,
    record_kind: Cell<'a>,
    record_id: Cell<'a>,
    record_digest: Cell<'a>,
    record: Vec<Entry<'a>>,
    /// Exports of the first version have none.
    #[serde(default = "first_form")]
    form: i64,
    #[serde(default)]
    policies: Cell<'a>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry<'a> {
    table: Cow<'a, str>,
    row: Columns<'a>,
}

fn first_form() -> i64 {
    1
}

/// The columns of a row by their names, in order.
struct Columns<'a>(Vec<(Cow<'a, str>, Cell<'a>)>);

impl<'a> Columns<'a> {
    fn of(names: &'static [&'static str], cells: &[Cell<'a>]) -> Self {
        Self(names.iter().map(|name| Cow::from(*name)).zip(cells.iter().cloned()).collect())
    }

    /// The values, if these are the columns, each once.
    fn cells(mut self, names: &[&str]) -> Option<Vec<Cell<'a>>> {
        let mut take = |name: &&str| {
            let index = self.0.iter().position(|(known, _)| known == name)?;
            Some(self.0.remove(index).1)
        };
        let cells = names.iter().map(&mut take).collect::<Option<Vec<_>>>()?;
        self.0.is_empty().then_some(cells)
    }
}

impl<'a> Line<'a> {
    fn of(link: &Link<'a>) -> Self {
        let entry = |row: &Row<'a>| Entry {
            table: row.table.name.into(),
            row: Columns::of(row.table.columns, &row.cells),
        };
        Self {
            place: link.place,
            hash: link.hash.clone(),
            event: link.event.as_ref().map(|cells| Columns::of(event_columns(link.form), cells)),
            event_id: link.event_id.clone(),
            event_digest: link.event_digest.clone(),
            actor: link.actor.clone(),
            actor_now: link.actor_now.clone(),
            origin: link.origin.clone(),
            token: link.token.clone(),
            record_kind: link.record_kind.clone(),
            record_id: link.record_id.clone(),
            record_digest: link.record_digest.clone(),
            record: link.rows.iter().map(entry).collect(),
            form: link.form,
            policies: link.policies.clone(),
        }
    }

    /// `None` if a row has other columns than its table.
    fn link(self) -> Option<Link<'a>> {
        let rows = self.record.into_iter().map(|entry| {
            let table = table(&entry.table, self.form)?;
            Some(Row { table, cells: entry.row.cells(table.columns)? })
        });
        let event = match self.event {
            Some(event) => Some(event.cells(event_columns(self.form))?),
            None => None,
        };
        Some(Link {
            place: self.place,
            form: self.form,
            rows: rows.collect::<Option<_>>()?,
            event_id: self.event_id,
            event_digest: self.event_digest,
            actor: self.actor,
            record_kind: self.record_kind,
            record_id: self.record_id,
            record_digest: self.record_digest,
            origin: self.origin,
            token: self.token,
            policies: self.policies,
            hash: self.hash,
            event,
            actor_now: self.actor_now,
        })
    }
}

impl Serialize for Columns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, cell) in &self.0 {
            map.serialize_entry(name, cell)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Columns<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Columns<'static>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("the columns of a row")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Self::Value, A::Error> {
                let mut columns = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    // No table has as many: a line with more is not read to its end.
                    if columns.len() > 32 {
                        return Err(A::Error::custom("too many columns"));
                    }
                    columns.push((name.into(), map.next_value::<Option<String>>()?.map(Cow::from)));
                }
                Ok(Columns(columns))
            }
        }

        deserializer.deserialize_map(Pairs)
    }
}
