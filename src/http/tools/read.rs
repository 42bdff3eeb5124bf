//! The tools that read.

use super::Effect::Reads;
use super::{Call, Nothing, Tool, tool};
use crate::company::identity::me::Me;
use crate::error::Result;

pub(super) fn tools() -> Vec<Tool> {
    vec![tool(
        "me",
        "Who am I",
        "Who you are here: actor, ids, role, permissions and the projects that you see.",
        Reads,
        me,
    )]
}

async fn me(call: Call, _: Nothing) -> Result<Me> {
    call.company.me(&call.caller).await
}
