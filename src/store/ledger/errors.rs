//! What SQLite's result codes mean to the caller.

use std::path::Path;

use super::LOCK_PATIENCE;
use crate::error::{Code, Error};

pub(super) fn busy(path: &Path) -> Error {
    Error::refused(
        Code::LedgerBusy,
        format!(
            "Another process has been writing to the ledger {} for {} seconds. Nothing of this \
             call was recorded; send it again.",
            path.display(),
            LOCK_PATIENCE.as_secs()
        ),
    )
}

pub(super) fn is_busy(error: &sqlx::Error) -> bool {
    matches!(primary_code(error), Some(5 | 6))
}

/// SQLite's result code without the extension in the upper bits.
/// <https://www.sqlite.org/rescode.html>
fn primary_code(error: &sqlx::Error) -> Option<u32> {
    let code = error.as_database_error()?.code()?;
    code.parse::<u32>().ok().map(|code| code & 0xff)
}

/// What an SQL error means to the caller.
pub(super) fn sql_error(path: &Path, error: sqlx::Error) -> Error {
    let ledger = path.display();
    let refused = |message: String| Error::refused(Code::UnusableLedger, message);
    match primary_code(&error) {
        Some(5 | 6) => busy(path),
        Some(3 | 23) => refused(format!(
            "You may not read or write the ledger {ledger}. Give yourself the permission, or set \
             GOVFORGE_DB to another file."
        )),
        Some(8) => refused(format!(
            "The ledger {ledger} is read-only, so nothing was recorded. Make the file and its \
             directory writable, or set GOVFORGE_DB to another file."
        )),
        Some(14) => refused(format!(
            "The ledger {ledger} cannot be opened. Check that its directory exists and that you \
             may write there, or set GOVFORGE_DB to another file."
        )),
        Some(26) => refused(format!(
            "{ledger} is not a ledger: it is no SQLite file. Set GOVFORGE_DB to another file."
        )),
        Some(11) => Error::fault(format!("the ledger {ledger} is damaged"), error),
        Some(13) => Error::fault("the disk is full; nothing was recorded", error),
        Some(10) => Error::fault(format!("the ledger {ledger} cannot be read or written"), error),
        _ => Error::fault("the ledger could not carry out a statement", error),
    }
}

/// For the `?` of every statement: the path is only known where a transaction begins, and an
/// error after that names the ledger in general.
impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        sql_error(Path::new("file"), error)
    }
}
