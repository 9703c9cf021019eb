//! A server that falls silent at each stage of a reply: it is asked again or asked to go on, and the reason is told.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;
use haft_agent::outcome::AgentEndReason;
use haft_model::client::Times;
use haft_model::provider::ModelErrorKind;
use haft_model::wire::Wire;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::scripted_model::Fault;

use crate::wires::{Played, adding, check, more_events_than_a_reply_has, play, quick};
use crate::work::scene;

const SILENT: &str = "the provider sent nothing for 4 s";

/// Long enough for a busy machine to answer, short enough to wait for.
fn impatient() -> Times {
    Times { idle: Duration::from_secs(4), ..quick() }
}

/// What a silence led to.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LedTo {
    /// Nothing had come, and the reply was asked for again.
    AskedAgain,
    /// There was text without a call, and the model was asked to go on.
    GoesOn,
    /// There was a part of a call, which was not run.
    CutCall,
    /// All that counts had come.
    Nothing,
}

/// Falls silent once, in the second of three replies, and says what came of it: one thing, with its reason.
async fn falls_silent(scene: &Scene, wire: Wire, fault: Fault) -> LedTo {
    let played = check(scene, wire, adding(2).fault(1, fault.clone()), impatient()).await;
    let told = &played.worked.told;
    let count = |words: &str| told.iter().filter(|line| line.contains(words)).count();
    let again = count("again after 0 s: The provider sent nothing for 4 s.");
    let goes_on = count(&format!("goes on: {SILENT}"));
    let not_run = format!("Not run: the reply ended inside this call, so its arguments are incomplete: {SILENT}.");
    let cut = played.worked.answers().iter().filter(|(_, text)| text.starts_with(&not_run)).count();
    let asked_to_go_on = asks_to_go_on(&played);
    assert_eq!((goes_on, count("again after"), count("not run")), (asked_to_go_on, again, cut), "{wire:?}: {told:?}");
    match (again, goes_on, cut) {
        (1, 0, 0) => LedTo::AskedAgain,
        (0, 1, 0) => LedTo::GoesOn,
        (0, 0, 1) => LedTo::CutCall,
        (0, 0, 0) => LedTo::Nothing,
        _ => panic!("{wire:?}, {fault:?}: {told:?}"),
    }
}

/// Returns how often the model reads that it shall go on, and why.
fn asks_to_go_on(played: &Played) -> usize {
    let words = format!("your last reply is incomplete: {SILENT}. Continue");
    played.requests.last().map_or(0, |asked| asked.text.matches(&words).count())
}

async fn at_each_stage(wire: Wire) -> BTreeSet<LedTo> {
    let scene = scene();
    let faults = (0..more_events_than_a_reply_has(wire)).map(Fault::HangAfterEvents).chain([Fault::HangBeforeHeaders]);
    join_all(faults.map(|fault| falls_silent(&scene, wire, fault))).await.into_iter().collect()
}

#[tokio::test]
async fn a_server_that_falls_silent_at_any_stage_is_told_of_and_the_session_goes_on() {
    for wire in [Wire::Anthropic, Wire::Responses, Wire::Chat] {
        let led_to = at_each_stage(wire).await;
        let all = [LedTo::AskedAgain, LedTo::GoesOn, LedTo::CutCall, LedTo::Nothing];
        assert_eq!(led_to, BTreeSet::from(all), "{wire:?}");
    }
    // Its calls come whole or not at all.
    let led_to = at_each_stage(Wire::Gemini).await;
    assert_eq!(led_to, BTreeSet::from([LedTo::AskedAgain, LedTo::GoesOn, LedTo::Nothing]));
}

#[tokio::test]
async fn a_server_that_stays_silent_is_given_up_after_the_second_time() {
    let scene = scene();
    let sessions = Wire::ALL.map(|wire| {
        let scene = &scene;
        async move {
            let script = adding(2).fault(1, Fault::HangBeforeHeaders).fault(1, Fault::HangAfterEvents(0));
            let played = play(scene, wire, script, impatient()).await;
            let AgentEndReason::Failed(error) = &played.worked.outcome.ended else {
                panic!("{:?}", played.worked.outcome)
            };
            let words = "The provider sent nothing for 4 s. haft tried 2 times.";
            assert_eq!((error.kind, error.what.as_str()), (ModelErrorKind::TimedOut, words), "{wire:?}");
            assert_eq!((played.requests.len(), played.worked.answers().len()), (3, 1), "{wire:?}");
        }
    });
    join_all(sessions).await;
}
