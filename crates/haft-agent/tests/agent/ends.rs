//! Every way in which a run ends, and every way in which a call does.

use haft_agent::agent::AgentLoop;
use haft_agent::models::price::Price;
use haft_agent::outcome::AgentEndReason;
use haft_agent::settings::AgentSettings;
use haft_model::conversation::{Message, ReplyPart, StopReason, Usage};
use haft_model::provider::ModelErrorKind;
use haft_testkit::snapshot;
use serde_json::json;

use crate::puppet::{Puppet, Turn, breaks_off, call, call_text, calls, cut_call, says, says_until};
use crate::work::{Entry, Log, Worked, run, scene, work};

async fn check(turns: impl IntoIterator<Item = Turn>) -> Worked {
    work(&scene(), &Puppet::of(turns), AgentSettings::default()).await
}

fn unfinished(why: &str) -> AgentEndReason {
    AgentEndReason::Unfinished(why.to_owned())
}

#[tokio::test]
async fn a_model_reads_what_its_calls_came_to_and_has_the_last_word() {
    let scene = scene();
    let turns = [
        Turn::Says(
            vec![
                ReplyPart::Thinking("hm".into()),
                ReplyPart::Text("I look.".into()),
                call("1", "add", json!({ "a": 1, "b": 2 })),
                call("2", "read_file", json!({ "path": "notes.txt" })),
            ],
            StopReason::Calls,
        ),
        calls([call("3", "write_file", json!({ "path": "new.txt", "content": "x\n" }))]),
        says("It is done."),
    ];
    let worked = work(&scene, &Puppet::of(turns), AgentSettings::default()).await;
    assert_eq!(
        (worked.outcome.ended.clone(), worked.outcome.answer.as_str()),
        (AgentEndReason::Finished, "It is done.")
    );
    assert_eq!((worked.outcome.steps, worked.outcome.usage.input, worked.outcome.usage.output), (3, 300, 30));
    assert_eq!(scene.read("new.txt"), "x\n");
    assert_eq!(worked.answer("1"), "3");
    snapshot!(worked.told.join("\n"), @r"
    step 1
    thinking hm
    text I l
    text ook.
    writing add
    writing read_file
    cost 100+10 of 100
    began 1: add
    began 2: read_file notes.txt
    ended 1: ok
    ended 2: ok
    step 2
    writing write_file
    cost 100+10 of 200
    began 3: write_file new.txt
    ended 3: ok
    step 3
    text It is
    text  done.
    cost 100+10 of 300
    ");
}

#[tokio::test]
async fn every_call_has_an_answer_however_it_ended() {
    let worked = check([calls([
        call("1", "reed_file", json!({})),
        call_text("2", "add", "{\"a\": 1, \"b\": "),
        call_text("3", "add", "rubbish"),
        call_text("4", "add", ""),
        call("5", "misbehave", json!({ "how": "panic_in_run" })),
        call("6", "misbehave", json!({ "how": "panic_in_plan" })),
        call("7", "bash", json!({ "command": "sudo rm -rf /" })),
        cut_call("8", "add", "{\"a\": 1, \"b"),
        call("9", "misbehave", json!({ "how": "flood" })),
    ])])
    .await;
    assert_eq!(worked.outcome.ended, AgentEndReason::Finished);
    let firsts = worked.answers().into_iter().map(|(id, text)| {
        let line: String = text.lines().next().unwrap_or_default().chars().take(110).collect();
        format!("{id}: {line}\n")
    });
    snapshot!(firsts.collect::<String>(), @r#"
    1: There is no tool "reed_file".
    2: add: $.b: expected a complete JSON object, received text that ends where a value belongs: "{\"a\": 1, \"b\": "
    3: add: $: expected one JSON object, received "rubbish"; nothing was run; send the arguments as {"name": value, …
    4: add: $.a: expected the property "a" (a whole number), received nothing.
    5: The tool "misbehave" crashed: kaput.
    6: The tool "misbehave" crashed: planned to panic.
    7: The rule "rights" refuses this call. It would run it with the rights of another user.
    8: Not run: the reply ended inside this call, so its arguments are incomplete. Nothing was done. Next: send it ag
    9: line 1
    "#);
}

#[tokio::test]
async fn a_call_that_the_end_of_a_reply_cut_is_told_and_not_run() {
    let scene = scene();
    let cut = |stop| Turn::Says(vec![cut_call("1", "write_file", r#"{"path":"a.txt","content":"x"#)], stop);
    for (stop, words) in
        [(StopReason::Length, "reached the maximum length"), (StopReason::Cut, "the reply ended inside this call")]
    {
        let worked = work(&scene, &Puppet::of([cut(stop)]), AgentSettings::default()).await;
        assert!(worked.answer("1").contains(words), "{}", worked.answer("1"));
        assert_eq!(worked.outcome.ended, AgentEndReason::Finished);
    }
    assert!(!scene.root().join("a.txt").try_exists().unwrap_or(true));
}

#[tokio::test]
async fn a_model_whose_calls_never_fit_a_reply_is_not_asked_for_ever() {
    let cut = |id: u32| {
        let call = cut_call(&id.to_string(), "write_file", r#"{"path":"a.txt","content":"x"#);
        Turn::Says(vec![ReplyPart::Text("I write.".into()), call], StopReason::Length)
    };
    let worked = check((1..9).map(cut)).await;
    assert_eq!(worked.outcome.ended, unfinished("it repeatedly ends inside a call"));
    assert_eq!((worked.outcome.answer.as_str(), worked.outcome.steps), ("I write.", 3));
    let smaller = calls([call("s", "add", json!({ "a": 1, "b": 2 }))]);
    let worked = check([cut(1), cut(2), smaller, cut(3), cut(4), says("Now.")]).await;
    assert_eq!((worked.outcome.ended, worked.outcome.answer.as_str()), (AgentEndReason::Finished, "Now."));
}

#[tokio::test]
async fn a_reply_with_a_thousand_calls_has_a_thousand_answers() {
    let add = |id: u32| call(&id.to_string(), "add", json!({ "a": id, "b": 1 }));
    // More than are remembered, and two with one id: each gets its own.
    let worked = check([calls((0..1_100).map(add).chain([add(0)])), calls([add(5)])]).await;
    assert_eq!(worked.outcome.ended, AgentEndReason::Finished);
    let answers = worked.answers();
    assert_eq!((answers.len(), answers[1_099], answers[1_100]), (1_102, ("1099", "1100"), ("0-2", "1")));
}

#[tokio::test]
async fn a_reply_that_broke_off_is_gone_on_with_twice_and_is_then_not_whole() {
    let worked =
        check([says_until("One, ", StopReason::Cut), says_until("two, ", StopReason::Length), says("three.")]).await;
    assert_eq!((worked.outcome.ended, worked.outcome.answer.as_str()), (AgentEndReason::Finished, "One, two, three."));

    let worked = check(["a", "b", "c"].map(|text| says_until(text, StopReason::Cut))).await;
    assert_eq!(worked.outcome.ended, unfinished("it broke off"));
    assert_eq!((worked.outcome.answer.as_str(), worked.outcome.steps), ("abc", 3));
}

#[tokio::test]
async fn why_a_reply_broke_off_is_said_to_the_model_to_the_user_and_at_the_end() {
    let worked = check([breaks_off("One, ", "the provider ended the reply early: Overloaded"), says("two.")]).await;
    assert_eq!(worked.outcome.ended, AgentEndReason::Finished);
    let told = "goes on: the provider ended the reply early: Overloaded";
    assert!(worked.told.iter().any(|line| line == told), "{:?}", worked.told);
    let Message::User { text, .. } = &worked.messages[2] else { panic!("haft speaks: {:?}", worked.messages) };
    assert_eq!(
        text,
        "[haft: your last reply is incomplete: the provider ended the reply early: Overloaded. Continue exactly where it stopped.]"
    );

    let silent = "the provider sent nothing for 300 s";
    let worked = check(["a", "b", "c"].map(|text| breaks_off(text, silent))).await;
    assert_eq!(worked.outcome.ended, unfinished(silent));

    let cut = |id: &str| Turn::BreaksOff(vec![cut_call(id, "add", "{\"a\"")], silent.to_owned());
    let worked = check(["1", "2", "3"].map(cut)).await;
    assert_eq!(worked.outcome.ended, unfinished(&format!("it repeatedly ends inside a call: {silent}")));
    assert_eq!(
        worked.answer("1"),
        format!(
            "Not run: the reply ended inside this call, so its arguments are incomplete: {silent}. Nothing was done. Next: send it again."
        )
    );
}

#[tokio::test]
async fn a_provider_that_pauses_is_asked_again_with_what_it_said() {
    let worked = check([says_until("Wait, ", StopReason::Paused), says("here.")]).await;
    assert_eq!((worked.outcome.ended, worked.outcome.answer.as_str()), (AgentEndReason::Finished, "Wait, here."));
    let worked = check((0..40).map(|_| says_until("Wait", StopReason::Paused))).await;
    assert_eq!(worked.outcome.ended, unfinished("the provider paused repeatedly"));
}

#[tokio::test]
async fn a_refusal_is_the_end_and_its_calls_are_not_run() {
    let parts = vec![ReplyPart::Refusal("No.".into()), call("1", "add", json!({ "a": 1, "b": 2 }))];
    let worked = check([Turn::Says(parts, StopReason::Refused)]).await;
    assert_eq!((worked.outcome.ended.clone(), worked.outcome.answer.as_str()), (AgentEndReason::Refused, "No."));
    assert!(worked.answer("1").starts_with("Not run: the reply that called it was refused."));
}

#[tokio::test]
async fn a_model_that_says_nothing_is_asked_twice_more() {
    let nothing = || Turn::Says(Vec::new(), StopReason::Finished);
    let thought = Turn::Says(vec![ReplyPart::Thinking("hm".into())], StopReason::Finished);
    let worked = check([nothing(), thought.clone(), says("Here.")]).await;
    assert_eq!((worked.outcome.ended, worked.outcome.answer.as_str()), (AgentEndReason::Finished, "Here."));
    let worked = check([nothing(), thought, nothing()]).await;
    assert_eq!(worked.outcome.ended, AgentEndReason::SaidNothing);
}

#[tokio::test]
async fn words_before_a_call_are_no_part_of_an_answer_that_comes_in_pieces() {
    let look = || {
        let parts = vec![ReplyPart::Text("I look.".into()), call("1", "add", json!({ "a": 1, "b": 2 }))];
        Turn::Says(parts, StopReason::Calls)
    };
    let nothing = |stop| Turn::Says(vec![ReplyPart::Thinking("hm".into())], stop);
    for stop in [StopReason::Finished, StopReason::Cut, StopReason::Length, StopReason::Paused] {
        let worked = check([look(), nothing(stop), says("It is 3.")]).await;
        assert_eq!(worked.outcome.answer, "It is 3.", "{stop:?}");
        let worked = check([look(), says_until("It is ", StopReason::Cut), nothing(stop), says("3.")]).await;
        assert_eq!(worked.outcome.answer, "It is 3.", "{stop:?}");
    }
}

#[tokio::test]
async fn a_run_ends_when_it_is_out_of_steps_and_the_next_prompt_goes_on() {
    let scene = scene();
    let add = |id: u32| calls([call(&id.to_string(), "add", json!({ "a": id, "b": 1 }))]);
    let (puppet, log) = (Puppet::of((1..=5).map(add)), Log::default());
    let settings = AgentSettings { max_steps: 3, ..AgentSettings::default() };
    let agent = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log).with_settings(settings);
    let (agent, worked) = run(agent, usize::MAX).await;
    assert_eq!((worked.outcome.ended.clone(), worked.outcome.steps), (AgentEndReason::OutOfSteps(3), 3));
    assert!(worked.outcome.ended.to_string().starts_with("Stopped after 3 steps"), "{}", worked.outcome.ended);
    let (_, worked) = run(agent, usize::MAX).await;
    assert_eq!((worked.outcome.ended.clone(), worked.answers().len()), (AgentEndReason::Finished, 5));
}

#[tokio::test]
async fn a_run_ends_when_its_tokens_are_used() {
    let add = |id: u32| calls([call(&id.to_string(), "add", json!({ "a": id, "b": 1 }))]);
    let settings = AgentSettings { token_budget: Some(250), ..AgentSettings::default() };
    let worked = work(&scene(), &Puppet::of((1..9).map(add)), settings.clone()).await;
    assert_eq!(worked.outcome.ended, AgentEndReason::OutOfBudget { used: 330, budget: 250 });
    // A provider that counts nothing is counted for.
    let silent = Puppet::of((1..9).map(add)).costing(Usage::default());
    let worked = work(&scene(), &silent, settings).await;
    assert!(
        matches!(worked.outcome.ended, AgentEndReason::OutOfBudget { used: 1_000.., .. }),
        "{:?}",
        worked.outcome.ended
    );
}

#[tokio::test]
async fn a_model_that_cannot_be_asked_is_told_with_what_to_do() {
    let worked = check([Turn::Fails(ModelErrorKind::NotAdmitted)]).await;
    assert_eq!(worked.outcome.ended.to_string(), "It is NotAdmitted. Next: wait.");
    let worked = check([Turn::AskedAgain(vec![ReplyPart::Text("Hello.".into())])]).await;
    assert!(worked.told.contains(&"again after 2 s: too many requests".to_owned()), "{:?}", worked.told);
}

#[tokio::test]
async fn nothing_is_run_that_cannot_be_written_down() {
    let turns = || {
        let write = |id: &str| call(id, "write_file", json!({ "path": id, "content": "x\n" }));
        [calls([write("a"), write("b")]), says("done")]
    };
    for room in 0..20 {
        let scene = scene();
        let (puppet, log) = (Puppet::of(turns()), Log::with_room(room));
        let agent = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log);
        let (_, worked) = run(agent, usize::MAX).await;
        for file in ["a", "b"].into_iter().filter(|file| scene.root().join(file).try_exists().unwrap_or(true)) {
            let is_known = |entry: &Entry| matches!(entry, Entry::Began(call) if call == file);
            assert!(log.entries().iter().any(is_known), "{file} with room for {room}");
        }
        if room < 8 {
            assert_eq!(worked.outcome.ended, AgentEndReason::NotRecorded("the disk is full".into()), "{room}");
        }
    }
}

#[tokio::test]
async fn what_is_written_down_is_what_was_said() {
    let scene = scene();
    let (puppet, log) = (Puppet::of([calls([call("1", "add", json!({ "a": 1, "b": 2 }))])]), Log::default());
    let (_, worked) = run(AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log), usize::MAX).await;
    let written: Vec<Message> = log
        .entries()
        .into_iter()
        .filter_map(|entry| match entry {
            Entry::Message(message) => Some(message),
            Entry::Began(_) | Entry::Answered(_) => None,
        })
        .collect();
    assert_eq!(format!("{written:?}"), format!("{:?}", worked.messages));
}

#[tokio::test]
async fn who_must_call_first_may_finish_afterwards() {
    let add = || calls([call("1", "add", json!({ "a": 1, "b": 2 }))]);
    let puppet = Puppet::of([add()]);
    let settings = AgentSettings { call_first: true, ..AgentSettings::default() };
    let worked = work(&scene(), &puppet, settings).await;
    assert_eq!((worked.outcome.ended, puppet.forced()), (AgentEndReason::Finished, vec![true, false]));
    let puppet = Puppet::of([add()]);
    work(&scene(), &puppet, AgentSettings::default()).await;
    assert_eq!(puppet.forced(), [false, false]);
}

#[tokio::test]
async fn a_run_ends_when_it_has_cost_as_much_as_it_may() {
    let price = Price {
        input: 1_000_000_000,
        output: 5_000_000_000,
        cache_read: 0,
        cache_written: 0,
        currency: "EUR".to_owned(),
    };
    let add = |id| calls([call(id, "add", json!({ "a": 1, "b": 2 }))]);
    // Each reply costs 100 + 10 × 5 millionths.
    let settings = AgentSettings { price: Some(price.clone()), cost_budget: Some(300_000), ..AgentSettings::default() };
    let worked = work(&scene(), &Puppet::of([add("1"), add("2"), add("3")]), settings.clone()).await;
    assert_eq!(worked.outcome.steps, 2);
    let told = worked.outcome.ended.to_string();
    snapshot!(told, @"Stopped after 0.0003 EUR; the budget is 0.0003 EUR. Next: resume the session, or allow a higher cost.");
    assert_eq!(worked.outcome.cost.map(|cost| cost.exact()).as_deref(), Some("0.0003"));
    let settings = AgentSettings { price: None, ..settings };
    let worked = work(&scene(), &Puppet::of([add("1")]), settings).await;
    assert_eq!(
        (worked.outcome.ended, worked.outcome.cost),
        (AgentEndReason::Finished, None),
        "without a price there is none"
    );
}
