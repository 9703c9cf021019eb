use haft_contract::description::manual::Manual;
use haft_contract::description::spec::Spec;
use serde_json::{Value, json};

use super::*;

/// The example of TunaCode's document, as it stands there.
const DOCUMENT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<tool_prompt>
    <description>
        Full documentation the AI sees when deciding to use this tool.
        Explain what it does, when to use it, examples.
    </description>

    <parameters>
        <parameter name="pattern" required="true">
            <description>The search pattern</description>
            <type>string</type>
        </parameter>
        <parameter name="mode" required="false">
            <description>Output mode</description>
            <type>string</type>
            <enum>content</enum>
            <enum>files_only</enum>
        </parameter>
    </parameters>
</tool_prompt>
"#;

/// A file with this inside of its root, which stands in line 1.
fn file(inside: &str) -> String {
    format!("<tool_prompt><description>d</description>{inside}</tool_prompt>")
}

/// A file with this parameter.
fn parameter(inside: &str) -> String {
    file(&format!("<parameters>{inside}</parameters>"))
}

/// Everything that is wrong with a text, one line each; the text cannot be used.
fn refused(text: &str) -> String {
    let checked = check(text);
    assert_eq!(checked.prompt, None, "{:?}", checked.problems);
    lines(&checked.problems)
}

/// The warnings about a text that can be used.
fn warned(text: &str) -> String {
    let checked = check(text);
    assert!(checked.prompt.is_some(), "{:?}", checked.problems);
    lines(&checked.problems)
}

fn lines(problems: &[DefinitionProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn spec(properties: Value, required: Value) -> Spec {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    Spec::new("find", Manual::read("# Find\n\nOwn words."), schema)
}

/// A tool that the document's example fits.
fn find() -> Spec {
    spec(
        json!({
            "pattern": { "type": "string", "description": "own", "minLength": 1 },
            "mode": { "type": "string", "enum": ["content", "files_only", "count"], "description": "own" },
            "limit": { "type": "integer", "description": "own", "minimum": 1 },
        }),
        json!(["pattern"]),
    )
}

/// What contradicts the tool in a file with this parameter.
fn contradicted(inside: &str) -> String {
    let file = PromptFile::from_xml(&parameter(inside)).expect("it can be read");
    lines(&file.apply(&find()).expect_err("it contradicts"))
}

mod any_text;
mod applying;
mod reading;
