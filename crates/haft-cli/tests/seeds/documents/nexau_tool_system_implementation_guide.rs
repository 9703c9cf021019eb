//! NexAU, "Tool System Implementation Guide".

use serde_json::{Value, json};

use super::text;
use crate::examples::Example;

const DEFINITION: &str = "type: tool\nname: repeat\ndescription: >-\n  Repeats a text as often\n  as it is told.\n\nskill_description: \"Repeats\"\n\nuse_cache: false\ndisable_parallel: false\nlazy: false\n\ninput_schema:\n  type: object\n  properties:\n    text:\n      type: string\n      description: What to repeat\n      additionalProperties: false\n    times:\n      type: integer\n      description: How often\n  required:\n    - text\n  additionalProperties: false\n  $schema: http://json-schema.org/draft-07/schema#\n";

fn with_repeat(python: &str, (definition, more): (&str, &str)) -> Option<Example> {
    let list =
        format!("tools:\n  - name: repeat\n    yaml_path: ./tools/Repeat.yaml\n    binding: mine:repeat\n{more}");
    let example = Example::empty("nexau")?.file(".haft/tools/Repeat.yaml", definition);
    Some(example.file(".haft/tools.yaml", &list).file(".haft/mine.py", python))
}

#[test]
fn the_definition_with_its_binding_is_a_tool() {
    let python = "def repeat(text: str, times: int = 2) -> str:\n    return f\"{text} x {times}\"\n";
    let Some(example) = with_repeat(python, (DEFINITION, "")) else { return };
    assert_eq!(example.call("repeat", &json!({ "text": "a", "times": "3" }))["data"], json!({ "result": "a x 3" }));
    for provider in ["openai", "anthropic"] {
        let shown = example.haft(&["tools", "--for", provider, "repeat"], "").out;
        assert!(shown.contains("Repeats a text as often as it is told."), "{shown}");
    }
    let wrong = example.call("repeat", &json!({ "times": 1 }));
    assert_eq!(wrong["data"]["error"]["type"], "INVALID_PARAMETERS", "{wrong}");
}

#[test]
fn the_state_of_the_agent_and_the_storage_are_given_to_whoever_declares_them() {
    let python = "def keep(param1: str, agent_state: AgentState, global_storage: GlobalStorage) -> str:\n    \"\"\"Keeps it.\n\n    Args:\n        param1: What to keep\n    \"\"\"\n    before = global_storage.get(\"kept\", \"nothing\")\n    global_storage.set(\"kept\", param1)\n    return f\"{before} {agent_state.current_iteration} {len(agent_state.history)}\"\n";
    let Some(example) = Example::empty("nexau") else { return };
    let example = example.tool(("keep", "tools:keep"), (python, &["param1"]));
    let calls = "{\"name\": \"keep\", \"arguments\": {\"param1\": \"a\"}}\n\n{\"name\": \"keep\", \"arguments\": {\"param1\": \"b\"}}\n";
    let said = example.haft(&["call", "-"], calls).out;
    let results: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    assert!(text(&results[0], "content").starts_with("nothing "), "{said}");
    assert!(text(&results[1], "content").starts_with("a "), "{said}");
}

#[test]
fn presets_come_from_the_list_and_from_the_environment() {
    let python = "def repeat(text: str, times: int = 1) -> str:\n    return text * times\n";
    let default = (DEFINITION, "    extra_kwargs:\n      times: 3\n");
    let Some(example) = with_repeat(python, default) else { return };
    assert_eq!(example.call("repeat", &json!({ "text": "a" }))["content"], "aaa");
    assert_eq!(example.call("repeat", &json!({ "text": "a", "times": 2 }))["content"], "aa", "a call overrides it");
    let environment = (DEFINITION, "    extra_kwargs:\n      text: ${env.SHOP_KEY}\n");
    let Some(example) = with_repeat("def repeat(text, times=1):\n    return len(text)\n", environment) else { return };
    assert_eq!(example.call("repeat", &json!({ "times": 1 }))["data"]["result"], "correct-horse-battery".len());
}

#[test]
fn a_preset_of_a_reserved_name_is_refused() {
    let Some(example) = with_repeat(
        "def repeat(text):\n    return text\n",
        (DEFINITION, "    extra_kwargs:\n      agent_state: \"x\"\n"),
    ) else {
        return;
    };
    let said = example.haft(&["check", ".haft/tools.yaml"], "");
    assert!(said.code == 1 && said.out.contains("agent_state"), "{}{}", said.out, said.err);
}

#[test]
fn a_result_is_kept_where_the_definition_says_so() {
    let definition = DEFINITION.replace("use_cache: false", "use_cache: true");
    let python = "import os\n\ndef repeat(text: str) -> str:\n    return os.urandom(8).hex()\n";
    let definition = definition + "effects: []\n";
    let Some(example) = with_repeat(python, (&definition, "")) else { return };
    let call = || example.call("repeat", &json!({ "text": "a" }))["data"]["result"].clone();
    let first = call();
    assert!(first.is_string());
    assert_eq!(call(), first);
}

#[test]
fn a_tool_may_be_sequential_and_lazy() {
    let definition = DEFINITION.replace("disable_parallel: false", "disable_parallel: true");
    let definition = definition.replace("lazy: false", "lazy: true");
    let python = "def repeat(text: str, times: int = 1) -> str:\n    return text\n";
    let Some(example) = with_repeat(python, (&definition, "")) else { return };
    let checked = example.haft(&["check", "."], "");
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    assert_eq!(example.call("repeat", &json!({ "text": "a" }))["content"], "a");
}

#[test]
fn an_error_that_is_returned_as_text_is_an_error() {
    let python = "def risky(param: str) -> str:\n    try:\n        return {}[param]\n    except Exception as e:\n        return f\"Error: {str(e)}\"\n";
    let Some(example) = Example::empty("nexau") else { return };
    let example = example.tool(("risky", "tools:risky"), (python, &["param"]));
    let record = example.call("risky", &json!({ "param": "a" }));
    assert_eq!((&record["data"]["is_error"], text(&record["data"]["error"], "message")), (&json!(true), "'a'"));
    let raised = "def risky(param: str) -> str:\n    raise RuntimeError(\"no\")\n";
    let Some(example) = Example::empty("nexau") else { return };
    let example = example.tool(("risky", "tools:risky"), (raised, &["param"]));
    assert_eq!(example.call("risky", &json!({ "param": "a" }))["data"]["is_error"], true);
}

#[test]
fn the_key_of_a_map_is_the_name_of_the_tool_and_another_name_is_told_with_the_nearest() {
    let python = "def repeat(text):\n    return text\n";
    let Some(example) = with_repeat(python, (DEFINITION, "")) else { return };
    let list = "tools:\n  my_tool:\n    name: \"My Tool Display Name\"\n    yaml_path: ./tools/Repeat.yaml\n    binding: mine:repeat\n";
    let example = example.file(".haft/tools.yaml", list);
    assert_eq!(example.call("my_tool", &json!({ "text": "a" }))["content"], "a");
    let wrong = example.call("my_tol", &json!({ "text": "a" }));
    assert!(text(&wrong["data"]["error"], "message").contains("tool 'my_tol' not found"), "{wrong}");
}
