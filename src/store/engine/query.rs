//! A statement with its values, for any engine.

use std::borrow::Cow;

/// A value for a placeholder. A null has the type of what could stand in its place: there are
/// engines that want to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument<'q> {
    Text(Option<Cow<'q, str>>),
    Integer(Option<i64>),
    /// 0 or 1 in the ledger.
    Boolean(bool),
    Bytes(Option<Cow<'q, [u8]>>),
}

/// A statement, or several separated by semicolons, with the values of `$1`, `$2` and so on.
#[derive(Debug)]
#[must_use = "a statement does nothing until it is run"]
pub struct Query<'q> {
    pub(super) text: Cow<'static, str>,
    pub(super) arguments: Vec<Argument<'q>>,
}

/// A statement as it stands in the program.
pub fn query<'q>(text: &'static str) -> Query<'q> {
    Query { text: Cow::Borrowed(text), arguments: Vec::new() }
}

/// A statement that was put together, from texts of the program alone: what comes from
/// elsewhere is bound.
pub fn composed<'q>(text: String) -> Query<'q> {
    Query { text: Cow::Owned(text), arguments: Vec::new() }
}

/// `($1, $2), ($3, $4)` and so on: the placeholders for several rows of an insert.
pub fn placeholders(rows: usize, columns: usize) -> String {
    let row = |row: usize| {
        let numbers: Vec<String> =
            (1..=columns).map(|column| format!("${}", row * columns + column)).collect();
        format!("({})", numbers.join(", "))
    };
    (0..rows).map(row).collect::<Vec<_>>().join(", ")
}

impl<'q> Query<'q> {
    /// Gives the next placeholder its value.
    pub fn bind(mut self, value: impl Into<Argument<'q>>) -> Self {
        self.arguments.push(value.into());
        self
    }
}

impl<'q> From<&'q str> for Argument<'q> {
    fn from(text: &'q str) -> Self {
        Self::Text(Some(text.into()))
    }
}

impl<'q> From<&'q String> for Argument<'q> {
    fn from(text: &'q String) -> Self {
        text.as_str().into()
    }
}

impl From<String> for Argument<'_> {
    fn from(text: String) -> Self {
        Self::Text(Some(text.into()))
    }
}

impl<'q> From<Option<&'q str>> for Argument<'q> {
    fn from(text: Option<&'q str>) -> Self {
        Self::Text(text.map(Cow::from))
    }
}

impl From<Option<String>> for Argument<'_> {
    fn from(text: Option<String>) -> Self {
        Self::Text(text.map(Cow::from))
    }
}

impl<'q> From<&'q Option<String>> for Argument<'q> {
    fn from(text: &'q Option<String>) -> Self {
        text.as_deref().into()
    }
}

impl From<i64> for Argument<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(Some(number))
    }
}

impl From<u32> for Argument<'_> {
    fn from(number: u32) -> Self {
        i64::from(number).into()
    }
}

impl From<Option<i64>> for Argument<'_> {
    fn from(number: Option<i64>) -> Self {
        Self::Integer(number)
    }
}

impl From<bool> for Argument<'_> {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl<'q> From<&'q [u8]> for Argument<'q> {
    fn from(bytes: &'q [u8]) -> Self {
        Self::Bytes(Some(bytes.into()))
    }
}

impl From<Option<Vec<u8>>> for Argument<'_> {
    fn from(bytes: Option<Vec<u8>>) -> Self {
        Self::Bytes(bytes.map(Cow::from))
    }
}
