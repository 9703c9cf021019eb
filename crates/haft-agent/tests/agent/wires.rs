//! The whole way: an agent, a real connection, and a server that speaks as each provider does, with every fault.

use std::time::Duration;

use haft_agent::agent::Agent;
use haft_agent::outcome::Ended;
use haft_agent::record::Unrecorded;
use haft_model::client::{Connection, Endpoint, Times};
use haft_model::quirks::Quirks;
use haft_model::wire::Wire;
use haft_testkit::scene::Scene;
use haft_testkit::scripted_model::{Asked, Expect, Fault, RetryAfter, Script, ScriptedModel, Turn};
use serde_json::json;

use crate::work::{Worked, run, scene};

const LAST_WORDS: &str = "That is the sum.";

/// Adds so many times, with a thought and some words before each call, and has the last word.
fn adding(times: usize) -> Script {
    let sums = (0..times).map(|number| {
        let arguments = json!({ "a": number * 1000, "b": number });
        let turn = Turn::thinking("I add.").and_text("Now this.").and_call("add", arguments);
        if number == 0 { turn } else { turn.expect(sum_of(number - 1)) }
    });
    Script::of(sums.chain([Turn::text(LAST_WORDS).expect(sum_of(times - 1))]))
}

/// The result of the call with this number, or of the same call that was cut and is asked for again.
fn sum_of(number: usize) -> Expect {
    Expect { body_contains: vec![(number * 1001).to_string()], ..Expect::default() }
}

fn connection(model: &ScriptedModel, wire: Wire) -> Connection {
    let base_url = model.base_url(wire);
    let times = Times {
        connect: Duration::from_secs(10),
        idle: Duration::from_secs(20),
        total: Duration::from_secs(60),
        back_off: Duration::from_millis(1),
        tries: 6,
    };
    let quirks = Quirks::of(&base_url);
    Connection::new(Endpoint { wire, base_url, model: ScriptedModel::NAME.into(), key: None, quirks, times })
}

/// Plays a script through one form; the history is valid after it, and was in every request.
async fn play(scene: &Scene, wire: Wire, script: Script) -> (Worked, Vec<Asked>) {
    let model = ScriptedModel::start(script);
    let (connection, session) = (connection(&model, wire), scene.another_session("one of many"));
    let agent = Agent::new(scene.runtime(), &session, &connection, &Unrecorded);
    let (_, worked) = run(agent, usize::MAX).await;
    let misfits = model.take_misfits();
    assert!(misfits.is_empty(), "{wire:?}: {}\n{:?}", misfits.join("\n"), worked.outcome.ended);
    assert_eq!(model.turns_left(), 0, "{wire:?}: {:?}", worked.outcome.ended);
    (worked, model.requests())
}

/// Plays a script that has a fault, and asserts that it ends with the last words.
async fn check(scene: &Scene, wire: Wire, script: Script) {
    let told = format!("{:?}", script.turns.iter().map(|turn| &turn.faults).collect::<Vec<_>>());
    let (worked, _) = play(scene, wire, script).await;
    assert_eq!(worked.outcome.ended, Ended::Finished, "{wire:?}, {told}");
    assert!(worked.outcome.answer.contains(LAST_WORDS), "{wire:?}, {told}: {:?}", worked.outcome.answer);
}

#[tokio::test]
async fn a_session_of_fifty_calls_ends_right_in_each_form() {
    let scene = scene();
    for wire in Wire::ALL {
        let (worked, requests) = play(&scene, wire, adding(50)).await;

        assert_eq!((worked.outcome.ended, worked.outcome.answer.as_str()), (Ended::Finished, LAST_WORDS), "{wire:?}");
        assert_eq!((worked.outcome.steps, requests.len()), (51, 51), "{wire:?}");
        let last = &requests[50].conversation.last_results()[0].text;
        assert_eq!(last, "49049", "{wire:?}");
    }
}

#[tokio::test]
async fn a_session_of_fifty_calls_ends_right_with_a_fault_at_each_step() {
    let faults = Fault::one_of_each();
    let scene = scene();
    for wire in Wire::ALL {
        let faulty = (0..51).fold(adding(50), |script, turn| script.fault(turn, faults[turn % faults.len()].clone()));
        check(&scene, wire, faulty).await;
    }
}

#[tokio::test]
async fn each_fault_at_each_step_still_ends_with_the_last_words() {
    let scene = scene();
    for wire in Wire::ALL {
        for fault in Fault::one_of_each() {
            for turn in 0..3 {
                check(&scene, wire, adding(2).fault(turn, fault.clone())).await;
            }
        }
    }
}

#[tokio::test]
async fn a_stream_that_breaks_at_any_event_still_ends_with_the_last_words() {
    let scene = scene();
    for wire in Wire::ALL {
        for at in 0..14 {
            for fault in [
                Fault::CutAfterEvents(at),
                Fault::EndsAfterEvents(at),
                Fault::GarbageAfterEvents(at),
                Fault::ErrorAfterEvents(at),
            ] {
                check(&scene, wire, adding(2).fault(1, fault)).await;
            }
        }
    }
}

#[tokio::test]
async fn what_a_model_does_wrong_is_answered_and_it_goes_on() {
    let scene = scene();
    for wire in Wire::ALL {
        let script = Script::of([
            Turn::call("no_such_tool", json!({})),
            Turn::call_with_text("add", r#"{"a": 1, "b": "#),
            Turn::call_with_text("add", ""),
            Turn::text(LAST_WORDS),
        ]);
        check(&scene, wire, script).await;
    }
}

#[tokio::test]
async fn nobody_comes_before_the_time_that_retry_after_says() {
    let script = adding(1).fault(0, Fault::limited(RetryAfter::Seconds(1)));

    let (worked, requests) = play(&scene(), Wire::Chat, script).await;

    assert_eq!(worked.outcome.ended, Ended::Finished);
    let waited = requests[1].at.duration_since(requests[0].at);
    assert!(waited >= Duration::from_secs(1), "{waited:?}");
}
