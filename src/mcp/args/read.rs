//! Reads values as models write them into the form that the published schema describes.

use rmcp::model::JsonObject;
use serde_json::{Number, Value};

use super::mistakes::{Mistakes, shown, unknown};
use super::shape::Shape;
use crate::domain::excerpt::{quoted, shortened};
use crate::domain::names::nearest::nearest;

/// Reads an object key by key. Every mistake is noted with its place; what is returned is
/// complete only if there was none. `place` is empty for the parameters themselves.
pub fn object(
    shape: Shape<'_>,
    mut given: JsonObject,
    place: &str,
    mistakes: &mut Mistakes,
) -> JsonObject {
    let within = |name: &str| match place {
        "" => name.to_owned(),
        place => format!("{place}.{name}"),
    };
    let mut read = JsonObject::new();
    for (name, property) in shape.properties() {
        let required = shape.requires(name);
        let accepted = || property.accepted();
        match given.shift_remove(name) {
            None | Some(Value::Null) if required => {
                let (place, meaning) = (within(name), property.meaning());
                mistakes.add(format!("`{place}` is missing; it takes {}{meaning}.", accepted()))
            }
            Some(Value::Null) if property.is_nullable() => {
                read.insert(name.to_owned(), Value::Null);
            }
            None | Some(Value::Null) => {}
            Some(value) if is_blank(&value) && required => {
                mistakes.add(format!("`{}` is blank; it takes {}.", within(name), accepted()))
            }
            Some(value) if is_blank(&value) && property.reads_blank_as_absent() => {}
            Some(value) if !required && property.reads_null_words() && says_null(&value) => {}
            Some(value) => {
                if let Some(value) = self::value(property, value, &within(name), mistakes) {
                    read.insert(name.to_owned(), value);
                }
            }
        }
    }
    for (name, value) in &given {
        mistakes.add(unknown(shape, name, value, &within(&shortened(name))));
    }
    read
}

fn value(shape: Shape<'_>, given: Value, place: &str, mistakes: &mut Mistakes) -> Option<Value> {
    let read = match (shape.kind(), shape.values()) {
        ("array", _) => return list(shape, given, place, mistakes),
        ("object", _) => return nested(shape, given, place, mistakes),
        ("boolean", _) => boolean(shape, &given),
        ("integer", _) => integer(shape, &given),
        ("string", Some(values)) => choice(shape, &values, &given),
        ("string", None) => text(shape, given),
        _ => Ok(given),
    };
    read.map_err(|complaint| mistakes.add(format!("`{place}` {complaint}."))).ok()
}

fn is_blank(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// Whether a value stands for null as models write it where they mean to leave something out:
/// the word of some language, or a list of nothing else.
fn says_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => {
            let text = text.trim();
            ["null", "none", "undefined"].iter().any(|word| text.eq_ignore_ascii_case(word))
                || text.starts_with('[')
                    && serde_json::from_str(text)
                        .is_ok_and(|list: Value| list.is_array() && says_null(&list))
        }
        Value::Array(items) => !items.is_empty() && items.iter().all(says_null),
        _ => false,
    }
}

fn mismatch(shape: Shape<'_>, given: &Value) -> String {
    format!("is {}; it takes {}", shown(given), shape.accepted())
}

/// What the original takes, whose reader is pydantic.
fn boolean(shape: Shape<'_>, given: &Value) -> Result<Value, String> {
    const TRUE: [&str; 6] = ["1", "on", "t", "true", "y", "yes"];
    const FALSE: [&str; 6] = ["0", "off", "f", "false", "n", "no"];
    let read = match given {
        Value::Bool(value) => Some(*value),
        Value::Number(number) => match whole(number) {
            Some(1) => Some(true),
            Some(0) => Some(false),
            _ => None,
        },
        Value::String(text) => {
            let text = text.trim().to_ascii_lowercase();
            let is_false = FALSE.contains(&text.as_str());
            (is_false || TRUE.contains(&text.as_str())).then_some(!is_false)
        }
        _ => None,
    };
    read.map(Value::Bool).ok_or_else(|| mismatch(shape, given))
}

fn integer(shape: Shape<'_>, given: &Value) -> Result<Value, String> {
    let number = match given {
        Value::Number(number) => whole(number),
        Value::String(text) => {
            let text = text.trim();
            text.parse().ok().or_else(|| whole(&Number::from_f64(text.parse().ok()?)?))
        }
        _ => None,
    };
    if number.is_none() && is_too_large(given) {
        let most = shape.bound("maximum").unwrap_or(i64::MAX);
        return Err(format!("is {}; the largest number it takes is {most}", shown(given)));
    }
    number
        .filter(|number| shape.bound("minimum").is_none_or(|least| *number >= least))
        .filter(|number| shape.bound("maximum").is_none_or(|most| *number <= most))
        .map(Value::from)
        .ok_or_else(|| mismatch(shape, given))
}

/// The integer that a number is, also if it was written as a float.
fn whole(number: &Number) -> Option<i64> {
    number.as_i64().or_else(|| {
        let float = number.as_f64()?;
        (float.fract() == 0.0 && float.abs() < i64::MAX as f64).then_some(float as i64)
    })
}

/// Whether it is a whole number above those that can be kept.
fn is_too_large(given: &Value) -> bool {
    let number = match given {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.is_some_and(|number: f64| number.fract() == 0.0 && number >= i64::MAX as f64)
}

/// One of the values, in any case and with any (or no) separators between its words.
fn choice(shape: Shape<'_>, values: &[&str], given: &Value) -> Result<Value, String> {
    let bare = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let Value::String(text) = given else { return Err(mismatch(shape, given)) };
    let wanted = bare(text);
    if let Some(value) = values.iter().find(|value| bare(value) == wanted) {
        return Ok(Value::from(*value));
    }
    let hint = match nearest(text.trim(), values.iter().copied()) {
        Some(nearest) => format!(" (did you mean {nearest}?)"),
        None => String::new(),
    };
    Err(format!("{}{hint}", mismatch(shape, given)))
}

/// A text, kept as it is but for the blanks around a label. A whole number counts as the text
/// of its digits: a commit hash may have no letter.
fn text(shape: Shape<'_>, given: Value) -> Result<Value, String> {
    let text = match given {
        Value::String(text) => text,
        Value::Number(number) if !number.is_f64() => number.to_string(),
        other => return Err(mismatch(shape, &other)),
    };
    let text = if shape.is_label() { text.trim().to_owned() } else { text };
    let length = text.chars().count();
    let is_within = |keyword: &str, fits: fn(usize, usize) -> bool| {
        let bound = shape.bound(keyword).and_then(|bound| usize::try_from(bound).ok());
        bound.is_none_or(|bound| fits(length, bound))
    };
    if text.contains('\0') {
        return Err("contains a NUL character (U+0000), which no text may have".to_owned());
    }
    if !is_within("maxLength", |length, most| length <= most)
        || !is_within("minLength", |length, least| length >= least)
    {
        let accepted = shape.accepted();
        return Err(format!("has {length} characters ({}); it takes {accepted}", quoted(&text)));
    }
    Ok(Value::String(text))
}

/// A list, or a text that holds one as JSON. A list of texts may also be a bare text, with
/// commas between its items; a list of objects a single object.
fn list(shape: Shape<'_>, given: Value, place: &str, mistakes: &mut Mistakes) -> Option<Value> {
    let Some(items) = shape.items() else { return Some(given) };
    let of_texts = items.kind() == "string";
    let given = match given {
        Value::Array(given) => given,
        Value::Object(_) if !of_texts => vec![given],
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Array(given)) => given,
            Ok(given @ Value::Object(_)) if !of_texts => vec![given],
            Ok(given @ Value::String(_)) if of_texts => vec![given],
            Err(error) if !of_texts || text.trim_start().starts_with('[') => {
                mistakes.add(not_json(shape, &text, place, &error));
                return None;
            }
            _ if of_texts => text.split(',').map(|item| Value::from(item.trim())).collect(),
            _ => {
                mistakes.add(format!("`{place}` {}.", mismatch(shape, &Value::String(text))));
                return None;
            }
        },
        Value::Number(_) if of_texts => vec![given],
        other => {
            mistakes.add(format!("`{place}` {}.", mismatch(shape, &other)));
            return None;
        }
    };
    let read = given
        .into_iter()
        .enumerate()
        .filter(|(_, item)| !(of_texts && is_blank(item)))
        .filter_map(|(index, item)| value(items, item, &format!("{place}[{index}]"), mistakes));
    Some(Value::Array(read.collect()))
}

/// An object, or a text that holds one as JSON.
fn nested(shape: Shape<'_>, given: Value, place: &str, mistakes: &mut Mistakes) -> Option<Value> {
    let given = match given {
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(given @ Value::Object(_)) => given,
            Ok(_) => Value::String(text),
            Err(error) => {
                mistakes.add(not_json(shape, &text, place, &error));
                return None;
            }
        },
        given => given,
    };
    match given {
        Value::Object(given) => Some(Value::Object(object(shape, given, place, mistakes))),
        other => {
            mistakes.add(format!("`{place}` {}.", mismatch(shape, &other)));
            None
        }
    }
}

fn not_json(shape: Shape<'_>, text: &str, place: &str, error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let (shown, accepted) = (quoted(text), shape.accepted());
    format!(
        "`{place}` is the text {shown}, which is no valid JSON from line {line}, column \
         {column} on; it takes {accepted}."
    )
}
