//! The turn loop: asks the model, runs its calls, and returns the results to it until the run ends.
//!
//! Not here: asking (`ask`), running calls (`calls`), the rules for a valid history (`history`).

use std::borrow::Cow;
use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::Arc;

use haft_contract::doors::session_state::LASTING;
use haft_model::conversation::{Image, Message, Reply, StopReason, Usage};
use haft_model::provider::LanguageModel;
use haft_runtime::runtime::Runtime;
use haft_runtime::state::session::Session;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::guard::Guard;
use crate::memory::history;
use crate::memory::history::{MendedHistory, Past};
use crate::memory::record::Record;
use crate::memory::state::ShownState;
use crate::models::gauge::Gauge;
use crate::outcome::{AgentEndReason, AgentOutcome};
use crate::output::{Misfit, StructuredOutput};
use crate::overseer::{Advice, Circle, Nobody, Overseer};
use crate::settings::AgentSettings;
use crate::work::finishing;
use crate::work::images;
use crate::work::inbox::{Inbox, NoInbox};
use crate::work::offered::OfferedTools;
use crate::work::told::{RunEvent, RunListener};

/// How often in a row a model is asked to go on with a reply that is not whole.
const MOST_GOINGS_ON: u32 = 2;
/// How often in a row a provider may pause.
const MOST_PAUSES: u32 = 20;
/// How often a model is told what is wrong with its answer.
const MOST_CORRECTIONS: u32 = 2;

/// What is said of an answer with which a schema takes for ever.
pub(crate) const NOT_TOLD: &str = "checking whether it fits takes too long; use a schema with fewer nested choices";

/// A model at work in a session.
///
/// It lives as long as the conversation; each prompt is one [`AgentLoop::run`].
pub struct AgentLoop<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) session: &'a Session,
    pub(crate) model: &'a dyn LanguageModel,
    pub(crate) record: &'a dyn Record,
    overseer: &'a dyn Overseer,
    inbox: &'a dyn Inbox,
    pub(crate) settings: AgentSettings,
    /// The settings' instructions as one text.
    pub(crate) instructions: String,
    pub(crate) messages: Vec<Message>,
    /// The ids of all calls of the session, also of those that were left out to make room.
    used_ids: HashSet<String>,
    /// Whether the last message has still to be written down.
    last_is_new: bool,
    /// What the model is told with the next prompt.
    note: Option<String>,
    /// What the user shows with the next prompt.
    to_show: Vec<Image>,
    /// How large the images of the session are together, in bytes of Base64, with those that are not shown any more.
    pub(crate) images_kept: usize,
    pub(crate) gauge: Gauge,
    pub(crate) guard: Guard,
    pub(crate) state: Arc<ShownState>,
    /// What the session keeps for as long as it can be resumed, as it was last written down.
    lasting: [Option<Arc<Value>>; LASTING.len()],
}

/// What belongs to one prompt.
pub(crate) struct Run<'r> {
    pub(crate) tools: OfferedTools,
    pub(crate) told: RunListener<'r>,
    pub(crate) stop: &'r CancellationToken,
    pub(crate) steps: u32,
    pub(crate) usage: Usage,
    pub(crate) answer: String,
    /// How often in a row the model was asked to go on, and how often the provider has paused.
    goings_on: u32,
    pauses: u32,
    /// Whether the next reply goes on with the text of the last one.
    continues: bool,
    /// Whether the answer has words of the reply that is gone on with; else they are older than its calls.
    has_begun: bool,
    /// How often the model was told what is wrong with its answer, and the one that was right.
    corrections: u32,
    pub(crate) output: Option<StructuredOutput>,
}

impl<'a> AgentLoop<'a> {
    /// Puts a model to work in a session, with the default settings and nothing said yet.
    pub fn new(
        runtime: &'a Runtime,
        session: &'a Session,
        model: &'a dyn LanguageModel,
        record: &'a dyn Record,
    ) -> Self {
        let state = Arc::new(ShownState::default());
        session.set_agent_state(state.clone());
        let agent = Self {
            runtime,
            session,
            model,
            record,
            overseer: &Nobody,
            inbox: &NoInbox,
            settings: AgentSettings::default(),
            instructions: String::new(),
            messages: Vec::new(),
            used_ids: HashSet::new(),
            last_is_new: false,
            note: None,
            to_show: Vec::new(),
            images_kept: 0,
            gauge: Gauge::default(),
            guard: Guard::default(),
            state,
            lasting: LASTING.map(|key| session.storage().get(key)),
        };
        agent.with_settings(AgentSettings::default())
    }

    /// Keeps to these settings.
    pub fn with_settings(mut self, settings: AgentSettings) -> Self {
        self.instructions = settings.instructions.text();
        if let Some(schema) = &settings.output {
            self.instructions.push_str(&schema.words());
            if let Some(words) = finishing::words(self.runtime) {
                self.instructions.push_str(&format!("\n\n{words}"));
            }
        }
        self.state.finish.want(settings.output.clone());
        self.settings = settings;
        self
    }

    /// Asks them what shall happen when the model gets nowhere; without anybody the run ends.
    pub fn watched_by(mut self, overseer: &'a dyn Overseer) -> Self {
        self.overseer = overseer;
        self
    }

    /// Gives the model messages from here after its calls, while it works.
    pub fn steered_by(mut self, inbox: &'a dyn Inbox) -> Self {
        self.inbox = inbox;
        self
    }

    /// Goes on with a conversation. Calls that have no answer get one that says what is known of them.
    pub fn going_on(mut self, past: Past) -> Self {
        self.take_up(past.mended());
        self.images_kept = images::bytes(&self.messages);
        self
    }

    /// Shows the model these images with the next prompt.
    pub fn showing(mut self, images: Vec<Image>) -> Self {
        self.to_show = images;
        self
    }

    /// Returns what was said so far. Every call has its answer.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Works on a prompt until the model has nothing more to call, a limit is reached, or the caller stops it.
    ///
    /// An empty prompt lets the model go on. However it ends, the conversation is valid and the next prompt works.
    pub async fn run(&mut self, prompt: String, told: RunListener<'_>, stop: &CancellationToken) -> AgentOutcome {
        let tools = OfferedTools::of(self.runtime.catalog(), self.model.wire(), self.settings.only_tools.as_ref());
        let mut run = Run::new(tools, told, stop);
        if !self.last_is_new {
            // The last run may have been dropped in the middle of its calls.
            let messages = std::mem::take(&mut self.messages);
            self.take_up(MendedHistory::of_dropped(messages));
        }
        // The user may have changed anything since the last prompt.
        self.guard = Guard::default();
        // A run that was dropped may have left its end.
        drop(self.state.finish.take());
        let Err(ended) = self.converse(prompt, &mut run).await;
        let cost = self.settings.price.as_ref().map(|price| price.of(&run.usage));
        AgentOutcome { ended, answer: run.answer, output: run.output, steps: run.steps, usage: run.usage, cost }
    }

    async fn converse(&mut self, prompt: String, run: &mut Run<'_>) -> Result<Infallible, AgentEndReason> {
        self.keep_answers_of_the_past()?;
        let prompt = if prompt.trim().is_empty() { "Go on.".to_owned() } else { prompt };
        self.refuse_what_never_fits(&prompt, run)?;
        let noted = self.note.take().map(|note| format!("{note}\n\n{prompt}"));
        let images = std::mem::take(&mut self.to_show);
        self.images_kept += images.iter().map(|image| image.base64.len()).sum::<usize>();
        self.keep(Message::User { text: noted.unwrap_or(prompt), images })?;
        loop {
            self.check_limits(run)?;
            let reply = self.ask(run).await?;
            let redactor = self.runtime.redactor();
            let holds_secret = |id: &str| matches!(redactor.redact_known(id), Cow::Owned(_));
            let reply = history::with_new_ids(&reply, &mut self.used_ids, holds_secret).unwrap_or(reply);
            run.note_words_of(&reply);
            if !reply.parts.is_empty() {
                self.keep(Message::Model(reply.clone()))?;
            }
            if reply.calls().next().is_some() {
                let answers = self.answer_calls(&reply, run).await;
                self.keep(Message::Tools { answers: answers.clone() })?;
                self.keep_lasting_state()?;
                self.end_if_finished(&answers, run)?;
            }
            self.go_on_after(&reply, run).await?;
            if let Some(circle) = self.guard.take_circle() {
                self.get_out_of(circle, run.stop).await?;
            }
            if reply.calls().next().is_some() {
                self.take_messages(run)?;
            }
        }
    }

    /// Gives the model what was said to it meanwhile.
    fn take_messages(&mut self, run: &Run<'_>) -> Result<(), AgentEndReason> {
        while let Some(text) = self.inbox.take() {
            (run.told)(RunEvent::Steered(&text));
            self.keep(Message::user(text))?;
            // The user may have changed anything in the meantime.
            self.guard = Guard::default();
        }
        Ok(())
    }

    /// Asks what shall happen with a model that goes in circles.
    async fn get_out_of(&mut self, circle: Circle, stop: &CancellationToken) -> Result<(), AgentEndReason> {
        let advice = tokio::select! {
            biased;
            () = stop.cancelled() => return Err(AgentEndReason::Stopped),
            advice = self.overseer.goes_in_circles(&circle) => advice,
        };
        // The overseer may have changed anything before it let the model continue.
        self.guard = Guard::default();
        match advice {
            Advice::End => Err(AgentEndReason::GoesInCircles { tool: circle.tool, times: circle.times }),
            Advice::GoOn => Ok(()),
            Advice::Say(text) => self.keep(Message::user(text)),
        }
    }

    fn check_limits(&self, run: &Run<'_>) -> Result<(), AgentEndReason> {
        let used = run.usage.input.saturating_add(run.usage.output);
        match self.settings.token_budget {
            _ if run.stop.is_cancelled() => Err(AgentEndReason::Stopped),
            _ if run.steps >= self.settings.max_steps => Err(AgentEndReason::OutOfSteps(self.settings.max_steps)),
            Some(budget) if used >= budget => Err(AgentEndReason::OutOfBudget { used, budget }),
            Some(_) | None => self.check_cost(run),
        }
    }

    fn check_cost(&self, run: &Run<'_>) -> Result<(), AgentEndReason> {
        let (Some(price), Some(most)) = (&self.settings.price, self.settings.cost_budget) else { return Ok(()) };
        let (cost, budget) = (price.of(&run.usage), price.amount(most));
        if cost.reaches(&budget) { Err(AgentEndReason::OutOfMoney { cost, budget }) } else { Ok(()) }
    }

    /// Decides whether the model is asked again after this reply, and what it is told before.
    async fn go_on_after(&mut self, reply: &Reply, run: &mut Run<'_>) -> Result<(), AgentEndReason> {
        let has_calls = reply.calls().next().is_some();
        if run.stop.is_cancelled() || has_calls && self.session.is_turn_stopped() {
            return Err(AgentEndReason::Stopped);
        }
        match reply.stop {
            StopReason::Refused => Err(AgentEndReason::Refused),
            _ if has_calls && reply.calls().all(|call| call.is_cut) => {
                let why = reply.why_cut.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
                run.try_on(&format!("it repeatedly ends inside a call{why}"))
            }
            _ if has_calls => run.is_under_way(),
            StopReason::Paused => run.pause(),
            StopReason::Length => self.ask_to_go_on(run, "it reached the maximum length"),
            StopReason::Cut => self.ask_to_go_on(run, reply.why_cut.as_deref().unwrap_or("it broke off")),
            StopReason::Finished | StopReason::Calls if reply.text().trim().is_empty() => match run.goings_on {
                MOST_GOINGS_ON.. => Err(AgentEndReason::SaidNothing),
                _ => self.ask_to_go_on(run, "it has neither text nor a call"),
            },
            StopReason::Finished | StopReason::Calls => self.finish(run).await,
        }
    }

    /// Ends the run, unless the answer has to fit a schema and does not: then the model is told what is wrong.
    async fn finish(&mut self, run: &mut Run<'_>) -> Result<(), AgentEndReason> {
        let Some(schema) = &self.settings.output else { return Err(AgentEndReason::Finished) };
        let read = tokio::select! {
            biased;
            () = run.stop.cancelled() => return Err(AgentEndReason::Stopped),
            read = schema.read_in_time(&run.answer) => read,
        };
        let why = match read {
            Ok(output) => {
                run.output = Some(output);
                return Err(AgentEndReason::Finished);
            }
            Err(Misfit::NotChecked) => return Err(AgentEndReason::Unfit(NOT_TOLD.to_owned())),
            Err(Misfit::Wrong(why)) if run.corrections >= MOST_CORRECTIONS => return Err(AgentEndReason::Unfit(why)),
            Err(Misfit::Wrong(why)) => why,
        };
        run.corrections += 1;
        run.is_under_way()?;
        (run.told)(RunEvent::Unfit(&why));
        self.keep(Message::user(format!(
            "[haft: your last reply does not fit the schema:\n{why}\nReply with the whole JSON object again, and \
                 with nothing else.]"
        )))
    }

    fn ask_to_go_on(&mut self, run: &mut Run<'_>, why: &str) -> Result<(), AgentEndReason> {
        run.try_on(why)?;
        run.continues = run.has_begun;
        (run.told)(RunEvent::GoesOn(why));
        self.keep(Message::user(format!(
            "[haft: your last reply is incomplete: {why}. Continue exactly where it stopped.]"
        )))
    }

    /// Writes down what the session keeps for as long as it can be resumed, where calls have changed it.
    fn keep_lasting_state(&mut self) -> Result<(), AgentEndReason> {
        for (key, written) in LASTING.iter().zip(&mut self.lasting) {
            let now = self.session.storage().get(key);
            let is_same = match (&now, &*written) {
                (Some(now), Some(written)) => Arc::ptr_eq(now, written),
                (now, written) => now.is_none() && written.is_none(),
            };
            if !is_same {
                let recorded = self.record.shared(key, now.as_deref().unwrap_or(&Value::Null));
                recorded.map_err(|error| AgentEndReason::NotRecorded(error.to_string()))?;
                *written = now;
            }
        }
        Ok(())
    }

    /// Writes a message down, then adds it. What calls came to is added in any case: it has happened.
    pub(crate) fn keep(&mut self, message: Message) -> Result<(), AgentEndReason> {
        let recorded = self.record.message(&message);
        if recorded.is_ok() || matches!(message, Message::Tools { .. }) {
            history::push(&mut self.messages, history::with_repaired_calls(message));
        }
        recorded.map_err(|error| AgentEndReason::NotRecorded(error.to_string()))
    }

    fn take_up(&mut self, mended: MendedHistory) {
        self.messages = mended.messages;
        self.used_ids.extend(mended.used);
        self.last_is_new = mended.last_is_new;
        self.note = mended.note.or_else(|| self.note.take());
    }

    fn keep_answers_of_the_past(&mut self) -> Result<(), AgentEndReason> {
        if let (true, Some(last)) = (self.last_is_new, self.messages.last()) {
            self.record.message(last).map_err(|error| AgentEndReason::NotRecorded(error.to_string()))?;
        }
        self.last_is_new = false;
        Ok(())
    }
}

impl<'r> Run<'r> {
    fn new(tools: OfferedTools, told: RunListener<'r>, stop: &'r CancellationToken) -> Self {
        Self {
            tools,
            told,
            stop,
            steps: 0,
            usage: Usage::default(),
            answer: String::new(),
            goings_on: 0,
            pauses: 0,
            continues: false,
            has_begun: false,
            corrections: 0,
            output: None,
        }
    }

    /// Resets the counts of interruptions: the model has made a call or given an answer.
    fn is_under_way(&mut self) -> Result<(), AgentEndReason> {
        self.goings_on = 0;
        self.pauses = 0;
        Ok(())
    }

    fn pause(&mut self) -> Result<(), AgentEndReason> {
        if self.pauses >= MOST_PAUSES {
            return Err(AgentEndReason::Unfinished("the provider paused repeatedly".to_owned()));
        }
        self.pauses += 1;
        self.continues = self.has_begun;
        Ok(())
    }

    /// Counts how often in a row a reply is not whole.
    fn try_on(&mut self, why: &str) -> Result<(), AgentEndReason> {
        if self.goings_on >= MOST_GOINGS_ON {
            return Err(AgentEndReason::Unfinished(why.to_owned()));
        }
        self.goings_on += 1;
        Ok(())
    }

    /// Keeps the last words of the model; a reply that goes on with another is one with it.
    fn note_words_of(&mut self, reply: &Reply) {
        let text = reply.text();
        let continues = std::mem::take(&mut self.continues);
        self.has_begun = continues || !text.trim().is_empty();
        if !continues && self.has_begun {
            self.answer.clear();
        }
        self.answer.push_str(&text);
    }
}
