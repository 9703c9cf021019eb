//! Who may do what: rules, questions, grants, modes.

use std::time::{Duration, Instant};

use haft_contract::BoxFuture;
use haft_policy::decision::{Class, Decision};
use haft_policy::effect_kind::EffectKind;
use haft_policy::grant::GrantScope;
use haft_policy::policy::{Mode, Policy};
use haft_policy::rule::{Pattern, Rule};
use haft_runtime::asking::approval::{ApprovalRequest, Approver, Verdict, YesToOrdinary};
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::{ScriptedApprover, nobody};
use haft_testkit::snapshot;
use haft_testkit::snapshot::told;
use haft_testkit::tools::{Misbehave, PutTool};
use serde_json::json;

fn put(scene: &Scene) -> impl Future<Output = String> {
    scene.told("put", json!({ "path": "b.rs", "content": "x" }))
}

#[tokio::test]
async fn a_write_outside_the_workspace_is_refused_before_anyone_is_asked() {
    let script = ScriptedApprover::of([Verdict::AllowOnce]);
    let scene = Scene::new().file("src/lib.rs", "fn a() {}\n").approver(script.clone()).tool(PutTool);

    let result = scene.told("put", json!({ "path": "../b.rs", "content": "x" })).await;

    snapshot!(result, @r#"
    refused at authorize (denied): The rule "changes outside" refuses this call. It would create ../b.rs, which is outside the workspace.
    next: ask the user to add that folder, or to copy the file into the workspace
    did: nothing
    "#);
    assert!(script.asked().is_empty());
    scene.assert_untouched();
}

#[tokio::test]
async fn a_change_that_nobody_answers_for_is_refused_with_the_way_to_allow_it() {
    let scene = Scene::new().tool(PutTool);
    snapshot!(put(&scene).await, @r#"
    refused at authorize (needs_approval): The rule "changes" asks first, and there is no one to ask. It would create b.rs.
    next: allow it in the test
    did: nothing
    "#);
    scene.assert_untouched();
}

/// Thinks for a while, then says yes.
struct Thinks(Duration);

impl Approver for Thinks {
    fn ask<'a>(&'a self, _request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        Box::pin(async move {
            let until = Instant::now() + self.0;
            while Instant::now() < until {
                tokio::task::yield_now().await;
            }
            Verdict::AllowOnce
        })
    }
}

#[tokio::test]
async fn the_time_that_somebody_thinks_is_not_that_of_the_call() {
    let scene = Scene::new().approver(Thinks(Duration::from_millis(400))).tool(PutTool);
    let began = Instant::now();
    let result = scene.call("put", json!({ "path": "b.rs", "content": "x" })).await;
    assert!(result.took + Duration::from_millis(400) <= began.elapsed(), "{result:?}");
}

#[tokio::test]
async fn a_yes_holds_once_and_a_grant_for_what_its_words_say() {
    let script = ScriptedApprover::of([Verdict::AllowOnce, Verdict::AllowFor(GrantScope::ChangesInside)]);
    let scene = Scene::new().approver(script.clone()).tool(PutTool);

    assert_eq!(put(&scene).await, "ok: wrote b.rs\ndid: changed b.rs");
    assert_eq!(put(&scene).await, "ok: wrote b.rs\ndid: changed b.rs");
    assert_eq!(scene.told("put", json!({ "path": "c.rs", "content": "x" })).await, "ok: wrote c.rs\ndid: changed c.rs");

    let asked = script.asked();
    assert_eq!(asked.len(), 2);
    let offers: Vec<String> = asked[1].offers.iter().map(|offer| offer.words.clone()).collect();
    assert_eq!(
        offers,
        ["all changes to b.rs in this session", "all changes to files of the workspace in this session"]
    );
    assert_eq!(asked[1].effects[0].words, "change b.rs");
    assert_eq!(asked[1].arguments, json!({ "path": "b.rs", "content": "x" }));
    assert_eq!((asked[1].tool.as_str(), asked[1].title.as_str()), ("put", "Put"));
    assert_eq!(asked[1].preview, haft_contract::plan::Preview::Text("b.rs becomes x".into()));
    assert_eq!(scene.session().grants(), [GrantScope::ChangesInside]);
}

#[tokio::test]
async fn an_answer_that_was_not_offered_is_no_yes() {
    let everything =
        GrantScope::Command { command: haft_contract::effect::CommandLine("rm -rf /".into()), folder: "".into() };
    let scene = Scene::new().approver(ScriptedApprover::of([Verdict::AllowFor(everything)])).tool(PutTool);
    assert!(put(&scene).await.contains("not one of those offered"));
    assert!(scene.session().grants().is_empty());
    scene.assert_untouched();
}

#[tokio::test]
async fn a_no_with_a_word_tells_the_model_why() {
    let scene = Scene::new()
        .approver(ScriptedApprover::of([Verdict::Refuse { note: Some("use main.rs".into()) }]))
        .tool(PutTool);
    snapshot!(put(&scene).await, @"
    refused at authorize (declined): The user said no: use main.rs
    next: do not repeat it; ask the user how to go on
    did: nothing
    ");
}

#[tokio::test]
async fn stopping_the_turn_refuses_the_call_and_cancels_the_rest() {
    let scene = Scene::new().approver(ScriptedApprover::of([Verdict::StopTurn])).tool(PutTool);
    let calls = [("put", json!({ "path": "a", "content": "x" })), ("put", json!({ "path": "b", "content": "x" }))];

    let results = scene.turn(&calls).await;

    assert!(told(&results[0]).contains("the user stopped the turn"), "{}", told(&results[0]));
    assert_eq!(results[1].status, haft_contract::outcome::result::Status::Cancelled);
    scene.assert_untouched();
    scene.session().begin_turn();
    assert!(scene.told("read_file", json!({ "path": "a" })).await.contains("missing_file"));
}

#[tokio::test]
async fn yes_to_everything_does_not_cover_the_dangerous_class() {
    let rule = Rule {
        name: "careful".into(),
        matches: Pattern::Effect(EffectKind::ChangeInside),
        decision: Decision::Ask,
        class: Class::Dangerous,
        reason: "It would {}, and that is dangerous here.".into(),
        instead: "ask the user".into(),
    };
    let yes = || YesToOrdinary::or_ask(nobody());
    let ordinary = Scene::new().approver(yes()).tool(PutTool);
    assert!(put(&ordinary).await.starts_with("ok"));
    let dangerous = Scene::new().approver(yes()).policy(Policy::default().with_rules([rule])).tool(PutTool);
    assert!(put(&dangerous).await.starts_with("refused at authorize (needs_approval)"));
}

#[tokio::test]
async fn a_rule_on_a_tool_holds_for_its_native_name_and_for_unknown_tools() {
    let deny = |name: &str| Rule {
        name: "not these".into(),
        matches: Pattern::Tool(name.into()),
        decision: Decision::Deny,
        class: Class::Ordinary,
        reason: "Nobody may {}.".into(),
        instead: "do without".into(),
    };
    let policy = Policy::default().with_rules([deny("read_file"), deny("gone")]);
    let scene = Scene::sample().policy(policy);
    assert!(scene.told("read_file", json!({ "path": "README.md" })).await.contains("The rule \"not these\" refuses"));
    assert!(scene.told("gone", json!({})).await.starts_with("refused at resolve (denied)"));
}

#[tokio::test]
async fn in_plan_mode_nothing_is_changed_whoever_says_yes() {
    let scene = Scene::new().approver(ScriptedApprover::of([Verdict::AllowOnce])).tool(PutTool);
    scene.session().set_mode(Mode::Plan);
    snapshot!(put(&scene).await, @r#"
    refused at authorize (denied): The rule "plan mode" refuses this call. It would create b.rs, and nothing is changed in plan mode.
    next: describe the change instead, and let the user leave plan mode
    did: nothing
    "#);
    scene.assert_untouched();
}

#[tokio::test]
async fn a_tool_that_does_what_it_had_not_planned_is_refused_at_the_door() {
    let scene = Scene::new().approver(ScriptedApprover::of([Verdict::AllowOnce])).tool(Misbehave);
    snapshot!(scene.told("misbehave", json!({ "how": "write_unplanned" })).await, @"
    failed at execute (bug): The tool tried to create unplanned.txt, which it had not planned.
    next: tell the user that this tool has a defect
    did: nothing
    ");
    scene.assert_untouched();
}

#[tokio::test]
async fn a_file_that_changes_while_somebody_thinks_is_stale() {
    use haft_runtime::asking::approval::{ApprovalRequest, Approver};
    struct Meddler(std::path::PathBuf);
    impl Approver for Meddler {
        fn ask<'a>(&'a self, _request: &'a ApprovalRequest) -> haft_contract::BoxFuture<'a, Verdict> {
            Box::pin(async {
                std::fs::write(&self.0, "the user's own words").expect("the file can be written");
                Verdict::AllowOnce
            })
        }
    }
    let scene = Scene::new().file("b.rs", "old").tool(PutTool);
    let path = scene.root().join("b.rs");
    let scene = scene.approver(Meddler(path));
    snapshot!(put(&scene).await, @"
    failed at execute (stale): b.rs changed after the call was planned.
    next: read the file again, then repeat the change
    did: nothing
    ");
    assert_eq!(scene.read("b.rs"), "the user's own words");
}
