//! Reads a command as the shell does, and says what it would do.
//!
//! Text becomes a tree ([`syntax`]), the tree is walked in the order in which the shell would run it (`walk`), words
//! become values as far as they can be known, and a table that is data says what a program does with its words
//! (`programs`). What is not understood is said to be unknown, and is at least asked about.
//!
//! Rules are advice: a command that deceives this reading still runs in the sandbox.
//!
//! Not here: where a path leads ([`Locate`] is asked), what is decided (`policy`).

pub mod act;
mod beside;
pub mod examples;
mod languages;
mod patterns;
mod places;
mod printing;
mod programs;
pub mod syntax;
pub mod value;
mod walk;

use std::sync::Arc;

use haft::door::FileKind;
use haft::effect::{Effect, Step};
use haft::path::Target;

/// Where a command would run.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The home of the user.
    pub home: String,
    /// The name of the user.
    pub user: String,
    /// The workspace.
    pub workspace: String,
    /// The folder it starts in.
    pub folder: String,
}

/// Says where paths lead.
pub trait Locate {
    /// Locates an absolute path. It need not exist.
    fn locate(&self, path: &str) -> Located;
}

/// Where a path leads, and what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Where it leads.
    pub target: Target,
    /// What is there, if anything is.
    pub kind: Option<FileKind>,
}

/// Says what a command would do, part by part. There is at least one step.
pub fn steps(text: &str, scene: &Scene, locate: &dyn Locate) -> Vec<Effect> {
    let command: Arc<str> = Arc::from(text);
    let located = beside::Beside { scene, locate };
    let found = walk::Walk::new(scene, &located).through(text);
    let step = |found: walk::Found| {
        let (part, words, does) = (found.part, found.words, found.does);
        Effect::Step(Step { command: command.clone(), part, words, does })
    };
    found.into_iter().map(step).collect()
}
