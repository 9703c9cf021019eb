//! TunaCode, "Tools Architecture".

use serde_json::json;

use super::text;
use crate::examples::Example;

#[test]
fn a_function_that_is_decorated_as_a_tool_returns_its_text() {
    let python = "from tunacode.tools.decorators import base_tool\n\n@base_tool\nasync def echo(arg: str) -> str:\n    \"\"\"Says it back.\"\"\"\n    return f\"heard: {arg}\"\n";
    let Some(example) = Example::empty("tunacode") else { return };
    let example = example.tool(("echo", "tools:echo"), (python, &["arg"]));
    assert_eq!(example.call("echo", &json!({ "arg": "hi" }))["content"], "heard: hi");
}

#[test]
fn a_tool_of_files_reads_one_and_maps_what_goes_wrong() {
    let python = "from tunacode.tools.decorators import file_tool\n\n@file_tool\nasync def first_line(filepath: str) -> str:\n    with open(filepath) as f:\n        return f.readline().strip()\n";
    let Some(example) = Example::empty("tunacode") else { return };
    let example = example.tool(("first_line", "tools:first_line"), (python, &["filepath"]));
    let example = example.file("a.txt", "one\ntwo\n");
    std::fs::write(example.home().path("ws/bad.txt"), b"\xff\xfe\xff").expect("it can be written");
    let class = |file: &str| example.call("first_line", &json!({ "filepath": file }))["data"]["error"].clone();
    assert_eq!(example.call("first_line", &json!({ "filepath": "a.txt" }))["content"], "one");
    assert_eq!(class("gone.txt"), "ModelRetry");
    assert_eq!(class("bad.txt"), "FileOperationError");
    assert_eq!(class("."), "FileOperationError");
}

#[test]
fn each_of_the_three_errors_keeps_its_class_and_its_words() {
    let python = "from pydantic_ai.exceptions import ModelRetry\nfrom tunacode.exceptions import FileOperationError, ToolExecutionError\n\ndef fail(how: str):\n    if how == \"retry\":\n        raise ModelRetry(\"No such page. Check its name.\")\n    if how == \"tool\":\n        raise ToolExecutionError(tool_name=\"fail\", message=\"No paper\", original_error=None, suggested_fix=\"Fill it up\", recovery_commands=[\"lpstat\"])\n    raise FileOperationError(operation=\"read\", path=\"/a/b\", message=\"Locked\", original_error=None)\n";
    let Some(example) = Example::empty("tunacode") else { return };
    let example = example.tool(("fail", "tools:fail"), (python, &["how"]));
    let data = |how: &str| example.call("fail", &json!({ "how": how }))["data"].clone();
    let retry = data("retry");
    assert_eq!(retry["error"], "ModelRetry");
    assert!(text(&retry, "message").contains("No such page. Check its name."), "{retry}");
    let tool = data("tool");
    assert_eq!((text(&tool, "error"), text(&tool, "tool_name")), ("ToolExecutionError", "fail"));
    assert_eq!(text(&tool, "suggested_fix"), "Fill it up; run lpstat");
    let file = data("file");
    assert_eq!(file["error"], "FileOperationError");
    assert!(text(&file, "message").contains("cannot read /a/b: Locked"), "{file}");
}

#[test]
fn an_xml_prompt_gives_a_tool_its_words_and_its_values() {
    let Some(example) = Example::empty("tunacode") else { return };
    let example = example.tool(
        ("find", "tools:find"),
        ("def find(pattern, mode=\"content\"):\n    return mode\n", &["pattern", "mode"]),
    );
    let prompt = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tool_prompt>\n    <description>\n        Finds a pattern in the archive.\n    </description>\n\n    <parameters>\n        <parameter name=\"pattern\" required=\"false\">\n            <description>What to find</description>\n            <type>string</type>\n        </parameter>\n        <parameter name=\"mode\" required=\"false\">\n            <description>What to return</description>\n            <type>string</type>\n            <enum>content</enum>\n            <enum>names</enum>\n        </parameter>\n    </parameters>\n</tool_prompt>\n";
    let example = example.file(".haft/prompts/find_prompt.xml", prompt);
    let shown = example.haft(&["tools", "--json", "find"], "").out;
    assert!(shown.contains("Finds a pattern in the archive.") && shown.contains("\"names\""), "{shown}");
    assert_eq!(example.call("find", &json!({ "pattern": "x", "mode": "names" }))["content"], "names");
    assert_eq!(example.call("find", &json!({ "pattern": "x", "mode": "all" }))["error"]["kind"], "bad_arguments");
}

#[test]
fn every_tool_of_the_registry_is_there_by_its_first_parameter() {
    let Some(example) = Example::empty("tunacode") else { return };
    let tools = example.haft(&["tools", "--json"], "").out;
    let tools: serde_json::Value = serde_json::from_str(&tools).expect("a list");
    for (name, first) in [
        ("bash", "command"),
        ("glob", "pattern"),
        ("grep", "pattern"),
        ("list_dir", "directory"),
        ("read_file", "filepath"),
        ("write_file", "filepath"),
        ("update_file", "filepath"),
        ("react", "action"),
    ] {
        let tool = tools.as_array().expect("a list").iter().find(|tool| tool["name"] == name);
        let tool = tool.unwrap_or_else(|| panic!("there is no {name}"));
        let schema = tool.get("input_schema").or_else(|| tool.get("inputSchema")).unwrap_or(&tool["parameters"]);
        let names = schema["properties"].as_object().and_then(|names| names.keys().next());
        assert_eq!(names.map(String::as_str), Some(first), "{name}: {tool}");
    }
}
