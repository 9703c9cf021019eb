//! Reads a command as the shell does, and says what it would do.
//!
//! haft turns text into a tree ([`syntax`]), and walks the tree in the order in which the shell would run it (`interpret`).
//! Words become values where these can be known. A table that is data says what a program does with its words
//! (`programs`). What haft does not understand it reports as unknown, and at least asks about it.
//!
//! Rules are advice: a command that deceives this reading still runs in the sandbox.
//!
//! Not here: where a path leads ([`Locate`] is asked), what is decided (`haft-policy`).

pub mod act;
mod beside;
mod dialect;
mod interpret;
#[cfg(test)]
mod judging;
mod languages;
pub mod path_class;
pub(crate) mod patterns;
mod places;
mod printing;
pub mod programs;
#[cfg(test)]
#[path = "../../haft-testkit/src/require.rs"]
#[expect(dead_code, reason = "other crates use the rest")]
mod require;
pub mod syntax;
pub mod value;
mod viewers;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use haft_contract::doors::door::FileKind;
use haft_contract::effect::{CommandStep, Effect, StepEffect};
use haft_contract::files::path::Target;

use act::StreamContent;

/// What an interpreter does that is given no text, in words.
const STARTS_INTERPRETER: &str = "start an interpreter";

/// Where a command would run.
#[derive(Clone, Debug)]
pub struct CommandScene {
    /// The home of the user.
    pub home: String,
    /// The name of the user.
    pub user: String,
    /// The workspace.
    pub workspace: String,
    /// The folder it starts in.
    pub folder: String,
}

impl CommandScene {
    /// Returns the folder it starts in, from the root of the workspace.
    fn folder_in_workspace(&self) -> String {
        let folder = Path::new(&self.folder);
        folder.strip_prefix(&self.workspace).unwrap_or(folder).to_string_lossy().into_owned()
    }
}

/// Says where paths lead.
pub trait Locate {
    /// Locates an absolute path. It need not exist.
    fn locate(&self, path: &str) -> PathLocation;

    /// Returns where a folder really is, by its absolute path: links are followed, wherever they lead. Nothing where only
    /// the target says it.
    fn real_path(&self, _folder: &str) -> Option<String> {
        None
    }

    /// Returns the names in a folder of the workspace, by its absolute path; those that are there, and not all of very many.
    fn names_in(&self, _folder: &str) -> Vec<String> {
        Vec::new()
    }

    /// Returns the text of a small file of the workspace, by its absolute path.
    fn text_of(&self, _file: &str) -> Option<String> {
        None
    }
}

/// The place that a path leads to, and the kind of file that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathLocation {
    /// Where it leads.
    pub target: Target,
    /// What is there, if anything is.
    pub kind: Option<FileKind>,
}

/// Reads commands that would run in a place.
#[derive(Clone, Copy)]
pub struct CommandReader<'a> {
    /// Where a command would run.
    pub scene: &'a CommandScene,
    /// Says where paths lead.
    pub locate: &'a dyn Locate,
    /// Whether the default rules refuse a step. Words that may be a command are searched for such steps.
    pub is_refused: fn(&StepEffect) -> bool,
}

impl CommandReader<'_> {
    /// Says what a command would do, part by part. There is at least one step.
    pub fn steps(&self, text: &str) -> Vec<Effect> {
        let command: Arc<str> = Arc::from(text);
        let folder: Arc<str> = Arc::from(self.scene.folder_in_workspace());
        // A bug in the reader must not let an unread command through, nor end the program that asks.
        let found = catch_unwind(AssertUnwindSafe(|| self.found(text, None)));
        let found = found.unwrap_or_else(|_| vec![interpret::findings::Finding::not_read(text)]);
        let step = |found: interpret::findings::Finding| {
            let (part, words, does) = (found.part, found.words, found.does);
            Effect::Step(CommandStep { command: command.clone(), folder: folder.clone(), part, words, does })
        };
        found.into_iter().map(step).collect()
    }

    /// Returns whether a command runs text that a person types at its terminal: an interpreter, or `cat | sh`.
    pub fn runs_typed_text(&self, text: &str) -> bool {
        let starts = |found: &interpret::findings::Finding| matches!(&found.does, StepEffect::Code(words) if words == STARTS_INTERPRETER);
        let (silent, typed) = (self.found(text, None), self.found(text, Some(&StreamContent::Unknown)));
        // What is understood only as long as nothing comes in depends on the text.
        let is_unknown = |found: &&interpret::findings::Finding| matches!(found.does, StepEffect::Unknown(_));
        let count = |found: &[interpret::findings::Finding]| found.iter().filter(is_unknown).count();
        silent.iter().any(starts) || count(&typed) > count(&silent)
    }

    fn found(&self, text: &str, input: Option<&StreamContent>) -> Vec<interpret::findings::Finding> {
        let located = beside::Beside { scene: self.scene, locate: self.locate };
        interpret::Interpreter::new(CommandReader { locate: &located, ..*self }).through(text, input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_contract::effect::Danger;
    use haft_contract::files::path::{Extent, FileLocation};

    struct Nowhere;

    impl Locate for Nowhere {
        fn locate(&self, path: &str) -> PathLocation {
            PathLocation { target: Target::Outside(FileLocation::new(path, Extent::Entry)), kind: None }
        }
    }

    /// Panics when it is asked to locate a path.
    struct PanickingLocator;

    impl Locate for PanickingLocator {
        fn locate(&self, path: &str) -> PathLocation {
            panic!("{path} is nowhere")
        }
    }

    fn scene(folder: &str) -> CommandScene {
        let text = |text: &str| text.to_owned();
        CommandScene { home: text("/h"), user: text("h"), workspace: text("/ws"), folder: text(folder) }
    }

    fn steps(text: &str, scene: &CommandScene, locate: &dyn Locate) -> Vec<Effect> {
        CommandReader { scene, locate, is_refused: |does| matches!(does, StepEffect::Danger(..)) }.steps(text)
    }

    #[test]
    fn a_command_whose_reading_fails_is_refused() {
        let steps = steps("true; cat README.md", &scene("/ws"), &PanickingLocator);

        let refused =
            StepEffect::Danger(Danger::HiddenCode, "make haft fail to read it, which is a bug in haft".to_owned());
        assert!(matches!(steps.as_slice(), [Effect::Step(step)] if step.does == refused), "{steps:?}");
    }

    #[test]
    fn every_step_knows_the_folder_that_the_command_starts_in() {
        for (folder, expected) in [("/ws", ""), ("/ws/build", "build"), ("/ws/a/b", "a/b")] {
            let steps = steps("cd x; bash run.sh", &scene(folder), &Nowhere);
            let is_there = |effect: &Effect| matches!(effect, Effect::Step(step) if &*step.folder == expected);
            assert!(!steps.is_empty() && steps.iter().all(is_there), "{steps:?}");
        }
    }
}
