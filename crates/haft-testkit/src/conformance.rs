//! Checks the rules that every tool must follow, for any list of tools.
//!
//! Each rule is one function that returns its findings; a test asserts that there are none.

use std::sync::Arc;

use haft_contract::call::CallOrigin;
use haft_contract::context::{PlanContext, ReadHistory};
use haft_contract::description::schema_rules;
use haft_contract::doors::door::ReadVersion;
use haft_contract::effect::Effect;
use haft_contract::files::path::Target;
use haft_contract::limits::Limits;
use haft_contract::tool::AnyTool;
use serde_json::{Value, json};

use crate::scene::Scene;
use crate::scripted::approver::ScriptedApprover;
use crate::scripted::web::Web;
use haft_policy::policy::Mode;
use haft_runtime::asking::approval::Verdict;

/// Checks a tool; returns a sentence for everything that is wrong.
///
/// Examples that run commands need a program that starts them: the tests of `haft-cli` run those.
pub async fn problems(tool: &Arc<dyn AnyTool>) -> Vec<String> {
    let mut problems = described(tool);
    problems.extend(path_first(tool));
    if !runs_commands(tool).await {
        problems.extend(examples_run(tool).await);
        problems.extend(plan_changes_nothing(tool).await);
    }
    problems.extend(errors_have_a_next_step(tool).await);
    problems
}

/// Plans the first example, to see whether it would run a command.
async fn runs_commands(tool: &Arc<dyn AnyTool>) -> bool {
    let Some(example) = tool.spec().manual.examples.first() else { return false };
    let scene = allowing(tool);
    let limits = Limits::default();
    let cx = PlanContext::new(scene.runtime().doors(), &NothingSeen, CallOrigin::Model, &limits);
    let Ok(mut bound) = tool.clone().bind(&example.arguments) else { return false };
    bound.plan(&cx).await.is_ok_and(|plan| plan.effects.iter().any(|effect| matches!(effect, Effect::Run(_))))
}

struct NothingSeen;

impl ReadHistory for NothingSeen {
    fn when_read(&self, _target: &Target) -> Option<ReadVersion> {
        None
    }
}

/// A tool has a title, words of some length, an example, and a schema that keeps the rules.
fn described(tool: &Arc<dyn AnyTool>) -> Vec<String> {
    let spec = tool.spec();
    let mut problems: Vec<String> = schema_rules::check(spec).iter().map(ToString::to_string).collect();
    if spec.manual.title.is_empty() {
        problems.push("the manual has no title".into());
    }
    if spec.manual.words.len() < 40 {
        problems.push("the manual is too short to be of use".into());
    }
    if spec.manual.examples.is_empty() {
        problems.push("the manual has no example".into());
    }
    problems
}

/// The path comes first in tools that have one.
fn path_first(tool: &Arc<dyn AnyTool>) -> Option<String> {
    let properties = tool.spec().input_schema.get("properties")?.as_object()?;
    let position = properties.keys().position(|name| name == "path")?;
    (position != 0).then(|| "the path is not the first parameter; move `path` to the top of `Args`".to_owned())
}

/// Every example of the manual works in the sample workspace and shows what it promises.
///
/// The doors refuse what was not planned, so an example that works has done only what it said.
async fn examples_run(tool: &Arc<dyn AnyTool>) -> Vec<String> {
    let mut problems = Vec::new();
    for example in &tool.spec().manual.examples {
        let scene = allowing(tool);
        read_first(&scene, &example.arguments).await;
        let result = scene.call(&tool.spec().name, example.arguments.clone()).await;
        let text = result.text();
        if let Some(error) = &result.error {
            problems.push(format!("the example {} fails: {}", example.arguments, error.what));
        } else if let Some(expected) = example.contains.as_ref().filter(|expected| !text.contains(*expected)) {
            problems.push(format!("the example {} does not show \"{expected}\" but:\n{text}", example.arguments));
        }
        if !result.repairs.is_empty() {
            problems.push(format!("the example {} needs repair: {:?}", example.arguments, result.repairs));
        }
    }
    problems
}

/// A model has read what it changes.
async fn read_first(scene: &Scene, arguments: &Value) {
    let several = arguments["files"].as_array().into_iter().flatten().filter_map(|file| file["path"].as_str());
    for path in several.chain(arguments["path"].as_str()) {
        scene.call("read_file", json!({ "path": path })).await;
        scene.session().begin_turn();
    }
}

/// In plan mode every example plans and nothing is different afterwards.
async fn plan_changes_nothing(tool: &Arc<dyn AnyTool>) -> Vec<String> {
    let mut problems = Vec::new();
    for example in &tool.spec().manual.examples {
        let scene = allowing(tool);
        read_first(&scene, &example.arguments).await;
        scene.session().set_mode(Mode::Plan);
        let result = scene.call(&tool.spec().name, example.arguments.clone()).await;
        if result.stopped_at.is_some_and(|stage| stage != "authorize") {
            problems.push(format!("the example {} cannot be planned: {}", example.arguments, result.text()));
        }
        scene.assert_untouched();
    }
    problems
}

/// Whatever a model sends, an error says what to do next.
async fn errors_have_a_next_step(tool: &Arc<dyn AnyTool>) -> Vec<String> {
    let mut problems = Vec::new();
    let scene = allowing(tool);
    for arguments in odd_arguments(tool) {
        let result = scene.call(&tool.spec().name, arguments.clone()).await;
        if let Some(error) = &result.error
            && (error.what.trim().is_empty() || error.next.to_string().trim().is_empty())
        {
            problems.push(format!("{arguments} fails without a next step: {error}"));
        }
    }
    problems
}

/// Wrong values for every property, and for the object as a whole.
fn odd_arguments(tool: &Arc<dyn AnyTool>) -> Vec<Value> {
    let mut odd = vec![json!({}), json!({ "no_such_argument": 1 })];
    let spec = tool.spec();
    let example = spec.manual.examples.first().map(|example| example.arguments.clone()).unwrap_or(json!({}));
    let properties = spec.input_schema.get("properties").and_then(Value::as_object);
    for name in properties.into_iter().flat_map(|properties| properties.keys()) {
        for value in [json!(null), json!(-1), json!(""), json!("\0"), json!("../../x"), json!({ "a": 1 }), json!([[]])]
        {
            let mut arguments = example.clone();
            arguments[name] = value;
            odd.push(arguments);
        }
    }
    odd
}

fn allowing(tool: &Arc<dyn AnyTool>) -> Scene {
    let answers = std::iter::repeat_n(Verdict::AllowOnce, 64);
    let scene = Scene::sample().approver(ScriptedApprover::of(answers)).web(Web::of_examples());
    let built_in = haft_tools::all().iter().any(|known| known.spec().name == tool.spec().name);
    if built_in { scene } else { scene.any_tool(tool.clone()) }
}
