//! Going on with what another process left.

use haft_agent::agent::AgentLoop;
use haft_agent::memory::history::Past;
use haft_agent::outcome::AgentEndReason;
use haft_model::conversation::{Message, ReplyPart, StopReason, ToolAnswer};
use proptest::prelude::*;
use serde_json::json;

use crate::puppet::{Puppet, Turn, call, call_text, calls, says};
use crate::valid::assert_valid;
use crate::work::{Entry, Log, past, run, scene};

fn turns() -> Vec<Turn> {
    let write = |id: &str| call(id, "write_file", json!({ "path": id, "content": "x\n" }));
    vec![
        calls([write("a"), call("n", "add", json!({ "a": 1, "b": 2 })), write("b")]),
        calls([write("c")]),
        says("done"),
    ]
}

#[tokio::test]
async fn a_session_killed_at_any_entry_goes_on_and_says_what_may_have_happened() {
    let scene = scene();
    let (puppet, log) = (Puppet::of(turns()), Log::default());
    run(AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log), usize::MAX).await;
    let entries = log.entries();
    assert!(entries.len() > 12, "{entries:?}");
    for end in 0..=entries.len() {
        let written = &entries[..end];
        let (puppet, log) = (Puppet::of([says("on")]), Log::default());
        let agent = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log).going_on(past(written));
        assert_valid(agent.messages());
        let (_, worked) = run(agent, usize::MAX).await;
        assert_eq!(worked.outcome.ended, AgentEndReason::Finished);
        for (id, text) in worked.answers() {
            let began = written.iter().any(|entry| matches!(entry, Entry::Began(call) if call == id));
            let known = written.iter().any(|entry| match entry {
                Entry::Answered(answer) => answer.call == id,
                Entry::Message(Message::Tools { answers }) => answers.iter().any(|answer| answer.call == id),
                Entry::Message(_) | Entry::Began(_) => false,
            });
            assert_eq!(text.starts_with("Interrupted: "), began && !known, "{id} at {end}: {text}");
            assert_eq!(
                text.starts_with("Not run, as far as is known: the process ended"),
                !began && !known,
                "{id} at {end}: {text}"
            );
        }
        // Both logs together are what a third process reads.
        let both: Vec<Entry> = written.iter().cloned().chain(log.entries()).collect();
        let agent = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log).going_on(past(&both));
        assert_eq!(format!("{:?}", agent.messages()), format!("{:?}", worked.messages), "at {end}");
    }
}

fn any_message() -> impl Strategy<Value = Message> {
    let id = || prop_oneof![Just("1"), Just("2"), Just("3")];
    let parts = prop::collection::vec(
        prop_oneof![Just(ReplyPart::Text("t".into())), id().prop_map(|id| call(id, "add", json!({}))),],
        0..4,
    );
    let stop = prop_oneof![
        Just(StopReason::Finished),
        Just(StopReason::Paused),
        Just(StopReason::Calls),
        Just(StopReason::Cut)
    ];
    let answer = id().prop_map(|id| ToolAnswer {
        call: id.into(),
        name: "add".into(),
        text: "x".into(),
        is_error: false,
        images: Vec::new(),
    });
    prop_oneof![
        Just(Message::user("u")),
        (parts, stop).prop_map(|(parts, stop)| Message::Model(crate::puppet::reply(parts, stop))),
        prop::collection::vec(answer, 0..4).prop_map(|answers| Message::Tools { answers }),
    ]
}

#[tokio::test]
async fn what_is_lost_is_told_with_the_next_prompt() {
    let scene = scene();
    let (puppet, log) = (Puppet::of([says("on")]), Log::default());
    let answer = ToolAnswer {
        call: "1".into(),
        name: "write_file".into(),
        text: "Created b.txt\n".into(),
        is_error: false,
        images: Vec::new(),
    };
    let messages = vec![Message::user("first"), Message::Tools { answers: vec![answer] }];
    let past = Past { messages, lost: 1, ..Past::default() };
    let (_, worked) =
        run(AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log).going_on(past), usize::MAX).await;
    let asked = format!("{:?}", worked.messages);
    for words in [
        "first",
        "a part of this conversation is lost",
        "A call of write_file there had this result: Created b.txt",
        "Do it.",
    ] {
        assert!(asked.contains(words), "{words}: {asked}");
    }
    // The repair is recorded, so a later resume finds it.
    assert!(format!("{:?}", log.entries()).contains("a part of this conversation is lost"));
}

#[tokio::test]
async fn an_id_that_was_left_out_of_the_request_is_not_given_again() {
    let scene = scene();
    let again = || calls([call("c", "misbehave", json!({ "how": "flood" }))]);
    let (puppet, log) = (Puppet::of((0..8).map(|_| again()).chain([says("done")])), Log::default());
    let settings = haft_agent::settings::AgentSettings { window: 20_000, ..Default::default() };
    let agent = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log).with_settings(settings);
    run(agent, usize::MAX).await;
    let began: Vec<String> = log.entries().into_iter().filter_map(began).collect();
    let all: std::collections::HashSet<&String> = began.iter().collect();
    assert!(began.len() >= 3 && all.len() == began.len(), "{began:?}");
}

fn began(entry: Entry) -> Option<String> {
    match entry {
        Entry::Began(id) => Some(id),
        Entry::Message(_) | Entry::Answered(_) => None,
    }
}

#[tokio::test]
async fn two_calls_with_one_id_get_an_id_each() {
    let scene = scene();
    let (puppet, log) = (Puppet::of([says("on")]), Log::default());
    let called = || Message::Model(crate::puppet::reply(vec![call("c", "add", json!({}))], StopReason::Calls));
    let answered = |text: &str| {
        let answer =
            ToolAnswer { call: "c".into(), name: "add".into(), text: text.into(), is_error: false, images: Vec::new() };
        Message::Tools { answers: vec![answer] }
    };
    let messages = vec![Message::user("u"), called(), answered("one"), called(), answered("two"), called()];
    let past = Past { messages, began: vec!["c".into()], ..Past::default() };
    let (_, worked) =
        run(AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log).going_on(past), usize::MAX).await;
    let answers = worked.answers();
    assert_eq!(answers[..2], [("c", "one"), ("c-2", "two")]);
    assert!(answers[2].0 == "c-3" && answers[2].1.starts_with("Interrupted: "), "{answers:?}");
}

proptest! {
    #[test]
    fn whatever_is_left_of_a_session_is_made_valid(messages in prop::collection::vec(any_message(), 0..12)) {
        let scene = scene();
        let (puppet, log) = (Puppet::of([]), Log::default());
        let past = Past { messages, ..Past::default() };
        let agent = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log).going_on(past.clone());
        assert_valid(agent.messages());
        // What is valid is not changed.
        let again = Past { messages: agent.messages().to_vec(), ..Past::default() };
        let same = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log).going_on(again);
        prop_assert_eq!(format!("{:?}", same.messages()), format!("{:?}", agent.messages()));
    }
}

#[tokio::test]
async fn a_resumed_session_shows_repaired_calls_and_keeps_the_models_own_text() {
    let scene = scene();
    let broken = "{'a': 40, 'b': 2,}";
    let (puppet, log) = (Puppet::of([calls([call_text("1", "add", broken)])]), Log::default());
    let (_, worked) = run(AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log), usize::MAX).await;
    assert!(worked.answer("1").contains("42"), "{}", worked.answer("1"));
    let written: String = log.entries().iter().map(|entry| format!("{entry:?}")).collect();
    assert!(written.contains(&format!("{broken:?}")), "{written}");

    let resumed = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log).going_on(past(&log.entries()));

    for messages in [puppet.asked().last().expect("it was asked").as_slice(), resumed.messages()] {
        let Some(Message::Model(reply)) = messages.get(1) else { panic!("{messages:?}") };
        assert_eq!(reply.calls().next().expect("it calls").arguments, r#"{"a":40,"b":2}"#);
    }
}
