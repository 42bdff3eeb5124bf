//! Reading a file that a repository brings along: whatever stands at the path, the read ends,
//! soon and within bounds.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// The largest file of settings that is read, in bytes.
pub const MAX_BYTES: u64 = 1024 * 1024;

/// Whether anything is at `path`, be it a link to nothing: what is there was put there to be
/// read, and to take it for absent would pass over it.
pub fn is_there(path: &Path) -> bool {
    // A directory that may not be searched could hold one, so only a plain "no" counts.
    !matches!(fs::symlink_metadata(path), Err(error) if is_absence(&error))
}

/// The content of a regular file: at most [`MAX_BYTES`] and one more, by which the caller sees
/// that there is more. `None` if nothing is at `path`.
///
/// # Errors
///
/// The rest of a sentence that begins with the file: for a link to nothing, a directory, a
/// device or a pipe (which would never end), and a file that may not be read.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    if !is_there(path) {
        return Ok(None);
    }
    let unreadable = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => "is a link to a file that does not exist.".to_owned(),
        kind => format!("cannot be read ({kind})."),
    };
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err("is no regular file.".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(Some(bytes))
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_none_and_a_huge_one_is_cut() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("config.toml");
        assert_eq!(read(&file), Ok(None));
        fs::write(&file, vec![b'#'; 2 * MAX_BYTES as usize]).unwrap();
        assert_eq!(read(&file).unwrap().unwrap().len() as u64, MAX_BYTES + 1);
        assert_eq!(read(&file.join("below a file")), Ok(None));
        assert_eq!(read(directory.path()), Err("is no regular file.".to_owned()));
    }

    #[cfg(unix)]
    #[test]
    fn links_to_nothing_and_to_devices_are_neither_read_nor_taken_for_absent() {
        let directory = tempfile::tempdir().unwrap();
        for (target, reason) in [
            ("/dev/zero", "is no regular file."),
            ("nothing", "is a link to a file that does not exist."),
        ] {
            let link = directory.path().join(format!("to {}", target.replace('/', "-")));
            std::os::unix::fs::symlink(target, &link).unwrap();
            assert!(is_there(&link));
            assert_eq!(read(&link), Err(reason.to_owned()));
        }
    }
}
