//! Tests which text becomes a call, and which stays text.

use proptest::prelude::*;

use super::hold_back::HoldBack;
use super::{ReplySegment, find};
use crate::lower::{ProviderDialect, ToolOffer, lower_all};
use crate::provider::ReplyEvent;
use crate::writing::offered_names::OfferedNames;

const TOOLS: [&str; 3] = ["read_file", "bash", "edit_file"];

fn names() -> OfferedNames {
    let schema = serde_json::json!({ "type": "object" });
    let offered =
        TOOLS.map(|name| ToolOffer { name, title: None, description: "", input_schema: &schema, read_only: None });
    OfferedNames::of(&lower_all(&offered, ProviderDialect::OpenAi))
}

/// Says a text in pieces, one line each.
fn check(text: &str) -> String {
    let Some(pieces) = find(text, &names()) else { return "text".to_owned() };
    let said: Vec<String> = pieces
        .iter()
        .map(|piece| match piece {
            ReplySegment::Text(text) => format!("text {text:?}"),
            ReplySegment::Call { name, arguments, is_cut: false } => format!("call {name} {arguments}"),
            ReplySegment::Call { name, arguments, is_cut: true } => format!("cut {name} {arguments}"),
        })
        .collect();
    said.join("\n")
}

#[test]
fn every_form_of_a_call_is_found() {
    let read = r#"call read_file {"path":"a.rs"}"#;
    let cases = [
        "<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\":\"a.rs\"}}\n</tool_call>",
        "<tool_call>{\"name\": \"read_file\", \"parameters\": {\"path\" : \"a.rs\"}}</tool_call>",
        // The last tag is often the word at which a server stops.
        "<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\":\"a.rs\"}}\n",
        "<tool_call>{\"name\": \"read_file\", \"arguments\": \"{\\\"path\\\":\\\"a.rs\\\"}\"}</tool_call>",
        "<tool_call>\n<function=read_file>\n<parameter=path>\na.rs\n</parameter>\n</function>\n</tool_call>",
        "<function=read_file>{\"path\":\"a.rs\"}</function>",
        "<function=read_file>\n<parameter=path>\na.rs\n</parameter>\n</function>",
        "[TOOL_CALLS][{\"name\": \"read_file\", \"arguments\": {\"path\":\"a.rs\"}}]",
        "[TOOL_CALLS]read_file[ARGS]{\"path\":\"a.rs\"}",
        "[TOOL_CALLS]read_file[CALL_ID]abcdefghi[ARGS]{\"path\":\"a.rs\"}",
        "[TOOL_CALLS] read_file{\"path\":\"a.rs\"}",
        "<|python_tag|>{\"name\": \"read_file\", \"parameters\": {\"path\":\"a.rs\"}}<|eom_id|>",
        "```json\n{\"name\": \"read_file\", \"arguments\": {\"path\":\"a.rs\"}}\n```",
        "```\n{\"type\":\"function\",\"function\":{\"name\":\"read_file\",\"arguments\":\"{\\\"path\\\":\\\"a.rs\\\"}\"}}\n```\n",
        "```xml\n<tool_call>{\"name\":\"read_file\",\"arguments\":{\"path\":\"a.rs\"}}</tool_call>\n```",
        "{\"name\": \"read_file\", \"arguments\": {\"path\":\"a.rs\"}}",
        "[{\"name\": \"read_file\", \"parameters\": {\"path\":\"a.rs\"}}]",
        "<think>Which file? <tool_call>?</think>\n{\"name\": \"read_file\", \"arguments\": {\"path\":\"a.rs\"}}",
        "<tool_use>\n  <tool_name>read_file</tool_name>\n  <parameter>\n    <path>a.rs</path>\n  </parameter>\n</tool_use>",
        "<tool_use><tool_name>read_file</tool_name><parameter><path>a.rs</path></parameter>\n",
        "<tool_use><tool_name>read_file</tool_name><parameter name=\"path\">a.rs</parameter></tool_use>",
    ];
    for text in cases {
        let found = check(text);
        assert!(found.lines().any(|line| line == read), "{text}\n→ {found}");
    }
}

#[test]
fn text_around_calls_stays_text() {
    let text = "I look first.\n<tool_call>{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}</tool_call>\n\
                <tool_call>{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}</tool_call>\nThen I go on.";
    insta::assert_snapshot!(check(text), @r#"
    text "I look first.\n"
    call read_file {"path":"a"}
    call bash {"command":"ls"}
    text "\nThen I go on."
    "#);
}

#[test]
fn several_calls_of_one_marker_are_found() {
    let text = "<use_parallel_tool_calls>\n<parallel_tool>\n<tool_name>read_file</tool_name>\n<parameter><path>a &amp; b</path>\
                <limit>5</limit></parameter>\n</parallel_tool>\n<parallel_tool><tool_name>bash</tool_name><parameter><command>\n\
                <![CDATA[echo \"</a>\" && ls]]>\n</command></parameter></parallel_tool>\n</use_parallel_tool_calls>";
    insta::assert_snapshot!(check(text), @r#"
    call read_file {"path":"a & b","limit":"5"}
    call bash {"command":"echo \"</a>\" && ls"}
    "#);
}

#[test]
fn values_keep_what_looks_like_an_end() {
    let text = "<function=edit_file>\n<parameter=new_text>\n<p>\n</parameter> is an end\n</parameter>\n<parameter=path>\nx\n\
                </parameter>\n</function>";
    insta::assert_snapshot!(check(text), @r#"call edit_file {"new_text":"<p>\n</parameter> is an end","path":"x"}"#);
    let json = r#"<tool_call>{"name":"bash","arguments":{"command":"echo '</tool_call>'"}}</tool_call>"#;
    insta::assert_snapshot!(check(json), @r#"call bash {"command":"echo '</tool_call>'"}"#);
}

#[test]
fn what_is_half_written_is_cut() {
    let cases = [
        ("<tool_call>{\"name\": \"bash\", \"arguments\": {\"command\": \"ls", "cut bash {\"command\": \"ls"),
        ("```json\n{\"name\": \"bash\", \"arguments\": {\"comm", "cut bash {\"comm"),
        ("{\"name\": \"bash\", \"arguments\": {\"comm", "cut bash {\"comm"),
        ("<function=bash>{\"command\": \"l", "cut bash {\"command\": \"l"),
        ("<function=bash>\n<parameter=command>\nls -", "cut bash {\"command\":\"ls -\"}"),
        ("<function=bash>\n<parameter=command>\nls\n</parameter>\n", "cut bash {\"command\":\"ls\"}"),
        ("[TOOL_CALLS]bash[ARGS]{\"command\":", "cut bash {\"command\":"),
        ("<tool_use><tool_name>bash</tool_name><parameter><command>ls", "cut bash {\"command\":\"ls\"}"),
        (
            "<tool_use><tool_name>bash</tool_name><parameter name=\"command\">ls</parameter>",
            "cut bash {\"command\":\"ls\"}",
        ),
        // The name of the called tool is unknown.
        ("<tool_call>{\"name\": \"ba", "text"),
        ("<tool_use><tool_name>ba", "text"),
        // Only brackets are missing.
        ("<tool_call>{\"name\": \"bash\", \"arguments\": {\"command\": \"ls\"}", "call bash {\"command\": \"ls\"}"),
        // Ended on purpose, and wrong: the model is told.
        (
            "<tool_call>{\"name\": \"bash\", \"arguments\": {\"command\": ls}}</tool_call>",
            "call bash {\"command\": ls}",
        ),
    ];
    for (text, wanted) in cases {
        let found = check(text);
        let found = found.replace("{\"command\":\"ls\"}", "{\"command\": \"ls\"}");
        assert_eq!(found, wanted.replace("{\"command\":\"ls\"}", "{\"command\": \"ls\"}"), "{text}");
    }
}

#[test]
fn what_may_be_anything_else_stays_text() {
    let cases = [
        "Use `<tool_call>{\"name\":\"bash\",\"arguments\":{}}</tool_call>` for that.",
        "The model writes <tool_call>{\"name\":\"bash\",\"arguments\":{}}</tool_call> in one line.",
        "For example:\n```json\n{\"name\": \"bash\", \"arguments\": {\"command\":\"ls\"}}\n```\nThat would list the folder.",
        "```xml\n<tool_call>{\"name\":\"bash\",\"arguments\":{}}</tool_call>\n```\nis what Qwen writes.",
        "```\n<function=bash>{}</function>\nand more\n```",
        "<tool_call>{\"name\":\"rm\",\"arguments\":{}}</tool_call>",
        "<tool_call>read_file</tool_call>",
        "{\"name\": \"bash\", \"version\": \"1.0\", \"arguments\": {}}",
        "{\"name\": \"bash\"}",
        "{\"name\": \"bash\", \"arguments\": {}, \"parameters\": {}}",
        "{\"name\": \"bash\", \"arguments\": [1]}",
        "{\"name\": \"bash\", \"arguments\": {}} is how a call looks.",
        "<think>\n<tool_call>{\"name\":\"bash\",\"arguments\":{}}</tool_call>\n</think>\nDone.",
        "<tool_call>{\"name\":\"bash\",\"arguments\":{}}</tool_call>\nhm</think>\nDone.",
        "<think>\n<tool_call>{\"name\":\"bash\",\"arguments\":{}}</tool_call>",
        "<function=bash>\nruns a command.",
        "<function=bash><parameter=a>1</parameter><parameter=a>2</parameter></function>",
        "<tool_use><tool_name>bash</tool_name><parameter><a>1</a><a>2</a></parameter></tool_use>",
        "<tool_use>\n<tool_name>rm</tool_name>\n</tool_use>",
        "[TOOL_CALLS] is the marker of Mistral.",
        "",
    ];
    for text in cases {
        assert_eq!(check(text), "text", "{text}");
    }
}

#[test]
fn nothing_is_found_when_nothing_was_offered() {
    let text = "<tool_call>{\"name\":\"bash\",\"arguments\":{}}</tool_call>";
    assert_eq!(find(text, &OfferedNames::default()), None);
}

/// Words of people who talk about tools, code and JSON.
const PROSE: [&str; 22] = [
    "the tool",
    "read_file",
    "bash",
    "calls",
    "`<tool_call>`",
    "a <function=bash> tag",
    "{",
    "}",
    "[",
    "]",
    "\"name\"",
    "\"arguments\": {}",
    "name:",
    "arguments",
    "e.g.",
    "ls -la |",
    "fn main() {}",
    "see `[TOOL_CALLS]`",
    "x < y > z",
    "</tool_call>",
    "…",
    "{\"path\": \"a\"}",
];
/// What begins a line of prose.
const STARTS: [&str; 6] = ["The", "- ", "1. ", "> ", "# ", "Then `bash` "];

fn prose() -> impl Strategy<Value = String> {
    let words = proptest::collection::vec(proptest::sample::select(&PROSE[..]), 0..8);
    let line = (proptest::sample::select(&STARTS[..]), words)
        .prop_map(|(start, words)| format!("{start} {}", words.join(" ")));
    let example = proptest::sample::select(vec![
        "```json\n{\"name\": \"bash\", \"arguments\": {\"command\": \"ls\"}}\n```",
        "```\n<tool_call>{\"name\": \"bash\", \"arguments\": {}}</tool_call>\n```",
        "```rust\nfn main() {}\n```",
    ]);
    let block = prop_oneof![4 => line.clone(), 1 => example.prop_map(str::to_owned)];
    (proptest::collection::vec(block, 0..8), line).prop_map(|(blocks, last)| {
        let mut text = blocks.join("\n");
        text.push('\n');
        text.push_str(&last);
        text
    })
}

fn hostile() -> impl Strategy<Value = String> {
    let pieces = vec![
        "<tool_call>",
        "</tool_call>",
        "<function=bash>",
        "<parameter=a>",
        "</parameter>",
        "</function>",
        "[TOOL_CALLS]",
        "[ARGS]",
        "bash",
        "{\"name\":\"bash\",\"arguments\":{}}",
        "{\"name\":\"bash\",\"arguments\":{",
        "\"",
        "{",
        "}",
        "<tool_use>",
        "<tool_name>bash</tool_name>",
        "<parameter>",
        "</tool_use>",
        "<use_parallel_tool_calls>",
        "<parallel_tool>",
        "```",
        "```json\n",
        "\n",
        " ",
        "ä",
        "<think>",
        "</think>",
        "<",
        "&amp;",
        "<|python_tag|>",
    ];
    proptest::collection::vec(proptest::sample::select(pieces), 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn ordinary_prose_never_becomes_a_call(text in prose()) {
        prop_assert_eq!(find(&text, &names()), None);
    }

    #[test]
    fn any_text_is_read_and_what_stays_is_a_part_of_it(text in prop_oneof![hostile(), ".{0,80}"]) {
        let mut from = 0;
        for piece in find(&text, &names()).unwrap_or_default() {
            match piece {
                ReplySegment::Text(said) => {
                    let at = text.get(from..).and_then(|rest| rest.find(&said));
                    prop_assert!(at.is_some(), "{said:?} is not in {text:?}");
                    from += at.unwrap_or_default() + said.len();
                }
                ReplySegment::Call { name, .. } => prop_assert!(TOOLS.contains(&name.as_str())),
            }
        }
    }
}

/// Tells a text in pieces of some length, and what was told before its end.
fn told_before_the_end(text: &str, length: usize) -> String {
    let told = std::sync::Mutex::new(String::new());
    let heard = |piece: ReplyEvent<'_>| {
        if let ReplyEvent::Text(text) = piece {
            told.lock().expect("nobody panicked").push_str(text);
        }
    };
    let mut hold_back = HoldBack::new();
    let characters: Vec<char> = text.chars().collect();
    for piece in characters.chunks(length) {
        hold_back.add(&piece.iter().collect::<String>(), &heard);
    }
    let before = told.lock().expect("nobody panicked").clone();
    hold_back.release(&heard);
    assert_eq!(*told.lock().expect("nobody panicked"), text, "everything is told in the end");
    before
}

#[test]
fn a_call_is_held_back_from_its_marker_on_however_it_is_cut() {
    let text = "I look.\n  <tool_call>{\"name\":\"bash\"}</tool_call>\nMore.";
    for length in 1..text.len() {
        assert_eq!(told_before_the_end(text, length), "I look.\n  ", "{length}");
    }
}

#[test]
fn what_cannot_be_a_call_is_told_as_it_comes() {
    for text in ["Use <tool_call> for it.", "<tool_calls>\n<b>x</b>\n", "a\n<", "[1]\n[TOOL] x", "```json\n{}\n```"] {
        for length in 1..text.len() {
            let told = told_before_the_end(text, length);
            assert_eq!(told, text.trim_end_matches("\n<").to_owned() + if text.ends_with("\n<") { "\n" } else { "" });
        }
    }
}
