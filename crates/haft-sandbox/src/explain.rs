//! Which rule of the sandbox a command has probably met, and the smallest thing that would permit it.

use haft::process::{Command, Ground, Level};

use crate::attend::Finish;
use crate::sandbox::Settings;

/// What is known of a command that has ended.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) command: &'a Command,
    pub(crate) ground: &'a dyn Ground,
    pub(crate) level: Level,
}

/// Explains denials, a sentence each.
pub(crate) fn explain(_scene: &Scene<'_>, _finish: &Finish) -> Vec<String> {
    Vec::new()
}
