//! Runs a case about the loop around a model: the command at work with a model that follows a script.

use haft_model::wire::Wire;
use haft_testkit::scratch_home::output_of;
use haft_testkit::scripted::scripted_model::{ModelScript, ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::by_command::scratch_home;
use crate::case::{Case, Ran};

/// Returns whether a case is about the loop.
pub(crate) fn is_meant(case: &Case) -> bool {
    Case::word(&case.when, "op") == "run loop"
}

/// Runs a case, and says what came of it in the words of such cases.
pub(crate) fn run(case: &Case) -> Ran {
    assert_eq!(Case::word(&case.given, "model"), "always requests a tool", "{}: another model", case.id);
    let most = case.given["max_steps"].as_u64().expect("a number of steps");
    let turns = (0..most + 3).map(|number| ScriptedTurn::call("shell", json!({ "command": format!("echo {number}") })));
    let model = ScriptedModel::start(ModelScript::of(turns));
    let home = scratch_home();
    let (address, steps) = (model.base_url(Wire::Chat), most.to_string());
    let words = ["--yes", "--dialect", case.dialect(), "run", "--wire", "chat", "--base-url", &address];
    let words = [&words[..], &["--model", ScriptedModel::NAME, "--max-steps", &steps, "go"]].concat();
    let output = output_of(home.command(&words), "");
    let told = String::from_utf8_lossy(&output.stderr);
    let says = told.contains(&format!("Stopped after {most} steps"));
    // A broken program has another status, and says so.
    let broke = output.status.code() != Some(1) || told.contains("panicked");
    let mut ran = Ran::default();
    let note = format!(
        "stops after {} model calls, returns {}, raises {}",
        model.requests().len(),
        if says { "a final message saying the step limit was reached" } else { &told },
        if broke { &told } else { "nothing" },
    );
    ran.facts.insert("note".to_owned(), note.into());
    ran
}
