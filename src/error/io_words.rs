//! What a failed read or write is called in a message.

use std::io::{Error, ErrorKind};

/// The failure in words that say what to look at; never the system's raw text.
pub fn in_words(error: &Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file or directory".to_owned(),
        ErrorKind::AlreadyExists => "it is there already".to_owned(),
        ErrorKind::IsADirectory => "it is a directory".to_owned(),
        ErrorKind::NotADirectory => "a part of the path is no directory".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        ErrorKind::InvalidFilename => "no file can have that name".to_owned(),
        other => other.to_string(),
    }
}
