use serde_json::json;

use crate::workshop::{Workshop, text};

const FAULTS: &str = r#"
import os, signal, sys, threading
def fine(): return "fine"
def bad(): raise ValueError("bad")
def deep(): return deep()
def leaves(): sys.exit(3)
def dies(): os._exit(7)
def crashes(): os.kill(os.getpid(), signal.SIGSEGV)
def loops():
    while True: pass
def nan(): return {"prices": [1.0, float("nan")]}
def data(): return [b"abc"]
def thing(): return {"it": object()}
def lazy_list(): return (n for n in range(3))
def itself():
    a = []
    a.append(a)
    return a
def big(): return "x" * 100_000_000
def needs(): return len(bytearray(2 * 1024 * 1024 * 1024 * 1024))
def wide(): return len(bytearray(2 * 1024 * 1024 * 1024))
def huge(): return 2 ** 70
def forks():
    if os.fork() == 0: return "child"
    os.wait()
    return "parent"
def odd_text(): return "a\ud800b"
def advises():
    error = ValueError("no such city")
    error.error_type, error.suggestion = "user_error", "call list_cities first"
    raise error
def fixes():
    error = ValueError("no such city")
    error.suggested_fix, error.error_type = "try Bonn", 7
    raise error
def absent(): open("/no/such/file")
"#;

/// Calls a function that fails, and then one that works.
async fn told(name: &str, more: &str) -> Option<(String, String)> {
    let workshop = Workshop::with_python(FAULTS)?.function(name, more).function("fine", "effects: []");
    let result = workshop.call(name, json!({})).await;
    assert!(result.error.is_some(), "{name}: {}", text(&result));
    let detail = result.error.as_ref().and_then(|error| error.detail.clone()).unwrap_or_default();
    assert_eq!(workshop.works("fine", json!({})).await, "fine", "after {name}");
    Some((text(&result), detail))
}

/// A function that fails says this, and the next call works.
async fn says(name: &str, words: &str) {
    let Some((said, _)) = told(name, "effects: []\ntimeout: 20").await else { return };
    assert!(said.contains(words), "{name}: {said}");
}

#[tokio::test]
async fn an_exception_is_its_last_line_for_the_model_and_its_trace_for_the_person() {
    let Some((said, detail)) = told("bad", "effects: []").await else { return };
    assert!(said.starts_with("\"bad\" failed: ValueError: bad.\n"), "{said}");
    assert!(!said.contains("Traceback") && !said.contains("functions.py"), "{said}");
    assert!(detail.contains("Traceback") && detail.contains("functions.py\", line 4, in bad"), "{detail}");
    assert!(!detail.contains("<string>"), "{detail}");
}

#[tokio::test]
async fn an_exception_names_the_sort_of_its_error_and_what_to_do() {
    for (name, own_type, next) in [
        ("advises", Some("user_error"), "call list_cities first"),
        ("fixes", None, "try Bonn"),
        ("absent", Some("user_error"), "read the message and change the call"),
        ("bad", None, "read the message and change the call"),
    ] {
        let Some(workshop) = Workshop::with_python(FAULTS) else { return };
        let error = workshop.function(name, "effects: []").call(name, json!({})).await.error.expect("it fails");
        assert_eq!((error.about.own_type.as_deref(), error.next.to_string().as_str()), (own_type, next), "{name}");
    }
}

#[tokio::test]
async fn what_ends_the_process_costs_one_call() {
    says("leaves", "it ended with sys.exit(3) instead of returning").await;
    says("dies", "\"dies\" ended its process with status 7 instead of returning.").await;
    says("crashes", "\"crashes\" was ended by signal 11 (SIGSEGV)").await;
    says("deep", "RecursionError: maximum recursion depth exceeded").await;
}

#[tokio::test]
async fn an_endless_loop_is_ended_when_its_time_is_up() {
    let Some((said, _)) = told("loops", "effects: []\ntimeout: 0.5").await else { return };
    assert!(said.contains("\"loops\" was stopped after 0.5 s, with everything that it had started."), "{said}");
}

#[tokio::test]
async fn what_json_cannot_say_is_told_with_its_place() {
    says("nan", "the result['prices'][1] is nan, which JSON cannot say").await;
    says("data", "the result[0] is bytes, which JSON cannot say").await;
    says("thing", "the result['it'] is of type object, which cannot be written as JSON").await;
    says("lazy_list", "the result is a generator; return a list instead").await;
    says("itself", "is nested more than 200 levels, or holds itself").await;
    says("huge", "the result is a whole number of more than 64 bits").await;
}

#[tokio::test]
async fn too_much_is_told_in_numbers() {
    says("big", "bytes, but at most 16,777,216 can be returned; write it to a file").await;
    says("needs", "\"needs\" needs more memory than there is for it: MemoryError").await;
}

#[tokio::test]
async fn two_gigabytes_are_there_or_are_told_to_be_missing() {
    let Some(workshop) = Workshop::with_python(FAULTS) else { return };
    let workshop = workshop.function("wide", "effects: []").function("fine", "effects: []");
    let told = text(&workshop.call("wide", json!({})).await);
    assert!(told == "2147483648" || told.contains("more memory") || told.contains("SIGKILL"), "{told}");
    assert_eq!(workshop.works("fine", json!({})).await, "fine");
}

#[tokio::test]
async fn odd_processes_and_odd_text_do_no_harm() {
    let Some(workshop) = Workshop::with_python(FAULTS) else { return };
    let workshop = workshop.function("forks", "effects: []").function("odd_text", "effects: []");
    assert_eq!(workshop.works("forks", json!({})).await, "parent");
    assert_eq!(workshop.works("odd_text", json!({})).await, "a?b");
    assert_eq!(workshop.works("forks", json!({})).await, "parent");
}

#[tokio::test]
async fn a_module_or_function_that_is_not_there_is_told_with_the_next_step() {
    let Some(workshop) = Workshop::with_python("import not_installed_1\ndef f(): pass") else { return };
    let workshop = workshop
        .file("tools/broken.py", "def f(:\n")
        .file("tools/other.py", "def one(): pass\ndef two(): pass")
        .function("f", "effects: []")
        .function("broken", "effects: []\nbinding: broken:f")
        .function("other", "effects: []\nbinding: other:three");
    let (told, _) = workshop.fails("f", json!({})).await;
    assert!(
        told.contains(
            "the module 'functions' cannot be imported: ModuleNotFoundError: No module named 'not_installed_1'"
        )
    );
    assert!(told.contains(".venv of the workspace"), "{told}");
    let (told, _) = workshop.fails("broken", json!({})).await;
    assert!(told.contains("SyntaxError") && told.contains("line 1"), "{told}");
    let (told, _) = workshop.fails("other", json!({})).await;
    assert!(told.contains("there is no function 'three' in") && told.contains("there is: one, two"), "{told}");
}

#[tokio::test]
async fn an_answer_that_is_not_as_promised_is_a_failure_that_says_where() {
    let Some((said, _)) = told("nan", "effects: []").await else { return };
    assert!(said.contains("prices"), "{said}");
    let Some(workshop) = Workshop::with_python("def price(): return {'price': 'cheap'}") else { return };
    let promise = "effects: []\noutput_schema: {properties: {price: {type: number}}}";
    let (told, _) = workshop.function("price", promise).fails("price", json!({})).await;
    assert!(told.contains("$.price"), "{told}");
}
