//! How the ledger's text becomes typed values, and what is said when a column holds none.

use serde_json::Value as Json;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use crate::domain::chain::order::Recorded;
use crate::domain::time::Timestamp;
use crate::domain::value::Value;
use crate::error::{Error, Fault, Result};

/// An id as the ledger writes it: 32 hex digits.
pub fn id(id: Uuid) -> String {
    id.simple().to_string()
}

/// Typed reading of a row's columns, by name. Every method faults on a value that is none
/// of the type, naming the column.
pub trait Columns {
    /// Text that is never null.
    fn text(&self, column: &str) -> Result<String>;
    /// Text that may be null.
    fn optional_text(&self, column: &str) -> Result<Option<String>>;
    /// An integer that is never null.
    fn integer(&self, column: &str) -> Result<i64>;
    /// An integer that may be null.
    fn optional_integer(&self, column: &str) -> Result<Option<i64>>;

    /// 0 or 1.
    fn boolean(&self, column: &str) -> Result<bool> {
        self.integer(column).map(|number| number != 0)
    }

    /// A UUID with or without dashes.
    fn uuid(&self, column: &str) -> Result<Uuid> {
        let text = self.text(column)?;
        Uuid::try_parse(&text).map_err(|_error| damaged(column, "is no UUID"))
    }

    /// A UUID that may be null.
    fn optional_uuid(&self, column: &str) -> Result<Option<Uuid>> {
        self.optional_text(column)?
            .map(|text| Uuid::try_parse(&text).map_err(|_error| damaged(column, "is no UUID")))
            .transpose()
    }

    /// A timestamp.
    fn time(&self, column: &str) -> Result<Timestamp> {
        Timestamp::read(&self.text(column)?).ok_or_else(|| damaged(column, "is no timestamp"))
    }

    /// A timestamp that may be null.
    fn optional_time(&self, column: &str) -> Result<Option<Timestamp>> {
        self.optional_text(column)?.map(|_| self.time(column)).transpose()
    }

    /// When the row was recorded, as against others: its `rank`.
    fn recorded(&self) -> Result<Recorded> {
        self.optional_integer("rank").map(Recorded::new)
    }

    /// One of a closed set of values, by its name.
    fn value<V: Value>(&self, column: &str) -> Result<V> {
        V::read(&self.text(column)?).ok_or_else(|| damaged(column, "is none of the known values"))
    }

    /// JSON; SQL's null and JSON's null, which SQLAlchemy writes for `None`, are both `None`.
    fn json(&self, column: &str) -> Result<Option<Json>> {
        let Some(text) = self.optional_text(column)? else { return Ok(None) };
        match serde_json::from_str(&text) {
            Ok(Json::Null) => Ok(None),
            Ok(json) => Ok(Some(json)),
            Err(_error) => Err(damaged(column, "is no JSON")),
        }
    }
}

/// A row as the engine gave it.
#[derive(Debug)]
pub struct Row(Given);

#[derive(Debug)]
enum Given {
    Sqlite(SqliteRow),
}

impl Row {
    /// The bytes of a column by its index from 0, whatever they are: an engine may keep, in a
    /// column for text, what is none.
    pub fn bytes(&self, index: usize) -> Result<Option<&[u8]>> {
        match &self.0 {
            Given::Sqlite(row) => Ok(row.try_get_unchecked(index)?),
        }
    }
}

impl From<SqliteRow> for Row {
    fn from(row: SqliteRow) -> Self {
        Self(Given::Sqlite(row))
    }
}

impl Columns for Row {
    fn text(&self, column: &str) -> Result<String> {
        match &self.0 {
            Given::Sqlite(row) => Ok(row.try_get(column)?),
        }
    }

    fn optional_text(&self, column: &str) -> Result<Option<String>> {
        match &self.0 {
            Given::Sqlite(row) => Ok(row.try_get(column)?),
        }
    }

    fn integer(&self, column: &str) -> Result<i64> {
        match &self.0 {
            Given::Sqlite(row) => Ok(row.try_get(column)?),
        }
    }

    fn optional_integer(&self, column: &str) -> Result<Option<i64>> {
        match &self.0 {
            Given::Sqlite(row) => Ok(row.try_get(column)?),
        }
    }
}

/// Every row of a list, by its own conversion.
pub fn each<T>(rows: &[Row]) -> Result<Vec<T>>
where
    T: for<'r> TryFrom<&'r Row, Error = Error>,
{
    rows.iter().map(T::try_from).collect()
}

/// The one row, where there are not several.
pub fn only<'r, T: TryFrom<&'r Row, Error = Error>>(rows: &'r [Row]) -> Result<Option<T>> {
    match rows {
        [row] => T::try_from(row).map(Some),
        _ => Ok(None),
    }
}

/// The rows of a list, without those that cannot be read: one damaged row must not take the
/// others with it. Each is told in the log.
pub fn readable<T>(rows: &[Row], read: impl Fn(&Row) -> Result<T>) -> Vec<T> {
    let read = |row| read(row).inspect_err(|error| tracing::error!(%error, "left out of a list"));
    rows.iter().filter_map(|row| read(row).ok()).collect()
}

fn damaged(column: &str, what: &str) -> Error {
    Fault::new(format!("the ledger holds a damaged record: its `{column}` {what}")).into()
}
