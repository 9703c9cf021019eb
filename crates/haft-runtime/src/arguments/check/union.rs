//! Picks the branch of a union whose errors are worth reporting.
//!
//! "Matches none of six forms" does not help a model. When the branches name themselves by a constant property (a
//! tag), this module picks the branch that the value names. Otherwise it picks the branch that failed deepest inside
//! the value, because the others already failed at the outside.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;

use super::super::outline::{Outline, parts, property_schema};

/// The errors to report about a value that fits no branch of a union.
pub(super) enum UnionMismatch<'e, 's> {
    /// The errors of the branch that was meant.
    Branch(&'e [ValidationError<'static>]),
    /// The property that names the branch is missing or names none; these are the names.
    Tag(&'s str, Vec<&'s Value>),
    /// Nothing better than what the union as a whole admits.
    Whole,
}

/// Chooses what to tell; `context` holds the errors of each of the branches.
pub(super) fn worth_telling<'e, 's>(
    outline: &Outline<'s>,
    branches: &'s [Value],
    error: &ValidationError<'_>,
    context: &'e [Vec<ValidationError<'static>>],
) -> UnionMismatch<'e, 's> {
    let outside = error.instance_path().as_str();
    let possible = |errors: &&'e Vec<ValidationError<'static>>| !is_another_kind(errors, outside);
    let Some(tag) = Tag::of(outline, branches).filter(|_| error.instance().is_object()) else {
        return closest(context.iter().filter(possible)).map_or(UnionMismatch::Whole, UnionMismatch::Branch);
    };
    let named = error.instance().get(tag.name);
    let meant = tag.schemas.iter().zip(context).filter_map(|(schema, errors)| {
        let is_meant = named.is_some_and(|named| schema.is_some_and(|schema| outline.admits(named, schema)));
        is_meant.then_some(errors)
    });
    match closest(meant) {
        Some(errors) => UnionMismatch::Branch(errors),
        None => UnionMismatch::Tag(tag.name, tag.names(outline)),
    }
}

/// A property that every object of a union has as a constant.
struct Tag<'s> {
    name: &'s str,
    /// The schema of the property in each branch; none where the branch is no object.
    schemas: Vec<Option<&'s Value>>,
}

impl<'s> Tag<'s> {
    fn of(outline: &Outline<'s>, branches: &'s [Value]) -> Option<Tag<'s>> {
        let object = branches.iter().find(|branch| is_object(outline, branch))?;
        let mut names = outline
            .layers(object)
            .into_iter()
            .filter_map(|layer| layer.get("properties")?.as_object())
            .flat_map(|properties| properties.keys());
        names.find_map(|name| {
            let schema_of =
                |branch: &'s Value| outline.layers(branch).into_iter().find_map(|layer| property_schema(layer, name));
            let schemas: Vec<Option<&Value>> = branches.iter().map(schema_of).collect();
            let is_tag = schemas.iter().zip(branches).all(|(schema, branch)| match schema {
                Some(schema) => !choices_of(outline, schema).is_empty(),
                None => !is_object(outline, branch),
            });
            (is_tag && schemas.iter().flatten().count() > 1).then_some(Tag { name, schemas })
        })
    }

    fn names(&self, outline: &Outline<'s>) -> Vec<&'s Value> {
        let mut names: Vec<&Value> = Vec::new();
        for name in self.schemas.iter().flatten().flat_map(|schema| choices_of(outline, schema)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

fn is_object<'s>(outline: &Outline<'s>, branch: &'s Value) -> bool {
    outline.layers(branch).iter().any(|layer| layer.contains_key("properties"))
}

/// The values a schema lists one by one.
pub(super) fn choices_of<'s>(outline: &Outline<'s>, schema: &'s Value) -> Vec<&'s Value> {
    let layers = outline.layers(schema).into_iter();
    layers.flat_map(|layer| layer.get("const").into_iter().chain(parts(layer, "enum"))).collect()
}

/// Whether a branch is about another kind of value altogether: the value itself has the wrong type.
fn is_another_kind(errors: &[ValidationError<'static>], outside: &str) -> bool {
    errors.is_empty()
        || errors.iter().any(|inner| {
            let is_kind = matches!(inner.kind(), Kind::Type { .. } | Kind::Constant { .. } | Kind::Enum { .. });
            is_kind && inner.instance_path().as_str() == outside
        })
}

/// The branch that failed deepest, then the one with the fewest errors, then the first.
fn closest<'e>(
    branches: impl Iterator<Item = &'e Vec<ValidationError<'static>>>,
) -> Option<&'e [ValidationError<'static>]> {
    let depth = |errors: &[ValidationError<'static>]| {
        errors.iter().map(|error| error.instance_path().as_str().matches('/').count()).max()
    };
    branches.map(Vec::as_slice).min_by_key(|errors| (std::cmp::Reverse(depth(errors)), errors.len()))
}
