//! Rules that people write: their subjects, whether they can apply, and whether their examples hold.
//!
//! A rule is a draft until haft has checked it. haft rejects a rule that can never match, or whose examples fail. A rule
//! fits in degrees ([`fit::Fit`]), because a command hides words that are known only when it runs. A refusal that perhaps
//! fits is a question; a permission that perhaps fits does not count.
//!
//! Not here: the file and its lines (`haft-config`), how opinions are combined (`policy`).

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
