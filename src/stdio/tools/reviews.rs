//! `request_review`, `submit_review`, `list_open_reviews` and `record_disagreement`.

use rmcp::handler::server::wrapper::Json;
use rmcp::{tool, tool_router};

use crate::error::Result;
use crate::ledger::review::disagreements::{DisagreementRecorded, RecordDisagreement};
use crate::ledger::review::reviews::{
    OfProject, OpenReviews, RequestReview, ReviewRequested, ReviewSubmitted, SubmitReview,
};
use crate::mcp::args::Args;
use crate::mcp::schema;
use crate::stdio::state::State;

#[tool_router(router = review_tools, vis = "pub(super)")]
impl State {
    #[tool(
        title = "Request a review",
        description = "Asks another agent or a person to review a decision, and takes it to review_required. Only records the request: tell the reviewer yourself, with the decision's ID.",
        input_schema = schema::input::<RequestReview>(),
        output_schema = schema::output::<ReviewRequested>(),
        annotations(read_only_hint = false, destructive_hint = false, idempotent_hint = false, open_world_hint = false)
    )]
    async fn request_review(&self, args: Args<RequestReview>) -> Result<Json<ReviewRequested>> {
        self.service.request_review(args.read()?).await.map(Json)
    }

    #[tool(
        title = "Submit a review",
        description = "Records a review with structured findings. changes_requested and rejected move the decision; approved and commented leave it as it is, because only a person's verdict approves. A finding's category is one of security, performance, architecture, bug, maintainability, tests, docs, accessibility. Returns the review's display ID.",
        input_schema = schema::input::<SubmitReview>(),
        output_schema = schema::output::<ReviewSubmitted>(),
        annotations(read_only_hint = false, destructive_hint = false, idempotent_hint = false, open_world_hint = false)
    )]
    async fn submit_review(&self, args: Args<SubmitReview>) -> Result<Json<ReviewSubmitted>> {
        self.service.submit_review(args.read()?).await.map(Json)
    }

    #[tool(
        title = "List open reviews",
        description = "Lists a project's submitted reviews on decisions in review_required, oldest first. A review that was only requested is not listed; the list of resources shows every open decision with its status.",
        input_schema = schema::input::<OfProject>(),
        output_schema = schema::output::<OpenReviews>(),
        annotations(read_only_hint = true, destructive_hint = false, idempotent_hint = true, open_world_hint = false)
    )]
    async fn list_open_reviews(&self, args: Args<OfProject>) -> Result<Json<OpenReviews>> {
        self.service.list_open_reviews(args.read()?).await.map(Json)
    }

    #[tool(
        title = "Record a disagreement",
        description = "Puts a disagreement between author and reviewer on the record, with both positions, for a person to settle. The decision's status stays as it is.",
        input_schema = schema::input::<RecordDisagreement>(),
        output_schema = schema::output::<DisagreementRecorded>(),
        annotations(read_only_hint = false, destructive_hint = false, idempotent_hint = false, open_world_hint = false)
    )]
    async fn record_disagreement(
        &self,
        args: Args<RecordDisagreement>,
    ) -> Result<Json<DisagreementRecorded>> {
        self.service.record_disagreement(args.read()?).await.map(Json)
    }
}
