//! The person's pager.

use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Starts it; `None` if the person wants none, or there is none.
#[allow(clippy::disallowed_methods, reason = "a verb that a person types; the server never pages")]
pub fn start() -> Option<Child> {
    let named = std::env::var("PAGER").ok();
    let name = named.as_deref().map_or("less", str::trim);
    if name.is_empty() || name == "cat" || is_missing(name) {
        return None;
    }
    // As git does it: `PAGER` may hold arguments, so a shell reads it.
    let mut command = match cfg!(windows) {
        true => Command::new(name),
        false => {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", name]);
            shell
        }
    };
    if std::env::var_os("LESS").is_none() {
        // Leave at once what fits the screen, keep colours, and leave the text there.
        command.env("LESS", "FRX");
    }
    command.stdin(Stdio::piped()).spawn().ok()
}

/// Whether the command begins with a program that is not there: a shell would start, find nothing
/// to run, and the text would be lost. What only a shell understands is left to it.
fn is_missing(command: &str) -> bool {
    let Some(program) = command.split_whitespace().next() else { return true };
    let is_shell = |c: char| !c.is_alphanumeric() && !"/._+-\\:".contains(c);
    if program.contains(is_shell) {
        return false;
    }
    if program.contains('/') {
        return !Path::new(program).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let suffix = std::env::consts::EXE_SUFFIX;
    !std::env::split_paths(&path).any(|folder| {
        folder.join(program).is_file() || folder.join(format!("{program}{suffix}")).is_file()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_pager_that_is_not_installed_takes_no_text() {
        for missing in ["no-such-pager", "no-such-pager -R", "/no/such/pager", " "] {
            assert!(is_missing(missing), "{missing}");
        }
        for there in ["sh", "sh -c cat", "/bin/sh", "LESS=R less", "$HOME/pager", "\"my pager\""] {
            assert!(!is_missing(there), "{there}");
        }
    }
}
