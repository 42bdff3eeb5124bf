//! `POST /companies/{companyId}/mcp`: who is let in, and what a body is answered with.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Response, StatusCode};
use futures_util::TryStreamExt as _;
use serde_json::{Value as Json, json};
use tokio::time::Instant;

use super::answer::{Problem, code, empty_response, json_response};
use super::app::App;
use super::protocol::{self, Message};
use super::tools::Call;
use crate::company::identity::caller::Caller;
use crate::error::Error;
use crate::mcp::panics;

/// The largest body: a document of 512 KiB fits also where every character is escaped.
const LARGEST_BODY: usize = 4 << 20;

/// How much of a larger body is read to be thrown away.
const LARGEST_DRAINED: usize = 32 << 20;

/// How long a body may take.
const BODY_PATIENCE: Duration = Duration::from_secs(30);

/// Answers what is sent.
pub async fn post(
    State(app): State<Arc<App>>,
    Path(company): Path<String>,
    request: Request,
) -> Response<Body> {
    match received(&app, &company, request).await {
        Ok(response) => response,
        Err(problem) => problem.response(),
    }
}

/// # Errors
///
/// What is refused before anything is dispatched.
async fn received(
    app: &Arc<App>,
    company: &str,
    request: Request,
) -> Result<Response<Body>, Problem> {
    let (head, body) = request.into_parts();
    let caller = app.admit(company, &head.headers).await?;
    check_type(&head.headers)?;
    let bytes = read_body(body).await?;
    let is_client = protocol::is_client(&head.headers);
    let caller = Arc::new(caller);
    let body = protocol::read(&bytes)?;
    // A list would else be a way around the rate: its first message was counted at the door.
    if let protocol::Body::Several(messages) = &body {
        let more = u32::try_from(messages.len() - 1).unwrap_or(u32::MAX);
        app.rate.take(&caller.rate_key(), more, Instant::now())?;
    }
    let call = || Call { company: app.company.clone(), caller: Arc::clone(&caller) };
    match body {
        protocol::Body::One(message) => {
            let answer = answer(app, call(), &head.headers, message).await;
            Ok(match answer {
                None => empty_response(StatusCode::ACCEPTED),
                Some((id, Ok(result))) => json_response(StatusCode::OK, &success(&id, result)),
                Some((id, Err(problem))) => refused(&problem, &id, is_client),
            })
        }
        protocol::Body::Several(messages) => {
            let mut answers = Vec::new();
            for message in messages {
                match answer(app, call(), &head.headers, message).await {
                    None => {}
                    Some((id, Ok(result))) => answers.push(success(&id, result)),
                    Some((id, Err(problem))) => answers.push(problem.reply(&id)),
                }
            }
            Ok(match answers.is_empty() {
                true => empty_response(StatusCode::ACCEPTED),
                false => json_response(StatusCode::OK, &Json::Array(answers)),
            })
        }
    }
}

/// The answer to one message, with its id; `None` for what wants none.
async fn answer(
    app: &App,
    call: Call,
    headers: &HeaderMap,
    message: Json,
) -> Option<(Json, Result<Json, Problem>)> {
    match Message::read(message) {
        Err(refused) => {
            let (id, problem) = *refused;
            Some((id, Err(problem)))
        }
        Ok(Message::Passing) => None,
        Ok(Message::Request { id, method, params }) => {
            let work = protocol::answer(call, &app.tools, headers, &method, params);
            let answer = panics::caught(work).await;
            Some((id, answer.unwrap_or_else(|panicked| Err(Error::from(panicked).into()))))
        }
    }
}

fn success(id: &Json, result: Json) -> Json {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// A refusal of one request. An MCP client takes an HTTP status for a word on its connection: 404
/// for a session that is gone, so it finds the status in the error alone, unless the protocol
/// itself asks for it.
fn refused(problem: &Problem, id: &Json, is_client: bool) -> Response<Body> {
    let of_protocol =
        matches!(problem.code, code::HEADER_MISMATCH | code::PARSE_ERROR | code::INVALID_REQUEST)
            || problem.code == code::UNSUPPORTED_REVISION
                && problem.status == StatusCode::BAD_REQUEST;
    let always = [StatusCode::UNAUTHORIZED, StatusCode::TOO_MANY_REQUESTS];
    if is_client && !of_protocol && !always.contains(&problem.status) {
        return json_response(StatusCode::OK, &problem.reply(id));
    }
    let mut response = problem.response();
    *response.body_mut() = Body::from(problem.reply(id).to_string());
    response
}

fn check_type(headers: &HeaderMap) -> Result<(), Problem> {
    let named = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = named.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        code::INVALID_REQUEST,
        "The body is not said to be JSON. Send the header Content-Type: application/json.",
    ))
}

/// Reads a body. One that is too large is read to its end, up to a limit, and thrown away: a
/// client that is still sending would else not see the reply.
async fn read_body(body: Body) -> Result<Vec<u8>, Problem> {
    let bad = |status, message: &str| Problem::new(status, code::INVALID_REQUEST, message);
    let mut parts = body.into_data_stream();
    let mut bytes = Vec::new();
    let mut length = 0;
    let read = async {
        while length <= LARGEST_DRAINED
            && let Some(part) = parts.try_next().await?
        {
            length += part.len();
            match length <= LARGEST_BODY {
                true => bytes.extend_from_slice(&part),
                false => bytes = Vec::new(),
            }
        }
        Ok::<_, axum::Error>(())
    };
    match tokio::time::timeout(BODY_PATIENCE, read).await {
        Err(_elapsed) => {
            Err(bad(StatusCode::REQUEST_TIMEOUT, "The body did not come within 30 s."))
        }
        Ok(Err(_error)) => Err(bad(StatusCode::BAD_REQUEST, "The body broke off.")),
        Ok(Ok(())) if length > LARGEST_BODY => {
            Err(bad(StatusCode::PAYLOAD_TOO_LARGE, "The body has more than 4 MiB."))
        }
        Ok(Ok(())) => Ok(bytes),
    }
}

impl App {
    /// Lets a request in: who sends it, and not too many of them.
    ///
    /// # Errors
    ///
    /// 401, 403, 404 and 429, over HTTP always.
    pub(super) async fn admit(
        &self,
        company: &str,
        headers: &HeaderMap,
    ) -> Result<Caller, Problem> {
        let caller = self.company.authenticate(company, &self.presented(headers)).await?;
        self.rate.take(&caller.rate_key(), 1, Instant::now())?;
        Ok(caller)
    }
}
