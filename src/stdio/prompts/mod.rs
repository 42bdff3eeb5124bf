//! The three prompts: their names, arguments and errors. The texts are in [`text`].

pub mod text;

use rmcp::ErrorData;
use rmcp::handler::server::prompt::PromptContext;
use rmcp::handler::server::router::prompt::PromptRouter;
use rmcp::model::{GetPromptResponse, GetPromptResult, PromptArgument, PromptMessage, Role};
use rmcp::{prompt, prompt_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::domain::excerpt::quoted;
use crate::domain::names::nearest::nearest;
use crate::error::{Audience, Error};
use crate::mcp::args::Args;
use crate::mcp::schema;
use crate::stdio::state::State;

/// The arguments of a prompt about a decision.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AboutDecision {
    /// The decision's ID, such as DEC-001 (or `project name/DEC-001`, or its UUID).
    #[schemars(length(min = 1, max = 512))]
    decision_id: String,
}

/// The arguments of the review prompt.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReviewDecision {
    /// The decision's ID, such as DEC-001 (or `project name/DEC-001`, or its UUID).
    #[schemars(length(min = 1, max = 512))]
    decision_id: String,
    /// What to look at first, separated by commas. Default: security,tests,architecture.
    #[serde(default)]
    #[schemars(length(min = 1, max = 512))]
    focus: Option<String>,
}

/// All prompts.
pub fn router() -> PromptRouter<State> {
    State::prompt_router()
}

#[prompt_router]
impl State {
    #[prompt(
        title = "Review a decision",
        description = "Asks for a code review of a decision's change as structured findings, sent with submit_review.",
        arguments = arguments::<ReviewDecision>()
    )]
    fn review_code_decision(
        &self,
        args: Args<ReviewDecision>,
    ) -> Result<GetPromptResult, ErrorData> {
        let ReviewDecision { decision_id, focus } = read(args)?;
        let focus = focus.as_deref().unwrap_or(text::DEFAULT_FOCUS);
        Ok(one_message(text::review_code_decision(&decision_id, focus)))
    }

    #[prompt(
        title = "Explain a disagreement",
        description = "Asks for a mediator's synthesis of the disagreements on a decision, without taking a side.",
        arguments = arguments::<AboutDecision>()
    )]
    fn explain_disagreement(
        &self,
        args: Args<AboutDecision>,
    ) -> Result<GetPromptResult, ErrorData> {
        Ok(one_message(text::explain_disagreement(&read(args)?.decision_id)))
    }

    #[prompt(
        title = "Summarize a decision for an audit",
        description = "Asks for a summary of a decision that a stranger understands months later, from the record alone.",
        arguments = arguments::<AboutDecision>()
    )]
    fn summarize_decision(&self, args: Args<AboutDecision>) -> Result<GetPromptResult, ErrorData> {
        Ok(one_message(text::summarize_decision(&read(args)?.decision_id)))
    }
}

/// Answers `prompts/get`. In place of the router's own method, whose message for an unknown
/// name does not tell the known ones.
///
/// # Errors
///
/// -32602 for an unknown prompt and for a missing, unknown or unreadable argument.
pub async fn get(
    router: &PromptRouter<State>,
    context: PromptContext<'_, State>,
) -> Result<GetPromptResponse, ErrorData> {
    let mut prompts = router.list_all();
    let Some(asked) = prompts.iter_mut().find(|prompt| prompt.name == context.name) else {
        let known: Vec<&str> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
        return Err(ErrorData::invalid_params(unknown(&context.name, &known), None));
    };
    let description = asked.description.take();
    let mut response = router.get_prompt(context).await?;
    if let GetPromptResponse::Complete(result) = &mut response {
        result.description = description;
    }
    Ok(response)
}

fn unknown(name: &str, known: &[&str]) -> String {
    let hint = match nearest(name, known.iter().copied()) {
        Some(nearest) => format!(" Did you mean `{nearest}`?"),
        None => String::new(),
    };
    let (name, known) = (quoted(name), known.join(", "));
    format!("No prompt is named {name}.{hint} The prompts are {known}.")
}

fn read<T: DeserializeOwned + JsonSchema + 'static>(args: Args<T>) -> Result<T, ErrorData> {
    args.read().map_err(|error| match error {
        Error::Refused(refusal) => {
            ErrorData::invalid_params(refusal.told(Audience::Agent).to_owned(), None)
        }
        Error::Fault(fault) => {
            tracing::error!(error = &fault as &dyn std::error::Error, "a prompt failed");
            ErrorData::internal_error(fault.summary, None)
        }
    })
}

/// A prompt's arguments, from the schema by which they are read.
fn arguments<T: JsonSchema + 'static>() -> Option<Vec<PromptArgument>> {
    let schema = schema::input::<T>();
    let required = schema.get("required").and_then(|required| required.as_array());
    let properties = schema.get("properties")?.as_object()?;
    let argument = |(name, property): (&String, &serde_json::Value)| {
        let description = property["description"].as_str().unwrap_or_default();
        PromptArgument::new(name)
            .with_description(description)
            .with_required(required.is_some_and(|required| required.iter().any(|one| one == name)))
    };
    Some(properties.iter().map(argument).collect())
}

fn one_message(text: String) -> GetPromptResult {
    GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)])
}

#[cfg(test)]
mod tests {
    use rmcp::model::ErrorCode;
    use serde_json::{Value, json};

    use super::*;

    fn args<T>(given: Value) -> Args<T> {
        Args::from(given.as_object().cloned())
    }

    #[test]
    fn lists_three_prompts_with_titles_and_described_arguments() {
        let prompts = serde_json::to_value(router().list_all()).unwrap();
        let decision_id = json!({
            "name": "decision_id",
            "description": "The decision's ID, such as DEC-001 (or `project name/DEC-001`, or its UUID).",
            "required": true,
        });
        assert_eq!(prompts[0]["name"], "explain_disagreement");
        assert_eq!(prompts[0]["title"], "Explain a disagreement");
        assert_eq!(prompts[0]["arguments"], json!([decision_id]));
        assert_eq!(prompts[1]["name"], "review_code_decision");
        assert_eq!(
            prompts[1]["arguments"],
            json!([decision_id, {
                "name": "focus",
                "description": "What to look at first, separated by commas. Default: security,tests,architecture.",
                "required": false,
            }])
        );
        assert_eq!(prompts[2]["name"], "summarize_decision");
        assert_eq!(prompts[2]["arguments"], json!([decision_id]));
    }

    #[test]
    fn a_wrong_argument_is_invalid_params_and_named() {
        let cases = [
            (json!({}), "`decision_id` is missing;"),
            (json!({"decision_id": " "}), "`decision_id` is blank;"),
            (
                json!({"decision_id": "DEC-001", "focsu": "tests"}),
                "`focsu` is unknown. Did you mean `focus`?",
            ),
            (
                json!({"decision_id": "DEC-001", "focus": "x".repeat(513)}),
                "`focus` has 513 characters",
            ),
        ];
        for (given, expected) in cases {
            let error = read::<ReviewDecision>(args(given)).unwrap_err();
            assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
            assert!(error.message.starts_with(expected), "{}", error.message);
        }
    }

    #[test]
    fn an_absent_or_empty_focus_is_the_default() {
        for focus in [Value::Null, json!(""), json!("  ")] {
            let given = args(json!({"decision_id": "DEC-001", "focus": focus}));
            assert_eq!(read::<ReviewDecision>(given).unwrap().focus, None);
        }
    }

    #[test]
    fn an_unknown_prompt_is_told_the_known_ones() {
        assert_eq!(
            unknown("sumarize", &["explain_disagreement", "summarize_decision"]),
            r#"No prompt is named "sumarize". Did you mean `summarize_decision`? The prompts are explain_disagreement, summarize_decision."#
        );
    }
}
