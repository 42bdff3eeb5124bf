//! Who is calling. A surface makes its caller once, and there is no [`Service`] without one.
//!
//! [`Service`]: crate::ledger::Service

use std::path::Path;

use serde::Deserialize;

use crate::domain::secret::Secret;
use crate::error::{Code, Refusal, in_words};

/// The variable that may hold the token.
const VARIABLE: &str = "GOVFORGE_API_TOKEN";

/// The file that may hold the token, in the user's directory of settings.
const AUTH_FILE: &str = "govforge/auth.toml";

/// Whoever calls, by the token that they hold.
#[derive(Debug)]
pub struct Caller {
    pub(super) token: Result<Option<Held>, Refusal>,
}

/// A token as a caller holds it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub secret: Secret,
    /// Where it was found, for a message.
    pub place: String,
}

/// `auth.toml`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Auth {
    token: Option<String>,
}

impl Caller {
    /// Whoever started this process: with the token in `GOVFORGE_API_TOKEN`, else with `token` in
    /// `govforge/auth.toml` below `XDG_CONFIG_HOME` or `~/.config`, else with none. Under a file
    /// with a mistake nothing may be done; the reason does not quote it.
    pub fn of_process(home: Option<&Path>) -> Self {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        if let Some(token) = variable(VARIABLE) {
            let secret = Secret::new(&token.to_string_lossy());
            return Self { token: Ok(Some(Held { secret, place: VARIABLE.to_owned() })) };
        }
        let settings = variable("XDG_CONFIG_HOME").map(Into::into);
        let settings = settings.or_else(|| home.map(|home| home.join(".config")));
        let token = match settings {
            Some(settings) => from_file(&settings.join(AUTH_FILE)),
            None => Ok(None),
        };
        Self { token }
    }

    /// Somebody without a token.
    #[cfg(test)]
    pub fn without_token() -> Self {
        Self { token: Ok(None) }
    }
}

fn from_file(file: &Path) -> Result<Option<Held>, Refusal> {
    let wrong = |what: &str| {
        let file = file.display();
        let message = format!("{file} {what} It may hold one key: token = \"gfp_...\".");
        Refusal::new(Code::InvalidConfig, message)
    };
    match std::fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(wrong(&format!("cannot be read ({}).", in_words(&error)))),
        Ok(text) => match toml::from_str::<Auth>(&text) {
            Ok(auth) => Ok(auth.token.map(|token| Held {
                secret: Secret::new(&token),
                place: file.display().to_string(),
            })),
            Err(error) => {
                let start = error.span().map_or(0, |span| span.start);
                let line = text[..start.min(text.len())].matches('\n').count() + 1;
                Err(wrong(&format!("has a mistake in line {line}.")))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_holds_one_key_and_is_not_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("auth.toml");
        assert_eq!(from_file(&file), Ok(None));
        std::fs::write(&file, "token = \"gfp_abc\"\n").unwrap();
        let held = from_file(&file).unwrap().unwrap();
        assert_eq!(held.secret, Secret::new("gfp_abc"));
        assert_eq!(held.place, file.display().to_string());
        std::fs::write(&file, "\ntokn = \"gfp_abc\"\n").unwrap();
        let message = from_file(&file).unwrap_err().to_string();
        assert!(message.contains("line 2") && !message.contains("gfp_abc"), "{message}");
    }
}
