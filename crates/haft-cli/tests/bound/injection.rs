use std::ops::Range;
use std::sync::Arc;

use haft_contract::doors::session_state::AgentState;
use serde_json::{Value, json};

use crate::workshop::Workshop;

const GUIDE: &str = r#"
import time

def my_tool(
    param1: str,
    param2: int,
    agent_state: AgentState,  # Optional: injected by framework
    global_storage: GlobalStorage,  # Optional: injected by framework
) -> str:
    """Tool implementation.

    The docstring is used to inform the LLM about the tool.

    Args:
        param1: Description of param1
        param2: Description of param2
        agent_state: Current execution state (injected automatically)
        global_storage: Global storage (injected automatically)

    Returns:
        Tool result as string or serializable object
    """
    seen = global_storage.get("seen", 0) + 1
    global_storage.set("seen", seen)
    return f"Result: {param1} x {param2}, {agent_state.current_iteration}, {len(agent_state.history)}, {seen}"

def storage(global_storage):
    global_storage["a"] = {"deep": [1, None]}
    global_storage.set("b", None)
    assert "b" in global_storage and "c" not in global_storage
    assert global_storage["b"] is None and global_storage.get("c", 5) == 5
    assert list(global_storage.keys()) == list(global_storage) and len(global_storage) >= 2
    try:
        global_storage["c"]
    except KeyError:
        pass
    assert global_storage.delete("b") and not global_storage.delete("b")
    with global_storage.lock("a"):
        global_storage["a"]["deep"].append(2)
    return global_storage["a"]

def fills(global_storage):
    try:
        global_storage.set("big", "x" * (17 << 20))
    except Exception as error:
        return str(error)

def history(agent_state):
    history = agent_state.history
    return [len(history), history[0], history[-1], history[2:4], history[::-1][:1], sum(1 for _ in history)]

def counts(global_storage, number):
    # Waits until all four calls are there, so that without locks they would count at the same time.
    global_storage["here %d" % number] = True
    while sum(key.startswith("here") for key in global_storage) < 4: pass
    for _ in range(5):
        with global_storage.lock("count"):
            count = global_storage.get("count", 0)
            time.sleep(0.005)
            global_storage["count"] = count + 1

def twice(global_storage):
    with global_storage.lock("x"):
        with global_storage.lock("x"):
            pass

def odd(agent_state): return agent_state.nothing_like_that
def undeclared(param="none"): return "agent_state" in dir()
"#;

struct Talked;

impl AgentState for Talked {
    fn current_iteration(&self) -> u64 {
        7
    }

    fn history_length(&self) -> usize {
        120
    }

    fn history(&self, range: Range<usize>) -> Vec<Value> {
        (range.start..range.end.min(120)).map(|number| json!({ "role": "user", "content": number })).collect()
    }
}

fn with_all() -> Option<Workshop> {
    let names = ["storage", "fills", "history", "counts", "twice", "odd", "undeclared"];
    let workshop = Workshop::with_python(GUIDE)?;
    let workshop = workshop.tool(
        "
type: tool
name: MyTool
description: >-
  Multi-line description of what the tool does.
binding: functions:my_tool
use_cache: false
disable_parallel: false
lazy: true
effects: []
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
    - param2
  additionalProperties: false
  $schema: http://json-schema.org/draft-07/schema#
",
    );
    Some(names.iter().fold(workshop, |workshop, name| workshop.function(name, "effects: []")))
}

#[tokio::test]
async fn a_function_of_the_guide_gets_what_it_declares() {
    let Some(workshop) = with_all() else { return };
    let said = workshop.works("MyTool", json!({ "param1": "a", "param2": "3" })).await;
    assert!(said.starts_with("Result: a x 3, 1, 0, 1"), "{said}");
    workshop.session().set_agent_state(Arc::new(Talked));
    let said = workshop.works("MyTool", json!({ "param1": "b", "param2": 4 })).await;
    assert_eq!(said, "Result: b x 4, 7, 120, 2");
    assert_eq!(workshop.works("undeclared", json!({})).await, "false");
    assert_eq!(workshop.session().storage().get("seen").as_deref(), Some(&json!(2)));
}

#[tokio::test]
async fn the_storage_is_one_for_the_session_and_bounded() {
    let Some(workshop) = with_all() else { return };
    assert_eq!(workshop.works("storage", json!({})).await, r#"{"deep":[1,null]}"#);
    let said = workshop.works("fills", json!({})).await;
    assert!(said.contains("\"big\"") && said.contains("at most 16,777,216 bytes"), "{said}");
}

#[tokio::test]
async fn the_history_is_fetched_where_it_is_looked_at() {
    let Some(workshop) = with_all() else { return };
    workshop.session().set_agent_state(Arc::new(Talked));
    let said: Value = serde_json::from_str(&workshop.works("history", json!({})).await).unwrap();
    let message = |number: u64| json!({ "role": "user", "content": number });
    assert_eq!(said, json!([120, message(0), message(119), [message(2), message(3)], [message(119)], 120]));
}

#[tokio::test]
async fn calls_at_once_see_one_storage_and_its_locks() {
    let Some(workshop) = with_all() else { return };
    let calls = (0..4).map(|number| workshop.works("counts", json!({ "number": number })));
    futures_util::future::join_all(calls).await;
    assert_eq!(workshop.session().storage().get("count").as_deref(), Some(&json!(20)));
    let (told, _) = workshop.fails("twice", json!({})).await;
    assert!(told.contains("held by this very call"), "{told}");
}

#[tokio::test]
async fn what_is_not_there_is_told_with_what_is() {
    let Some(workshop) = with_all() else { return };
    let (told, _) = workshop.fails("odd", json!({})).await;
    assert!(told.contains("agent_state has no 'nothing_like_that'; there is: current_iteration, history"), "{told}");
}
