//! What every request shares, and which path leads where.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, AUTHORIZATION, COOKIE};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use axum::middleware::{self, Next};
use axum::routing::{any, get, post};
use serde_json::json;

use super::answer::{Problem, code, empty_response, json_response};
use super::endpoint;
use super::guard::{Guard, Mode};
use super::rate::Rate;
use super::tools::Tools;
use crate::company::Service;
use crate::company::identity::authentication::Presented;

/// The cookie of a person who has signed in.
pub const SESSION_COOKIE: &str = "aoa_session";

/// What every request shares.
pub struct App {
    pub(super) company: Service,
    pub(super) mode: Mode,
    pub(super) guard: Guard,
    pub(super) rate: Rate,
    pub(super) tools: Tools,
}

impl App {
    pub fn new(company: Service, mode: Mode, guard: Guard, rate: Rate) -> Self {
        Self { company, mode, guard, rate, tools: Tools::all() }
    }

    /// Which path leads where.
    pub fn router(self) -> Router {
        let app = Arc::new(self);
        Router::new()
            .route("/companies/{company}/mcp", post(endpoint::post).fallback(only_post))
            .route("/healthz", get(healthy))
            .route("/readyz", get(ready))
            .fallback(any(nowhere))
            .layer(middleware::from_fn_with_state(Arc::clone(&app), let_in))
            .with_state(app)
    }

    /// What a request shows of who sends it.
    pub(super) fn presented(&self, headers: &HeaderMap) -> Presented {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        // A header that is there counts, also one that cannot be read: nobody else is meant.
        let bearer = headers.get(AUTHORIZATION).map(|value| {
            let value = value.to_str().unwrap_or_default();
            let (scheme, rest) = value.split_once(' ').unwrap_or((value, ""));
            if scheme.eq_ignore_ascii_case("bearer") {
                rest.trim().to_owned()
            } else {
                String::new()
            }
        });
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let session = cookies
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .find(|(name, _)| *name == SESSION_COOKIE)
            .map(|(_, value)| value.to_owned());
        Presented {
            bearer,
            session,
            run: text("x-aoa-run-id").map(str::to_owned),
            is_trusted: self.mode == Mode::LocalTrusted,
        }
    }
}

/// Refuses what does not come from where it may come, whichever path it is for.
async fn let_in(State(app): State<Arc<App>>, request: Request, next: Next) -> Response<Body> {
    match app.guard.check(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.response(),
    }
}

/// There are no streams and no sessions to end.
async fn only_post(method: Method) -> Response<Body> {
    let message = format!("{method} is not answered here: this endpoint takes POST alone.");
    let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, code::INVALID_REQUEST, message);
    let mut response = problem.response();
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    response
}

async fn nowhere() -> Response<Body> {
    let message = "Nothing is here. The endpoint is POST /companies/{companyId}/mcp.";
    Problem::new(StatusCode::NOT_FOUND, -32004, message).response()
}

/// The process answers.
async fn healthy() -> Response<Body> {
    json_response(StatusCode::OK, &json!({ "status": "ok" }))
}

/// The ledger answers too.
async fn ready(State(app): State<Arc<App>>) -> Response<Body> {
    match app.company.is_ready().await {
        Ok(()) => json_response(StatusCode::OK, &json!({ "status": "ready" })),
        Err(error) => {
            tracing::warn!(%error, "not ready");
            empty_response(StatusCode::SERVICE_UNAVAILABLE)
        }
    }
}
