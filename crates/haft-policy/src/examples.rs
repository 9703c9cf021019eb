//! A scene for examples: an imaginary workspace where every default rule can be tried.

use haft_contract::doors::door::FileKind;
use haft_contract::effect::Effect;
use haft_contract::files::path::{Extent, FileLocation, Target};

use crate::decision::{Decision, Ruling};
use crate::effect_kind::EffectKind;
use crate::policy::{Policy, Situation};
use haft_command::programs::table::examples::{ExpectedDecision, TableExample, table_examples};
use haft_command::{CommandReader, CommandScene, Locate, PathLocation};

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

/// Locates a path by its text alone.
struct ExampleLocator<'a> {
    /// Files that are there beside those of the scene.
    planted: &'a [&'a str],
}

impl ExampleLocator<'_> {
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

impl Locate for ExampleLocator<'_> {
    fn locate(&self, path: &str) -> PathLocation {
        let inside = path.strip_prefix(WORKSPACE).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let Some(inside) = inside.map(|rest| rest.trim_start_matches('/')) else {
            return PathLocation { target: Target::Outside(FileLocation::new(path, Extent::Entry)), kind: None };
        };
        let linked = inside.strip_prefix(LINK.0).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        if let Some(rest) = linked {
            let target = Target::Outside(FileLocation::new(format!("{}{rest}", LINK.1), Extent::Entry));
            return PathLocation { target, kind: Some(FileKind::Folder).filter(|_| rest.is_empty()) };
        }
        let kind = self.kind(inside);
        PathLocation { target: Target::Inside(FileLocation::new(inside, Extent::Entry)), kind }
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
    let scene = CommandScene { home, user: "somebody".to_owned(), folder: workspace.clone(), workspace };
    CommandReader { scene: &scene, locate: &ExampleLocator { planted }, is_refused: EffectKind::refuses_step }
        .steps(command)
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

/// Judges the examples of the table of programs by the defaults, and returns in words which fail.
pub fn failures_of_table() -> Vec<String> {
    failures(decision)
}

fn failures(judge: impl Fn(&str) -> Decision) -> Vec<String> {
    let failure = |TableExample { row, file, line, command, decision }| {
        let wanted = match decision {
            ExpectedDecision::Allow => Decision::Allow,
            ExpectedDecision::Ask => Decision::Ask,
            ExpectedDecision::Deny => Decision::Deny,
        };
        let got = judge(command);
        (got != wanted).then(|| format!("{file}:{line} ({row}): {command}: wanted {wanted:?}, got {got:?}"))
    };
    table_examples().into_iter().filter_map(failure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_of_the_table_that_is_judged_otherwise_is_told_with_its_line() {
        let denied = failures(|_| Decision::Deny);

        assert!(denied.len() > 1000 && denied.iter().all(|failure| !failure.contains("wanted Deny")));
        assert_eq!(denied[0], "files.txt:12 (ls): ls -la src: wanted Allow, got Deny");
    }
}
