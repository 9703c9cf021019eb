//! Reads arguments in shapes other than the schema's, as the tool lists them (`haft_contract::description::shape`).
//!
//! Runs only where the call does not fit unchanged. It skips a shape that contradicts an argument the model also gave.

use haft_contract::description::shape::{ArgumentLookup, ArgumentShape, Meaning, MeantArguments, Shapes};
use haft_contract::description::spec::Spec;
use haft_contract::files::path::one_line;
use haft_contract::text::closest::folded;
use haft_contract::text::grouped::GroupedNumber;
use serde_json::{Map, Value};

use super::ArgumentReading;
use super::fault::{Fault, UnknownKey, key_path, shown};
use super::repairs::literal;
use super::repairs::literal::Literal;

/// Reads all arguments that are in another shape, in the order of the shapes.
#[must_use]
pub fn read_shapes(value: Value, shapes: Shapes) -> ArgumentReading {
    let Value::Object(mut entries) = value else { return ArgumentReading::unchanged(value) };
    let mut repairs = Vec::new();
    for shape in shapes.0 {
        let Some(key) = entries.keys().find(|key| shape.is(key)).cloned() else { continue };
        let given = entries.get(&key).cloned().unwrap_or_default();
        if given.is_null() {
            // Many models send every argument that they know, with null for those that they do not mean.
            entries.shift_remove(&key);
            repairs.push(format!("{}: null left out, it changes nothing", key_path("$", &key)));
            continue;
        }
        let meant = match &shape.meaning {
            Meaning::Words(argument, words) => in_words(&given, words).map(|value| vec![(*argument, value)]),
            Meaning::Code(convert) => convert(&given, &ArgumentLookup(&entries)).or_else(|| {
                let Literal::Container(container) = literal::read(given.as_str()?) else { return None };
                convert(&container, &ArgumentLookup(&entries))
            }),
            Meaning::Anyway(values) => asks_for_nothing(&given, values).then(Vec::new),
            Meaning::Glob(_) | Meaning::Lines(_) | Meaning::Raw(_) => None,
            Meaning::Instead(_) | Meaning::Without(_) => None,
        };
        let meant = meant
            .filter(|meant| !meant.iter().all(|(name, value)| *name == key && *value == given) || meant.is_empty());
        if let Some(line) = meant.and_then(|meant| set(&mut entries, &key, meant)) {
            repairs.push(line);
        }
    }
    ArgumentReading { value: Value::Object(entries), repairs }
}

/// Puts arguments in the place of one; returns the line that tells it. Nothing is done where one is given otherwise.
pub(crate) fn set(entries: &mut Map<String, Value>, key: &str, meant: MeantArguments) -> Option<String> {
    let says_otherwise = |(name, value): &(&'static str, Value)| {
        let given = ArgumentLookup(entries).get(name);
        let is_replaced = *name == key || meant.iter().any(|(other, value)| other == name && value.is_null());
        given.is_some_and(|given| given != value && !is_replaced)
    };
    if meant.iter().any(says_otherwise) {
        return None;
    }
    let written = entries.shift_remove(key)?;
    let set: Map<String, Value> = meant
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect();
    for (name, _) in &meant {
        entries.retain(|key, _| !ArgumentShape::new(name, Meaning::Anyway(&[])).is(key));
    }
    let place = key_path("$", key);
    let line = match (set.len(), set.get(key)) {
        (0, _) => format!("{place}: {} left out, it changes nothing", shown(&written)),
        (1, Some(value)) => match in_short(&written, &set) {
            Some(told) => format!("{place}: {told}"),
            // Long values are cut, and look the same.
            None if shown(value) == shown(&written) => difference(&place, &written, value),
            None => format!("{place}: {} → {}", shown(&written), shown(value)),
        },
        _ => match in_short(&written, &set) {
            Some(told) => format!("{place}: {told}"),
            None => format!("{place}: {} → {}", shown(&written), shown(&Value::Object(set.clone()))),
        },
    };
    entries.extend(set);
    Some(line)
}

/// Says as what a patch or a list of words was read, where a line would show only the beginnings of both.
fn in_short(written: &Value, set: &Map<String, Value>) -> Option<String> {
    let is_cut = |value: &Value| shown(value).ends_with('…');
    if !is_cut(written) && !is_cut(&Value::Object(set.clone())) {
        return None;
    }
    let begins = |begin: &&str| written.as_str().is_some_and(|text| text.trim_start().starts_with(*begin));
    if written.is_array() && set.len() == 1 {
        let is_command = set.get("command").is_some_and(Value::is_string);
        return is_command.then(|| "the list of words read as one command".to_owned());
    }
    if !["*** Begin Patch", "--- ", "diff --git "].iter().any(begins) {
        return None;
    }
    let path = set.get("path").and_then(Value::as_str).map(one_line);
    Some(match (set.get("files").and_then(Value::as_array), path) {
        (Some(files), _) => format!("the patch read as changes of {}", GroupedNumber(files.len() as u64).of("file")),
        (None, Some(path)) if set.contains_key("content") => format!("the patch read as the new file {path}"),
        (None, Some(path)) => format!("the patch read as edits of {path}"),
        (None, None) => return None,
    })
}

/// Tells the first place at which two values differ.
fn difference(path: &str, written: &Value, meant: &Value) -> String {
    match (written, meant) {
        (Value::Object(written), Value::Object(meant)) => {
            let only_in = |these: &Map<String, Value>, others: &Map<String, Value>| -> Map<String, Value> {
                let others = |key: &String| others.contains_key(key);
                these.iter().filter(|(key, _)| !others(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
            };
            let (gone, new) = (only_in(written, meant), only_in(meant, written));
            if !gone.is_empty() || !new.is_empty() {
                return format!("{path}: {} → {}", shown(&Value::Object(gone)), shown(&Value::Object(new)));
            }
            let both = written.iter().filter_map(|(key, value)| Some((key, value, meant.get(key)?)));
            let mut unlike = both.filter(|(_, value, meant)| value != meant);
            unlike.next().map(|(key, value, meant)| difference(&key_path(path, key), value, meant)).unwrap_or_default()
        }
        (Value::Array(written), Value::Array(meant)) if written.len() == meant.len() => {
            let mut unlike = written.iter().zip(meant).enumerate().filter(|(_, (written, meant))| written != meant);
            let told = |(index, (written, meant))| difference(&format!("{path}[{index}]"), written, meant);
            unlike.next().map(told).unwrap_or_default()
        }
        _ => format!("{path}: {} → {}", shown(written), shown(meant)),
    }
}

/// What to do about an argument that a tool does not have.
pub(crate) enum Advice {
    /// Something else than this call.
    Instead(String),
    /// The same call without the argument.
    Without(&'static str),
}

/// Returns what to do about the argument that a fault complains of, where the tool says it.
pub(crate) fn advice(spec: &Spec, fault: &Fault) -> Option<Advice> {
    let place = folded(&fault.path);
    let is_here = |name: &str| folded(&key_path("$", name)) == place;
    let known = spec.shapes.0.iter().filter(|shape| is_here(shape.written)).find_map(|shape| match shape.meaning {
        Meaning::Instead(advice) => Some(Advice::Instead(advice.to_owned())),
        Meaning::Without(advice) => Some(Advice::Without(advice)),
        _ => None,
    });
    if known.is_some() || fault.key != UnknownKey::WithoutCounterpart {
        return known;
    }
    // It has a counterpart, but this value has no single reading.
    let alias = spec.aliases.iter().find(|(alias, _)| is_here(alias)).map(|(_, name)| name.as_str());
    let shape = spec.shapes.0.iter().find_map(|shape| match shape.meaning {
        Meaning::Words(name, _) if is_here(shape.written) => Some(name),
        _ => None,
    });
    let words = match alias.or(shape) {
        Some(name) => format!("it is \"{name}\" here, and needs what belongs to it"),
        None if spec.shapes.0.iter().any(|shape| is_here(shape.written)) => {
            "say it with the properties listed".to_owned()
        }
        None => return None,
    };
    Some(Advice::Instead(words))
}

fn in_words(given: &Value, words: &[(&str, &str)]) -> Option<Value> {
    let (_, meant) = words.iter().find(|(written, _)| is_json(given, written))?;
    serde_json::from_str(meant).ok()
}

fn asks_for_nothing(given: &Value, values: &[&str]) -> bool {
    values.is_empty() || values.iter().any(|value| is_json(given, value))
}

/// Whether a value is this JSON, also as text: `"true"` for `true`.
fn is_json(given: &Value, json: &str) -> bool {
    given.as_str().is_some_and(|text| text.eq_ignore_ascii_case(json.trim_matches('"')))
        || serde_json::from_str::<Value>(json).is_ok_and(|value| value == *given)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SHAPES: Shapes = Shapes(&[
        ArgumentShape::new("-i", Meaning::Words("case", &[("true", "\"any\""), ("false", "\"exact\"")])),
        ArgumentShape::new("recursive", Meaning::Anyway(&["true"])),
        ArgumentShape::new(
            "range",
            Meaning::Code(|value, _| Some(vec![("from", value.get(0)?.clone()), ("to", value.get(1)?.clone())])),
        ),
        ArgumentShape::new("later", Meaning::Instead("do it now")),
    ]);

    fn check(value: Value, expected: Value, told: &[&str]) {
        let read = read_shapes(value, SHAPES);
        assert_eq!(
            (read.value, read.repairs.iter().map(String::as_str).collect::<Vec<_>>()),
            (expected, told.to_vec())
        );
    }

    #[test]
    fn each_shape_is_read_as_what_it_means_and_told() {
        check(json!({ "-i": true }), json!({ "case": "any" }), &["$[\"-i\"]: true → {\"case\":\"any\"}"]);
        check(json!({ "-i": "False" }), json!({ "case": "exact" }), &["$[\"-i\"]: \"False\" → {\"case\":\"exact\"}"]);
        check(json!({ "Recursive": true }), json!({}), &["$.Recursive: true left out, it changes nothing"]);
        check(json!({ "range": [1, 2] }), json!({ "from": 1, "to": 2 }), &["$.range: [1,2] → {\"from\":1,\"to\":2}"]);
    }

    #[test]
    fn what_has_no_single_meaning_is_left_alone() {
        for value in [
            json!({ "-i": 3 }),
            json!({ "i": true }),
            json!({ "recursive": false }),
            json!({ "range": [1] }),
            json!({ "range": [1, 2], "to": 3 }),
            json!({ "later": true }),
        ] {
            check(value.clone(), value, &[]);
        }
    }
}
