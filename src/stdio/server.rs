//! The server: what it offers, and where each request goes.

use rmcp::handler::server::prompt::PromptContext;
use rmcp::handler::server::router::prompt::PromptRouter;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, DiscoverResult, GetPromptRequestParams,
    GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, tool_handler};

use crate::domain::access::UseCase;
use crate::error::{Audience, Error};
use crate::ledger::Service;
use crate::ledger::access::guard::Access;
use crate::mcp::errors;
use crate::stdio::asking::Asking;
use crate::stdio::freshness::freshness;
use crate::stdio::instructions::INSTRUCTIONS;
use crate::stdio::state::State;
use crate::stdio::{prompts, resources, tools};

/// The server of one process.
pub struct Server {
    pub(super) state: State,
    tools: ToolRouter<State>,
    prompts: PromptRouter<State>,
}

impl Server {
    /// A server over the use cases.
    pub fn new(service: Service) -> Self {
        let state = State { service, asking: Asking::new() };
        Self { state, tools: tools::router(), prompts: prompts::router() }
    }

    /// Every tool as it is published.
    pub fn published_tools() -> Vec<Tool> {
        tools::router().list_all()
    }
}

impl Server {
    /// Puts before the instructions why nothing can be called, if that is so.
    async fn tell_access(&self, instructions: &mut Option<String>) {
        let why = match self.state.service.access().await {
            Ok(Access::Nothing(why)) => why,
            Ok(_) => return,
            Err(Error::Refused(refusal)) => refusal.told(Audience::Agent).to_owned(),
            Err(Error::Fault(fault)) => fault.summary,
        };
        let workflow = instructions.take().unwrap_or_default();
        *instructions = Some(format!("No tool and no resource is listed. {why}\n{workflow}"));
    }
}

#[tool_handler(router = self.tools)]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        let implementation = Implementation::new("govforge", env!("CARGO_PKG_VERSION"))
            .with_title("GovForge")
            .with_description(env!("CARGO_PKG_DESCRIPTION"));
        ServerConfig::new(capabilities)
            .with_server_info(implementation)
            .with_instructions(INSTRUCTIONS)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !self.tools.has_route(&request.name) {
            return Err(tools::unknown(&request.name, &self.tools.list_all()));
        }
        let cancelled = context.ct.clone();
        let call = self.tools.call(ToolCallContext::new(&self.state, request, context));
        tokio::select! {
            biased;
            outcome = call => outcome,
            // Nobody gets this answer. What the call had begun to write is undone.
            () = cancelled.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        }
    }

    /// Those that the token covers. What it covers may change while the server runs.
    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let access = self.state.service.access().await.map_err(errors::of_list)?;
        let scope = match access {
            Access::Everything => CacheScope::Public,
            _ => CacheScope::Private,
        };
        let (ttl_ms, cache_scope) = freshness(&context, scope);
        let covered =
            |tool: &Tool| tool.name.parse().is_ok_and(|use_case: UseCase| access.covers(use_case));
        let tools = self.tools.list_all().into_iter().filter(covered).collect();
        Ok(ListToolsResult { ttl_ms, cache_scope, ..ListToolsResult::with_all_items(tools) })
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        self.tell_access(&mut result.instructions).await;
        Ok(result)
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut result = DiscoverResult::from_server_info(versions, self.get_info());
        self.tell_access(&mut result.instructions).await;
        Ok(result)
    }

    // By hand: rmcp's `prompt_handler` would put its own `get_prompt` in place of this one.
    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let (ttl_ms, cache_scope) = freshness(&context, CacheScope::Public);
        let prompts = self.prompts.list_all();
        Ok(ListPromptsResult { ttl_ms, cache_scope, ..ListPromptsResult::with_all_items(prompts) })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let context = PromptContext::new(&self.state, request.name, request.arguments, context);
        prompts::get(&self.prompts, context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        resources::list(&self.state.service, cursor.as_deref(), &context).await
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates(&context))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&self.state.service, request.uri, &context).await
    }
}
