//! Runs cases about tools that files describe.

use std::sync::{Arc, Mutex};

use haft_contract::call::ToolCall;
use haft_contract::tool::AnyTool;
use haft_model::lower::{ProviderDialect, ToolOffer, lower};
use haft_runtime::asking::approval::Nobody;
use haft_runtime::catalogue::catalog::Catalog;
use haft_runtime::catalogue::toolset::{Preset, ToolList, ToolsetExt};
use haft_runtime::runtime::Runtime;
use haft_testkit::scene::Scene;
use haft_tools::defined::definition::{Definition, DefinitionProblem, check_list};
use serde_json::{Map, Value, json};

use crate::case::{Case, Ran};
use crate::custom::{Act, Custom};
use crate::meanings::found;

/// Loads the definition of a case.
pub(crate) fn load_tool(case: &Case) -> Ran {
    loaded(Definition::from_value(case.given["yaml"].clone()).map(drop))
}

/// Loads a list of tools with the line of a case among its presets; no variable is set.
pub(crate) fn load_config(case: &Case) -> Ran {
    let preset = case.given["yaml"].as_str().expect("a line of YAML");
    let text = format!("tools:\n  - name: t\n    yaml_path: t.yaml\n    extra_kwargs:\n      {preset}\n");
    let problems = check_list(&text, &|_| None).problems;
    loaded(if problems.is_empty() { Ok(()) } else { Err(problems) })
}

fn loaded(outcome: Result<(), Vec<DefinitionProblem>>) -> Ran {
    let status = if outcome.is_ok() { "ok" } else { "failed" };
    let told: Vec<String> = outcome.err().into_iter().flatten().map(|problem| problem.what).collect();
    Ran { records: vec![json!({ "status": status, "content": told.join("\n") })], ..Ran::default() }
}

/// Shows the definition of a case to providers.
pub(crate) fn shown(case: &Case) -> Ran {
    let spec = Definition::from_value(case.given["yaml"].clone()).expect("nothing is wrong with it").spec();
    let to = |provider| lower(&ToolOffer::of(&spec), provider).expect("it can be offered").value;
    let facts = [("openai", to(ProviderDialect::OpenAi)), ("anthropic", to(ProviderDialect::Anthropic))];
    Ran { facts: facts.map(|(name, value)| (name.to_owned(), value)).into_iter().collect(), ..Ran::default() }
}

/// Calls a tool that has presets, and notes what it got.
pub(crate) async fn preset(case: &Case) -> Ran {
    let words = Case::word(&case.given, "tool");
    let [name, parameters, key, value] = found(r"^(\w+)\(([\w,]+)\); extra_kwargs \{(\w+): '(.*)'\}$", words)
        .unwrap_or_else(|| panic!("{}: \"{words}\" has no meaning yet", case.id));
    let described = |parameter: &str| (parameter.to_owned(), json!({ "description": "A value." }));
    let properties: Map<String, Value> = parameters.split(',').map(described).collect();
    let yaml =
        json!({ "name": name, "description": "d", "input_schema": { "type": "object", "properties": properties } });
    let definition = Definition::from_value(yaml).expect("nothing is wrong with it");
    let list =
        format!("tools: [{{name: {name}, yaml_path: t.yaml, binding: 'm:f', extra_kwargs: {{{key}: '{value}'}}}}]");
    let (_, presets) = check_list(&list, &|_| None).listed[0].apply(definition).expect("the presets fit");
    let seen = Arc::<Mutex<Vec<Value>>>::default();
    let tool: Arc<dyn AnyTool> = Arc::new(Custom::new(name, properties.into(), Act::Echo(seen.clone())));
    let tools = ToolList::new("files", [tool]).preset(name, Preset::Default(presets.default));
    let catalog = Catalog::default();
    catalog.add(&tools).await.expect("the presets fit");
    let runtime = Runtime::new(catalog, Scene::new().runtime().doors().clone());
    let session = runtime.session("s", Nobody::there(""));
    for step in case.steps() {
        let said = step.as_str().expect("a step in words");
        let [given] = found(r"^call \{q:1(?:, base_url:'(.*)')?\}$", said).unwrap_or_default();
        let mut arguments = json!({ "q": 1 });
        if !given.is_empty() {
            arguments["base_url"] = given.into();
        }
        runtime.call(&session, ToolCall::new(name, arguments.into())).await;
        session.begin_turn();
    }
    let seen: Vec<Value> = seen.lock().expect("nobody broke down with it").iter().map(|got| got[key].clone()).collect();
    Ran { facts: Map::from_iter([(format!("seen_{key}"), seen.into())]), ..Ran::default() }
}
