//! What is wrong with the parameters of a call, in words.

use serde_json::Value;

use super::shape::Shape;
use crate::domain::excerpt::quoted;
use crate::domain::names::nearest::nearest;
use crate::error::{Error, Result};

/// The mistakes of one call, in the order in which they were found.
#[derive(Debug, Default)]
pub struct Mistakes(Vec<String>);

impl Mistakes {
    /// More than these are only counted: a list of a thousand wrong findings has one cause.
    const TOLD: usize = 12;

    /// Adds a whole sentence.
    pub fn add(&mut self, sentence: String) {
        self.0.push(sentence);
    }

    /// One refusal that tells all of them, or `Ok` if there is none.
    pub fn into_result(self) -> Result<()> {
        const NEXT: &str = "Correct this and send the call again.";
        match self.0.as_slice() {
            [] => Ok(()),
            [only] => Err(Error::invalid(format!("{only} {NEXT}"))),
            all => {
                let told: String =
                    all.iter().take(Self::TOLD).map(|one| format!("\n- {one}")).collect();
                let more = match all.len().saturating_sub(Self::TOLD) {
                    0 => String::new(),
                    more => format!("\n- and {more} more."),
                };
                let count = all.len();
                Err(Error::invalid(format!("{count} mistakes:{told}{more}\n{NEXT}")))
            }
        }
    }
}

/// The sentence about a key that the object does not have.
pub fn unknown(shape: Shape<'_>, name: &str, value: &Value, place: &str) -> String {
    let known: Vec<&str> = shape.properties().map(|(name, _)| name).collect();
    let hint = match (nearest(name, known.iter().copied()), value) {
        (_, Value::Object(inside)) if inside.keys().any(|key| known.contains(&key.as_str())) => {
            " Pass what is inside it directly, as parameters of their own.".to_owned()
        }
        (Some(nearest), _) => format!(" Did you mean `{nearest}`?"),
        (None, _) => String::new(),
    };
    let known = match known.as_slice() {
        [] => "none".to_owned(),
        known => known.join(", "),
    };
    format!("`{place}` is unknown.{hint} Known here: {known}.")
}

/// A value as it stands in a message: texts cut where they are long, lists and objects by
/// their kind alone.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) if !items.is_empty() => "a list".to_owned(),
        Value::Object(fields) if !fields.is_empty() => "an object".to_owned(),
        other => other.to_string(),
    }
}
