//! Turns arguments a model wrote for a lowered schema back into arguments of the tool's own schema.
//!
//! Some providers cannot express some schemas: no optional properties, no maps, no open objects, no
//! property names outside ASCII. haft then offers the tool with a schema that says the same in
//! another form, and an [`InverseLowering`] travels with the call to undo that form. It is data, not code:
//! the code that lowers a schema and the code that runs a call need not know each other.
//!
//! Not here: how a schema is lowered (`haft-model`), and judging the arguments. A value
//! that does not have the lowered form is left as it is; validation against the tool's own schema
//! comes afterwards and tells the model what is wrong.

use std::cell::Cell;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Steps one [`InverseLowering::apply`] may take. Far above any real call; it ends the rest in linear time.
const STEPS: usize = 2_000_000;
/// How deep a value is followed. What lies deeper is left as it is.
const DEPTH: usize = 256;

/// Turns arguments of a lowered schema back into arguments of the original schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InverseLowering {
    root: LiftRule,
    named: Vec<NamedRule>,
}

impl InverseLowering {
    /// Returns the lift that changes nothing.
    pub fn none() -> InverseLowering {
        InverseLowering::default()
    }

    /// Returns a lift that applies `root`; [`LiftRule::Named`] and [`ValueShape::Named`] count into `named`.
    ///
    /// When no rule changes anything the result is [`InverseLowering::none`].
    pub fn new(root: LiftRule, named: Vec<NamedRule>) -> InverseLowering {
        let changes = |rule: &LiftRule| rule.changes();
        if changes(&root) || named.iter().any(|entry| changes(&entry.rule)) {
            InverseLowering { root, named }
        } else {
            InverseLowering::none()
        }
    }

    /// Returns whether [`InverseLowering::apply`] returns every value as it is.
    pub fn is_none(&self) -> bool {
        self.root == LiftRule::Same
    }

    /// Returns `value` in the form of the original schema.
    ///
    /// Total: a part that does not have the lowered form is left as it is.
    pub fn apply(&self, value: Value) -> Value {
        if self.is_none() {
            return value;
        }
        let lifting = Lifting { named: &self.named, steps: Cell::new(STEPS) };
        lifting.lift(&self.root, value, 0)
    }
}

/// The change that has to be undone at one place of the arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LiftRule {
    /// The value has the original form already.
    #[default]
    Same,
    /// A text holding JSON becomes the value it describes.
    Text,
    /// An object whose properties, by the name the model saw, have rules of their own.
    Fields(BTreeMap<String, Field>),
    /// A list: the first items by position, every further one by `rest`.
    Items {
        /// Rules of the first items.
        first: Vec<LiftRule>,
        /// Rule of every item after those.
        rest: Box<LiftRule>,
    },
    /// A list of `{"key", "value"}` becomes an object. A repeated key leaves the list as it is, so
    /// that validation refuses it instead of one value winning silently.
    Entries(Box<LiftRule>),
    /// The first alternative whose shape the value has.
    Choice(Vec<(ValueShape, LiftRule)>),
    /// The rule with this number in the lift's list; how recursive schemas are followed.
    Named(usize),
}

impl LiftRule {
    /// Returns whether the rule by itself can change a value; [`LiftRule::Named`] counts as no change.
    pub fn changes(&self) -> bool {
        match self {
            LiftRule::Same | LiftRule::Named(_) => false,
            LiftRule::Text | LiftRule::Entries(_) => true,
            LiftRule::Fields(fields) => fields.iter().any(|(wire, field)| field.changes(wire)),
            LiftRule::Items { first, rest } => rest.changes() || first.iter().any(LiftRule::changes),
            LiftRule::Choice(branches) => branches.iter().any(|(_, rule)| rule.changes()),
        }
    }
}

/// One property of an object, as the model saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Where its value belongs.
    pub place: PropertyPlace,
    /// What a `null` says.
    pub null: Null,
    /// What has to be undone in its value.
    pub rule: LiftRule,
}

impl Field {
    fn changes(&self, wire: &str) -> bool {
        self.null == Null::Absent
            || self.rule.changes()
            || match &self.place {
                PropertyPlace::Property(name) => name != wire,
                PropertyPlace::Spread => true,
            }
    }
}

/// The place in the original object for the value of a lowered property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyPlace {
    /// In the property of this name.
    Property(String),
    /// Its members are members of the object itself. A declared property with a value goes first.
    Spread,
}

/// What a `null` in a lowered property says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Null {
    /// The value is null.
    Value,
    /// The property was left out; the null was only added so that the model could say so.
    Absent,
}

/// A rule that others refer to, and the shape of the values it applies to.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedRule {
    /// The rule.
    pub rule: LiftRule,
    /// The shape of lowered values it applies to.
    pub shape: ValueShape,
}

/// The form a lowered value has, as far as needed to tell the alternatives of a union apart.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueShape {
    /// Any value.
    Anything,
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number without fraction.
    Integer,
    /// A number.
    Number,
    /// A string.
    Text,
    /// Exactly one of these values.
    OneOf(Vec<Value>),
    /// A list of values of one shape.
    List(Box<ValueShape>),
    /// An object with these properties and no other.
    Record(BTreeMap<String, ValueShape>),
    /// One of several shapes.
    AnyOf(Vec<ValueShape>),
    /// The shape with this number in the lift's list.
    Named(usize),
}

/// Whether an object has to have all properties of a [`ValueShape::Record`]. Servers that do not enforce
/// a strict schema let models leave out what is null.
#[derive(Clone, Copy)]
enum RequiredKeys {
    All,
    Some,
}

struct Lifting<'a> {
    named: &'a [NamedRule],
    steps: Cell<usize>,
}

impl Lifting<'_> {
    fn lift(&self, rule: &LiftRule, value: Value, depth: usize) -> Value {
        if !self.step(depth) {
            return value;
        }
        match (rule, value) {
            (LiftRule::Same, value) => value,
            (LiftRule::Text, Value::String(text)) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
            (LiftRule::Fields(fields), Value::Object(object)) => self.fields(fields, object, depth),
            (LiftRule::Items { first, rest }, Value::Array(items)) => items
                .into_iter()
                .enumerate()
                .map(|(i, item)| self.lift(first.get(i).unwrap_or(rest), item, depth + 1))
                .collect(),
            (LiftRule::Entries(rule), Value::Array(items)) => self.entries(rule, items, depth),
            (LiftRule::Choice(branches), value) => match self.choose(branches, &value, depth) {
                Some(rule) => self.lift(rule, value, depth + 1),
                None => value,
            },
            (LiftRule::Named(index), value) => match self.named.get(*index) {
                Some(named) => self.lift(&named.rule, value, depth + 1),
                None => value,
            },
            (LiftRule::Text | LiftRule::Fields(_) | LiftRule::Items { .. } | LiftRule::Entries(_), value) => value,
        }
    }

    fn fields(&self, fields: &BTreeMap<String, Field>, object: Map<String, Value>, depth: usize) -> Value {
        let mut lifted = Map::new();
        let mut spread = Vec::new();
        for (wire, value) in object {
            let Some(field) = fields.get(&wire) else {
                lifted.insert(wire, value);
                continue;
            };
            if value.is_null() && field.null == Null::Absent {
                continue;
            }
            match (&field.place, self.lift(&field.rule, value, depth + 1)) {
                (PropertyPlace::Property(name), value) => {
                    lifted.insert(name.clone(), value);
                }
                (PropertyPlace::Spread, Value::Object(members)) => spread.extend(members),
                (PropertyPlace::Spread, value) => {
                    lifted.insert(wire, value);
                }
            }
        }
        for (name, value) in spread {
            lifted.entry(name).or_insert(value);
        }
        Value::Object(lifted)
    }

    fn entries(&self, rule: &LiftRule, items: Vec<Value>, depth: usize) -> Value {
        let mut seen = std::collections::BTreeSet::new();
        let well_formed = items.iter().all(|item| match item.as_object() {
            Some(entry) if entry.len() == 2 && entry.contains_key("value") => {
                entry.get("key").and_then(Value::as_str).is_some_and(|key| seen.insert(key.to_owned()))
            }
            _ => false,
        });
        if !well_formed {
            return Value::Array(items);
        }
        let mut object = Map::new();
        for item in items {
            if let Value::Object(mut entry) = item
                && let (Some(Value::String(key)), Some(value)) = (entry.remove("key"), entry.remove("value"))
            {
                object.insert(key, self.lift(rule, value, depth + 1));
            }
        }
        Value::Object(object)
    }

    fn choose<'r>(&self, branches: &'r [(ValueShape, LiftRule)], value: &Value, depth: usize) -> Option<&'r LiftRule> {
        [RequiredKeys::All, RequiredKeys::Some].into_iter().find_map(|keys| {
            branches.iter().find(|(shape, _)| self.admits(shape, value, keys, depth)).map(|(_, rule)| rule)
        })
    }

    fn admits(&self, shape: &ValueShape, value: &Value, keys: RequiredKeys, depth: usize) -> bool {
        if !self.step(depth) {
            return false;
        }
        let inside = |shape: &ValueShape, value: &Value| self.admits(shape, value, keys, depth + 1);
        match shape {
            ValueShape::Anything => true,
            ValueShape::Null => value.is_null(),
            ValueShape::Boolean => value.is_boolean(),
            ValueShape::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            ValueShape::Number => value.is_number(),
            ValueShape::Text => value.is_string(),
            ValueShape::OneOf(values) => values.contains(value),
            ValueShape::List(item) => {
                value.as_array().is_some_and(|items| items.iter().all(|value| inside(item, value)))
            }
            ValueShape::Record(record) => value.as_object().is_some_and(|object| {
                let whole = match keys {
                    RequiredKeys::All => object.len() == record.len(),
                    RequiredKeys::Some => true,
                };
                whole && object.iter().all(|(key, value)| record.get(key).is_some_and(|shape| inside(shape, value)))
            }),
            ValueShape::AnyOf(shapes) => shapes.iter().any(|shape| inside(shape, value)),
            ValueShape::Named(index) => self.named.get(*index).is_some_and(|named| inside(&named.shape, value)),
        }
    }

    /// Returns whether there is budget for one more step at this depth.
    fn step(&self, depth: usize) -> bool {
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(1));
        left > 0 && depth < DEPTH
    }
}
