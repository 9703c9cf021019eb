//! Tests the whole path of a call's arguments: the shared cases, and the properties that hold for every input.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Checker, Fault, fit, minimal_example, read_text};

const CASES: &str = include_str!("../../../../tests/cases/args.jsonl");

/// What became of a text: the outcomes as the cases name them, the arguments, all words of the faults.
///
/// A renamed key is reported like a coercion and is a repair of the call. Arguments repaired in both ways count as both.
fn outcome(text: &str, schema: &Value) -> (Vec<&'static str>, Value, String) {
    let words = |faults: &[Fault]| faults.iter().map(Fault::to_string).collect::<Vec<_>>().join("\n");
    let read = match read_text(text) {
        Ok(read) => read,
        Err(fault) => return (vec!["rejected"], Value::Null, words(&[fault])),
    };
    let fitted = fit(read.value, schema, &[]);
    let checker = Checker::new(schema).expect("the schema of a case is valid");
    match checker.check(&fitted.value) {
        Err(faults) => (vec!["rejected"], Value::Null, words(&faults)),
        Ok(()) => {
            let renamed = fitted.repairs.iter().any(|repair| repair.contains(": read as "));
            let mut outcomes = Vec::new();
            outcomes.extend((!read.repairs.is_empty() || renamed).then_some("repaired"));
            outcomes.extend((!fitted.repairs.is_empty()).then_some("coerced"));
            outcomes.extend(outcomes.is_empty().then_some("accepted"));
            (outcomes, fitted.value, String::new())
        }
    }
}

fn text_of(case: &Value) -> String {
    let part = |name: &str| case["gen"][name].as_str().unwrap_or_default();
    match case["raw"].as_str() {
        Some(raw) => raw.to_owned(),
        None => {
            let times = case["gen"]["times"].as_u64().expect("a generated case says how often");
            let middle = part("repeat").repeat(usize::try_from(times).expect("it fits"));
            format!("{}{middle}{}", part("prefix"), part("suffix"))
        }
    }
}

#[test]
fn every_case_has_an_accepted_outcome() {
    for line in CASES.lines().filter(|line| !line.trim().is_empty()) {
        let case: Value = serde_json::from_str(line).expect("a case is one JSON object");
        let (outcomes, args, words) = outcome(&text_of(&case), &case["schema"]);
        let accepted = case["accept"].as_array().expect("a case says what counts");
        assert!(
            outcomes.iter().any(|outcome| accepted.contains(&json!(outcome))),
            "{}: {outcomes:?} {words}",
            case["id"]
        );
        if outcomes == ["rejected"] {
            for mention in case["hint_mentions"].as_array().into_iter().flatten() {
                let mention = mention.as_str().expect("a mention is a word");
                assert!(words.contains(mention), "{}: {mention:?} is not in {words}", case["id"]);
            }
        } else if let Some(expected) = case.get("args") {
            assert_eq!(&args, expected, "{}", case["id"]);
        }
    }
}

/// Values of a small grammar, with the near misses a model sends.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..12).prop_map(Value::from),
        prop_oneof![Just(5.0), Just(2.5), Just(-0.0), Just(1e30)].prop_map(Value::from),
        prop_oneof!["5", "2.5", "true", "a", "A", "GET", "get", "null", "\\[1\\]", "\\{\"a\":1\\}", "", "\\PC{0,4}"]
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keys(), inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn keys() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("a"),
        Just("A"),
        Just("file_path"),
        Just("filePath"),
        Just("x"),
        Just("a b"),
        Just("$ref"),
        Just("")
    ]
    .prop_map(str::to_owned)
}

/// Schemas of a small grammar; objects say whether they are open, so that a valid value is left alone.
fn schemas() -> impl Strategy<Value = Value> {
    let types = prop_oneof![
        Just(json!("string")),
        Just(json!("integer")),
        Just(json!("number")),
        Just(json!("boolean")),
        Just(json!("array")),
        Just(json!("object")),
        Just(json!(["integer", "null"])),
        Just(json!(["string", "array"])),
        Just(json!(["boolean", "number"])),
    ];
    let leaf = prop_oneof![
        types.clone().prop_map(|name| json!({ "type": name })),
        (types, 0..6i64).prop_map(|(name, least)| json!({ "type": name, "minimum": least, "minLength": least % 3 })),
        Just(json!({ "enum": ["GET", "POST", 5, null] })),
        Just(json!({ "const": "a" })),
        Just(json!({ "type": "string", "pattern": "^[a-z]*$" })),
        Just(json!({ "$ref": "#/$defs/tree" })),
        Just(json!({ "$ref": "#" })),
        any::<bool>().prop_map(Value::from),
        Just(json!({})),
    ];
    let schema = leaf.prop_recursive(4, 24, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            inner.clone().prop_map(|item| json!({ "type": "array", "items": item })),
            list.clone().prop_map(|parts| json!({ "anyOf": parts })),
            list.clone().prop_map(|parts| json!({ "oneOf": parts })),
            list.clone().prop_map(|parts| json!({ "type": "array", "prefixItems": parts, "minItems": 1 })),
            inner.clone().prop_map(|part| json!({ "allOf": [part] })),
            inner.clone().prop_map(|part| json!({ "not": part })),
            (prop::collection::vec((keys(), inner.clone()), 0..4), any::<bool>(), prop::collection::vec(keys(), 0..2))
                .prop_map(|(entries, open, required)| {
                    let properties: serde_json::Map<String, Value> = entries.into_iter().collect();
                    let mut required = required;
                    required.dedup();
                    json!({ "type": "object", "properties": properties, "additionalProperties": open,
                            "required": required })
                }),
        ]
    });
    schema.prop_map(|mut schema| {
        let tree = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/tree" }, "x": { "type": "integer" } },
                           "additionalProperties": false });
        if let Value::Object(map) = &mut schema {
            map.insert("$defs".to_owned(), json!({ "tree": tree }));
        }
        schema
    })
}

/// `5` and `5.0` are one value for JSON Schema; only the notation may change.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && same(a, b))
        }
        _ => left == right,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in "\\PC{0,60}") {
        let _ = read_text(&text);
    }

    #[test]
    fn no_text_of_json_letters_panics_and_repair_is_idempotent(
        text in r#"[\{\}\[\]":,'“”a-cnNtrTFu\\/#*0-9+.\-e \n`]{0,40}"#,
    ) {
        for text in [format!("{{{text}"), format!("{{\"a\":{text}}}"), format!("{{\"a\":\"{text}\"}}"), text] {
            if let Ok(read) = read_text(&text) {
                let again = read_text(&read.value.to_string()).expect("what was read can be read");
                prop_assert_eq!(&again.value, &read.value, "{}", text);
                prop_assert!(again.repairs.is_empty());
            }
        }
    }

    #[test]
    fn valid_json_is_read_as_it_is(entries in prop::collection::vec((keys(), values()), 0..4)) {
        let value = Value::Object(entries.into_iter().collect());
        let read = read_text(&value.to_string()).expect("it is valid");
        prop_assert_eq!(read.value, value);
        prop_assert!(read.repairs.is_empty());
    }

    #[test]
    fn a_slip_in_valid_json_never_panics_and_repair_is_idempotent(
        entries in prop::collection::vec((keys(), values()), 1..4), at in 0usize..200, cut in 0usize..4, put in r#"[{}\[\]":,'\\a1 ]{0,2}"#,
    ) {
        let value = Value::Object(entries.into_iter().collect());
        let mut text = value.to_string();
        let mut at = at.min(text.len());
        while !text.is_char_boundary(at) { at -= 1; }
        let mut end = (at + cut).min(text.len());
        while !text.is_char_boundary(end) { end += 1; }
        text.replace_range(at..end, &put);
        if let Ok(read) = read_text(&text) {
            let again = read_text(&read.value.to_string()).expect("what was read can be read");
            prop_assert_eq!(again.value, read.value);
        }
    }

    #[test]
    fn a_valid_value_is_never_altered(schema in schemas(), value in values()) {
        if let Ok(checker) = Checker::new(&schema) && checker.check(&value).is_ok() {
            let fitted = fit(value.clone(), &schema, &[]);
            prop_assert!(same(&fitted.value, &value), "{} by {}: {:?}", value, schema, fitted);
            if fitted.value == value {
                prop_assert!(fitted.repairs.is_empty());
            }
        }
    }

    #[test]
    fn what_is_accepted_without_the_validator_is_accepted_by_it(schema in schemas(), value in values()) {
        let mut schema = schema;
        // The other schemas are made of what they define beside; plain ones have nothing of it.
        if let Value::Object(map) = &mut schema {
            map.remove("$defs");
        }
        if let Ok(checker) = Checker::new(&schema) {
            let validator = jsonschema::options().offline().build(checker.schema()).expect("it is a schema");
            prop_assert_eq!(checker.accepts(&value), validator.is_valid(&value), "{} by {}", value, schema);
        }
    }

    #[test]
    fn fitting_and_checking_never_panic_and_stay_short(schema in schemas(), value in values()) {
        let fitted = fit(value, &schema, &[("x".to_owned(), "file_path".to_owned())]);
        let _ = minimal_example(&schema);
        if let Ok(checker) = Checker::new(&schema) && let Err(faults) = checker.check(&fitted.value) {
            prop_assert!(!faults.is_empty() && faults.len() <= 8);
            for fault in faults {
                prop_assert!(fault.to_string().len() < 2000, "{}", fault);
            }
        }
    }
}
