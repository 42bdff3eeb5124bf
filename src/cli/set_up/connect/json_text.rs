//! Edits JSON, with comments or without.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde::de::IgnoredAny;
use serde_json::{Map, Value as Json};

use super::mistake::{Mistake, malformed, no_object};

const BOM: char = '\u{feff}';
/// A parser that recurses must not be led off the stack.
const MAX_DEPTH: usize = 200;

/// See [`Syntax::set`](crate::cli::set_up::connect::edit::Syntax::set).
pub fn set(
    text: &str,
    keys: &[String],
    entry: &Map<String, Json>,
    comments: bool,
) -> Result<String, Mistake> {
    edited(text, comments, |root| {
        let mut object = root.clone();
        for (depth, key) in keys.iter().enumerate() {
            object = match only(&object, key)? {
                Some(property) => property.object_value(),
                None => Some(
                    object.append(key, CstInputValue::Object(Vec::new())).object_value_or_set(),
                ),
            }
            .ok_or_else(|| no_object(&keys[..=depth]))?;
        }
        merge(&object, entry);
        Ok(())
    })
}

/// See [`Syntax::remove`](crate::cli::set_up::connect::edit::Syntax::remove).
pub fn remove(text: &str, keys: &[String], comments: bool) -> Result<String, Mistake> {
    edited(text, comments, |root| {
        if let Some(property) = find(root, keys)? {
            property.remove();
        }
        Ok(())
    })
}

/// See [`Syntax::get`](crate::cli::set_up::connect::edit::Syntax::get).
pub fn get(text: &str, keys: &[String], comments: bool) -> Result<Option<Json>, Mistake> {
    let root = parse(text.trim_start_matches(BOM), comments)?;
    let Some(object) = root.object_value() else { return Ok(None) };
    let property = find(&object, keys)?;
    Ok(property.and_then(|found| found.value()).and_then(|value| value.to_serde_value()))
}

fn edited(
    text: &str,
    comments: bool,
    edit: impl FnOnce(&CstObject) -> Result<(), Mistake>,
) -> Result<String, Mistake> {
    let (bom, body) = match text.strip_prefix(BOM) {
        Some(body) => (BOM.to_string(), body),
        None => (String::new(), text),
    };
    let root = parse(body, comments)?;
    let object = match root.value() {
        None => root.object_value_or_set(),
        Some(value) => value
            .as_object()
            .ok_or_else(|| Mistake("holds something other than an object".to_owned()))?,
    };
    edit(&object)?;
    Ok(bom + &root.to_string())
}

fn parse(text: &str, comments: bool) -> Result<CstRootNode, Mistake> {
    if let Some((line, column)) = too_deep(text) {
        return Err(Mistake(format!(
            "is nested more than {MAX_DEPTH} deep at line {line}, column {column}"
        )));
    }
    if !comments && !text.trim().is_empty() {
        // The editor takes comments at the end whatever its options say; the client does not.
        serde_json::from_str::<IgnoredAny>(text)
            .map_err(|error| malformed("JSON", error.line(), error.column()))?;
    }
    let options = ParseOptions {
        allow_comments: comments,
        allow_trailing_commas: comments,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    CstRootNode::parse(text, &options)
        .map_err(|error| malformed("JSON", error.line_display(), error.column_display()))
}

/// Where brackets are open too deep, counting also those in strings and comments: no
/// configuration has that many of either.
fn too_deep(text: &str) -> Option<(usize, usize)> {
    let mut depth = 0_usize;
    let mut line = (1, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'\n' => line = (line.0 + 1, at + 1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Some((line.0, at - line.1 + 1));
        }
    }
    None
}

/// The property at `keys`. What stands twice is refused: clients take the last one, and an
/// edit of the other would do nothing.
fn find(root: &CstObject, keys: &[String]) -> Result<Option<CstObjectProp>, Mistake> {
    let Some((last, above)) = keys.split_last() else { return Ok(None) };
    let mut object = root.clone();
    for (depth, key) in above.iter().enumerate() {
        let Some(property) = only(&object, key)? else { return Ok(None) };
        object = property.object_value().ok_or_else(|| no_object(&keys[..=depth]))?;
    }
    only(&object, last)
}

fn only(object: &CstObject, key: &str) -> Result<Option<CstObjectProp>, Mistake> {
    let mut found = object
        .properties()
        .into_iter()
        .filter(|property| property.decoded_name().as_deref() == Some(key));
    let first = found.next();
    match found.next() {
        None => Ok(first),
        Some(_) => Err(Mistake(format!("has the key \"{key}\" twice"))),
    }
}

fn merge(object: &CstObject, wanted: &Map<String, Json>) {
    for (key, value) in wanted {
        match (object.get(key), value) {
            (None, _) => {
                object.append(key, input(value));
            }
            (Some(property), Json::Object(inner)) if property.object_value().is_some() => {
                merge(&property.object_value_or_set(), inner);
            }
            (Some(property), _) => {
                let present = property.value().and_then(|value| value.to_serde_value());
                if present.as_ref() != Some(value) {
                    property.set_value(input(value));
                }
            }
        }
    }
}

fn input(value: &Json) -> CstInputValue {
    match value {
        Json::Null => CstInputValue::Null,
        Json::Bool(value) => CstInputValue::Bool(*value),
        Json::Number(number) => CstInputValue::Number(number.to_string()),
        Json::String(text) => CstInputValue::String(text.clone()),
        Json::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Json::Object(fields) => CstInputValue::Object(
            fields.iter().map(|(key, value)| (key.clone(), input(value))).collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn keys() -> Vec<String> {
        ["mcpServers", "govforge"].map(str::to_owned).to_vec()
    }

    fn entry() -> Map<String, Json> {
        let entry =
            json!({"command": "/bin/govforge", "args": [], "env": {"GOVFORGE_DB": "/l.db"}});
        entry.as_object().unwrap().clone()
    }

    #[test]
    fn a_new_file_is_one_that_a_person_would_write() {
        let text = set("", &keys(), &entry(), false).unwrap();
        let expected = "{\n  \"mcpServers\": {\n    \"govforge\": {\n      \
                        \"command\": \"/bin/govforge\",\n      \"args\": [],\n      \"env\": {\n        \
                        \"GOVFORGE_DB\": \"/l.db\"\n      }\n    }\n  }\n}";
        assert_eq!(text.trim_end(), expected);
    }

    #[test]
    fn everything_else_stays_as_it_was() {
        let before = "{\r\n\t// mine\r\n\t\"b\" : 1, /* odd */ \"a\":[1,2,],\r\n\t\"mcpServers\": {\r\n\
                      \t\t\"other\": {\"command\": \"x\"} // stays\r\n\t}\r\n}\r\n";
        let after = set(before, &keys(), &entry(), true).unwrap();
        for part in
            ["// mine", "\"b\" : 1, /* odd */ \"a\":[1,2,]", "{\"command\": \"x\"}", "// stays"]
        {
            assert!(after.contains(part), "{part} is missing from {after}");
        }
        assert!(!after.replace("\r\n", "").contains('\n'), "mixed line ends in {after:?}");
        assert_eq!(get(&after, &keys(), true).unwrap(), Some(Json::Object(entry())));
        assert_eq!(set(&after, &keys(), &entry(), true).unwrap(), after);
        let removed = remove(&after, &keys(), true).unwrap();
        assert_eq!(get(&removed, &keys(), true).unwrap(), None);
        assert!(removed.contains("// stays") && removed.contains("\"other\""), "{removed}");
    }

    #[test]
    fn what_a_person_added_to_the_entry_stays() {
        let before = r#"{"mcpServers": {"govforge": {"command": "old", "timeout": 9, "env": {"RUST_LOG": "info"}}}}"#;
        let after = set(before, &keys(), &entry(), false).unwrap();
        let found = get(&after, &keys(), false).unwrap().unwrap();
        assert_eq!(found["command"], "/bin/govforge");
        assert_eq!(found["timeout"], 9);
        assert_eq!(found["env"], json!({"RUST_LOG": "info", "GOVFORGE_DB": "/l.db"}));
    }

    #[test]
    fn what_is_no_such_file_is_refused() {
        let deep = "[".repeat(100_000);
        for (text, comments, part) in [
            ("{\"a\": 1,\n \"b\"", true, "line 2"),
            ("{\"a\": 1} // no", false, "not valid JSON"),
            ("{'a': 1}", true, "not valid JSON"),
            ("{\"a\": 1 \"b\": 2}", true, "not valid JSON"),
            ("[]", true, "other than an object"),
            ("{\"mcpServers\": []}", true, "at mcpServers"),
            ("{\"mcpServers\": {\"govforge\": 3}}", true, "at mcpServers.govforge"),
            (deep.as_str(), true, "nested"),
        ] {
            let Mistake(mistake) = set(text, &keys(), &entry(), comments).unwrap_err();
            assert!(mistake.contains(part), "{mistake}");
        }
        let twice = r#"{"mcpServers": {"govforge": {}, "govforge": {}}}"#;
        assert!(
            remove(twice, &keys(), false).is_err() && set(twice, &keys(), &entry(), false).is_err()
        );
    }

    #[test]
    fn a_byte_order_mark_stays() {
        let after = set("\u{feff}{}", &keys(), &entry(), false).unwrap();
        assert!(after.starts_with("\u{feff}{"));
        assert!(get(&after, &keys(), false).unwrap().is_some());
    }
}
