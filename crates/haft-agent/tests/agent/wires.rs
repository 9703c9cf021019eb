//! The whole way: an agent, a real connection, and a server that speaks as each provider does.

use std::collections::BTreeSet;
use std::time::Duration;

use haft_agent::agent::AgentLoop;
use haft_agent::memory::record::NoRecord;
use haft_agent::outcome::AgentEndReason;
use haft_model::client::{Endpoint, ModelConnection, Times};
use haft_model::quirks::Quirks;
use haft_model::wire::Wire;
use haft_net::HttpClient;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::scripted_model::{
    ConversationEntry, Expect, Fault, ModelScript, ReplyRequest, RetryAfter, ScriptedModel, ScriptedPart,
    ScriptedStopReason, ScriptedTurn,
};
use serde_json::json;

use crate::work::{Worked, run, scene};

pub const LAST_WORDS: &str = "That is the sum.";

/// Adds so many times, with a thought and some words before each call, and has the last word.
pub fn adding(times: usize) -> ModelScript {
    let sums = (0..times).map(|number| {
        let arguments = json!({ "a": number * 1000, "b": number });
        let turn = ScriptedTurn::thinking("I add.").and_text("Now this.").and_call("add", arguments);
        if number == 0 { turn } else { turn.expect(sum_of(number - 1)) }
    });
    ModelScript::of(sums.chain([ScriptedTurn::text(LAST_WORDS).expect(sum_of(times - 1))]))
}

/// The result of the call with this number, or of the same call that was cut and is asked for again.
fn sum_of(number: usize) -> Expect {
    Expect { body_contains: vec![(number * 1001).to_string()], ..Expect::default() }
}

/// Returns a number of events that no reply of that session reaches.
pub fn more_events_than_a_reply_has(wire: Wire) -> usize {
    match wire {
        Wire::Anthropic => 18,
        Wire::Responses => 26,
        Wire::Chat => 12,
        Wire::Gemini => 8,
    }
}

/// Times that keep waits short and end nothing early.
pub fn quick() -> Times {
    Times {
        connect: Duration::from_secs(10),
        idle: Duration::from_secs(20),
        total: Duration::from_secs(60),
        back_off: Duration::from_millis(1),
        tries: 6,
    }
}

/// What came of a script.
pub struct Played {
    pub worked: Worked,
    pub requests: Vec<ReplyRequest>,
    pub turns_left: usize,
}

/// Plays a script through one form. The history is valid after it and was in every request, and each call was answered
/// once.
pub async fn play(scene: &Scene, wire: Wire, script: ModelScript, times: Times) -> Played {
    let model = ScriptedModel::start(script);
    let base_url = model.base_url(wire);
    let quirks = Quirks::of(&base_url);
    let endpoint = Endpoint { wire, base_url, model: ScriptedModel::NAME.into(), key: None, quirks, times };
    let (connection, session) =
        (ModelConnection::new(endpoint, HttpClient::new()), scene.another_session("one of many"));
    let agent = AgentLoop::new(scene.runtime(), &session, &connection, &NoRecord);
    let (_, worked) = run(agent, usize::MAX).await;
    let misfits = model.take_misfits();
    assert!(misfits.is_empty(), "{wire:?}: {}\n{:?}", misfits.join("\n"), worked.outcome.ended);
    assert_answered_once(&worked);
    Played { worked, requests: model.requests(), turns_left: model.turns_left() }
}

/// Asserts that each call has one answer, and that none began or ended twice.
fn assert_answered_once(worked: &Worked) {
    let starting = |with: &str| -> Vec<&str> {
        let lines = worked.told.iter().filter_map(|line| line.strip_prefix(with));
        lines.map(|rest| rest.split_once(':').map_or(rest, |(id, _)| id)).collect()
    };
    let (began, ended, not_run) = (starting("began "), starting("ended "), starting("not run "));
    assert_eq!(began, ended, "what began ends, in its order: {:?}", worked.told);
    let each: BTreeSet<&str> = ended.iter().chain(&not_run).copied().collect();
    assert_eq!(each.len(), ended.len() + not_run.len(), "a call was run twice: {:?}", worked.told);
    let answered: Vec<&str> = worked.answers().into_iter().map(|(id, _)| id).collect();
    let is_all_there = worked.told.iter().all(|line| !line.starts_with("compacted"));
    assert!(!is_all_there || answered.len() == each.len(), "a call has no answer: {:?}", worked.told);
    assert!(answered.iter().all(|id| each.contains(id)), "{:?}", worked.told);
}

/// Plays a script that ends with the last words, whatever happens on the way.
pub async fn check(scene: &Scene, wire: Wire, script: ModelScript, times: Times) -> Played {
    let told = format!("{:?}", script.turns.iter().map(|turn| &turn.faults).collect::<Vec<_>>());
    // A fault may deliver the whole last reply and only spoil its end; then the agent does not ask again.
    let may_be_left = usize::from(script.turns.last().is_some_and(|turn| !turn.faults.is_empty()));
    let played = play(scene, wire, script, times).await;
    assert_eq!(played.worked.outcome.ended, AgentEndReason::Finished, "{wire:?}, {told}");
    let answer = &played.worked.outcome.answer;
    assert!(answer.contains(LAST_WORDS), "{wire:?}, {told}: {answer:?}");
    assert!(played.turns_left <= may_be_left, "{wire:?}, {told}: {} turns are left", played.turns_left);
    played
}

#[tokio::test]
async fn a_session_of_fifty_calls_ends_right_in_each_form() {
    let scene = scene();
    for wire in Wire::ALL {
        let played = check(&scene, wire, adding(50), quick()).await;

        assert_eq!(played.worked.outcome.answer, LAST_WORDS, "{wire:?}");
        assert_eq!((played.worked.outcome.steps, played.requests.len()), (51, 51), "{wire:?}");
        let last = &played.requests[50].conversation.last_results()[0].text;
        assert_eq!(last, "49049", "{wire:?}");
    }
}

#[tokio::test]
async fn what_a_model_does_wrong_is_answered_and_it_goes_on() {
    let scene = scene();
    for wire in Wire::ALL {
        let script = ModelScript::of([
            ScriptedTurn::call("no_such_tool", json!({})),
            ScriptedTurn::call_with_text("add", r#"{"a": 1, "b": "#),
            ScriptedTurn::call_with_text("add", ""),
            ScriptedTurn::text(LAST_WORDS),
        ]);
        check(&scene, wire, script, quick()).await;
    }
}

#[tokio::test]
async fn a_repaired_call_stands_in_the_history_as_it_was_run() {
    let scene = scene();
    // Gemini itself refuses a call whose arguments are no object.
    for wire in Wire::ALL.into_iter().filter(|wire| *wire != Wire::Gemini) {
        let script = ModelScript::of([
            ScriptedTurn::thinking("I add.").and_call("add", json!({ "a": 1, "b": 1 })),
            ScriptedTurn::call_with_text("add", "{'a': 40, 'b': 2,}"),
            ScriptedTurn::text(LAST_WORDS),
        ]);
        let played = check(&scene, wire, script, quick()).await;
        let last = &played.requests.last().expect("it was asked").conversation;
        let calls = last.said.iter().filter_map(|said| match said {
            ConversationEntry::Model(_, calls) => calls.first(),
            ConversationEntry::User(_) | ConversationEntry::Results(_) => None,
        });
        let shown: Vec<&str> = calls.map(|call| call.arguments.as_str()).collect();
        assert_eq!(shown, [r#"{"a":1,"b":1}"#, r#"{"a":40,"b":2}"#], "{wire:?}");
        assert!(last.last_results()[0].text.contains("42"), "{wire:?}");
    }
}

#[tokio::test]
async fn a_call_that_the_length_cut_is_not_run_and_the_model_reads_why() {
    for wire in Wire::ALL {
        let scene = scene();
        let cut =
            ScriptedTurn::text("I write. ").and_call("write_file", json!({ "path": "a.txt", "content": "long and" }));
        // Gemini leaves a cut call out altogether, so the reply is one that shall be gone on with.
        let words = if wire == Wire::Gemini { "Continue exactly where it stopped" } else { "with less in one call" };
        let told =
            Expect { body_contains: vec!["reached the maximum length".into(), words.into()], ..Expect::default() };
        let script = ModelScript::of([
            with_cut_arguments(cut.stop(ScriptedStopReason::Length)),
            ScriptedTurn::call("write_file", json!({ "path": "b.txt", "content": "short\n" })).expect(told),
            ScriptedTurn::text(LAST_WORDS),
        ]);
        let played = check(&scene, wire, script, quick()).await;
        assert_eq!(played.requests.len(), 3, "{wire:?}");
        assert!(!scene.root().join("a.txt").try_exists().unwrap_or(true), "{wire:?}");
        assert_eq!(scene.read("b.txt"), "short\n", "{wire:?}");
    }
}

/// Breaks the arguments of the calls off.
fn with_cut_arguments(mut turn: ScriptedTurn) -> ScriptedTurn {
    for part in &mut turn.reply {
        if let ScriptedPart::Call(call) = part {
            call.arguments.truncate(call.arguments.len() - 5);
        }
    }
    turn
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_made_shorter_and_goes_on() {
    let scene = scene();
    for wire in Wire::ALL {
        let flood = || ScriptedTurn::call("misbehave", json!({ "how": "flood" }));
        let script = ModelScript::of([flood(), flood(), ScriptedTurn::text(LAST_WORDS).fault(Fault::TooLong)]);
        let played = check(&scene, wire, script, quick()).await;
        let sizes: Vec<usize> = played.requests.iter().map(|asked| asked.text.len()).collect();
        assert!(sizes.len() == 4 && sizes[3] < sizes[2] * 7 / 10, "{wire:?}: {sizes:?}");
        let told = &played.worked.told;
        assert!(told.iter().any(|line| line.starts_with("compacted: ")), "{wire:?}: {told:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_not_streamed_counts_like_any_other() {
    let scene = scene();
    for wire in Wire::ALL {
        for turn in 0..3 {
            let played = check(&scene, wire, adding(2).fault(turn, Fault::NotStreamed), quick()).await;
            // It was whole, so nothing was asked for again; the script says a call once more.
            let told = &played.worked.told;
            assert!(!told.iter().any(|line| line.starts_with("again ")), "{wire:?}: {told:?}");
            let sums = if turn < 2 { 3 } else { 2 };
            assert_eq!(played.worked.answers().len(), sums, "{wire:?}, {turn}: {told:?}");
        }
    }
}

#[tokio::test]
async fn who_is_told_when_to_come_again_comes_then_and_no_later() {
    /// What a machine that is busy may add to a pause: less than half of it, as chance on top of it would.
    const LATE: Duration = Duration::from_millis(800);
    let scene = scene();
    // A date has no fractions, so it may be up to a second nearer than it says.
    let cases = [(RetryAfter::Seconds(2), 2_000), (RetryAfter::Date(2), 1_000), (RetryAfter::Seconds(0), 0)];
    let sessions = cases.map(|(asked, earliest)| {
        let scene = &scene;
        async move {
            let played = check(scene, Wire::Chat, adding(1).fault(0, Fault::limited(asked)), quick()).await;
            let answered = played.requests[0].answered_at.expect("it was answered");
            let waited = played.requests[1].at.duration_since(answered);
            let latest = match asked {
                RetryAfter::Seconds(seconds) | RetryAfter::Date(seconds) => Duration::from_secs(seconds),
            };
            // The client may read an answer before the server records its end.
            let earliest = Duration::from_millis(earliest).saturating_sub(Duration::from_millis(20));
            assert!(waited >= earliest && waited <= latest + LATE, "{asked:?}: {waited:?}");
        }
    });
    futures_util::future::join_all(sessions).await;
}
