//! The requests of the protocol, each answered by the part that knows.
//!
//! Not here: what is wrong with a message (`wire`), one call from beginning to end (`calling`).

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use haft_host::options::Options;
use haft_host::toolbox::Toolbox;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientNotification, ClientRequest, CustomRequest, CustomResult,
    DiscoverResult, ErrorCode, Implementation, InitializeRequestParams, InitializeResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, MetaObject, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, RequestId, ServerCapabilities, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, Service};
use rmcp::{ErrorData, ServerHandler};
use serde_json::json;
use tokio::sync::{OnceCell, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::asking::Asking;
use crate::in_flight::InFlight;
use crate::notes::Notes;
use crate::outbox::Outbox;
use crate::resources::Spills;
use crate::toolbox::{self, Workspace};
use crate::{calling, listing, resources, roots, words};

/// Most calls that run at once; more wait.
const MOST_CALLS: usize = 64;
/// Where results of the new era say who made them.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Answers the requests of one client.
pub(crate) struct Server {
    options: Options,
    /// Whether the client names the workspace.
    takes_roots: bool,
    opened: Arc<OnceCell<Toolbox>>,
    pub(crate) asking: Asking,
    pub(crate) outbox: Outbox,
    pub(crate) ended: CancellationToken,
    pub(crate) places: Semaphore,
    pub(crate) turns: calling::Turns,
    pub(crate) spills: Spills,
    pub(crate) notes: Notes,
    calls: AtomicU64,
}

impl Server {
    /// Makes a server of the tools of a workspace.
    pub(crate) fn new(
        (options, workspace): (Options, Workspace),
        (asking, outbox, ended): (Asking, Outbox, CancellationToken),
    ) -> Self {
        let (takes_roots, opened) = match workspace {
            Workspace::Chosen(toolbox) => (false, Some(*toolbox)),
            Workspace::OfClient => (true, None),
        };
        Self {
            options,
            takes_roots,
            opened: Arc::new(OnceCell::new_with(opened)),
            asking,
            outbox,
            ended,
            places: Semaphore::new(MOST_CALLS),
            turns: calling::Turns::default(),
            spills: Spills::default(),
            notes: Notes::default(),
            calls: AtomicU64::new(0),
        }
    }

    /// Returns where the tools are once the workspace is open.
    pub(crate) fn opened(&self) -> Arc<OnceCell<Toolbox>> {
        self.opened.clone()
    }

    /// Returns the tools, which are got ready by now.
    pub(crate) async fn toolbox(&self, context: &RequestContext<RoleServer>) -> Result<&Toolbox, ErrorData> {
        let open = || async {
            let root = roots::of_client(&*self.options.notices, context).await;
            let (options, asking) = (self.options.clone(), self.asking.clone());
            let open = move || match root.map(|root| toolbox::open(&options, &asking, Some(&root))) {
                Some(Ok(toolbox)) => Ok(toolbox),
                Some(Err(why)) => {
                    options.notices.note(&format!("note: the client's root is not used: {why}"));
                    toolbox::open(&options, &asking, None)
                }
                None => toolbox::open(&options, &asking, None),
            };
            let opened = tokio::task::spawn_blocking(open).await;
            opened.unwrap_or_else(|error| Err(error.to_string())).map_err(|why| {
                self.options.notices.note(&why);
                ErrorData::internal_error(why, None)
            })
        };
        self.opened.get_or_try_init(open).await
    }

    /// Returns a number that no other call of this server has.
    pub(crate) fn next_call(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed) + 1
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
        // Everything is on the first page, so nobody can have got a cursor from here.
        Some(_) => Err(ErrorData::invalid_params("there is no such page; ask without a cursor", None)),
        None => Ok(()),
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let instructions = words::instructions(self.opened.get());
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
        let toolbox = self.toolbox(&context).await?;
        let mut list = ListToolsResult::with_all_items(listing::tools(&toolbox.host().runtime));
        list.meta = signed(None, &context);
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // The future of a call is tens of kilobytes, and the protocol's crate moves what it gets several times.
        Box::pin(calling::call(self, request, context)).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        no_such_page(request)?;
        let mut list = ListResourcesResult::with_all_items(resources::list(&self.spills));
        list.meta = signed(None, &context);
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        no_such_page(request)?;
        let mut list = ListResourceTemplatesResult::with_all_items(resources::templates());
        list.meta = signed(None, &context);
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let toolbox = self.toolbox(&context).await?;
        let mut result = resources::read(toolbox, &request.uri).await?;
        result.meta = signed(None, &context);
        Ok(result.into())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let names_roots = context.peer.peer_info().is_some_and(|client| client.capabilities.roots.is_some());
        if names_roots && !self.takes_roots {
            self.options
                .notices
                .note("note: the client's roots are not used; start with --roots to let it name the workspace");
        }
    }
}

/// Lets requests in that say which protocol they speak, and notes when their work has ended.
pub(crate) struct Front {
    server: Server,
    in_flight: Arc<InFlight>,
}

impl Front {
    pub(crate) fn new(server: Server, in_flight: Arc<InFlight>) -> Self {
        Self { server, in_flight }
    }
}

/// Notes the end of a request's work, also when it is given up.
struct Handled<'a>(&'a InFlight, RequestId);

impl Drop for Handled<'_> {
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
        let _handled = Handled(&self.in_flight, context.id.clone());
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
