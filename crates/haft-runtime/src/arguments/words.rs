//! Reads `key=value` words of a command line by the schema of a tool.
//!
//! A person types no quotes and no types. So every value begins as text, and haft reads it as its property wants. That
//! is no repair, and haft does not report it. Text that has no such reading stays text, and the check names the
//! expected value.
//!
//! Not here: splitting words at `=`, nested keys, renaming keys.

use serde_json::{Map, Value};

use super::fault::{Fault, UnknownKey, key_path, shown, shown_text};
use super::fit::fit_values;
use super::outline::{Outline, parts, property_schema, types};

/// Reads the words as one object; a key given several times is a list where the schema wants a list.
///
/// # Errors
///
/// Returns a fault for every key that is given several times though one value belongs there.
pub fn read_words(words: &[(String, String)], schema: &Value) -> Result<Value, Vec<Fault>> {
    let outline = Outline::new(schema);
    let mut given: Map<String, Value> = Map::new();
    for (key, text) in words {
        let texts = given.entry(key.as_str()).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(texts) = texts {
            texts.push(Value::String(text.clone()));
        }
    }
    let mut faults = Vec::new();
    for (key, value) in &mut given {
        let property = outline.layers(schema).into_iter().find_map(|layer| property_schema(layer, key));
        let wants_list = property.is_some_and(|property| wants_list(&outline, property, 0));
        match value {
            Value::Array(texts) if texts.len() == 1 => *value = only(texts, &outline, property),
            Value::Array(_) if wants_list => {}
            several => faults.push(given_again(key, several)),
        }
    }
    if faults.is_empty() { Ok(fit_values(Value::Object(given), schema)) } else { Err(faults) }
}

/// The single value of a key: its text, or nothing where the word says `null` and a text is not wanted.
fn only<'s>(texts: &mut Vec<Value>, outline: &Outline<'s>, property: Option<&'s Value>) -> Value {
    let text = texts.pop().unwrap_or_default();
    let means_null = text == "null"
        && property.is_some_and(|property| outline.admits(&Value::Null, property) && !outline.admits(&text, property));
    if means_null { Value::Null } else { text }
}

/// Whether a property may be a list, directly or in a branch of a union.
fn wants_list<'s>(outline: &Outline<'s>, property: &'s Value, depth: usize) -> bool {
    outline.layers(property).into_iter().any(|layer| {
        types(layer).contains(&"array")
            || depth < 2
                && ["anyOf", "oneOf"]
                    .iter()
                    .any(|keyword| parts(layer, keyword).iter().any(|branch| wants_list(outline, branch, depth + 1)))
    })
}

fn given_again(key: &str, texts: &Value) -> Fault {
    let count = texts.as_array().map_or(0, Vec::len);
    Fault {
        key: UnknownKey::Unsaid,
        path: key_path("$", key),
        expected: format!("the key {} once", shown_text(key)),
        received: format!("{count} values, {}", shown(texts)),
        hint: Some("only a list may be given by repeating its key".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::read_words;
    use serde_json::{Value, json};

    fn read(words: &[(&str, &str)]) -> Result<Value, String> {
        let schema = json!({"type": "object", "properties": {
            "path": {"type": "string"}, "limit": {"type": ["integer", "null"]}, "all": {"type": "boolean"},
            "glob": {"$ref": "#/$defs/texts"}, "ids": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
        }, "$defs": {"texts": {"type": "array", "items": {"type": "string"}}}});
        let words: Vec<(String, String)> =
            words.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        read_words(&words, &schema).map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn words_are_read_as_their_property_wants() {
        let words = [("path", "5"), ("limit", "5"), ("all", "true"), ("glob", "*.rs"), ("other", "7")];
        assert_eq!(read(&words), Ok(json!({"path": "5", "limit": 5, "all": true, "glob": ["*.rs"], "other": "7"})));
        assert_eq!(read(&[("limit", "null"), ("path", "null")]), Ok(json!({"limit": null, "path": "null"})));
        assert_eq!(read(&[("limit", "many")]), Ok(json!({"limit": "many"})));
        assert_eq!(read(&[]), Ok(json!({})));
    }

    #[test]
    fn a_key_given_several_times_is_a_list_where_one_is_wanted() {
        assert_eq!(read(&[("glob", "a"), ("glob", "b")]), Ok(json!({"glob": ["a", "b"]})));
        assert_eq!(read(&[("ids", "1"), ("ids", "2")]), Ok(json!({"ids": [1, 2]})));
        let said = read(&[("path", "a"), ("path", "b")]).expect_err("one path belongs there");
        assert_eq!(
            said,
            "$.path: expected the key \"path\" once, received 2 values, [\"a\",\"b\"]; only a list may be given by repeating its key"
        );
    }
}
