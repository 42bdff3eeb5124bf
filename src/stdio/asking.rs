//! Asking the person at the client for a verdict.
//!
//! In the revisions before 2026-07-28 the server sends `elicitation/create` and the call waits
//! for the answer. From then on a server may not ask: the call ends with the question and a
//! sealed state, and the client sends it again with both.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::handler::server::tool::IntoCallToolResult as _;
use rmcp::handler::server::wrapper::Json;
use rmcp::model::{
    CallToolResponse, CancelledNotificationParam, ClientResult, ElicitRequest, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationSchema, InputRequest, InputRequiredResult,
    InputResponses, ProtocolVersion, RequestStateCodec, SealOptions, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, ServiceError};
use serde_json::{Value, json};

use crate::domain::value::{ApprovalStatus, Value as _};
use crate::error::{Code, Error, Result};
use crate::ledger::Service;
use crate::ledger::settings::config::Confirm;
use crate::ledger::verdict::approvals::{ApproveDecision, unanswered};
use crate::ledger::verdict::gate::{Confirmation, Confirmed};
use crate::ledger::verdict::question::Question;
use crate::ledger::verdict::sheet::quoted;

/// How long a person may take.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// How long a sealed question can be answered.
const STATE_LIFE: Duration = Duration::from_secs(60 * 60);

/// The field of the form for the verdict, and the one question's name among the requests of an
/// [`InputRequiredResult`].
const VERDICT: &str = "verdict";

/// The field of the form for the decision's ID, which an approval needs. No argument of the tool
/// is called so: a client may fill a form in with those.
const TYPED_ID: &str = "typed_id";

/// The first choice, which is no verdict.
const UNDECIDED: &str = "undecided";

/// How this process asks.
pub struct Asking {
    /// Seals the state of a question that the client carries; its key lives as long as the
    /// process.
    seal: RequestStateCodec,
    patience: Duration,
    state_life: Duration,
}

impl Asking {
    /// With a seal of its own, and time for a person to think.
    pub fn new() -> Self {
        let mut key = [0; 32];
        getrandom::fill(&mut key).expect("the system gives random bytes");
        let seal = RequestStateCodec::try_new(key).expect("the key is long enough");
        Self { seal, patience: PATIENCE, state_life: STATE_LIFE }
    }
}

/// What came with a call that was sent again with an answer.
pub struct Retry {
    pub state: Option<String>,
    pub responses: Option<InputResponses>,
}

/// Takes a verdict: asks where the client can and the settings let it, else as the settings
/// say.
///
/// # Errors
///
/// As [`Service::approve_decision`], and refuses what nobody answered.
pub async fn verdict(
    service: &Service,
    asking: &Asking,
    input: ApproveDecision,
    retry: Retry,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse> {
    if !can_ask(context) {
        return complete(service, input, Confirmation::asserted()).await;
    }
    let question = service.verdict_question(&input).await?;
    if question.confirm == Confirm::Never {
        return complete(service, input, Confirmation::asserted()).await;
    }
    let may_send =
        context.protocol_version().is_none_or(|version| version < ProtocolVersion::V_2026_07_28);
    if may_send {
        let answer = ask(&question, &input, asking.patience, context).await?;
        let seen = question.fingerprint.clone();
        return answered(service, input, &question, answer, seen).await;
    }
    let call = call_of(&input);
    let Retry { state: Some(state), responses: Some(mut responses) } = retry else {
        return Ok(required(asking, &question, &input, &call));
    };
    let seen = asking.seal.open_with(&state, call.as_bytes()).ok();
    let seen = seen.and_then(|seen| String::from_utf8(seen).ok()).ok_or_else(|| {
        Error::refused(
            Code::PersonMustDecide,
            "The requestState is none that this server gave for this call, or it is older than \
             an hour. Nothing was recorded; send the call without it, and the person is asked.",
        )
    })?;
    let answer = responses.remove(VERDICT).and_then(|answer| serde_json::from_value(answer).ok());
    let answer: ElicitResult = answer.ok_or_else(|| {
        unanswered(&question.decision_id, "the answer that came with the call is none")
    })?;
    answered(service, input, &question, answer, seen).await
}

/// Whether the client declared that it can show its user a form.
fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let capabilities = context.client_capabilities().unwrap_or_default();
    // Neither mode named means forms, as in the first revision that had elicitation.
    capabilities.elicitation.is_some_and(|can| can.form.is_some() || can.url.is_none())
}

async fn ask(
    question: &Question,
    input: &ApproveDecision,
    patience: Duration,
    context: &RequestContext<RoleServer>,
) -> Result<ElicitResult> {
    let unanswered = |why| unanswered(&question.decision_id, why);
    let failed = |error: ServiceError| {
        tracing::info!(%error, "the person was not asked");
        unanswered(match error {
            ServiceError::Timeout { .. } => "nobody answered in time",
            _ => "the client could not ask",
        })
    };
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form(question, input)));
    let options = PeerRequestOptions::with_timeout(patience);
    let asked = context.peer.send_cancellable_request(request, options).await.map_err(failed)?;
    let id = asked.id.clone();
    let answer = tokio::select! {
        biased;
        answer = asked.await_response() => answer.map_err(failed)?,
        // Nobody waits for the verdict any more: the form is to go away.
        () = context.ct.cancelled() => {
            let reason = Some("the call was cancelled".to_owned());
            let withdrawn = CancelledNotificationParam::new(Some(id), reason);
            // The client may be gone.
            let _ = context.peer.notify_cancelled(withdrawn).await;
            return Err(unanswered("the call was cancelled"));
        }
    };
    match answer {
        ClientResult::ElicitResult(answer) => Ok(answer),
        _ => Err(unanswered("the client's answer is none")),
    }
}

fn required(
    asking: &Asking,
    question: &Question,
    input: &ApproveDecision,
    call: &str,
) -> CallToolResponse {
    let options = SealOptions::new().associated_data(call.as_bytes()).ttl(asking.state_life);
    let state = asking.seal.seal_with(question.fingerprint.as_bytes(), &options);
    let request = InputRequest::Elicitation(ElicitRequest::new(form(question, input)));
    let requests = [(VERDICT.to_owned(), request)].into();
    InputRequiredResult::new(Some(requests), Some(state)).into()
}

/// What the state is bound to: an answer to one call is none to another.
fn call_of(input: &ApproveDecision) -> String {
    json!(["approve_decision", input.decision_id, input.approver, input.status, input.comment])
        .to_string()
}

async fn answered(
    service: &Service,
    mut input: ApproveDecision,
    question: &Question,
    answer: ElicitResult,
    seen: String,
) -> Result<CallToolResponse> {
    let id = &question.decision_id;
    match answer.action {
        ElicitationAction::Accept => {}
        ElicitationAction::Decline => return Err(unanswered(id, "the question was declined")),
        _ => return Err(unanswered(id, "the question was dismissed")),
    }
    let content = answer.content.unwrap_or_default();
    let verdict = content[VERDICT].as_str();
    if verdict.is_some_and(|verdict| verdict.trim().eq_ignore_ascii_case(UNDECIDED)) {
        return Err(unanswered(id, "the form came back undecided"));
    }
    let verdict = verdict.and_then(ApprovalStatus::read);
    input.status = verdict.ok_or_else(|| unanswered(id, "the form came back without a verdict"))?;
    let typed = content[TYPED_ID].as_str().unwrap_or_default().trim();
    if input.status == ApprovalStatus::Approved && !typed.eq_ignore_ascii_case(id) {
        let why = format!("the form came back with an approval, but without {id} typed into it");
        return Err(unanswered(id, &why));
    }
    let comment = match &content["comment"] {
        Value::Null => "",
        Value::String(comment) => comment.trim(),
        _ => return Err(unanswered(id, "the form came back with a comment that is no text")),
    };
    if comment.contains('\0') || comment.chars().count() > MAX_COMMENT {
        return Err(unanswered(
            id,
            "the comment is longer than 1048576 characters or holds a NUL character",
        ));
    }
    input.comment = (!comment.is_empty()).then(|| comment.to_owned());
    complete(service, input, Confirmation { how: Confirmed::Asked, seen: Some(seen) }).await
}

/// The longest comment, in characters, as for every text of a call.
const MAX_COMMENT: usize = 1_048_576;

async fn complete(
    service: &Service,
    input: ApproveDecision,
    confirmation: Confirmation,
) -> Result<CallToolResponse> {
    let given = service.approve_decision(input, confirmation).await?;
    Json(given)
        .into_call_tool_result()
        .map_err(|error| Error::fault("the result is no JSON", error))
}

/// The form: the question as text, and what the person fills in. Nothing is filled in for them,
/// and neither what a client would send by itself, the defaults or the first of each choice, nor
/// any single choice approves.
fn form(question: &Question, input: &ApproveDecision) -> ElicitRequestParams {
    let id = &question.decision_id;
    let Value::Object(schema) = json!({
        "type": "object",
        "properties": {
            VERDICT: {
                "type": "string",
                "title": "Verdict",
                "description": "What you decide.",
                "enum": [UNDECIDED, "needs_changes", "rejected", "approved"],
            },
            TYPED_ID: {
                "type": "string",
                "title": "To approve, type the decision's ID",
                "description": "It stands at the top of the question. Not needed otherwise.",
                // Some clients send null for what is left out and has no default, and then
                // refuse it themselves.
                "default": "",
            },
            "comment": {
                "type": "string",
                "title": "Comment",
                "description": "Your reasons or conditions; stands on the record.",
                "default": "",
            },
        },
        "required": [VERDICT],
    }) else {
        unreachable!("an object is written above")
    };
    let comment = input.comment.as_deref().map(str::trim).filter(|comment| !comment.is_empty());
    let comment = comment.map(|comment| format!(", with the comment {}", quoted(comment)));
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!(
            "An agent asks for your verdict on a decision, in the name of {}.\n\n{question}\n\
             The agent proposes: {}{}. Only what you answer is recorded; leaving it undecided, or \
             declining, records nothing. To approve, choose \"approved\" and type {id}.",
            quoted(input.approver.trim()),
            input.status,
            comment.unwrap_or_default()
        ),
        requested_schema: ElicitationSchema::from_json_schema(schema)
            .expect("the schema is one of a form"),
    }
}

#[cfg(test)]
mod tests;
