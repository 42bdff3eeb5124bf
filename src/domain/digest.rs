//! SHA-256 digests as the ledger shows them: `sha256:` and 64 hex digits.

use sha2::{Digest as _, Sha256};

/// The digest of what was fed into a hasher.
pub fn shown(hasher: Sha256) -> String {
    let digits: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}

/// The digest of bytes.
pub fn of(bytes: impl AsRef<[u8]>) -> String {
    shown(Sha256::new_with_prefix(bytes))
}

#[cfg(test)]
mod tests {
    #[test]
    fn has_the_value_of_the_standard() {
        // FIPS 180-4, the example of one block.
        let expected = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(super::of("abc"), expected);
    }
}
