//! The tools, one file per topic. A handler reads the parameters, calls one use case and wraps
//! the result; what a tool does stands in [`crate::ledger`].

mod approvals;
mod decisions;
mod reviews;
mod tasks;

use rmcp::ErrorData;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::model::Tool;

use crate::domain::excerpt::quoted;
use crate::domain::names::nearest::nearest;
use crate::stdio::state::State;

/// All tools.
pub fn router() -> ToolRouter<State> {
    State::task_tools() + State::decision_tools() + State::review_tools() + State::approval_tools()
}

/// -32602 for a tool that there is not, with the nearest that there is.
pub fn unknown(name: &str, tools: &[Tool]) -> ErrorData {
    let known: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    let hint = match nearest(name, known.iter().copied()) {
        Some(nearest) => format!(" Did you mean `{nearest}`?"),
        None => String::new(),
    };
    let message =
        format!("No tool is named {}.{hint} The tools are {}.", quoted(name), known.join(", "));
    ErrorData::invalid_params(message, None)
}
