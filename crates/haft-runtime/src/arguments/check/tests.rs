use serde_json::{Value, json};

use super::Checker;

/// The value is refused with these lines.
#[track_caller]
fn refused(schema: &Value, value: &Value, lines: &[&str]) {
    let faults = Checker::new(schema).expect("the schema is valid").check(value).expect_err("the value is wrong");
    let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(said, lines);
}

fn read_file() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1},
            "limit": {"type": "integer", "minimum": 1, "maximum": 5000},
            "method": {"type": "string", "enum": ["GET", "HEAD", "POST"]},
            "edits": {"type": "array", "items": {"$ref": "#/$defs/edit"}},
            "my key": {"type": "boolean"},
        },
        "required": ["path"],
        "additionalProperties": false,
        "$defs": {"edit": {"type": "object", "properties": {"old_text": {"type": "string"}}, "required": ["old_text"]}},
    })
}

#[test]
fn a_checker_is_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Checker>();
}

#[test]
fn what_belongs_there_is_said_in_words() {
    refused(
        &read_file(),
        &json!({"path": "", "limit": 0, "method": "PSOT", "edits": [{"old_text": "x"}, {"old_text": 5.5}], "my key": 1}),
        &[
            "$.path: expected a string of at least 1 character, received \"\"",
            "$.limit: expected a whole number of 1 to 5000, received 0",
            "$.method: expected one of \"GET\", \"HEAD\", \"POST\", received \"PSOT\"; did you mean \"POST\"?",
            "$.edits[1].old_text: expected a string, received 5.5",
            "$[\"my key\"]: expected true or false, received 1",
        ],
    );
}

#[test]
fn a_schema_without_a_type_is_described_by_what_it_limits() {
    let one = |schema: Value, value: Value, line: &str| {
        refused(&json!({"type": "object", "properties": {"a": schema}}), &json!({"a": value}), &[line]);
    };
    one(json!({"maxLength": 1}), json!("zyz"), "$.a: expected a string of at most 1 character, received \"zyz\"");
    one(json!({"multipleOf": 5}), json!(7), "$.a: expected a number that is a multiple of 5, received 7");
    one(json!({"maxItems": 1}), json!([1, 2]), "$.a: expected a list of at most 1 item, received [1,2]");
    one(
        json!({"allOf": [{"type": "string"}, {"maxLength": 1}]}),
        json!("zyz"),
        "$.a: expected a string of at most 1 character, received \"zyz\"",
    );
}

#[test]
fn a_missing_property_comes_first_and_an_unknown_one_names_the_nearest() {
    let names = "only the properties \"path\", \"limit\", \"method\", \"edits\", \"my key\"";
    refused(
        &read_file(),
        &json!({"limit": 0, "pth": "x"}),
        &[
            "$.path: expected the property \"path\" (a string of at least 1 character), received nothing",
            "$.limit: expected a whole number of 1 to 5000, received 0",
            &format!("$.pth: expected {names}, received \"x\"; did you mean \"path\"?"),
        ],
    );
    refused(
        &read_file(),
        &json!({"filename": "x"}),
        &[
            "$.path: expected the property \"path\" (a string of at least 1 character), received nothing",
            &format!(
                "$.filename: expected {names}, received \"x\"; the property \"path\" is missing; if \"filename\" is meant for it, send it under that name"
            ),
        ],
    );
}

/// A tool whose arguments have objects in lists.
fn edit_file() -> Value {
    let edit = json!({
        "type": "object", "additionalProperties": false, "required": ["old_text", "new_text"],
        "properties": {
            "old_text": {"type": "string"}, "new_text": {"type": "string"},
            "count": {"anyOf": [{"enum": ["unique", "all", "first"]}, {"type": "integer"}]},
        },
    });
    json!({
        "type": "object", "additionalProperties": false,
        "properties": {"path": {"type": "string"}, "paths": {"type": "array"}, "edits": {"type": "array", "items": edit}},
    })
}

fn hints(schema: &Value, value: &Value) -> Vec<String> {
    let faults = Checker::new(schema).expect("valid").check(value).expect_err("wrong");
    faults.into_iter().filter_map(|fault| fault.hint).collect()
}

#[test]
fn a_key_that_belongs_one_level_deeper_is_told_where() {
    let place = "put it into \"edits\": [{\"old_text\": …, \"new_text\": …}]";
    assert_eq!(hints(&edit_file(), &json!({"path": "a", "old_text": "x", "newText": "y"})), [place, place]);
    let object = json!({
        "additionalProperties": false,
        "properties": {"options": {"properties": {"depth": {"type": "integer"}}}, "mode": {"type": "string"}},
    });
    assert_eq!(hints(&object, &json!({"depth": 1})), ["put it into \"options\": {\"depth\": …}"]);
}

#[test]
fn a_key_that_is_a_choice_of_another_property_is_told_which() {
    let schema = edit_file();
    assert_eq!(hints(&schema, &json!({"replace_all": true})), ["give \"count\": \"all\" in \"edits\" instead"]);
    let edit = json!({"old_text": "x", "new_text": "y", "replace_all": true});
    assert_eq!(hints(&schema, &json!({"edits": [edit]})), ["give \"count\": \"all\" instead"]);
    assert_eq!(hints(&schema, &json!({"replace_all": false})), ["leave it out"]);
    assert_eq!(hints(&schema, &json!({"first_or_all": true})), ["leave it out"]);
}

#[test]
fn a_property_in_two_spellings_is_given_twice() {
    let told = "it is \"path\" in another spelling, which is given too: send only \"path\"";
    assert_eq!(hints(&edit_file(), &json!({"path": "b.txt", "Path": "x"})), [told]);
    assert_eq!(hints(&edit_file(), &json!({"paht": "x"})), ["did you mean \"path\"?"]);
}

#[test]
fn many_unknown_keys_are_counted_and_few_are_told() {
    let keys: Vec<String> = (0..10_000).map(|number| format!("key_{number}")).collect();
    let value: Value = keys.iter().map(|key| (key.clone(), json!(1))).collect::<serde_json::Map<_, _>>().into();
    let hints = hints(&edit_file(), &value);
    assert_eq!((hints.len(), hints[7].as_str()), (8, "leave it out; 9992 more problems are not listed"));
}

#[test]
fn a_union_of_constants_lists_them() {
    let schema = json!({"properties": {"mode": {"oneOf": [{"const": "fast"}, {"const": "slow", "description": "…"}]}}});
    refused(
        &schema,
        &json!({"mode": "fats"}),
        &["$.mode: expected one of \"fast\", \"slow\", received \"fats\"; did you mean \"fast\"?"],
    );
}

#[test]
fn a_tagged_union_speaks_of_the_branch_that_is_named() {
    let schema = json!({"properties": {"op": {"oneOf": [{"$ref": "#/$defs/add"}, {"$ref": "#/$defs/del"}, {"type": "null"}]}}, "$defs": {
        "add": {"type": "object", "properties": {"kind": {"const": "add"}, "n": {"type": "integer"}}, "required": ["kind", "n"]},
        "del": {"type": "object", "properties": {"kind": {"const": "del"}, "mode": {"enum": ["a", "b"]}}, "required": ["kind"]},
    }});
    let op = |value: Value| json!({"op": value});
    refused(
        &schema,
        &op(json!({"kind": "add"})),
        &["$.op.n: expected the property \"n\" (a whole number), received nothing"],
    );
    refused(
        &schema,
        &op(json!({"kind": "del", "mode": "c"})),
        &["$.op.mode: expected one of \"a\", \"b\", received \"c\""],
    );
    refused(
        &schema,
        &op(json!({"kind": "delete"})),
        &["$.op.kind: expected one of \"add\", \"del\", received \"delete\""],
    );
    refused(
        &schema,
        &op(json!({"n": 5})),
        &["$.op.kind: expected the property \"kind\" (one of \"add\", \"del\"), received nothing"],
    );
    refused(&schema, &op(json!(5)), &["$.op: expected an object or null, received 5"]);
}

#[test]
fn another_union_speaks_of_the_branch_that_failed_deepest() {
    let schema =
        json!({"properties": {"p": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}}});
    refused(&schema, &json!({"p": ["x", {}]}), &["$.p[1]: expected a string, received {}"]);
    refused(&schema, &json!({"p": {}}), &["$.p: expected a string or a list, each item a string, received {}"]);
}

#[test]
fn at_most_eight_faults_are_told_and_the_rest_is_counted() {
    let schema = json!({"items": {"type": "integer"}});
    let faults = Checker::new(&schema).expect("valid").check(&json!(vec!["x"; 20])).expect_err("wrong");
    assert_eq!(faults.len(), 8);
    assert_eq!(faults[7].hint.as_deref(), Some("12 more problems are not listed"));
    let faults = Checker::new(&schema).expect("valid").check(&json!(vec!["x"; 200])).expect_err("wrong");
    assert_eq!(faults[7].hint.as_deref(), Some("at least 56 more problems are not listed"));
}

#[test]
fn a_schema_that_cannot_be_used_is_refused_with_the_reason() {
    let mut deep = json!({});
    for _ in 0..200 {
        deep = json!({"items": deep});
    }
    let mut defs = serde_json::Map::new();
    for step in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", step + 1)});
        defs.insert(format!("d{step}"), json!({"allOf": [next, {"anyOf": [next]}]}));
    }
    defs.insert("d40".to_owned(), json!({"type": "integer"}));
    for (schema, reason) in [
        (json!({"type": "foo"}), "/type"),
        (json!({"$ref": "#/nowhere"}), "nowhere"),
        (json!({"$ref": "https://example.com/schema.json"}), "example.com"),
        (json!({"pattern": "("}), "/pattern"),
        (deep, "128 levels"),
        (json!({"$ref": "#/$defs/d0", "$defs": defs}), "10000 cases"),
    ] {
        let said = Checker::new(&schema).expect_err("the schema is wrong");
        assert!(said.contains(reason), "{said}");
    }
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    for schema in
        [json!({"$ref": "#"}), json!({"allOf": [{"$ref": "#"}, {"type": "integer"}]}), json!({"not": {"$ref": "#"}})]
    {
        let _ = Checker::new(&schema).map(|checker| checker.check(&json!({"a": 1})));
    }
}

#[test]
fn a_deep_value_in_a_recursive_union_gets_one_fault_in_short_time() {
    let branch =
        |name: &str| json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}}, "required": [name]});
    let schema = json!({"properties": {"p": {"$ref": "#/$defs/node"}}, "$defs": {"node": {"anyOf": [branch("x"), branch("y")]}}});
    let mut value = json!({});
    for _ in 0..100 {
        value = json!({"a": value, "x": 1, "y": 1});
    }
    let faults = Checker::new(&schema).expect("valid").check(&json!({"p": value})).expect_err("the innermost lacks x");
    assert_eq!((faults.len(), faults[0].expected.as_str()), (1, "an object"));
}

#[test]
fn a_list_of_values_that_contradicts_its_type_does_not_make_every_call_wrong() {
    let schema = json!({
        "type": "object",
        "properties": {
            "smoking": {"type": "boolean", "enum": ["true", "false", "dontcare"]},
            "rooms": {"$ref": "#/$defs/rooms"},
            "type": {"type": "string", "enum": ["enum", "type"]},
        },
        "$defs": {"rooms": {"type": "integer", "enum": ["1", "2"]}},
    });
    let checker = Checker::new(&schema).expect("the schema is valid");
    assert!(checker.accepts(&json!({"smoking": true, "rooms": 2, "type": "enum"})));
    refused(&schema, &json!({"rooms": "1"}), &["$.rooms: expected a whole number, received \"1\""]);
    assert!(!checker.accepts(&json!({"type": "other"})));
}
