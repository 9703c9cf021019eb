//! Finds functions that start copies of themselves without end.

use crate::syntax::{CommandList, CommandNode, CommandStage, WordPart};

/// Returns whether a function starts itself more than once at a time: a fork bomb.
pub(crate) fn multiplies(name: &str, body: &CommandStage) -> bool {
    let mut calls = OwnCalls { name, count: 0, at_once: false };
    calls.in_stage(body, 0);
    calls.count > 0 && calls.at_once
}

/// The calls of a function in its own body.
struct OwnCalls<'a> {
    name: &'a str,
    count: usize,
    /// Whether one does not wait for the end of another.
    at_once: bool,
}

impl OwnCalls<'_> {
    fn in_script(&mut self, script: &CommandList, depth: usize) {
        for item in &script.items {
            let before = self.count;
            item.stages.iter().for_each(|stage| self.in_stage(stage, depth + 1));
            let added = self.count - before;
            self.at_once |= added > 0 && (item.in_background || added > 1 || item.stages.len() > 1);
        }
    }

    fn in_stage(&mut self, stage: &CommandStage, depth: usize) {
        if depth > 40 {
            return;
        }
        match &stage.node {
            CommandNode::Simple(_, words) => {
                let first = words.first().map(|word| word.parts.as_slice());
                self.count += usize::from(matches!(first, Some([WordPart::Text(text, _)]) if text == self.name));
            }
            CommandNode::Group(script) | CommandNode::Subshell(script) => self.in_script(script, depth),
            CommandNode::If(scripts) => scripts.iter().for_each(|script| self.in_script(script, depth)),
            CommandNode::While(condition, body) => {
                [condition, body].into_iter().for_each(|script| self.in_script(script, depth));
            }
            CommandNode::For(_, _, body) | CommandNode::CountingFor(_, body) => self.in_script(body, depth),
            CommandNode::Case(_, arms) => arms.iter().for_each(|(_, script)| self.in_script(script, depth)),
            CommandNode::Function(..) | CommandNode::Test(_) | CommandNode::Arithmetic(_) | CommandNode::Opaque(_) => {}
        }
    }
}
