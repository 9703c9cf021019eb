//! Judges one call that another agent is about to make, as a hook of that agent.
//!
//! The event says which agent sent it, and the answer has that agent's form. Nothing runs here: neither sandbox nor undo
//! surrounds what the agent does next, so what haft itself would allow because of them is a question.
//!
//! An agent continues when its hook fails. So there is always an answer: haft asks about an event it cannot read or judge.

mod address;
pub mod answer;
mod event;
mod form;
mod git_settings;
mod judged;
mod patch;
mod place;
mod searchers;
mod secret_looks;
mod secrets;
mod served;
mod server_tool;
pub mod setup_lines;
mod unique;
mod wanted;

use std::panic::{AssertUnwindSafe, catch_unwind};

use haft_runtime::redact::Redactor;

use crate::options::Options;
use answer::Answer;
use event::{Event, Unread};
use form::Recipient;
use judged::Judge;

/// Judges an event as another agent sent it. A defect in haft is a question too.
#[must_use]
pub fn answer_event(options: &Options, bytes: &[u8]) -> Answer {
    let answer = catch_unwind(AssertUnwindSafe(|| answer(options, bytes)));
    answer.unwrap_or_else(|_| Answer::unread(Recipient::default(), "of a defect in haft"))
}

/// Answers an event that cannot be read, with the reason.
#[must_use]
pub fn answer_unread(why: &str) -> Answer {
    Answer::unread(Recipient::default(), why)
}

fn answer(options: &Options, bytes: &[u8]) -> Answer {
    let event = match Event::read(bytes) {
        Ok(event) => event,
        Err(Unread { recipient, why }) => return Answer::unread(recipient, &why),
    };
    let recipient = event.recipient;
    // From here on a failure is answered in the form of the agent.
    let judged = catch_unwind(AssertUnwindSafe(|| judge(options, &event)));
    judged.unwrap_or_else(|_| Answer::unjudged(recipient, "of a defect in haft", &Redactor::default()))
}

fn judge(options: &Options, event: &Event) -> Answer {
    match Judge::open(options, event) {
        Ok(judge) => {
            // Before the judge looks: a file is told of once.
            let redactor = judge.redactor();
            match judge.judge(event) {
                Ok(ruling) => Answer::of(event.recipient, &ruling, &redactor),
                Err(error) => Answer::unjudged(event.recipient, &format!("{error:#}"), &redactor),
            }
        }
        Err(error) => Answer::unjudged(event.recipient, &format!("{error:#}"), &Redactor::default()),
    }
}
