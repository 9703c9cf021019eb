use serde_json::{Value, json};

use crate::arguments::read_text;

/// The text is read as `expected`, and `repairs` are told.
#[track_caller]
fn mended(text: &str, expected: &Value, repairs: &[&str]) {
    let read = read_text(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
    assert_eq!(&read.value, expected, "{text}");
    let lines: Vec<String> = repairs.iter().map(|line| format!("json: {line}")).collect();
    assert_eq!(read.repairs, lines, "{text}");
}

/// The text is refused, and all the words occur in what is said.
#[track_caller]
fn refused(text: &str, words: &[&str]) {
    let said = match read_text(text) {
        Ok(read) => panic!("{text:.80} was read as {:.80}", read.value.to_string()),
        Err(fault) => fault.to_string(),
    };
    for word in words {
        assert!(said.contains(word), "{word:?} is not in {said}");
    }
    assert!(said.len() < 1000, "{said}");
}

const TRAILING: &str = "removed a trailing comma";
const SINGLE: &str = "single quotes read as double quotes";
const PYTHON: &str = "Python True/False/None read as JSON";
const AROUND: &str = "left out the text around the object";
const FENCE: &str = "took the text out of a code fence";
const DECODED: &str = "the object was sent as a string and was decoded";
const BACKSLASH: &str = "kept a backslash that was not escaped";

#[test]
fn valid_json_is_not_touched_however_odd_it_is() {
    mended(
        r#"{"a":"C:\new","b":[1,-0.5e3,true,null,{}]}"#,
        &json!({"a": "C:\new", "b": [1, -500.0, true, null, {}]}),
        &[],
    );
    mended("", &json!({}), &[]);
    mended(" \n\t", &json!({}), &[]);
    mended(" null ", &json!({}), &[]);
    mended(
        r#"{"a":18446744073709551615,"b":18446744073709551616}"#,
        &json!({"a": u64::MAX, "b": 18446744073709551616.0}),
        &[],
    );
    mended(r#"{"a":"\ud83d\ude00","b":1e300}"#, &json!({"a": "😀", "b": 1e300}), &[]);
}

#[test]
fn commas_are_removed_at_the_end_and_put_between_what_cannot_be_one_value() {
    mended(r#"{"a":[1,2,],}"#, &json!({"a": [1, 2]}), &[TRAILING]);
    mended(r#"{"a":1},"#, &json!({"a": 1}), &[TRAILING]);
    mended(r#"{"a":"x" "b":[{} {}]}"#, &json!({"a": "x", "b": [{}, {}]}), &["missing comma"]);
    refused(r#"{"a":["x" "y"]}"#, &["$.a", "comma", "line 1, column 11"]);
    refused(r#"{"a":"x""b":1}"#, &["comma"]);
    refused(r#"{"a":1,,"b":2}"#, &["column 8"]);
    refused(r#"{,"a":1}"#, &["key"]);
}

#[test]
fn python_text_is_read_as_json() {
    mended("{'a':'x','b':True,'c':None}", &json!({"a": "x", "b": true, "c": null}), &[SINGLE, PYTHON]);
    mended(
        r#"{'a':"it's",'b':'say "x"','c':'it\'s'}"#,
        &json!({"a": "it's", "b": "say \"x\"", "c": "it's"}),
        &[SINGLE],
    );
    refused("{'a':'it's'}", &["quote"]);
    refused("{'a':(1,2)}", &["a value"]);
}

#[test]
fn keys_without_quotes_and_comments_are_read() {
    mended("{a:1,b-c:2}", &json!({"a": 1, "b-c": 2}), &["unquoted keys quoted"]);
    mended("{\"a\":1, // one\n/* two */ \"b\":2 # three\n}", &json!({"a": 1, "b": 2}), &["comments removed"]);
    refused("{\"a\":1 // }", &["comment"]);
    refused("{\"a\":b}", &["double quotes"]);
}

#[test]
fn text_around_one_object_is_left_out() {
    mended("```json\n{\"a\":1}\n```", &json!({"a": 1}), &[FENCE]);
    mended("Sure, here's the call: {\"a\":1} Done.", &json!({"a": 1}), &[AROUND]);
    mended("<tool_call>{\"a\":1}</tool_call>", &json!({"a": 1}), &[AROUND]);
    mended("\u{feff}{\"a\":1}", &json!({"a": 1}), &["removed a byte order mark"]);
    mended("{\"a\":1}}", &json!({"a": 1}), &["removed an extra closing bracket"]);
}

#[test]
fn two_values_and_parts_of_one_are_refused() {
    refused("{\"a\":1}{\"b\":2}", &["one JSON object", "{\\\"b\\\":2}"]);
    refused("{\"a\":1}\n{\"b\":2}\n", &["one JSON object"]);
    refused("{\"a\":1} 5", &["and then"]);
    refused("\"path\":\"x\",\"o\":{\"a\":1}", &["before the object"]);
    refused("limit: 5, o: {a: 1}", &["before the object"]);
    refused("{\"a\":{}},\"b\":2}", &["and then"]);
    refused("[{\"a\":1}]", &["one JSON object"]);
    refused("[{\"a\":1},]", &["one JSON object"]);
    refused("5", &["one JSON object", "5"]);
    refused("please", &["one JSON object", "please"]);
}

#[test]
fn an_object_inside_a_string_is_decoded_once() {
    mended(r#""{\"a\":\"x\"}""#, &json!({"a": "x"}), &[DECODED]);
    mended(r#""{\"a\":1,}""#, &json!({"a": 1}), &[DECODED, TRAILING]);
    mended(r#"{\"a\":\"x\"}"#, &json!({"a": "x"}), &[DECODED]);
    refused(r#""\"{}\"""#, &["one JSON object"]);
    refused(r#""hello""#, &["hello"]);
}

#[test]
fn raw_line_ends_and_tabs_in_strings_are_kept() {
    let notes = ["escaped a raw newline inside a string", "escaped a raw tab inside a string"];
    mended("{\"a\":\"x\ny\tz\"}", &json!({"a": "x\ny\tz"}), &notes);
}

#[test]
fn typographic_quotes_delimit_only_where_none_is_inside() {
    mended("{“a”: “x”}", &json!({"a": "x"}), &["typographic quotes read as double quotes"]);
    refused("{“a”: “x \"y\"”}", &["quote"]);
    refused("{“a”: “x “y””}", &["comma"]);
}

#[test]
fn a_backslash_is_kept_or_refused_and_never_dropped() {
    mended(r#"{"a":"\d+\.rs"}"#, &json!({"a": r"\d+\.rs"}), &[BACKSLASH]);
    mended(r#"{"a":"C:\Users\x"}"#, &json!({"a": r"C:\Users\x"}), &[BACKSLASH]);
    mended(r#"{"a":"grep \"\d\"","b":"x\ny"}"#, &json!({"a": r#"grep "\d""#, "b": "x\ny"}), &[BACKSLASH]);
    mended(r#"{"a":"it\'s"}"#, &json!({"a": "it's"}), &["read \\' as '"]);
    refused(r#"{"a":"C:\Users\new"}"#, &["$.a", "two (\\\\)", "column 9"]);
    refused(r#"{"a":"\\d+\.rs"}"#, &["backslash"]);
    refused(r#"{"a":"\x41"}"#, &["\\u00"]);
    refused(r#"{"a":"C:\users"}"#, &["four hexadecimal digits"]);
    refused(r#"{"a":"\u12"}"#, &["four hexadecimal digits"]);
    refused(r#"{"a":"\ud83d x"}"#, &["both halves"]);
}

#[test]
fn a_number_is_rewritten_only_where_it_has_one_reading() {
    mended(
        "{\"a\":+5,\"b\":.5,\"c\":-5.}",
        &json!({"a": 5, "b": 0.5, "c": -5.0}),
        &["a number rewritten in JSON notation"],
    );
    for text in ["01", "0x10", "1_000", "NaN", "-Infinity", "-", "1e", "--1", "1e999", "1.2.3"] {
        refused(&format!("{{\"a\":{text}}}"), &["$.a"]);
    }
}

#[test]
fn a_whole_number_that_would_lose_digits_is_refused() {
    refused("{\"a\":[123456789012345678901]}", &["$.a[0]", "string", "smaller number"]);
    refused("{\"a\":-9223372036854775809}", &["64 bits"]);
}

#[test]
fn brackets_are_closed_only_after_a_complete_value() {
    mended(r#"{"a":["x""#, &json!({"a": ["x"]}), &["closed 2 open brackets at the end"]);
    mended(r#"{"a":{"b":true}"#, &json!({"a": {"b": true}}), &["closed 1 open bracket at the end"]);
    for text in [
        r#"{"a":"x"#,
        r#"{"a":12"#,
        r#"{"a":tru"#,
        r#"{"a":"#,
        r#"{"a""#,
        r#"{"a":1,"#,
        r#"{"a":["#,
        "{",
        r#"{"a":"x\"#,
    ] {
        refused(text, &["cut off", "nothing was run", "send it again"]);
    }
}

#[test]
fn quotes_inside_a_string_are_refused_with_the_place() {
    refused(r#"{"a":"he said "hi""}"#, &["line 1, column 16", "\\\""]);
    refused("{\"a\":1,\n \"b\":\"x \"y\" z\"}", &["line 2, column 10"]);
}

#[test]
fn a_key_given_twice_is_refused_with_its_path() {
    refused(r#"{"a":1,"a":1}"#, &["$.a:", "twice"]);
    refused(r#"{"x":[{},{"a b":1,"a b":2}]}"#, &["$.x[1][\"a b\"]"]);
    refused("{'x':[{'a':1,'a':2}],}", &["$.x[0].a"]);
    refused(r#""{\"a\":1,\"a\":2}""#, &["$.a"]);
}

#[test]
fn long_and_deep_garbage_ends_in_a_fault() {
    refused(&"{\"a\":".repeat(100_000), &["127 deep"]);
    refused(&format!("{{\"a\":{}", "[".repeat(100_000)), &["127 deep"]);
    refused(&"[".repeat(1_000_000), &["one JSON object"]);
    refused(&"a".repeat(1_000_000), &["one JSON object"]);
    refused(&format!("{{\"a\":\"{}", "x\n".repeat(500_000)), &["cut off at line 500001"]);
    refused(&format!("{{\"a\":{}}}", "9".repeat(1_000_000)), &["$.a"]);
    let deepest = format!("{}1{}", "{\"a\":".repeat(127), "}".repeat(127));
    assert!(read_text(&deepest).is_ok());
}
