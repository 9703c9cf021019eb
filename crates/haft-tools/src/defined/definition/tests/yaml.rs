//! Tests which YAML haft reads, and what it reports about the rest.

use serde_json::json;

use super::{read, told, told_with};
use crate::defined::definition::syntax::node::DefinitionNode;

fn value(text: &str) -> serde_json::Value {
    DefinitionNode::from_yaml(text).expect("it is YAML").to_value()
}

fn refused(text: &str) -> String {
    DefinitionNode::from_yaml(text).expect_err("it is refused").to_string()
}

#[test]
fn bom_line_ends_and_markers_of_one_document_are_no_matter() {
    let plain = read("name: t\ndescription: d\n");
    for text in [
        "\u{feff}name: t\r\ndescription: d\r\n",
        "---\nname: t\ndescription: d\n...\n",
        "# c\nname: t\t\ndescription: d",
    ] {
        let other = read(text);
        assert_eq!((other.name, other.description), (plain.name.clone(), plain.description.clone()), "{text:?}");
    }
}

#[test]
fn only_true_and_false_are_booleans_and_keys_are_texts() {
    let words = value("on: yes\nno: off\n1: 2001-01-01\nf: true\nhex: 0x1f\n");
    assert_eq!(words, json!({ "on": "yes", "no": "off", "1": "2001-01-01", "f": true, "hex": 31 }));
    let told = told_with("lazy: yes\n");
    assert_eq!(told, "line 3: \"lazy\" is text, but it must be true or false; write true or false\n");
}

#[test]
fn anchors_and_merge_keys_stand_for_what_they_name() {
    let merged = value("x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  b: 3\n");
    assert_eq!(merged["y"], json!({ "a": 1, "b": 3 }));
    assert_eq!(value("a: &a [1]\nb: *a\n")["b"], json!([1]));
}

#[test]
fn what_is_no_yaml_is_told_with_its_line_and_the_fix() {
    for (text, words) in [
        ("a: 1\na: 2\n", "line 2: the key \"a\" occurs twice; remove one of them"),
        ("a: 1\n---\nb: 1\n", "line 3: a second document begins with `---`; write one document per file"),
        ("a:\n\tb: 1\n", "line 2: a tab indents this line; indent with spaces"),
        ("a: 1\n\tb: 1\n", "line 1: a tab indents the next line; indent with spaces"),
        ("a: b: c\n", "line 1: a colon is where no value can follow; put the text in quotes, or fix the indentation"),
        (
            "a: 1\n b: 2\n",
            "line 2: a colon is where no value can follow; put the text in quotes, or fix the indentation",
        ),
        ("a: @x\n", "line 1: a text cannot begin like this; put the text in quotes"),
        ("a: 'it's'\n", "line 1: something follows the quoted text; put a ' inside '…' twice, or use \"…\""),
        ("a: 'x\n ", "line 1: a quote is not closed; close it"),
        ("a: [1, 2\n", "line 1: a bracket is not closed; close it"),
        (
            "- a\n-b\n",
            "line 2: this line is neither a key with a value nor an item of a list; write KEY: VALUE or - ITEM",
        ),
        ("a: - b\n", "line 1: a list begins on the line of its key; begin it on the next line"),
        (
            "a: *x\n",
            "line 1: an alias has no anchor; write the value itself, or put a text that begins with * in quotes",
        ),
        ("a: &x {b: *x}\n", "line 1: an alias is inside its own anchor; use a `$ref` in a schema"),
        ("a: .nan\n", "line 1: .nan is not a number that JSON has; write another number"),
        ("a: !foo bar\n", "line 1: the tag !foo has no meaning here; remove it"),
        ("~: 1\n", "line 1: a key is null; put it in quotes"),
        ("[a]: 1\n", "line 1: a key is not text; write KEY: VALUE, with the key in quotes if need be"),
        ("<<: [1]\n", "line 1: `<<` merges something that is not a map; name the anchor of a map"),
        ("a: \"\\q\"\n", "line 1: while parsing a quoted scalar, found unknown escape character; fix the YAML here"),
    ] {
        assert_eq!(refused(text), words, "{text:?}");
    }
}

#[test]
fn a_file_that_holds_no_map_is_told_so() {
    let fix = "write name, description and input_schema, one key per line\n";
    assert_eq!(told(""), format!("line 1: it is empty; {fix}"));
    assert_eq!(told("# nothing\n"), format!("line 2: it is empty; {fix}"));
    assert_eq!(told("- name: t\n"), format!("line 1: it is a list, but a definition is a map; {fix}"));
    assert_eq!(told("hello"), format!("line 1: it is text, but a definition is a map; {fix}"));
}

#[test]
fn bombs_are_refused_with_the_limit() {
    let tenfold = |i: usize| format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 10].join(", "));
    let laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned() + &(1..12).map(tenfold).collect::<String>();
    let chain =
        "a0: &a0 [x]\n".to_owned() + &(1..1000).map(|i| format!("a{i}: &a{i} [*a{}]\n", i - 1)).collect::<String>();
    let wide = format!("a: &a [{}]\nb: [{}]\n", "x, ".repeat(500), "*a, ".repeat(500));
    let steps = (0..1000).map(|i| format!("{}a:\n", " ".repeat(i))).collect::<String>();
    let deep = "it nests deeper than 32 levels";
    let aliases = "anchors and aliases expand to too much: 10000 values at most";
    for (text, limit) in [
        (laughs, aliases),
        (wide, aliases),
        (chain, deep),
        (steps, deep),
        ("[".repeat(10_000), deep),
        ("{a: ".repeat(10_000), deep),
        ("- ".repeat(10_000), deep),
        (format!("[{}]", "1, ".repeat(30_000)), "it has more than 20000 values"),
        (format!("a: {}", "x".repeat(64 << 20)), "it has 67108867 bytes, more than 1 MiB"),
    ] {
        let told = refused(&text);
        assert!(told.contains(limit), "{told}");
    }
}

#[test]
fn what_is_within_the_limits_is_read() {
    let levels = |count: usize| "[".repeat(count) + &"]".repeat(count);
    assert!(DefinitionNode::from_yaml(&levels(32)).is_ok());
    assert!(DefinitionNode::from_yaml(&levels(33)).is_err());
    assert!(DefinitionNode::from_yaml(&format!("[{}]", "1, ".repeat(19_000))).is_ok());
}

proptest::proptest! {
    #[test]
    fn no_text_brings_the_reader_down(text in "[-a-c:{}\\[\\], \n\"'*&!?|><#%@0-9\t~.$]{0,80}") {
        crate::defined::definition::check(&text);
        super::super::check_list(&format!("tools:\n{text}"), &|_| Some(text.clone()));
        super::told_with(&format!("input_schema: {text}"));
    }
}
