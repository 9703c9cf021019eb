//! Tests what definitions mean, and what haft reports about wrong ones.

mod lists;
mod presets;
mod refusals;
mod yaml;

use std::time::Duration;

use serde_json::{Value, json};

use super::{Binding, DeclaredEffect, Definition, FunctionName, check};

/// The example of NexAU's guide, as it stands there.
const GUIDE: &str = r#"type: tool
name: tool_name
description: >-
  Multi-line description of what the tool does.

skill_description: "Optional context for skills"

use_cache: false          # Enable result caching (diskcache backend)
disable_parallel: false   # Prevent parallel execution
lazy: false               # Defer import until first use

input_schema:
  type: object
  properties:
    param1:
      type: string
      description: Description of param1
      additionalProperties: false
    param2:
      type: integer
      description: Description of param2
  required:
    - param1
  additionalProperties: false
  $schema: http://json-schema.org/draft-07/schema#
"#;

/// Every key that there is.
const WHOLE: &str = r#"
name: convert
title: Convert a picture
description: Converts a picture.
use_cache: true
disable_parallel: true
lazy: true
binding: {command: [convert, --fast]}
timeout: 2.5
cache_ttl: 60
effects:
  - read: "{from}"
  - change: ["{to}", "log/{name}-{{x}}.txt"]
  - connect: api.example.com
overridable: [name]
output_schema: {type: string}
examples:
  - arguments: {from: a.png, to: [b.png]}
    contains: done
input_schema:
  properties:
    from: {type: string, description: The picture.}
    to: {type: array, items: {type: string}, description: The results.}
    name: {type: string, description: A name., default: all}
"#;

fn read(text: &str) -> Definition {
    Definition::from_yaml(text).expect("nothing is wrong with it")
}

/// Everything that is told about a text, a line each.
fn told(text: &str) -> String {
    check(text).problems.iter().map(|problem| format!("{problem}\n")).collect()
}

/// What is told about a good definition with these lines besides.
fn told_with(lines: &str) -> String {
    told(&format!("name: t\ndescription: d\n{lines}"))
}

#[test]
fn the_document_of_the_guide_is_read_as_it_stands() {
    let definition = read(GUIDE);

    assert_eq!(definition.name, "tool_name");
    assert_eq!(definition.description.as_deref(), Some("Multi-line description of what the tool does."));
    assert_eq!(definition.skill_description.as_deref(), Some("Optional context for skills"));
    assert!(!definition.use_cache && !definition.disable_parallel && !definition.lazy);
    assert_eq!(definition.input_schema["properties"]["param1"]["additionalProperties"], json!(false));
    assert_eq!(definition.binding, None);
    assert_eq!(definition.effects, None);
    assert_eq!(told(GUIDE), "");
}

#[test]
fn the_short_documents_of_the_guide_are_read_with_a_word_on_what_they_lack() {
    for key in ["use_cache", "disable_parallel", "lazy"] {
        let definition =
            read(&format!("type: tool\nname: t\ndescription: \"A tool\"\n{key}: true  # ← on\ninput_schema: {{}}\n"));
        assert_eq!(
            (definition.use_cache, definition.disable_parallel, definition.lazy),
            (key == "use_cache", key == "disable_parallel", key == "lazy")
        );
    }
    let count = "input_schema:\n  type: object\n  properties:\n    count:  # ← Must match\n      type: integer\n  required:\n    - count\n";
    assert_eq!(
        told_with(count),
        "line 6: warning: \"count\": every property has a description; say what \"count\" is, with its unit\n"
    );
}

#[test]
fn every_key_is_read() {
    let definition = read(WHOLE);

    assert_eq!(definition.title.as_deref(), Some("Convert a picture"));
    assert!(definition.use_cache && definition.disable_parallel && definition.lazy);
    assert_eq!(definition.binding, Some(Binding::Command(vec!["convert".into(), "--fast".into()])));
    assert_eq!(definition.timeout, Some(Duration::from_millis(2500)));
    assert_eq!(definition.kept_for(), Some(Duration::from_secs(60)));
    assert_eq!(definition.overridable, ["name"]);
    assert_eq!(definition.output_schema, Some(json!({ "type": "string" })));
    assert_eq!(definition.examples[0].contains.as_deref(), Some("done"));
    assert_eq!(definition.input_schema["type"], "object");
    assert_eq!(told(WHOLE), "");
}

#[test]
fn results_are_kept_for_an_hour_where_the_definition_says_nothing_more() {
    let kept = |lines: &str| read(&format!("name: t\ndescription: d\n{lines}")).kept_for();
    assert_eq!(kept("use_cache: true"), Some(Duration::from_secs(3600)));
    assert_eq!(kept(""), None);
}

#[test]
fn a_path_is_filled_from_the_arguments_of_a_call() {
    let definition = read(WHOLE);
    let declared = definition.effects.expect("they are declared");
    let fill = |index: usize, arguments: Value| match &declared[index] {
        DeclaredEffect::Read(path) | DeclaredEffect::Change(path) => {
            path.fill(arguments.as_object().expect("it is an object")).map_err(|error| error.what.clone())
        }
        DeclaredEffect::Connect(host) => Ok(vec![host.clone()]),
    };
    assert_eq!(fill(0, json!({ "from": "a b.png" })), Ok(vec!["a b.png".into()]));
    assert_eq!(fill(0, json!({})), Ok(vec![]), "what is left out is not touched");
    assert_eq!(fill(1, json!({ "to": ["x", "y"] })), Ok(vec!["x".into(), "y".into()]));
    assert_eq!(fill(2, json!({ "name": null })), Ok(vec!["log/all-{x}.txt".into()]), "the schema has a default");
    assert_eq!(fill(2, json!({ "name": 5 })), Ok(vec!["log/5-{x}.txt".into()]));
    assert_eq!(fill(3, json!({})), Ok(vec!["api.example.com".into()]));
    let odd = fill(0, json!({ "from": true })).expect_err("it is not a path");
    assert_eq!(odd, "The argument \"from\" is part of a path, but true is not text. Nothing was done.");
    let many = fill(1, json!({ "to": vec!["x"; 1001] })).expect_err("they are too many");
    assert_eq!(many, "The call would touch more than 1000 paths. Nothing was done.");
}

#[test]
fn no_effects_and_unknown_effects_are_not_the_same() {
    assert_eq!(read("name: t\ndescription: d\neffects: []").effects, Some(Vec::new()));
    assert_eq!(read("name: t\ndescription: d").effects, None);
}

#[test]
fn a_binding_is_a_function_a_program_or_a_tool_that_is_there() {
    let binding = |text: &str| read(&format!("name: t\ndescription: d\nbinding: {text}")).binding.expect("it is there");
    let function = Binding::Python(FunctionName { module: "pkg.mod".into(), function: "func".into() });
    assert_eq!(binding("pkg.mod:func"), function);
    assert_eq!(binding("{python: \"pkg.mod:func\"}"), function);
    assert_eq!(binding("{builtin: read_file}"), Binding::Builtin("read_file".into()));
    assert_eq!(
        binding("\n  command: [sh, \"-c\", echo]"),
        Binding::Command(vec!["sh".into(), "-c".into(), "echo".into()])
    );
}

#[test]
fn a_schema_that_says_nothing_is_that_of_an_object() {
    let empty = json!({ "type": "object", "properties": {} });
    assert_eq!(read("name: t\ndescription: d\ninput_schema: {}").input_schema, empty);
    assert_eq!(read("name: t\ndescription: d\ninput_schema:").input_schema, empty);
    assert_eq!(read("name: t\ndescription: d").input_schema, empty);
}

#[test]
fn the_spec_has_words_title_examples_and_version() {
    let spec = read(WHOLE).spec();
    assert_eq!(spec.manual.title, "Convert a picture");
    insta::assert_snapshot!(spec.manual.words, @r#"
    Converts a picture.

    ```json
    {"from":"a.png","to":["b.png"]}
    ```
    → done
    "#);
    assert_eq!(spec.manual.examples.len(), 1);
    assert_ne!(spec.version, read(&format!("{WHOLE}# other\n")).spec().version);
    assert_eq!(read("name: my_tool\ndescription: d").spec().manual.title, "My tool");
}

#[test]
fn a_description_of_several_lines_is_kept_line_by_line() {
    let definition = read("name: t\ndescription: |\n  Finds words.\n\n  Give at least one.\n");
    assert_eq!(definition.spec().manual.words, "Finds words.\n\nGive at least one.");
}

#[test]
fn without_words_those_of_a_function_are_taken_and_that_is_told() {
    let words =
        "write description: what it does, and when to use it; else haft uses the docstring of the Python function";
    assert_eq!(told("name: t"), format!("line 1: warning: nothing tells the model what the tool does; {words}\n"));
    assert_eq!(read("name: t").description, None);
}

#[test]
fn a_definition_comes_from_a_value_too() {
    let value = json!({ "name": "t", "description": "d", "input_schema": { "type": "object" }, "lazy": true });
    assert!(Definition::from_value(value).expect("nothing is wrong with it").lazy);

    let value = json!({ "name": "t", "description": "d", "colour": "red" });
    let problems = Definition::from_value(value).expect_err("colour is no key");
    assert!(problems[0].to_string().starts_with("there is no key \"colour\"; the keys are type, name, "));
    let mut deep = json!(1);
    for _ in 0..40 {
        deep = json!([deep]);
    }
    let problems = Definition::from_value(deep).expect_err("it is too deep");
    assert_eq!(problems[0].to_string(), "it nests deeper than 32 levels; use fewer levels, or a `$ref` in a schema");
}

/// The definition of Code-Ally's guide, with a binding.
const FUNCTION: &str = r#"
type: function
function:
  name: my_tool
  description: What my tool does
  parameters:
    type: object
    properties:
      param1: {type: string, description: Description of param1}
    required: [param1]
binding: mytools.text:my_tool
"#;

#[test]
fn a_tool_as_models_are_offered_it_is_a_definition() {
    let definition = read(FUNCTION);
    assert_eq!((definition.name.as_str(), told(FUNCTION).as_str()), ("my_tool", ""));
    assert_eq!(definition.spec().manual.words, "What my tool does");
    assert_eq!(definition.input_schema["required"], json!(["param1"]));
    let flat = "type: function\nname: t\ndescription: d\nparameters: {type: object, properties: {}}\nbinding: m:t\n";
    assert_eq!((read(flat).name.as_str(), told(flat).as_str()), ("t", ""));
    let twice = format!("{FUNCTION}name: other\n");
    assert_eq!(
        told(&twice),
        "line 12: \"name\" is there twice, in \"function\" and beside it; leave one of them out\n"
    );
}
