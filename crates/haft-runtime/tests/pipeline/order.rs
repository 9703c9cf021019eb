//! Order within a turn, and apart from other sessions.

use haft_runtime::asking::approval::Verdict;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::ScriptedApprover;
use haft_testkit::snapshot::told;
use haft_testkit::tools::{PutTool, Swap, WaitTool};
use serde_json::json;

fn allowing(count: usize) -> Scene {
    let answers = std::iter::repeat_n(Verdict::AllowOnce, count);
    Scene::new().approver(ScriptedApprover::of(answers)).tool(PutTool).tool(Swap)
}

#[tokio::test]
async fn a_read_before_a_write_sees_the_old_text_and_one_behind_it_the_new() {
    let scene = allowing(1).file("a", "old\n");

    let results = scene
        .turn(&[
            ("read_file", json!({ "path": "a" })),
            ("put", json!({ "path": "a", "content": "new\n" })),
            ("read_file", json!({ "path": "./a" })),
        ])
        .await;

    assert!(results[0].text().contains("old"), "{}", told(&results[0]));
    assert_eq!(told(&results[1]), "ok: wrote a\ndid: changed a");
    assert!(results[2].text().contains("new"), "{}", told(&results[2]));
}

#[tokio::test]
async fn two_edits_of_one_file_both_land() {
    let scene = allowing(2).file("a", "one\ntwo\n");

    let results = scene
        .turn(&[
            ("swap", json!({ "path": "a", "old": "one", "new": "1" })),
            ("swap", json!({ "path": "a", "old": "two", "new": "2" })),
        ])
        .await;

    assert!(results.iter().all(|result| result.error.is_none()), "{results:?}");
    assert_eq!(scene.read("a"), "1\n2\n");
}

#[tokio::test]
async fn the_same_read_twenty_times_is_done_once() {
    let scene = Scene::new().file("a", "text\n");

    let results = scene.turn(&vec![("read_file", json!({ "path": "a" })); 20]).await;

    assert_eq!(results.iter().filter(|result| result.error.is_none()).count(), 1);
    assert_eq!(
        told(&results[19]),
        "refused at line_up (redundant): This was read in this turn already and has not changed since.\n\
         next: use the result of the call 1\ndid: nothing"
    );
}

#[tokio::test]
async fn the_same_read_of_a_file_that_takes_time_is_done_once_too() {
    // It is not read at once, so the second call is planned while the first one still reads.
    let scene = Scene::new().file("large", "a line of a large file\n".repeat(100_000));

    let results = scene.turn(&vec![("read_file", json!({ "path": "large", "limit": 1 })); 3]).await;

    let ends = results.iter().map(|result| result.error.as_ref().map_or("ok", |error| error.kind.code()));
    assert_eq!(ends.collect::<Vec<_>>(), ["ok", "redundant", "redundant"]);
}

#[tokio::test]
async fn a_plan_that_fails_behind_a_change_waits_for_it() {
    let scene = allowing(2);

    let results = scene
        .turn(&[
            ("put", json!({ "path": "new", "content": "one\n" })),
            ("swap", json!({ "path": "new", "old": "one", "new": "1" })),
        ])
        .await;

    assert!(results[1].error.is_none(), "{}", told(&results[1]));
    assert_eq!(scene.read("new"), "1\n");
}

#[tokio::test]
async fn calls_that_do_not_conflict_run_together() {
    let wait = WaitTool::default();
    let signs = wait.signs.clone();
    let scene = allowing(3).tool(wait);
    let calls = [("wait", json!({ "path": "x" })), ("wait", json!({ "path": "y" })), ("wait", json!({ "path": "z" }))];
    let (results, ()) = tokio::join!(scene.turn(&calls), async {
        signs.begun(3).await;
        signs.go(3);
    });
    assert!(results.iter().all(|result| result.error.is_none()));
    assert_eq!(signs.most_at_once(), 3);
}

#[tokio::test]
async fn calls_that_conflict_run_one_after_the_other_also_across_sessions() {
    let wait = WaitTool::default();
    let signs = wait.signs.clone();
    let scene = allowing(9).tool(wait);
    let other = scene.another_session("other");
    let call =
        || haft_contract::call::ToolCall::new("wait", haft_contract::call::RawArguments::from(json!({ "path": "x" })));
    signs.go(9);

    let runtime = scene.runtime();
    let (session, calls) = (scene.session(), 3);
    let here = async { runtime.call_all(session, (0..calls).map(|_| call()).collect()).await };
    let there = async { runtime.call_all(&other, (0..calls).map(|_| call()).collect()).await };
    let (here, there) = tokio::join!(here, there);

    assert!(here.iter().chain(&there).all(|result| result.error.is_none()));
    assert_eq!(signs.most_at_once(), 1);
}
