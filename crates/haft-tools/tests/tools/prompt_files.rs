//! Built-in tools in the words of a prompt file: what providers are told, and what a call may say.

use haft_contract::call::ToolCall;
use haft_model::lower::{ProviderDialect, ToolOffer, lower};
use haft_runtime::catalogue::catalog::Catalog;
use haft_runtime::catalogue::toolset::{ToolList, ToolsetExt};
use haft_runtime::runtime::Runtime;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::nobody;
use haft_tools::defined::prompt_file::worded;
use serde_json::json;

const GREP: &str = "<tool_prompt>
    <description>Looks for words in our sources.</description>
    <parameters>
        <parameter name='pattern' required='true'><description>What to look for.</description></parameter>
        <parameter name='mode'><enum>files</enum><enum>count</enum></parameter>
    </parameters>
</tool_prompt>";

#[tokio::test]
async fn a_built_in_tool_is_offered_and_called_in_the_words_of_its_file() {
    let own = haft_tools::all().into_iter().find(|tool| tool.spec().name == "grep").expect("it is built in");
    let (spec, problems) = worded(own.spec(), GREP);
    assert_eq!(problems, []);
    let catalog = Catalog::default();
    catalog.add(&ToolList::new("all", haft_tools::all()).worded("grep", spec)).await.expect("the words fit");

    let entry = catalog.find("grep").expect("it is there");
    let told = lower(&ToolOffer::of(entry.shown()), ProviderDialect::Anthropic).expect("it can be offered").value;
    assert_eq!(told["description"], "Looks for words in our sources.");
    assert_eq!(told["input_schema"]["properties"]["pattern"]["description"], "What to look for.");
    assert_eq!(told["input_schema"]["properties"]["mode"]["enum"], json!(["files", "count"]));

    let scene = Scene::new().file("a.txt", "one\n");
    let runtime = Runtime::new(catalog, scene.runtime().doors().clone());
    let session = runtime.session("s", nobody());
    let call = async |mode: &str| {
        let arguments = json!({ "pattern": "one", "mode": mode });
        runtime.call(&session, ToolCall::new("grep", arguments.into())).await.text()
    };
    assert!(call("count").await.contains("a.txt: 1"));
    assert!(call("content").await.contains("$.mode: expected"), "{}", call("content").await);
}
