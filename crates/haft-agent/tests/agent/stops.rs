//! Stopping: at any point, immediately, with everything answered and the next prompt working.

use haft_agent::agent::AgentLoop;
use haft_agent::outcome::AgentEndReason;
use haft_agent::settings::AgentSettings;
use haft_model::conversation::{Message, ReplyPart, StopReason};
use haft_runtime::asking::approval::Verdict;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::ScriptedApprover;
use haft_testkit::tools::PutTool;
use serde_json::json;

use crate::puppet::{Puppet, Turn, call, call_text, calls, cut_call, says, says_until};
use crate::work::{Log, run, scene, work, work_until};

/// A script with something of everything.
fn turns() -> Vec<Turn> {
    vec![
        Turn::Says(
            vec![
                ReplyPart::Thinking("I think.".into()),
                ReplyPart::Text("I look around.".into()),
                call("1", "read_file", json!({ "path": "notes.txt" })),
                call("2", "add", json!({ "a": 1, "b": 2 })),
                call("3", "nothing_like_that", json!({})),
            ],
            StopReason::Calls,
        ),
        says_until("It broke", StopReason::Cut),
        says_until("A pause", StopReason::Paused),
        calls([
            call("4", "write_file", json!({ "path": "a.txt", "content": "x\n" })),
            call_text("5", "add", "{\"a\": "),
            cut_call("6", "add", "{"),
            call("7", "misbehave", json!({ "how": "panic_in_run" })),
        ]),
        Turn::Says(Vec::new(), StopReason::Finished),
        says("All done."),
    ]
}

#[tokio::test]
async fn a_run_may_be_stopped_at_any_point_and_the_next_prompt_works() {
    let mut stopped = 0;
    for stop_at in 1.. {
        let scene = scene();
        let (puppet, log) = (Puppet::of(turns()), Log::default());
        let agent = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log);
        let (agent, worked) = run(agent, stop_at).await;
        if worked.told.len() < stop_at {
            assert_eq!(worked.outcome.ended, AgentEndReason::Finished);
            break;
        }
        stopped += 1;
        assert_eq!(worked.outcome.ended, AgentEndReason::Stopped, "at {stop_at} of {:?}", worked.told);
        let (_, worked) = run(agent, usize::MAX).await;
        assert_eq!(worked.outcome.ended, AgentEndReason::Finished, "after a stop at {stop_at}");
    }
    assert!(stopped > 30, "only {stopped} points were tried");
}

#[tokio::test(start_paused = true)]
async fn a_running_call_is_stopped_and_those_beside_it_have_their_answers() {
    let scene = scene();
    let turn = calls([call("1", "wait", json!({})), call("2", "add", json!({ "a": 1, "b": 2 }))]);
    // The fourth of: step, writing twice, cost, began twice, ended.
    let worked = work_until(&scene, &Puppet::of([turn]), AgentSettings::default(), 7).await;
    assert_eq!(worked.outcome.ended, AgentEndReason::Stopped);
    assert_eq!(worked.answer("2"), "3");
    assert!(worked.answer("1").contains("The call was stopped while it ran."), "{}", worked.answer("1"));
}

#[tokio::test]
async fn what_came_before_a_stop_is_kept_and_its_calls_are_answered() {
    let parts =
        vec![ReplyPart::Text("I write.".into()), call("1", "write_file", json!({ "path": "a.txt", "content": "x" }))];
    let scene = scene();
    let worked = work_until(&scene, &Puppet::of([Turn::Hangs(parts)]), AgentSettings::default(), 4).await;
    assert_eq!((worked.outcome.ended.clone(), worked.outcome.answer.as_str()), (AgentEndReason::Stopped, "I write."));
    assert_eq!(worked.answer("1"), "Not run: stopped by the user. Nothing was done.");
    assert!(!scene.root().join("a.txt").try_exists().unwrap_or(true));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_does_not_listen_is_left_behind() {
    let worked = work_until(&scene(), &Puppet::of([Turn::IsDeaf]), AgentSettings::default(), 1).await;
    assert_eq!(worked.outcome.ended, AgentEndReason::Stopped);
    assert_eq!(worked.messages.len(), 1);
}

#[tokio::test]
async fn who_stops_the_turn_at_a_question_stops_the_agent() {
    let scene = Scene::new().tool(PutTool).approver(ScriptedApprover::of([Verdict::StopTurn]));
    let put = |id: &str| call(id, "put", json!({ "path": id, "content": "x" }));
    let puppet = Puppet::of([calls([put("a"), put("b")])]);
    let worked = work(&scene, &puppet, AgentSettings::default()).await;
    assert_eq!((worked.outcome.ended.clone(), puppet.asked().len()), (AgentEndReason::Stopped, 1));
    assert!(worked.answer("a").contains("the user stopped the turn"), "{}", worked.answer("a"));
    scene.assert_untouched();
}

#[tokio::test]
async fn a_no_with_a_word_is_read_by_the_model() {
    let note = Some("use tabs".to_owned());
    let scene = Scene::new().tool(PutTool).approver(ScriptedApprover::of([Verdict::Refuse { note }]));
    let puppet = Puppet::of([calls([call("1", "put", json!({ "path": "a", "content": "x" }))])]);
    let worked = work(&scene, &puppet, AgentSettings::default()).await;
    assert_eq!(worked.outcome.ended, AgentEndReason::Finished);
    assert!(worked.answer("1").contains("The user said no: use tabs"), "{}", worked.answer("1"));
}

#[tokio::test]
async fn a_run_that_is_dropped_in_a_call_can_be_gone_on_with() {
    let scene = scene();
    let (puppet, log) = (Puppet::of([calls([call("1", "wait", json!({}))])]), Log::default());
    let mut agent = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &log);
    let stop = tokio_util::sync::CancellationToken::new();
    {
        let running = agent.run("Wait.".into(), &|_| {}, &stop);
        tokio::pin!(running);
        assert!(std::future::poll_fn(|cx| std::task::Poll::Ready(running.as_mut().poll(cx).is_pending())).await);
    }
    assert!(matches!(agent.messages().last(), Some(Message::Model(_))));
    let (_, worked) = run(agent, usize::MAX).await;
    assert_eq!(worked.outcome.ended, AgentEndReason::Finished);
    assert!(worked.answer("1").starts_with("Interrupted: "), "{}", worked.answer("1"));
}
