//! The published schemas: what schemars derives, brought into the form that every client
//! accepts.
//!
//! Clients reject, or silently drop, tools over details of a schema: a type list or an `anyOf`
//! for a parameter, a `$ref`, an unknown `format`, a bare `true` for "anything". So a schema
//! is inlined and rewritten until none of these is left (`violations`, which tests run over every tool, lists the rules):
//!
//! - An optional parameter has the one type of its value and is not listed in `required`.
//!   `null` is read as "absent" all the same, see [`super::args`]. Where null is a value of its
//!   own, which takes something away, the one type has `nullable` beside it: OpenAPI's word, which
//!   clients that hand schemas on to a model know, and others pass over.
//! - A nullable value of a *result* has the type list `["object", "null"]`. Clients validate
//!   `structuredContent` against it, so it has to be truthful: OpenAPI's `nullable` means
//!   nothing to a JSON Schema validator, which would then reject every null. Of the two
//!   truthful forms the list is the flat one; `anyOf` would hide the fields of the value from
//!   clients that read `properties` without resolving combinators. A list of one type and
//!   null passes strict validators too (ajv exempts exactly it from its rule on union types).
//! - Nothing is published as "anything": a field of JSON whose content varies is declared as
//!   what it always is, `#[schemars(with = "Option<serde_json::Map<String, Value>>")]`.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The schema of a tool's or prompt's parameters. Made once per type.
pub fn input<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    published::<T>(Side::Input)
}

/// The schema of a tool's structured result. Made once per type.
pub fn output<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    published::<T>(Side::Output)
}

/// Which way the described value travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Parameters: what a caller may send.
    Input,
    /// Results: what the server answers.
    Output,
}

/// The most characters of a text that has no narrower limit of its own.
const LARGEST_TEXT: usize = 1 << 20;

fn published<T: JsonSchema + 'static>(side: Side) -> Arc<JsonObject> {
    type Made = HashMap<(TypeId, Side), Arc<JsonObject>>;
    static PUBLISHED: LazyLock<Mutex<Made>> = LazyLock::new(Mutex::default);
    PUBLISHED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .entry((TypeId::of::<T>(), side))
        .or_insert_with(|| Arc::new(generated::<T>(side)))
        .clone()
}

fn generated<T: JsonSchema>(side: Side) -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let settings = match side {
        Side::Input => settings.for_deserialize(),
        Side::Output => settings.for_serialize(),
    };
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut schema, side);
    let Value::Object(mut schema) = schema else { return JsonObject::new() };
    // The name and documentation of the Rust type tell a client nothing.
    schema.shift_remove("title");
    schema.shift_remove("description");
    if side == Side::Input {
        // Some clients miss the key of a tool without parameters.
        schema.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    }
    schema
}

/// Brings one schema and all below it into the published form.
fn tidy(schema: &mut Value, side: Side) {
    let Value::Object(schema) = schema else { return };

    // The formats of Rust's number types are no JSON Schema, and few clients know the others.
    schema.shift_remove("format");
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = unwrapped(description);
    }
    match side {
        Side::Input => {
            remove_null(schema);
            if schema.get("type").is_some_and(|kind| kind == "string")
                && !schema.contains_key("enum")
                && !schema.contains_key("maxLength")
            {
                schema.insert("maxLength".into(), LARGEST_TEXT.into());
            }
            if schema.get("type").is_some_and(|kind| kind == "object") {
                schema.insert("additionalProperties".into(), Value::Bool(false));
            }
        }
        Side::Output => {
            schema.shift_remove("default");
            if schema.get("additionalProperties").is_some_and(Value::is_boolean) {
                schema.shift_remove("additionalProperties");
            }
        }
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().for_each(|property| tidy(property, side));
    }
    for key in ["items", "additionalProperties"] {
        if let Some(below) = schema.get_mut(key).filter(|below| **below != Value::Bool(false)) {
            tidy(below, side);
        }
    }
}

/// Takes `null` out of a parameter's type, values and default.
fn remove_null(schema: &mut JsonObject) {
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            schema.insert("type".into(), kind);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.shift_remove("default");
    }
}

/// Joins the lines of each paragraph: doc comments are wrapped for the source's width.
fn unwrapped(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| {
        paragraph.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>()
    });
    paragraphs.map(|lines| lines.join(" ")).collect::<Vec<_>>().join("\n\n")
}

/// What is wrong with a published schema, one sentence for each place; empty if nothing is.
#[cfg(test)]
pub fn violations(side: Side, schema: &JsonObject) -> Vec<String> {
    let mut found = Vec::new();
    if schema.get("type").is_none_or(|kind| kind != "object") {
        found.push("the root is no object".to_owned());
    }
    if side == Side::Input && !schema.contains_key("properties") {
        found.push("the root has no properties".to_owned());
    }
    check::walk(side, &Value::Object(schema.clone()), "$", &mut found);
    found
}

#[cfg(test)]
mod check {
    use super::{Side, Value};

    const FORBIDDEN: [&str; 11] = [
        "anyOf", "oneOf", "allOf", "not", "$ref", "$defs", "$schema", "format", "nullable",
        "const", "title",
    ];

    pub(super) fn walk(side: Side, schema: &Value, place: &str, found: &mut Vec<String>) {
        let Value::Object(object) = schema else {
            found.push(format!("{place} is {schema}, not an object"));
            return;
        };
        let known = |key: &str| side == Side::Input && key == "nullable";
        for key in FORBIDDEN.iter().filter(|key| object.contains_key(**key) && !known(key)) {
            found.push(format!("{place} has {key}"));
        }
        let kinds: Vec<&str> = match &schema["type"] {
            Value::String(kind) => vec![kind],
            Value::Array(kinds)
                if side == Side::Output && kinds.len() == 2 && kinds[1] == "null" =>
            {
                kinds.iter().filter_map(Value::as_str).collect()
            }
            other => {
                found.push(format!("{place} has the type {other}"));
                return;
            }
        };
        if kinds[0] == "array" && !object.contains_key("items") {
            found.push(format!("{place} has no items"));
        }
        if side == Side::Input {
            check_input(schema, kinds[0], place, found);
        }
        if let Some(properties) = schema["properties"].as_object() {
            for (name, property) in properties {
                let place = format!("{place}.{name}");
                let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
                if name.len() > 50 || !name.chars().all(is_plain) {
                    found.push(format!("{place} is no short plain name"));
                }
                let description = property["description"].as_str().unwrap_or_default();
                if side == Side::Input && description.trim().is_empty() {
                    found.push(format!("{place} has no description"));
                }
                walk(side, property, &place, found);
            }
            for name in schema["required"].as_array().into_iter().flatten() {
                if !name.as_str().is_some_and(|name| properties.contains_key(name)) {
                    found.push(format!("{place} requires {name}, which it does not have"));
                }
            }
        }
        if let Some(items) = object.get("items") {
            walk(side, items, &format!("{place}[]"), found);
        }
        if let Some(more) = object.get("additionalProperties").filter(|more| !more.is_boolean()) {
            walk(side, more, &format!("{place}.*"), found);
        }
    }

    fn check_input(schema: &Value, kind: &str, place: &str, found: &mut Vec<String>) {
        if kind == "object" && schema["additionalProperties"] != false {
            found.push(format!("{place} allows unknown keys"));
        }
        if let Some(values) = schema.get("enum") {
            let strings = |values: &Vec<Value>| values.iter().all(Value::is_string);
            if kind != "string" || !values.as_array().is_some_and(strings) {
                found.push(format!("{place} is an enum of something else than strings"));
            }
        }
        let default_fits = match (schema.get("default"), kind) {
            (None, _) => true,
            (Some(default), "string") => default.is_string(),
            (Some(default), "boolean") => default.is_boolean(),
            (Some(default), "integer") => default.is_i64(),
            (Some(default), "array") => default.is_array(),
            (Some(_), _) => false,
        };
        if !default_fits {
            found.push(format!("{place} has a default of another type"));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(dead_code, reason = "the fields are read by schemars alone")]

    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use super::*;
    use crate::domain::entity::Finding;
    use crate::domain::value::{ReviewStatus, RiskLevel};

    #[derive(Deserialize, JsonSchema)]
    struct Parameters {
        /// What it is about,
        /// in one line.
        ///
        /// More on it.
        #[schemars(length(min = 1, max = 512))]
        title: String,
        /// Who acts.
        #[serde(default)]
        actor_agent: Option<String>,
        /// How much harm it can do.
        #[serde(default = "medium")]
        risk_level: RiskLevel,
        /// The conclusion, if there is one.
        #[serde(default)]
        status: Option<ReviewStatus>,
        /// How many.
        #[serde(default)]
        count: Option<u32>,
        /// Whether a person must decide.
        #[serde(default)]
        human_approval_required: bool,
        /// What to look at.
        #[serde(default)]
        focus: Vec<String>,
        /// What was found.
        #[serde(default)]
        findings: Vec<Finding>,
    }

    fn medium() -> RiskLevel {
        RiskLevel::Medium
    }

    #[derive(Serialize, JsonSchema)]
    struct Change {
        insertions: i64,
    }

    #[derive(Serialize, JsonSchema)]
    struct Bundle {
        git_change: Option<Change>,
        summary: Option<String>,
        worst: Option<RiskLevel>,
        #[schemars(with = "Option<serde_json::Map<String, Value>>")]
        payload: Value,
        details: serde_json::Map<String, Value>,
        findings: Vec<Finding>,
    }

    #[test]
    fn parameters_are_flat_single_typed_and_described() {
        let schema = input::<Parameters>();
        assert_eq!(violations(Side::Input, &schema), [""; 0]);
        let finding = &schema["properties"]["findings"]["items"];
        assert_eq!(finding["required"], json!(["severity", "category", "message"]));
        assert_eq!(
            finding["properties"]["line_start"],
            json!({"description": "First line, counted from 1.", "type": "integer", "minimum": 1})
        );
        let mut without_findings = Value::Object((*schema).clone());
        without_findings["properties"].as_object_mut().unwrap().shift_remove("findings");
        assert_eq!(
            without_findings,
            json!({
                "type": "object",
                "properties": {
                    "title": {
                        "description": "What it is about, in one line.\n\nMore on it.",
                        "type": "string", "minLength": 1, "maxLength": 512,
                    },
                    "actor_agent": {
                        "description": "Who acts.", "type": "string", "maxLength": 1_048_576,
                    },
                    "risk_level": {
                        "description": "How much harm it can do.", "type": "string",
                        "enum": ["low", "medium", "high", "critical"], "default": "medium",
                    },
                    "status": {
                        "description": "The conclusion, if there is one.", "type": "string",
                        "enum": ["approved", "changes_requested", "commented", "rejected"],
                    },
                    "count": {"description": "How many.", "type": "integer", "minimum": 0},
                    "human_approval_required": {
                        "description": "Whether a person must decide.",
                        "type": "boolean", "default": false,
                    },
                    "focus": {
                        "description": "What to look at.",
                        "type": "array", "items": {"type": "string", "maxLength": 1_048_576},
                        "default": [],
                    },
                },
                "required": ["title"],
                "additionalProperties": false,
            })
        );
    }

    #[test]
    fn results_tell_truthfully_where_null_can_stand() {
        let schema = output::<Bundle>();
        assert_eq!(violations(Side::Output, &schema), [""; 0]);
        let properties = &schema["properties"];
        assert_eq!(
            properties["git_change"],
            json!({
                "type": ["object", "null"],
                "properties": {"insertions": {"type": "integer"}},
                "required": ["insertions"],
            })
        );
        assert_eq!(properties["summary"], json!({"type": ["string", "null"]}));
        assert_eq!(properties["worst"]["enum"].as_array().unwrap().last(), Some(&Value::Null));
        assert_eq!(properties["payload"], json!({"type": ["object", "null"]}));
        assert_eq!(properties["details"], json!({"type": "object"}));
        assert_eq!(
            schema["required"],
            json!(["git_change", "summary", "worst", "payload", "details", "findings"])
        );
    }

    #[test]
    fn the_rules_can_fail() {
        let raw = SchemaSettings::draft2020_12().into_generator();
        let raw = raw.into_root_schema_for::<Parameters>().to_value();
        let found = violations(Side::Input, raw.as_object().unwrap());
        for expected in [
            "$ has $schema",
            "$ has title",
            "$ allows unknown keys",
            r#"$.actor_agent has the type ["string","null"]"#,
            r#"$.count has format"#,
        ] {
            assert!(found.iter().any(|violation| violation == expected), "{expected}: {found:#?}");
        }
        let bad = json!({"type": "object", "properties": {"a": true, "b": {"type": "array"}}});
        let found = violations(Side::Output, bad.as_object().unwrap());
        assert_eq!(found, ["$.a is true, not an object", "$.b has no items"]);
    }
}
