//! What a client may do before it has introduced itself, and what a panic looks like to it.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{
    ClientNotification, ClientRequest, ErrorData, ProtocolVersion, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, Service};
use rmcp::{RoleServer, ServerHandler};

use crate::mcp::{errors, panics};

/// A handler behind the rules of both lifecycles.
///
/// rmcp's own handshake ends the server at a first message that it does not expect. Here
/// every message is answered on its own:
///
/// - `initialize` may come at any time, also again; the last one counts.
/// - A request whose `_meta` names a revision is answered in that revision. Such a request
///   without an `initialize` before it opens a session of self-contained requests: from then
///   on one that lacks the `_meta` fields that 2026-07-28 requires is refused (-32602).
/// - Any other request is answered as in the revisions that have `initialize`, also before
///   it: those revisions advise clients against it but leave servers free to answer.
/// - A panic of the handler is an internal error (-32603) of the one request.
pub(super) struct Session<H> {
    handler: H,
    self_contained: AtomicBool,
}

impl<H: ServerHandler> Session<H> {
    pub(super) fn new(handler: H) -> Self {
        Self { handler, self_contained: AtomicBool::new(false) }
    }

    fn check_lifecycle(
        &self,
        request: &ClientRequest,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let free = matches!(
            request,
            ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_)
        );
        if free || context.peer.peer_info().is_some() {
            return Ok(());
        }
        let missing = context.meta.missing_required_keys(&ProtocolVersion::NO_INITIALIZE);
        if missing.is_empty() {
            let version = context.meta.protocol_version();
            if version.is_some_and(|version| self.supported_protocol_versions().contains(&version))
            {
                self.self_contained.store(true, Ordering::Relaxed);
            }
        } else if self.self_contained.load(Ordering::Relaxed) {
            return Err(ErrorData::invalid_params(
                format!("request _meta lacks or has malformed fields: {}", missing.join(", ")),
                None,
            ));
        }
        Ok(())
    }
}

impl<H: ServerHandler> Service<RoleServer> for Session<H> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        self.check_lifecycle(&request, &context)?;
        let introduction = match &request {
            ClientRequest::InitializeRequest(request) => Some(request.params.clone()),
            _ => None,
        };
        let peer = context.peer.clone();
        let result = unwinding(self.handler.handle_request(request, context)).await;
        if let (Some(mut info), Ok(ServerResult::InitializeResult(agreed))) =
            (introduction, &result)
        {
            // The handler stores what the client asked for; later requests go by what was agreed.
            info.protocol_version = agreed.protocol_version.clone();
            peer.set_peer_info(info);
        }
        result
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        unwinding(self.handler.handle_notification(notification, context)).await
    }

    fn get_info(&self) -> ServerConfig {
        self.handler.get_info()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ServerHandler::supported_protocol_versions(&self.handler)
    }
}

/// Without this a panic would leave its request unanswered for ever.
async fn unwinding<T>(work: impl Future<Output = Result<T, ErrorData>>) -> Result<T, ErrorData> {
    panics::caught(work).await.unwrap_or_else(|panicked| Err(errors::internal(&panicked)))
}
