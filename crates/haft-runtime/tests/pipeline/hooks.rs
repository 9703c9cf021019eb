//! Hooks refuse and rewrite, never allow, and fail closed.

use haft_contract::BoxFuture;
use haft_contract::outcome::output::ToolOutput;
use haft_runtime::hooks::{Before, Hook, HookContext, HookedCall};
use haft_testkit::scene::Scene;
use haft_testkit::snapshot;
use haft_testkit::tools::{Add, PutTool};
use serde_json::json;

/// A hook made of two functions.
struct Scripted<B, A> {
    name: &'static str,
    before: B,
    after: A,
}

impl<B, A> Hook for Scripted<B, A>
where
    B: Fn(&HookedCall) -> Before + Send + Sync,
    A: Fn(ToolOutput) -> ToolOutput + Send + Sync,
{
    fn name(&self) -> &str {
        self.name
    }

    fn before<'a>(&'a self, call: &'a HookedCall, _cx: &'a HookContext<'a>) -> BoxFuture<'a, Before> {
        Box::pin(async move { (self.before)(call) })
    }

    fn after<'a>(
        &'a self,
        _call: &'a HookedCall,
        output: ToolOutput,
        _cx: &'a HookContext<'a>,
    ) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move { (self.after)(output) })
    }
}

fn before(name: &'static str, before: impl Fn(&HookedCall) -> Before + Send + Sync + 'static) -> impl Hook {
    Scripted { name, before, after: |output| output }
}

fn after(name: &'static str, after: impl Fn(ToolOutput) -> ToolOutput + Send + Sync + 'static) -> impl Hook {
    Scripted { name, before: |_: &HookedCall| Before::Pass, after }
}

async fn added(scene: Scene) -> String {
    scene.tool(Add).told("add", json!({ "a": 1, "b": 2 })).await
}

fn wrapped(with: &'static str) -> impl Fn(ToolOutput) -> ToolOutput {
    move |output| ToolOutput::text(format!("{with}({})", output.for_model[0].text().unwrap_or_default()))
}

#[tokio::test]
async fn hooks_rewrite_input_in_order_and_output_in_reverse() {
    let add_one = |call: &HookedCall| {
        let mut arguments = call.arguments.clone();
        arguments["a"] = json!(arguments["a"].as_i64().unwrap_or(0) + 1);
        Before::Rewrite(arguments)
    };
    let double = |call: &HookedCall| {
        let mut arguments = call.arguments.clone();
        arguments["a"] = json!(arguments["a"].as_i64().unwrap_or(0) * 2);
        Before::Rewrite(arguments)
    };
    let scene = Scene::new()
        .hook(before("one", add_one))
        .hook(before("two", double))
        .hook(after("outer", wrapped("outer")))
        .hook(after("inner", wrapped("inner")));
    assert_eq!(added(scene).await, "ok: outer(inner(6))\ndid: nothing");
}

#[tokio::test]
async fn a_hook_may_refuse() {
    let scene = Scene::new().hook(before("house rules", |_| Before::Refuse("not on Sundays".into())));
    snapshot!(added(scene).await, @r#"
    refused at before_hooks (denied): The hook "house rules" refuses this call: not on Sundays.
    next: do what the hook says, or ask the user
    did: nothing
    "#);
}

#[tokio::test]
async fn a_before_hook_that_crashes_refuses() {
    let scene = Scene::new().hook(before("shaky", |_| panic!("oops")));
    snapshot!(added(scene).await, @r#"
    refused at before_hooks (denied): The hook "shaky" refuses this call: the hook crashed, so the call is not made.
    next: do what the hook says, or ask the user
    did: nothing
    "#);
}

#[tokio::test]
async fn a_rewrite_that_does_not_fit_is_refused_as_the_hooks_defect() {
    let scene = Scene::new().hook(before("clumsy", |_| Before::Rewrite(json!({ "a": "x" }))));
    snapshot!(added(scene).await, @r#"
    failed at before_hooks (bad_arguments): A hook rewrote the arguments so that they do not fit. add: $.b: expected the property "b" (a whole number), received nothing.
    add: $.a: expected a whole number, received "x".
    next: tell the user that the hook has a defect
    did: nothing
    "#);
}

#[tokio::test]
async fn an_after_hook_that_crashes_leaves_the_result_and_a_note() {
    let scene = Scene::new().hook(after("shaky", |_| panic!("oops")));
    snapshot!(added(scene).await, @r#"
    ok: 3
    [note: The hook "shaky" crashed; the result of the tool is unchanged.]
    note: The hook "shaky" crashed; the result of the tool is unchanged.
    did: nothing
    "#);
}

#[tokio::test]
async fn an_after_hook_that_crashes_at_once_leaves_the_result_too() {
    struct Early;
    impl Hook for Early {
        fn name(&self) -> &str {
            "early"
        }
        fn after<'a>(
            &'a self,
            _call: &'a HookedCall,
            _output: ToolOutput,
            _cx: &'a HookContext<'a>,
        ) -> BoxFuture<'a, ToolOutput> {
            panic!("before there is a future")
        }
    }
    let told = added(Scene::new().hook(Early)).await;
    assert!(told.starts_with("ok: 3") && told.contains("The hook \"early\" crashed"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_takes_too_long_refuses() {
    struct Slow;
    impl Hook for Slow {
        fn name(&self) -> &str {
            "slow"
        }
        fn before<'a>(&'a self, _call: &'a HookedCall, _cx: &'a HookContext<'a>) -> BoxFuture<'a, Before> {
            Box::pin(std::future::pending())
        }
    }
    assert!(added(Scene::new().hook(Slow)).await.contains("took longer than 30 s"));
}

#[tokio::test]
async fn a_hook_cannot_allow_what_a_rule_asks_about() {
    let scene = Scene::new().hook(before("generous", |call| Before::Rewrite(call.arguments.clone()))).tool(PutTool);
    let told = scene.told("put", json!({ "path": "a", "content": "x" })).await;
    assert!(told.starts_with("refused at authorize (needs_approval)"), "{told}");
}

#[tokio::test]
async fn a_hook_may_want_somebody_to_be_asked_about_what_rules_allow() {
    let asks = |_: &HookedCall| Before::Ask { why: "Sums are delicate.".into(), arguments: None };
    snapshot!(added(Scene::new().hook(before("careful", asks))).await, @r#"
    refused at authorize (needs_approval): The rule "hook:careful" asks first, and there is no one to ask. Sums are delicate.
    next: allow it in the test
    did: nothing
    "#);
}

#[tokio::test]
async fn a_hook_that_is_not_concerned_is_not_asked() {
    struct Elsewhere;
    impl Hook for Elsewhere {
        fn name(&self) -> &str {
            "elsewhere"
        }
        fn concerns(&self, tool: &str) -> bool {
            tool != "add"
        }
        fn before<'a>(&'a self, _call: &'a HookedCall, _cx: &'a HookContext<'a>) -> BoxFuture<'a, Before> {
            Box::pin(async { Before::Refuse("it was asked".into()) })
        }
    }
    assert_eq!(added(Scene::new().hook(Elsewhere)).await, "ok: 3\ndid: nothing");
}
