//! The links of the chain with what they stand for now, read a page at a time.

use strum::IntoEnumIterator as _;

use super::company;
use crate::domain::chain::company::COMPANY_FORM;
use crate::domain::chain::tables::{
    APPROVALS, DECISIONS, DISAGREEMENTS, EARLIER_DISAGREEMENTS, EARLIER_TASKS, EVENT_COLUMNS,
    FINDINGS, FORM, GIT_CHANGES, POLICY_RESULT_RUNS, POLICY_RESULTS, PROJECTS, REVIEWS, RecordKind,
    TASKS, Table,
};
use crate::domain::chain::{Cell, Link, Row, table};
use crate::error::{Fault, Result};
use crate::store::engine::{Connection, composed};
use crate::store::row;

/// How many links a page holds.
pub const PAGE: i64 = 1_000;

/// The columns of a link, in the order in which [`Page::links`] reads them.
const LINK_COLUMNS: [&str; 12] = [
    "place",
    "form",
    "event_id",
    "event_digest",
    "actor",
    "record_kind",
    "record_id",
    "record_digest",
    "origin",
    "token",
    "policies",
    "hash",
];

/// What is told of the agent who acted.
pub(super) const ACTOR_COLUMNS: [&str; 2] = ["type", "name"];

/// Links as SQLite gave them, each with its event and the rows it vouches for.
#[derive(Debug, Default)]
pub struct Page {
    links: Vec<row::Row>,
    /// What stands behind those among them that are about companies, in their order.
    companies: Vec<row::Row>,
}

impl Page {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The links in order.
    pub fn links(&self) -> impl Iterator<Item = Result<Link<'_>>> {
        let mut companies = self.companies.iter().peekable();
        self.links.iter().map(move |row| {
            let mut cells = Cells::of(row, 0)?;
            let (place, mut link) = cells.link()?;
            link.place = number(place)?;
            link.rows = cells.rows(if link.form == 1 { 1 } else { FORM })?;
            if link.form == COMPANY_FORM {
                company::complete(&mut link, &mut companies)?;
            }
            Ok(link)
        })
    }
}

/// The columns of a link `c`, who acted as `a`, and the event `e`, as [`Cells::link`] takes them.
pub(super) fn link_columns() -> Vec<String> {
    let mut all = columns("c", &LINK_COLUMNS);
    all.extend(columns("a", &ACTOR_COLUMNS));
    all.extend(columns("e", &EVENT_COLUMNS));
    all
}

/// The agent as a link has it.
pub(super) fn actor_of([kind, name]: [Cell<'_>; ACTOR_COLUMNS.len()]) -> Cell<'static> {
    Some(format!("{} {}", kind?, name?).into())
}

pub(super) fn number(cell: Cell<'_>) -> Result<i64> {
    let number = cell.and_then(|text| text.parse().ok());
    number.ok_or_else(|| Fault::new("the ledger holds a link without a number").into())
}

/// The links after a place and up to another, in order: the first [`PAGE`] of them.
///
/// A link and all that it stands for come as one column of one row. Each row goes from SQLite's
/// thread to the caller's, and each of its columns is copied on the way: with a row for each
/// record, and a column for each value, that took longer than all the rest of a walk.
pub async fn between(connection: &mut Connection, after: i64, to: i64) -> Result<Page> {
    let record = |form: i64| {
        let whens = RecordKind::iter()
            .map(|kind| format!("WHEN '{}' THEN {} ", kind.name(), rows_of(kind, form)));
        format!("CASE c.record_kind {}END", whens.collect::<String>())
    };
    let sql = format!(
        "SELECT CONCAT({}, CASE c.form WHEN 1 THEN {} ELSE {} END) FROM event_chain c \
         LEFT JOIN events e ON e.id = c.event_id LEFT JOIN agents a ON a.id = e.actor_agent_id \
         WHERE c.place > $1 AND c.place <= $2 ORDER BY c.place LIMIT {PAGE}",
        packed(&link_columns()),
        record(1),
        record(FORM),
    );
    let links = composed(sql).bind(after).bind(to).fetch_all(connection).await?;
    let last = links.last().map(|row| number(Cells::of(row, 0)?.next()?)).transpose()?;
    let companies = match last {
        Some(last) => company::between(connection, after, last).await?,
        None => Vec::new(),
    };
    Ok(Page { links, companies })
}

/// An expression for the packed rows that a link of that form vouches for; null if there are
/// none. It speaks of the link as `c`, and in the first form of its event as `e`.
pub(super) fn rows_of(kind: RecordKind, form: i64) -> String {
    let one = |table: &'static Table| {
        let row = packed_row("t", table);
        format!("(SELECT {row} FROM {} t WHERE t.id = c.record_id)", table.name)
    };
    let with_project = |table: &'static Table| {
        format!(
            "(SELECT {} || {} FROM {} t LEFT JOIN projects p ON p.id = t.project_id \
             WHERE t.id = c.record_id)",
            packed_row("t", table),
            packed_row("p", &PROJECTS),
            table.name
        )
    };
    let result = packed_row("t", &POLICY_RESULTS);
    let run = packed_row("l", &POLICY_RESULT_RUNS);
    match (kind, form) {
        (RecordKind::Task, 1) => one(&EARLIER_TASKS),
        (RecordKind::Task, _) => with_project(&TASKS),
        (RecordKind::Decision, 1) => one(&DECISIONS),
        (RecordKind::Decision, _) => with_project(&DECISIONS),
        (RecordKind::GitChange, _) => one(&GIT_CHANGES),
        (RecordKind::Review, _) => {
            let from = "findings t WHERE t.review_id = c.record_id";
            let findings = several(packed_row("t", &FINDINGS), from, "t.id");
            format!("NULLIF(CONCAT({}, {findings}), '')", one(&REVIEWS))
        }
        (RecordKind::PolicyRun, 1) => {
            let of_run = "policy_results t WHERE t.decision_id = e.entity_id \
                          AND t.created_at = e.created_at";
            let links = "policy_result_runs l WHERE l.event_id = c.event_id";
            let results = several(result, of_run, "t.id");
            let runs = several(run, links, "l.policy_result_id");
            format!("NULLIF(CONCAT({results}, {runs}), '')")
        }
        (RecordKind::PolicyRun, _) => {
            let rows = format!("{result} || {run}");
            let own = "policy_result_runs l JOIN policy_results t ON t.id = l.policy_result_id \
                       WHERE l.event_id = c.event_id";
            let foreign = "foreign_policy_results f \
                           JOIN policy_results t ON t.id = f.policy_result_id \
                           LEFT JOIN policy_result_runs l ON l.policy_result_id = t.id \
                           WHERE f.event_id = c.event_id";
            let own = several(rows.clone(), own, "t.id");
            let foreign = several(rows, foreign, "t.id");
            format!("CASE c.origin WHEN 'govforge' THEN {own} ELSE {foreign} END")
        }
        (RecordKind::Disagreement, 1) => one(&EARLIER_DISAGREEMENTS),
        (RecordKind::Disagreement, _) => one(&DISAGREEMENTS),
        (RecordKind::Approval, _) => one(&APPROVALS),
    }
}

/// An expression for several rows, one after the other.
pub(super) fn several(rows: String, from: &str, key: &str) -> String {
    format!("(SELECT GROUP_CONCAT({rows}, '' ORDER BY {key}) FROM {from})")
}

/// A row as [`packed`] has it, behind the name of its table.
pub(super) fn packed_row(alias: &str, table: &Table) -> String {
    let mut all = vec![format!("'{}'", table.name)];
    all.extend(columns(alias, table.columns));
    packed(&all)
}

/// Columns as one: each value as text behind its length in bytes and a colon, null without a
/// length. A blob, which no honest value is, has a `b` before the colon; blobs are what comes
/// after any number or text.
pub(super) fn packed(columns: &[String]) -> String {
    let cell =
        |column| format!("OCTET_LENGTH({column}), IIF({column} >= X'', 'b:', ':'), {column}");
    let cells: Vec<String> = columns.iter().map(cell).collect();
    format!("CONCAT({})", cells.join(", "))
}

pub(super) fn columns(alias: &str, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("{alias}.{name}")).collect()
}

/// What begins a cell whose bytes are no text: their hex digits follow, so that no two give the
/// same cell.
const NO_TEXT: &str = "\u{FFFD}x";

/// Whether a cell was read from bytes that are no text.
pub(super) fn is_damaged(cell: &str) -> bool {
    cell.starts_with(NO_TEXT)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(NO_TEXT.to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

/// What is left of a text that [`packed`] made.
pub(super) struct Cells<'a>(&'a [u8]);

impl<'a> Cells<'a> {
    /// What stands in a column, by its index; a null is an empty text.
    pub(super) fn of(row: &'a row::Row, index: usize) -> Result<Self> {
        Ok(Self(row.bytes(index)?.unwrap_or_default()))
    }

    /// The next values.
    pub(super) fn take<const COUNT: usize>(&mut self) -> Result<[Cell<'a>; COUNT]> {
        let mut cells = [const { None }; COUNT];
        for cell in &mut cells {
            *cell = self.next()?;
        }
        Ok(cells)
    }

    /// The next columns of a link, as [`link_columns`] has them: its place, and the rest without
    /// its rows.
    pub(super) fn link(&mut self) -> Result<(Cell<'a>, Link<'a>)> {
        let [
            place,
            form,
            event_id,
            event_digest,
            actor,
            record_kind,
            record_id,
            record_digest,
            origin,
            token,
            policies,
            hash,
        ] = self.take()?;
        let actor_now = actor_of(self.take()?);
        let event: [_; EVENT_COLUMNS.len()] = self.take()?;
        let link = Link {
            place: 0,
            // One that is none, or of no version, does not fit the link's hash: that is told.
            form: number(form).unwrap_or(0),
            event_id: event_id.unwrap_or_default(),
            event_digest: event_digest.unwrap_or_default(),
            actor,
            record_kind,
            record_id,
            record_digest,
            origin: origin.unwrap_or_default(),
            token,
            policies,
            hash: hash.unwrap_or_default(),
            event: event[0].is_some().then(|| event.into()),
            actor_now,
            rows: Vec::new(),
        };
        Ok((place, link))
    }

    /// All rows that are left, as [`rows_of`] has them.
    pub(super) fn rows(&mut self, form: i64) -> Result<Vec<Row<'a>>> {
        let mut rows = Vec::new();
        while !self.0.is_empty() {
            let table = self.next()?.and_then(|name| table(&name, form));
            let table = table.ok_or_else(unreadable)?;
            let mut cells = Vec::with_capacity(table.columns.len());
            for _ in table.columns {
                cells.push(self.next()?);
            }
            rows.push(Row { table, cells });
        }
        Ok(rows)
    }

    fn next(&mut self) -> Result<Cell<'a>> {
        let colon = self.0.iter().position(|byte| *byte == b':').ok_or_else(unreadable)?;
        let (length, rest) = (&self.0[..colon], &self.0[colon + 1..]);
        if length.is_empty() {
            self.0 = rest;
            return Ok(None);
        }
        let (length, is_blob) = match length.strip_suffix(b"b") {
            Some(length) => (length, true),
            None => (length, false),
        };
        let length = std::str::from_utf8(length).ok().and_then(|digits| digits.parse().ok());
        let split = length.and_then(|length| rest.split_at_checked(length));
        let (text, rest) = split.ok_or_else(unreadable)?;
        self.0 = rest;
        Ok(Some(match std::str::from_utf8(text) {
            Ok(text) if !is_blob => text.into(),
            _ => hex(text).into(),
        }))
    }
}

/// The only column of each row, which is one packed value that is never null.
pub(super) fn texts(rows: &[row::Row]) -> Result<Vec<String>> {
    let text = |row: &row::Row| {
        let [text] = Cells::of(row, 0)?.take()?;
        Ok(text.unwrap_or_default().into_owned())
    };
    rows.iter().map(text).collect()
}

fn unreadable() -> crate::error::Error {
    Fault::new("the ledger gave a row that cannot be read").into()
}
