//! Images that tools return: shown to the model, within limits, and left out when room is needed.

use std::sync::atomic::{AtomicU8, Ordering};

use haft_agent::agent::AgentLoop;
use haft_agent::outcome::AgentEndReason;
use haft_agent::settings::AgentSettings;
use haft_contract::outcome::output::Image;
use haft_contract::prelude::*;
use haft_model::conversation::{Message, ToolAnswer, Usage};
use haft_testkit::scene::Scene;
use serde_json::json;

use crate::puppet::{Puppet, Turn, call, calls, says};
use crate::work::{Entry, Log, Worked, past, run, scene, work};

/// The seed of images that are others each time.
const MOVES: u8 = 255;

/// Returns so many images of so many bytes.
#[derive(Default)]
struct Paint {
    frame: AtomicU8,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PaintArgs {
    /// How many.
    images: usize,
    /// How large each is.
    bytes: usize,
    /// What makes them differ.
    seed: u8,
}

impl Tool for Paint {
    const NAME: &'static str = "paint";
    type Args = PaintArgs;
    type Draft = ();

    fn manual(&self) -> Manual {
        Manual::plain(Self::NAME, "Returns images.")
    }

    async fn plan(&self, _args: &PaintArgs, _cx: &PlanContext<'_>) -> Result<(Plan, ()), ToolError> {
        Ok((Plan::nothing(), ()))
    }

    async fn run(&self, args: PaintArgs, _draft: (), _cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let seed = if args.seed == MOVES { self.frame.fetch_add(1, Ordering::Relaxed) } else { args.seed };
        let image = Image { media_type: "image/png", width: 1, height: 1, bytes: vec![seed; args.bytes].into() };
        let images = (0..args.images).map(|_| image.clone());
        Ok(images.fold(ToolOutput::text("Painted."), ToolOutput::with_image))
    }
}

fn painting() -> Scene {
    scene().tool(Paint::default())
}

fn paint(id: u8, images: usize, bytes: usize) -> Turn {
    calls([call(&id.to_string(), "paint", json!({ "images": images, "bytes": bytes, "seed": id }))])
}

fn answers(messages: &[Message]) -> Vec<&ToolAnswer> {
    haft_model::writing::images::answers(messages).collect()
}

/// Returns how many images each answer has.
fn counts(messages: &[Message]) -> Vec<usize> {
    answers(messages).iter().map(|answer| answer.images.len()).collect()
}

fn puppet(turns: impl IntoIterator<Item = Turn>) -> Puppet {
    Puppet::of(turns).costing(Usage::default())
}

fn compacted(worked: &Worked) -> Vec<&str> {
    worked.told.iter().filter_map(|told| told.strip_prefix("compacted: ")).collect()
}

#[tokio::test]
async fn a_model_sees_what_read_file_shows_and_it_is_written_down() {
    let png = [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02\x08\x02\0\0\0"[..], &[0; 27]].concat();
    let (scene, log) = (painting().file("logo.png", &png), Log::default());
    let puppet = puppet([calls([call("1", "read_file", json!({ "path": "logo.png" }))])]);
    run(AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log), usize::MAX).await;
    let asked = puppet.asked();
    let [answer] = answers(&asked[1])[..] else { panic!("one call, one answer") };
    assert_eq!(answer.text, "logo.png is an image (image/png, 3 × 2 pixels, 56 bytes).\n");
    assert_eq!(answer.images[0].media_type, "image/png");
    assert!(answer.images[0].base64.starts_with("iVBORw0KGgo"), "{}", answer.images[0].base64);

    // A process that was killed before the message with all answers was written.
    let entries = log.entries();
    let up_to = entries.iter().position(|entry| matches!(entry, Entry::Answered(_))).expect("it is written");
    for end in [up_to + 1, entries.len()] {
        let another = self::puppet([]);
        let agent = AgentLoop::new(scene.runtime(), scene.session(), &another, &log).going_on(past(&entries[..end]));
        run(agent, usize::MAX).await;
        assert_eq!(counts(&another.asked()[0]), [1]);
    }
}

#[tokio::test]
async fn images_that_no_request_can_carry_are_not_shown() {
    let parts =
        (1..=5).map(|id| call(&id.to_string(), "paint", json!({ "images": 1, "bytes": 3_750_000, "seed": id })));
    let one_reply = puppet([calls(parts)]);
    let worked = work(&painting(), &one_reply, AgentSettings::default()).await;
    let mut shown = counts(&worked.messages);
    shown.sort_unstable();
    assert_eq!(shown, [0, 0, 1, 1, 1], "16 MiB of Base64");
    let words =
        "Painted.\n[1 image is not shown: the results of one reply have no room for more; read it again on its own]";
    assert_eq!(worked.answers().iter().filter(|(_, text)| *text == words).count(), 2);

    let worked = work(&painting(), &puppet([paint(1, 22, 10)]), AgentSettings::default()).await;
    assert_eq!(counts(&worked.messages), [20]);
    assert!(worked.answer("1").contains("[2 images are not shown: "), "{}", worked.answer("1"));
    let worked = work(&painting(), &puppet([paint(1, 1, 3_750_001)]), AgentSettings::default()).await;
    assert_eq!(worked.answer("1"), "Painted.\n[1 image is not shown: larger than a model accepts]");
}

#[tokio::test]
async fn the_oldest_images_go_when_there_are_more_than_a_request_can_carry() {
    let large = AgentSettings { window: 10_000_000, ..AgentSettings::default() };
    for (images, bytes, kept) in [(1, 3_000_000, 2), (6, 10, 1)] {
        let (puppet, log) = (puppet((1..=5).map(|id| paint(id, images, bytes))), Log::default());
        let scene = painting();
        let agent = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log).with_settings(large.clone());
        let (_, worked) = run(agent, usize::MAX).await;
        let asked = puppet.asked();
        let of = |messages: &Vec<Message>| counts(messages).iter().filter(|count| **count > 0).count();
        let most = asked.iter().map(of).max().unwrap_or(0);
        assert!(most < 5 && counts(&worked.messages)[4] == images, "{:?}", counts(&worked.messages));
        assert!(of(&worked.messages) >= kept, "{:?}", counts(&worked.messages));
        let gone = worked.answer("1");
        assert!(gone.ends_with("left out to save room; call the tool again if you need it]"), "{gone}");
        assert_eq!(compacted(&worked).len(), 1, "room is made seldom: {:?}", worked.told);
        let written: usize = log
            .entries()
            .iter()
            .map(|entry| match entry {
                Entry::Message(message) => counts(std::slice::from_ref(message)).iter().sum(),
                Entry::Began(_) | Entry::Answered(_) => 0,
            })
            .sum();
        assert_eq!(written, 5 * images, "on disk all of them stay");
    }
}

#[tokio::test]
async fn a_session_keeps_no_more_images_than_it_can_write_down() {
    let settings = AgentSettings { window: 10_000_000, ..AgentSettings::default() };
    let (puppet, log, scene) = (puppet((1..=14).map(|id| paint(id, 1, 3_750_000))), Log::default(), painting());
    let agent = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log).with_settings(settings);
    let (_, worked) = run(agent, usize::MAX).await;
    assert_eq!(worked.outcome.ended, AgentEndReason::Finished);
    assert_eq!(worked.answer("14"), "Painted.\n[1 image is not shown: a session has no room for more]");

    // A resumed session also knows this.
    let another = self::puppet([paint(15, 1, 3_750_000)]);
    let agent = AgentLoop::new(scene.runtime(), scene.session(), &another, &log).going_on(past(&log.entries()));
    let (_, worked) = run(agent, usize::MAX).await;
    assert_eq!(worked.answer("15"), "Painted.\n[1 image is not shown: a session has no room for more]");
}

#[tokio::test]
async fn images_count_by_tokens_and_go_before_words() {
    // By their bytes they would fill this window many times.
    let worked = work(&painting(), &puppet([paint(1, 1, 1_000_000), says("I see.")]), AgentSettings::default()).await;
    assert_eq!((counts(&worked.messages), compacted(&worked).len()), (vec![1], 0));

    let flood = calls([call("2", "misbehave", json!({ "how": "flood" }))]);
    let puppet = puppet([paint(1, 8, 10), flood, paint(3, 2, 10), says("I see.")]);
    let worked = work(&painting(), &puppet, AgentSettings { window: 34_000, ..AgentSettings::default() }).await;
    assert_eq!(counts(&worked.messages), [0, 0, 2]);
    assert_eq!(
        worked.answer("1"),
        "Painted.\n[8 images are not shown: left out to save room; call the tool again if you need it]"
    );
    assert!(worked.answer("2").starts_with("line 1\n"), "words stay: {:?}", worked.told);
}

#[tokio::test]
async fn the_newest_images_go_only_when_nothing_else_is_left() {
    let worked =
        work(&painting(), &puppet([paint(1, 20, 10)]), AgentSettings { window: 8_000, ..AgentSettings::default() })
            .await;
    assert_eq!(worked.outcome.ended, AgentEndReason::Finished);
    assert_eq!(counts(&worked.messages), [0]);
}

#[tokio::test]
async fn looking_again_is_no_circle_when_there_is_something_else_to_see() {
    let look = |seed: u8| {
        let look = move |id: u8| call(&id.to_string(), "paint", json!({ "images": 1, "bytes": 9, "seed": seed }));
        (1..=12).map(move |id| calls([look(id)]))
    };
    let moves = work(&painting(), &puppet(look(MOVES)), AgentSettings::default()).await;
    assert_eq!(moves.outcome.ended, AgentEndReason::Finished);
    assert_eq!(counts(&moves.messages), [1; 12]);
    let stays = work(&painting(), &puppet(look(7)), AgentSettings::default()).await;
    assert_ne!(stays.outcome.ended, AgentEndReason::Finished);
}
