//! The tools of a session: tasks, thoughts, the end of the work, memory, questions to the user.

use std::sync::Arc;
use std::time::Duration;

use haft_contract::BoxFuture;
use haft_contract::doors::user_questions::{UserAnswer, UserReply};
use haft_runtime::asking::approval::{ApprovalRequest, Approver, Questionnaire, Verdict};
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::{ScriptedApprover, nobody};
use haft_testkit::snapshot;
use serde_json::{Value, json};

fn item(content: &str, status: &str) -> Value {
    json!({ "content": content, "status": status })
}

#[tokio::test]
async fn a_call_replaces_the_whole_list_and_one_without_items_shows_it() {
    let scene = Scene::new();
    assert_eq!(scene.told("todo", json!({})).await, "ok: The list is empty.\ndid: nothing");
    let items = json!([
        item("Read", "completed"),
        { "content": "Fix", "status": "in_progress", "active_form": "Fixing" },
        item("Ask", "cancelled"),
        { "content": "Test" },
    ]);
    snapshot!(scene.told("todo", json!({ "items": items })).await, @"
    ok: [x] Read
    [>] Fix (Fixing)
    [-] Ask
    [ ] Test
    1 of 3 done
    did: nothing
    ");
    assert!(scene.told("todo", json!({})).await.contains("[>] Fix"));
    assert_eq!(scene.told("todo", json!({ "items": [] })).await, "ok: The list is empty.\ndid: nothing");
    assert_eq!(scene.told("todo", json!({})).await, "ok: The list is empty.\ndid: nothing");
    scene.assert_untouched();
}

#[tokio::test]
async fn a_list_that_breaks_a_rule_leaves_the_old_one() {
    let scene = Scene::new();
    scene.call("todo", json!({ "items": [item("Kept", "pending")] })).await;
    let two = json!({ "items": [item("a", "in_progress"), item("b", "pending"), item("c", "in_progress")] });
    let told = scene.told("todo", two).await;
    assert!(told.contains("$.items[0] and $.items[2] are \"in_progress\", and at most one item can be"), "{told}");
    for wrong in [json!([item(" ", "pending")]), json!([item("a", "started")]), json!(vec![item("a", "pending"); 101])]
    {
        let told = scene.told("todo", json!({ "items": wrong })).await;
        assert!(told.starts_with("failed at") && told.contains("(bad_arguments)"), "{told}");
    }
    assert!(scene.told("todo", json!({})).await.contains("[ ] Kept"));
}

#[tokio::test]
async fn another_session_has_another_list() {
    let scene = Scene::new();
    scene.call("todo", json!({ "items": [item("Mine", "pending")] })).await;
    let other = scene.another_session("other");
    let call = haft_contract::call::ToolCall::new("todo", haft_contract::call::RawArguments::Text("{}".into()));
    assert_eq!(scene.runtime().call(&other, call).await.text(), "The list is empty.");
}

#[tokio::test]
async fn thoughts_and_observations_are_numbered_until_they_are_cleared() {
    let scene = Scene::new();
    let first = json!({ "action": "think", "text": "Shared state?", "next_action": "grep static" });
    assert_eq!(scene.told("think", first).await, "ok: Noted as 1.\ndid: nothing");
    scene.call("think", json!({ "action": "observe", "text": "None." })).await;
    snapshot!(scene.told("think", json!({ "action": "get" })).await, @"
    ok: 1. thought: Shared state?
       next: grep static
    2. observation: None.
    did: nothing
    ");
    scene.call("think", json!({ "action": "clear" })).await;
    assert_eq!(scene.told("think", json!({ "action": "get" })).await, "ok: The scratchpad is empty.\ndid: nothing");
    let told = scene.told("think", json!({ "action": "observe" })).await;
    assert!(told.contains("$.text is missing"), "{told}");
    assert!(scene.told("think", json!({ "action": "ponder", "text": "x" })).await.contains("bad_arguments"));
}

#[tokio::test]
async fn without_a_run_nothing_ends_and_an_empty_result_is_an_error() {
    let scene = Scene::new();
    let told = scene.told("finish", json!({ "summary": "Done." })).await;
    assert!(told.starts_with("ok: The task is marked as finished."), "{told}");
    let told = scene.told("finish", json!({ "result": " " })).await;
    assert!(told.contains("$.result is empty"), "{told}");
    assert!(scene.told("finish", json!({ "result": { "sum": 3 } })).await.starts_with("ok: "));
}

#[tokio::test]
async fn a_fact_is_added_to_a_file_that_stays_as_it_is_otherwise() {
    let answers = std::iter::repeat_n(Verdict::AllowOnce, 8);
    let scene = Scene::new().approver(ScriptedApprover::of(answers));
    let told = scene.told("remember", json!({ "fact": "- Use\n tabs." })).await;
    assert_eq!(told, "ok: Remembered in HAFT_MEMORY.md: Use tabs.\ndid: changed HAFT_MEMORY.md");
    scene.call("remember", json!({ "fact": "Test with make." })).await;
    assert_eq!(scene.read("HAFT_MEMORY.md"), "## Remembered facts\n\n- Use tabs.\n- Test with make.\n");
    let told = scene.told("remember", json!({ "fact": "Use tabs." })).await;
    assert_eq!(told, "ok: HAFT_MEMORY.md has this fact already. Nothing was changed.\ndid: nothing");
}

#[tokio::test]
async fn a_secret_is_never_remembered() {
    let scene = Scene::new().secret("hunter2-hunter2").approver(ScriptedApprover::of([Verdict::AllowOnce]));
    let told = scene.told("remember", json!({ "fact": "The password is hunter2-hunter2." })).await;
    assert!(told.contains("looks like a secret") && !told.contains("hunter2-"), "{told}");
    scene.assert_untouched();
}

#[tokio::test]
async fn nothing_is_remembered_that_the_user_does_not_allow() {
    let scene = Scene::new().approver(nobody());
    let told = scene.told("remember", json!({ "fact": "Use tabs." })).await;
    assert!(told.starts_with("refused at authorize (needs_approval)"), "{told}");
    scene.assert_untouched();
}

fn which() -> Value {
    let options = json!([{ "label": "CSV", "description": "rows" }, { "label": "JSON" }]);
    json!({ "questions": [{ "header": "Format", "question": "Which?", "options": options }] })
}

#[tokio::test]
async fn every_question_comes_back_with_its_answer() {
    let scene = Scene::new().approver(ScriptedApprover::of([]));
    let mut asked = which();
    let more = [json!({ "question": "Why?" }), json!({ "question": "Sure?", "type": "yesno" })];
    asked["questions"].as_array_mut().expect("a list").extend(more);
    let result = scene.call("ask_user", asked).await;
    assert_eq!(result.text(), "Which?\n→ CSV\nWhy?\n→ yes\nSure?\n→ yes");
    let data = result.data.expect("it has data");
    assert_eq!(data["answers"][0], json!({ "header": "Format", "question": "Which?", "answer": ["CSV"] }));
    assert_eq!((&data["answers"][2]["answer"], &data["dismissed"]), (&json!(true), &json!(false)));
}

#[tokio::test]
async fn where_no_user_is_the_questions_are_refused_and_nothing_waits() {
    let scene = Scene::new().approver(nobody());
    snapshot!(scene.told("ask_user", which()).await, @"
    refused at execute (needs_approval): The user cannot be asked: no one is here to answer. Nothing was asked.
    next: choose what is sensible, and say in your answer what you chose and why
    did: nothing
    ");
}

/// A user who closes the questions, after some time.
struct Dismisses(Duration);

impl Approver for Dismisses {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        Box::pin(async { Verdict::StopTurn })
    }

    fn ask_user<'a>(&'a self, _: &'a Questionnaire) -> BoxFuture<'a, UserReply> {
        Box::pin(async {
            let _over = tokio::time::timeout(self.0, std::future::pending::<()>()).await;
            UserReply::Dismissed
        })
    }
}

#[tokio::test]
async fn a_dismissed_question_is_no_error() {
    let scene = Scene::new().approver(Dismisses(Duration::ZERO));
    let result = scene.call("ask_user", which()).await;
    assert!(
        result.error.is_none() && result.text().starts_with("The user dismissed the questions"),
        "{}",
        result.text()
    );
    assert_eq!(result.data.expect("it has data")["dismissed"], true);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_call_does_not_run_out_while_the_user_thinks() {
    let scene = Scene::new().approver(Dismisses(Duration::from_secs(3_600)));
    assert!(scene.call("ask_user", which()).await.error.is_none());
}

#[tokio::test]
async fn a_question_that_cannot_be_answered_is_not_asked() {
    let scene = Scene::new().approver(ScriptedApprover::of([]));
    let same = json!([{ "label": "a" }, { "label": "A" }]);
    let options = |count: usize| (0..count).map(|n| json!({ "label": n.to_string() })).collect::<Vec<_>>();
    let wrong = [
        json!({ "questions": [] }),
        json!({ "questions": vec![json!({ "question": "Why?" }); 5] }),
        json!({ "questions": [{ "question": "Which?", "options": same }] }),
        json!({ "questions": [{ "question": "Which?", "options": options(1) }] }),
        json!({ "questions": [{ "question": "Which?", "options": options(5) }] }),
        json!({ "questions": [{ "question": "Which?", "type": "choice" }] }),
        json!({ "questions": [{ "question": "Which?", "type": "text", "options": options(2) }] }),
        json!({ "questions": [{ "question": "Why?", "header": "x".repeat(33) }] }),
        json!({ "questions": [{ "question": " " }] }),
    ];
    for arguments in wrong {
        let told = scene.told("ask_user", arguments.clone()).await;
        assert!(told.starts_with("failed at") && told.contains("(bad_arguments)"), "{arguments}: {told}");
    }
}

#[tokio::test]
async fn secrets_are_hidden_in_what_the_user_is_asked() {
    #[derive(Clone, Default)]
    struct Notes(Arc<std::sync::Mutex<String>>);
    impl Approver for Notes {
        fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
            Box::pin(async { Verdict::StopTurn })
        }
        fn ask_user<'a>(&'a self, asked: &'a Questionnaire) -> BoxFuture<'a, UserReply> {
            *self.0.lock().expect("nobody panics with it") = format!("{asked:?}");
            Box::pin(async { UserReply::Answered(vec![UserAnswer::Yes]) })
        }
    }
    let notes = Notes::default();
    let scene = Scene::new().secret("hunter2-hunter2").approver(notes.clone());
    scene.call("ask_user", json!({ "questions": [{ "question": "Is it hunter2-hunter2?", "type": "yesno" }] })).await;
    let shown = notes.0.lock().expect("nobody panics with it").clone();
    assert!(shown.contains("Is it") && !shown.contains("hunter2-hunter2"), "{shown}");
}

async fn in_dialect(scene: &Scene, tool: &str, arguments: Value) -> String {
    scene.call(tool, arguments).await.text()
}

#[tokio::test]
async fn tunacode_has_its_tasks_scratchpad_and_end() {
    let scene = Scene::new().dialect("tunacode");
    let todos = json!([{ "content": "Fix", "status": "in_progress", "activeForm": "Fixing" }, item("Test", "pending")]);
    let written = in_dialect(&scene, "todowrite", json!({ "todos": todos })).await;
    assert_eq!(written, "[>] Fix (Fixing)\n[ ] Test\n0 of 2 done");
    assert_eq!(in_dialect(&scene, "todoread", json!({})).await, written);
    let two = json!([item("a", "in_progress"), item("b", "in_progress")]);
    assert!(in_dialect(&scene, "todowrite", json!({ "todos": two })).await.contains("at most one"));
    assert_eq!(in_dialect(&scene, "todoclear", json!({})).await, "The list is empty.");
    assert_eq!(in_dialect(&scene, "todoread", json!({})).await, "The list is empty.");
    let think = json!({ "action": "think", "thoughts": "Why?", "next_action": "look" });
    assert_eq!(in_dialect(&scene, "react", think).await, "Noted as 1.");
    assert_eq!(in_dialect(&scene, "react", json!({ "action": "observe", "result": "So." })).await, "Noted as 2.");
    let listed = in_dialect(&scene, "react", json!({ "action": "get" })).await;
    assert_eq!(listed, "1. thought: Why?\n   next: look\n2. observation: So.");
    for (arguments, missing) in [
        (json!({ "action": "think", "thoughts": "Why?" }), "next_action"),
        (json!({ "action": "think", "next_action": "look" }), "thoughts"),
        (json!({ "action": "observe" }), "result"),
    ] {
        let told = in_dialect(&scene, "react", arguments).await;
        assert!(told.contains(&format!("needs \"{missing}\"")), "{told}");
    }
    assert!(in_dialect(&scene, "react", json!({ "action": "dance" })).await.contains("action"));
    assert!(in_dialect(&scene, "submit", json!({})).await.starts_with("The task is marked as finished"));
}

#[tokio::test]
async fn nexau_has_its_todos_its_end_its_memory_and_its_questions() {
    let scene = Scene::new().approver(ScriptedApprover::of([Verdict::AllowOnce])).dialect("nexau");
    let todos =
        json!([{ "description": "Fix", "status": "cancelled" }, { "description": "Test", "status": "pending" }]);
    assert_eq!(in_dialect(&scene, "write_todos", json!({ "todos": todos })).await, "[-] Fix\n[ ] Test\n0 of 1 done");
    assert_eq!(in_dialect(&scene, "write_todos", json!({ "todos": [] })).await, "The list is empty.");
    assert!(in_dialect(&scene, "complete_task", json!({ "result": "" })).await.contains("empty"));
    assert!(in_dialect(&scene, "complete_task", json!({ "result": { "sum": 3 } })).await.contains("finished"));
    let saved = in_dialect(&scene, "save_memory", json!({ "fact": "-- Use tabs." })).await;
    assert_eq!(saved, "Remembered in HAFT_MEMORY.md: Use tabs.");
    let asked = json!({ "questions": [{ "question": "Sure?", "type": "yesno", "multiSelect": false }] });
    assert_eq!(in_dialect(&scene, "ask_user", asked).await, "Sure?\n→ yes");
}
