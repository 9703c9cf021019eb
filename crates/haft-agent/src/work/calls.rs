//! Runs the calls of a reply: each gets exactly one answer, in their order.

use std::sync::{Mutex, PoisonError};

use haft_contract::outcome::result::{Status, ToolResult};
use haft_model::conversation::{ModelToolCall, Reply, StopReason, ToolAnswer};

use haft_runtime::state::session::Session;
use tokio_util::sync::CancellationToken;

use super::images::Room;
use super::preview::preview;
use super::told::{RunEvent, RunListener};
use crate::agent::{AgentLoop, Run};
use crate::guard::Guard;
use crate::memory::history::not_run;
use crate::memory::record::Record;

const STOPPED: &str = "Not run: stopped by the user. Nothing was done.";
const REFUSED: &str = "Not run: the reply that called it was refused. Nothing was done.";
const CUT_BY_LENGTH: &str = "Not run: the reply reached the maximum length inside this call, so its arguments are \
    incomplete. Nothing was done. Next: send it again with less in one call; write a large file in parts.";

/// The calls of one reply while they run, and their answers so far.
struct ReplyCalls<'r> {
    calls: Vec<&'r ModelToolCall>,
    answers: Mutex<Vec<Option<ToolAnswer>>>,
    guard: Mutex<&'r mut Guard>,
    room: Mutex<Room>,
    record: &'r dyn Record,
    told: RunListener<'r>,
}

impl AgentLoop<'_> {
    /// Runs the calls of a reply; returns one answer for each.
    pub(crate) async fn answer_calls(&mut self, reply: &Reply, run: &Run<'_>) -> Vec<ToolAnswer> {
        self.session.begin_turn();
        let calls: Vec<&ModelToolCall> = reply.calls().collect();
        let mut answers: Vec<Option<ToolAnswer>> =
            calls.iter().map(|call| self.why_not(call, reply, run).map(|why| not_run(call, &why))).collect();
        for (call, answer) in calls.iter().zip(&mut answers) {
            if answer.is_none() {
                *answer = self.begin(call, run);
            }
            if let Some(answer) = answer {
                (run.told)(RunEvent::NotRun { call, answer });
            }
        }
        let to_run = calls.iter().zip(&answers).filter(|(_, answer)| answer.is_none());
        let to_run: Vec<_> = to_run.map(|(call, _)| run.tools.tool_call(call)).collect();
        let (guard, answers) = (Mutex::new(&mut self.guard), Mutex::new(answers));
        let room = Mutex::new(Room::beside(self.images_kept));
        let answering = ReplyCalls { calls, answers, guard, room, record: self.record, told: run.told };
        let lent = self.state.lend(&mut self.messages);
        let ended = |result: &ToolResult| answering.end(result);
        run_until_stopped(self.runtime.call_all_telling(self.session, to_run, &ended), self.session, run.stop).await;
        drop(lent);
        let answers = answering.into_answers();
        self.images_kept +=
            answers.iter().flat_map(|answer| &answer.images).map(|image| image.base64.len()).sum::<usize>();
        answers
    }

    /// Returns why a call shall not be run.
    fn why_not(&mut self, call: &ModelToolCall, reply: &Reply, run: &Run<'_>) -> Option<String> {
        match reply.stop {
            _ if run.stop.is_cancelled() => Some(STOPPED.to_owned()),
            StopReason::Refused => Some(REFUSED.to_owned()),
            StopReason::Length if call.is_cut => Some(CUT_BY_LENGTH.to_owned()),
            _ if call.is_cut => Some(cut(reply.why_cut.as_deref())),
            StopReason::Finished | StopReason::Calls | StopReason::Length | StopReason::Paused | StopReason::Cut => {
                run.tools.refuses(self.runtime.catalog(), call).or_else(|| self.guard.earlier(call))
            }
        }
    }

    /// Writes down that a call begins. One that cannot be written down does not.
    fn begin(&self, call: &ModelToolCall, run: &Run<'_>) -> Option<ToolAnswer> {
        match self.record.began(call) {
            Ok(()) => {
                (run.told)(RunEvent::CallBegan { call, preview: &preview(call, self.runtime.redactor()) });
                None
            }
            Err(error) => {
                Some(not_run(call, &format!("Not run: the session cannot be recorded ({error}). Nothing was done.")))
            }
        }
    }
}

/// Says of a call that the reply ended inside it, for this reason.
fn cut(why: Option<&str>) -> String {
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    format!(
        "Not run: the reply ended inside this call, so its arguments are incomplete{why}. Nothing was done. Next: send it again."
    )
}

/// Runs calls together. When told to stop they are, and what they say of that is their result.
async fn run_until_stopped<T>(running: impl Future<Output = T>, session: &Session, stop: &CancellationToken) {
    tokio::pin!(running);
    tokio::select! {
        biased;
        () = stop.cancelled() => {
            session.stop_turn();
            running.await;
        }
        _ = &mut running => {}
    }
}

impl ReplyCalls<'_> {
    /// Answers a call that has ended: written down first, then told.
    fn end(&self, result: &ToolResult) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let is_this = |(call, answer): &(&&ModelToolCall, &mut Option<ToolAnswer>)| {
            call.id == result.id.as_str() && answer.is_none()
        };
        let Some((call, place)) = self.calls.iter().zip(answers.iter_mut()).find(is_this) else { return };
        let hint = self.guard.lock().unwrap_or_else(PoisonError::into_inner).note(call, result);
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = answer(call, result, hint, &mut room);
        drop(room);
        // What cannot be written down is not lost yet: the message with all answers says so if it cannot either.
        let _is_in_the_message = self.record.answered(&answer);
        (self.told)(RunEvent::CallEnded { call, result, answer: &answer });
        *place = Some(answer);
    }

    fn into_answers(self) -> Vec<ToolAnswer> {
        let answers = self.answers.into_inner().unwrap_or_else(PoisonError::into_inner);
        let lost = |call: &ModelToolCall| not_run(call, "The result of this call is lost. This is a defect in haft.");
        answers.into_iter().zip(self.calls).map(|(answer, call)| answer.unwrap_or_else(|| lost(call))).collect()
    }
}

fn answer(call: &ModelToolCall, result: &ToolResult, hint: Option<String>, room: &mut Room) -> ToolAnswer {
    let mut text = result.text();
    let images = room.take(result, &mut text);
    if let Some(note) = hint {
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        text.push_str(&format!("{gap}[note: {note}]"));
    }
    if text.is_empty() {
        text.push_str("[no output]");
    }
    ToolAnswer { call: call.id.clone(), name: call.name.clone(), text, is_error: result.status != Status::Ok, images }
}
