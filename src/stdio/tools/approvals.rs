//! `approve_decision` and `list_pending_approvals`.

use rmcp::handler::server::tool::{InputResponses, RequestState};
use rmcp::handler::server::wrapper::Json;
use rmcp::model::CallToolResponse;
use rmcp::service::RequestContext;
use rmcp::{RoleServer, tool, tool_router};

use crate::error::Result;
use crate::ledger::review::reviews::OfProject;
use crate::ledger::verdict::approvals::{ApproveDecision, PendingApprovals, VerdictGiven};
use crate::mcp::args::Args;
use crate::mcp::schema;
use crate::stdio::asking::{self, Retry};
use crate::stdio::state::State;

#[tool_router(router = approval_tools, vis = "pub(super)")]
impl State {
    #[tool(
        title = "Record a person's verdict",
        description = "Records the verdict of a person on a decision: approved, rejected or needs_changes. Call it only with a verdict that a person has given you, under that person's name; never on your own judgement.",
        input_schema = schema::input::<ApproveDecision>(),
        output_schema = schema::output::<VerdictGiven>(),
        annotations(read_only_hint = false, destructive_hint = false, idempotent_hint = false, open_world_hint = false)
    )]
    async fn approve_decision(
        &self,
        args: Args<ApproveDecision>,
        RequestState(state): RequestState,
        InputResponses(responses): InputResponses,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse> {
        let retry = Retry { state, responses };
        asking::verdict(&self.service, &self.asking, args.read()?, retry, &context).await
    }

    #[tool(
        title = "List pending approvals",
        description = "Lists the decisions of a project with human_approval_required that wait for a person's verdict, oldest first: those in review_required or changes_requested. A draft is not listed until a review is requested or a policy blocks it.",
        input_schema = schema::input::<OfProject>(),
        output_schema = schema::output::<PendingApprovals>(),
        annotations(read_only_hint = true, destructive_hint = false, idempotent_hint = true, open_world_hint = false)
    )]
    async fn list_pending_approvals(
        &self,
        args: Args<OfProject>,
    ) -> Result<Json<PendingApprovals>> {
        self.service.list_pending_approvals(args.read()?).await.map(Json)
    }
}
