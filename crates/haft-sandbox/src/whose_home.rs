//! Which home a command has: that of the session, or a clean one.
//!
//! A command that somebody agreed to has the home of the session. A command that runs only because its words are
//! harmless must do what they say: settings and programs that an earlier command left in the home (`~/.gitconfig`,
//! `~/.local/bin/ls`) must not change that. It has a clean home that nothing can be written to, unless it looks at files
//! of the home with programs that have no settings.

use std::ffi::OsString;
use std::path::Path;

use haft_contract::door::{Permit, Standing};
use haft_contract::effect::Effect;
use haft_contract::process::{Command, Home};

/// Programs that read no settings and load nothing.
const PLAIN: &[&str] = &[
    "[", "basename", "cat", "cd", "chmod", "cmp", "cp", "diff", "dirname", "du", "echo", "false", "file", "grep",
    "head", "ln", "ls", "mkdir", "mktemp", "mv", "printf", "pwd", "readlink", "realpath", "rm", "rmdir", "sed", "sort",
    "stat", "tail", "tee", "test", "touch", "true", "wc",
];

/// Which home a command has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhoseHome {
    /// A fresh one, for itself alone.
    Own,
    /// That of the session.
    Session,
    /// That of the session, but programs in it are not found.
    SessionToLookAt,
    /// A clean one that nobody can write to.
    Clean,
}

impl WhoseHome {
    /// Finds out which home a command has.
    pub(crate) fn of(permit: &Permit, command: &Command, home: &Path) -> Self {
        match (command.home, permit.standing()) {
            (Home::Fresh, _) => WhoseHome::Own,
            (Home::Session, Standing::Consent) => WhoseHome::Session,
            (Home::Session, Standing::Words | Standing::Plan) => {
                let is_meant = command.line.contains('~')
                    || command.line.contains("HOME")
                    || home.to_str().is_some_and(|home| command.line.contains(home));
                if is_meant && runs_plain_programs(permit.effects()) {
                    WhoseHome::SessionToLookAt
                } else {
                    WhoseHome::Clean
                }
            }
        }
    }

    /// Leaves the folders of the home out of those in which programs are looked for.
    pub(crate) fn limit(self, environment: &mut [(OsString, OsString)], home: &Path) {
        if self != WhoseHome::SessionToLookAt {
            return;
        }
        for (_, value) in environment.iter_mut().filter(|(name, _)| name == "PATH") {
            let is_outside = |folder: &std::path::PathBuf| !folder.starts_with(home) && folder.is_absolute();
            if let Ok(path) = std::env::join_paths(std::env::split_paths(value).filter(is_outside)) {
                *value = path;
            }
        }
    }
}

fn runs_plain_programs(effects: &[Effect]) -> bool {
    let mut steps = effects.iter().filter_map(|effect| match effect {
        Effect::Step(step) => Some(step),
        _ => None,
    });
    let is_plain = |words: &[String]| words.first().is_none_or(|program| PLAIN.contains(&program.as_str()));
    steps.clone().next().is_some() && steps.all(|step| is_plain(&step.words))
}
