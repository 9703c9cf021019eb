use std::sync::Arc;

use haft_contract::tool::Typed;
use haft_tools::defined::bound::{Bindings, DefinitionOrigin};
use haft_tools::defined::definition::Definition;
use serde_json::json;

use crate::workshop::Workshop;

/// Adds two whole numbers.
#[haft_contract::tool]
async fn add(
    /// First number.
    a: i64,
    /// Second number.
    b: i64,
) -> i64 {
    a + b
}

const LOOK: &str = "
name: look
description: Looks into a file.
binding: {builtin: read_file}
input_schema:
  type: object
  properties:
    path: {type: string, description: Which one.}
  required: [path]
";

fn definition(yaml: &str) -> Definition {
    Definition::from_yaml(yaml).expect("nothing is wrong with it")
}

#[tokio::test]
async fn a_built_in_tool_is_called_under_the_words_of_a_definition() {
    let workshop = Workshop::new().file("ws/a.txt", "inside\n").tool(LOOK);
    assert!(workshop.works("look", json!({ "path": "a.txt" })).await.contains("inside"));
    let tool = workshop.bindings().bind(definition(LOOK), workshop.home()).unwrap();
    assert_eq!((tool.spec().name.as_str(), tool.spec().manual.words.as_str()), ("look", "Looks into a file."));
}

#[test]
fn a_definition_that_its_built_in_tool_cannot_serve_is_told_at_once() {
    let bindings = Bindings::new(haft_tools::all());
    let home = || DefinitionOrigin::new("/nowhere", "/nowhere");
    let said = |yaml: &str, home: DefinitionOrigin| {
        bindings.bind(definition(yaml), home).err().map(|problem| problem.to_string())
    };
    let write =
        "name: w\ndescription: x.\nbinding: {builtin: write_file}\ninput_schema: {properties: {path: {type: string}}}";
    let missing = "the built-in tool \"write_file\" needs \"content\", which nothing provides; add it to \"input_schema\", \
                   or preset it with extra_kwargs";
    assert_eq!(said(write, home()).as_deref(), Some(missing));
    assert_eq!(said(write, home().with_presets(["content"])), None);
    let slip = said("name: g\ndescription: x.\nbinding: {builtin: gerp}\ninput_schema: {}", home());
    assert_eq!(slip.as_deref(), Some("there is no built-in tool \"gerp\"; did you mean \"grep\"?"));
    let odd = said(&LOOK.replace("path:", "file:").replace("[path]", "[file]"), home()).unwrap_or_default();
    assert!(odd.contains("\"file\""), "{odd}");
}

#[test]
fn a_function_that_a_program_registers_is_bound_by_its_name() {
    let bindings = Bindings::new([Arc::new(Typed::new(Add)) as Arc<dyn haft_contract::tool::AnyTool>]);
    let sum = "name: sum\ndescription: Sums.\nbinding: {builtin: add}\n\
               input_schema: {properties: {a: {type: integer}, b: {type: integer}}}";
    assert!(bindings.bind(definition(sum), DefinitionOrigin::new("/nowhere", "/nowhere")).is_ok());
}
