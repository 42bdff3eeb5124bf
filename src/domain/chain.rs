//! The chain over the events: what is hashed, and what a walk along it finds.
//!
//! Each link has three digests, all SHA-256 in hex: of the event's own columns, of the rows
//! that the event vouches for, and the link's hash over both, its place, and the hash before.
//! Columns are hashed as the ledger stores them, each with its length, so that no two
//! contents give the same bytes.

pub mod company;
pub mod order;
pub mod tables;
pub mod walk;

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use self::company::{COMPANY_EVENT_COLUMNS, COMPANY_FORM};
use self::tables::{EVENT_COLUMNS, Table};

/// The hash before the first link.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The highest place that a link is looked for at. Nobody came to one above it by adding links:
/// it was put there, and the chain goes on below it.
pub const HIGHEST: i64 = 1 << 53;

/// The origin of an event that this program wrote.
pub const OWN: &str = "govforge";
/// The origin of an event that was there before the chain.
pub const EARLIER: &str = "earlier";
/// The origin of an event that another program wrote beside the chain.
pub const OTHER: &str = "other";

/// Who wrote an event, as far as the chain tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrittenBy {
    /// This program.
    Own,
    /// Another one; or whatever there was before the chain.
    AnotherProgram,
    /// Nobody knows: it is neither in the chain nor waits to be taken in.
    PastTheChain,
}

impl WrittenBy {
    /// From the origin that an event's link has, and whether an event without one waits to be
    /// taken in.
    pub fn of(origin: Option<&str>, waits: bool) -> Self {
        match origin {
            Some(OWN) => Self::Own,
            None if !waits => Self::PastTheChain,
            _ => Self::AnotherProgram,
        }
    }

    /// Why not to rely on the event, in words that stand behind it; `None` for this program's.
    pub fn doubt(self) -> Option<&'static str> {
        match self {
            Self::Own => None,
            Self::AnotherProgram => Some(BY_ANOTHER_PROGRAM),
            Self::PastTheChain => Some("added past the chain"),
        }
    }
}

/// What stands behind everything that another program wrote.
pub const BY_ANOTHER_PROGRAM: &str = "written by another program";

/// A stored value: text, or an integer as its digits; `None` is null. A walk borrows it from
/// what the ledger gave: a copy of each would cost more than hashing them.
pub type Cell<'a> = Option<Cow<'a, str>>;

/// A row that an event vouches for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<'a> {
    pub table: &'static Table,
    /// As many as the table has columns.
    pub cells: Vec<Cell<'a>>,
}

impl Row<'_> {
    /// A cell by its column.
    pub fn cell(&self, column: &str) -> Option<&str> {
        let index = self.table.columns.iter().position(|name| *name == column)?;
        self.cells.get(index)?.as_deref()
    }
}

/// The columns of the events that links of a form stand for, in the order in which they are
/// hashed.
pub fn event_columns(form: i64) -> &'static [&'static str] {
    match form {
        COMPANY_FORM => &COMPANY_EVENT_COLUMNS,
        _ => &EVENT_COLUMNS,
    }
}

/// The table of that name as links of a form hash it.
pub fn table(name: &str, form: i64) -> Option<&'static Table> {
    match form {
        COMPANY_FORM => company::find(name),
        form => Table::find(name, form),
    }
}

/// A link of the chain with what it stands for now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link<'a> {
    /// From 1 on, without a gap.
    pub place: i64,
    /// What it vouches for: [`tables::FORM`], or that of an earlier version.
    pub form: i64,
    pub event_id: Cow<'a, str>,
    pub event_digest: Cow<'a, str>,
    /// Type and name of who acted, as taken in.
    pub actor: Cell<'a>,
    pub record_kind: Cell<'a>,
    pub record_id: Cell<'a>,
    pub record_digest: Cell<'a>,
    /// [`OWN`], or what is known of the program that wrote the event.
    pub origin: Cow<'a, str>,
    /// The label of the token under which it was written.
    pub token: Cell<'a>,
    /// The policies that a run judged by, each as its id, a colon and the digest of its row,
    /// parted by blanks.
    pub policies: Cell<'a>,
    pub hash: Cow<'a, str>,
    /// The event as it is now, in the order of [`event_columns`]; `None` if it is gone.
    pub event: Option<Vec<Cell<'a>>>,
    /// Type and name of who acted, as the ledger has them now.
    pub actor_now: Cell<'a>,
    /// The rows that the event vouches for, as they are now.
    pub rows: Vec<Row<'a>>,
}

impl Link<'_> {
    /// The hash that follows from the link's content and the hash before.
    pub fn expected_hash(&self, before: &str) -> String {
        let mut bytes = Bytes::default();
        bytes.add(Some(&format!("govforge event chain {}", self.form)));
        bytes.add(Some(before));
        bytes.add(Some(&self.place.to_string()));
        bytes.add(Some(&self.event_id));
        bytes.add(Some(&self.event_digest));
        bytes.add(Some(&self.origin));
        for cell in
            [&self.actor, &self.record_kind, &self.record_id, &self.record_digest, &self.token]
        {
            bytes.add(cell.as_deref());
        }
        if self.form > 1 {
            bytes.add(self.policies.as_deref());
        }
        bytes.digest()
    }

    /// Whether it follows from the link with the hash `before`, and its event and who acted are
    /// as they were when it was made.
    pub fn is_linked(&self, before: &str) -> bool {
        self.expected_hash(before) == self.hash
            && self.event.as_deref().is_some_and(|event| digest(event) == self.event_digest)
            && self.actor == self.actor_now
    }

    /// Whether the rows that it vouches for are as they were when it was made.
    pub fn vouches_for_rows(&self) -> bool {
        record_digest(&self.rows).as_deref() == self.record_digest.as_deref()
    }

    /// What a person calls the event.
    fn name(&self) -> String {
        let event_type = self.event.as_deref().and_then(|event| event_cell(event, "event_type"));
        let event_type = event_type.unwrap_or("event");
        format!("{event_type} ({})", self.event_id)
    }

    /// What a person calls the record.
    fn record_name(&self) -> String {
        let kind = self.record_kind.as_deref().unwrap_or("record");
        let (of, kind) = match kind.strip_prefix("aoa_") {
            Some(kind) => ("the company's", kind),
            None => ("the", kind),
        };
        let kind = kind.replace('_', " ");
        let row = self.rows.first();
        let shown = row.and_then(|row| row.cell("display_id").or(row.cell("identifier")));
        match shown.or(self.record_id.as_deref()) {
            Some(id) => format!("{of} {kind} {id}"),
            None => format!("{of} {kind}"),
        }
    }
}

/// A cell of an event by its column.
pub fn event_cell<'a>(event: &'a [Cell<'_>], column: &str) -> Option<&'a str> {
    let index = EVENT_COLUMNS.iter().position(|name| *name == column)?;
    event.get(index)?.as_deref()
}

/// The digest of the columns of one row, such as an event's.
pub fn digest(cells: &[Cell<'_>]) -> String {
    let mut bytes = Bytes::default();
    cells.iter().for_each(|cell| bytes.add(cell.as_deref()));
    bytes.digest()
}

/// The digest of the rows that an event vouches for; `None` if there are none.
pub fn record_digest(rows: &[Row<'_>]) -> Option<String> {
    if rows.is_empty() {
        return None;
    }
    let mut bytes = Bytes::default();
    for row in rows {
        bytes.add(Some(row.table.name));
        row.cells.iter().for_each(|cell| bytes.add(cell.as_deref()));
    }
    Some(bytes.digest())
}

/// What is hashed, collected first: the hash is quicker over many bytes at once.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn add(&mut self, cell: Option<&str>) {
        match cell {
            None => self.0.push(0),
            Some(text) => {
                self.0.push(1);
                self.0.extend((text.len() as u64).to_be_bytes());
                self.0.extend(text.as_bytes());
            }
        }
    }

    fn digest(self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = String::with_capacity(64);
        for byte in Sha256::digest(self.0) {
            text.push(char::from(DIGITS[usize::from(byte >> 4)]));
            text.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_contents_give_the_same_bytes() {
        let text = |text: &'static str| Some(Cow::Borrowed(text));
        let digests = [
            digest(&[text("ab"), text("c")]),
            digest(&[text("a"), text("bc")]),
            digest(&[text("abc"), None]),
            digest(&[None, text("abc")]),
            digest(&[text(""), text("abc")]),
        ];
        let distinct: std::collections::HashSet<_> = digests.iter().collect();
        assert_eq!(distinct.len(), digests.len());
    }
}
