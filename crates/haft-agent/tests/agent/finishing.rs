//! Runs that end with a call.

use haft_agent::agent::AgentLoop;
use haft_agent::outcome::AgentEndReason;
use haft_agent::output::OutputSchema;
use haft_agent::settings::AgentSettings;
use haft_model::conversation::{Message, ReplyPart};
use serde_json::{Value, json};

use crate::puppet::{Puppet, call, calls, says};
use crate::work::{Log, run, scene, work};

fn sum() -> AgentSettings {
    let schema = json!({ "type": "object", "required": ["sum"], "properties": { "sum": { "type": "integer" } } });
    AgentSettings { output: Some(OutputSchema::new(&schema).expect("it is a schema")), ..AgentSettings::default() }
}

fn finish(id: &str, arguments: Value) -> ReplyPart {
    call(id, "finish", arguments)
}

#[tokio::test]
async fn a_summary_ends_the_run_and_is_its_answer() {
    let puppet = Puppet::of([calls([finish("1", json!({ "summary": "All done." }))])]);
    let worked = work(&scene(), &puppet, AgentSettings::default()).await;
    assert_eq!((&worked.outcome.ended, worked.outcome.steps), (&AgentEndReason::Finished, 1));
    assert_eq!((worked.outcome.answer.as_str(), worked.answer("1")), ("All done.", "The task is finished."));
    assert_eq!(worked.told.last().map(String::as_str), Some("finished: All done."));
}

#[tokio::test]
async fn without_words_the_reply_is_the_answer() {
    let puppet = Puppet::of([calls([ReplyPart::Text("That was it.".to_owned()), finish("1", json!({}))])]);
    let worked = work(&scene(), &puppet, AgentSettings::default()).await;
    assert_eq!((worked.outcome.ended, worked.outcome.answer.as_str()), (AgentEndReason::Finished, "That was it."));
}

#[tokio::test]
async fn a_result_that_does_not_fit_ends_nothing_and_one_that_fits_does() {
    let turns = [
        calls([finish("1", json!({ "summary": "It is three." }))]),
        calls([finish("2", json!({ "result": { "sum": "three" } }))]),
        calls([finish("3", json!({ "result": { "sum": 3 } }))]),
    ];
    let worked = work(&scene(), &Puppet::of(turns), sum()).await;
    assert!(worked.answer("1").contains("expected one JSON object, received none"), "{}", worked.answer("1"));
    assert!(worked.answer("2").contains("$.sum: expected a whole number"), "{}", worked.answer("2"));
    assert_eq!((&worked.outcome.ended, worked.outcome.steps), (&AgentEndReason::Finished, 3), "{:?}", worked.told);
    assert_eq!(worked.outcome.output.map(|output| output.value), Some(json!({ "sum": 3 })));
}

#[tokio::test]
async fn a_result_may_be_text_that_holds_the_object() {
    let puppet = Puppet::of([calls([finish("1", json!({ "result": "{\"sum\": 4}" }))])]);
    let worked = work(&scene(), &puppet, sum()).await;
    assert_eq!(worked.outcome.output.map(|output| output.value), Some(json!({ "sum": 4 })));
}

#[tokio::test]
async fn a_run_goes_on_when_another_call_of_the_reply_did_not_work() {
    let failing = call("2", "read_file", json!({ "path": "missing.txt" }));
    let puppet =
        Puppet::of([calls([finish("1", json!({ "summary": "Done." })), failing]), says("I see, it is missing.")]);
    let worked = work(&scene(), &puppet, AgentSettings::default()).await;
    assert_eq!((&worked.outcome.ended, worked.outcome.steps), (&AgentEndReason::Finished, 2));
    assert_eq!(worked.outcome.answer, "I see, it is missing.");
    let is_told =
        |message: &Message| matches!(message, Message::User { text, .. } if text.contains("the run continues"));
    assert!(worked.messages.iter().any(is_told), "{:?}", worked.messages);
}

#[tokio::test]
async fn the_tasks_are_written_down_when_they_change_and_only_then() {
    let scene = scene();
    let items = json!({ "items": [{ "content": "Fix", "status": "pending" }] });
    let turns = [
        calls([call("1", "todo", items)]),
        calls([call("2", "todo", json!({}))]),
        calls([call("3", "think", json!({ "text": "Why?" }))]),
        calls([call("4", "think", json!({ "action": "clear" }))]),
    ];
    let (puppet, log) = (Puppet::of(turns), Log::default());
    run(AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log), usize::MAX).await;
    let shared = log.shared();
    let keys: Vec<&str> = shared.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["haft.todo", "haft.thoughts", "haft.thoughts"]);
    assert_eq!(shared[0].1, json!([{ "content": "Fix", "status": "pending" }]));
    assert_eq!(shared[2].1, Value::Null);
}
