//! Finds references that lead back to themselves.
//!
//! A tree may contain trees: such a loop passes through a property or an item and is fine. A loop
//! that never descends (`a` is `b`, `b` is `a`) describes nothing and would hang every reader, so it
//! is refused. Gemini also needs to know which definitions are recursive.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::SchemaRefusal;
use super::bounds::DEEPEST;
use super::modern::SchemaDocument;

/// Keywords whose schemas speak about the same value as the schema they stand in.
const SAME_VALUE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];

/// Refuses loops of references that never reach a type, and needlessly long chains.
pub(super) fn refuse_loops(document: &SchemaDocument) -> Result<(), SchemaRefusal> {
    let edges: Vec<HashSet<usize>> =
        document.defs.iter().map(|def| references(document, &def.schema, Follow::SameValue)).collect();
    let mut heights = vec![None; edges.len()];
    let mut settled = 0;
    loop {
        let before = settled;
        for (i, targets) in edges.iter().enumerate() {
            if heights[i].is_some() {
                continue;
            }
            let height = targets
                .iter()
                .try_fold(0, |height: usize, target| heights[*target].map(|below: usize| height.max(below + 1)));
            if let Some(height) = height {
                if height > DEEPEST {
                    return Err(SchemaRefusal(format!(
                        "references follow each other more than {DEEPEST} times from {}. Next: refer to the last definition directly",
                        document.defs[i].origin
                    )));
                }
                heights[i] = Some(height);
                settled += 1;
            }
        }
        if settled == before {
            break;
        }
    }
    match heights.iter().position(Option::is_none) {
        Some(i) => Err(SchemaRefusal(format!(
            "the reference at {} leads back to itself without reaching a type. Next: give that definition a type",
            document.defs[i].origin
        ))),
        None => Ok(()),
    }
}

/// Returns the definitions that lie on a loop, or between two.
pub(super) fn recursive(document: &SchemaDocument) -> HashSet<usize> {
    let edges: Vec<HashSet<usize>> =
        document.defs.iter().map(|def| references(document, &def.schema, Follow::Everything)).collect();
    let leading_on = peel(&edges);
    let backwards = peel(&reversed(&edges));
    leading_on.intersection(&backwards).copied().collect()
}

/// Returns the nodes from which one can walk forever.
fn peel(edges: &[HashSet<usize>]) -> HashSet<usize> {
    let sources = reversed(edges);
    let mut left: Vec<usize> = edges.iter().map(HashSet::len).collect();
    let mut ends: Vec<usize> = (0..edges.len()).filter(|i| left[*i] == 0).collect();
    let mut alive: HashSet<usize> = (0..edges.len()).collect();
    while let Some(end) = ends.pop() {
        alive.remove(&end);
        for source in &sources[end] {
            left[*source] -= 1;
            if left[*source] == 0 {
                ends.push(*source);
            }
        }
    }
    alive
}

fn reversed(edges: &[HashSet<usize>]) -> Vec<HashSet<usize>> {
    let mut sources = vec![HashSet::new(); edges.len()];
    for (source, targets) in edges.iter().enumerate() {
        for target in targets {
            sources[*target].insert(source);
        }
    }
    sources
}

/// Which references of a schema count.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Follow {
    /// Those that speak about the same value.
    SameValue,
    /// All.
    Everything,
}

/// Returns the definitions a schema refers to.
pub(super) fn references(document: &SchemaDocument, schema: &Value, follow: Follow) -> HashSet<usize> {
    let mut found = HashSet::new();
    let mut rest = vec![schema];
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(map) => {
                found.extend(document.target(map));
                rest.extend(followed(map, follow));
            }
            Value::Array(list) => rest.extend(list),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found
}

fn followed(map: &Map<String, Value>, follow: Follow) -> Vec<&Value> {
    match follow {
        Follow::Everything => map.values().collect(),
        Follow::SameValue => {
            let dependent = map.get("dependentSchemas").and_then(Value::as_object);
            map.iter()
                .filter(|(key, _)| SAME_VALUE.contains(&key.as_str()))
                .map(|(_, value)| value)
                .chain(dependent.into_iter().flat_map(Map::values))
                .collect()
        }
    }
}
