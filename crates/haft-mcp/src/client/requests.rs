//! Sends the requests of a call, and the answers that the server wants first.
//!
//! A request ends when the server answers or is silent for too long, when the call takes too long, or when the user stops
//! it. haft tells the server about each end that the server did not cause.

use std::time::Duration;

use haft_contract::text::visible::visible;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest, CompleteRequest,
    CompleteRequestParams, GetPromptRequest, GetPromptRequestParams, InputRequiredResult, InputResponses,
    ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, PaginatedRequestParams, Prompt,
    ReadResourceRequest, ReadResourceRequestParams, RequestId, Resource, ResourceTemplate, ServerNotification,
    ServerResult, SubscriptionFilter,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use tokio::time::sleep_until;
use tokio_util::sync::CancellationToken;

use super::calls::{CallClock, CallEars, Due, HeardCall};
use super::link::connection::{Era, MOST_PAGES, ServerConnection, how_it_ended, refusal_words};

/// How often a server may want something before it has a result.
const MOST_ROUNDS: usize = 10;
/// How long haft waits before it asks again a server that wants nothing; longer each time.
const PAUSE: Duration = Duration::from_millis(100);
/// How often haft asks to be told of changes, if that breaks off; and how long it waits before, longer each time.
const MOST_SUBSCRIPTIONS: u32 = 5;
const AFTER_SUBSCRIPTION: Duration = Duration::from_secs(1);
/// Most entries of a list of resources or prompts.
const MOST_LISTED: usize = 2_000;

/// What is asked of a server.
#[derive(Clone)]
pub(crate) enum ServerRequest {
    /// The result of a tool.
    Tool(CallToolRequestParams),
    /// A resource.
    Resource(ReadResourceRequestParams),
    /// A prompt.
    Prompt(GetPromptRequestParams),
    /// Values for an argument.
    Completion(CompleteRequestParams),
    /// A page of a list.
    Page(ListingKind, Option<String>),
}

/// Names the list that is requested from a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListingKind {
    /// Of resources.
    Resources,
    /// Of patterns of their addresses.
    Templates,
    /// Of prompts.
    Prompts,
}

/// The resources, resource templates and prompts of a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerListing {
    pub(crate) resources: Vec<Resource>,
    pub(crate) templates: Vec<ResourceTemplate>,
    pub(crate) prompts: Vec<Prompt>,
}

/// How a call may pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// How long the server may be silent.
    pub(crate) idle: Duration,
    /// How long all of it may take.
    pub(crate) total: Duration,
}

/// Why a call has no result.
#[derive(Clone, Debug)]
pub(crate) enum NoResult {
    /// The server refused it.
    Refused(String),
    /// The server refuses haft, and only the user can help: a sentence.
    NeedsUser(String),
    /// It took too long.
    TooLong(Duration),
    /// The server ended, a sentence.
    Ended(String),
    /// The server asks for something that haft does not do.
    Unsupported(String),
}

impl NoResult {
    /// Says it in a few words.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Refused(words) | Self::NeedsUser(words) | Self::Ended(words) | Self::Unsupported(words) => {
                visible(words).into_owned()
            }
            Self::TooLong(limit) => format!("no answer within {} s", limit.as_secs_f64()),
        }
    }
}

impl ServerRequest {
    fn message(&self) -> ClientRequest {
        let page = |cursor: &Option<String>| PaginatedRequestParams::default().with_cursor(cursor.clone());
        match self.clone() {
            Self::Tool(params) => ClientRequest::CallToolRequest(CallToolRequest::new(params)),
            Self::Resource(params) => ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params)),
            Self::Prompt(params) => ClientRequest::GetPromptRequest(GetPromptRequest::new(params)),
            Self::Completion(params) => ClientRequest::CompleteRequest(CompleteRequest::new(params)),
            Self::Page(ListingKind::Resources, cursor) => {
                ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(page(&cursor)))
            }
            Self::Page(ListingKind::Templates, cursor) => {
                ClientRequest::ListResourceTemplatesRequest(ListResourceTemplatesRequest::with_param(page(&cursor)))
            }
            Self::Page(ListingKind::Prompts, cursor) => {
                ClientRequest::ListPromptsRequest(ListPromptsRequest::with_param(page(&cursor)))
            }
        }
    }

    /// Adds what the server wanted, and its own words back exactly.
    fn with_inputs(self, responses: Option<InputResponses>, state: Option<String>) -> Result<Self, NoResult> {
        match self {
            Self::Tool(mut params) => {
                (params.input_responses, params.request_state) = (responses, state);
                Ok(Self::Tool(params))
            }
            Self::Resource(mut params) => {
                (params.input_responses, params.request_state) = (responses, state);
                Ok(Self::Resource(params))
            }
            Self::Prompt(mut params) => {
                (params.input_responses, params.request_state) = (responses, state);
                Ok(Self::Prompt(params))
            }
            Self::Completion(_) | Self::Page(..) => Err(NoResult::Unsupported("It asks for input for a list.".into())),
        }
    }
}

impl ServerConnection {
    /// Sends a request and waits for its result; what the server says and asks meanwhile goes to `ears`. Once `stopped` is
    /// told, the server is told too.
    pub(crate) async fn ask(
        &self,
        request: ServerRequest,
        patience: Patience,
        (ears, stopped): (CallEars, CancellationToken),
    ) -> Result<ServerResult, NoResult> {
        let clock = CallClock::start();
        let mut request = request;
        for round in 0..MOST_ROUNDS {
            let call = HeardCall { ears: ears.clone(), clock: clock.clone() };
            let wanted = match self.once(&request, patience, call.clone(), &stopped).await? {
                ServerResult::InputRequiredResult(wanted) => wanted,
                result => return Ok(result),
            };
            let (responses, state) = self.inputs(wanted, call, round, &stopped).await?;
            request = request.with_inputs(responses, state)?;
        }
        Err(NoResult::Unsupported(format!("It asked for input {MOST_ROUNDS} times in a row.")))
    }

    async fn once(
        &self,
        request: &ServerRequest,
        patience: Patience,
        call: HeardCall,
        stopped: &CancellationToken,
    ) -> Result<ServerResult, NoResult> {
        let options = PeerRequestOptions::no_options();
        let sent = self.running.peer().send_request_with_option(request.message(), options).await;
        let handle = match sent {
            Ok(handle) => handle,
            Err(error) => return Err(self.no_result(error).await),
        };
        let (id, token) = (handle.id.clone(), handle.progress_token.clone());
        let calls = &self.running.service().calls;
        let clock = call.clock.clone();
        calls.open(token.clone(), call);
        let overdue = async {
            loop {
                match clock.due(patience.idle, patience.total) {
                    Due::At(then) => sleep_until(then).await,
                    Due::Idle => return patience.idle,
                    Due::Total => return patience.total,
                }
            }
        };
        let end = tokio::select! {
            answer = handle.await_response() => Ok(answer),
            () = stopped.cancelled() => Err(("the user stopped the call", NoResult::Ended("The call was stopped.".to_owned()))),
            limit = overdue => Err(("the call took too long", NoResult::TooLong(limit))),
        };
        calls.close(&token);
        match end {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(error)) => Err(self.no_result(error).await),
            Err((why, no_result)) => {
                self.cancel(id, why).await;
                Err(no_result)
            }
        }
    }

    async fn cancel(&self, id: RequestId, why: &str) {
        let cancelled = CancelledNotificationParam::new(Some(id), Some(why.to_owned()));
        let _ = self.running.peer().notify_cancelled(cancelled).await;
    }

    /// Gathers what the server wants before it has a result.
    async fn inputs(
        &self,
        wanted: InputRequiredResult,
        call: HeardCall,
        round: usize,
        stopped: &CancellationToken,
    ) -> Result<(Option<InputResponses>, Option<String>), NoResult> {
        let InputRequiredResult { input_requests, request_state, .. } = wanted;
        let requests = input_requests.unwrap_or_default();
        if requests.is_empty() {
            // It only wants to be asked again.
            tokio::time::sleep(PAUSE * (round as u32 + 1)).await;
            return Ok((None, request_state));
        }
        let calls = &self.running.service().calls;
        // No request runs meanwhile; the call hears the server all the same.
        let token = rmcp::model::ProgressToken(rmcp::model::NumberOrString::String(format!("input-{round}").into()));
        calls.open(token.clone(), call);
        let gathered = tokio::select! {
            gathered = self.running.service().inputs(requests) => gathered.map_err(|why| {
                NoResult::Unsupported(format!("It asks for input that haft does not give: {why}."))
            }),
            () = stopped.cancelled() => Err(NoResult::Ended("The call was stopped.".to_owned())),
        };
        calls.close(&token);
        gathered.map(|responses| (Some(responses), request_state))
    }

    async fn no_result(&self, error: ServiceError) -> NoResult {
        if let Some(refusal) = self.traffic.take_refusal() {
            return NoResult::NeedsUser(refusal_words(&refusal));
        }
        match error {
            ServiceError::McpError(error) => NoResult::Refused(error.message.into_owned()),
            ServiceError::Timeout { timeout } => NoResult::TooLong(timeout),
            ServiceError::Cancelled { .. } => NoResult::Ended("The call was stopped.".to_owned()),
            ServiceError::UnexpectedResponse => NoResult::Unsupported("Its answer is of another kind.".to_owned()),
            _ => NoResult::Ended(match self.traffic.flood() {
                Some(flood) => flood.to_owned(),
                None => how_it_ended(&self.life).await,
            }),
        }
    }

    /// Lists what the server has beside tools, each list page by page.
    pub(crate) async fn listing(&self, patience: Patience, ears: CallEars) -> Result<ServerListing, NoResult> {
        let mut listing = ServerListing::default();
        let offered = [
            (self.offers.resources, ListingKind::Resources),
            (self.offers.resources, ListingKind::Templates),
            (self.offers.prompts, ListingKind::Prompts),
        ];
        for (_, which) in offered.into_iter().filter(|(is_offered, _)| *is_offered) {
            let mut cursor = None;
            for _ in 0..MOST_PAGES {
                let request = ServerRequest::Page(which, cursor);
                let page = self.ask(request, patience, (ears.clone(), CancellationToken::new())).await;
                cursor = match page {
                    Ok(ServerResult::ListResourcesResult(page)) => {
                        listing.resources.extend(page.resources);
                        page.next_cursor
                    }
                    Ok(ServerResult::ListResourceTemplatesResult(page)) => {
                        listing.templates.extend(page.resource_templates);
                        page.next_cursor
                    }
                    Ok(ServerResult::ListPromptsResult(page)) => {
                        listing.prompts.extend(page.prompts);
                        page.next_cursor
                    }
                    // Many servers with resources have no patterns.
                    Err(NoResult::Refused(_)) if which == ListingKind::Templates => None,
                    Ok(_) => return Err(NoResult::Unsupported("Its answer is no list.".to_owned())),
                    Err(why) => return Err(why),
                };
                let count = listing.resources.len() + listing.templates.len() + listing.prompts.len();
                if count > MOST_LISTED {
                    return Err(NoResult::Unsupported(format!("It lists more than {MOST_LISTED} entries.")));
                }
                if cursor.is_none() {
                    break;
                }
            }
        }
        Ok(listing)
    }

    /// Hears of changed tools from a server without sessions, as long as the connection lasts.
    pub(super) fn subscribe(&self) {
        let wants = self.era == Era::Stateless
            && self.running.peer().peer_info().is_some_and(|peer| {
                peer.capabilities.tools.as_ref().is_some_and(|tools| tools.list_changed == Some(true))
            });
        if !wants {
            return;
        }
        let (peer, traffic) = (self.running.peer().clone(), self.traffic.clone());
        tokio::spawn(async move {
            for attempt in 1..=MOST_SUBSCRIPTIONS {
                let filter = SubscriptionFilter::builder().tools_list_changed().build();
                // A server that does not keep its word is asked at the next connection.
                let Ok(mut subscription) = peer.listen(filter).await else { return };
                while let Ok(Some(notification)) = subscription.next().await {
                    if matches!(notification, ServerNotification::ToolListChangedNotification(_)) {
                        traffic.note_new_tools();
                    }
                }
                // What changed meanwhile was not told.
                traffic.note_new_tools();
                tokio::time::sleep(AFTER_SUBSCRIPTION * attempt).await;
            }
        });
    }

    /// Returns the texts that no result may show.
    pub(crate) fn secrets(&self) -> Vec<String> {
        self.login.as_ref().map(|login| login.secrets()).unwrap_or_default()
    }
}
