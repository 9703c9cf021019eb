//! Answers that have to fit a schema.

use haft_agent::agent::AgentLoop;
use haft_agent::outcome::AgentEndReason;
use haft_agent::output::OutputSchema;
use haft_agent::settings::AgentSettings;
use haft_model::conversation::{Message, ReplyPart, StopReason};
use haft_testkit::snapshot;
use serde_json::{Value, json};

use crate::puppet::{Puppet, Turn, call, calls, says, says_until};
use crate::work::{Log, Worked, past, run, scene, work};

/// Wants the sum of something.
fn settings() -> AgentSettings {
    let schema = json!({
        "type": "object", "required": ["sum"], "additionalProperties": false, "properties": { "sum": { "type": "integer" } }
    });
    AgentSettings { output: Some(OutputSchema::new(&schema).expect("it is a schema")), ..AgentSettings::default() }
}

async fn check(turns: impl IntoIterator<Item = Turn>) -> Worked {
    work(&scene(), &Puppet::of(turns), settings()).await
}

/// Asserts that it ended with this sum after so many steps.
fn assert_sum(worked: &Worked, sum: i64, steps: u32) {
    assert_eq!((&worked.outcome.ended, worked.outcome.steps), (&AgentEndReason::Finished, steps), "{:?}", worked.told);
    let output = worked.outcome.output.as_ref().map(|output| output.value.clone());
    assert_eq!(output, Some(json!({ "sum": sum })));
}

fn corrections(worked: &Worked) -> Vec<&str> {
    let texts = worked.messages.iter().filter_map(|message| match message {
        Message::User { text, .. } => Some(text.as_str()),
        Message::Model(_) | Message::Tools { .. } => None,
    });
    texts.filter(|text| text.contains("does not fit the schema")).collect()
}

fn add(id: &str) -> ReplyPart {
    call(id, "add", json!({ "a": 1, "b": 2 }))
}

#[tokio::test]
async fn an_answer_that_fits_is_the_end_also_in_a_fence_or_between_words() {
    for text in [r#"{"sum": 3}"#, "```json\n{\"sum\": 3}\n```", "Here you are:\n{\"sum\": 3}\nThat is all."] {
        let worked = check([calls([add("1")]), says(text)]).await;
        assert_sum(&worked, 3, 2);
        assert_eq!(worked.outcome.answer, text);
        assert_eq!(worked.answer("1"), "3");
    }
    let without = work(&scene(), &Puppet::of([says(r#"{"sum": 3}"#)]), AgentSettings::default()).await;
    assert_eq!((without.outcome.ended, without.outcome.output), (AgentEndReason::Finished, None));
}

#[tokio::test]
async fn a_model_is_told_exactly_what_is_wrong_and_may_call_before_it_answers_again() {
    let worked =
        check([says("It is 3."), calls([add("1")]), says(r#"{"sum": "3", "unit": "apples"}"#), says(r#"{"sum": 3}"#)])
            .await;
    assert_sum(&worked, 3, 4);
    snapshot!(corrections(&worked).join("\n\n"), @r#"
    [haft: your last reply does not fit the schema:
    $: expected one JSON object, received "It is 3."
    Reply with the whole JSON object again, and with nothing else.]

    [haft: your last reply does not fit the schema:
    $.sum: expected a whole number, received "3"
    $.unit: expected only the properties "sum", received "apples"; leave it out
    Reply with the whole JSON object again, and with nothing else.]
    "#);
    let told: Vec<&String> = worked.told.iter().filter(|told| told.starts_with("unfit: ")).collect();
    assert_eq!(told[0], "unfit: $: expected one JSON object, received \"It is 3.\"");
    assert_eq!(told.len(), 2);
}

#[tokio::test]
async fn a_model_that_never_answers_so_is_told_twice_and_the_next_prompt_works() {
    let scene = scene();
    let (puppet, log) = (Puppet::of((1..=3).map(|number| says(&format!("{number}!")))), Log::default());
    let agent = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log).with_settings(settings());
    let (agent, worked) = run(agent, usize::MAX).await;
    assert_eq!(worked.outcome.ended, AgentEndReason::Unfit("$: expected one JSON object, received \"3!\"".into()));
    assert_eq!((worked.outcome.answer.as_str(), worked.outcome.steps, worked.outcome.output), ("3!", 3, None));
    snapshot!(worked.outcome.ended.to_string(), @r#"
    The answer does not fit the schema, even after haft told the model what is wrong:
    $: expected one JSON object, received "3!"
    Next: resume the session with the schema, or use a simpler one or another model.
    "#);
    drop(agent);

    let next = Puppet::of([says("Hm."), says("Hm."), says(r#"{"sum": 3}"#)]);
    let agent = AgentLoop::new(scene.runtime(), scene.session(), &next, &log).with_settings(settings());
    let (_, worked) = run(agent.going_on(past(&log.entries())), usize::MAX).await;
    assert_sum(&worked, 3, 3);
}

#[tokio::test]
async fn an_answer_that_comes_in_pieces_is_one() {
    for stop in [StopReason::Length, StopReason::Cut, StopReason::Paused] {
        let worked = check([says_until(r#"{"sum""#, stop), says(": 3}")]).await;
        assert_sum(&worked, 3, 2);
        // A model that starts again instead of continuing is asked for the whole answer.
        let worked = check([says_until(r#"{"sum": "#, stop), says(r#"{"sum": 3}"#), says(r#"{"sum": 3}"#)]).await;
        assert_sum(&worked, 3, 3);
    }
    let worked = check([r#"{"sum""#, ": ", "\"thr"].map(|text| says_until(text, StopReason::Length))).await;
    assert_eq!(worked.outcome.ended, AgentEndReason::Unfinished("it reached the maximum length".to_owned()));
    // After a correction a whole answer is to come, which may be as long again.
    let pieces =
        |last: &str| [says_until(r#"{"sum""#, StopReason::Length), says_until(": ", StopReason::Length), says(last)];
    let worked = check(pieces("three}").into_iter().chain(pieces("3}"))).await;
    assert_sum(&worked, 3, 6);
}

#[tokio::test]
async fn an_answer_beside_calls_is_not_the_last_one() {
    let both = Turn::Says(vec![ReplyPart::Text(r#"{"sum": 4}"#.into()), add("1")], StopReason::Calls);
    let worked = check([both.clone(), says(r#"{"sum": 3}"#)]).await;
    assert_sum(&worked, 3, 2);
    let worked = check([both, says("As I said."), says(r#"{"sum": 3}"#)]).await;
    assert_sum(&worked, 3, 3);
    assert_eq!(corrections(&worked).len(), 1);
}

#[tokio::test]
async fn every_other_end_is_as_ever() {
    let refused = check([Turn::Says(vec![ReplyPart::Refusal("No.".into())], StopReason::Refused)]).await;
    assert_eq!((refused.outcome.ended, refused.outcome.output), (AgentEndReason::Refused, None));
    let nothing = || Turn::Says(Vec::new(), StopReason::Finished);
    let silent = check([nothing(), nothing(), nothing()]).await;
    assert_eq!(silent.outcome.ended, AgentEndReason::SaidNothing);
    let settings = AgentSettings { max_steps: 2, ..settings() };
    let out = work(&scene(), &Puppet::of([says("a"), says("b"), says("c")]), settings).await;
    assert_eq!((out.outcome.ended, out.outcome.answer.as_str()), (AgentEndReason::OutOfSteps(2), "b"));
}

#[tokio::test]
async fn values_come_as_the_model_wrote_them_in_its_order() {
    let schema = json!({ "type": "object" });
    let settings = AgentSettings { output: OutputSchema::new(&schema).ok(), ..AgentSettings::default() };
    let text = r#"{"z": 18446744073709551615, "a": -0.5, "é": "\u0000\u202e", "list": [null, {}]}"#;
    let worked = work(&scene(), &Puppet::of([says(text)]), settings).await;
    let output = worked.outcome.output.expect("it fits").value;
    assert_eq!(output, serde_json::from_str::<Value>(text).expect("it is JSON"));
    assert!(output.to_string().starts_with(r#"{"z":18446744073709551615,"a":-0.5,"#), "{output}");
}
