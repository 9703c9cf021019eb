//! Protected names that a command may change all the same.
//!
//! Version control keeps its data beside its settings, and `git commit` must work. So haft commits changes in its folder,
//! except to names that make programs run or that say where else to read such names. It never commits a link in there,
//! because the link would put another place behind one of those names.
//!
//! Not here: settings that are harmless by what is in them (`haft-workspace`, where they are read).

use std::path::Path;

use super::{folded, protected, protected_names};
use crate::doors::door::FileKind;

/// A folder of version control: everything in it is data but for some names.
struct DataFolder {
    names: &'static [&'static str],
    /// Folders right in it, or in a folder that holds others of its kind, in which nothing is data.
    refused_folders: &'static [&'static str],
    /// The same for folders that may be there as long as nothing is in them.
    emptied_folders: &'static [&'static str],
    /// Names of files right in it, or in a folder that holds others of its kind.
    refused_files: &'static [&'static str],
    /// Files further below, from the folder or from one that holds others of its kind.
    refused_paths: &'static [&'static [&'static str]],
    /// Folders that hold others of its kind, at any depth.
    holders: &'static [&'static str],
}

const DATA_FOLDERS: &[DataFolder] = &[
    DataFolder {
        names: &[".git", "git~1"],
        refused_folders: &["hooks"],
        // An older way to say which addresses a remote has, and some kinds of address name a program.
        emptied_folders: &["remotes", "branches"],
        refused_files: &["config", "config.worktree", "commondir", "lazygit.yml"],
        // Attributes choose which of the programs in the settings are run on which files.
        refused_paths: &[&["info", "attributes"]],
        holders: &["modules", "worktrees"],
    },
    DataFolder {
        names: &[".hg"],
        refused_folders: &[],
        emptied_folders: &[],
        refused_files: &["hgrc", "hgrc-not-shared", "sharedpath"],
        refused_paths: &[],
        holders: &[],
    },
    DataFolder {
        names: &[".svn"],
        refused_folders: &[],
        emptied_folders: &[],
        refused_files: &[],
        refused_paths: &[],
        holders: &[],
    },
    DataFolder {
        names: &[".jj"],
        refused_folders: &["hooks"],
        emptied_folders: &["remotes", "branches"],
        refused_files: &["config.toml", "workspace-config.toml", "git_target", "config"],
        refused_paths: &[&["info", "attributes"]],
        holders: &["repo"],
    },
];

/// Returns why a command may not change a name, if that is so; `kind` is what it is, or would become.
pub fn refused_from_commands(path: &Path, kind: FileKind) -> Option<&'static str> {
    let why = protected(path)?;
    let parts = folded(path);
    let is_data_folder = |part: &String| DATA_FOLDERS.iter().any(|data| data.names.contains(&part.as_str()));
    let Some(first) = parts.iter().position(is_data_folder) else { return Some(why) };
    if let Some(why) = protected(&parts[..first].iter().collect::<std::path::PathBuf>()) {
        return Some(why);
    }
    let mut inner = parts.iter().enumerate().skip(first).filter(|(_, part)| is_data_folder(part));
    let is_refused = |(index, part): (usize, &String)| {
        let data = DATA_FOLDERS.iter().find(|data| data.names.contains(&part.as_str()));
        data.is_some_and(|data| data.refuses(&parts[index + 1..], kind))
    };
    inner.any(is_refused).then_some(why)
}

/// Returns the protected names that a command cannot change, as paths from a folder; those without `*` only.
pub fn well_known_to_commands() -> impl Iterator<Item = &'static str> {
    let names = protected_names().map(|name| name.pattern.trim_end_matches("/**"));
    names
        .filter(|name| !name.contains('*'))
        .filter(|name| DATA_FOLDERS.iter().all(|data| !data.names.contains(name)))
        .chain(IN_DATA_FOLDERS.iter().copied())
}

/// The well-known names in folders of version control that a command cannot change. Not `.git/config`: a command may add
/// some settings to it, which is judged by its content when the command has ended.
const IN_DATA_FOLDERS: &[&str] =
    &[".git/hooks", ".git/config.worktree", ".git/info/attributes", ".hg/hgrc", ".jj/repo/config.toml"];

impl DataFolder {
    /// Says whether a path below the folder is none of the data.
    fn refuses(&self, below: &[String], kind: FileKind) -> bool {
        let Some((last, folders)) = below.split_last() else {
            // In place of the folder, a file or a link says where it really is.
            return kind != FileKind::Folder;
        };
        if kind == FileKind::Link {
            return true;
        }
        let is_held = below.first().is_some_and(|first| self.holders.contains(&first.as_str()));
        // A branch may be called "hooks": only right in the folder do the names mean what they say.
        let concerned = if is_held { below } else { &below[..1] };
        let in_refused = concerned.iter().any(|part| self.refused_folders.contains(&part.as_str()));
        let is_emptied = |at: usize| {
            let is_last = at + 1 == below.len() && kind == FileKind::Folder;
            self.emptied_folders.contains(&below[at].as_str()) && !is_last && !self.is_of_references(&below[..at])
        };
        let in_refused = in_refused || (0..concerned.len()).any(is_emptied);
        let is_at = |path: &&[&str]| match is_held {
            true => below.ends_with(&path.iter().map(ToString::to_string).collect::<Vec<_>>()),
            false => below == *path,
        };
        in_refused
            || self.refused_paths.iter().any(is_at)
            || ((folders.is_empty() || is_held) && self.refused_files.contains(&last.as_str()))
    }

    /// Returns whether a folder holds references: `refs` of a repository, and not a module of that name.
    fn is_of_references(&self, folders: &[String]) -> bool {
        let is_holder = |folder: &String| self.holders.contains(&folder.as_str());
        matches!(folders, [.., above, last] if last == "refs" && !is_holder(above))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str) -> bool {
        refused_from_commands(Path::new(name), FileKind::File).is_some()
    }

    #[test]
    fn a_command_may_change_the_data_of_version_control() {
        for name in [
            ".git/index",
            ".git/HEAD",
            ".git/objects/ab/cd",
            ".git/refs/heads/hooks/a",
            ".git/refs/heads/config",
            ".git/refs/remotes/origin/main",
            ".git/logs/refs/remotes/origin/main",
            ".git/logs/refs/heads/config",
            "sub/.git/refs/stash",
            ".git/modules/sub/HEAD",
            ".git/modules/sub/refs/remotes/origin/main",
            ".git/modules/sub/logs/refs/remotes/origin/main",
            ".git/worktrees/a/index",
            ".git/info/exclude",
            ".git/refs/heads/info/attributes",
            ".svn/wc.db",
            ".hg/store/data/a",
            "src/hooks/a",
            "config",
        ] {
            assert!(!refused(name), "{name}");
        }
        for name in ["a/.git", ".git/branches", ".git/remotes", ".git/modules/a/branches"] {
            assert!(refused_from_commands(Path::new(name), FileKind::Folder).is_none(), "{name}");
        }
    }

    #[test]
    fn a_command_changes_nothing_that_makes_programs_run() {
        for name in [
            ".git/hooks/pre-commit",
            ".GIT/Hooks/pre-commit",
            ".git/hooks",
            ".git/config",
            "sub/.git/config.worktree",
            ".git/commondir",
            ".git/remotes/origin",
            ".git/branches/origin",
            ".git/branches",
            ".git/modules/a/remotes/origin",
            ".git/modules/refs/remotes/origin",
            "sub/.git/Branches/a",
            ".git/lazygit.yml",
            ".git/info/attributes",
            "sub/.GIT/info/Attributes",
            ".git/modules/a/info/attributes",
            ".git/worktrees/a/info/attributes",
            ".jj/repo/store/git/info/attributes",
            ".git/modules/a/b/config",
            ".git/modules/refs/hooks/pre-commit",
            ".git/worktrees/a/config.worktree",
            ".git/worktrees/a/commondir",
            ".git/x/.git/config",
            ".hg/hgrc",
            ".jj/repo/config.toml",
            ".jj/repo/store/git/hooks/a",
            ".vscode/.git/index",
            ".vscode/tasks.json",
            ".bashrc",
            ".git",
        ] {
            assert!(refused(name), "{name}");
        }
        assert!(refused_from_commands(Path::new(".git/refs/heads/a"), FileKind::Link).is_some());
    }

    #[test]
    fn every_well_known_name_is_refused() {
        for name in well_known_to_commands() {
            assert!(refused(name), "{name}");
        }
        assert!(well_known_to_commands().any(|name| name == ".vscode"));
    }
}
