//! Examples of a rule: commands that it must match, and commands that it must not.

use std::fmt;
use std::sync::LazyLock;

use haft_contract::effect::Effect;
use serde_json::json;

use super::fit::Fit;
use super::paths::Roots;
use crate::decision::Decision;
use crate::effect_kind::EffectKind;
use crate::examples::{HOME, WORKSPACE, steps_in_scene};
use crate::rule::{Pattern, Rule};

/// The tool whose calls examples are: the one that runs commands.
pub const TOOL: &str = "bash";

/// Reads examples as the shell would, in an imagined workspace, so they mean the same on every machine.
#[derive(Clone, Copy)]
pub struct ExampleReader<'a> {
    /// Where paths are seen from there.
    pub roots: &'a Roots,
    /// Says what a command would do there.
    pub read: &'a dyn Fn(&str) -> Vec<Effect>,
}

impl Default for ExampleReader<'_> {
    fn default() -> Self {
        static ROOTS: LazyLock<Roots> =
            LazyLock::new(|| Roots { home: HOME.into(), workspace: Some(WORKSPACE.into()) });
        Self { roots: &ROOTS, read: &steps_in_scene }
    }
}

/// Commands that prove a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examples {
    /// Those with a part that the rule matches.
    pub matches: Vec<String>,
    /// Those without.
    pub not_matches: Vec<String>,
}

/// An example that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExampleFailure {
    /// The rule does not match this command, and should.
    NotMatched(String),
    /// The rule matches this command, and should not.
    Matched(String),
}

impl fmt::Display for ExampleFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExampleFailure::NotMatched(command) => write!(f, "does not match its example {command:?}"),
            ExampleFailure::Matched(command) => write!(f, "matches {command:?}, which it must not"),
        }
    }
}

impl Examples {
    /// Returns the examples that do not hold for this rule.
    pub fn failures(&self, rule: &Rule, reader: ExampleReader<'_>) -> Vec<ExampleFailure> {
        let best = |command: &String| {
            if !rule.fits_arguments(Some(&json!({ "command": command }))) {
                return Fit::Not;
            }
            let effects = (reader.read)(command);
            effects.iter().map(|effect| fit(rule, effect)).max().unwrap_or(Fit::Not)
        };
        let enough = if rule.decision == Decision::Allow { Fit::Exactly } else { Fit::Loosely };
        let missed =
            self.matches.iter().filter(|command| best(command) < enough).cloned().map(ExampleFailure::NotMatched);
        let taken =
            self.not_matches.iter().filter(|command| best(command) >= enough).cloned().map(ExampleFailure::Matched);
        missed.chain(taken).collect()
    }

    /// Returns the examples of which the rule matches nothing that a rule could allow.
    pub(super) fn beyond<'a>(
        &'a self,
        rule: &'a Rule,
        (reader, can_be_allowed): (ExampleReader<'a>, &'a dyn Fn(EffectKind) -> bool),
    ) -> impl Iterator<Item = &'a String> {
        self.matches.iter().filter(move |command| {
            let effects = (reader.read)(command);
            let mut matched = effects.iter().filter(|effect| fit(rule, effect) == Fit::Exactly).peekable();
            matched.peek().is_some() && !matched.any(|effect| can_be_allowed(EffectKind::of(effect)))
        })
    }
}

fn fit(rule: &Rule, effect: &Effect) -> Fit {
    match &rule.matches {
        Pattern::Tool(_) => Fit::Not,
        Pattern::Effect(sort) => Fit::exactly_if(*sort == EffectKind::of(effect)),
        Pattern::Written(conditions) => conditions.fit(TOOL, effect),
    }
}
