//! Results are bounded, whole outputs are kept, secrets are hidden at every exit.

use haft_contract::tool::AnyTool;
use haft_runtime::events::CallEventContent;
use haft_runtime::record;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::ScriptedApprover;
use haft_testkit::tools::{Misbehave, PutTool, WaitTool};
use serde_json::json;

#[tokio::test]
async fn a_long_result_keeps_head_and_tail_and_the_whole_can_be_paged() {
    let scene = Scene::new().tool(Misbehave).limits(|limits| {
        limits.result_whole = 2_000;
        limits.result_head = 1_000;
        limits.result_tail = 500;
    });
    let result = scene.call("misbehave", json!({ "how": "flood" })).await;
    let text = result.text();
    assert!(text.len() < 2_000, "{}", text.len());
    assert!(text.starts_with("line 1\n") && text.ends_with("line 100000\n"), "{text}");
    let id = result.spilled.expect("the whole output was kept");
    assert!(text.contains(&format!("at path=\"spill:{id}\", go on with offset=")), "{text}");

    let rest = scene.call("read_file", json!({ "path": format!("spill:{id}"), "offset": 50_000, "limit": 1 })).await;
    assert!(rest.text().contains(" 50000\tline 50000"), "{}", rest.text());

    let other = scene.another_session("other");
    let call = haft_contract::call::ToolCall::new("read_file", json!({ "path": format!("spill:{id}") }).into());
    let foreign = scene.runtime().call(&other, call).await;
    assert!(foreign.text().contains("There is no kept output"), "a session reads only its own: {}", foreign.text());
}

#[tokio::test]
async fn one_endless_line_is_cut_as_well() {
    let scene = Scene::new().tool(Misbehave).limits(|limits| {
        limits.line_length = 40_000;
        limits.result_whole = 3_500;
        limits.result_head = 2_500;
        limits.result_tail = 1_000;
    });
    let result = scene.call("misbehave", json!({ "how": "endless_line" })).await;
    let text = result.text();
    assert!(text.chars().count() < 3_800 && text.contains("bytes left out"), "{}", text.chars().count());
}

#[tokio::test]
async fn every_part_of_one_endless_line_can_be_read_page_by_page() {
    let scene = Scene::new().tool(Misbehave).limits(|limits| {
        limits.line_length = 100;
        limits.result_whole = 400;
        limits.result_head = 300;
        limits.result_tail = 100;
    });
    let result = scene.call("misbehave", json!({ "how": "endless_line" })).await;
    let id = result.spilled.clone().expect("it was too long to show");
    assert!(result.text().contains("go on with offset=3"), "{}", result.text());
    let mut read = String::new();
    for offset in 1..=50 {
        let page =
            scene.call("read_file", json!({ "path": format!("spill:{id}"), "offset": offset, "limit": 1 })).await;
        let text = page.text();
        read.extend(text.lines().next().and_then(|line| line.split_once('\t')).map(|(_, text)| text.to_owned()));
    }
    assert_eq!(read, "0123456789".repeat(500));
}

#[tokio::test]
async fn a_secret_leaves_by_no_exit() {
    const SECRET: &str = "correct-horse-battery";
    let wait = WaitTool::default();
    wait.signs.go(1);
    let script = ScriptedApprover::default();
    let scene = Scene::new()
        .file("a", format!("token = {SECRET}\n"))
        .secret(SECRET)
        .approver(script.clone())
        .tool(PutTool)
        .tool(wait);
    let mut events = scene.runtime().events().subscribe();

    let read = scene.call("read_file", json!({ "path": "a" })).await;
    let asked = scene.call("put", json!({ "path": format!("b-{SECRET}"), "content": SECRET })).await;
    scene.call(SECRET, json!({ SECRET: 1 })).await;
    scene.call("wait", json!({ "say": format!("chunk {SECRET}\n") })).await;
    let missing = scene.call("read_file", json!({ "path": SECRET })).await;
    let unread = scene.call_text("read_file", &format!("{{\"path\": {SECRET}")).await;

    assert!(read.text().contains("token = [secret]"), "{}", read.text());
    let mut seen = Vec::new();
    while let Some(event) = events.try_next() {
        if let CallEventContent::ApprovalAsked(request) = &event.what {
            let words: Vec<&str> = request.offers.iter().map(|offer| offer.words.as_str()).collect();
            seen.push(format!(
                "{} {:?} {words:?}",
                request.arguments,
                (&request.effects, &request.preview, &request.ruling)
            ));
        }
        seen.push(record::of_event(&event).to_string());
    }
    for result in [&read, &asked, &missing, &unread] {
        seen.push(record::of_result(result).to_string());
    }
    assert!(seen.iter().any(|text| text.contains(r#""event":"output_chunk""#) && text.contains("chunk [secret]")));
    for text in seen {
        assert!(!text.contains(SECRET), "{text}");
    }
}

#[tokio::test]
async fn words_for_the_person_do_not_reach_the_model() {
    let yes = haft_runtime::asking::approval::YesToOrdinary::or_ask(haft_testkit::scripted::approver::nobody());
    let scene = Scene::new().tool(Misbehave).tool(PutTool).approver(yes);
    let failed = scene.call("misbehave", json!({ "how": "fail" })).await;
    assert_eq!(failed.error.as_ref().and_then(|error| error.detail.as_deref()), Some("the innards of the tool"));
    let written = scene.call("put", json!({ "path": "a", "content": "x" })).await;
    assert_eq!(written.default_summary(3), ["a: 1 lines"]);
    for result in [failed, written] {
        let record = record::of_result(&result).to_string();
        assert!(!record.contains("innards") && !record.contains("1 lines"), "{record}");
    }
}

#[tokio::test]
async fn a_secret_across_the_cut_of_a_line_is_hidden_as_a_whole() {
    const SECRET: &str = "correct-horse-battery";
    let line = format!("{}{SECRET}{}\nshort\n", "x".repeat(90), "y".repeat(5_000));
    let scene = Scene::new().file("a", line).secret(SECRET).limits(|limits| limits.line_length = 100);
    let text = scene.call("read_file", json!({ "path": "a" })).await.text();
    assert!(text.contains(&format!("{}[secret]yy [… ", "x".repeat(90))), "{text}");
    assert!(text.contains("     2\tshort\n"), "{text}");
}

#[tokio::test]
async fn data_that_is_too_large_is_left_out_and_said_so() {
    use haft_contract::outcome::error::ToolError;
    struct Big(haft_contract::description::spec::Spec);
    impl AnyTool for Big {
        fn spec(&self) -> &haft_contract::description::spec::Spec {
            &self.0
        }
        fn bind(
            self: std::sync::Arc<Self>,
            _args: &serde_json::Value,
        ) -> Result<Box<dyn haft_contract::tool::ToolInvocation>, ToolError> {
            Ok(Box::new(BigCall))
        }
    }
    struct BigCall;
    impl haft_contract::tool::ToolInvocation for BigCall {
        fn plan<'a>(
            &'a mut self,
            _cx: &'a haft_contract::context::PlanContext<'a>,
        ) -> haft_contract::BoxFuture<'a, Result<haft_contract::plan::Plan, ToolError>> {
            Box::pin(async { Ok(haft_contract::plan::Plan::nothing()) })
        }
        fn run<'a>(
            self: Box<Self>,
            _cx: &'a haft_contract::context::RunContext<'a>,
        ) -> haft_contract::BoxFuture<'a, Result<haft_contract::outcome::output::ToolOutput, ToolError>> {
            Box::pin(async {
                Ok(haft_contract::outcome::output::ToolOutput::text("big").with_data(json!(vec![0; 1_000_000])))
            })
        }
    }
    let schema = haft_contract::description::schema::object([]);
    let spec = haft_contract::description::spec::Spec::new(
        "big",
        haft_contract::description::manual::Manual::plain("big", "Returns a lot."),
        schema,
    );
    let result = Scene::new().any_tool(std::sync::Arc::new(Big(spec))).call("big", json!({})).await;
    assert!(result.data.is_none());
    assert!(result.text().contains("was left out"), "{}", result.text());
}
