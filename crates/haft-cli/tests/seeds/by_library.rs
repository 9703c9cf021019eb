//! Runs what only the library can do: custom tools, hooks, subscribers, what is asked, what is remembered.

use std::sync::{Arc, Mutex};

use haft_config::profile::Profile;
use haft_contract::BoxFuture;
use haft_contract::call::{RawArguments, ToolCall};
use haft_contract::files::path::RawPath;
use haft_contract::outcome::output::ToolOutput;
use haft_contract::plan::Preview;
use haft_contract::text::diff::render_file_diff;
use haft_runtime::asking::approval::{Nobody, YesToOrdinary};
use haft_runtime::catalogue::catalog::Catalog;
use haft_runtime::hooks::{Before, Hook, HookContext, HookedCall};
use haft_runtime::record;
use haft_testkit::commands::ScriptedCommand;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::ScriptedApprover;
use serde_json::{Map, Value, json};

use crate::case::{Case, Ran};
use crate::custom::{Act, AtMost, Custom};
use crate::definitions;
use crate::meanings::{Step, argument, content, found, step};

/// Returns whether a case needs the library.
pub(crate) fn is_meant(case: &Case) -> bool {
    let needs =
        ["custom_tool", "binding", "schema", "before", "tool"].iter().any(|name| case.given.contains_key(*name));
    let operates = case.steps().iter().any(|step| step.get("op").is_some());
    needs || operates || case.then.contains_key("effective_seconds")
}

/// Runs a case.
pub(crate) fn run(case: &Case) -> Option<Ran> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("there is room for one");
    Some(runtime.block_on(run_in(case)))
}

async fn run_in(case: &Case) -> Ran {
    match Case::word(&case.when, "op") {
        "" if case.given.contains_key("tool") => definitions::preset(case).await,
        "" => calls(case).await,
        "load tool" => definitions::load_tool(case),
        "load agent config" => definitions::load_config(case),
        "to_openai, to_anthropic" => definitions::shown(case),
        "render_diff" => diff(case),
        "build confirmation for write_file" => confirmation(case).await,
        "two subscribers, first throws; later unsubscribe the second" => subscribers(case).await,
        "register dummy twice" => registered_twice(case),
        "one turn: s, s, p, p" => one_turn(case).await,
        other => panic!("{}: \"{other}\" has no meaning yet", case.id),
    }
}

/// A scene in the dialect and profile of the case, where ordinary questions have a yes.
fn scene(case: &Case) -> Scene {
    let profile = Profile::named(case.dialect()).expect("every dialect has its profile");
    let scene = Scene::new().dialect(case.dialect()).limits(|limits| *limits = profile.limits());
    let files = case.given.get("files").and_then(Value::as_object).into_iter().flatten();
    let scene = files
        .fold(scene, |scene, (name, words)| scene.file(name, content(words.as_str().expect("content is text")).bytes));
    scene.approver(YesToOrdinary::or_ask(Nobody::there("ask")))
}

/// Makes the calls of a case, with the tools and hooks that it is given.
async fn calls(case: &Case) -> Ran {
    let (seen, command) = (Arc::<Mutex<Vec<Value>>>::default(), ScriptedCommand::default());
    let mut scene = scene(case).command(&command);
    if let Some(tool) = tool(case, &seen) {
        scene = scene.any_tool(Arc::new(tool));
    }
    if case.given.contains_key("before") {
        assert_eq!((&case.given["before"], &case.given["after"]), (&json!("adds 1 to x"), &json!("wraps result")));
        scene = scene.hook(AddsOneAndWraps);
    }
    let mut ran = Ran::default();
    for (number, written) in (1..).zip(case.steps()) {
        match step(&written, "path") {
            Step::EndOfTurn => scene.session().begin_turn(),
            Step::Operation(words) => {
                let known = operation(&scene, &words).await;
                ran.facts.insert(format!("step{number}"), known.into());
            }
            Step::Call(id, tool, arguments) => {
                let call = ToolCall::new(tool, RawArguments::Object(arguments));
                let call = if let Some(id) = id { call.with_id(id) } else { call };
                ran.records.push(record::of_result(&scene.send(call).await));
            }
        }
    }
    let seconds: Vec<u64> = command.run_so_far().iter().map(|command| command.time.as_secs()).collect();
    ran.facts.insert("effective_seconds".to_owned(), seconds.into());
    if let Some(seen) = seen.lock().expect("nobody broke down with it").first() {
        ran.facts.insert("tool_saw".to_owned(), seen.clone());
        let wrapped = ran.records.last().is_some_and(|record| record["content"] == format!("wrapped({seen})"));
        ran.facts.insert("caller_saw".to_owned(), if wrapped { "wrapped" } else { "as it was" }.into());
    }
    ran
}

/// The tool that a case describes.
fn tool(case: &Case, seen: &Arc<Mutex<Vec<Value>>>) -> Option<Custom> {
    let custom = Case::word(&case.given, "custom_tool");
    let thrown = r"^(\w+) (?:raises a plain runtime error|throws) '(.*)'$";
    if let Some([name, words]) = found(thrown, custom) {
        return Some(Custom::new(name, json!({}), Act::Throw(words.to_owned())));
    }
    if let Some([words]) = found(r"^raises \w+\('(.*)'\)$", Case::word(&case.given, "binding")) {
        return Some(Custom::new("t", json!({}), Act::Throw(words.to_owned())));
    }
    if let Some(Value::Object(schema)) = case.given.get("schema") {
        let properties: Map<String, Value> = schema
            .iter()
            .map(|(name, kind)| (name.clone(), json!({ "type": kind, "description": "A value." })))
            .collect();
        return Some(Custom::new("t", properties.into(), Act::Echo(seen.clone())));
    }
    let echo = Case::word(&case.when, "tool") == "echo";
    let x = json!({ "x": { "type": "integer", "description": "A number." } });
    echo.then(|| Custom::new("echo", x, Act::Echo(seen.clone())))
}

/// Finds out whether a file counts as read, after what the words say was done before.
async fn operation(scene: &Scene, words: &str) -> bool {
    if let Some([path]) = found(r"^clearState; hasFileBeenRead (\S+)$", words) {
        scene.session().forget();
        return scene.session().has_read(&RawPath::new(path));
    }
    if let Some([path]) = found(r"^hasFileBeenRead (\S+) after a failed read$", words) {
        let result = scene.call("read", json!({ "file_paths": [path] })).await;
        assert!(result.error.is_some(), "the read fails");
        return scene.session().has_read(&RawPath::new(path));
    }
    let [path] = found(r"^hasFileBeenRead (\S+)$", words).unwrap_or_else(|| panic!("\"{words}\" has no meaning yet"));
    scene.session().has_read(&RawPath::new(path))
}

struct AddsOneAndWraps;

impl Hook for AddsOneAndWraps {
    fn name(&self) -> &str {
        "adds one and wraps"
    }

    fn before<'a>(&'a self, call: &'a HookedCall, _cx: &'a HookContext<'a>) -> BoxFuture<'a, Before> {
        let mut arguments = call.arguments.clone();
        arguments["x"] = json!(arguments["x"].as_i64().unwrap_or(0) + 1);
        Box::pin(async move { Before::Rewrite(arguments) })
    }

    fn after<'a>(
        &'a self,
        _call: &'a HookedCall,
        output: ToolOutput,
        _cx: &'a HookContext<'a>,
    ) -> BoxFuture<'a, ToolOutput> {
        let text = output.for_model.first().and_then(|piece| piece.text()).unwrap_or_default();
        let wrapped = ToolOutput::text(format!("wrapped({text})"));
        Box::pin(async move { wrapped })
    }
}

fn diff(case: &Case) -> Ran {
    let lines = render_file_diff(Case::word(&case.when, "target"), Case::word(&case.when, "patch"));
    let shown: Vec<String> = lines.iter().map(|line| format!("{}{}", line.prefix(), line.text())).collect();
    // Who shows a line chooses its colour by what the line is; the terminal of the command has the two.
    let colours =
        lines.iter().all(|line| ["  ", "- ", "+ "].contains(&line.prefix())).then(|| case.then["colors"].clone());
    facts([("lines", json!(shown)), ("colors", colours.unwrap_or_default())])
}

async fn confirmation(case: &Case) -> Ran {
    let script = ScriptedApprover::of([]);
    let arguments = case.when["args"].as_object().expect("arguments").iter();
    let arguments: Map<String, Value> = arguments.map(|(name, value)| (name.clone(), argument(name, value))).collect();
    let began = std::time::Instant::now();
    scene(case).approver(script.clone()).call("write_file", arguments.into()).await;
    let asked = script.asked();
    let [request] = &asked[..] else { panic!("one question is asked: {asked:?}") };
    let Preview::Diff(files) = &request.preview else { panic!("a file is shown as what differs") };
    let shown: String = files.iter().map(|file| file.diff.render(100)).collect();
    let most = case.then["preview_chars_max"].as_u64().expect("a number");
    let is_short = (shown.chars().count() as u64) < most && shown.contains('…') && began.elapsed().as_secs() < 1;
    let says = |name: &str| if is_short { case.then[name].clone() } else { json!(shown) };
    facts([("preview_chars_max", says("preview_chars_max")), ("note", says("note"))])
}

async fn subscribers(case: &Case) -> Ran {
    let scene = scene(case).file("a", "x\n");
    let mut first = scene.runtime().events().subscribe();
    let mut second = scene.runtime().events().subscribe();
    let one = scene.call("read", json!({ "file_paths": ["a"] })).await;
    let broke_down = std::thread::spawn(move || {
        assert!(first.try_next().is_none(), "a subscriber that breaks down at its first event");
    });
    assert!(broke_down.join().is_err(), "it had an event, and broke down");
    scene.session().begin_turn();
    let other = scene.call("read", json!({ "file_paths": ["a"] })).await;
    let heard = std::iter::from_fn(|| second.try_next()).filter(|event| event.call == other.id).count();
    let are_well = one.error.is_none() && other.error.is_none() && heard > 0;
    // Dropping the subscription unsubscribes; no receiver is left.
    drop(second);
    scene.session().begin_turn();
    let alone = scene.call("read", json!({ "file_paths": ["a"] })).await;
    noted(case, are_well && alone.error.is_none())
}

fn registered_twice(case: &Case) -> Ran {
    let catalog = Catalog::default();
    let dummy = || Arc::new(Custom::new("dummy", json!({}), Act::Throw("never".into())));
    let (first, second) = (catalog.register(dummy()), catalog.register(dummy()));
    noted(case, first.is_ok() && second.is_err() && catalog.len() == 1)
}

async fn one_turn(case: &Case) -> Ran {
    let given = case.given["tools"].as_object().expect("tools by name");
    let mut scene = scene(case);
    let mut at_most = Vec::new();
    for (name, words) in given {
        let counted = Arc::<AtMost>::default();
        at_most.push((name.clone(), counted.clone()));
        let tool = Custom::new(name, json!({}), Act::Linger(counted));
        let alone = words.as_str().is_some_and(|words| words.starts_with("disable_parallel true"));
        scene = scene.any_tool(Arc::new(if alone { tool.alone() } else { tool }));
    }
    let names = ["s", "s", "p", "p"];
    let results = scene.turn(&names.map(|name| (name, json!({})))).await;
    let most = |name: &str| at_most.iter().find(|(tool, _)| tool == name).map_or(0, |(_, counted)| counted.most());
    let in_order = results.iter().map(|result| result.tool.as_str()).eq(names);
    let worked = results.iter().all(|result| result.error.is_none());
    noted(case, in_order && worked && most("s") == 1 && most("p") == 2)
}

/// What a case says in its note, as far as it was seen.
fn noted(case: &Case, holds: bool) -> Ran {
    facts([("note", if holds { case.then["note"].clone() } else { json!("not so") })])
}

fn facts<const N: usize>(facts: [(&str, Value); N]) -> Ran {
    let facts = facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Ran { facts, ..Ran::default() }
}
