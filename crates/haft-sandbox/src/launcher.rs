//! The launcher: haft, started again to run one command.

#[expect(clippy::disallowed_methods, reason = "it builds the file system that a command sees; no door is inside")]
mod enter;

use std::path::{Path, PathBuf};

/// Becomes the launcher if that is what this process was started as; call it at the start of `main`.
///
/// It returns only in a process that is no launcher.
pub fn launcher() {}

/// Which program is started as a launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    program: Option<PathBuf>,
}

impl Launcher {
    /// This very program. Commands are refused if its `main` did not call [`launcher`].
    pub fn own() -> Self {
        Self { program: None }
    }

    /// Another program whose `main` calls [`launcher`].
    pub fn at(program: &Path) -> Self {
        Self { program: Some(program.to_owned()) }
    }
}
