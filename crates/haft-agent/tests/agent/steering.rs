//! Messages that come while a model works: after its calls, in their order, and never in the middle of anything.

use std::sync::Mutex;

use haft_agent::agent::AgentLoop;
use haft_agent::outcome::AgentEndReason;
use haft_agent::work::inbox::Inbox;
use haft_model::conversation::Message;
use serde_json::json;

use crate::puppet::{Puppet, call, calls, says};
use crate::work::{Entry, Log, run, scene};

/// Messages that wait.
struct Waiting(Mutex<Vec<&'static str>>);

impl Inbox for Waiting {
    fn take(&self) -> Option<String> {
        let mut waiting = self.0.lock().expect("no test fails while it is held");
        if waiting.is_empty() { None } else { Some(waiting.remove(0).to_owned()) }
    }
}

#[tokio::test]
async fn messages_reach_the_model_after_its_calls_and_are_written_down_first() {
    let scene = scene();
    let puppet = Puppet::of([calls([call("1", "add", json!({ "a": 1, "b": 2 }))]), says("Yes.")]);
    let (log, inbox) = (Log::default(), Waiting(Mutex::new(vec!["mind this", "and that"])));
    let agent = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log).steered_by(&inbox);
    let worked = run(agent, usize::MAX).await.1;
    assert_eq!(worked.outcome.ended, AgentEndReason::Finished);
    assert!(worked.told.contains(&"steered: mind this".to_owned()), "{:?}", worked.told);
    let asked = puppet.asked();
    let last = asked.last().and_then(|messages| messages.last()).expect("it was asked twice");
    assert!(matches!(last, Message::User { text, .. } if text == "mind this\n\nand that"), "{last:?}");
    let is_message = |entry: &Entry| matches!(entry, Entry::Message(Message::User { text, .. }) if text == "mind this");
    assert!(log.entries().iter().any(is_message));
}

#[tokio::test]
async fn a_message_for_a_model_that_calls_nothing_stays_where_it_is() {
    let scene = scene();
    let puppet = Puppet::of([says("Done.")]);
    let (log, inbox) = (Log::default(), Waiting(Mutex::new(vec!["too late"])));
    let agent = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log).steered_by(&inbox);
    assert_eq!(run(agent, usize::MAX).await.1.outcome.ended, AgentEndReason::Finished);
    assert_eq!(inbox.take().as_deref(), Some("too late"));
}
