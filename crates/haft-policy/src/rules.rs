//! Rules that people write: what they are about, whether they can hold, and whether their examples do.
//!
//! A rule is a draft until it was checked: one that can never match, or whose examples fail, is no rule. How a rule
//! fits is told in degrees ([`fit::Fit`]), because a command hides words that are known only when it runs: a refusal
//! that perhaps fits is a question, a permission that perhaps fits is none.
//!
//! Not here: the file and its lines (`haft-config`), how opinions are put together (`policy`).

pub mod arguments;
pub mod conditions;
pub mod draft;
pub mod examples;
pub mod fit;
pub mod names;
pub mod paths;
mod synonyms;
pub mod words;

#[cfg(test)]
mod tests;

use crate::rule::Rule;
use examples::Examples;

/// A rule that was checked, with the examples that prove it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenRule {
    /// The rule.
    pub rule: Rule,
    /// Its examples.
    pub examples: Examples,
}
