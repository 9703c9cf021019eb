//! Decides which home a command has: that of the session, or a clean one.
//!
//! An approved command has the home of the session. A command that runs only because its words are harmless must do what
//! they say: settings and programs that an earlier command left in the home (`~/.gitconfig`, `~/.local/bin/ls`) must not
//! change that. It gets the home of the session if it means the home, and either its programs have no settings, or the home
//! holds nothing that a program could take for settings (`home::settings_in`). Otherwise it gets a clean home: an empty one
//! for this command alone, because programs such as npm fail where they cannot write caches and logs. If all its programs
//! write nothing there, the home is read-only, which costs less. It is also read-only if the command means the home of the
//! session, because what it writes there must not vanish silently.

use std::ffi::OsString;
use std::path::Path;

use haft_contract::doors::door::{ConsentKind, Permit};
use haft_contract::doors::process::{CommandSpec, Home};
use haft_contract::effect::{CommandStep, Effect};

/// Programs that read no settings and load nothing.
const PLAIN: &[&str] = &[
    ":",
    "[",
    "arch",
    "awk",
    "b2sum",
    "base64",
    "basename",
    "cat",
    "cd",
    "chmod",
    "cksum",
    "cmp",
    "comm",
    "cp",
    "cut",
    "date",
    "dd",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "expand",
    "expr",
    "false",
    "file",
    "find",
    "fold",
    "free",
    "getconf",
    "grep",
    "groups",
    "head",
    "hexdump",
    "hostname",
    "id",
    "join",
    "ln",
    "ls",
    "lscpu",
    "md5sum",
    "mkdir",
    "mktemp",
    "mount",
    "mv",
    "nl",
    "nproc",
    "numfmt",
    "od",
    "paste",
    "pgrep",
    "pidof",
    "printenv",
    "printf",
    "ps",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "rm",
    "rmdir",
    "sed",
    "seq",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "shuf",
    "sleep",
    "sort",
    "split",
    "stat",
    "sum",
    "tac",
    "tail",
    "tee",
    "test",
    "touch",
    "tr",
    "tree",
    "true",
    "truncate",
    "tsort",
    "type",
    "uname",
    "uniq",
    "uptime",
    "vmstat",
    "wc",
    "which",
    "who",
    "whoami",
    "xxd",
];
/// Programs that may read settings, and write nothing at home.
const READERS: &[&str] = &["fd", "git", "jq", "make", "rg"];
/// Variables that keep git from writing its traces to a place that `~/.gitconfig` names.
const NO_TRACES: [&str; 3] = ["GIT_TRACE2", "GIT_TRACE2_EVENT", "GIT_TRACE2_PERF"];

/// Which home a command has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhoseHome {
    /// A fresh one, for itself alone.
    Own,
    /// That of the session.
    Session,
    /// That of the session, but programs in it are not found.
    SessionToLookAt,
    /// The same without the caches of tools: nothing in it could be taken for settings when the command began.
    SessionWithoutSettings,
    /// A clean one that cannot be written to: its programs write nothing there.
    Clean,
    /// A clean one for this command alone, which ends with it.
    ForOneCommand,
    /// A clean one that cannot be written to, although the command means the home of the session: something there could change what its programs do.
    Withheld,
}

impl WhoseHome {
    /// Finds out which home a command has; `has_settings` says whether something in the home of the session could change
    /// what programs do.
    pub(crate) fn of(permit: &Permit, command: &CommandSpec, home: &Path, has_settings: impl FnOnce() -> bool) -> Self {
        match (command.home, permit.standing()) {
            (Home::Fresh, _) => WhoseHome::Own,
            (Home::Session, ConsentKind::Consent) => WhoseHome::Session,
            (Home::Session, ConsentKind::Words | ConsentKind::Plan) => {
                let is_meant = command.line.contains('~')
                    || command.line.contains("HOME")
                    || home.to_str().is_some_and(|home| command.line.contains(home))
                    || steps(permit.effects()).any(shows_settings_of_git);
                if !is_meant && runs_only(permit.effects(), writes_nothing_at_home) {
                    WhoseHome::Clean
                } else if !is_meant {
                    WhoseHome::ForOneCommand
                } else if runs_only(permit.effects(), is_plain) {
                    WhoseHome::SessionToLookAt
                } else if permit.standing() == ConsentKind::Words && !has_settings() {
                    WhoseHome::SessionWithoutSettings
                } else {
                    WhoseHome::Withheld
                }
            }
        }
    }

    /// Returns whether it is a clean one.
    pub(crate) fn is_clean(self) -> bool {
        matches!(self, WhoseHome::Clean | WhoseHome::ForOneCommand | WhoseHome::Withheld)
    }

    /// Leaves the folders of the home out of those in which programs are looked for, and lets git write no traces.
    pub(crate) fn limit(self, environment: &mut Vec<(OsString, OsString)>, home: &Path) {
        if !matches!(self, WhoseHome::SessionToLookAt | WhoseHome::SessionWithoutSettings) {
            return;
        }
        for (_, value) in environment.iter_mut().filter(|(name, _)| name == "PATH") {
            let is_outside = |folder: &std::path::PathBuf| !folder.starts_with(home) && folder.is_absolute();
            if let Ok(path) = std::env::join_paths(std::env::split_paths(value).filter(is_outside)) {
                *value = path;
            }
        }
        environment.extend(NO_TRACES.map(|name| (name.into(), "0".into())));
    }
}

fn runs_only(effects: &[Effect], is_such: fn(&CommandStep) -> bool) -> bool {
    steps(effects).next().is_some() && steps(effects).all(is_such)
}

fn is_plain(step: &CommandStep) -> bool {
    step.words.first().is_none_or(|program| PLAIN.contains(&program.as_str())) || shows_settings_of_git(step)
}

fn writes_nothing_at_home(step: &CommandStep) -> bool {
    is_plain(step) || step.words.first().is_some_and(|program| READERS.contains(&program.as_str()))
}

/// Returns whether a step does nothing but read or change settings of git, which starts no program of theirs.
fn shows_settings_of_git(step: &CommandStep) -> bool {
    matches!(&*step.words, [program, subcommand, ..] if program == "git" && subcommand == "config")
}

fn steps(effects: &[Effect]) -> impl Iterator<Item = &CommandStep> {
    effects.iter().filter_map(|effect| match effect {
        Effect::Step(step) => Some(step),
        _ => None,
    })
}
