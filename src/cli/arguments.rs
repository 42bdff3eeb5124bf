//! What stands on the command line, read once and in one way. A value that can be no value of its
//! argument, whatever the ledger holds, is wrong usage: exit code 2.

use std::ffi::{OsStr, OsString};

use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::domain::id::{DisplayId, Kind, Reference};
use crate::domain::since::Since;
use crate::domain::value::Value;

/// Reads a path or a name that is there, text or not.
pub fn not_empty() -> impl TypedValueParser<Value = OsString> {
    OsStringValueParser::new().try_map(|value| match value.is_empty() {
        true => Err("it is empty"),
        false => Ok(value),
    })
}

/// Reads one of a closed set of values, in any case and with dashes.
pub fn value<V: Value + strum::IntoEnumIterator>(text: &str) -> Result<V, String> {
    V::read(&text.replace('-', "_")).ok_or_else(|| {
        let names: Vec<&str> = V::iter().map(Value::wire).collect();
        format!("it is one of {}", names.join(", "))
    })
}

/// Reads what names a decision, as the service takes it; a number alone is its display ID's.
pub fn decision(text: &str) -> Result<String, String> {
    reference(Kind::Decision, text)
}

/// Reads what names a task, as [`decision`].
pub fn task(text: &str) -> Result<String, String> {
    reference(Kind::Task, text)
}

fn reference(kind: Kind, text: &str) -> Result<String, String> {
    if let Some(number) = number(text) {
        return Ok(DisplayId { kind, number }.to_string());
    }
    match Reference::read(kind, text) {
        Some(_) => Ok(text.to_owned()),
        None => Err(format!(
            "it is no id of a {}: name one such as {}, <project name>/{1} or a UUID",
            kind.noun(),
            DisplayId { kind, number: 1 }
        )),
    }
}

/// Reads the number of a display ID that stands alone: `12` or `012`.
pub fn number(text: &str) -> Option<u64> {
    let digits = text.trim();
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|number| is_number && *number > 0)
}

/// Reads a point in time.
pub fn since(text: &str) -> Result<Since, String> {
    Since::read(text).ok_or_else(|| format!("it is no time: {}", Since::EXAMPLES))
}

/// The value of an option for all verbs, before clap has read the command line: what clap says
/// itself, and what it completes, follow it too.
pub fn early(option: &str, arguments: impl Iterator<Item = OsString>) -> Option<OsString> {
    let mut arguments = arguments.take_while(|argument| argument != "--");
    let with_value = format!("{option}=");
    while let Some(argument) = arguments.next() {
        if argument == option {
            return arguments.next();
        }
        let value = argument.to_str().and_then(|text| text.strip_prefix(&with_value));
        if let Some(value) = value {
            return Some(OsStr::new(value).to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_display_id_of_what_is_asked_for() {
        assert_eq!(decision("12").as_deref(), Ok("DEC-012"));
        assert_eq!(task("007").as_deref(), Ok("TASK-007"));
        assert_eq!(decision("shop/dec-1").as_deref(), Ok("shop/dec-1"));
        for wrong in ["", "0", "-1", "TASK-001", "banana", "1.5", "99999999999999999999999"] {
            assert!(decision(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_option_is_found_before_the_command_line_is_read() {
        let found = |line: &str| {
            let words = line.split(' ').map(OsString::from);
            early("--color", words).map(|value| value.into_string().unwrap())
        };
        assert_eq!(found("list --color never").as_deref(), Some("never"));
        assert_eq!(found("--color=always list").as_deref(), Some("always"));
        for without in ["list", "gate -- --color=never", "list --color", "list --colors never"] {
            assert_eq!(found(without), None, "{without}");
        }
    }
}
