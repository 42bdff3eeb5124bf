//! The parameters of a call, read leniently.
//!
//! Models and clients send parameters in many spellings: `null` for "the default", numbers
//! and booleans as texts, lists as texts of JSON, values in upper case. All of it is read
//! here, for every tool and prompt, by nothing but the published schema of the parameters
//! ([`super::schema::input`]), which itself describes only the exact form:
//!
//! | the schema says | also read |
//! | --- | --- |
//! | optional | `null`, unless the schema is `nullable`; a blank text, except for a free text (no `minLength`, no default) |
//! | `boolean` | `"true"`, `" False "` |
//! | `integer` | `"12"`, `12.0`, `"12.0"` |
//! | `enum` | any case and separators: `"Changes Requested"`, `"changes-requested"` |
//! | `string` | a whole number, as its digits |
//! | `string` of at most 512 characters: a name or title | blanks around it, which are dropped |
//! | `array` | a text that holds the list as JSON, items likewise |
//! | `array` of strings | a bare text, split at its commas; blank items are dropped |
//! | `array` of objects | a single object |
//!
//! Nothing is guessed beyond that: an unknown key is refused, and every mistake of a call is
//! told at once. `maxLength` and `minLength` count characters; besides, no text may exceed
//! 1 MiB of UTF-8 or contain NUL, which SQLite's text functions take for the end.

pub mod mistakes;
mod read;
mod shape;

use std::marker::PhantomData;

use rmcp::ErrorData;
use rmcp::handler::server::common::FromContextPart;
use rmcp::handler::server::prompt::PromptContext;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::mistakes::Mistakes;
use self::shape::Shape;
use super::schema;
use crate::error::{Error, Result};

/// The parameters as they were sent, for a handler to read as `T`.
pub struct Args<T> {
    given: JsonObject,
    target: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned + JsonSchema + 'static> Args<T> {
    /// Reads them.
    ///
    /// # Errors
    ///
    /// A refusal [`InvalidInput`](crate::error::Code::InvalidInput) that tells all mistakes; a
    /// fault if `T` does not accept what its own schema describes.
    pub fn read(self) -> Result<T> {
        let schema = schema::input::<T>();
        let mut mistakes = Mistakes::default();
        let read = read::object(Shape(&schema), self.given, "", &mut mistakes);
        mistakes.into_result()?;
        serde_json::from_value(Value::Object(read)).map_err(|error| {
            Error::fault("The parameters do not fit their own published schema.", error)
        })
    }
}

impl<T> From<Option<JsonObject>> for Args<T> {
    fn from(given: Option<JsonObject>) -> Self {
        Self { given: given.unwrap_or_default(), target: PhantomData }
    }
}

impl<S, T> FromContextPart<ToolCallContext<'_, S>> for Args<T> {
    fn from_context_part(context: &mut ToolCallContext<'_, S>) -> Result<Self, ErrorData> {
        Ok(context.arguments.take().into())
    }
}

impl<S, T> FromContextPart<PromptContext<'_, S>> for Args<T> {
    fn from_context_part(context: &mut PromptContext<'_, S>) -> Result<Self, ErrorData> {
        Ok(context.arguments.take().into())
    }
}

#[cfg(test)]
mod tests;
