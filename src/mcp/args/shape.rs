//! A published schema, as the reader looks at it.

use rmcp::model::JsonObject;
use serde_json::Value;

/// The schema of one value, in the published form (see [`crate::mcp::schema`]).
#[derive(Debug, Clone, Copy)]
pub struct Shape<'a>(pub &'a JsonObject);

impl<'a> Shape<'a> {
    /// The one type.
    pub fn kind(self) -> &'a str {
        self.0.get("type").and_then(Value::as_str).unwrap_or_default()
    }

    /// The values of an enum.
    pub fn values(self) -> Option<Vec<&'a str>> {
        let values = self.0.get("enum")?.as_array()?;
        Some(values.iter().filter_map(Value::as_str).collect())
    }

    /// A numeric keyword such as `maxLength`.
    pub fn bound(self, keyword: &str) -> Option<i64> {
        self.0.get(keyword).and_then(Value::as_i64)
    }

    /// The shape of a list's items.
    pub fn items(self) -> Option<Shape<'a>> {
        self.0.get("items").and_then(Value::as_object).map(Shape)
    }

    /// The names and shapes of an object's properties.
    pub fn properties(self) -> impl Iterator<Item = (&'a str, Shape<'a>)> {
        let properties = self.0.get("properties").and_then(Value::as_object);
        properties
            .into_iter()
            .flatten()
            .filter_map(|(name, property)| Some((name.as_str(), Shape(property.as_object()?))))
    }

    /// Whether an object must have the property.
    pub fn requires(self, name: &str) -> bool {
        let required = self.0.get("required").and_then(Value::as_array);
        required.is_some_and(|required| required.iter().any(|one| one == name))
    }

    /// Whether null is a value of its own, and not another word for "absent".
    pub fn is_nullable(self) -> bool {
        self.0.get("nullable").and_then(Value::as_bool).unwrap_or_default()
    }

    /// Whether it is a text that must not be empty where it is given.
    pub fn is_non_blank_text(self) -> bool {
        self.kind() == "string" && self.bound("minLength").is_some_and(|least| least > 0)
    }

    /// Whether it is a name or a title, which is kept without surrounding blanks: a text of at
    /// most 512 characters.
    pub fn is_label(self) -> bool {
        self.kind() == "string" && self.bound("maxLength").is_some_and(|most| most <= 512)
    }

    /// Whether a blank text stands for "nothing": wherever it could not be a value. Only a
    /// free text without a default may be blank.
    pub fn reads_blank_as_absent(self) -> bool {
        let has_default = self.0.get("default").and_then(Value::as_str).is_some();
        self.kind() != "string"
            || self.values().is_some()
            || self.is_label()
            || self.is_non_blank_text()
            || has_default
    }

    /// Whether a word for null stands for "nothing": wherever it could not be a value.
    pub fn reads_null_words(self) -> bool {
        self.kind() != "string" || self.values().is_some()
    }

    /// The first sentence of the description, in brackets, for a caller that has not read it;
    /// empty if there is none.
    pub fn meaning(self) -> String {
        let description = self.0.get("description").and_then(Value::as_str).unwrap_or_default();
        match description.split(". ").next().unwrap_or_default().trim_end_matches('.') {
            "" => String::new(),
            sentence => format!(" ({sentence})"),
        }
    }

    /// What is accepted, as the object of a sentence.
    pub fn accepted(self) -> String {
        if let Some(values) = self.values() {
            return format!("one of {}", values.join(", "));
        }
        match self.kind() {
            "boolean" => "true or false".to_owned(),
            "integer" => match (self.bound("minimum"), self.bound("maximum")) {
                (Some(least), Some(most)) => format!("a whole number from {least} to {most}"),
                (Some(least), None) => format!("a whole number, {least} or more"),
                (None, Some(most)) => format!("a whole number, {most} or less"),
                (None, None) => "a whole number".to_owned(),
            },
            "array" => match self.items() {
                Some(items) if items.kind() == "object" => {
                    format!("a list, each item {}", items.accepted())
                }
                _ => "a list of texts".to_owned(),
            },
            "object" => {
                let (required, optional): (Vec<_>, Vec<_>) =
                    self.properties().map(|(name, _)| name).partition(|name| self.requires(name));
                let optional = match optional.as_slice() {
                    [] => String::new(),
                    optional => format!(" and, if wanted, {}", optional.join(", ")),
                };
                format!("an object with {}{optional}", required.join(", "))
            }
            _ => {
                let not_blank = if self.is_non_blank_text() { "non-blank " } else { "" };
                match self.bound("maxLength") {
                    Some(most) => format!("a {not_blank}text of at most {most} characters"),
                    None => format!("a {not_blank}text"),
                }
            }
        }
    }
}
