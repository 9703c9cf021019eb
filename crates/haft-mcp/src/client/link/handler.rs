//! Answers the requests of a server, and passes on its notifications.
//!
//! A server learns the workspace as its one root. Its questions go to the running call.

#![expect(deprecated, reason = "roots, sampling and logs go away with the servers that have a handshake")]

use std::path::Path;
use std::sync::Arc;

use haft_contract::text::visible::visible;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationCapability, FormElicitationCapability, Implementation, InputRequest,
    InputRequests, InputResponses, ListRootsResult, LoggingMessageNotificationParam, ProgressNotificationParam,
    ProtocolVersion, Root, RootsCapabilities, SamplingCapability, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use rmcp::{ClientHandler, ErrorData};
use serde_json::{Value, to_value};
use tokio::sync::oneshot;

use super::traffic::ServerTraffic;
use crate::client::calls::{RunningCalls, ServerQuestion};

/// Most characters of a line of a server's log.
const LONGEST_LOG: usize = 500;

/// Whether a server may ask the user's model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampling {
    /// Yes, as often as its budget says.
    Allowed,
    /// No.
    Refused,
}

/// Answers a server.
pub(crate) struct Handler {
    info: ClientConfig,
    root: String,
    pub(crate) calls: RunningCalls,
    traffic: Arc<ServerTraffic>,
}

impl Handler {
    /// Makes the handler for a server that works for this workspace.
    pub(crate) fn new(workspace: &Path, sampling: Sampling, traffic: Arc<ServerTraffic>) -> Self {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(RootsCapabilities::default());
        let (form, url) = (FormElicitationCapability::default(), UrlElicitationCapability::default());
        capabilities.elicitation = Some(ElicitationCapability::new().with_form(form).with_url(url));
        capabilities.sampling = (sampling == Sampling::Allowed).then(SamplingCapability::default);
        let mut info = ClientConfig::new(capabilities, Implementation::new("haft", env!("CARGO_PKG_VERSION")));
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        Self { info, root: address_of(workspace), calls: RunningCalls::default(), traffic }
    }

    /// Answers the questions that came as the result of a request.
    pub(crate) async fn inputs(&self, requests: InputRequests) -> Result<InputResponses, String> {
        let mut responses = InputResponses::new();
        for (key, request) in requests {
            let answer = match request {
                InputRequest::Elicitation(asked) => to_value(self.elicit(asked.params).await),
                InputRequest::ListRoots(_) => to_value(self.roots()),
                InputRequest::CreateMessage(asked) => to_value(self.sample(asked.params).await?),
                _ => return Err("it asks for input of a kind that haft does not know".to_owned()),
            };
            responses.insert(key, answer.unwrap_or(Value::Null));
        }
        Ok(responses)
    }

    fn roots(&self) -> ListRootsResult {
        ListRootsResult::new(vec![Root::new(self.root.clone())])
    }

    async fn elicit(&self, params: ElicitRequestParams) -> ElicitResult {
        let (reply, answer) = oneshot::channel();
        let asked = self.calls.ask(|| ServerQuestion::Elicit(Box::new(params), reply)).await;
        let Some(_time) = asked else { return ElicitResult::new(ElicitationAction::Decline) };
        answer.await.unwrap_or_else(|_| ElicitResult::new(ElicitationAction::Cancel))
    }

    async fn sample(&self, params: CreateMessageRequestParams) -> Result<CreateMessageResult, String> {
        let (reply, answer) = oneshot::channel();
        let asked = self.calls.ask(|| ServerQuestion::Sample(Box::new(params), reply)).await;
        let Some(_time) = asked else { return Err("no call runs for which it could ask".to_owned()) };
        answer.await.unwrap_or_else(|_| Err("the call ended".to_owned()))
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        self.info.clone()
    }

    async fn list_roots(&self, _context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(self.roots())
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        tokio::select! {
            answer = self.elicit(params) => Ok(answer),
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let answer = tokio::select! {
            answer = self.sample(params) => answer,
            () = context.ct.cancelled() => Err("the server gave up".to_owned()),
        };
        answer.map_err(|why| ErrorData::invalid_request(format!("haft does not ask the model: {why}"), None))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        self.calls.pass_on(&progress);
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let text = message.data.as_str().map_or_else(|| message.data.to_string(), str::to_owned);
        let level =
            to_value(message.level).ok().and_then(|level| level.as_str().map(str::to_owned)).unwrap_or_default();
        let logger = message.logger.map(|logger| format!(" {logger}")).unwrap_or_default();
        let line: String = format!("{level}{logger}: {text}").chars().take(LONGEST_LOG).collect();
        let line = visible(&line.replace(['\n', '\r'], " ")).into_owned();
        self.calls.log(&line);
        self.traffic.note_log(line);
    }
}

/// Writes a path as an address; every byte that is not plain is escaped.
fn address_of(path: &Path) -> String {
    let mut address = "file://".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                address.push(char::from(*byte));
            }
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_folder_has_no_character_with_a_meaning() {
        assert_eq!(address_of(Path::new("/a b/ü#?.rs")), "file:///a%20b/%C3%BC%23%3F.rs");
    }

    #[test]
    fn a_server_learns_of_the_model_only_if_it_may_ask_it() {
        let declared = |sampling| Handler::new(Path::new("/w"), sampling, Arc::default()).get_info().capabilities;
        assert!(declared(Sampling::Refused).sampling.is_none() && declared(Sampling::Allowed).sampling.is_some());
        assert!(declared(Sampling::Refused).elicitation.is_some_and(|asks| asks.form.is_some() && asks.url.is_some()));
    }
}
