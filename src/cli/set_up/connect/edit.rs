//! Edits the text of a configuration file: sets, removes and reads one server's entry, and
//! leaves every other byte as it is. Pure.

use serde_json::{Map, Value as Json};

use super::mistake::Mistake;
use super::{json_text, toml_text};

/// How a client's file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// JSON that the client reads with a strict parser.
    Json,
    /// JSON in which the client takes comments and trailing commas.
    JsonWithComments,
    Toml,
}

impl Syntax {
    /// The text with `entry` at `keys`. Keys of an entry that is there already and that
    /// `entry` does not have stay, also inside its objects: a person may have added them.
    ///
    /// # Errors
    ///
    /// A text that is not of this syntax, or that has something else where an object is needed.
    pub fn set(
        self,
        text: &str,
        keys: &[String],
        entry: &Map<String, Json>,
    ) -> Result<String, Mistake> {
        match self {
            Self::Json => json_text::set(text, keys, entry, false),
            Self::JsonWithComments => json_text::set(text, keys, entry, true),
            Self::Toml => toml_text::set(text, keys, entry),
        }
    }

    /// The text without what is at `keys`; the same text if nothing is.
    ///
    /// # Errors
    ///
    /// As [`Syntax::set`].
    pub fn remove(self, text: &str, keys: &[String]) -> Result<String, Mistake> {
        match self {
            Self::Json => json_text::remove(text, keys, false),
            Self::JsonWithComments => json_text::remove(text, keys, true),
            Self::Toml => toml_text::remove(text, keys),
        }
    }

    /// What is at `keys`.
    ///
    /// # Errors
    ///
    /// A text that is not of this syntax.
    pub fn get(self, text: &str, keys: &[String]) -> Result<Option<Json>, Mistake> {
        match self {
            Self::Json => json_text::get(text, keys, false),
            Self::JsonWithComments => json_text::get(text, keys, true),
            Self::Toml => toml_text::get(text, keys),
        }
    }
}
