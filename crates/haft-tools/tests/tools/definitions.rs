//! Tools of definition files in the catalogue: what is shown, what fits, and who may say what.

use std::sync::Arc;

use haft_contract::BoxFuture;
use haft_contract::call::{RawArguments, ToolCall};
use haft_contract::context::{PlanContext, RunContext};
use haft_contract::description::spec::Spec;
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::output::ToolOutput;
use haft_contract::plan::Plan;
use haft_contract::tool::{AnyTool, ToolInvocation};
use haft_model::lower::{ProviderDialect, ToolOffer, lower};
use haft_runtime::catalogue::catalog::Catalog;
use haft_runtime::catalogue::entry::CatalogEntry;
use haft_runtime::catalogue::toolset::{Preset, ToolList, Toolset, ToolsetExt};
use haft_runtime::runtime::Runtime;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::nobody;
use haft_tools::defined::definition::{Definition, check, check_list, is_list};
use serde_json::{Value, json};

/// A tool that answers with the arguments that reach it.
struct Echo(Spec);

struct Echoed(Value);

impl AnyTool for Echo {
    fn spec(&self) -> &Spec {
        &self.0
    }

    fn bind(self: Arc<Self>, args: &Value) -> Result<Box<dyn ToolInvocation>, ToolError> {
        Ok(Box::new(Echoed(args.clone())))
    }
}

impl ToolInvocation for Echoed {
    fn plan<'a>(&'a mut self, _cx: &'a PlanContext<'a>) -> BoxFuture<'a, Result<Plan, ToolError>> {
        Box::pin(async { Ok(Plan::nothing()) })
    }

    fn run<'a>(self: Box<Self>, _cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { Ok(ToolOutput::text(self.0.to_string())) })
    }
}

const API: &str = "
name: api
description: Asks a server.
binding: mypkg.tools:api
input_schema:
  type: object
  properties:
    base_url: {type: string, description: Where the server is.}
    q: {type: integer}
";

fn entry(yaml: &str) -> CatalogEntry {
    CatalogEntry::of(Arc::new(Echo(Definition::from_yaml(yaml).expect("nothing is wrong with it").spec())))
}

/// Calls the tool of a definition with what a list gives it beforehand.
async fn called(kwargs: &str, arguments: Value) -> String {
    let text = format!("tools: [{{name: api, yaml_path: api.yaml, extra_kwargs: {kwargs}}}]");
    let list = check_list(&text, &|name| (name == "KEY").then(|| "s3cr3t".to_owned()));
    let definition = Definition::from_yaml(API).expect("nothing is wrong with it");
    let (definition, presets) = list.listed[0].apply(definition).expect("the presets fit");
    let tools = ToolList::new("files", [Arc::new(Echo(definition.spec())) as Arc<dyn AnyTool>])
        .preset("api", Preset::Default(presets.default))
        .preset("api", Preset::Fixed(presets.fixed));
    let entries = tools.list().await.expect("the presets fit");
    assert_eq!(entries.len(), 1);
    let catalog = Catalog::default();
    catalog.add(&tools).await.expect("a property without words is no obstacle");
    let scene = Scene::new();
    let runtime = Runtime::new(catalog, scene.runtime().doors().clone());
    let session = runtime.session("s", nobody());
    let result = runtime.call(&session, ToolCall::new("api", arguments.into())).await;
    result.text().lines().next().unwrap_or_default().to_owned()
}

#[test]
fn an_empty_schema_is_shown_to_openai_and_anthropic_as_an_object() {
    let spec = Definition::from_yaml("name: t\ndescription: d\ninput_schema: {}").expect("nothing is wrong").spec();
    let shown = |provider| lower(&ToolOffer::of(&spec), provider).expect("it can be offered").value;
    let parameters = json!({ "type": "object", "properties": {} });
    assert_eq!(
        shown(ProviderDialect::OpenAi),
        json!({ "type": "function", "function": { "name": "t", "description": "d", "parameters": parameters } })
    );
    assert_eq!(
        shown(ProviderDialect::Anthropic),
        json!({ "name": "t", "description": "d", "input_schema": parameters })
    );
}

#[tokio::test]
async fn arguments_of_a_call_override_presets() {
    let preset = "{base_url: 'https://a.example'}";
    assert_eq!(called(preset, json!({ "q": 1 })).await, r#"{"q":1,"base_url":"https://a.example"}"#);
    let other = json!({ "q": 1, "base_url": "https://b.example" });
    assert_eq!(called(preset, other).await, r#"{"q":1,"base_url":"https://b.example"}"#);
}

#[tokio::test]
async fn what_comes_from_the_environment_cannot_be_overridden_and_nothing_beside_it() {
    let secret = "{base_url: 'https://${env.KEY}.example', q: 2}";
    let told = called(secret, json!({ "base_url": "https://b.example" })).await;
    assert!(told.contains("api: $.base_url: ") && !told.contains("s3cr3t"), "{told}");
    assert_eq!(called(secret, json!({})).await, r#"{"base_url":"https://s3cr3t.example","q":2}"#);
}

#[test]
fn arguments_are_validated_and_coerced_without_a_call() {
    let entry = entry(API);
    let fitted = entry.fit(RawArguments::Text(r#"{"q": "5", "Base-Url": "x"}"#.into())).expect("there is one reading");
    assert_eq!(fitted.arguments, json!({ "q": 5, "base_url": "x" }));
    assert_eq!(fitted.repairs.len(), 2, "{:?}", fitted.repairs);

    let error = entry.fit(json!({ "q": "five" }).into()).expect_err("that is no number");
    assert_eq!(error.what, "api: $.q: expected a whole number, received \"five\".");
}

#[test]
fn an_argument_that_the_schema_does_not_name_is_refused() {
    let error = entry(API).fit(json!({ "qq": 1, "colour": "red" }).into()).expect_err("they are unknown");
    assert!(error.what.contains("colour"), "{}", error.what);
    let open = format!("{API}  additionalProperties: true\n");
    assert!(entry(&open).fit(json!({ "colour": "red" }).into()).is_ok(), "a schema may leave it open");
    let free = "name: t\ndescription: d\ninput_schema: {type: object}";
    assert!(entry(free).fit(json!({ "colour": "red" }).into()).is_ok(), "one without properties names none");
}

#[test]
fn the_examples_of_the_guide_are_in_order() {
    let guide = include_str!("../../../../docs/guide/definitions.md");
    let blocks: Vec<&str> = guide.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 7);
    for block in blocks {
        let problems = match is_list(block) {
            true => check_list(block, &|name| Some(name.to_owned())).problems,
            false => check(block).problems,
        };
        assert_eq!(problems, [], "{block}");
    }
}
