//! The secret of a token: given out once, and kept as its hash alone.

use std::fmt;

use crate::domain::digest;
use crate::error::{Error, Result};

/// What every secret begins with.
const MARK: &str = "gfp_";

/// How many characters of a secret find its token.
const PREFIX: usize = 8;

/// Random bytes in a secret.
const RANDOM: usize = 32;

/// A secret; it is never shown by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// A secret as somebody holds it, without the blanks around it.
    pub(super) fn read(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// A new one.
    ///
    /// # Errors
    ///
    /// Faults where the system gives no random bytes.
    pub(super) fn random() -> Result<Self> {
        let mut bytes = [0; RANDOM];
        getrandom::fill(&mut bytes)
            .map_err(|error| Error::fault("the system gives no random bytes", error))?;
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self(format!("{MARK}{digits}")))
    }

    /// The text, to be shown once.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The first characters, by which its token is found.
    pub(super) fn prefix(&self) -> String {
        self.0.chars().take(PREFIX).collect()
    }

    /// Its SHA-256, 64 hex digits.
    pub(super) fn hash(&self) -> String {
        digest::of(&self.0).trim_start_matches("sha256:").to_owned()
    }
}

/// Compares without telling by the time taken where two texts differ.
pub(super) fn same(a: &str, b: &str) -> bool {
    let differs = a.bytes().zip(b.bytes()).fold(a.len() ^ b.len(), |differs, (a, b)| {
        std::hint::black_box(differs | usize::from(a ^ b))
    });
    differs == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_compared_whole_and_never_shown() {
        assert!(same("abc", "abc"));
        assert!(!same("abc", "abd"));
        assert!(!same("abc", "ab"));
        assert_eq!(format!("{:?}", Secret("gfp_x".to_owned())), "Secret");
    }
}
