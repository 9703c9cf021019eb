//! Turns the errors of the validator into faults.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::{Map, Value};

use super::super::fault::{Fault, UnknownKey, key_path, push_index, push_key, shown, shown_text};
use super::super::outline::{Outline, item_schema, property_schema, types};
use super::shortened;
use super::union::{UnionMismatch, choices_of, worth_telling};
use super::unknown::{Hint, Unknown, names};
use super::wanted::{choices, listed, wanted};
use haft_contract::text::closest::closest;

/// Unions inside unions that are opened for a message.
const DEEPEST_UNION: usize = 6;

/// Most faults kept before the best are chosen.
const MOST_KEPT: usize = 64;

/// The faults found so far.
pub(super) struct FaultReport<'s> {
    schema: &'s Value,
    outline: Outline<'s>,
    value: &'s Value,
    missing: Vec<Fault>,
    others: Vec<Fault>,
    /// How many more were seen and not kept.
    beyond: usize,
    /// Whether there are more than anyone counted.
    is_open: bool,
}

impl<'s> FaultReport<'s> {
    pub(super) fn new(schema: &'s Value, value: &'s Value) -> Self {
        let outline = Outline::new(schema);
        FaultReport { schema, outline, value, missing: Vec::new(), others: Vec::new(), beyond: 0, is_open: false }
    }

    /// Notes that there are more errors than are looked at.
    pub(super) fn note_more(&mut self) {
        self.is_open = true;
    }

    /// Adds what one error says.
    pub(super) fn add(&mut self, error: &ValidationError<'_>) {
        self.add_at(error, 0);
    }

    fn add_at(&mut self, error: &ValidationError<'_>, depth: usize) {
        if self.missing.len() + self.others.len() >= MOST_KEPT {
            return self.note_more();
        }
        let place = self.place(error.instance_path().as_str());
        match error.kind() {
            Kind::Required { property } => self.add_missing(error, &place, property),
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                for key in unexpected.iter().take(MOST_KEPT) {
                    self.add_unknown(error, &place, key);
                }
                self.beyond += unexpected.len().saturating_sub(MOST_KEPT);
            }
            Kind::PropertyNames { error: inner } => {
                let key = shown(inner.instance());
                self.tell(place, "another name for the property".to_owned(), key, None);
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } if depth < DEEPEST_UNION => {
                let branches = self.branches_at(error);
                match worth_telling(&self.outline, branches, error, context) {
                    UnionMismatch::Branch(errors) => {
                        errors.iter().for_each(|inner| self.add_at(inner, depth + 1));
                    }
                    UnionMismatch::Tag(name, names) => self.add_tag(error, &place, name, &names),
                    UnionMismatch::Whole => self.add_plain(error, place),
                }
            }
            _ => self.add_plain(error, place),
        }
    }

    fn add_missing(&mut self, error: &ValidationError<'_>, place: &str, property: &Value) {
        let name = property.as_str().unwrap_or_default();
        let schema = self.layers_at(error).into_iter().find_map(|layer| property_schema(layer, name));
        let kind = schema.map_or_else(|| "a value".to_owned(), |schema| wanted(&self.outline, schema));
        self.tell_missing(place, name, &kind);
    }

    /// Adds that the property which names the branch of a union is missing or names none.
    fn add_tag(&mut self, error: &ValidationError<'_>, place: &str, name: &str, names: &[&Value]) {
        match error.instance().get(name) {
            None => self.tell_missing(place, name, &choices(names)),
            Some(value) => {
                let hint = did_you_mean(value, names);
                self.tell(key_path(place, name), choices(names), shown(value), hint);
            }
        }
    }

    fn add_unknown(&mut self, error: &ValidationError<'_>, place: &str, key: &str) {
        let layers = self.layers_at(error);
        let object = error.instance();
        let value = object.get(key).map_or_else(|| "a value".to_owned(), shown);
        let names: Vec<&str> = names(&layers).collect();
        let expected = if names.is_empty() {
            "no properties at all".to_owned()
        } else {
            format!("only the properties {}", listed(names.iter().copied()))
        };
        let unknown = Unknown { outline: &self.outline, layers: &layers, object, key };
        let Hint { words, key: known } = unknown.hint();
        let expected = shortened(expected);
        let path = key_path(place, key);
        self.push(Fault { path, expected, received: value, hint: Some(words), key: known });
    }

    /// Adds an error about one value, described by the whole schema of that value.
    fn add_plain(&mut self, error: &ValidationError<'_>, place: String) {
        let received = shown(error.instance());
        let expected = match error.kind() {
            Kind::Enum { options } => choices(&options.as_array().into_iter().flatten().collect::<Vec<_>>()),
            Kind::Constant { expected_value } => shown(expected_value),
            Kind::FalseSchema => "nothing here".to_owned(),
            Kind::UniqueItems => "a list without repeated items".to_owned(),
            Kind::Contains => "a list with at least one item of the kind the schema names".to_owned(),
            Kind::AdditionalItems { limit } => format!("a list of at most {limit} items"),
            Kind::Not { schema } => format!("a value that does not match {}", shown(schema)),
            Kind::OneOfMultipleValid { .. } => "a value of exactly one of the allowed forms".to_owned(),
            Kind::Pattern { pattern } => format!("a string that matches the pattern {}", shown_text(pattern)),
            Kind::Format { format } => format!("a string in the format {}", shown_text(format)),
            _ => wanted(&self.outline, self.parent(error)),
        };
        let hint = did_you_mean(error.instance(), &self.choices_at(error));
        let hint = hint.or_else(|| not_as_text(error.instance(), self.parent(error).as_object()?));
        self.tell(place, expected, received, hint);
    }

    fn tell_missing(&mut self, place: &str, name: &str, kind: &str) {
        let fault = Fault {
            key: UnknownKey::Unsaid,
            path: key_path(place, name),
            expected: shortened(format!("the property {} ({kind})", shown_text(name))),
            received: "nothing".to_owned(),
            hint: None,
        };
        if !self.missing.contains(&fault) {
            self.missing.push(fault);
        }
    }

    fn tell(&mut self, path: String, expected: String, received: String, hint: Option<String>) {
        self.push(Fault { path, expected: shortened(expected), received, hint, key: UnknownKey::Unsaid });
    }

    fn push(&mut self, fault: Fault) {
        if !self.others.contains(&fault) {
            self.others.push(fault);
        }
    }

    /// Returns the faults, missing properties first.
    pub(super) fn finish(mut self, most: usize) -> Vec<Fault> {
        self.missing.append(&mut self.others);
        let rest = self.missing.len().saturating_sub(most) + self.beyond;
        self.missing.truncate(most);
        if let Some(last) = self.missing.last_mut().filter(|_| rest > 0) {
            let about = if self.is_open { "at least " } else { "" };
            let more = format!("{about}{rest} more problems are not listed");
            last.hint = Some(last.hint.take().map_or(more.clone(), |hint| format!("{hint}; {more}")));
        }
        self.missing
    }

    /// Turns a JSON pointer into a path. Only the value knows whether `/0` is an index or a key.
    fn place(&self, pointer: &str) -> String {
        let mut path = "$".to_owned();
        let mut value = Some(self.value);
        for step in pointer.split('/').skip(1) {
            let key = step.replace("~1", "/").replace("~0", "~");
            match (value, key.parse::<usize>()) {
                (Some(Value::Array(items)), Ok(index)) => {
                    push_index(&mut path, index);
                    value = items.get(index);
                }
                _ => {
                    push_key(&mut path, &key);
                    value = value.and_then(|value| value.get(&key));
                }
            }
        }
        path
    }

    /// The schema whose keyword failed.
    fn parent(&self, error: &ValidationError<'_>) -> &'s Value {
        let pointer = error.schema_path().as_str();
        let parent = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
        self.schema.pointer(parent).unwrap_or(&Value::Null)
    }

    /// The branches of the union that failed.
    fn branches_at(&self, error: &ValidationError<'_>) -> &'s [Value] {
        self.parent(error).get(error.kind().keyword()).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The values listed for a place, in the schema itself or in the branches of its union.
    fn choices_at(&self, error: &ValidationError<'_>) -> Vec<&'s Value> {
        let own = choices_of(&self.outline, self.parent(error));
        let branches = self.branches_at(error).iter();
        own.into_iter().chain(branches.flat_map(|branch| choices_of(&self.outline, branch))).collect()
    }

    fn layers_at(&self, error: &ValidationError<'_>) -> Vec<&'s Map<String, Value>> {
        self.outline.layers(self.parent(error))
    }
}

/// Says how a list or an object is sent where a text came.
fn not_as_text(value: &Value, wanted: &Map<String, Value>) -> Option<String> {
    let text = value.as_str()?;
    let is_of_texts =
        || item_schema(wanted, 0).and_then(Value::as_object).is_some_and(|item| types(item) == ["string"]);
    match types(wanted)[..] {
        ["array"] if !is_of_texts() => Some("send the list itself, not as text: [item, item]".to_owned()),
        ["array"] => Some(format!("send the list itself: [{}] for one item, [\"a\", \"b\"] for two", shown_text(text))),
        ["object"] => Some("send the object itself, not as text: {\"name\": value}".to_owned()),
        _ => None,
    }
}

fn did_you_mean(value: &Value, choices: &[&Value]) -> Option<String> {
    let name = closest(value.as_str()?, choices.iter().filter_map(|choice| choice.as_str()))?;
    Some(format!("did you mean {}?", shown_text(name)))
}
