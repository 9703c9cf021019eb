//! The worker behind the screen: a separate thread that runs calls, commands and the model.
//!
//! It does one thing at a time. Meanwhile the desk still takes orders that cannot wait: answers, a stop, messages for the
//! model, another mode.
//!
//! Not here: what is shown (`app`), the turn loop (`haft-agent`).

mod asker;
mod calls;
mod chat;
mod conversations;
mod desk;
mod haft_commands;
mod results;
mod rewinding;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_agent::memory::history::Past;
use haft_config::sections::model::ModelSection;
use haft_contract::doors::process::ConfinementLevel;
use haft_host::conversations::session_names::newest_session;
use haft_host::conversations::session_records::{ResumedSession, SessionRecorder};
use haft_host::conversations::user_commands::ExpandedPrompt;
use haft_host::host::{Host, block_on};
use haft_host::opening::model::choice::Choice;
use haft_model::client::{Endpoint, ModelConnection};
use haft_model::conversation::Message;
use haft_runtime::events::{CallEventContent, EventKind};
use haft_runtime::state::session::Session;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::app::Tails;
use super::protocol::{Idle, MessageDelivery, ModelReport, Order, StartupFacts, WaitingMessage, WorkerReport};
use super::tool_facts::ToolFacts;
use crate::arguments::{Common, TerminalFlags};
use asker::Asker;
use desk::OrderQueue;

/// Most files that are offered for completion.
const MOST_FILES: usize = 50_000;
/// How the session of calls is named before there is a conversation.
const CONSOLE: &str = "terminal";

/// The input of the worker.
pub(super) struct WorkerInput {
    pub(super) host: Host,
    pub(super) common: Common,
    pub(super) flags: TerminalFlags,
    pub(super) tails: Tails,
    /// How wide the terminal is.
    pub(super) columns: Arc<AtomicUsize>,
    pub(super) reports: UnboundedSender<WorkerReport>,
    pub(super) orders: UnboundedReceiver<Order>,
}

/// Works until it is told to quit.
pub(super) fn work(job: WorkerInput) -> anyhow::Result<()> {
    block_on(async {
        let mut worker = Worker::new(job);
        worker.greet().await;
        worker.serve().await;
        if let Some(session) = &worker.session {
            session.end_jobs().await;
        }
    })
}

struct Worker {
    host: Arc<Host>,
    common: Common,
    flags: TerminalFlags,
    columns: Arc<AtomicUsize>,
    reports: UnboundedSender<WorkerReport>,
    desk: OrderQueue,
    asker: Asker,
    /// The session of all calls, once there is one.
    session: Option<Session>,
    /// Records the conversation, once there is one.
    recorder: Option<Arc<SessionRecorder>>,
    messages: Vec<Message>,
    /// The state of a session whose process has ended.
    left: Past,
    model: Option<ModelInUse>,
    knows_secrets: bool,
    cost: chat::Spent,
    /// The remarks about files that were made.
    told_notes: HashSet<String>,
}

/// A model that can be asked.
struct ModelInUse {
    endpoint: Endpoint,
    connection: ModelConnection,
}

impl Worker {
    fn new(job: WorkerInput) -> Self {
        let WorkerInput { host, common, flags, tails, columns, reports, orders } = job;
        let host = Arc::new(host);
        listen_to_output(&host, tails);
        let asker = Asker::new(host.clone(), common.yes(), (reports.clone(), columns.clone()));
        let desk = OrderQueue::new(orders, asker.clone());
        let (session, recorder, messages, left) = (None, None, Vec::new(), Past::default());
        let (model, knows_secrets, cost) = (None, false, chat::Spent::default());
        Self {
            host,
            common,
            flags,
            columns,
            reports,
            desk,
            asker,
            session,
            recorder,
            messages,
            left,
            model,
            knows_secrets,
            cost,
            told_notes: HashSet::new(),
        }
    }

    /// Says what was found, then looks for a model.
    async fn greet(&mut self) {
        self.report(WorkerReport::Found(Box::new(self.found())));
        self.list_files();
        self.report_user_commands();
        if self.flags.continues {
            let newest = newest_session(&self.host.state.sessions());
            match newest {
                Ok(id) => self.resume(&id.to_string()).await,
                Err(error) => self.warn(&error),
            }
        }
        if self.model.is_none() {
            self.choose_model(self.flags.model.said(), ModelSection::default()).await;
        }
    }

    async fn serve(&mut self) {
        while let Some(order) = self.desk.next().await {
            let how = match order {
                Order::Quit => return,
                Order::Prompt(text) => {
                    let prompt = ExpandedPrompt { text: text.clone(), ..ExpandedPrompt::default() };
                    self.prompt(prompt, &text).await
                }
                Order::UserCommand(line) => self.user_command(&line).await,
                Order::NativeCall(tool, arguments) => self.native_call(tool, arguments).await,
                Order::Rewind(number) => self.rewind(number).await,
                Order::Name(words) => self.name(&words),
                Order::Export(file) => self.export(file),
                Order::Call(call) => self.call(call).await,
                Order::Shell(command) => self.shell(&command).await,
                Order::Haft(words) => self.show(words).await,
                Order::Confirmed(words) => self.confirm(words).await,
                Order::ServerPrompt(words) => self.server_prompt(words).await,
                Order::Model(name) => {
                    let flags = ModelSection { name: Some(name), ..ModelSection::default() };
                    self.choose_model(flags, ModelSection::default()).await;
                    Idle::Done
                }
                Order::Resume(id) => {
                    self.resume(&id).await;
                    Idle::Done
                }
                other => {
                    self.adjust(other);
                    continue;
                }
            };
            self.list_files();
            self.report_user_commands();
            self.report_points();
            self.report(WorkerReport::Sessions(self.sessions()));
            self.report(WorkerReport::Idle(how));
        }
    }

    /// Does what needs no time.
    fn adjust(&mut self, order: Order) {
        match order {
            Order::Clear => {
                self.recorder = None;
                self.session = None;
                self.messages = Vec::new();
                self.left = Past::default();
                self.cost = chat::Spent::default();
                self.desk.record_in(None);
                self.report_points();
            }
            Order::Preview(id) => self.preview(id),
            order => self.desk.adjust(order, self.session.as_ref()),
        }
    }

    fn found(&self) -> StartupFacts {
        let catalog = self.host.runtime.catalog().list_all();
        let tools = catalog.iter().map(|entry| ToolFacts::of(entry.shown(), entry.native_name())).collect();
        let confinement = self.host.runtime.doors().confinement();
        let sandbox = match confinement.level() {
            _ if confinement.is_off => "switched off: commands can do everything that you can".to_owned(),
            ConfinementLevel::Full => "full: commands cannot leave the project, and undo covers them".to_owned(),
            ConfinementLevel::Partial => {
                "partial: commands cannot leave the project; /doctor says what is missing".to_owned()
            }
            ConfinementLevel::None => "none: nothing confines commands; /doctor says what is missing".to_owned(),
        };
        let changes = self.host.history.newest(20).map(|log| log.sets.len() + log.older as usize).unwrap_or(0);
        let workspace = self.host.workspace.display().to_string();
        StartupFacts { workspace, sandbox, tools, sessions: self.sessions(), changes }
    }

    /// Lists the files on a separate thread.
    fn list_files(&self) {
        let (host, reports) = (self.host.clone(), self.reports.clone());
        std::thread::spawn(move || {
            let files = host.runtime.doors().look.file_names(MOST_FILES);
            let _is_over = reports.send(WorkerReport::Files(files));
        });
    }

    async fn choose_model(&mut self, flags: ModelSection, session: ModelSection) {
        match self.made_model(flags, session).await {
            Ok((model, from)) => {
                let (name, window) = (model.endpoint.model.clone(), chat::window(&self.host, &model.endpoint.model));
                self.model = Some(model);
                self.report(WorkerReport::Model(ModelReport::Is { name, from, window }));
            }
            Err(error) if self.model.is_none() => {
                self.report(WorkerReport::Model(ModelReport::None(format!("{error:#}"))))
            }
            Err(error) => self.warn(&error),
        }
    }

    /// Connects the model that is wanted; says where it was found.
    async fn made_model(&self, flags: ModelSection, session: ModelSection) -> anyhow::Result<(ModelInUse, String)> {
        let choice = Choice::new(flags, &self.host.settings, session)?;
        self.host.runtime.also_hide(choice.secrets());
        let chosen = choice.made().await?;
        let (endpoint, from) = (chosen.endpoint.clone(), chosen.from.clone());
        Ok((ModelInUse { endpoint, connection: chosen.connection() }, from))
    }

    /// Continues a session: its messages, its model, its waiting messages.
    async fn resume(&mut self, name: &str) {
        let sessions = self.host.state.sessions();
        let taken = sessions.find(name).and_then(|id| sessions.take_up(&id));
        let (log, kept) = match taken {
            Ok(taken) => taken,
            Err(error) => return self.warn(&anyhow::Error::from(error)),
        };
        let left = ResumedSession::of(&kept);
        let id = log.id().to_string();
        let recorder = Arc::new(SessionRecorder::new(log, kept.tally, self.host.runtime.redactor()));
        self.report(WorkerReport::Lines(chat::retold(&left, &id, self.host.runtime.redactor())));
        self.report(WorkerReport::Session(id.clone()));
        let queued = left.queued.iter().map(|message| WaitingMessage {
            id: message.id,
            text: message.text.clone(),
            when: if message.after_turn { MessageDelivery::AfterTurn } else { MessageDelivery::NextStep },
        });
        self.report(WorkerReport::Restored(queued.collect(), left.draft.clone()));
        self.desk.record_in(Some(recorder.clone()));
        self.desk.hold(left.queued.iter().filter(|message| !message.after_turn));
        let session = self.asker.session(&id, Box::new(self.asker.clone()));
        left.shared.restore(&session);
        self.session = Some(session);
        self.cost = chat::Spent::of(kept.tally);
        (self.recorder, self.messages, self.left) = (Some(recorder), Vec::new(), left.past);
        self.choose_model(self.flags.model.said(), left.model).await;
    }

    /// Returns the session of calls; without a conversation it is one of the terminal.
    fn session(&mut self) -> &Session {
        let asker = &self.asker;
        self.session.get_or_insert_with(|| asker.session(CONSOLE, Box::new(asker.clone())))
    }

    fn columns(&self) -> usize {
        self.columns.load(Ordering::Relaxed)
    }

    fn report(&self, report: WorkerReport) {
        // A screen that is gone needs no reports; the order to quit follows.
        let _is_over = self.reports.send(report);
    }

    fn warn(&self, error: &anyhow::Error) {
        self.report(WorkerReport::Warn(format!("haft: {error:#}")));
    }
}

/// Keeps the last lines of what calls print where the screen finds them.
fn listen_to_output(host: &Arc<Host>, tails: Tails) {
    let mut output = host.runtime.events().subscribe_only(EventKind::OutputChunk);
    tokio::spawn(async move {
        loop {
            let event = output.next().await;
            if let CallEventContent::OutputChunk(text) = &event.what {
                tails.note(event.call.as_str(), text);
            }
        }
    });
}
