//! The server.

use rmcp::handler::server::router::prompt::PromptRouter;

/// The server.
pub struct Server;

impl Server {
    /// The prompts that it offers.
    pub fn prompts() -> PromptRouter<Self> {
        Self::prompt_router()
    }
}
