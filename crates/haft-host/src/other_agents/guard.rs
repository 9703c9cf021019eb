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
    let unjudged = |error: &anyhow::Error, redactor: &Redactor| {
        GuardAnswer::unjudged(event.recipient, &format!("{error:#}"), redactor)
    };
    let call_judge = match AgentCallJudge::open(options, event) {
        Ok(call_judge) => call_judge,
        Err(error) => return unjudged(&error, &Redactor::default()),
    };
    // Before the judge looks: a file is told of once.
    let redactor = call_judge.redactor();
    let AgentCallJudgement { ruling, follows } = match call_judge.judge(event) {
        Ok(judged) => judged,
        Err(error) => return unjudged(&error, &redactor),
    };
    let answer = GuardAnswer::of(event.recipient, &ruling, &redactor);
    if options.1 == GuardMode::Judges || !answer.lets_run() {
        return answer;
    }
    match Recording::of(&call_judge, event).before(follows, &redactor) {
        Ok(input) => answer.with_input(input),
        // Without the ticket the command would run without the sandbox for which it was judged.
        Err(error) => judge((options.0, GuardMode::Judges), event)
            .with_remark(&format!("haft can only judge it: {error:#}. It cannot be undone.")),
    }
}

/// Records what a call has changed. Returns what the user has to know.
fn after(options: (&Options, GuardMode), event: &GuardEvent) -> Option<String> {
    if options.1 == GuardMode::Judges {
        return None;
    }
    let recorded = AgentCallJudge::open(options, event).and_then(|judge| Recording::of(&judge, event).after());
    recorded.err().map(|error| format!("haft could not record what {} changed: {error:#}", event.tool))
}
