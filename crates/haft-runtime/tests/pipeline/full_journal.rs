//! A journal that is full: old changes are lost only after a yes, and nothing else is asked about.

use haft_contract::call::{RawArguments, ToolCall};
use haft_policy::decision::Class;
use haft_runtime::asking::approval::Verdict;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::{ScriptedApprover, nobody};
use haft_testkit::snapshot::told;
use serde_json::{Value, json};

/// A file of which the journal keeps every version, and that soon fills it.
fn content(number: u32) -> String {
    (0..1_000_u32).map(|line| format!("{:08x} of version {number}\n", line.wrapping_mul(number + 7))).collect()
}

fn write(number: u32) -> Value {
    json!({ "path": "a.txt", "content": content(number), "write_mode": "overwrite" })
}

/// Writes versions until the journal is full; from then on this script answers questions.
async fn full(answers: impl IntoIterator<Item = Verdict>) -> (Scene, ScriptedApprover) {
    let writes = std::iter::repeat_n(Verdict::AllowOnce, 8);
    let script = ScriptedApprover::of(writes.chain(answers));
    let scene = Scene::new().file("a.txt", content(0)).journal_room(350_000).approver(script.clone());
    for number in 1..=8 {
        let told = scene.told("write_file", write(number)).await;
        assert!(told.starts_with("ok"), "{number}: {told}");
    }
    (scene, script)
}

#[tokio::test]
async fn the_next_change_is_a_dangerous_question_that_says_what_is_lost() {
    let (scene, script) = full([Verdict::Refuse { note: None }, Verdict::AllowOnce, Verdict::AllowOnce]).await;
    let before = scene.read("a.txt");
    let refused = scene.told("write_file", write(9)).await;
    assert!(refused.starts_with("refused"), "{refused}");
    assert_eq!(scene.read("a.txt"), before);
    let asked = script.asked().last().expect("it was asked").clone();
    assert_eq!((asked.ruling.class, &*asked.ruling.rule), (Class::Dangerous, "full journal"));
    assert!(asked.offers.is_empty() && asked.rule_to_paste.is_none());
    assert!(asked.ruling.reason.contains("haft would drop the 3 oldest change sets (less than a minute old)"));
    assert!(asked.ruling.reason.contains("Also: It would change a.txt"), "{}", asked.ruling.reason);
    let agreed = scene.told("write_file", write(10)).await;
    assert!(agreed.starts_with("ok") && agreed.contains("Change sets up to 3 can no longer be undone"), "{agreed}");
    // There is room again.
    assert!(scene.told("write_file", write(11)).await.starts_with("ok"));
    assert_eq!(script.asked().last().expect("it was asked").ruling.rule, "changes");
}

#[tokio::test]
async fn what_changes_nothing_is_not_asked_about() {
    let (scene, script) = full([Verdict::AllowOnce]).await;
    let asked = script.asked().len();
    assert!(scene.told("read_file", json!({ "path": "a.txt" })).await.starts_with("ok"));
    assert!(scene.told("undo", json!({ "action": "list" })).await.starts_with("ok"));
    assert_eq!(script.asked().len(), asked);
}

#[tokio::test]
async fn without_anybody_to_ask_it_is_refused_and_nothing_is_lost() {
    let (scene, _) = full([]).await;
    let session = scene.runtime().session("alone", nobody());
    let call = ToolCall::new("write_file", RawArguments::from(write(9)));
    let refused = scene.runtime().call(&session, call).await;
    let told = told(&refused);
    assert!(told.contains("The rule \"full journal\" asks first, and there is no one to ask."), "{told}");
    assert_eq!(scene.read("a.txt"), content(8));
}
