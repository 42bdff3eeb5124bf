//! A reference of tools as a page, made from what a client is shown, so that it cannot say
//! anything else.

use std::fmt::Write as _;

use rmcp::model::Tool;
use serde_json::Value as Json;

/// The length that an introduction gives for every text.
const LONGEST_TEXT: i64 = 1_048_576;

/// The reference of `tools` as Markdown, in the given order, below an introduction. `writing`
/// says what is true of every tool that writes.
pub fn markdown(introduction: &str, tools: &[Tool], writing: &str) -> String {
    let mut page = introduction.to_owned();
    page.push_str("\n| tool | what it does |\n| --- | --- |\n");
    for tool in tools {
        let title = tool.title.as_deref().unwrap_or_default();
        let anchor = tool.name.replace('.', "");
        let _ = writeln!(page, "| [`{}`](#{anchor}) | {title} |", tool.name);
    }
    for tool in tools {
        write_tool(&mut page, tool, writing);
    }
    page
}

fn write_tool(page: &mut String, tool: &Tool, writing: &str) {
    let _ = writeln!(page, "\n## {}\n", tool.name);
    let _ = writeln!(page, "{}\n", tool.description.as_deref().unwrap_or_default());
    let reads = tool.annotations.as_ref().and_then(|hints| hints.read_only_hint);
    let _ = writeln!(page, "{}", if reads == Some(true) { "Only reads." } else { writing });

    page.push_str("\n| parameter | type | default | meaning |\n| --- | --- | --- | --- |\n");
    let input = Json::Object((*tool.input_schema).clone());
    let mut parameters = Vec::new();
    collect(&mut parameters, "", &input);
    for parameter in parameters {
        let default = match (&parameter.schema["default"], parameter.is_required) {
            (_, true) => "required".to_owned(),
            (Json::Null, false) => String::new(),
            (Json::String(text), false) => format!("`{text}`"),
            (value, false) => format!("`{value}`"),
        };
        let _ = writeln!(
            page,
            "| `{}` | {} | {default} | {} |",
            parameter.path,
            kind(parameter.schema),
            cell(parameter.schema["description"].as_str().unwrap_or_default()),
        );
    }

    let Some(output) = &tool.output_schema else { return };
    page.push_str("\n| result | type | meaning |\n| --- | --- | --- |\n");
    let output = Json::Object((**output).clone());
    let mut results = Vec::new();
    collect(&mut results, "", &output);
    for result in results {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} |",
            result.path,
            kind(result.schema),
            cell(result.schema["description"].as_str().unwrap_or_default()),
        );
    }
}

/// A property with its place in the whole, such as `findings[].severity`.
struct Property<'a> {
    path: String,
    schema: &'a Json,
    is_required: bool,
}

fn collect<'a>(properties: &mut Vec<Property<'a>>, prefix: &str, schema: &'a Json) {
    let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{prefix}{name}");
        let is_required = required.iter().any(|required| required == name);
        properties.push(Property { path: path.clone(), schema: property, is_required });
        collect(properties, &format!("{path}."), property);
        collect(properties, &format!("{path}[]."), &property["items"]);
    }
}

/// The type in words, such as `string, not blank, at most 512 characters`.
fn kind(schema: &Json) -> String {
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<_> = values.iter().map(|value| format!("`{}`", plain(value))).collect();
        return values.join(", ");
    }
    let types: Vec<&str> = match &schema["type"] {
        Json::Array(types) => types.iter().filter_map(Json::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    let mut words = match types.as_slice() {
        ["array"] => match schema["items"]["type"].as_str() {
            Some("object") => "list of objects".to_owned(),
            Some("string") if schema["items"]["enum"].is_null() => "list of strings".to_owned(),
            _ => format!("list of {}", kind(&schema["items"])),
        },
        many if many.len() > 2 => "any JSON".to_owned(),
        few => few.join(" or "),
    };
    let longest = schema["maxLength"].as_i64().filter(|most| *most < LONGEST_TEXT);
    words.push_str(&match (schema["minLength"].as_i64(), longest) {
        (Some(1), None) => ", not blank".to_owned(),
        (Some(1), Some(most)) => format!(", not blank, at most {most} characters"),
        (least, most) => range(least, most, " characters"),
    });
    words.push_str(&range(schema["minimum"].as_i64(), schema["maximum"].as_i64(), ""));
    words
}

fn range(least: Option<i64>, most: Option<i64>, unit: &str) -> String {
    match (least, most) {
        (Some(least), Some(most)) => format!(", {least} to {most}{unit}"),
        (Some(least), None) => format!(", at least {least}{unit}"),
        (None, Some(most)) => format!(", at most {most}{unit}"),
        (None, None) => String::new(),
    }
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Text that cannot break out of its table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tells_types_ranges_and_places_in_words() {
        let schema = json!({
            "type": "object", "required": ["title"],
            "properties": {
                "title": {"type": "string", "minLength": 1, "maxLength": 512},
                "findings": {"type": "array", "items": {"type": "object", "properties": {
                    "line_start": {"type": "integer", "minimum": 1},
                }}},
                "risk_level": {"type": "string", "enum": ["low", "high"]},
                "branch": {"type": ["string", "null"]},
            },
        });
        let mut properties = Vec::new();
        collect(&mut properties, "", &schema);
        let told: Vec<_> = properties
            .iter()
            .map(|property| format!("{}: {}", property.path, kind(property.schema)))
            .collect();
        assert_eq!(
            told,
            [
                "title: string, not blank, at most 512 characters",
                "findings: list of objects",
                "findings[].line_start: integer, at least 1",
                "risk_level: `low`, `high`",
                "branch: string or null",
            ]
        );
        assert!(properties[0].is_required && !properties[1].is_required);
    }
}
