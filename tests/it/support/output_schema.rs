//! Checks a value against a JSON Schema, as far as the schemas of this server go: clients
//! check a structured result so, and drop it when it does not fit.

use serde_json::Value;

/// What does not fit, with its place; empty if everything does.
pub fn mismatches(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, value, "$", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        match root.pointer(reference.trim_start_matches('#')) {
            Some(target) => check(root, target, value, place, found),
            None => found.push(format!("{place}: {reference} leads nowhere")),
        }
        return;
    }
    if !schema["type"].is_null() && !types(&schema["type"]).any(|kind| is_a(value, kind)) {
        found.push(format!("{place}: {value} is not of type {}", schema["type"]));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        found.push(format!("{place}: {value} is not one of {}", schema["enum"]));
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(options) = schema[key].as_array() {
            let fits = |option: &&Value| {
                let mut inner = Vec::new();
                check(root, option, value, place, &mut inner);
                inner.is_empty()
            };
            if !options.iter().any(|option| fits(&option)) {
                found.push(format!("{place}: {value} fits no branch of {key}"));
            }
        }
    }
    if let Some(fields) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten() {
            if !fields.contains_key(name.as_str().unwrap()) {
                found.push(format!("{place}: {name} is missing"));
            }
        }
        for (name, field) in fields {
            let place = format!("{place}.{name}");
            match schema["properties"].get(name) {
                Some(of_field) => check(root, of_field, field, &place, found),
                None if schema["additionalProperties"] == false => {
                    found.push(format!("{place}: not in the schema"));
                }
                None => {}
            }
        }
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        check(root, &schema["items"], item, &format!("{place}[{index}]"), found);
    }
}

fn types(kind: &Value) -> impl Iterator<Item = &str> {
    let one = kind.as_str().into_iter();
    one.chain(kind.as_array().into_iter().flatten().filter_map(Value::as_str))
}

fn is_a(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        _ => false,
    }
}
