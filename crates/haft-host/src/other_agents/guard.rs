//! Judges one call that another agent is about to make, as a hook of that agent.
//!
//! The event says which agent sent it, and the answer has that agent's form. If the agent accepts a rewritten call, haft
//! answers with one that runs the command in haft's sandbox. haft records what the agent's file tools change. Otherwise
//! neither sandbox nor undo covers the call, so haft asks about calls that it would allow only because of them.
//!
//! An agent continues when its hook fails. So there is always an answer: haft asks about an event it cannot read or judge.

mod answer;
mod events;
mod judged;
mod own_rules;
mod recording;
mod rewrite;
mod secrets;
pub mod setup_lines;
mod start;

use std::panic::{AssertUnwindSafe, catch_unwind};

use haft_runtime::redaction::redact::Redactor;

use crate::options::Options;
use answer::{GuardAnswer, remark};
use events::event::{GuardEvent, Unread};
use events::form::{GuardEventTiming, Recipient};
use judged::{AgentCallJudge, AgentCallJudgement};
use recording::Recording;

/// Longest event, in bytes. It holds the content of a file that is written, and in some agents of one that is read.
pub const LONGEST_EVENT: usize = 64 * 1024 * 1024;

/// How haft treats the calls of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GuardMode {
    /// It judges them, runs commands in its sandbox and records changes of files, where the agent lets it.
    #[default]
    Contains,
    /// It only judges them.
    Judges,
}

/// Answers an event as another agent sent it, with one line of JSON. A defect in haft is a question too.
#[must_use]
pub fn answer_event(options: &Options, reach: GuardMode, bytes: &[u8]) -> String {
    let answer = catch_unwind(AssertUnwindSafe(|| answer((options, reach), bytes)));
    answer.unwrap_or_else(|_| GuardAnswer::unread(Recipient::default(), "of a defect in haft").line())
}

/// Answers an event that cannot be read, with the reason.
#[must_use]
pub fn answer_unread(why: &str) -> String {
    GuardAnswer::unread(Recipient::default(), why).line()
}

fn answer(options: (&Options, GuardMode), bytes: &[u8]) -> String {
    let event = match GuardEvent::read(bytes) {
        Ok(event) => event,
        Err(Unread { recipient, why }) => return GuardAnswer::unread(recipient, &why).line(),
    };
    let recipient = event.recipient;
    // From here on the answer to a failure has the form of the agent.
    let answered = catch_unwind(AssertUnwindSafe(|| match event.moment {
        GuardEventTiming::Before => judge(options, &event).line(),
        GuardEventTiming::After => remark(after(options, &event).as_deref()),
        GuardEventTiming::Start => remark(Some(&start::line(options, &event))),
    }));
    match (answered, event.moment) {
        (Ok(line), _) => line,
        (Err(_), GuardEventTiming::Before) => {
            GuardAnswer::unjudged(recipient, "of a defect in haft", &Redactor::default()).line()
        }
        (Err(_), GuardEventTiming::After | GuardEventTiming::Start) => remark(None),
    }
}

/// Answers with what is judged, and prepares for the call if it may be made.
fn judge(options: (&Options, GuardMode), event: &GuardEvent) -> GuardAnswer {
    let call_judge = match AgentCallJudge::open(options, event) {
        Ok(call_judge) => call_judge,
        Err(error) => return unjudged(event, &error, &Redactor::default()),
    };
    // Before the judge looks: a file is told of once.
    let redactor = call_judge.redactor();
    let AgentCallJudgement { ruling, follows } = match call_judge.judge(event) {
        Ok(judged) => judged,
        Err(error) => return unjudged(event, &error, &redactor),
    };
    let answer = GuardAnswer::of(event.recipient, &ruling, &redactor);
    if options.1 == GuardMode::Judges || !answer.lets_run() {
        return answer;
    }
    match Recording::of(&call_judge, event).before(follows, &redactor) {
        Ok(input) => answer.with_input(input),
        Err(error) => judge_without_record(options.0, event)
            .with_remark(&format!("haft can only judge it: {error:#}. It cannot be undone.")),
    }
}

/// Judges again a call that haft could not prepare for: a command would run without the sandbox for which it was judged,
/// and nothing could undo an edit.
fn judge_without_record(options: &Options, event: &GuardEvent) -> GuardAnswer {
    let call_judge = match AgentCallJudge::open((options, GuardMode::Judges), event) {
        Ok(call_judge) => call_judge.recording_nothing(),
        Err(error) => return unjudged(event, &error, &Redactor::default()),
    };
    let redactor = call_judge.redactor();
    match call_judge.judge(event) {
        Ok(judged) => GuardAnswer::of(event.recipient, &judged.ruling, &redactor),
        Err(error) => unjudged(event, &error, &redactor),
    }
}

fn unjudged(event: &GuardEvent, error: &anyhow::Error, redactor: &Redactor) -> GuardAnswer {
    GuardAnswer::unjudged(event.recipient, &format!("{error:#}"), redactor)
}

/// Records what a call has changed. Returns what the user has to know.
fn after(options: (&Options, GuardMode), event: &GuardEvent) -> Option<String> {
    if options.1 == GuardMode::Judges {
        return None;
    }
    let recorded = AgentCallJudge::open(options, event).and_then(|judge| Recording::of(&judge, event).after());
    recorded.unwrap_or_else(|error| Some(format!("haft could not record what {} changed: {error:#}", event.tool)))
}
