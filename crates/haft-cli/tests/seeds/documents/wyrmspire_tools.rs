//! wyrmspire/agent, "Tools". The calls of its built-in tools are in `examples/from-wyrmspire` too.

use serde_json::{Value, json};

use super::text;
use crate::examples::Example;
use crate::server::Server;

const CLASS: &str = "from tool.bases import BaseTool, create_json_schema\nfrom core.types import ToolResult\nfrom typing import Dict, Any\n\nclass UpperTool(BaseTool):\n    @property\n    def name(self) -> str:\n        return \"upper\"\n\n    @property\n    def description(self) -> str:\n        return \"Writes it in capitals\"\n\n    @property\n    def parameters(self) -> Dict[str, Any]:\n        return create_json_schema(properties={\"arg1\": {\"type\": \"string\", \"description\": \"A text\"}}, required=[\"arg1\"])\n\n    async def execute(self, arguments: Dict[str, Any]) -> ToolResult:\n        if not arguments[\"arg1\"]:\n            return ToolResult(tool_call_id=\"\", output=\"\", error=\"arg1 is empty\", success=False)\n        return ToolResult(tool_call_id=\"\", output=arguments[\"arg1\"].upper(), success=True)\n";

fn output(record: &Value) -> (bool, &str) {
    (record["data"]["success"].as_bool().unwrap_or_default(), text(&record["data"], "output"))
}

#[test]
fn each_built_in_tool_is_called_by_its_example() {
    let Some(example) = Example::empty("wyrm") else { return };
    let example = example.file("NOTES.md", "# Notes\n");
    let server = Server::start();
    example.home().put("config/haft/config.toml", "[network]\nallow = [\"127.0.0.1\"]\n");
    let listed = example.call("list_files", &json!({ "path": "." }));
    assert!(output(&listed).0 && output(&listed).1.contains("NOTES.md  8"), "{listed}");
    assert_eq!(output(&example.call("read_file", &json!({ "path": "NOTES.md" }))), (true, "# Notes\n"));
    let written = example.call("write_file", &json!({ "path": "out.txt", "content": "Hello" }));
    assert!(output(&written).0 && output(&written).1.contains("5 bytes"), "{written}");
    assert!(output(&example.call("shell", &json!({ "command": "ls -la" }))).1.contains("out.txt"));
    let fetched = example.call("fetch", &json!({ "url": server.address_of("/j") }));
    assert!(output(&fetched).0 && output(&fetched).1.contains("{\"a\":[1,2]}"), "{fetched}");
}

#[test]
fn a_tool_class_is_bound_as_it_is_and_its_results_are_those_of_the_call() {
    let Some(example) = Example::empty("wyrm") else { return };
    let example = example.tool(("upper", "tools:UpperTool"), (CLASS, &["arg1"]));
    let worked = example.call("upper", &json!({ "arg1": "value" }));
    assert_eq!(output(&worked), (true, "VALUE"), "{worked}");
    let failed = example.call("upper", &json!({ "arg1": "" }));
    assert!(!output(&failed).0 && text(&failed["data"], "error").contains("arg1 is empty"), "{failed}");
    assert!(failed["data"]["tool_call_id"].is_string(), "{failed}");
}

#[test]
fn a_registry_may_be_filled_where_the_class_is() {
    let python = CLASS.to_owned()
        + "\nfrom tool.index import ToolRegistry\n\nregistry = ToolRegistry()\nregistry.register(UpperTool())\n";
    let Some(example) = Example::empty("wyrm") else { return };
    let example = example.tool(("upper", "tools:UpperTool"), (&python, &["arg1"]));
    assert_eq!(output(&example.call("upper", &json!({ "arg1": "a" }))), (true, "A"));
}

#[test]
fn every_schema_that_is_shown_has_an_object_at_its_root() {
    let Some(example) = Example::empty("wyrm") else { return };
    let example = example.tool(("upper", "tools:UpperTool"), (CLASS, &["arg1"]));
    let shown: Value = serde_json::from_str(&example.haft(&["tools", "--for", "openai"], "").out).expect("a list");
    for tool in shown.as_array().expect("a list") {
        assert_eq!((&tool["type"], &tool["function"]["parameters"]["type"]), (&json!("function"), &json!("object")));
    }
}
