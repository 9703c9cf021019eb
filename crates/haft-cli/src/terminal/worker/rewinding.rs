//! Goes back to an earlier message: files and conversation together, or either.

use haft_contract::text::grouped::GroupedNumber;
use haft_host::changes::change_log::ago;
use haft_host::conversations::session_preview::{changed_words, changes_since};
use haft_host::conversations::session_records::{ConversationPoint, ResumedSession};
use haft_host::texts::bounded_text::one_line_of;
use haft_workspace::history::ChangeSet;

use super::Worker;
use crate::exit::Exit;
use crate::terminal::drawing::painted::{Ink, paint};
use crate::terminal::protocol::{Idle, Reply, RewindScope, ScreenQuestionSubject, WorkerReport};

/// Most messages that are offered.
const MOST_POINTS: usize = 50;
/// Longest message in a list, in columns.
const LONGEST_MESSAGE: usize = 60;

/// What going back to a point would do.
struct RewindPlan {
    point: ConversationPoint,
    /// The changes since then that hold, newest first.
    changes: Vec<ChangeSet>,
    /// How many messages would be forgotten.
    messages: usize,
}

impl Worker {
    /// Says to which messages the person can go back.
    pub(super) fn report_points(&self) {
        let Some(recorder) = &self.recorder else { return self.report(WorkerReport::Points(Vec::new())) };
        let Ok(kept) = recorder.read_back() else { return };
        let points = ResumedSession::of(&kept).points;
        let first = points.len().saturating_sub(MOST_POINTS);
        let since = points.get(first).map_or(0, |point| point.at_ms);
        let changes = changes_since(&self.host.history, &recorder.id(), since);
        let told = points.iter().enumerate().skip(first).rev().map(|(index, point)| {
            let sets: Vec<ChangeSet> = changes.iter().filter(|set| set.at >= point.at_ms).cloned().collect();
            let changed = if sets.is_empty() { String::new() } else { format!(" · {}", changed_words(&sets)) };
            let text = one_line_of(&self.host.runtime.redactor().redact_known(&point.text), LONGEST_MESSAGE);
            (format!("#{}", index + 1), format!("{:<11} {text}{changed}", ago(point.at_ms)))
        });
        self.report(WorkerReport::Points(told.collect()));
    }

    /// Shows what going back to a message would do, asks, and does it.
    pub(super) async fn rewind(&mut self, number: usize) -> Idle {
        let plan = match self.rewind_plan(number) {
            Ok(plan) => plan,
            Err(why) => {
                self.report(WorkerReport::Note(why));
                return Idle::Done;
            }
        };
        let Some(scope) = self.ask_about_rewind(&plan).await else { return Idle::Done };
        if scope != RewindScope::Conversation
            && let Some(oldest) = plan.changes.last()
            && self.run_haft(since(oldest.number)).await != Exit::Ok
        {
            if scope == RewindScope::Both {
                self.report(WorkerReport::Note(
                    "The conversation stays, because the files could not be undone.".to_owned(),
                ));
            }
            return Idle::Done;
        }
        if scope != RewindScope::Files {
            self.forget_from(&plan.point);
        }
        Idle::Done
    }

    fn rewind_plan(&self, number: usize) -> Result<RewindPlan, String> {
        let none = || "There is no conversation to go back in yet.".to_owned();
        let recorder = self.recorder.as_ref().ok_or_else(none)?;
        let kept = recorder.read_back().map_err(|error| format!("The conversation cannot be read: {error}."))?;
        let session = ResumedSession::of(&kept);
        let of = session.points.len();
        let Some(point) = session.points.get(number - 1).cloned() else {
            let named = GroupedNumber(of as u64).of("message");
            return Err(format!("There is no message #{number}: you sent {named} in this conversation."));
        };
        let changes = changes_since(&self.host.history, &recorder.id(), point.at_ms);
        let messages = session.past.messages.len().saturating_sub(point.messages_before);
        Ok(RewindPlan { point, changes, messages })
    }

    async fn ask_about_rewind(&mut self, plan: &RewindPlan) -> Option<RewindScope> {
        let text = one_line_of(&self.host.runtime.redactor().redact_known(&plan.point.text), LONGEST_MESSAGE);
        let mut lines = vec![format!("{} {}", paint(Ink::Plain, "Back to before:"), paint(Ink::Strong, &text))];
        let forgets = GroupedNumber(plan.messages as u64).of("message");
        let words = format!("  conversation: the model would forget {forgets}; yours would be in the input again");
        lines.push(paint(Ink::Plain, &words));
        if plan.changes.is_empty() {
            lines.push(paint(Ink::Faint, "  files: this conversation changed none since"));
        }
        self.report(WorkerReport::Lines(lines));
        if let Some(oldest) = plan.changes.last() {
            let mut words = since(oldest.number);
            words.push("--plan".to_owned());
            self.run_haft(words).await;
        }
        let about = ScreenQuestionSubject::Rewind { change_sets: plan.changes.len(), messages: plan.messages };
        match self.ask_in_between(about).await {
            Some(Reply::Rewind(scope)) => Some(scope),
            _ => None,
        }
    }

    /// Forgets a message and everything behind it, and puts its text into the input.
    fn forget_from(&mut self, point: &ConversationPoint) {
        let Some(recorder) = self.recorder.clone() else { return };
        let rewound = recorder.rewind(point.messages_before).and_then(|()| recorder.read_back());
        match rewound {
            Ok(kept) => {
                self.messages = Vec::new();
                self.left = ResumedSession::of(&kept).past;
                self.report(WorkerReport::Typed(point.text.clone()));
                self.report(WorkerReport::Note("Went back. Your message is in the input again.".to_owned()));
            }
            Err(error) => self.warn(&anyhow::Error::from(error).context("the conversation stays as it is")),
        }
    }
}

fn since(number: u64) -> Vec<String> {
    vec!["undo".to_owned(), "--since".to_owned(), number.to_string()]
}
