//! JSON as a person reads and writes it in a fixture.

use serde_json::{Map, Value, json};

/// Lines are filled up to here before a list or an object is broken.
const WIDTH: usize = 98;

/// JSON text in which everything that fits on one line stands on one line.
pub fn pretty(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, 0, &mut text);
    text.push('\n');
    text
}

fn write(value: &Value, depth: usize, taken: usize, out: &mut String) {
    let line = on_one_line(value);
    if taken + line.chars().count() <= WIDTH {
        out.push_str(&line);
        return;
    }
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let items = fields.iter().map(|(key, item)| (format!("{}: ", json!(key)), item));
            write_items('{', items, '}', depth, out);
        }
        Value::Array(items) if !items.is_empty() => {
            write_items('[', items.iter().map(|item| (String::new(), item)), ']', depth, out);
        }
        _ => out.push_str(&line),
    }
}

fn write_items<'a>(
    open: char,
    items: impl Iterator<Item = (String, &'a Value)>,
    close: char,
    depth: usize,
    out: &mut String,
) {
    out.push(open);
    for (index, (label, item)) in items.enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        let indent = "  ".repeat(depth + 1);
        out.push_str(&indent);
        out.push_str(&label);
        write(item, depth + 1, indent.len() + label.chars().count() + 1, out);
    }
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push(close);
}

fn on_one_line(value: &Value) -> String {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(key, item)| format!("{}: {}", json!(key), on_one_line(item)))
                .collect();
            format!("{{ {} }}", fields.join(", "))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(on_one_line).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// Applies `change` to every string, keys of objects excepted.
pub fn map_strings(value: &Value, change: &dyn Fn(&str) -> Value) -> Value {
    match value {
        Value::String(text) => change(text),
        Value::Array(items) => items.iter().map(|item| map_strings(item, change)).collect(),
        Value::Object(fields) => Value::Object(
            fields.iter().map(|(key, item)| (key.clone(), map_strings(item, change))).collect(),
        ),
        other => other.clone(),
    }
}

/// Opens up the strings that a person cannot read on one line: JSON inside a string becomes
/// `{"<json>": ..}`, text of several lines `{"<lines>": [..]}`.
pub fn unfold(value: &Value) -> Value {
    map_strings(value, &|text| match serde_json::from_str::<Value>(text) {
        Ok(inner @ (Value::Object(_) | Value::Array(_))) => json!({ "<json>": inner }),
        _ if text.contains('\n') => {
            json!({ "<lines>": text.split('\n').collect::<Vec<_>>() })
        }
        _ => json!(text),
    })
}

/// Replaces what a person writes for a long text: `{"<repeat>": [text, times]}`,
/// `{"<lines>": [..]}` and `{"<json>": ..}`.
pub fn fold(value: &Value) -> Value {
    match value {
        Value::Object(fields) => match only_field(fields) {
            Some(("<repeat>", Value::Array(of))) => {
                let times = usize::try_from(of[1].as_u64().unwrap()).unwrap();
                json!(of[0].as_str().unwrap().repeat(times))
            }
            Some(("<lines>", Value::Array(lines))) => {
                let lines: Vec<&str> = lines.iter().map(|line| line.as_str().unwrap()).collect();
                json!(lines.join("\n"))
            }
            Some(("<json>", inner)) => json!(inner.to_string()),
            _ => fields.iter().map(|(key, item)| (key.clone(), fold(item))).collect(),
        },
        Value::Array(items) => items.iter().map(fold).collect(),
        other => other.clone(),
    }
}

fn only_field(fields: &Map<String, Value>) -> Option<(&str, &Value)> {
    let mut all = fields.iter();
    let (key, value) = all.next()?;
    all.next().is_none().then_some((key, value))
}

/// All strings in a value, one below the other.
pub fn all_text(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(items) => items.iter().map(all_text).collect(),
        Value::Object(fields) => fields.values().map(all_text).collect(),
        _ => String::new(),
    }
}

/// A line diff from `expected` to `actual` with three lines around each change.
pub fn diff(expected: &str, actual: &str) -> String {
    const AROUND: usize = 3;
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), actual.lines().collect());
    // common[i][j]: the length of the longest common subsequence of old[i..] and new[j..].
    let mut common = vec![vec![0u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = if old[i] == new[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push((' ', old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && common[i + 1][j] >= common[i][j + 1]) {
            lines.push(('-', old[i]));
            i += 1;
        } else {
            lines.push(('+', new[j]));
            j += 1;
        }
    }
    let near = |at: usize| {
        let window = at.saturating_sub(AROUND)..(at + AROUND + 1).min(lines.len());
        lines[window].iter().any(|(sign, _)| *sign != ' ')
    };
    let mut text = String::new();
    for (at, (sign, line)) in lines.iter().enumerate() {
        if near(at) {
            text.push_str(&format!("    {sign} {line}\n"));
        } else if at > 0 && near(at - 1) {
            text.push_str("      ...\n");
        }
    }
    text
}
