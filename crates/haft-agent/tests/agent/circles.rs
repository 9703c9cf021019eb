//! The same call again: progress after a change, a circle without one.

use std::sync::Mutex;

use haft_agent::agent::AgentLoop;
use haft_agent::outcome::AgentEndReason;
use haft_agent::overseer::{Advice, Circle, Overseer};
use haft_agent::settings::AgentSettings;
use haft_contract::BoxFuture;
use haft_contract::doors::process::HowEnded;
use haft_contract::effect::Change;
use haft_testkit::commands::ScriptedCommand;
use haft_testkit::scene::Scene;
use serde_json::json;

use crate::puppet::{Puppet, call, calls};
use crate::work::{Log, Worked, run, scene, work};

/// Makes these calls one after the other, with ids from 1.
async fn check(scene: &Scene, made: impl IntoIterator<Item = (&'static str, serde_json::Value)>) -> Worked {
    let turns =
        made.into_iter().zip(1..).map(|((tool, arguments), id)| calls([call(&id.to_string(), tool, arguments)]));
    work(scene, &Puppet::of(turns), AgentSettings::default()).await
}

fn failing_edit() -> (&'static str, serde_json::Value) {
    ("edit_file", json!({ "path": "notes.txt", "edits": [{ "old_text": "not there", "new_text": "x" }] }))
}

fn test_run() -> (&'static str, serde_json::Value) {
    ("bash", json!({ "command": "cargo test" }))
}

fn real_edit(number: u32) -> (&'static str, serde_json::Value) {
    ("write_file", json!({ "path": format!("{number}.txt"), "content": "x\n" }))
}

fn read_notes() -> (&'static str, serde_json::Value) {
    ("read_file", json!({ "path": "notes.txt" }))
}

#[tokio::test]
async fn the_same_failing_edit_is_said_then_not_run_then_the_end() {
    let made = std::iter::once(read_notes()).chain((0..9).map(|_| failing_edit()));
    let worked = check(&scene(), made).await;
    let tool = "edit_file".to_owned();
    assert_eq!(worked.outcome.ended, AgentEndReason::GoesInCircles { tool, times: 6 });
    assert!(worked.answer("3").contains("Exactly this call failed in the same way before"), "{}", worked.answer("3"));
    assert!(
        worked.answer("5").starts_with("Not run: exactly this call had the same result 3 times"),
        "{}",
        worked.answer("5")
    );
    assert!(worked.answer("5").contains("does not occur") || worked.answer("5").contains("not there"));
    assert_eq!(worked.told.iter().filter(|told| told.starts_with("began")).count(), 4);
}

#[tokio::test]
async fn the_same_test_after_each_edit_is_progress() {
    let scene = scene().command(&ScriptedCommand::default().prints("1 failed in 0.53s\n").ends(HowEnded::Exited(1)));
    let made = (1..12).flat_map(|number| [test_run(), real_edit(number)]);
    let worked = check(&scene, made).await;
    assert_eq!(worked.outcome.ended, AgentEndReason::Finished);
    let hinted = worked.answers().into_iter().filter(|(_, text)| text.contains("now had the same result")).count();
    assert_eq!(hinted, 0, "{:?}", worked.answers());
}

#[tokio::test]
async fn the_same_test_without_an_edit_is_a_circle_though_it_leaves_files() {
    let command = ScriptedCommand::default().prints("1 failed in 0.53s\n").changes("build.log", Change::Replace);
    let scene = scene().command(&command);
    // What two commands change by turns is nothing new either.
    let made = (0..9).flat_map(|_| [test_run(), ("bash", json!({ "command": "make" }))]);
    let worked = check(&scene, made).await;
    assert!(matches!(worked.outcome.ended, AgentEndReason::GoesInCircles { .. }), "{:?}", worked.outcome.ended);
    let hinted = worked.answers().into_iter().filter(|(_, text)| text.contains("has now had the same result")).count();
    assert!(hinted >= 2, "{:?}", worked.answers());
    assert!(command.run_so_far().len() <= 8, "{} were run", command.run_so_far().len());
}

#[tokio::test]
async fn a_refused_call_is_not_asked_about_for_ever() {
    let scene = Scene::new();
    let put = || ("bash", json!({ "command": "git push --force" }));
    let worked = check(&scene, (0..9).map(|_| put())).await;
    assert!(
        matches!(worked.outcome.ended, AgentEndReason::GoesInCircles { times: 6, .. }),
        "{:?}",
        worked.outcome.ended
    );
    assert!(worked.answer("2").contains("had the same result 2 times"), "{}", worked.answer("2"));
}

#[tokio::test]
async fn calls_that_differ_are_no_circle() {
    let made = (0..30).map(|number| ("add", json!({ "a": number, "b": 1 })));
    let worked = check(&scene(), made).await;
    assert_eq!(worked.outcome.ended, AgentEndReason::Finished);
    assert!(worked.messages.iter().all(|message| !format!("{message:?}").contains("now had the same result")));
}

/// Gives these pieces of advice, and notes what it was asked.
struct Adviser {
    advice: Mutex<Vec<Advice>>,
    asked: Mutex<Vec<Circle>>,
}

impl Overseer for Adviser {
    fn goes_in_circles<'a>(&'a self, circle: &'a Circle) -> BoxFuture<'a, Advice> {
        self.asked.lock().expect("nobody panics").push(circle.clone());
        let advice = self.advice.lock().expect("nobody panics").pop();
        Box::pin(std::future::ready(advice.unwrap_or(Advice::End)))
    }
}

#[tokio::test]
async fn whoever_watches_is_asked_and_what_they_say_is_told_to_the_model() {
    let (scene, log) = (scene(), Log::default());
    let advice = Mutex::new(vec![Advice::Say("Read it first.".into()), Advice::GoOn]);
    let adviser = Adviser { advice, asked: Mutex::default() };
    let turns = (1..40).map(|id| calls([call(&id.to_string(), "add", json!({ "a": 1, "b": 1 }))]));
    let puppet = Puppet::of(turns);
    let agent = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log).watched_by(&adviser);
    let (_, worked) = run(agent, usize::MAX).await;
    assert_eq!(worked.outcome.ended, AgentEndReason::GoesInCircles { tool: "add".into(), times: 6 });
    assert_eq!(adviser.asked.into_inner().expect("nobody panics").len(), 3);
    // Counting restarts after each advice.
    assert_eq!(worked.outcome.steps, 18);
    let said = worked.messages.iter().filter(|message| format!("{message:?}").contains("Read it first.")).count();
    assert_eq!(said, 1);
}
