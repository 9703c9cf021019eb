use haft_contract::text::grouped::GroupedNumber;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{LONGEST_SCHEMA, OutputSchema, OutputSchemaError, WORDS};

fn lines() -> OutputSchema {
    let schema = json!({
        "type": "object", "required": ["lines"], "additionalProperties": false,
        "properties": { "lines": { "type": "integer" }, "note": { "type": "string" } }
    });
    OutputSchema::new(&schema).expect("it is a schema")
}

/// Reads an answer; returns it, or what is wrong with it, in one line.
fn check(text: &str) -> String {
    match lines().read(text) {
        Ok(output) => output.value.to_string(),
        Err(why) => why.replace('\n', " | "),
    }
}

#[test]
fn an_answer_is_read_alone_in_a_fence_and_between_words() {
    let right = r#"{"lines":2}"#;
    for text in [
        "{\"lines\": 2}",
        "\u{feff} {\"lines\": 2}\n\n",
        "```json\n{\"lines\": 2}\n```",
        "```\n{\n  \"lines\": 2\n}\n```\n",
        "Here it is:\n\n```json\n{\"lines\": 2}\n```\n\nI read \"a.txt\": it has [2] lines.",
        "I ran \"wc\": it says 2.\n  ~~~ ```json\n```JSON\n{\"lines\": 2}",
        "The answer is {\"lines\": 2}. That is all.",
        "{\"lines\": 2,}",
        "```json {\"lines\": 2} ```",
        "````json\n{\"lines\": 2}\n````",
        r#""{\"lines\": 2}""#,
    ] {
        assert_eq!(check(text), right, "{text}");
    }
    assert_eq!(check(r#"{"lines": 2, "note": "```json\n{}\n```"}"#), r#"{"lines":2,"note":"```json\n{}\n```"}"#);
}

#[test]
fn what_was_mended_is_said_and_values_are_not_changed() {
    let repairs = |text: &str| lines().read(text).expect("it fits").repairs;
    assert_eq!(repairs("{\"lines\": 2}"), Vec::<String>::new());
    assert_eq!(
        repairs("```\n{\"lines\": 2,}\n```"),
        ["json: took the text out of a code fence", "json: removed a trailing comma"]
    );
    assert_eq!(check(r#"{"lines": "2"}"#), r#"$.lines: expected a whole number, received "2""#);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (text, why) in [
        ("Two lines.", r#"$: expected one JSON object, received "Two lines.""#),
        ("null", "$: expected one JSON object, received none"),
        ("", "$: expected one JSON object, received none"),
        ("[{\"lines\": 2}]", r#"$: expected one JSON object, received [{"lines":2}]"#),
        ("{}", r#"$.lines: expected the property "lines" (a whole number), received nothing"#),
        (
            "{\"lines\": 1} {\"lines\": 2}",
            r#"$: expected one JSON object, received an object and then "{\"lines\": 2}""#,
        ),
        ("{\"lines\": 1 ", "$: expected a complete JSON object, received text that ends inside it"),
        ("{\"lines\": {\"lines\": 1}", "$: expected a complete JSON object, received text that ends inside it"),
        ("{\"lines\":", "$.lines: expected a complete JSON object, received text that ends where a value belongs"),
        (
            "{\"lines\": 1, \"lines\": 2}",
            r#"$.lines: expected the key "lines" once, received the key "lines" twice in one object"#,
        ),
        (
            "```\n{\"lines\": 1}\n```\nor\n```\n{\"lines\": 2}\n```",
            "$: expected one JSON object, received an object and then ",
        ),
    ] {
        let said = check(text);
        assert!(said.starts_with(why), "{text}: {said}");
        assert!(!said.contains("nothing was run"), "{said}");
    }
    let both = check(r#"{"note": 1, "line": 2}"#);
    assert_eq!(both.matches(" | ").count(), 2, "{both}");
}

#[test]
fn what_is_said_of_a_wrong_answer_has_an_end() {
    let names: Vec<String> = (0..500).map(|number| format!("{number}_{}", "x".repeat(100))).collect();
    let wants = |name: &String| (name.clone(), json!({ "enum": names[..50] }));
    let properties: Map<String, Value> = names.iter().take(9).map(wants).collect();
    let schema = json!({ "type": "object", "additionalProperties": false, "properties": properties });
    let schema = OutputSchema::new(&schema).expect("it is a schema");
    let wrong: Value = names.iter().map(|name| (name.clone(), json!(name.repeat(50)))).collect::<Map<_, _>>().into();
    let why = schema.read(&wrong.to_string()).expect_err("it does not fit");
    assert!(why.lines().count() <= 8 && why.len() < 8_000, "{} bytes:\n{why}", why.len());
    let why = schema.read(&"x".repeat(1_000_000)).expect_err("it does not fit");
    assert!(why.len() < 200, "{why}");
}

#[test]
fn what_cannot_be_a_schema_is_said_with_what_to_do() {
    let check = |text: &str| OutputSchema::from_text(text).map(|_| ()).expect_err(text).to_string();
    for (text, why) in [
        ("", "The schema is not JSON: EOF while parsing"),
        ("type: object", "The schema is not JSON: expected"),
        ("true", "The schema does not say that the answer is an object."),
        ("[]", "The schema does not say that the answer is an object."),
        ("{}", "The schema does not say that the answer is an object."),
        (r#"{"type": "array"}"#, "The schema does not say that the answer is an object."),
        (r#"{"type": ["object", "null"]}"#, "The schema does not say that the answer is an object."),
        (r##"{"$ref": "#"}"##, "The schema does not say that the answer is an object."),
        (r#"{"type": "objekt"}"#, "The schema cannot be used: the schema is not valid at /type"),
        (
            r#"{"type": "object", "properties": []}"#,
            "The schema cannot be used: the schema is not valid at /properties",
        ),
        (r##"{"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}"##, "The schema cannot be used: "),
        (
            r#"{"type": "object", "properties": {"a": {"$ref": "https://example.org/a.json"}}}"#,
            "The schema cannot be used: ",
        ),
        (r#"{"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}}"#, "The schema cannot be used: "),
        (r#"{"type": "object", "properties": {"a": {"pattern": "("}}}"#, "The schema cannot be used: "),
    ] {
        let said = check(text);
        assert!(said.starts_with(why) && said.contains(" Next: ") && said.len() < 700, "{text}: {said}");
    }
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    assert!(check(&deep).starts_with("The schema is not JSON: recursion limit"), "{}", check(&deep));
}

#[test]
fn a_schema_may_be_of_any_draft_refer_to_itself_and_be_as_long_as_a_request_bears() {
    let tree = r##"{"$ref": "#/$defs/Tree", "$defs": {"Tree": {"type": "object", "properties":
        {"children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}, "required": ["children"]}}}"##;
    let tree = OutputSchema::from_text(tree).expect("it is a schema");
    assert!(tree.read(r#"{"children": [{"children": []}]}"#).is_ok());
    assert!(tree.read(r#"{"children": [{}]}"#).is_err());

    for draft in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    ] {
        let schema = json!({ "$schema": draft, "type": "object", "properties": { "a": { "type": "null" } } });
        let schema = OutputSchema::new(&schema).unwrap_or_else(|error| panic!("{draft}: {error}"));
        assert!(schema.read(r#"{"a": null}"#).is_ok() && schema.read(r#"{"a": 1}"#).is_err(), "{draft}");
    }

    let of_length = |length: usize| {
        let empty = json!({ "type": "object", "description": "" });
        json!({ "type": "object", "description": "x".repeat(length - empty.to_string().len()) })
    };
    // White space is not counted: it is not sent.
    let longest = format!("{:#}{}", of_length(LONGEST_SCHEMA), " ".repeat(10_000));
    let longest = OutputSchema::from_text(&longest).expect("it is short enough");
    assert_eq!(longest.words().len(), WORDS.trim_end().len() + 4 + LONGEST_SCHEMA);
    let error = OutputSchema::new(&of_length(LONGEST_SCHEMA + 1)).expect_err("it is too long");
    assert_eq!(error, OutputSchemaError::TooLong(LONGEST_SCHEMA + 1));
    assert!(error.to_string().contains(&GroupedNumber(LONGEST_SCHEMA as u64).to_string()), "{error}");
}

/// Any value, without numbers that have two ways to be written.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[`{}\"\n\\\\ json:]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_object_is_read_as_it_is_however_it_is_wrapped(value in any_value(), is_pretty: bool, words in "[A-Z][a-z ]{0,20}") {
        let schema = OutputSchema::new(&json!({ "type": "object" })).expect("it is a schema");
        let value = json!({ "value": value });
        let text = if is_pretty { format!("{value:#}") } else { value.to_string() };
        for wrapped in [
            text.clone(),
            format!("```json\n{text}\n```"),
            format!("{words}\n\n```\n{text}\n```\n{words}: \"{words}\" [1]."),
            format!("{words}: {text}\n{words}."),
        ] {
            prop_assert_eq!(&schema.read(&wrapped).map(|output| output.value), &Ok(value.clone()), "{}", wrapped);
        }
    }

    #[test]
    fn whatever_a_model_says_has_an_answer(text in "(\\PC|[`{}\"\n]){0,40}") {
        let schema = OutputSchema::new(&json!({ "type": "object" })).expect("it is a schema");
        match schema.read(&text) {
            Ok(output) => prop_assert!(output.value.is_object()),
            Err(why) => prop_assert!(why.starts_with('$') && why.len() < 1_000, "{}", why),
        }
    }
}
