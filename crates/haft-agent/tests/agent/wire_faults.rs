//! Everything that can go wrong on the way, at every place of a session, through each form: it ends with the last words,
//! in a valid history, with each call answered once.

use haft_model::wire::Wire;
use haft_testkit::scripted::scripted_model::{Fault, ModelScript, RetryAfter, StatusFault};
use proptest::prelude::*;

use crate::wires::{adding, check, more_events_than_a_reply_has, quick};
use crate::work::scene;

/// How many calls a long session has.
const CALLS: usize = 50;
/// About as many events as a reply has.
const EVENTS: usize = 20;

/// Puts each fault at each step of the long session: two at every step, in half as many sessions as there are faults.
async fn each_fault_at_each_step(wire: Wire) {
    let (faults, scene) = (Fault::one_of_each(), scene());
    for first in (0..faults.len()).step_by(2) {
        let fault = |turn: usize| faults[(first + turn) % faults.len()].clone();
        let two = |script: ModelScript, turn| script.fault(turn, fault(turn)).fault(turn, fault(turn + 1));
        let faulty = (0..=CALLS).fold(adding(CALLS), two);
        check(&scene, wire, faulty, quick()).await;
    }
}

#[tokio::test]
async fn each_fault_at_each_step_of_fifty_calls_in_messages() {
    each_fault_at_each_step(Wire::Anthropic).await;
}

#[tokio::test]
async fn each_fault_at_each_step_of_fifty_calls_in_responses() {
    each_fault_at_each_step(Wire::Responses).await;
}

#[tokio::test]
async fn each_fault_at_each_step_of_fifty_calls_in_chat() {
    each_fault_at_each_step(Wire::Chat).await;
}

#[tokio::test]
async fn each_fault_at_each_step_of_fifty_calls_in_gemini() {
    each_fault_at_each_step(Wire::Gemini).await;
}

#[tokio::test]
async fn each_fault_alone_at_each_step_of_two_calls() {
    let scene = scene();
    for wire in Wire::ALL {
        for fault in Fault::one_of_each() {
            for turn in 0..3 {
                check(&scene, wire, adding(2).fault(turn, fault.clone()), quick()).await;
            }
        }
    }
}

#[tokio::test]
async fn slow_tokens_at_each_step_of_fifty_calls_are_waited_for_and_nothing_is_asked_again() {
    let scene = scene();
    for wire in Wire::ALL {
        let slow = (0..=CALLS).fold(adding(CALLS), |script, turn| script.fault(turn, Fault::Slow(1)));
        let played = check(&scene, wire, slow, quick()).await;

        assert_eq!((played.requests.len(), played.turns_left), (CALLS + 1, 0), "{wire:?}");
        assert!(played.worked.told.iter().all(|line| !line.starts_with("again")), "{:?}", played.worked.told);
    }
}

#[tokio::test]
async fn a_stream_that_breaks_at_any_event_still_ends_with_the_last_words() {
    let scene = scene();
    for wire in Wire::ALL {
        for at in 0..more_events_than_a_reply_has(wire) {
            for fault in [
                Fault::CutAfterEvents(at),
                Fault::EndsAfterEvents(at),
                Fault::GarbageAfterEvents(at),
                Fault::BrokenEvent(at),
                Fault::ErrorAfterEvents(at),
            ] {
                check(&scene, wire, adding(2).fault(1, fault), quick()).await;
            }
        }
    }
}

fn any_fault() -> impl Strategy<Value = Fault> {
    let retry_after = prop_oneof![Just(None), Just(Some(RetryAfter::Seconds(0))), Just(Some(RetryAfter::Date(0)))];
    let code = prop::sample::select(vec![408, 429, 500, 502, 503, 504, 529]);
    let status =
        (code, retry_after).prop_map(|(code, retry_after)| StatusFault { code, retry_after, ..StatusFault::default() });
    prop_oneof![
        status.prop_map(Fault::Status),
        Just(Fault::CutBeforeHeaders),
        Just(Fault::Empty),
        Just(Fault::Page),
        Just(Fault::NotStreamed),
        (0..3_000_usize).prop_map(Fault::CutAfterBytes),
        (0..EVENTS).prop_map(Fault::CutAfterEvents),
        (0..EVENTS).prop_map(Fault::EndsAfterEvents),
        (0..EVENTS).prop_map(Fault::GarbageAfterEvents),
        (0..EVENTS).prop_map(Fault::BrokenEvent),
        (0..EVENTS).prop_map(Fault::ErrorAfterEvents),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, max_shrink_iters: 32, ..ProptestConfig::default() })]

    #[test]
    fn two_faults_anywhere_in_fifty_calls_still_end_with_the_last_words(
        faults in prop::collection::vec((any_fault(), 0..=CALLS), 2),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime without threads can always be had").block_on(async {
            let scene = scene();
            for wire in Wire::ALL {
                let at = |script: ModelScript, (fault, turn): &(Fault, usize)| script.fault(*turn, fault.clone());
                check(&scene, wire, faults.iter().fold(adding(CALLS), at), quick()).await;
            }
        });
    }
}
