//! Registering tools, and showing them in other ways.

use std::sync::Arc;

use haft_contract::BoxFuture;
use haft_contract::description::spec::Spec;
use haft_contract::prelude::*;
use haft_contract::tool::{AnyTool, ToolInvocation, Typed};
use haft_runtime::catalogue::catalog::{Catalog, CatalogError};
use haft_runtime::catalogue::entry::CatalogEntry;
use haft_runtime::catalogue::toolset::{Preset, ToolList, Toolset, ToolsetExt};
use haft_testkit::scene::Scene;
use haft_testkit::snapshot;
use haft_testkit::tools::{Add, PutTool, Swap};
use serde_json::{Value, json};

fn tools() -> ToolList {
    ToolList::new("numbers", [Arc::new(Typed::new(Add)) as Arc<dyn AnyTool>, Arc::new(Typed::new(PutTool))])
}

async fn names(toolset: impl Toolset) -> Result<Vec<String>, CatalogError> {
    let catalog = Catalog::default();
    catalog.add(&toolset).await?;
    Ok(catalog.list().iter().map(|entry| entry.shown().name.clone()).collect())
}

async fn problem(toolset: impl Toolset) -> String {
    names(toolset).await.expect_err("it has a problem").to_string()
}

fn preset(values: Value) -> serde_json::Map<String, Value> {
    values.as_object().cloned().unwrap_or_default()
}

#[tokio::test]
async fn wrappers_change_what_is_shown() {
    assert_eq!(names(tools().only(["add"])).await, Ok(vec!["add".into()]));
    assert_eq!(names(tools().without(["add"])).await, Ok(vec!["put".into()]));
    assert_eq!(names(tools().prefixed("fs_")).await, Ok(vec!["fs_add".into(), "fs_put".into()]));
    assert_eq!(names(tools().renamed("add", "sum")).await, Ok(vec!["sum".into(), "put".into()]));
    assert_eq!(names(tools().only(["put"]).prefixed("x_")).await, Ok(vec!["x_put".into()]));
}

#[tokio::test]
async fn a_wrapper_that_names_nothing_is_an_error_with_the_nearest_name() {
    snapshot!(problem(tools().without(["ad"])).await, @r#"toolset "numbers": there is no tool "ad" in it; did you mean "add"?"#);
    snapshot!(problem(tools().renamed("nothing_like_it", "x")).await, @r#"toolset "numbers": there is no tool "nothing_like_it" in it; it has add, put"#);
}

fn in_other_words(change: impl FnOnce(&mut Value)) -> Spec {
    let own = Typed::new(Add).spec().clone();
    let mut schema = (*own.input_schema).clone();
    schema["properties"]["a"]["description"] = json!("One of two.");
    change(&mut schema);
    Spec { manual: Manual::plain("add", "Sums up."), input_schema: Arc::new(schema), ..own }
}

#[tokio::test]
async fn a_tool_is_shown_in_other_words_and_judged_by_what_is_shown() {
    let catalog = Catalog::default();
    let spec = in_other_words(|schema| schema["properties"]["a"]["enum"] = json!([1, 2]));
    let list = tools().worded("add", spec).renamed("add", "sum");
    catalog.add(&list).await.expect("the words fit");
    let entry = catalog.find("sum").expect("it is there");
    assert_eq!((entry.shown().manual.words.as_str(), entry.native_name()), ("Sums up.", "add"));
    let fits = |a: i64| entry.fit(haft_contract::call::RawArguments::Text(json!({ "a": a, "b": 0 }).to_string()));
    assert!(fits(2).is_ok());
    let error = fits(3).expect_err("3 is not offered");
    assert!(error.what.starts_with("sum: $.a: expected "), "{}", error.what);
}

#[tokio::test]
async fn words_for_other_arguments_are_refused() {
    let more = in_other_words(|schema| schema["properties"]["c"] = json!({ "type": "string" }));
    snapshot!(problem(tools().worded("add", more)).await, @r#"toolset "numbers": the description of "add" has the argument "c" in another form than the tool; make it from the tool as it is shown, before presets"#);
    let less = in_other_words(|schema| schema["required"] = json!(["a"]));
    snapshot!(problem(tools().worded("add", less)).await, @r#"toolset "numbers": the description of "add" has the argument "b" in another form than the tool; make it from the tool as it is shown, before presets"#);
    let same = || in_other_words(|_| {});
    let hidden = tools().preset("add", Preset::Fixed(preset(json!({ "b": 1 })))).worded("add", same());
    assert!(problem(hidden).await.contains("the argument \"b\" in another form"));
    let before = tools().worded("add", same()).preset("add", Preset::Fixed(preset(json!({ "b": 1 }))));
    assert_eq!(names(before).await, Ok(vec!["add".into(), "put".into()]));
    assert!(problem(tools().worded("ad", same())).await.contains("did you mean \"add\"?"));
}

#[tokio::test]
async fn a_clash_names_both_and_the_cure_and_leaves_the_catalogue_as_it_was() {
    let catalog = Catalog::default();
    catalog.add(&tools()).await.expect("the first goes in");
    let both: [Arc<dyn AnyTool>; 2] = [Arc::new(Typed::new(Swap)), Arc::new(Typed::new(PutTool))];
    let other = ToolList::new("others", both);
    snapshot!(catalog.add(&other).await.expect_err("the second does not").to_string(), @r#"two tools are called "put": one from numbers, one from others; show one of them under another name (`renamed`, `prefixed`), leave one out (`without`), or replace the first (`replace`)"#);
    assert_eq!(catalog.len(), 2);
    catalog.replace(Arc::new(Typed::new(PutTool))).expect("a replacement is explicit");
    catalog.unregister("put").expect("it is there");
    catalog.add(&other).await.expect("now the name is free");
    snapshot!(catalog.unregister("putt").expect_err("no such tool").to_string(), @r#"there is no tool "putt" to remove; did you mean "put"?"#);
}

#[tokio::test]
async fn a_description_that_breaks_a_rule_is_not_registered() {
    struct Shapeless(Spec);
    impl AnyTool for Shapeless {
        fn spec(&self) -> &Spec {
            &self.0
        }
        fn bind(
            self: Arc<Self>,
            _args: &Value,
        ) -> Result<Box<dyn ToolInvocation>, haft_contract::outcome::error::ToolError> {
            unreachable!("it is never registered")
        }
    }
    let catalog = Catalog::default();
    let tool =
        Shapeless(Spec::new("shapeless", Manual::plain("shapeless", "Has no shape."), json!({ "type": "array" })));
    snapshot!(catalog.register(Arc::new(tool)).expect_err("its root is no object").to_string(), @r#"tool "shapeless": #: the root of the schema is an object; set "type": "object" at the root"#);
    assert!(catalog.is_empty());
}

#[tokio::test]
async fn a_default_preset_is_shown_and_a_fixed_one_hidden() {
    let list = tools()
        .preset("add", Preset::Default(preset(json!({ "a": 1 }))))
        .preset("add", Preset::Fixed(preset(json!({ "b": 2 }))));
    let entries = list.list().await.expect("the presets fit");
    let schema = &entries[0].shown().input_schema;
    assert_eq!(
        **schema,
        json!({
            "type": "object",
            "properties": { "a": { "type": "integer", "description": "First number.", "default": 1 } },
            "required": [],
            "additionalProperties": false
        })
    );
}

#[tokio::test]
async fn a_preset_must_name_an_argument_and_fit_it() {
    snapshot!(problem(tools().preset("put", Preset::Fixed(preset(json!({ "pth": "x" }))))).await, @r#"toolset "numbers": the preset "pth" is not an argument of "put"; did you mean "path"?"#);
    snapshot!(problem(tools().preset("add", Preset::Default(preset(json!({ "a": "x" }))))).await, @r#"toolset "numbers": the preset "a" of "add" does not fit; give a whole number"#);
}

#[tokio::test]
async fn a_preset_may_be_one_that_the_schema_describes_elsewhere() {
    struct Referring(Spec);
    impl AnyTool for Referring {
        fn spec(&self) -> &Spec {
            &self.0
        }
        fn bind(
            self: Arc<Self>,
            _args: &Value,
        ) -> Result<Box<dyn ToolInvocation>, haft_contract::outcome::error::ToolError> {
            unreachable!("it is never called")
        }
    }
    let schema = json!({ "type": "object", "properties": { "a": { "description": "A.", "$ref": "#/$defs/a" } },
        "$defs": { "a": { "type": "integer" } }, "required": ["a", "b"] });
    let list = |value: Value| {
        let spec = Spec::new("refers", Manual::plain("refers", "Refers."), schema.clone());
        ToolList::new("t", [Arc::new(Referring(spec)) as Arc<dyn AnyTool>])
            .preset("refers", Preset::Fixed(preset(json!({ "a": value }))))
    };
    assert!(list(json!(5)).list().await.is_ok());
    let told = list(json!("x")).list().await.err().map(|error| error.to_string());
    assert_eq!(
        told.as_deref(),
        Some("toolset \"t\": the preset \"a\" of \"refers\" does not fit; give a whole number")
    );
}

/// A runtime over a wrapped toolset, with doors that lead nowhere.
async fn called(toolset: impl Toolset, tool: &str, arguments: Value) -> String {
    let scene = haft_testkit::scene::Scene::new();
    let catalog = Catalog::default();
    catalog.add(&toolset).await.expect("the toolset is in order");
    let runtime = haft_runtime::runtime::Runtime::new(catalog, scene.runtime().doors().clone());
    let session = runtime.session("s", haft_testkit::scripted::approver::nobody());
    let call = haft_contract::call::ToolCall::new(tool, haft_contract::call::RawArguments::from(arguments));
    haft_testkit::snapshot::told(&runtime.call(&session, call).await)
}

#[tokio::test]
async fn presets_are_filled_in_and_only_defaults_can_be_overridden() {
    let list = || {
        tools()
            .preset("add", Preset::Default(preset(json!({ "a": 1 }))))
            .preset("add", Preset::Fixed(preset(json!({ "b": 20 }))))
    };
    assert_eq!(called(list(), "add", json!({})).await, "ok: 21\ndid: nothing");
    assert_eq!(called(list(), "add", json!({ "a": 3 })).await, "ok: 23\ndid: nothing");
    assert!(called(list(), "add", json!({ "b": 5 })).await.starts_with("failed at prepare (bad_arguments)"));
}

#[tokio::test]
async fn errors_speak_of_tools_by_the_names_they_are_shown_under() {
    let list = ToolList::new("files", haft_tools::all()).prefixed("fs_");
    let told = called(list, "fs_read_file", json!({ "path": "." })).await;
    assert!(told.contains("call \"fs_list_dir\""), "{told}");
}

#[tokio::test]
async fn tools_that_swapped_names_are_told_apart() {
    let list = || ToolList::new("files", haft_tools::all());
    let swapped = list().renamed("read_file", "x").renamed("list_dir", "read_file").renamed("x", "list_dir");
    let told = called(swapped, "list_dir", json!({ "path": "." })).await;
    assert!(told.contains("call \"read_file\" to see what is in it"), "{told}");
}

#[tokio::test]
async fn calls_that_differ_only_in_what_is_fixed_are_different_calls() {
    let tools = || ToolList::new("files", haft_tools::all());
    let catalog = Catalog::default();
    for (name, path) in [("read_a", "a"), ("read_b", "b")] {
        let fixed = Preset::Fixed(preset(json!({ "path": path })));
        let list = tools().only(["read_file"]).preset("read_file", fixed).renamed("read_file", name);
        catalog.add(&list).await.expect("the names differ");
    }
    let scene = haft_testkit::scene::Scene::new().file("a", "1").file("b", "2");
    let runtime = haft_runtime::runtime::Runtime::new(catalog, scene.runtime().doors().clone());
    let session = runtime.session("s", haft_testkit::scripted::approver::nobody());
    for (name, text) in [("read_a", "1\t1"), ("read_b", "1\t2")] {
        let result = runtime.call(&session, haft_contract::call::ToolCall::new(name, json!({}).into())).await;
        assert!(result.text().contains(text), "{}", result.text());
    }
}

#[tokio::test]
async fn a_toolset_may_be_listed_later_and_fail() {
    struct Broken;
    impl Toolset for Broken {
        fn name(&self) -> &str {
            "broken"
        }
        fn list(
            &self,
        ) -> BoxFuture<
            '_,
            Result<Vec<haft_runtime::catalogue::entry::CatalogEntry>, haft_runtime::catalogue::toolset::ToolsetError>,
        > {
            Box::pin(async {
                Err(haft_runtime::catalogue::toolset::ToolsetError {
                    toolset: "broken".into(),
                    what: "it is away".into(),
                    fix: "wait".into(),
                })
            })
        }
    }
    assert_eq!(problem(Broken).await, "toolset \"broken\": it is away; wait");
}

/// A tool that few tasks need.
struct Rare;

impl Tool for Rare {
    const NAME: &'static str = "rare";
    const DEFERRED: bool = true;
    type Args = NoArguments;
    type Draft = ();

    fn manual(&self) -> Manual {
        Manual::plain("Rare", "Answers what few tasks ask.")
    }

    async fn plan(&self, _args: &NoArguments, _cx: &PlanContext<'_>) -> Result<(Plan, ()), ToolError> {
        Ok((Plan::new([]), ()))
    }

    async fn run(&self, _args: NoArguments, _draft: (), _cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("rare indeed"))
    }
}

#[derive(Deserialize, JsonSchema)]
struct NoArguments {}

#[tokio::test]
async fn a_deferred_tool_is_not_listed_and_its_name_works_all_the_same() {
    let scene = Scene::new().tool(Rare);
    let catalog = scene.runtime().catalog();
    let names = |list: Vec<Arc<CatalogEntry>>| list.iter().map(|entry| entry.shown().name.clone()).collect::<Vec<_>>();
    assert!(!names(catalog.list()).contains(&"rare".to_owned()));
    assert!(names(catalog.list_all()).contains(&"rare".to_owned()));
    let before = catalog.len();

    assert_eq!(scene.told("rare", json!({})).await, "ok: rare indeed\ndid: nothing");

    catalog.show("rare").expect("there is such a tool");
    assert_eq!(names(catalog.list()).last().map(String::as_str), Some("rare"));
    assert_eq!(catalog.len(), before + 1);
    let problem = catalog.show("rar").expect_err("there is no such tool").to_string();
    assert_eq!(problem, "there is no tool \"rar\" to show; did you mean \"rare\"?");
}

#[tokio::test]
async fn a_tool_of_the_user_takes_the_name_of_a_deferred_one() {
    let catalog = Catalog::default();
    catalog
        .add_list(ToolList::new("the built-in tools", [Arc::new(Typed::new(Rare)) as Arc<dyn AnyTool>]))
        .expect("one");
    let own = ToolList::new("mine", [Arc::new(Typed::new(Add)) as Arc<dyn AnyTool>]).renamed("add", "rare");
    catalog.add(&own).await.expect("the deferred one gives way");
    assert_eq!(catalog.find("rare").expect("it is there").native_name(), "add");
    assert_eq!(catalog.list_all().len(), 1);
    assert!(catalog.add(&own).await.is_err(), "a listed one does not");
}
