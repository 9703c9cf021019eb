//! Reads the form in which models are offered tools, `{type: function, function: {…}}`, as a definition.
//!
//! Code-Ally's tools and programs for providers describe tools like this. The keys of haft stand beside `function` or
//! inside it. The form without the inner object has the same keys.

use super::syntax::node::{DefinitionKey, DefinitionNode, DefinitionValue};
use super::syntax::problem::DefinitionProblem;

/// Puts the keys of the inner object in its place, and the names of definitions in the place of those of the form.
/// Anything else stays as it is.
pub(super) fn unfolded(node: DefinitionNode) -> Result<DefinitionNode, DefinitionProblem> {
    if node.entry("type").and_then(|(_, kind)| kind.text()) != Some("function") {
        return Ok(node);
    }
    let (line, entries) = match node {
        DefinitionNode { line, value: DefinitionValue::Map(entries) } => (line, entries),
        other => return Ok(other),
    };
    let mut unfolded: Vec<(DefinitionKey, DefinitionNode)> = Vec::new();
    let (inner, beside): (Vec<_>, Vec<_>) =
        entries.into_iter().filter(|(key, _)| key.name != "type").partition(|(key, _)| key.name == "function");
    let inner = inner.into_iter().flat_map(|(key, node)| match node {
        DefinitionNode { value: DefinitionValue::Map(entries), .. } => entries,
        // It is no key of a definition, which is reported.
        other => vec![(key, other)],
    });
    for (key, value) in inner.chain(beside) {
        let name = if key.name == "parameters" { "input_schema".to_owned() } else { key.name };
        if unfolded.iter().any(|(other, _)| other.name == name) {
            let what = format!("\"{name}\" is there twice, in \"function\" and beside it");
            return Err(DefinitionProblem::error(key.line, what, "leave one of them out"));
        }
        unfolded.push((DefinitionKey { name, line: key.line }, value));
    }
    Ok(DefinitionNode { line, value: DefinitionValue::Map(unfolded) })
}
