//! `record_decision`, `attach_git_diff`, `run_policy_checks` and `get_decision_context`.

use rmcp::handler::server::wrapper::Json;
use rmcp::{tool, tool_router};
use tokio_util::sync::CancellationToken;

use crate::error::Result;
use crate::ledger::policies::checks::{PoliciesChecked, RunPolicyChecks};
use crate::ledger::reading::context::{DecisionContext, GetDecisionContext};
use crate::ledger::work::changes::{AttachGitDiff, GitDiffAttached};
use crate::ledger::work::decisions::{DecisionRecorded, RecordDecision};
use crate::mcp::args::Args;
use crate::mcp::schema;
use crate::stdio::state::State;

#[tool_router(router = decision_tools, vis = "pub(super)")]
impl State {
    #[tool(
        title = "Record a decision",
        description = "Records a decision under a task, with what changes and why. It starts as a draft. Returns the decision's display ID.",
        input_schema = schema::input::<RecordDecision>(),
        output_schema = schema::output::<DecisionRecorded>(),
        annotations(read_only_hint = false, destructive_hint = false, idempotent_hint = false, open_world_hint = false)
    )]
    async fn record_decision(&self, args: Args<RecordDecision>) -> Result<Json<DecisionRecorded>> {
        self.service.record_decision(args.read()?).await.map(Json)
    }

    #[tool(
        title = "Attach a commit's diff",
        description = "Attaches the change of a commit against its first parent to a decision: files, line counts and a hash that plain git can reproduce. Only reads the repository. Attach again after a follow-up commit: the newest change counts.",
        input_schema = schema::input::<AttachGitDiff>(),
        output_schema = schema::output::<GitDiffAttached>(),
        annotations(read_only_hint = false, destructive_hint = false, idempotent_hint = false, open_world_hint = false)
    )]
    async fn attach_git_diff(
        &self,
        args: Args<AttachGitDiff>,
        cancel: CancellationToken,
    ) -> Result<Json<GitDiffAttached>> {
        self.service.attach_git_diff(args.read()?, cancel).await.map(Json)
    }

    #[tool(
        title = "Run the policies",
        description = "Evaluates every active policy against the change attached last (attach one first: without it none applies) and stores the results. A blocked result takes a draft to review_required.",
        input_schema = schema::input::<RunPolicyChecks>(),
        output_schema = schema::output::<PoliciesChecked>(),
        annotations(read_only_hint = false, destructive_hint = false, idempotent_hint = false, open_world_hint = false)
    )]
    async fn run_policy_checks(
        &self,
        args: Args<RunPolicyChecks>,
        cancel: CancellationToken,
    ) -> Result<Json<PoliciesChecked>> {
        self.service.run_policy_checks(args.read()?, cancel).await.map(Json)
    }

    #[tool(
        title = "Get the record of a decision",
        description = "Returns a decision with its newest change, reviews, policy results, disagreements, verdicts and timeline. Read it before reviewing or continuing somebody's work.",
        input_schema = schema::input::<GetDecisionContext>(),
        output_schema = schema::output::<DecisionContext>(),
        annotations(read_only_hint = true, destructive_hint = false, idempotent_hint = true, open_world_hint = false)
    )]
    async fn get_decision_context(
        &self,
        args: Args<GetDecisionContext>,
    ) -> Result<Json<DecisionContext>> {
        self.service.decision_context(args.read()?).await.map(Json)
    }
}
