//! How an error looks on this surface: the one table of statuses and codes, and the replies.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, Response, StatusCode};
use serde_json::{Value as Json, json};

use crate::error::{Audience, Code, Error};

/// What goes wrong here before or beside a use case.
pub(super) mod code {
    pub const PARSE_ERROR: i32 = -32700;
    pub const INVALID_REQUEST: i32 = -32600;
    pub const UNKNOWN: i32 = -32601;
    pub const INVALID_ARGUMENTS: i32 = -32602;
    pub const FAULT: i32 = -32603;
    pub const HEADER_MISMATCH: i32 = -32020;
    pub const UNSUPPORTED_REVISION: i32 = -32022;
}

/// An error as a caller sees it: the status over HTTP, and the JSON-RPC error.
#[derive(Debug, Clone)]
pub struct Problem {
    pub status: StatusCode,
    pub code: i32,
    pub message: String,
    /// The stable name of a refusal; none for what is no refusal of a use case.
    pub name: Option<Code>,
    /// What a client finds under `data` beside status, name and hint.
    pub data: Option<Json>,
    /// After how many seconds it can be sent again.
    pub retry_after: Option<u64>,
}

impl Problem {
    /// A problem of the protocol itself.
    pub fn new(status: StatusCode, code: i32, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), name: None, data: None, retry_after: None }
    }

    /// What a caller may do about it.
    fn hint(&self) -> Option<&'static str> {
        match self.status.as_u16() {
            401 => Some("Do not retry with this credential: it is not accepted."),
            403 => Some("Do not retry: you may not do this."),
            404 => Some("Do not retry: it is not there for you."),
            409 => Some("Read it again before you send another call."),
            422 => Some("Do not retry unchanged: the state does not allow it."),
            429 | 503 => Some("Send the same call again later."),
            _ => None,
        }
    }

    /// The JSON-RPC error.
    pub fn error(&self) -> Json {
        let mut data = json!({ "status": self.status.as_u16() });
        if let Some(name) = self.name {
            data["code"] = json!(name.to_string());
        }
        if let Some(hint) = self.hint() {
            data["hint"] = json!(hint);
        }
        if let Some(seconds) = self.retry_after {
            data["retryAfter"] = json!(seconds);
        }
        if let (Some(Json::Object(more)), Json::Object(data)) = (&self.data, &mut data) {
            data.extend(more.clone());
        }
        json!({ "code": self.code, "message": self.message, "data": data })
    }

    /// The whole reply, to the request of that id.
    pub fn reply(&self, id: &Json) -> Json {
        json!({ "jsonrpc": "2.0", "id": id, "error": self.error() })
    }

    /// The reply with its status over HTTP, for what is refused before it is dispatched.
    pub fn response(&self) -> Response<Body> {
        let mut response = json_response(self.status, &self.reply(&Json::Null));
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(refusal) => {
                let (status, code) = on_the_wire(refusal.code);
                let retry_after = (status == StatusCode::SERVICE_UNAVAILABLE).then_some(1);
                let name = Some(refusal.code);
                let message = refusal.told(Audience::Agent);
                Self { name, retry_after, ..Self::new(status, code, message) }
            }
            Error::Fault(fault) => {
                tracing::error!(error = &fault as &dyn std::error::Error, "a call failed");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, code::FAULT, fault.summary)
            }
        }
    }
}

/// The status and the JSON-RPC code of a refusal.
fn on_the_wire(code: Code) -> (StatusCode, i32) {
    match code {
        Code::Unauthenticated => (StatusCode::UNAUTHORIZED, -32001),
        Code::Forbidden | Code::NotPermitted => (StatusCode::FORBIDDEN, -32003),
        Code::NotFound => (StatusCode::NOT_FOUND, -32004),
        Code::InvalidInput => (StatusCode::BAD_REQUEST, code::INVALID_ARGUMENTS),
        Code::Conflict => (StatusCode::CONFLICT, -32009),
        Code::StateNotAllowed => (StatusCode::UNPROCESSABLE_ENTITY, -32022),
        Code::TooManyRequests => (StatusCode::TOO_MANY_REQUESTS, -32029),
        Code::LedgerBusy => (StatusCode::SERVICE_UNAVAILABLE, code::FAULT),
        Code::UnusableLedger | Code::InvalidConfig => {
            (StatusCode::INTERNAL_SERVER_ERROR, code::FAULT)
        }
        _ => (StatusCode::BAD_REQUEST, code::INVALID_ARGUMENTS),
    }
}

/// A reply with a JSON body.
pub fn json_response(status: StatusCode, body: &Json) -> Response<Body> {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// A reply without a body.
pub fn empty_response(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_has_the_status_and_code_of_the_endpoint() {
        for (code, status, number) in [
            (Code::Unauthenticated, 401, -32001),
            (Code::Forbidden, 403, -32003),
            (Code::NotFound, 404, -32004),
            (Code::InvalidInput, 400, -32602),
            (Code::Conflict, 409, -32009),
            (Code::StateNotAllowed, 422, -32022),
            (Code::TooManyRequests, 429, -32029),
        ] {
            let problem = Problem::from(Error::refused(code, "No."));
            assert_eq!((problem.status.as_u16(), problem.code), (status, number), "{code}");
            let error = problem.error();
            assert_eq!(error["data"]["status"], status);
            assert_eq!(error["data"]["code"], code.to_string());
        }
        let fault = Problem::from(Error::fault("It broke", "a library's text"));
        assert_eq!((fault.status.as_u16(), fault.code), (500, -32603));
        assert!(!fault.reply(&json!(1)).to_string().contains("library"));
    }
}
