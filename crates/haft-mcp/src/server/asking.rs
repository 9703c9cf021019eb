//! Asks questions to the person behind a client.
//!
//! haft asks a client with a handshake while the call waits (`elicitation/create`). A client of the new era gets the
//! question as a result and sends the call again with the answer. haft then judges everything again, and accepts the answer
//! only if the call would do exactly what the question showed. If a client cannot ask a person, haft says so immediately.
//!
//! haft never answers a running call with a question: the client would send the call again, and it would run twice. If a
//! command needs a connection, haft refuses it, and asks before the same call runs the next time (`postponed`).

mod form;
mod postponed;
mod questions;
mod seal;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft_contract::BoxFuture;
use haft_contract::call::CallId;
use haft_contract::doors::user_questions::UserReply;
use haft_host::opening::hosts::HostLists;
use haft_runtime::asking::approval::{ApprovalRequest, Approver, Nobody, Questionnaire, Verdict};
use haft_runtime::state::session::Session;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CancelledNotification, CancelledNotificationParam, ClientCapabilities, ClientResult,
    ElicitRequest, ElicitRequestParams, ElicitResult, InputRequest, InputRequests, InputRequiredResult,
    ProtocolVersion, RequestId, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, RoleServer};

use crate::server::is_modern;
use form::{Always, Titles};
use postponed::PostponedQuestions;
pub(crate) use seal::StateSeal;
use seal::{Digest, Seal};

/// How long a person has to answer.
const PATIENCE: Duration = Duration::from_secs(600);
/// What the one question of a call is called.
const QUESTION: &str = "approval";
/// What to do about a question that came up while its call ran.
const NEXT_TIME: &str = "send this call again: the user is then asked about it before the call runs";

/// Asks the user of the connected client. Clones share their state.
#[derive(Clone)]
pub struct ClientApprover {
    shared: Arc<ClientApproverState>,
}

struct ClientApproverState {
    nobody: Nobody,
    /// How to ask about the calls that run.
    ways: Mutex<HashMap<CallId, Arc<QuestionRoute>>>,
    seal: Seal,
    postponed: PostponedQuestions,
    /// Where an answer that holds always is written.
    lists: Option<HostLists>,
}

impl ClientApprover {
    /// Says how a call could be allowed where a client cannot ask anybody.
    pub fn or_nobody_there(how: impl Into<String>) -> Self {
        Self::with(Nobody::there(how), None)
    }

    /// The same, and offers to allow hosts always, in these lists.
    pub fn or_nobody_there_with(how: impl Into<String>, lists: HostLists) -> Self {
        Self::with(Nobody::there(how), Some(lists))
    }

    /// The same, with states that every server with this secret can open: for servers behind a balancer.
    pub fn or_nobody_there_sealed(how: impl Into<String>, lists: HostLists, secret: &str) -> Self {
        Self::sealed((Nobody::there(how), Some(lists)), Seal::with(StateSeal::of_secret(secret)))
    }

    fn with(nobody: Nobody, lists: Option<HostLists>) -> Self {
        Self::sealed((nobody, lists), Seal::default())
    }

    fn sealed((nobody, lists): (Nobody, Option<HostLists>), seal: Seal) -> Self {
        let (ways, postponed) = Default::default();
        Self { shared: Arc::new(ClientApproverState { nobody, ways, seal, postponed, lists }) }
    }

    /// Finds out how the person can be asked about a call, and what was answered already.
    ///
    /// # Errors
    ///
    /// Refuses a state that is not ours, or belongs to another call.
    pub(crate) fn way(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<QuestionRoute, ErrorData> {
        if !context.client_capabilities().is_some_and(|client| has_forms(&client)) {
            return Ok(QuestionRoute::Nobody);
        }
        if !is_modern(context) {
            let titles = match context.protocol_version() {
                Some(version) if version >= ProtocolVersion::V_2025_11_25 => Titles::Beside,
                _ => Titles::Apart,
            };
            return Ok(QuestionRoute::Peer { peer: context.peer.clone(), titles });
        }
        let call = Digest::of_call(request);
        let shown = match &request.request_state {
            Some(state) => self.shared.seal.open(state, &call)?,
            None => None,
        };
        let sent = request.input_responses.as_ref().and_then(|answers| answers.get(QUESTION));
        let answer = sent.and_then(|answer| serde_json::from_value(answer.clone()).ok());
        Ok(QuestionRoute::Returned(Box::new(ResultQuestion {
            call,
            given: shown.zip(answer),
            question: Mutex::default(),
        })))
    }

    /// Asks about a call in this way until the guard is dropped.
    pub(crate) fn about(&self, call: &CallId, way: QuestionRoute) -> QuestionGuard<'_> {
        let way = Arc::new(way);
        self.ways().insert(call.clone(), way.clone());
        QuestionGuard { asking: self, call: call.clone(), way }
    }

    /// Returns the question that came up when the same call ran before, where it has no answer yet. An answer that came
    /// with this call holds for the session, because it is given before anything waits for it.
    pub(crate) fn postponed(&self, way: &QuestionRoute, session: &Session) -> Option<InputRequiredResult> {
        let QuestionRoute::Returned(returned) = way else { return None };
        let ResultQuestion { call, given, .. } = &**returned;
        let (plan, request) = self.shared.postponed.open(call)?;
        match given {
            Some((shown, answer)) if *shown == plan => {
                let verdict = self.verdict(&request, answer);
                if let Verdict::AllowFor(scope) = &verdict {
                    scope.parts().iter().cloned().for_each(|scope| session.grant(scope));
                }
                self.shared.postponed.answer(call, verdict);
                None
            }
            _ => Some(self.asked((plan, form::params_before_the_next_run(&request, self.always())), call)),
        }
    }

    /// Reads an answer. What shall hold always is written, and holds for the session also where that fails.
    fn verdict(&self, request: &ApprovalRequest, answer: &ElicitResult) -> Verdict {
        match (&self.shared.lists, &request.setting_to_paste) {
            (Some(lists), Some(setting)) if form::is_always(answer) => {
                let _ = lists.allow(&setting.names);
                request.yes_to_hosts()
            }
            _ => form::verdict(request, answer),
        }
    }

    fn always(&self) -> Always {
        if self.shared.lists.is_some() { Always::Offered } else { Always::NotOffered }
    }

    fn asked(&self, (plan, params): (Digest, ElicitRequestParams), call: &Digest) -> InputRequiredResult {
        let asked = InputRequest::Elicitation(ElicitRequest::new(params));
        let asked = InputRequests::from([(QUESTION.to_owned(), asked)]);
        InputRequiredResult::new(Some(asked), Some(self.shared.seal.close(&plan, call)))
    }

    fn ways(&self) -> MutexGuard<'_, HashMap<CallId, Arc<QuestionRoute>>> {
        self.shared.ways.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn answer(&self, request: &ApprovalRequest) -> Verdict {
        let way = self.ways().get(&request.call).cloned();
        match way.as_deref() {
            Some(QuestionRoute::Peer { peer, titles }) => {
                match ask_peer(peer, form::params(request, (*titles, self.always()))).await {
                    Ok(answer) => self.verdict(request, &answer),
                    Err(how) => Verdict::NoAnswer { how },
                }
            }
            Some(QuestionRoute::Returned(returned)) if request.is_running => {
                self.answer_running(returned, request).await
            }
            Some(QuestionRoute::Returned(returned)) => {
                let plan = Digest::of_plan(request);
                match &returned.given {
                    Some((shown, answer)) if *shown == plan => self.verdict(request, answer),
                    _ => {
                        let params = form::params(request, (Titles::Beside, self.always()));
                        *returned.question.lock().unwrap_or_else(PoisonError::into_inner) = Some((plan, params));
                        Verdict::NoAnswer { how: "answer the question that comes with this result".to_owned() }
                    }
                }
            }
            Some(QuestionRoute::Nobody) | None => self.shared.nobody.ask(request).await,
        }
    }

    /// Puts questions of a model. A client of the new era gets them as the result, and the call does nothing until it is
    /// sent again with the answers.
    async fn put(&self, questionnaire: &Questionnaire) -> UserReply {
        let way = self.ways().get(&questionnaire.call).cloned();
        match way.as_deref() {
            Some(QuestionRoute::Peer { peer, titles }) => {
                match ask_peer(peer, questions::params(questionnaire, *titles)).await {
                    Ok(answer) => questions::reply(questionnaire, &answer),
                    Err(_) => UserReply::Nobody("the client could not show the questions".to_owned()),
                }
            }
            Some(QuestionRoute::Returned(returned)) => {
                let asked = Digest::of_questions(questionnaire);
                match &returned.given {
                    Some((shown, answer)) if *shown == asked => questions::reply(questionnaire, answer),
                    _ => {
                        let params = questions::params(questionnaire, Titles::Beside);
                        *returned.question.lock().unwrap_or_else(PoisonError::into_inner) = Some((asked, params));
                        UserReply::Nobody("the questions come with this result".to_owned())
                    }
                }
            }
            Some(QuestionRoute::Nobody) | None => UserReply::Nobody("this client cannot show questions".to_owned()),
        }
    }

    /// Answers a question about a call that runs: with what was said before it ran, or not at all.
    async fn answer_running(&self, returned: &ResultQuestion, request: &ApprovalRequest) -> Verdict {
        let plan = Digest::of_plan(request);
        match self.shared.postponed.take(&returned.call, &plan) {
            Some(verdict @ Verdict::Refuse { .. }) => verdict,
            // Only a yes for longer can be given before the call runs.
            _ if request.offers.is_empty() => self.shared.nobody.ask(request).await,
            _ => {
                self.shared.postponed.add(&returned.call, (plan, request.clone()));
                Verdict::NoAnswer { how: NEXT_TIME.to_owned() }
            }
        }
    }
}

impl Approver for ClientApprover {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        Box::pin(self.answer(request))
    }

    fn ask_user<'a>(&'a self, questionnaire: &'a Questionnaire) -> BoxFuture<'a, UserReply> {
        Box::pin(self.put(questionnaire))
    }
}

/// How the user of a client can be asked about one call.
pub(crate) enum QuestionRoute {
    /// Not at all.
    Nobody,
    /// While the call waits.
    Peer { peer: Peer<RoleServer>, titles: Titles },
    /// With the result, before the call is sent again.
    Returned(Box<ResultQuestion>),
}

/// A question about a call that is returned as the result of the call.
pub(crate) struct ResultQuestion {
    call: Digest,
    /// What was shown and answered, where the call was sent again.
    given: Option<(Digest, ElicitResult)>,
    /// The question that came up.
    question: Mutex<Option<(Digest, ElicitRequestParams)>>,
}

/// Registers the route for questions about one call, until it is dropped.
pub(crate) struct QuestionGuard<'a> {
    asking: &'a ClientApprover,
    call: CallId,
    way: Arc<QuestionRoute>,
}

impl QuestionGuard<'_> {
    /// Returns the question that must be answered before the call can be made, where there is one.
    pub(crate) fn question(&self) -> Option<InputRequiredResult> {
        let QuestionRoute::Returned(returned) = &*self.way else { return None };
        let question = returned.question.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(self.asking.asked(question, &returned.call))
    }
}

impl Drop for QuestionGuard<'_> {
    fn drop(&mut self) {
        self.asking.ways().remove(&self.call);
    }
}

/// Says whether a client can show a form. One that says nothing of forms and addresses is from before there were both.
fn has_forms(client: &ClientCapabilities) -> bool {
    client.elicitation.as_ref().is_some_and(|can| can.form.is_some() || can.url.is_none())
}

/// Asks while the call waits. Fails with how it could be allowed otherwise.
async fn ask_peer(peer: &Peer<RoleServer>, params: ElicitRequestParams) -> Result<ElicitResult, String> {
    let failed = |why: String| format!("the client could not ask the user ({why}); ask the user to allow it by a rule");
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
    let options = PeerRequestOptions::with_timeout(PATIENCE);
    let sent = peer.send_request_with_option(request, options).await;
    let handle = sent.map_err(|error| failed(error.to_string()))?;
    let mut open = OpenQuestion { peer: peer.clone(), id: Some(handle.id.clone()) };
    let answer = handle.await_response().await;
    open.id = None;
    match answer.map_err(|error| failed(error.to_string()))? {
        ClientResult::ElicitResult(answer) => Ok(answer),
        _ => Err(failed("its answer cannot be read".to_owned())),
    }
}

/// A question that is taken back when its call is stopped.
struct OpenQuestion {
    peer: Peer<RoleServer>,
    id: Option<RequestId>,
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let peer = self.peer.clone();
        let reason = "the call was stopped";
        let cancelled = CancelledNotification::new(CancelledNotificationParam::new(Some(id), Some(reason.to_owned())));
        tokio::spawn(async move {
            // Who has gone needs no word.
            let _ = peer.send_notification(cancelled.into()).await;
        });
    }
}
