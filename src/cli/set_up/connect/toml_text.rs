//! Edits TOML.

use serde_json::{Map, Value as Json};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::mistake::{Mistake, malformed, no_object};

/// See [`Syntax::set`](crate::cli::set_up::connect::edit::Syntax::set).
pub fn set(text: &str, keys: &[String], entry: &Map<String, Json>) -> Result<String, Mistake> {
    let mut document = parse(text)?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for (depth, key) in keys.iter().enumerate() {
        let is_last = depth + 1 == keys.len();
        let item = table.entry(key).or_insert_with(|| {
            let mut new = Table::new();
            // Only the innermost one needs a header of its own.
            new.set_implicit(!is_last);
            Item::Table(new)
        });
        table = item.as_table_like_mut().ok_or_else(|| no_object(&keys[..=depth]))?;
    }
    merge(table, entry);
    Ok(document.to_string())
}

/// See [`Syntax::remove`](crate::cli::set_up::connect::edit::Syntax::remove).
pub fn remove(text: &str, keys: &[String]) -> Result<String, Mistake> {
    let mut document = parse(text)?;
    let Some((last, above)) = keys.split_last() else { return Ok(text.to_owned()) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for (depth, key) in above.iter().enumerate() {
        let Some(item) = table.get_mut(key) else { return Ok(text.to_owned()) };
        table = item.as_table_like_mut().ok_or_else(|| no_object(&keys[..=depth]))?;
    }
    let Some(removed) = table.remove(last) else { return Ok(text.to_owned()) };
    if let Some(removed) = removed.as_table() {
        keep_comments_above(removed, &mut document);
    }
    Ok(document.to_string())
}

/// See [`Syntax::get`](crate::cli::set_up::connect::edit::Syntax::get).
pub fn get(text: &str, keys: &[String]) -> Result<Option<Json>, Mistake> {
    let document = parse(text)?;
    let mut item = document.as_item();
    for key in keys {
        match item.get(key) {
            Some(inner) => item = inner,
            None => return Ok(None),
        }
    }
    Ok(Some(json(item)))
}

fn parse(text: &str) -> Result<DocumentMut, Mistake> {
    text.parse::<DocumentMut>().map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.get(..start).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[line_start..].chars().count() + 1;
        malformed("TOML", before.matches('\n').count() + 1, column)
    })
}

fn merge(table: &mut dyn TableLike, wanted: &Map<String, Json>) {
    for (key, wanted) in wanted {
        let present = table.get_mut(key);
        match (present, wanted) {
            (Some(item), Json::Object(inner)) if item.is_table_like() => {
                merge(item.as_table_like_mut().expect("it is one"), inner);
            }
            (Some(item), _) if json(item) == *wanted => {}
            (Some(Item::Value(old)), _) => {
                // The comment behind the old value stays.
                let decor = old.decor().clone();
                *old = value(wanted);
                *old.decor_mut() = decor;
            }
            (_, _) => {
                table.insert(key, Item::Value(value(wanted)));
            }
        }
    }
}

/// Comments above a table's header hang on the table; they may as well end the section above
/// it, so they move to the table that follows, or to the end of the file.
fn keep_comments_above(removed: &Table, document: &mut DocumentMut) {
    let prefix = removed.decor().prefix().and_then(|text| text.as_str()).unwrap_or_default();
    if !prefix.contains('#') {
        return;
    }
    let prefix = prefix.to_owned();
    let Some(position) = removed.position() else { return };
    match following(document.as_table_mut(), position) {
        Some(next) => {
            let own = next.decor().prefix().and_then(|text| text.as_str()).unwrap_or_default();
            let both = format!("{prefix}{own}");
            next.decor_mut().set_prefix(both);
        }
        None => {
            let own = document.trailing().as_str().unwrap_or_default();
            let both = format!("{prefix}{own}");
            document.set_trailing(both);
        }
    }
}

/// The table whose header comes next after a position in the file.
fn following(table: &mut Table, position: isize) -> Option<&mut Table> {
    let next = positions(table).into_iter().filter(|&at| at > position).min()?;
    at_position(table, next)
}

fn positions(table: &Table) -> Vec<isize> {
    let inner = table.iter().flat_map(|(_, item)| match item {
        Item::Table(inner) => positions(inner),
        Item::ArrayOfTables(many) => many.iter().flat_map(positions).collect(),
        Item::None | Item::Value(_) => vec![],
    });
    let own = table.position().filter(|_| !table.is_implicit() && !table.is_dotted());
    own.into_iter().chain(inner).collect()
}

fn at_position(table: &mut Table, position: isize) -> Option<&mut Table> {
    if table.position() == Some(position) && !table.is_implicit() && !table.is_dotted() {
        return Some(table);
    }
    table.iter_mut().find_map(|(_, item)| match item {
        Item::Table(inner) => at_position(inner, position),
        Item::ArrayOfTables(many) => many.iter_mut().find_map(|inner| at_position(inner, position)),
        Item::None | Item::Value(_) => None,
    })
}

fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::from(""),
        Json::Bool(value) => Value::from(*value),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::from(number),
            None => Value::from(number.as_f64().unwrap_or_default()),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::Array(items.iter().map(value).collect::<Array>()),
        Json::Object(fields) => Value::InlineTable(
            fields.iter().map(|(key, field)| (key.as_str(), value(field))).collect::<InlineTable>(),
        ),
    }
}

fn json(item: &Item) -> Json {
    fn of_value(value: &Value) -> Json {
        match value {
            Value::String(text) => Json::from(text.value().as_str()),
            Value::Integer(number) => Json::from(*number.value()),
            Value::Float(number) => Json::from(*number.value()),
            Value::Boolean(flag) => Json::from(*flag.value()),
            Value::Datetime(time) => Json::from(time.value().to_string()),
            Value::Array(items) => Json::Array(items.iter().map(of_value).collect()),
            Value::InlineTable(table) => Json::Object(
                table.iter().map(|(key, inner)| (key.to_owned(), of_value(inner))).collect(),
            ),
        }
    }
    match item {
        Item::None => Json::Null,
        Item::Value(value) => of_value(value),
        Item::Table(table) => {
            Json::Object(table.iter().map(|(key, inner)| (key.to_owned(), json(inner))).collect())
        }
        Item::ArrayOfTables(many) => {
            Json::Array(many.iter().map(|table| json(&Item::Table(table.clone()))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn keys() -> Vec<String> {
        ["mcp_servers", "govforge"].map(str::to_owned).to_vec()
    }

    fn entry() -> Map<String, Json> {
        let entry =
            json!({"command": "/bin/govforge", "args": [], "env": {"GOVFORGE_DB": "/l.db"}});
        entry.as_object().unwrap().clone()
    }

    const ENTRY: &str = "[mcp_servers.govforge]\ncommand = \"/bin/govforge\"\nargs = []\n\
                         env = { GOVFORGE_DB = \"/l.db\" }\n";

    #[test]
    fn a_new_file_has_one_header() {
        assert_eq!(set("", &keys(), &entry()).unwrap(), ENTRY);
    }

    #[test]
    fn everything_else_stays_as_it_was() {
        let before = "# mine\nmodel   = 'x' # odd\n\n[mcp_servers.other]\ncommand = \"y\"\n\n[tui]\n# last\n";
        let after = set(before, &keys(), &entry()).unwrap();
        assert!(
            after.starts_with("# mine\nmodel   = 'x' # odd\n\n[mcp_servers.other]\n"),
            "{after}"
        );
        assert!(after.contains("[tui]\n# last\n"), "{after}");
        assert_eq!(get(&after, &keys()).unwrap(), Some(Json::Object(entry())));
        assert_eq!(set(&after, &keys(), &entry()).unwrap(), after);
        let removed = remove(&after, &keys()).unwrap();
        assert_eq!(get(&removed, &keys()).unwrap(), None);
        for part in ["# mine", "[mcp_servers.other]", "[tui]", "# last"] {
            assert!(removed.contains(part), "{part} is missing from {removed}");
        }
    }

    #[test]
    fn every_way_to_write_an_entry_is_merged_into() {
        for before in [
            "[mcp_servers]\ngovforge = { command = \"old\", env = { RUST_LOG = \"info\" } }\n",
            "mcp_servers.govforge.command = \"old\"\nmcp_servers.govforge.env.RUST_LOG = \"info\"\n",
            "[mcp_servers.govforge]\ncommand = \"old\" # by hand\n[mcp_servers.govforge.env]\nRUST_LOG = \"info\"\n",
        ] {
            let after = set(before, &keys(), &entry()).unwrap();
            let found = get(&after, &keys()).unwrap().unwrap();
            assert_eq!(found["command"], "/bin/govforge", "{after}");
            assert_eq!(
                found["env"],
                json!({"RUST_LOG": "info", "GOVFORGE_DB": "/l.db"}),
                "{after}"
            );
            assert_eq!(after.contains("# by hand"), before.contains("# by hand"));
            assert_eq!(set(&after, &keys(), &entry()).unwrap(), after);
        }
    }

    #[test]
    fn comments_above_the_removed_table_stay() {
        let first = format!("[a]\nx = 1\n# ends a\n\n{ENTRY}\n[b]\n");
        assert_eq!(remove(&first, &keys()).unwrap(), "[a]\nx = 1\n# ends a\n\n\n[b]\n");
        let last = format!("[a]\nx = 1\n# ends a\n\n{ENTRY}");
        assert_eq!(remove(&last, &keys()).unwrap(), "[a]\nx = 1\n# ends a\n\n");
    }

    #[test]
    fn what_is_no_such_file_is_refused() {
        for (text, part) in [
            ("model = 'x'\nnonsense\n", "line 2"),
            ("[[mcp_servers]]\n", "at mcp_servers"),
            ("mcp_servers.govforge = 3\n", "at mcp_servers.govforge"),
        ] {
            let Mistake(mistake) = set(text, &keys(), &entry()).unwrap_err();
            assert!(mistake.contains(part), "{mistake}");
        }
        assert_eq!(remove("x = 1\n", &keys()).unwrap(), "x = 1\n");
    }
}
