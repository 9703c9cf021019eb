use serde_json::{Value, json};

use super::fit;

/// The value becomes `expected`, and `repairs` are told.
#[track_caller]
fn check(schema: &Value, value: Value, expected: &Value, repairs: &[&str]) {
    let fitted = fit(value, schema, &[("filename".to_owned(), "file_path".to_owned())]);
    assert_eq!(
        (&fitted.value, &fitted.repairs[..]),
        (expected, &repairs.iter().map(ToString::to_string).collect::<Vec<_>>()[..])
    );
}

/// The value of one property becomes `expected`.
#[track_caller]
fn property(schema: Value, value: Value, expected: Value) {
    let schema = json!({"type": "object", "properties": {"p": schema}, "$defs": {"count": {"type": "integer"}}});
    let fitted = fit(json!({"p": value}), &schema, &[]);
    assert_eq!(fitted.value, json!({"p": expected}), "{schema}");
    assert_eq!(fitted.repairs.is_empty(), value == expected);
}

#[track_caller]
fn left_alone(schema: Value, value: Value) {
    property(schema, value.clone(), value);
}

fn with(mut schema: Value, more: Value) -> Value {
    schema.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    schema
}

fn closed(properties: Value) -> Value {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

#[test]
fn a_key_with_the_letters_of_one_property_is_renamed_in_its_place() {
    let schema = closed(json!({"file_path": {"type": "string"}, "limit": {"type": "integer"}}));
    let expected = json!({"file_path": "x", "limit": 5});
    check(&schema, json!({"filePath": "x", "limit": 5}), &expected, &["$.filePath: read as \"file_path\""]);
    check(
        &schema,
        json!({"File-Path": "x", "LIMIT": 5}),
        &expected,
        &["$[\"File-Path\"]: read as \"file_path\"", "$.LIMIT: read as \"limit\""],
    );
    check(
        &schema,
        json!({"filename": "x", "limit": "5"}),
        &expected,
        &["$.filename: read as \"file_path\"", "$.limit: \"5\" → 5"],
    );
}

#[test]
fn a_key_is_renamed_in_objects_inside_lists_and_behind_references() {
    let edit = closed(json!({"old_text": {"type": "string"}}));
    let schema = json!({"type": "object", "properties": {"edits": {"type": "array", "items": {"$ref": "#/$defs/edit"}}}, "$defs": {"edit": edit}});
    check(
        &schema,
        json!({"edits": [{"oldText": "x"}]}),
        &json!({"edits": [{"old_text": "x"}]}),
        &["$.edits[0].oldText: read as \"old_text\""],
    );
}

#[test]
fn a_key_is_not_renamed_when_letters_differ_or_two_could_be_meant() {
    let schema = closed(json!({"file_path": {}, "timeout_ms": {}, "paths": {}}));
    for value in [
        json!({"timeout": 5}),
        json!({"path": "x"}),
        json!({"file_path": "x", "filePath": "y"}),
        json!({"filePath": "x", "FilePath": "y"}),
        json!({"filename": "x", "filePath": "y"}),
    ] {
        check(&schema, value.clone(), &value, &[]);
    }
    let twins = closed(json!({"file_path": {}, "filepath": {}}));
    check(&twins, json!({"filePath": 1}), &json!({"filePath": 1}), &[]);
}

#[test]
fn a_key_the_schema_welcomes_is_not_renamed() {
    let value = json!({"filePath": "x"});
    for extra in [
        json!({"additionalProperties": true}),
        json!({"patternProperties": {".": {}}}),
        json!({"allOf": [{"properties": {"filePath": {}}}]}),
    ] {
        let mut schema = json!({"type": "object", "properties": {"file_path": {}}});
        schema.as_object_mut().expect("an object").extend(extra.as_object().expect("an object").clone());
        check(&schema, value.clone(), &value, &[]);
    }
    let silent = json!({"type": "object", "properties": {"file_path": {}}});
    check(&silent, value, &json!({"file_path": "x"}), &["$.filePath: read as \"file_path\""]);
}

#[test]
fn keys_that_belong_one_level_deeper_go_there_when_one_place_is_complete_with_them() {
    let edit =
        closed(json!({"old_text": {"type": "string"}, "new_text": {"type": "string"}, "count": {"type": "integer"}}));
    let edit = with(edit, json!({"required": ["old_text", "new_text"]}));
    let schema = closed(json!({"path": {"type": "string"}, "edits": {"type": "array", "items": edit}}));
    check(
        &schema,
        json!({"path": "a", "oldText": "x", "new_text": "y", "count": "2"}),
        &json!({"path": "a", "edits": [{"old_text": "x", "new_text": "y", "count": 2}]}),
        &[
            "$.oldText: read as \"edits[0].old_text\"",
            "$.new_text: read as \"edits[0].new_text\"",
            "$.count: read as \"edits[0].count\"",
            "$.edits[0].count: \"2\" → 2",
        ],
    );
    for value in [
        json!({"path": "a", "old_text": "x"}),
        json!({"path": "a", "old_text": "x", "new_text": "y", "edits": []}),
        json!({"path": "a", "count": 1}),
    ] {
        check(&schema, value.clone(), &value, &[]);
    }
    check(
        &schema,
        json!({"path": "a", "old_text": "x", "new_text": "y", "other": 1}),
        &json!({"path": "a", "other": 1, "edits": [{"old_text": "x", "new_text": "y"}]}),
        &["$.old_text: read as \"edits[0].old_text\"", "$.new_text: read as \"edits[0].new_text\""],
    );
    let place = json!({"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "string"}}, "required": ["city"]});
    let one = json!({"type": "object", "properties": {"at": place, "n": {"type": "integer"}}, "required": ["at"]});
    let moved = ["$.city: read as \"at.city\"", "$.zip: read as \"at.zip\""];
    check(
        &one,
        json!({"city": "Rome", "n": 1, "zip": "1"}),
        &json!({"n": 1, "at": {"city": "Rome", "zip": "1"}}),
        &moved,
    );
    let two = json!({"type": "object", "properties": {"from": place, "to": place}, "required": ["from", "to"]});
    check(&two, json!({"city": "Rome"}), &json!({"city": "Rome"}), &[]);
}

#[test]
fn a_required_key_that_lies_one_level_too_deep_is_taken_out() {
    let edit = json!({"type": "object", "properties": {"old": {"type": "string"}}, "required": ["old"]});
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}, "edit": edit}, "required": ["path", "edit"]});
    check(
        &schema,
        json!({"edit": {"path": "a", "old": "x"}}),
        &json!({"edit": {"old": "x"}, "path": "a"}),
        &["$.edit.path: read as \"path\""],
    );
    let value = json!({"path": "b", "edit": {"path": "a", "old": "x"}});
    check(&schema, value.clone(), &value, &[]);
}

#[test]
fn a_number_in_quotes_is_a_number_when_it_is_written_plainly() {
    let whole = json!({"type": "integer"});
    property(whole.clone(), json!("5"), json!(5));
    property(whole.clone(), json!("-5"), json!(-5));
    property(whole.clone(), json!(5.0), json!(5));
    property(json!({"$ref": "#/$defs/count"}), json!("5"), json!(5));
    property(json!({"type": "number"}), json!("2.5"), json!(2.5));
    property(json!({"type": "number"}), json!("5"), json!(5));
    property(whole.clone(), json!("5.0"), json!(5));
    for text in ["007", " 5 ", "1e3", "5,000", "5.5", "+5", "-0", "-0.0", "five", "99999999999999999999"] {
        left_alone(whole.clone(), json!(text));
    }
    left_alone(json!({"type": "number"}), json!("1.23456789012345678"));
    left_alone(json!({"type": "integer", "minimum": 10}), json!("5"));
    left_alone(whole, json!(true));
}

#[test]
fn true_and_false_in_quotes_are_truth_values_but_numbers_are_not() {
    property(json!({"type": "boolean"}), json!("true"), json!(true));
    property(json!({"type": "boolean"}), json!("False"), json!(false));
    property(json!({"type": "boolean"}), json!("TRUE"), json!(true));
    for value in [json!(1), json!(0), json!("yes"), json!("tRUE"), json!("1")] {
        left_alone(json!({"type": "boolean"}), value);
    }
}

#[test]
fn a_text_stays_a_text_wherever_a_text_is_admitted() {
    for value in ["5", "true", "[1]", "{\"a\":1}", "null"] {
        left_alone(json!({"type": "string"}), json!(value));
        left_alone(json!({"type": ["string", "integer"]}), json!(value));
        left_alone(json!({"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "array"}]}), json!(value));
    }
}

#[test]
fn nothing_becomes_a_text_because_file_content_is_one() {
    for value in [json!(5), json!(2.5), json!(true), json!({"a": 1}), json!(["x"])] {
        left_alone(json!({"type": "string"}), value);
    }
}

#[test]
fn a_single_value_becomes_a_list_of_one() {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    property(texts.clone(), json!("*.py"), json!(["*.py"]));
    property(json!({"type": "array", "items": {"type": "integer"}}), json!("5"), json!([5]));
    property(json!({"type": "array"}), json!({"a": 1}), json!([{"a": 1}]));
    left_alone(json!({"type": "array", "items": {"type": "integer"}}), json!("x"));
    left_alone(json!({"type": "array", "minItems": 2}), json!("x"));
    left_alone(json!({"type": ["array", "integer"], "items": {"type": "string"}}), json!("5"));
}

#[test]
fn json_in_a_text_is_decoded_where_a_list_or_an_object_belongs() {
    property(json!({"type": "array", "items": {"type": "string"}}), json!("[\"a\"]"), json!(["a"]));
    property(json!({"type": "object"}), json!("{\"a\":1}"), json!({"a": 1}));
    property(
        json!({"type": "object", "properties": {"n": {"type": "integer"}}}),
        json!("{\"n\":\"5\"}"),
        json!({"n": 5}),
    );
    left_alone(json!({"type": "object"}), json!("{\"a\":1,\"a\":2}"));
    left_alone(json!({"type": "object"}), json!("[1]"));
}

#[test]
fn a_list_or_an_object_as_python_writes_it_is_decoded() {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let numbers = json!({"type": "array", "items": {"type": "number"}});
    let any = json!({"type": "object"});
    for (schema, text, expected) in [
        (&texts, "['*.rs','*.md']", json!(["*.rs", "*.md"])),
        (&texts, "['it\\'s', \"it's\", 'a,b',]", json!(["it's", "it's", "a,b"])),
        (&texts, " [ 'a' ,\n 'b' ] ", json!(["a", "b"])),
        (&texts, "('a', 'b')", json!(["a", "b"])),
        (&texts, "('a',)", json!(["a"])),
        (&texts, "[]", json!([])),
        (&texts, "```json\n[\"a\"]\n```", json!(["a"])),
        (&texts, r"['\d+', '\w']", json!([r"\d+", r"\w"])),
        (&numbers, "[1, 2.5, -3,]", json!([1, 2.5, -3])),
        (&numbers, "(1, 2)", json!([1, 2])),
        (
            &any,
            "{'a': True, 'b': None, 'c': [1, (2, 3)], 'd': {'e': 'f'}}",
            json!({"a": true, "b": null, "c": [1, [2, 3]], "d": {"e": "f"}}),
        ),
        (&any, "{\"a\":1,}", json!({"a": 1})),
        (&any, "{a: 1}", json!({"a": 1})),
    ] {
        property(schema.clone(), json!(text), expected);
    }
    let rows = json!({"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}});
    property(rows.clone(), json!("[{'n': '1'}, {'n': 2}]"), json!([{"n": 1}, {"n": 2}]));
    property(rows.clone(), json!("{'n': 1}"), json!([{"n": 1}]));
    property(rows, json!(["{'n': 1}", "{\"n\": \"2\"}"]), json!([{"n": 1}, {"n": 2}]));
    property(json!({"type": ["object", "null"]}), json!("{'a': 1}"), json!({"a": 1}));
    property(json!({"anyOf": [{"type": "object"}, {"type": "null"}]}), json!("{'a': 1}"), json!({"a": 1}));
}

#[test]
fn a_text_that_begins_like_a_list_or_an_object_is_read_or_refused_but_never_wrapped() {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    for text in [
        "[a-z]",
        "[a-z]*.rs",
        "{a,b}.rs",
        "['a', 'b'",
        "['a' 'b']",
        "['a'] and more",
        "[a, b]",
        "{'a', 'b'}",
        "[r'a']",
        r"['\x41']",
        r"['\U0001f600']",
        r"['\0']",
        "['a', NaN]",
        "[1, 2]",
        "[['a'], ['b']]",
    ] {
        left_alone(texts.clone(), json!(text));
    }
    for text in ["{a", "{'a': 1, 'a': 2}", "{'a': 1} {'b': 2}", "{1: 2}", "{'a': x}", "[1]", "{'a': f(1)}"] {
        left_alone(json!({"type": "object"}), json!(text));
    }
    // A text that only begins with a parenthesis is a text.
    property(texts, json!("(a|b)"), json!(["(a|b)"]));
}

#[test]
fn a_text_that_may_be_one_item_or_several_is_not_taken_for_one() {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    for text in ["a, b", "*.rs,*.md", "a; b", "a\nb", "'a', 'b'", "'a'", "\"a\""] {
        left_alone(texts.clone(), json!(text));
    }
    property(texts.clone(), json!("*.{rs,md}"), json!(["*.{rs,md}"]));
    property(texts, json!("New York"), json!(["New York"]));
    let whole = json!({"type": "array", "items": {"type": "integer"}});
    property(whole.clone(), json!("1, 2, 3"), json!([1, 2, 3]));
    property(whole.clone(), json!("1,2,3"), json!([1, 2, 3]));
    left_alone(whole.clone(), json!("1,234"));
    left_alone(whole.clone(), json!("1,234,567"));
    left_alone(whole, json!("1, x"));
    left_alone(json!({"type": "array", "items": {"type": "number"}}), json!("1,5"));
    let words = json!({"type": "array", "items": {"enum": ["red", "Blue"]}});
    property(words.clone(), json!("red, blue"), json!(["red", "Blue"]));
    property(words, json!("['RED']"), json!(["red"]));
}

#[test]
fn a_flat_list_is_not_wrapped_item_by_item() {
    let rows = json!({"type": "array", "items": {"type": "array", "items": {"type": "number"}}});
    for value in [json!([1, 2]), json!([[1, 2], 3]), json!("[1, 2]"), json!(5), json!(["1", "2"])] {
        left_alone(rows.clone(), value);
    }
    property(rows.clone(), json!("[[1, 2], [3]]"), json!([[1, 2], [3]]));
    property(rows.clone(), json!(["[1, 2]", "(3, 4)"]), json!([[1, 2], [3, 4]]));
    property(rows, json!([["1", 2]]), json!([[1, 2]]));
    let points =
        json!({"type": "array", "items": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}});
    property(points.clone(), json!([1, 2]), json!([[1, 2]]));
    property(points.clone(), json!(["1", "2"]), json!([[1, 2]]));
    left_alone(points.clone(), json!([1, 2, 3, 4]));
    left_alone(points, json!([1]));
    let flat = json!({"type": "array", "items": {"type": "number"}});
    property(flat.clone(), json!([[1, 2]]), json!([1, 2]));
    left_alone(flat, json!([[1], [2]]));
}

#[test]
fn a_list_of_one_is_its_item_where_no_list_and_no_text_belongs() {
    property(json!({"type": "integer"}), json!(["5"]), json!(5));
    property(json!({"type": "object"}), json!([{"a": 1}]), json!({"a": 1}));
    property(json!({"type": "string", "enum": ["a", "b"]}), json!(["a"]), json!("a"));
    left_alone(json!({"type": "integer"}), json!([5, 6]));
    left_alone(json!({"type": "array", "items": {"type": "integer"}}), json!([[5], [6]]));
}

#[test]
fn null_as_text_is_null_where_no_text_belongs() {
    property(json!({"type": ["integer", "null"]}), json!("null"), json!(null));
    property(json!({"anyOf": [{"type": "object"}, {"type": "null"}]}), json!("None"), json!(null));
    left_alone(json!({"type": ["string", "null"]}), json!("None"));
    let schema = closed(json!({"limit": {"type": "integer"}, "names": {"type": "array"}}));
    check(&schema, json!({"limit": "None"}), &json!({}), &["$.limit: \"None\" left out"]);
    check(&schema, json!({"names": "None"}), &json!({}), &["$.names: \"None\" left out"]);
}

#[test]
fn an_empty_value_is_left_out_where_an_optional_argument_cannot_be_empty() {
    let optional = closed(json!({
        "number": {"type": "integer"},
        "maybe": {"type": ["integer", "null"]},
        "flag": {"type": "boolean"},
        "choice": {"type": "string", "enum": ["a", "b"]},
        "list": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "object": {"type": "object", "properties": {"a": {}}, "required": ["a"]},
    }));
    let empty = [json!(""), json!("  "), json!([]), json!({})];
    for (name, _) in optional["properties"].as_object().expect("it is an object") {
        for value in &empty {
            let told = format!("$.{name}: {value} left out");
            check(&optional, json!({ name: value }), &json!({}), &[&told]);
            let mut required = optional.clone();
            required["required"] = json!([name]);
            check(&required, json!({ name: value }), &json!({ name: value }), &[]);
        }
        for word in ["null", "None", "none", "undefined", "nil"] {
            if name == "list" && ["null", "None"].contains(&word) {
                let required = with(optional.clone(), json!({ "required": [name] }));
                check(&required, json!({ name: word }), &json!({ name: word }), &[]);
            }
            let reading = fit(json!({ name: word }), &optional, &[]);
            let expected = match (name.as_str(), word) {
                ("maybe", "null" | "None") => json!({ name: null }),
                ("choice", "none" | "undefined" | "nil") => json!({ name: word }),
                _ => json!({}),
            };
            assert_eq!(reading.value, expected, "{name}: {word}");
        }
    }
}

#[test]
fn an_empty_value_that_the_schema_admits_is_meant() {
    for (schema, value) in [
        (json!({"type": "string"}), json!("")),
        (json!({"type": "array"}), json!([])),
        (json!({"type": "object"}), json!({})),
        (json!({"type": "string"}), json!("null")),
        (json!({"type": "integer"}), json!(0)),
    ] {
        left_alone(schema, value);
    }
}

#[test]
fn null_is_left_out_where_the_property_is_optional_and_never_null() {
    let mut schema =
        closed(json!({"limit": {"type": "integer"}, "path": {"type": "string"}, "who": {"type": ["string", "null"]}}));
    schema["required"] = json!(["path"]);
    let value = json!({"limit": null, "path": null, "who": null, "other": null});
    check(&schema, value, &json!({"path": null, "who": null, "other": null}), &["$.limit: null left out"]);
}

#[test]
fn a_choice_in_another_case_takes_the_listed_spelling() {
    let methods = json!({"type": "string", "enum": ["GET", "HEAD"]});
    property(methods.clone(), json!("get"), json!("GET"));
    left_alone(methods, json!("PUT"));
    left_alone(json!({"enum": ["get", "GET"]}), json!("Get"));
    property(json!({"oneOf": [{"const": "fast"}, {"const": "slow"}]}), json!("Fast"), json!("fast"));
}

#[test]
fn a_union_takes_a_reading_only_when_one_branch_has_one() {
    let either = json!({"anyOf": [{"type": "integer"}, {"type": "null"}]});
    property(either.clone(), json!("5"), json!(5));
    property(either, json!(5.0), json!(5));
    left_alone(json!({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]}), json!("5"));
    left_alone(json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}), json!(5));
    let tagged = json!({"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind", "n"]},
        {"type": "object", "properties": {"kind": {"const": "b"}, "n": {"type": "boolean"}}, "required": ["kind", "n"]},
    ]});
    property(tagged.clone(), json!({"kind": "a", "n": "5"}), json!({"kind": "a", "n": 5}));
    left_alone(tagged, json!({"kind": "c", "n": "5"}));
}

#[test]
fn a_schema_and_a_value_without_end_leave_the_value_alone() {
    let lists = json!({"type": "array", "items": {"$ref": "#"}});
    check(&lists, json!("x"), &json!("x"), &[]);
    let either = json!({"anyOf": [{"type": "array", "items": {"$ref": "#"}}, {"type": "object", "additionalProperties": {"$ref": "#"}}]});
    let mut deep = json!("x");
    for _ in 0..126 {
        deep = json!([deep]);
    }
    check(&either, deep.clone(), &deep, &[]);
    check(&lists, deep.clone(), &deep, &[]);
}
