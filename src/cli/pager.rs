//! The person's pager.

use std::process::{Child, Command, Stdio};

/// Starts it; `None` if the person wants none, or there is none.
#[allow(clippy::disallowed_methods, reason = "a verb that a person types; the server never pages")]
pub fn start() -> Option<Child> {
    let named = std::env::var("PAGER").ok();
    let name = named.as_deref().map_or("less", str::trim);
    if name.is_empty() || name == "cat" {
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
    if named.is_none() && !in_path("less") {
        return None;
    }
    command.stdin(Stdio::piped()).spawn().ok()
}

fn in_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
