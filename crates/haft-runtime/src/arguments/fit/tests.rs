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
fn a_number_in_quotes_is_a_number_when_it_is_written_plainly() {
    let whole = json!({"type": "integer"});
    property(whole.clone(), json!("5"), json!(5));
    property(whole.clone(), json!("-5"), json!(-5));
    property(whole.clone(), json!(5.0), json!(5));
    property(json!({"$ref": "#/$defs/count"}), json!("5"), json!(5));
    property(json!({"type": "number"}), json!("2.5"), json!(2.5));
    property(json!({"type": "number"}), json!("5"), json!(5));
    for text in ["007", " 5 ", "1e3", "5,000", "5.0", "+5", "-0", "", "five", "99999999999999999999"] {
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
    for value in [json!(1), json!(0), json!("yes"), json!("TRUE"), json!("1")] {
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
    property(texts.clone(), json!("[a-z]"), json!(["[a-z]"]));
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
    left_alone(json!({"type": "object"}), json!("{\"a\":1,}"));
    left_alone(json!({"type": "object"}), json!("{\"a\":1,\"a\":2}"));
    left_alone(json!({"type": "object"}), json!("[1]"));
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
