//! Tells the alternatives of a lowered union apart.
//!
//! Undoing a union needs to know which alternative the model chose. Strict objects have exactly their
//! properties, so most are told apart by keys or by a constant tag. Where two alternatives can look
//! the same and would be undone differently, the union is a clash.

use std::cell::Cell;

use haft_contract::description::lift::{LiftRule, NamedRule, ValueShape};
use serde_json::{Map, Value};

use super::super::modern::SchemaDocument;
use super::Alternatives;

/// Beyond this many alternatives pairs are not compared.
const MOST_COMPARED: usize = 200;
/// How deep two shapes are compared before they count as alike.
const DEEPEST_COMPARED: usize = 12;
/// How many comparisons one schema may cost before the rest count as alike.
const MOST_COMPARISONS: usize = 1_000_000;

/// Returns the places of unions that cannot be undone.
pub(super) fn clashes(unions: &[Alternatives], named: &[NamedRule]) -> Vec<String> {
    let lifting = lifting(named);
    let comparison = ShapeComparison { named, left: Cell::new(MOST_COMPARISONS) };
    let clash = |branches: &[(ValueShape, LiftRule)]| {
        if branches.len() > MOST_COMPARED {
            return true;
        }
        branches.iter().enumerate().any(|(i, (shape, rule))| {
            branches[i + 1..].iter().any(|(other_shape, other_rule)| {
                let both_idle = !lifts(rule, &lifting) && !lifts(other_rule, &lifting);
                rule != other_rule && !both_idle && comparison.overlap(shape, other_shape, 0)
            })
        })
    };
    unions.iter().filter(|union| clash(&union.branches)).map(|union| union.at.clone()).collect()
}

/// Returns the shape of values of a lowered schema.
pub(super) fn shape(schema: &Map<String, Value>, document: &SchemaDocument) -> ValueShape {
    let inner = |value: &Value| match value {
        Value::Object(schema) => shape(schema, document),
        _ => ValueShape::Anything,
    };
    if let Some(index) = document.target(schema) {
        return ValueShape::Named(index);
    }
    if let Some(Value::Array(branches)) = schema.get("anyOf") {
        return ValueShape::AnyOf(branches.iter().map(inner).collect());
    }
    if let Some(value) = schema.get("const") {
        return ValueShape::OneOf(vec![value.clone()]);
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        return ValueShape::OneOf(values.clone());
    }
    let of_type = |name: &Value| match name.as_str() {
        Some("null") => ValueShape::Null,
        Some("boolean") => ValueShape::Boolean,
        Some("integer") => ValueShape::Integer,
        Some("number") => ValueShape::Number,
        Some("string") => ValueShape::Text,
        Some("array") => ValueShape::List(Box::new(schema.get("items").map_or(ValueShape::Anything, inner))),
        Some("object") => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let members = properties.into_iter().flatten();
            ValueShape::Record(members.map(|(name, value)| (name.clone(), inner(value))).collect())
        }
        _ => ValueShape::Anything,
    };
    match schema.get("type") {
        Some(Value::Array(names)) => ValueShape::AnyOf(names.iter().map(of_type).collect()),
        Some(name) => of_type(name),
        None => ValueShape::Anything,
    }
}

/// Returns whether a lowered schema admits null by itself; references are not followed.
pub(super) fn admits_null(schema: &Map<String, Value>) -> bool {
    let by_type = match schema.get("type") {
        Some(Value::Array(names)) => names.iter().any(|name| name == "null"),
        Some(name) => name == "null",
        None => false,
    };
    let by_branch = schema
        .get("anyOf")
        .and_then(Value::as_array)
        .is_some_and(|branches| branches.iter().filter_map(Value::as_object).any(admits_null));
    by_type || by_branch
}

/// Returns which named rules change anything, themselves or through others.
fn lifting(named: &[NamedRule]) -> Vec<bool> {
    let mut lifting: Vec<bool> = named.iter().map(|entry| entry.rule.changes()).collect();
    loop {
        let before = lifting.iter().filter(|lifts| **lifts).count();
        for (i, entry) in named.iter().enumerate() {
            lifting[i] = lifting[i] || lifts(&entry.rule, &lifting);
        }
        if lifting.iter().filter(|lifts| **lifts).count() == before {
            return lifting;
        }
    }
}

fn lifts(rule: &LiftRule, lifting: &[bool]) -> bool {
    match rule {
        LiftRule::Same => false,
        LiftRule::Text | LiftRule::Entries(_) => true,
        LiftRule::Named(index) => lifting.get(*index).copied().unwrap_or(true),
        LiftRule::Fields(fields) => rule.changes() || fields.values().any(|field| lifts(&field.rule, lifting)),
        LiftRule::Items { first, rest } => lifts(rest, lifting) || first.iter().any(|rule| lifts(rule, lifting)),
        LiftRule::Choice(branches) => branches.iter().any(|(_, rule)| lifts(rule, lifting)),
    }
}

/// Compares shapes within a budget: unions of unions have exponentially many pairs.
struct ShapeComparison<'a> {
    named: &'a [NamedRule],
    left: Cell<usize>,
}

impl ShapeComparison<'_> {
    /// Returns whether one value can have both shapes.
    fn overlap(&self, a: &ValueShape, b: &ValueShape, depth: usize) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        if left == 0 || depth > DEEPEST_COMPARED {
            return true;
        }
        let inner = |a: &ValueShape, b: &ValueShape| self.overlap(a, b, depth + 1);
        match (a, b) {
            (ValueShape::Anything, _) | (_, ValueShape::Anything) => true,
            (ValueShape::Named(index), other) | (other, ValueShape::Named(index)) => {
                self.named.get(*index).is_none_or(|entry| inner(&entry.shape, other))
            }
            (ValueShape::AnyOf(shapes), other) | (other, ValueShape::AnyOf(shapes)) => {
                shapes.iter().any(|shape| inner(shape, other))
            }
            (ValueShape::OneOf(values), ValueShape::OneOf(others)) => values.iter().any(|value| others.contains(value)),
            (ValueShape::OneOf(values), other) | (other, ValueShape::OneOf(values)) => {
                values.iter().any(|value| is_of(value, other))
            }
            (ValueShape::Integer | ValueShape::Number, ValueShape::Integer | ValueShape::Number) => true,
            // Both can be the empty list.
            (ValueShape::List(_), ValueShape::List(_)) => true,
            (ValueShape::Record(ours), ValueShape::Record(theirs)) => {
                let alike =
                    |(name, shape): (&String, &ValueShape)| theirs.get(name).is_some_and(|other| inner(shape, other));
                ours.len() == theirs.len() && ours.iter().all(alike)
            }
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }
}

/// Returns whether a constant has a shape; lists and objects are no constants here.
fn is_of(value: &Value, shape: &ValueShape) -> bool {
    match shape {
        ValueShape::Null => value.is_null(),
        ValueShape::Boolean => value.is_boolean(),
        ValueShape::Integer | ValueShape::Number => value.is_number(),
        ValueShape::Text => value.is_string(),
        ValueShape::List(_) | ValueShape::Record(_) => false,
        ValueShape::Anything | ValueShape::OneOf(_) | ValueShape::AnyOf(_) | ValueShape::Named(_) => true,
    }
}
