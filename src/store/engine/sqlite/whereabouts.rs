//! What a process can tell of a file that it has open, once it is no longer at its path.

use std::path::Path;

use super::identity::Identity;
use crate::domain::excerpt::shell_word;

/// What this process can tell of a file that it has open and that is no longer at `path`: a
/// sentence with a blank before it, or nothing.
#[cfg(target_os = "linux")]
pub(super) fn whereabouts(path: &Path, file: Identity) -> String {
    let Ok(open) = std::fs::read_dir("/proc/self/fd") else { return String::new() };
    let mut open = open.flatten().map(|entry| entry.path());
    let Some(descriptor) = open.find(|open| Identity::of(open) == Some(file)) else {
        return String::new();
    };
    match std::fs::read_link(&descriptor) {
        Ok(now) if Identity::of(&now) == Some(file) => {
            format!(" It lies at {} now: move it back.", now.display())
        }
        _ => format!(
            " As long as this server runs, its content can still be saved: `cp {} {}`.",
            descriptor.display().to_string().replace("self", &std::process::id().to_string()),
            shell_word(path.display())
        ),
    }
}

/// What this process can tell of a file that it has open: nothing.
#[cfg(not(target_os = "linux"))]
pub(super) fn whereabouts(_path: &Path, _file: Identity) -> String {
    String::new()
}
