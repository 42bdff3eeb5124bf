//! Secrets: shown once, and kept nowhere but as their SHA-256.

use std::fmt;

use super::digest;
use crate::error::{Error, Result};

/// How many characters of a secret find its token.
const PREFIX: usize = 8;

/// A secret; it is never shown by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A secret as somebody holds it, without the blanks around it.
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// A secret of so many random bytes, as hex digits behind a mark that tells what it opens.
    ///
    /// # Errors
    ///
    /// Faults where the system gives no random bytes.
    pub fn random(mark: &str, bytes: usize) -> Result<Self> {
        let mut random = vec![0; bytes];
        getrandom::fill(&mut random)
            .map_err(|error| Error::fault("the system gives no random bytes", error))?;
        let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self(format!("{mark}{digits}")))
    }

    /// The text, to be shown once.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The first characters, by which the original's tokens are found.
    pub fn prefix(&self) -> String {
        self.0.chars().take(PREFIX).collect()
    }

    /// Its SHA-256, 64 hex digits.
    pub fn hash(&self) -> String {
        digest::of(&self.0).trim_start_matches("sha256:").to_owned()
    }
}

/// Compares without telling by the time taken where two texts differ.
pub fn same(a: &str, b: &str) -> bool {
    let differs = a.bytes().zip(b.bytes()).fold(a.len() ^ b.len(), |differs, (a, b)| {
        std::hint::black_box(differs | usize::from(a ^ b))
    });
    differs == 0
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_compared_whole_and_never_shown() {
        assert!(same("abc", "abc"));
        assert!(!same("abc", "abd"));
        assert!(!same("abc", "ab"));
        let secret = Secret::random("gfp_", 2).unwrap();
        assert!(secret.reveal().starts_with("gfp_") && secret.reveal().len() == 8);
        assert_eq!(format!("{secret:?}"), "Secret");
        assert_eq!(secret.hash().len(), 64);
    }
}
