//! The tools that write.

use super::Effect::Writes;
use super::{Call, Tool, tool};
use crate::company::work::tasks::CreateTask;
use crate::company::work::view::TaskShown;
use crate::error::Result;

pub(super) fn tools() -> Vec<Tool> {
    vec![tool(
        "create-task",
        "Create a task",
        "Opens a task. Who does not see the whole company names a projectId of theirs. Give \
         idempotencyKey where a call might be sent twice.",
        Writes,
        create_task,
    )]
}

async fn create_task(call: Call, input: CreateTask) -> Result<TaskShown> {
    call.company.create_task(&call.caller, input).await
}
