//! Room in a conversation: what is left out, in which order, and what stays.

use haft_agent::agent::AgentLoop;
use haft_agent::outcome::AgentEndReason;
use haft_agent::settings::AgentSettings;
use haft_model::conversation::{Message, ReplyPart, Usage};
use haft_model::provider::ModelErrorKind;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::puppet::{Puppet, Turn, call, calls, says};
use crate::work::{Log, run, scene, work};

fn flood(id: u32) -> Turn {
    calls([
        call(&id.to_string(), "misbehave", json!({ "how": "flood" })),
        call(&format!("{id}b"), "add", json!({ "a": id, "b": 0 })),
    ])
}

fn settings(window: u64) -> AgentSettings {
    AgentSettings { window, ..AgentSettings::default() }
}

/// Costs nothing that is counted, so that sizes alone decide.
fn puppet(turns: impl IntoIterator<Item = Turn>) -> Puppet {
    Puppet::of(turns).costing(Usage::default())
}

fn size(messages: &[Message]) -> usize {
    let answers = |message: &Message| match message {
        Message::Tools { answers } => answers.iter().map(|answer| answer.text.len()).sum(),
        Message::User { text, .. } => text.len(),
        Message::Model(reply) => reply.parts.iter().map(|part| format!("{part:?}").len()).sum::<usize>(),
    };
    messages.iter().map(answers).sum()
}

#[tokio::test]
async fn the_oldest_results_go_first_and_small_ones_stay() {
    let puppet = puppet((1..=10).map(flood));
    let worked = work(&scene(), &puppet, settings(40_000)).await;
    assert_eq!(worked.outcome.ended, AgentEndReason::Finished);
    let asked = puppet.asked();
    assert!(asked.iter().all(|messages| size(messages) < 40_000 * 35 / 10), "a request was too long");
    assert!(worked.told.iter().any(|told| told.starts_with("compacted: ") && told.ends_with("0 arguments, 0 replies")));
    assert!(worked.answer("1").starts_with("[This result of 32,"), "{}", worked.answer("1"));
    assert_eq!(worked.answer("1b"), "1");
    assert!(worked.answer("10").starts_with("line 1\n"));
}

#[tokio::test]
async fn what_was_left_out_may_be_read_again_without_being_redundant() {
    let scene = scene().file("big.txt", "A line of some length that fills the window.\n".repeat(600));
    let read = |id: &str| calls([call(id, "read_file", json!({ "path": "big.txt" }))]);
    let turns = [read("1"), flood(2), flood(3), flood(4), read("5")];
    let worked = work(&scene, &puppet(turns), settings(40_000)).await;
    assert!(worked.answer("1").starts_with("[This result of"), "{}", worked.answer("1"));
    assert!(!worked.answer("5").contains("was read in an earlier turn"), "{}", worked.answer("5"));
}

/// Reads two files by turns, of which the window holds one: each is read again after it was dropped.
#[tokio::test]
async fn reading_again_what_was_dropped_is_no_circle() {
    let line = "A line of some length that fills the window.\n";
    let scene = scene().file("a.txt", line.repeat(600)).file("b.txt", line.repeat(601));
    let read = |id: u32| {
        let path = if id % 2 == 1 { "a.txt" } else { "b.txt" };
        calls([call(&id.to_string(), "read_file", json!({ "path": path }))])
    };
    let worked = work(&scene, &puppet((1..=24).map(read)), settings(14_000)).await;
    assert_eq!(worked.outcome.ended, AgentEndReason::Finished);
    let refused: Vec<_> = worked.answers().into_iter().filter(|(_, text)| text.starts_with("Not run")).collect();
    assert!(refused.is_empty(), "{refused:?}");
}

#[tokio::test]
async fn a_read_that_was_redundant_is_not_refused_after_its_result_was_dropped() {
    let scene = scene().file("a.txt", "A line of some length that fills the window.\n".repeat(600));
    let read = |id: &str| calls([call(id, "read_file", json!({ "path": "a.txt" }))]);
    let turns = ["1", "2", "3", "4", "5"].map(read).into_iter().chain([flood(6), flood(7), flood(8), read("9")]);
    let worked = work(&scene, &puppet(turns), settings(40_000)).await;
    assert_eq!(worked.outcome.ended, AgentEndReason::Finished);
    assert!(worked.answer("1").starts_with("[This result of"), "{}", worked.answer("1"));
    assert!(worked.told.contains(&"not run 5".to_owned()), "{:?}", worked.told);
    assert!(worked.answer("9").contains("fills the window"), "{}", worked.answer("9"));
}

/// The window holds no whole result, so each is shortened before the model sees it; the same call right behind it changes
/// nothing.
#[tokio::test]
async fn the_same_call_for_a_result_that_never_fits_is_a_circle() {
    let scene = scene().file("a.txt", "A line of some length that fills the window.\n".repeat(600));
    let read = |id: u32| calls([call(&id.to_string(), "read_file", json!({ "path": "a.txt" }))]);
    let worked = work(&scene, &puppet((1..=20).map(read)), settings(6_000)).await;
    assert!(matches!(worked.outcome.ended, AgentEndReason::GoesInCircles { .. }), "{:?}", worked.outcome.ended);
}

#[tokio::test]
async fn a_task_that_no_request_can_carry_is_refused_before_it_is_sent() {
    let scene = scene();
    let (puppet, log) = (puppet([says("It fits.")]), Log::default());
    let mut agent = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log).with_settings(settings(20_000));
    let stop = CancellationToken::new();
    let outcome = agent.run("Words and words. ".repeat(5_000), &|_| {}, &stop).await;
    let AgentEndReason::PromptTooLong { tokens, window, .. } = outcome.ended else { panic!("{:?}", outcome.ended) };
    assert!(tokens > window && window == 20_000, "{tokens}");
    assert!(outcome.ended.to_string().contains("about 24,286 tokens"), "{}", outcome.ended);
    assert!(puppet.asked().is_empty() && log.entries().is_empty() && agent.messages().is_empty());
    // The session is as good as new.
    let (_, worked) = run(agent, usize::MAX).await;
    assert_eq!((worked.outcome.ended, worked.outcome.answer.as_str()), (AgentEndReason::Finished, "It fits."));
}

#[tokio::test]
async fn large_arguments_shrink_and_stay_arguments() {
    let write = |id: u32| {
        let content = "A line that was written.\n".repeat(800);
        calls([call(&id.to_string(), "write_file", json!({ "path": format!("{id}.txt"), "content": content }))])
    };
    let puppet = puppet((1..=12).map(write));
    let worked = work(&scene(), &puppet, settings(30_000)).await;
    assert_eq!(worked.outcome.ended, AgentEndReason::Finished);
    let Some(Message::Model(first)) = worked.messages.get(1) else { panic!("the first reply stays") };
    let Some(ReplyPart::Call(first)) = first.parts.first() else { panic!("it has its call") };
    assert_eq!(first.arguments, r#"{"path":"1.txt","content":"[20,000 bytes left out to save room]"}"#);
}

#[tokio::test]
async fn what_the_user_said_stays_when_whole_replies_go() {
    let scene = scene();
    let talk = |number: u32| says(&format!("{number} {}", "Words and words. ".repeat(400)));
    let (puppet, log) = (puppet((0..30).map(talk)), Log::default());
    let mut agent = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log).with_settings(settings(12_000));
    let mut replies = 0;
    for _ in 0..20 {
        let (next, worked) = run(agent, usize::MAX).await;
        assert_eq!(worked.outcome.ended, AgentEndReason::Finished);
        replies += worked.told.iter().filter(|told| told.starts_with("compacted: 0 results, 0 arguments")).count();
        agent = next;
    }
    assert!(replies > 2, "room was made {replies} times");
    let said: String = agent.messages().iter().map(|message| format!("{message:?}")).collect();
    assert_eq!(said.matches("Do it.").count(), 20);
    assert!(said.contains("replies and results that were here are left out to save room"));
    assert!(size(agent.messages()) < 12_000 * 35 / 10);
}

#[tokio::test]
async fn results_that_no_request_can_hold_are_shortened() {
    let parts = (1..=8).map(|id| call(&id.to_string(), "misbehave", json!({ "how": "flood" })));
    let puppet = puppet([calls(parts)]);
    let worked = work(&scene(), &puppet, settings(20_000)).await;
    assert_eq!(worked.outcome.ended, AgentEndReason::Finished);
    assert!(
        worked.answer("1").starts_with("line 1\n")
            && worked.answer("1").contains("left out to save room; ask for a part")
    );
    assert!(puppet.asked().iter().all(|messages| size(messages) < 20_000 * 35 / 10));
}

#[tokio::test]
async fn a_model_that_finds_it_too_long_is_asked_with_less_until_it_fits() {
    let too_long = || Turn::Fails(ModelErrorKind::TooLong);
    let puppet = puppet([flood(1), flood(2), too_long(), says("It fits.")]);
    let worked = work(&scene(), &puppet, AgentSettings::default()).await;
    assert_eq!((worked.outcome.ended, worked.outcome.answer.as_str()), (AgentEndReason::Finished, "It fits."));
    let asked = puppet.asked();
    assert!(size(&asked[3]) < size(&asked[2]) * 6 / 10, "{} and {}", size(&asked[2]), size(&asked[3]));

    // A window that is far smaller than anybody told us.
    let turns = (1..=30).map(flood).chain((0..4).map(|_| too_long())).chain([says("It fits.")]);
    let worked =
        work(&scene(), &self::puppet(turns), AgentSettings { window: 10_000_000, ..AgentSettings::default() }).await;
    assert_eq!((worked.outcome.ended, worked.outcome.answer.as_str()), (AgentEndReason::Finished, "It fits."));

    let turns = [flood(1)].into_iter().chain((0..50).map(|_| too_long()));
    let worked = work(&scene(), &self::puppet(turns), AgentSettings::default()).await;
    assert!(matches!(worked.outcome.ended, AgentEndReason::Failed(error) if error.kind == ModelErrorKind::TooLong));
    // There is nothing to leave out.
    let worked = work(&scene(), &self::puppet([too_long(), says("no")]), AgentSettings::default()).await;
    assert!(matches!(worked.outcome.ended, AgentEndReason::Failed(error) if error.kind == ModelErrorKind::TooLong));
}

#[tokio::test]
async fn what_is_written_down_stays_whole() {
    let scene = scene();
    let (puppet, log) = (puppet((1..=10).map(flood)), Log::default());
    let agent = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log).with_settings(settings(40_000));
    run(agent, usize::MAX).await;
    let written: String = log.entries().iter().map(|entry| format!("{entry:?}")).collect();
    assert!(!written.contains("to save room"));
}
