//! How the program's error looks to a client: the one place that turns it into the wire.

use rmcp::ErrorData;
use rmcp::handler::server::tool::IntoCallToolResult;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};

use crate::error::{Code, Error, Fault};

/// Of a tool: a refusal is a result that the model reads, a fault a JSON-RPC error.
impl IntoCallToolResult for Error {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        match self {
            Self::Refused(refusal) => {
                Ok(CallToolResult::error(vec![ContentBlock::text(refusal.to_string())]).into())
            }
            Self::Fault(fault) => Err(internal(&fault)),
        }
    }
}

/// Of a resource. rmcp turns "resource not found" (-32002) into -32602 for the revisions that
/// have no code of their own for it (2026-07-28 and later).
pub fn of_resource(error: Error) -> ErrorData {
    match error {
        Error::Refused(refusal) => match refusal.code {
            Code::ProjectNotFound
            | Code::TaskNotFound
            | Code::DecisionNotFound
            | Code::ReviewNotFound
            | Code::AmbiguousId => ErrorData::resource_not_found(refusal.to_string(), None),
            _ => ErrorData::invalid_params(refusal.to_string(), None),
        },
        Error::Fault(fault) => internal(&fault),
    }
}

/// Of a list: there is nothing to refuse in the request itself.
pub fn of_list(error: Error) -> ErrorData {
    match error {
        Error::Refused(refusal) => ErrorData::internal_error(refusal.to_string(), None),
        Error::Fault(fault) => internal(&fault),
    }
}

/// -32603 with the summary; the cause goes to the log alone.
pub fn internal(fault: &Fault) -> ErrorData {
    tracing::error!(error = fault as &dyn std::error::Error, "a call failed");
    ErrorData::internal_error(fault.summary.clone(), None)
}
