//! Explains why a text is not the YAML of a definition.
//!
//! The parser speaks to programmers ("mapping values are not allowed in this context"). For the most frequent errors,
//! this module says what to write instead.

use serde_saphyr::Error;
use serde_saphyr::budget::BudgetBreach;

use super::node::{MOST_ALIASED, MOST_VALUES, TOO_DEEP};
use super::problem::DefinitionProblem;

const MEND: &str = "fix the YAML here";
const FEWER_LEVELS: &str = "use fewer levels, or a `$ref` in a schema";

/// Words of the parser, what they mean, and what to do.
const PARSER: [(&str, &str, &str); 10] = [
    ("recursion limit exceeded", TOO_DEEP, FEWER_LEVELS),
    ("found a tab", "a tab indents the next line", "indent with spaces"),
    ("tabs disallowed", "a tab indents this line", "indent with spaces"),
    (
        "mapping values are not allowed",
        "a colon is where no value can follow",
        "put the text in quotes, or fix the indentation",
    ),
    ("unexpected character", "a text cannot begin like this", "put the text in quotes"),
    ("invalid trailing content", "something follows the quoted text", "put a ' inside '…' twice, or use \"…\""),
    ("unclosed quote", "a quote is not closed", "close it"),
    ("unclosed bracket", "a bracket is not closed", "close it"),
    (
        "simple key expected",
        "this line is neither a key with a value nor an item of a list",
        "write KEY: VALUE or - ITEM",
    ),
    ("block sequence entries are not allowed", "a list begins on the line of its key", "begin it on the next line"),
];

/// Says what is wrong, in which line, and what to do.
pub(in crate::defined::definition) fn explain(error: &Error) -> DefinitionProblem {
    let line = error.location().and_then(|location| usize::try_from(location.line()).ok());
    let (what, fix) = words(error.without_snippet());
    DefinitionProblem::error(line, what, fix)
}

fn words(error: &Error) -> (String, &'static str) {
    match error {
        Error::AliasError { error, .. } => words(error),
        Error::ExternalMessage { msg, .. } => {
            let known = PARSER.iter().find(|(theirs, ..)| msg.contains(theirs));
            known.map_or_else(|| (msg.clone(), MEND), |(_, what, fix)| ((*what).to_owned(), *fix))
        }
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().unwrap_or_default();
            (format!("the key {key:?} occurs twice"), "remove one of them")
        }
        Error::MultipleDocuments { .. } => {
            ("a second document begins with `---`".to_owned(), "write one document per file")
        }
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => (TOO_DEEP.to_owned(), FEWER_LEVELS),
        Error::Budget { breach: BudgetBreach::Nodes { .. } | BudgetBreach::Events { .. }, .. } => {
            (format!("it has more than {MOST_VALUES} values"), "keep data in a file that the tool reads")
        }
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. } => {
            let what =
                format!("anchors and aliases expand to too much: {MOST_ALIASED} values at most, 16 levels of aliases");
            (what, "write the values out, or use a `$ref` in a schema")
        }
        Error::UnknownAnchor { .. } => {
            ("an alias has no anchor".to_owned(), "write the value itself, or put a text that begins with * in quotes")
        }
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            ("an alias is inside its own anchor".to_owned(), "use a `$ref` in a schema")
        }
        Error::NonFiniteFloat { value, .. } => {
            (format!("{value} is not a number that JSON has"), "write another number")
        }
        Error::UnsupportedTag { tag, .. } => (format!("the tag {tag} has no meaning here"), "remove it"),
        Error::NullIntoString { .. } => ("a key is null".to_owned(), "put it in quotes"),
        Error::Unexpected { expected: "string scalar", .. } => {
            ("a key is not text".to_owned(), "write KEY: VALUE, with the key in quotes if need be")
        }
        Error::MergeValueNotMapOrSeqOfMaps { .. } => {
            ("`<<` merges something that is not a map".to_owned(), "name the anchor of a map")
        }
        other => {
            let told = other.to_string();
            (told.split(" at line ").next().unwrap_or(&told).to_owned(), MEND)
        }
    }
}
