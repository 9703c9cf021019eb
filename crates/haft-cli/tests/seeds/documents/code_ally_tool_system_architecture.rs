//! Code-Ally, "Tool System Architecture". Its tools are TypeScript classes; what they do is a function here.

use serde_json::json;

use super::text;
use crate::examples::Example;

/// A tool as a function definition, with the work in Python.
fn with_definition(python: &str) -> Option<Example> {
    let definition = json!({
        "type": "function",
        "function": {
            "name": "measure",
            "description": "Measures a word.",
            "parameters": {
                "type": "object",
                "properties": { "word": { "type": "string", "description": "The word." } },
                "required": ["word"],
            },
        },
    });
    let list = "tools:\n  - {name: measure, yaml_path: ./tools/measure.yaml, binding: \"measure:measure\"}\n";
    let example = Example::empty("ally")?.file(".haft/tools/measure.yaml", &definition.to_string());
    Some(example.file(".haft/tools.yaml", list).file(".haft/measure.py", python))
}

#[test]
fn a_command_with_description_and_time_returns_its_output_and_its_code() {
    let Some(example) = Example::empty("ally") else { return };
    let call = json!({ "command": "printf ran; printf oh >&2; exit 3", "description": "Run the suite", "timeout": 30 });
    let record = example.call("bash", &call);
    let expected = json!({ "success": true, "error": "oh", "output": "ran", "return_code": 3 });
    assert_eq!(record["data"], expected, "{record}");
}

#[test]
fn several_files_are_read_with_their_first_lines() {
    let Some(example) = Example::empty("ally") else { return };
    let example = example.file("a.ts", "one\ntwo\n").file("b.json", "{}\n");
    let record = example.call("read", &json!({ "file_paths": ["a.ts", "./b.json"], "limit": 1 }));
    assert_eq!((&record["data"]["success"], &record["data"]["files_read"]), (&json!(true), &json!(2)), "{record}");
    let content = text(&record["data"], "content");
    assert!(content.starts_with("=== a.ts ===\n     1\tone\n") && content.contains("=== ./b.json ==="), "{content}");
}

#[test]
fn a_function_definition_is_a_tool_and_a_missing_parameter_is_told_with_an_example() {
    let Some(example) =
        with_definition("def measure(word):\n    return {\"result\": len(word), \"data\": [word], \"count\": 1}\n")
    else {
        return;
    };
    let record = example.call("measure", &json!({ "word": "test" }));
    let data = &record["data"];
    assert_eq!((&data["success"], &data["error"]), (&json!(true), &json!("")), "{record}");
    assert_eq!((&data["result"], &data["data"], &data["count"]), (&json!(4), &json!(["test"]), &json!(1)), "{record}");
    let missing = example.call("measure", &json!({}));
    assert_eq!(
        (&missing["data"]["success"], text(&missing["data"], "error_type")),
        (&json!(false), "validation_error")
    );
    assert!(
        text(&missing["data"], "error").contains("word") && text(&missing["data"], "suggestion").contains("measure("),
        "{missing}"
    );
}

#[test]
fn an_error_response_begins_with_the_call_and_has_its_type_and_suggestion() {
    let python = "def measure(word):\n    error = ValueError(\"There is no such word\")\n    error.error_type, error.suggestion = \"user_error\", \"Check the word and try again\"\n    raise error\n";
    let Some(example) = with_definition(python) else { return };
    let data = example.call("measure", &json!({ "word": "x" }))["data"].clone();
    assert_eq!((text(&data, "error_type"), text(&data, "suggestion")), ("user_error", "Check the word and try again"));
    assert!(text(&data, "error").starts_with("measure(word=\"x\"): "), "{data}");
}
