//! A scene for examples: a workspace that is nowhere, where every rule of the defaults can be tried.

use haft_contract::door::FileKind;
use haft_contract::effect::Effect;
use haft_contract::path::{Extent, Place, Target};

use super::{Locate, Located, Scene, steps};
use crate::decision::{Decision, Ruling};
use crate::policy::{Policy, Situation};

/// The home in the scene.
pub const HOME: &str = "/home/somebody";
/// The workspace in the scene.
pub const WORKSPACE: &str = "/home/somebody/work";
/// What is there in the workspace.
const THERE: &[(&str, FileKind)] = &[
    ("src", FileKind::Folder),
    ("src/main.rs", FileKind::File),
    ("docs", FileKind::Folder),
    ("build", FileKind::Folder),
    ("README.md", FileKind::File),
    ("notes.txt", FileKind::File),
    ("a.txt", FileKind::File),
    ("certs", FileKind::Folder),
    ("certs/ca.txt", FileKind::File),
    ("certs/server.key", FileKind::File),
    ("Makefile", FileKind::File),
    (".git", FileKind::Folder),
    ("node_modules", FileKind::Folder),
    ("node_modules/.bin", FileKind::Folder),
    ("node_modules/.bin/eslint", FileKind::File),
    ("node_modules/.bin/prettier", FileKind::File),
    ("node_modules/.bin/tsc", FileKind::File),
];

/// A link in the workspace, and where it leads.
const LINK: (&str, &str) = ("to_ssl", "/etc/ssl");

/// Locates by the text of a path alone.
struct Imagined<'a> {
    /// Files that are there beside those of the scene.
    planted: &'a [&'a str],
}

impl Imagined<'_> {
    fn kind(&self, path: &str) -> Option<FileKind> {
        let is_above = |file: &&str| file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        match path {
            "" => Some(FileKind::Folder),
            path if self.planted.contains(&path) => Some(FileKind::File),
            _ if self.planted.iter().any(is_above) => Some(FileKind::Folder),
            path => THERE.iter().find(|(there, _)| *there == path).map(|(_, kind)| *kind),
        }
    }
}

impl Locate for Imagined<'_> {
    fn locate(&self, path: &str) -> Located {
        let inside = path.strip_prefix(WORKSPACE).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let Some(inside) = inside.map(|rest| rest.trim_start_matches('/')) else {
            return Located { target: Target::Outside(Place::new(path, Extent::Entry)), kind: None };
        };
        let linked = inside.strip_prefix(LINK.0).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        if let Some(rest) = linked {
            let target = Target::Outside(Place::new(format!("{}{rest}", LINK.1), Extent::Entry));
            return Located { target, kind: Some(FileKind::Folder).filter(|_| rest.is_empty()) };
        }
        let kind = self.kind(inside);
        Located { target: Target::Inside(Place::new(inside, Extent::Entry)), kind }
    }

    fn names_in(&self, folder: &str) -> Vec<String> {
        let folder = folder.strip_prefix(WORKSPACE).unwrap_or(folder).trim_start_matches('/');
        let in_folder = |there: &str| {
            let below = if folder.is_empty() { Some(there) } else { there.strip_prefix(folder)?.strip_prefix('/') };
            Some(below?.split('/').next().unwrap_or_default().to_owned())
        };
        let mut names: Vec<String> =
            THERE.iter().map(|(there, _)| *there).chain(self.planted.iter().copied()).filter_map(in_folder).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Says what a command would do in the scene of the examples.
pub fn steps_in_scene(command: &str) -> Vec<Effect> {
    steps_beside(&[], command)
}

/// Says what a command would do in the scene, with these files in the workspace as well.
fn steps_beside(planted: &[&str], command: &str) -> Vec<Effect> {
    let (home, workspace) = (HOME.to_owned(), WORKSPACE.to_owned());
    let scene = Scene { home, user: "somebody".to_owned(), folder: workspace.clone(), workspace };
    steps(command, &scene, &Imagined { planted })
}

/// Judges a command in the scene of the examples.
pub fn ruling(policy: &Policy, command: &str) -> Ruling {
    policy.judge("bash", &steps_in_scene(command), Situation::default())
}

/// Judges a command in the scene of the examples by the defaults.
pub fn decision(command: &str) -> Decision {
    ruling(&Policy::default(), command).decision
}

/// Judges a command in the scene by the defaults, with these files in the workspace as well.
pub fn decision_beside(planted: &[&str], command: &str) -> Decision {
    Policy::default().judge("bash", &steps_beside(planted, command), Situation::default()).decision
}

/// Fails where one of these commands is judged otherwise by the defaults.
#[cfg(test)]
#[track_caller]
pub(crate) fn check_all(wanted: Decision, commands: &[&str]) {
    for command in commands {
        assert_eq!(decision(command), wanted, "{command}");
    }
}

/// Judges the examples of the table of programs by the defaults, and returns in words which fail.
pub fn failures_of_table() -> Vec<String> {
    super::programs::examples::check_examples(decision).iter().map(ToString::to_string).collect()
}
