//! What SQLite's result codes mean to the caller.

use std::path::Path;

use crate::error::{Code, Error, in_words};
use crate::store::engine::LOCK_PATIENCE;

const DISK_FULL: &str = "the disk is full; nothing was recorded: free some space, then try again";

pub(super) fn busy(path: &Path) -> Error {
    Error::refused_by_audience(Code::LedgerBusy, |to| {
        format!(
            "Another process has been writing to the ledger {} for {} seconds. Nothing of this \
             {} was recorded; {} it again.",
            path.display(),
            LOCK_PATIENCE.as_secs(),
            to.pick("call", "command"),
            to.pick("send", "run")
        )
    })
}

pub(super) fn moved(path: &Path) -> Error {
    Error::refused_by_audience(Code::LedgerBusy, |to| {
        let call = to.pick("call", "command");
        format!(
            "The ledger {} was removed or replaced during this {call}, so the {call} may not be \
             in it. {} it again.",
            path.display(),
            to.pick("Send", "Run")
        )
    })
}

pub(super) fn log_moved(path: &Path) -> Error {
    Error::refused_by_audience(Code::LedgerBusy, |to| {
        let call = to.pick("call", "command");
        format!(
            "The log of the ledger {} (the files beside it that begin with its name) was removed \
             during this {call} while another program went on with a new one, so the {call} may \
             not be in it. {} it again, and leave these files to govforge.",
            path.display(),
            to.pick("Send", "Run")
        )
    })
}

/// Whether the ledger is there cannot be known.
pub(super) fn unseen(path: &Path, error: std::io::Error) -> Error {
    tracing::error!(path = %path.display(), %error, "cannot look at it");
    Error::refused(
        Code::UnusableLedger,
        format!(
            "Whether the ledger {} exists cannot be seen ({}). Give yourself the permission to \
             enter its directory, or set GOVFORGE_DB to another file.",
            path.display(),
            error.kind()
        ),
    )
}

/// The ledger, or the directory for it, cannot be made.
pub(super) fn io_error(path: &Path, error: std::io::Error) -> Error {
    tracing::error!(path = %path.display(), %error, "cannot make it");
    if error.kind() == std::io::ErrorKind::StorageFull {
        return Error::fault(DISK_FULL, error);
    }
    Error::refused(
        Code::UnusableLedger,
        format!(
            "{} cannot be made for the ledger ({}). Make its directory writable, or set \
             GOVFORGE_DB to a file in a directory you may write to.",
            path.display(),
            in_words(&error)
        ),
    )
}

pub(super) fn is_busy(error: &sqlx::Error) -> bool {
    matches!(primary_code(error), Some(5 | 6))
}

pub(super) fn is_read_only(error: &sqlx::Error) -> bool {
    primary_code(error) == Some(8)
}

/// `SQLITE_IOERR_SHMOPEN`, `_SHMLOCK` and `_SHMMAP`: the index of the log cannot be mapped.
const SHARED_MEMORY: [u32; 3] = [4618, 5130, 5386];

/// `SQLITE_IOERR_SHMSIZE`: there is no room for the index.
const NO_ROOM_FOR_INDEX: u32 = 4874;

/// SQLite's extended result code. <https://www.sqlite.org/rescode.html>
fn code(error: &sqlx::Error) -> Option<u32> {
    error.as_database_error()?.code()?.parse().ok()
}

/// The result code without the extension in the upper bits.
fn primary_code(error: &sqlx::Error) -> Option<u32> {
    code(error).map(|code| code & 0xff)
}

/// What an SQL error means to the caller.
pub(super) fn sql_error(path: &Path, error: sqlx::Error) -> Error {
    let ledger = path.display();
    let refused = |message: String| Error::refused(Code::UnusableLedger, message);
    match &error {
        sqlx::Error::PoolTimedOut => return busy(path),
        // The file was let go of between this call's first look and its first statement.
        sqlx::Error::PoolClosed => return moved(path),
        _ => {}
    }
    let extended = code(&error);
    if extended == Some(NO_ROOM_FOR_INDEX) {
        return Error::fault(DISK_FULL, error);
    }
    if extended.is_some_and(|code| SHARED_MEMORY.contains(&code)) {
        return refused(format!(
            "The ledger {ledger} lies on a file system without the shared memory that lets \
             several programs use it at once. Set GOVFORGE_DB to a file on a local disk."
        ));
    }
    match primary_code(&error) {
        Some(5 | 6) => busy(path),
        Some(3 | 23) => refused(format!(
            "You may not read or write the ledger {ledger}. Give yourself the permission, or set \
             GOVFORGE_DB to another file."
        )),
        Some(8) => refused(format!(
            "The ledger {ledger} is read-only, so nothing was recorded; also to read it, SQLite \
             writes beside it. Make the file, those beside it that begin with its name, and the \
             directory writable, copy it to where you may write, or set GOVFORGE_DB to another file."
        )),
        Some(14) => refused(format!(
            "The ledger {ledger} cannot be opened. Check that its directory exists and that you \
             may write there, or set GOVFORGE_DB to another file."
        )),
        Some(26) => refused(format!(
            "{ledger} is not a ledger: it is no SQLite file. Set GOVFORGE_DB to another file."
        )),
        Some(11) => Error::fault(
            format!(
                "the ledger {ledger} is damaged: put a backup in its place, or move it away, and \
                 the next write makes a new one"
            ),
            error,
        ),
        Some(13) => Error::fault(DISK_FULL, error),
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
