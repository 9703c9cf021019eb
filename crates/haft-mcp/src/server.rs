//! Routes each request of the protocol to the part that answers it.
//!
//! Not here: mistakes in a message (`wire`), one call from beginning to end (`calling`).

#![expect(deprecated, reason = "logging goes away with the clients that have a handshake")]

pub(crate) mod answer;
pub mod asking;
pub(crate) mod calling;
pub(crate) mod client_session;
pub(crate) mod fixture;
pub mod listeners;
pub(crate) mod listing;
pub(crate) mod notes;
pub(crate) mod progress;
pub(crate) mod prompts;
pub(crate) mod resources;
pub(crate) mod roots;
pub(crate) mod workspace_server;

use std::borrow::Cow;
use std::sync::Arc;

use haft_host::host::Host;
use haft_host::toolbox::Toolbox;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientNotification, ClientRequest, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorCode,
    GetPromptRequestMethod, GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, MetaObject, PaginatedRequestParams, PromptsCapability, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, RequestId, ServerCapabilities, ServerConfig, ServerResult, SetLevelRequestMethod,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, Service, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde_json::json;

use crate::transport::in_flight::InFlight;
use crate::transport::outbox::Outbox;
use crate::words;
use client_session::ClientSession;
use fixture::Fixture;
use listeners::TooMany;
use workspace_server::WorkspaceServer;

/// Where results of the new era say who made them.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Answers the requests of one client, or one request of a client that has no session.
pub(crate) struct McpServer {
    pub(crate) workspace: Arc<WorkspaceServer>,
    /// The client, once it has shaken hands.
    shaken: Arc<ClientSession>,
    /// All clients whose requests are on their own.
    single: Arc<ClientSession>,
    /// Where progress goes past the protocol's crate: a pipe.
    pub(crate) outbox: Option<Outbox>,
}

impl McpServer {
    /// Serves the one client of a pair of pipes.
    pub(crate) fn of_pipes(workspace: Arc<WorkspaceServer>, client: Arc<ClientSession>, outbox: Outbox) -> Self {
        Self { workspace, shaken: client.clone(), single: client, outbox: Some(outbox) }
    }

    /// Serves a client that comes over HTTP, or one request.
    pub(crate) fn of_http(workspace: Arc<WorkspaceServer>, single: Arc<ClientSession>) -> Self {
        Self { workspace, shaken: Arc::default(), single, outbox: None }
    }

    /// Returns what is remembered of the client that sent a request.
    pub(crate) fn client(&self, context: &RequestContext<RoleServer>) -> &Arc<ClientSession> {
        if is_modern(context) { &self.single } else { &self.shaken }
    }

    /// Returns the tools; the first request of a client opens them.
    pub(crate) async fn toolbox(&self, context: &RequestContext<RoleServer>) -> Result<&Toolbox, ErrorData> {
        let client = self.client(context);
        client.opened.get_or_try_init(|| self.workspace.open(client, context)).await
    }

    fn host(&self) -> Option<&Arc<Host>> {
        let opened = || self.shaken.opened.get().or_else(|| self.single.opened.get());
        self.workspace.host.as_ref().or_else(|| opened().map(Toolbox::host))
    }

    fn fixture(&self) -> Option<&Fixture> {
        self.workspace.fixture.as_ref()
    }
}

/// Says who we are.
pub(crate) fn implementation() -> Implementation {
    Implementation::new("haft", env!("CARGO_PKG_VERSION")).with_title("haft: guarded tools with undo")
}

/// Says whether a request is of the era without handshakes.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Adds who made a result, where requests are on their own.
pub(crate) fn signed(meta: Option<MetaObject>, context: &RequestContext<RoleServer>) -> Option<MetaObject> {
    if !is_modern(context) {
        return meta;
    }
    let mut meta = meta.unwrap_or_default();
    meta.0.insert(SERVER_INFO.to_owned(), json!(implementation()));
    Some(meta)
}

fn no_such_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        // The first page has everything, so the server never gives out a cursor.
        Some(_) => Err(ErrorData::invalid_params("there is no such page; ask without a cursor", None)),
        None => Ok(()),
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_logging();
        let mut capabilities = capabilities.build();
        if self.fixture().is_some() {
            Fixture::declare(&mut capabilities);
        } else if self.host().is_some_and(|host| prompts::exist(host)) {
            capabilities.prompts = Some(PromptsCapability::default());
        }
        let instructions = words::instructions(self.host().map(|host| &**host));
        ServerConfig::new(capabilities).with_server_info(implementation()).with_instructions(instructions)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let answer = self.negotiate_initialize(&request)?;
        let mut client = request;
        client.protocol_version = answer.protocol_version.clone();
        context.peer.set_peer_info(client);
        Ok(answer)
    }

    async fn on_custom_request(
        &self,
        _request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "there is no such method", None))
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = ServerHandler::supported_protocol_versions(self).into_owned();
        Ok(DiscoverResult::from_server_info(versions, ServerHandler::get_info(self)))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        no_such_page(request)?;
        let host = self.toolbox(&context).await?.host().clone();
        self.workspace.look_again(&host).await;
        let mut tools = listing::tools(&host.runtime);
        tools.extend(self.fixture().into_iter().flat_map(Fixture::tools));
        let mut list = ListToolsResult::with_all_items(tools);
        list.meta = signed(None, &context);
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(fixture) = self.fixture().filter(|fixture| fixture.has_tool(&request.name)) {
            let called = Box::pin(fixture.call(request, &context, &self.workspace.listeners)).await;
            return called.map(|response| fixture_signed(response, &context));
        }
        // The future of a call is tens of kilobytes, and the protocol's crate moves what it gets several times.
        Box::pin(calling::call(self, request, context)).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        no_such_page(request)?;
        let mut found = resources::list(&self.client(&context).spills);
        found.extend(self.fixture().into_iter().flat_map(Fixture::resources));
        let mut list = ListResourcesResult::with_all_items(found);
        list.meta = signed(None, &context);
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        no_such_page(request)?;
        let mut found = resources::templates();
        found.extend(self.fixture().into_iter().flat_map(Fixture::templates));
        let mut list = ListResourceTemplatesResult::with_all_items(found);
        list.meta = signed(None, &context);
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let mut result = match self.fixture().and_then(|fixture| fixture.read(&request.uri)) {
            Some(result) => result,
            None => resources::read(self.toolbox(&context).await?, &request.uri).await?,
        };
        result.meta = signed(None, &context);
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let found = match self.fixture() {
            Some(fixture) => fixture.prompts(),
            None => prompts::list(self.toolbox(&context).await?.host().clone()).await?,
        };
        if found.is_empty() {
            return Err(ErrorData::method_not_found::<ListPromptsRequestMethod>());
        }
        no_such_page(request)?;
        let mut list = ListPromptsResult::with_all_items(found);
        list.meta = signed(None, &context);
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if let Some(fixture) = self.fixture() {
            return fixture.prompt(&request);
        }
        let host = self.toolbox(&context).await?.host().clone();
        if !prompts::exist(&host) {
            return Err(ErrorData::method_not_found::<GetPromptRequestMethod>());
        }
        let mut result = prompts::get(host, request).await?;
        result.meta = signed(result.meta.take(), &context);
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let fixture = self.fixture().ok_or_else(ErrorData::method_not_found::<CompleteRequestMethod>)?;
        fixture.complete(&request)
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_modern(&context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        self.shaken.wishes.set_level(request.level);
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let is_known = self.fixture().is_some_and(|fixture| fixture.read(&request.uri).is_some());
        if !is_known && !resources::is_known(&self.client(&context).spills, &request.uri) {
            return Err(resources::no_such_resource(self.toolbox(&context).await?, &request.uri));
        }
        self.shaken.wishes.subscribe(request.uri).map_err(|TooMany| {
            ErrorData::invalid_params("there are too many subscriptions; send resources/unsubscribe for one", None)
        })
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.shaken.wishes.unsubscribe(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // What haft does not offer is taken out by what `get_info` says.
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let Some(_told) = self.workspace.listeners.add_subscription(context.sink().clone()) else {
            return Err(ErrorData::internal_error("there are too many subscriptions; end one first", None));
        };
        tokio::select! {
            () = context.cancelled() => {}
            () = self.workspace.ended.cancelled() => {}
        }
        Ok(())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        if let Some(fixture) = self.fixture().filter(|fixture| fixture.has_tool(name)) {
            return fixture.tools().find(|tool| tool.name == name);
        }
        let runtime = &self.host()?.runtime;
        runtime.catalog().find(name).map(|entry| listing::tool(&entry, runtime))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let told = self.workspace.listeners.add_client(context.peer.clone(), self.shaken.wishes.clone());
        if let Some(told) = told {
            self.shaken.keep(told);
        }
        let names_roots = context.peer.peer_info().is_some_and(|client| client.capabilities.roots.is_some());
        // Over HTTP the user always chooses.
        if names_roots && self.workspace.host.is_some() && self.outbox.is_some() {
            self.workspace
                .options
                .notices
                .note("note: the client's roots are not used; start with --roots to let it name the workspace");
        }
    }
}

/// Signs the answer of a tool of the conformance suite.
fn fixture_signed(mut response: CallToolResponse, context: &RequestContext<RoleServer>) -> CallToolResponse {
    match &mut response {
        CallToolResponse::Complete(result) => result.meta = signed(result.meta.take(), context),
        CallToolResponse::InputRequired(result) => result.meta = signed(result.meta.take(), context),
        _ => {}
    }
    response
}

/// Lets requests in that say which protocol they speak, and notes when their work has ended.
pub(crate) struct Front {
    server: McpServer,
    in_flight: Arc<InFlight>,
}

impl Front {
    pub(crate) fn new(server: McpServer, in_flight: Arc<InFlight>) -> Self {
        Self { server, in_flight }
    }
}

/// Records the end of a request's work when it is dropped, also when the work is abandoned.
struct InFlightGuard<'a>(&'a InFlight, RequestId);

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.0.handled(&self.1);
    }
}

impl Service<RoleServer> for Front {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let _handled = InFlightGuard(&self.in_flight, context.id.clone());
        let begins = matches!(
            request,
            ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_)
        );
        if !begins && context.protocol_version().is_none() {
            let words = "the protocol version is not known yet: send \"initialize\" first, or put \
                         io.modelcontextprotocol/protocolVersion and /clientCapabilities into _meta";
            return Err(ErrorData::invalid_params(words, None));
        }
        Service::handle_request(&self.server, request, context).await
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.server, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&self.server)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ServerHandler::supported_protocol_versions(&self.server)
    }
}
