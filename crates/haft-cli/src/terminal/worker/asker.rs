//! Asks the person at the screen, and returns the answers to the waiting calls.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use haft_agent::overseer::{Advice, Circle, Overseer};
use haft_contract::BoxFuture;
use haft_contract::doors::user_questions::UserReply;
use haft_contract::outcome::error::AdvanceYes;
use haft_host::calling::user_questions::reply;
use haft_host::host::Host;
use haft_host::opening::hosts::HostLists;
use haft_policy::decision::Class;
use haft_policy::policy::Mode;
use haft_runtime::asking::approval::{ApprovalRequest, Approver, Questionnaire, Verdict, YesToOrdinary};
use haft_runtime::state::session::Session;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use super::calls::run_by_person;
use crate::prompt::NO_TERMINAL;
use crate::terminal::input::call_line::CallLine;
use crate::terminal::protocol::{Reply, ScreenQuestion, ScreenQuestionSubject, WorkerReport, Yes};

/// Longest result that a model is told of a call that a person made instead, in characters.
const LONGEST_RESULT: usize = 4_000;
/// How the session of such calls is named.
const INSTEAD: &str = "terminal";

/// Asks the person at the screen.
#[derive(Clone)]
pub(super) struct Asker(Arc<AskerState>);

/// The state that the clones of an asker share.
struct AskerState {
    host: Arc<Host>,
    reports: UnboundedSender<WorkerReport>,
    columns: Arc<AtomicUsize>,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Reply>>>,
    next: AtomicU64,
    yes: AtomicU8,
    /// What happens to changes, in every session that is opened from now on.
    mode: Mutex<Mode>,
    lists: HostLists,
    /// The calls about which the person was asked, and so has seen what they would do.
    seen: Mutex<HashSet<String>>,
}

/// Withdraws a question when no call waits for its answer any more.
struct Open<'a> {
    asker: &'a AskerState,
    id: u64,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let is_open = self.asker.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id).is_some();
        if is_open {
            let _is_over = self.asker.reports.send(WorkerReport::Withdrawn(self.id));
        }
    }
}

impl Asker {
    pub(super) fn new(
        host: Arc<Host>,
        yes: Option<AdvanceYes>,
        (reports, columns): (UnboundedSender<WorkerReport>, Arc<AtomicUsize>),
    ) -> Self {
        let lists = HostLists::of_file(&host.settings.config_file);
        let (waiting, next) = (Mutex::default(), AtomicU64::new(1));
        let mode = Mutex::new(host.options().mode);
        let yes = AtomicU8::new(match yes {
            None => Yes::Asked as u8,
            Some(AdvanceYes::ToUndoable) => Yes::ToUndoable as u8,
            Some(AdvanceYes::ToAll) => Yes::ToAll as u8,
        });
        Self(Arc::new(AskerState { host, reports, columns, waiting, next, yes, mode, lists, seen: Mutex::default() }))
    }

    /// Gives an answer to the call that waits for it.
    pub(super) fn answer(&self, id: u64, reply: Reply) {
        let waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        if let Some(waiting) = waiting {
            // The call that asked may have ended in the meantime.
            let _is_gone = waiting.send(reply);
        }
    }

    /// Answers ordinary questions like this from now on.
    pub(super) fn say(&self, yes: Yes) {
        self.0.yes.store(yes as u8, Ordering::Relaxed);
    }

    /// Returns how ordinary questions are answered.
    pub(super) fn yes(&self) -> Yes {
        match self.0.yes.load(Ordering::Relaxed) {
            2 => Yes::ToAll,
            1 => Yes::ToUndoable,
            _ => Yes::Asked,
        }
    }

    /// Returns whether the person was asked about a call.
    pub(super) fn was_asked(&self, call: &str) -> bool {
        self.0.seen.lock().unwrap_or_else(PoisonError::into_inner).contains(call)
    }

    /// Sets what happens to changes from now on.
    pub(super) fn set_mode(&self, mode: Mode) {
        *self.0.mode.lock().unwrap_or_else(PoisonError::into_inner) = mode;
    }

    /// Opens a session whose questions go to this approver, in the present mode.
    pub(super) fn session(&self, name: &str, approver: Box<dyn Approver>) -> Session {
        let session = self.0.host.session(name, approver);
        session.set_mode(*self.0.mode.lock().unwrap_or_else(PoisonError::into_inner));
        session
    }

    /// Asks, and waits for the answer; nothing if the screen is closed.
    pub(super) async fn ask_about(&self, about: ScreenQuestionSubject) -> Option<Reply> {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let (sender, reply) = oneshot::channel();
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
        let _open = Open { asker: &self.0, id };
        self.0.reports.send(WorkerReport::Question(ScreenQuestion { id, about })).ok()?;
        reply.await.ok()
    }

    fn note(&self, text: String) {
        let _is_over = self.0.reports.send(WorkerReport::Note(text));
    }

    /// Adds the hosts to the user's settings.
    fn always(&self, request: &ApprovalRequest) -> Verdict {
        if let Some(setting) = &request.setting_to_paste {
            match self.0.lists.allow(&setting.names) {
                Ok(_) => self.note(format!("Your config.toml now has {}.", setting.line)),
                Err(error) => self.note(format!("Allowed only this time: {error:#}")),
            }
        }
        request.yes_to_hosts()
    }

    /// Makes the call that the person wrote in place of the model's; the model reads its result.
    async fn instead(&self, call: CallLine) -> Verdict {
        let approver = YesToOrdinary::or_ask(self.clone());
        let session = self.session(INSTEAD, Box::new(approver)).without_jobs();
        let columns = self.0.columns.load(Ordering::Relaxed);
        let named = format!("{} {}", call.tool, call.arguments());
        let (lines, text) = run_by_person(&self.0.host, &session, call, columns).await;
        let _is_over = self.0.reports.send(WorkerReport::Lines(lines));
        let text: String = text.chars().take(LONGEST_RESULT).collect();
        Verdict::Refuse { note: Some(format!("I changed the call and made it myself: {named}\nIts result:\n{text}")) }
    }
}

impl Approver for Asker {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        Box::pin(async move {
            if request.ruling.class == Class::Ordinary {
                match self.yes() {
                    Yes::ToAll => return Verdict::AllowOnce,
                    Yes::ToUndoable if request.can_be_undone => return Verdict::AllowOnce,
                    // A person is here, so that the rest is asked.
                    Yes::ToUndoable | Yes::Asked => {}
                }
            }
            self.0.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(request.call.to_string());
            match self.ask_about(ScreenQuestionSubject::Call(Arc::new(request.clone()))).await {
                Some(Reply::Verdict(verdict)) => verdict,
                Some(Reply::Always) => self.always(request),
                Some(Reply::Instead(call)) => self.instead(call).await,
                Some(Reply::GoOn | Reply::User(_) | Reply::Dismissed | Reply::Rewind(_)) | None => {
                    Verdict::NoAnswer { how: "ask the user to answer the question at a terminal".into() }
                }
            }
        })
    }

    fn ask_user<'a>(&'a self, questionnaire: &'a Questionnaire) -> BoxFuture<'a, UserReply> {
        Box::pin(self.put(questionnaire))
    }
}

impl Asker {
    /// Puts the questions of a model one by one.
    async fn put(&self, questionnaire: &Questionnaire) -> UserReply {
        let of = questionnaire.questions.len();
        let mut answers = Vec::new();
        for (number, question) in (1..).zip(&questionnaire.questions) {
            let about = ScreenQuestionSubject::User { question: Arc::new(question.clone()), count: (number, of) };
            match self.ask_about(about).await {
                Some(Reply::User(answer)) => answers.push(answer),
                Some(_) => return UserReply::Dismissed,
                None => return UserReply::Nobody(NO_TERMINAL.to_owned()),
            }
        }
        reply(answers)
    }
}

impl Overseer for Asker {
    fn goes_in_circles<'a>(&'a self, circle: &'a Circle) -> BoxFuture<'a, Advice> {
        let about = ScreenQuestionSubject::Circle { tool: circle.tool.clone(), times: circle.times };
        Box::pin(async move {
            match self.ask_about(about).await {
                Some(Reply::GoOn) => Advice::GoOn,
                Some(Reply::Verdict(Verdict::Refuse { note: Some(text) })) => Advice::Say(text),
                _ => Advice::End,
            }
        })
    }
}
