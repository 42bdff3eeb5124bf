//! `create_task`.

use rmcp::handler::server::wrapper::Json;
use rmcp::{tool, tool_router};

use crate::error::Result;
use crate::ledger::work::tasks::{CreateTask, TaskCreated};
use crate::mcp::args::Args;
use crate::mcp::schema;
use crate::stdio::state::State;

#[tool_router(router = task_tools, vis = "pub(super)")]
impl State {
    #[tool(
        title = "Create a task",
        description = "Opens a task in a project: the first step, before any decision is recorded. Returns the task's display ID.",
        input_schema = schema::input::<CreateTask>(),
        output_schema = schema::output::<TaskCreated>(),
        annotations(read_only_hint = false, destructive_hint = false, idempotent_hint = false, open_world_hint = false)
    )]
    async fn create_task(&self, args: Args<CreateTask>) -> Result<Json<TaskCreated>> {
        self.service.create_task(args.read()?).await.map(Json)
    }
}
