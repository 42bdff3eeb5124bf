//! The file that a verb writes with `-o`.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::cli::{Failure, unwritable};

/// How every SQLite file begins.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// What SQLite adds to a file's name for those that it keeps beside it.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Makes the file, or empties the one that is there. Writing over a ledger, or over what SQLite
/// keeps beside it, would destroy the record, under whatever name it is reached.
///
/// # Errors
/// Refuses a ledger, and a place that cannot be written to.
pub fn create(path: &Path, ledger: &Path) -> Result<File, Failure> {
    let name = path.as_os_str().to_string_lossy();
    let whose = COMPANIONS.iter().filter_map(|end| name.strip_suffix(end)).map(Path::new);
    let refused = std::iter::once(path).chain(whose).any(|path| is_ledger(path, ledger));
    if refused {
        return Err(Failure::Refused(format!(
            "{} is a ledger, or a part of one, and would be lost. Nothing was written. Name another \
             file.",
            path.display()
        )));
    }
    File::create(path).map_err(|error| unwritable(path, &error))
}

fn is_ledger(path: &Path, ledger: &Path) -> bool {
    // A pipe would wait, and a device may never end.
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let is_same = match (path.canonicalize(), ledger.canonicalize()) {
        (Ok(path), Ok(ledger)) => path == ledger,
        _ => std::path::absolute(path).is_ok_and(|path| path == ledger),
    };
    is_same || is_file && begins_as_sqlite(path).unwrap_or(false)
}

fn begins_as_sqlite(path: &Path) -> io::Result<bool> {
    let mut begin = [0; SQLITE.len()];
    File::open(path)?.read_exact(&mut begin)?;
    Ok(begin == SQLITE)
}
