//! The tools of the endpoint, one file per kind. A tool is one small function: it takes the call
//! and its parameters, and calls one use case. Who may call it stands in
//! [`crate::domain::company::access::tools`].

mod read;
mod write;

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

use axum::http::StatusCode;
use rmcp::model::{JsonObject, Tool as Published, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};

use super::answer::{Problem, code};
use crate::company::Service;
use crate::company::identity::caller::Caller;
use crate::domain::company::access::tools as gates;
use crate::domain::excerpt::quoted;
use crate::domain::names::nearest::nearest;
use crate::domain::value::Value as _;
use crate::error::{Code, Error, Result};
use crate::mcp::args::Args;
use crate::mcp::schema;

/// Who calls, and what they call it on.
#[derive(Clone)]
pub struct Call {
    pub company: Service,
    pub caller: Arc<Caller>,
}

type Running = Pin<Box<dyn Future<Output = Result<Json>> + Send>>;

/// A tool: how it is published, and the function that runs it.
pub struct Tool {
    published: Published,
    run: Box<dyn Fn(Call, Option<JsonObject>) -> Running + Send + Sync>,
}

/// What a tool does to the company, for the client's confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    Writes,
}

/// A tool of a name, made from its function. What the function takes and gives is published as
/// its schemas.
fn tool<I, O, F, R>(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: Effect,
    run: F,
) -> Tool
where
    I: DeserializeOwned + JsonSchema + 'static,
    O: Serialize + JsonSchema + 'static,
    F: Fn(Call, I) -> R + Send + Sync + Clone + 'static,
    R: Future<Output = Result<O>> + Send,
{
    let reads = effect == Effect::Reads;
    let annotations = ToolAnnotations::with_title(title)
        .read_only(reads)
        .destructive(false)
        .idempotent(reads)
        .open_world(false);
    let mut published = Published::new(name, description, schema::input::<I>())
        .with_title(title)
        .with_annotations(annotations);
    // What a list gives is no object, and only objects have a published schema.
    published.output_schema =
        Some(schema::output::<O>()).filter(|schema| schema.get("type") == Some(&json!("object")));
    let run = move |call, given: Option<JsonObject>| -> Running {
        let run = run.clone();
        Box::pin(async move {
            let input = Args::<I>::from(given).read()?;
            let output = run(call, input).await?;
            serde_json::to_value(output)
                .map_err(|error| Error::fault("the result cannot be written as JSON", error))
        })
    };
    Tool { published, run: Box::new(run) }
}

/// No parameters.
#[derive(Debug, serde::Deserialize, JsonSchema)]
pub struct Nothing {}

/// All tools that there are.
pub struct Tools {
    by_name: HashMap<&'static str, Tool>,
    /// In the order of the gates.
    order: Vec<&'static str>,
}

impl Tools {
    /// Every tool.
    pub fn all() -> Self {
        let made = read::tools().into_iter().chain(write::tools());
        let mut by_name: HashMap<&'static str, Tool> = HashMap::new();
        for tool in made {
            if let Some(gate) = gates::find(&tool.published.name) {
                by_name.insert(gate.name, tool);
            }
        }
        let order = gates::TOOLS.iter().map(|gate| gate.name);
        let order = order.filter(|name| by_name.contains_key(name)).collect();
        Self { by_name, order }
    }

    /// As they are published, in their order.
    pub fn published(&self) -> Vec<Published> {
        self.order.iter().map(|name| self.by_name[name].published.clone()).collect()
    }

    /// Answers `tools/call`: the gate first, then the parameters, then the use case.
    ///
    /// # Errors
    ///
    /// An unknown tool, one that the caller's kind may not call, and what the use case refuses.
    pub async fn call(&self, call: Call, mut params: Map<String, Json>) -> Result<Json, Problem> {
        let name = match params.shift_remove("name") {
            Some(Json::String(name)) => name,
            _ => return Err(Error::invalid("`name` is missing; it takes a tool's name.").into()),
        };
        let Some((tool, gate)) = self.by_name.get(name.as_str()).zip(gates::find(&name)) else {
            return Err(self.unknown(&name));
        };
        let actor = call.caller.actor();
        if !gate.actors.contains(&actor) {
            let may: Vec<&str> = gate.actors.iter().map(|actor| actor.wire()).collect();
            return Err(Error::refused(
                Code::Forbidden,
                format!("{name} is not for the actor {actor}; it is for {}.", may.join(" and ")),
            )
            .into());
        }
        let given = match params.shift_remove("arguments") {
            None | Some(Json::Null) => None,
            Some(Json::Object(given)) => Some(given),
            Some(_) => return Err(Error::invalid("`arguments` is no object.").into()),
        };
        let result = (tool.run)(call, given).await?;
        let mut shown = json!({ "content": [{ "type": "text", "text": result.to_string() }] });
        if result.is_object() {
            shown["structuredContent"] = result;
        }
        Ok(shown)
    }

    fn unknown(&self, name: &str) -> Problem {
        let hint = match nearest(name, self.order.iter().copied()) {
            Some(nearest) => format!(" Did you mean `{nearest}`?"),
            None => String::new(),
        };
        let message = format!(
            "No tool is named {}.{hint} The tools are {}.",
            quoted(name),
            self.order.join(", ")
        );
        Problem::new(StatusCode::BAD_REQUEST, code::UNKNOWN, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::schema::{Side, violations};

    #[test]
    fn every_tool_stands_behind_a_gate_and_its_schemas_are_what_every_client_takes() {
        let made = read::tools().into_iter().chain(write::tools());
        let tools = Tools::all();
        assert_eq!(tools.published().len(), made.count(), "a tool has no gate");
        for tool in tools.published() {
            let name = &tool.name;
            assert_eq!(violations(Side::Input, &tool.input_schema), [""; 0], "{name}");
            if let Some(output) = &tool.output_schema {
                assert_eq!(violations(Side::Output, output), [""; 0], "{name}");
            }
        }
    }
}
