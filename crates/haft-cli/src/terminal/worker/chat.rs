//! A conversation with a model: one prompt at a time. haft reports each step as it happens, and records it before the next.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft_agent::agent::AgentLoop;
use haft_agent::instructions::Manner;
use haft_agent::memory::history::Past;
use haft_agent::models::price::Price;
use haft_agent::outcome::{AgentEndReason, AgentOutcome};
use haft_agent::settings::{AgentSettings, WINDOW};
use haft_agent::work::told::RunEvent;
use haft_host::conversations::session_records::{ResumedSession, RunOptions, SessionRecorder, instructions};
use haft_host::conversations::user_commands::ExpandedPrompt;
use haft_host::host::Host;
use haft_host::opening::model::tuning::{Tuning, TuningFlags};
use haft_host::spans::{Spans, TracedRun};
use haft_host::texts::bounded_text::paragraph;
use haft_host::texts::result_preview::call_title;
use haft_model::conversation::{Message, Usage};
use haft_policy::policy::Mode;
use haft_runtime::record;
use haft_runtime::redaction::redact::{Redactor, TextStream};
use haft_workspace::state::sessions::Tally;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::asker::Asker;
use super::desk::Messages;
use super::{Worker, results};
use crate::terminal::drawing::markdown::Markdown;
use crate::terminal::drawing::painted::{Ink, paint};
use crate::terminal::protocol::{Idle, RunningCall, WorkerReport, Yes};

/// Most characters of an earlier message that are shown again.
const LONGEST_RETOLD: usize = 2_000;

/// The cost of a conversation so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Spent {
    usage: Usage,
    price: Option<Price>,
}

impl Spent {
    /// The cost so far of a session that is continued.
    pub(super) fn of(tally: Tally) -> Self {
        let usage = Usage { input: tally.input, output: tally.output, ..Usage::default() };
        Self { usage, price: None }
    }
}

/// Returns how many tokens a model takes.
pub(super) fn window(host: &Host, model: &str) -> u64 {
    let is_about_it = host.settings.model.name.as_deref().is_none_or(|name| name == model);
    host.settings.model.window.filter(|_| is_about_it).map_or(WINDOW, |window| window.0)
}

impl Worker {
    /// Lets the model work on a prompt to its end. The line is what the person typed for it.
    pub(super) async fn prompt(&mut self, prompt: ExpandedPrompt, line: &str) -> Idle {
        let prompt = match prompt.with_images_of(line, &self.host) {
            Ok(prompt) => prompt,
            Err(error) => {
                self.warn(&error);
                self.report(WorkerReport::Typed(line.to_owned()));
                return Idle::Stopped;
            }
        };
        if let Err(error) = self.prepare(line).await {
            self.warn(&error);
            return Idle::Stopped;
        }
        match self.run_prompt(prompt).await {
            Ok(outcome) => self.tell_end(&outcome),
            Err(error) => {
                self.warn(&error);
                Idle::Stopped
            }
        }
    }

    /// Begins the session with the first prompt.
    async fn prepare(&mut self, text: &str) -> anyhow::Result<()> {
        self.host.reload().await;
        if !std::mem::replace(&mut self.knows_secrets, true) {
            self.host.runtime.learn_secrets();
        }
        if self.recorder.is_some() {
            return Ok(());
        }
        let redactor = self.host.runtime.redactor();
        let log = self.host.state.sessions().begin(&redactor.redact_known(text))?;
        let recorder = Arc::new(SessionRecorder::new(log, Tally::default(), redactor));
        let id = recorder.id();
        let session = self.asker.session(&id, Box::new(self.asker.clone()));
        if let Some(before) = self.session.replace(session) {
            before.end_jobs().await;
        }
        self.desk.record_in(Some(recorder.clone()));
        self.recorder = Some(recorder);
        self.report(WorkerReport::Session(id));
        Ok(())
    }

    async fn run_prompt(&mut self, prompt: ExpandedPrompt) -> anyhow::Result<AgentOutcome> {
        let (host, asker) = (self.host.clone(), self.asker.clone());
        let (Some(model), Some(recorder), Some(session)) = (&self.model, self.recorder.clone(), &self.session) else {
            anyhow::bail!("no model is connected; /model lists the ways");
        };
        let tuning = Tuning::new(&TuningFlags::default(), &host.settings, &model.endpoint.model)?;
        recorder.begin(&model.endpoint, tuning.noted_in(RunOptions::of(host.options())))?;
        session.set_agent(&model.endpoint.model);
        let settings = AgentSettings { only_tools: prompt.tools, ..self.settings(tuning, session.mode())? };
        self.cost.price.clone_from(&settings.price);
        let past = match std::mem::take(&mut self.messages) {
            messages if messages.is_empty() => std::mem::take(&mut self.left),
            messages => Past { messages, ..Past::default() },
        };
        let messages = self.desk.messages.clone();
        let agent = AgentLoop::new(&host.runtime, session, &model.connection, &*recorder).with_settings(settings);
        let mut agent = agent.watched_by(&asker).steered_by(&messages).showing(prompt.images).going_on(past);
        let traced = TracedRun {
            runtime: &host.runtime,
            session: recorder.id(),
            endpoint: &model.endpoint,
            notices: host.options().notices.clone(),
        };
        let spans = Spans::of(traced, &prompt.text);
        let teller = ChatReporter {
            reports: self.reports.clone(),
            recorder: recorder.clone(),
            redactor: host.runtime.redactor(),
            host: &host,
            asker: asker.clone(),
            messages: messages.clone(),
            columns: self.columns(),
            state: Mutex::new(TellerState { spent: self.cost.clone(), ..TellerState::default() }),
        };
        let stop = CancellationToken::new();
        let outcome = {
            let told = |what: RunEvent<'_>| {
                spans.tell(what);
                teller.tell(what);
            };
            self.desk.attend(agent.run(prompt.text, &told, &stop), &stop, Some(session)).await
        };
        spans.end(Some(&outcome));
        spans.send().await;
        recorder.end(&outcome.ended.to_string());
        self.messages = agent.messages().to_vec();
        self.cost = teller.state.into_inner().unwrap_or_else(PoisonError::into_inner).spent;
        Ok(outcome)
    }

    fn settings(&self, tuning: Tuning, mode: Mode) -> anyhow::Result<AgentSettings> {
        let mut instructions = instructions(&self.host)?;
        instructions.manner = match (mode, self.asker.yes()) {
            (Mode::Plan, _) => Manner::Plan,
            (Mode::Try, _) => Manner::Try,
            (Mode::Normal, Yes::ToAll) => Manner::Yolo,
            (Mode::Normal, Yes::ToUndoable) => Manner::YesToUndoable,
            (Mode::Normal, Yes::Asked) => Manner::Normal,
        };
        Ok(tuning.of(AgentSettings { instructions, ..AgentSettings::default() }))
    }

    fn tell_end(&self, outcome: &AgentOutcome) -> Idle {
        match &outcome.ended {
            AgentEndReason::Finished => Idle::Done,
            AgentEndReason::Stopped => {
                self.report(WorkerReport::Lines(vec![String::new(), paint(Ink::Warn, "Stopped.")]));
                Idle::Stopped
            }
            ended => {
                let words = format!("haft: {}", paragraph(&ended.to_string()));
                self.report(WorkerReport::Lines(vec![String::new(), paint(Ink::Bad, &words)]));
                Idle::Stopped
            }
        }
    }
}

/// Reports the events of an agent to the terminal.
struct ChatReporter<'a> {
    reports: UnboundedSender<WorkerReport>,
    recorder: Arc<SessionRecorder>,
    redactor: &'a Redactor,
    host: &'a Host,
    asker: Asker,
    messages: Messages,
    columns: usize,
    state: Mutex<TellerState>,
}

#[derive(Default)]
struct TellerState {
    text: TextStream,
    about: HashMap<String, String>,
    spent: Spent,
}

impl ChatReporter<'_> {
    fn tell(&self, told: RunEvent<'_>) {
        if let RunEvent::Finished(text) = told {
            let mut state = self.state();
            let shown = state.text.take(self.redactor, text) + &state.text.rest(self.redactor);
            drop(state);
            return self.report(WorkerReport::Text(shown));
        }
        if !matches!(told, RunEvent::Text(_)) {
            let rest = self.state().text.rest(self.redactor);
            if !rest.is_empty() {
                self.report(WorkerReport::Text(rest));
            }
        }
        match told {
            RunEvent::Step(_) => self.report(WorkerReport::Step),
            RunEvent::Text(text) => {
                let shown = self.state().text.take(self.redactor, text);
                if !shown.is_empty() {
                    self.report(WorkerReport::Text(shown));
                }
            }
            RunEvent::Thinking(text) => self.report(WorkerReport::Thinking(text.chars().count())),
            RunEvent::Writing(tool) => self.report(WorkerReport::Writing(tool.to_owned())),
            RunEvent::Arguments(bytes) => self.report(WorkerReport::Arguments(bytes)),
            RunEvent::Again(after, why) => self.report(WorkerReport::Again(after, paragraph(why))),
            RunEvent::Replied { usage, .. } => self.replied(usage),
            RunEvent::Steered(_) => self.steered(),
            RunEvent::CallBegan { call, preview } => {
                self.state().about.insert(call.id.clone(), preview.to_owned());
                let title = call_title(self.host.runtime.catalog(), &call.name);
                let (id, about) = (call.id.clone(), preview.to_owned());
                self.report(WorkerReport::CallBegan(RunningCall { id, title, about }));
            }
            RunEvent::CallEnded { call, result, .. } => {
                self.recorder.result(record::of_result(result));
                let about = self.state().about.remove(&call.id).unwrap_or_default();
                let shown = results::ShownCall { tool: &call.name, about: &about, result };
                let mut lines = results::short(&shown, self.host.runtime.catalog(), self.columns);
                // A command says which files it changed; /diff shows how.
                if result.sandbox.is_none() && !self.asker.was_asked(&call.id) {
                    lines.extend(results::changed(self.host, result));
                }
                let whole = result.display.clone().unwrap_or_else(|| result.text());
                self.report(WorkerReport::CallEnded { id: call.id.clone(), lines, whole: Some(whole) });
            }
            RunEvent::Finished(_) => {}
            RunEvent::NotRun { call, answer } => self.report(WorkerReport::Lines(results::not_run(
                &call_title(self.host.runtime.catalog(), &call.name),
                &answer.text,
            ))),
            RunEvent::GoesOn(why) => {
                self.note(&format!("The reply is incomplete: {why}. haft asks the model to continue."))
            }
            RunEvent::Unfit(why) => self.note(&format!("The answer does not fit: {why}")),
            RunEvent::Compacted(done) => {
                self.note(&format!("Shortened the conversation: {} → {} tokens.", done.tokens_before, done.tokens_now))
            }
        }
    }

    fn replied(&self, usage: Usage) {
        self.recorder.count(usage);
        let mut state = self.state();
        state.spent.usage = state.spent.usage.plus(usage);
        let all = state.spent.usage;
        let cost = state.spent.price.as_ref().map(|price| price.of(&all).to_string());
        drop(state);
        let (context, total) = (usage.input.saturating_add(usage.output), all.input.saturating_add(all.output));
        self.report(WorkerReport::Replied { context, total, cost });
    }

    fn steered(&self) {
        if let Some(id) = self.messages.given() {
            // The message itself is in the log from now on.
            let _is_lost = self.recorder.unqueue(id);
            self.report(WorkerReport::Steered(id));
        }
    }

    fn note(&self, text: &str) {
        self.report(WorkerReport::Note(paragraph(text)));
    }

    fn report(&self, report: WorkerReport) {
        let _is_over = self.reports.send(report);
    }

    fn state(&self) -> MutexGuard<'_, TellerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the end of a conversation that is continued, as it was shown.
pub(super) fn retold(left: &ResumedSession, id: &str, redactor: &Redactor) -> Vec<String> {
    let mut lines = vec![paint(Ink::Faint, &format!("Continuing session {id}, {} messages", left.past.messages.len()))];
    if left.unread > 0 || left.past.lost > 0 {
        lines.push(paint(Ink::Bad, "A part of this session cannot be read and is lost; the model is told."));
    }
    for call in &left.open {
        let words = format!("The last run ended during a call of {}: it may have taken effect; check it.", call.name);
        lines.push(paint(Ink::Warn, &words));
    }
    let last_user = left.past.messages.iter().rposition(|message| matches!(message, Message::User { .. }));
    for message in left.past.messages.iter().skip(last_user.unwrap_or(0)) {
        let text = match message {
            Message::User { text, .. } => {
                let text: String = redactor.redact_known(text).chars().take(LONGEST_RETOLD).collect();
                lines.push(format!("{} {}", paint(Ink::Name, "›"), paint(Ink::Strong, &text)));
                continue;
            }
            Message::Model(reply) => redactor.redact_known(&reply.text()).into_owned(),
            Message::Tools { .. } => continue,
        };
        let mut markdown = Markdown::default();
        let text: String = text.chars().take(LONGEST_RETOLD).collect();
        lines.extend(markdown.push(&text, 80));
        lines.extend(markdown.finish(80));
    }
    lines
}
