//! Reports what still points to commits that an undo took back, each with the git command that finishes the job.
//!
//! Undo leaves references alone that were made since: they are the user's. Their objects stay, so nothing is broken,
//! but a clone or a fetch still gets the undone commits.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::reflog;
use super::refs::{RefMove, RefStore, files_below, value_of};
use crate::history::contents::Contents;

/// What an undo took back in one repository.
pub(in crate::history) struct Undone<'a> {
    pub(in crate::history) dir: &'a Path,
    pub(in crate::history) moves: &'a [RefMove],
    /// The commits and tags that the change sets had made.
    pub(in crate::history) made: &'a BTreeSet<String>,
    /// The content that a file will have.
    pub(in crate::history) content: &'a dyn Fn(&Path) -> Option<Vec<u8>>,
}

/// How many references are named one by one.
const MOST_NAMED: usize = 20;

impl Undone<'_> {
    /// Returns a sentence for each pointer that is left.
    pub(in crate::history) fn notes(&self, contents: &Contents<'_>) -> Vec<String> {
        let store = RefStore::read(contents, self.dir);
        let names: BTreeSet<&String> = store.loose.keys().chain(store.packed.keys()).collect();
        let is_left = |name: &&String| !self.moves.iter().any(|moved| moved.name == **name);
        let mut notes = Vec::new();
        let mut logs_told: Vec<PathBuf> = Vec::new();
        for name in names.into_iter().filter(is_left) {
            let value = store.value(name).unwrap_or_default();
            if self.made.contains(&value) {
                notes.push(self.about_ref(name, &value));
                logs_told.push(self.dir.join("logs").join(name));
            }
        }
        notes.extend(self.about_stashes(&logs_told));
        logs_told.push(self.dir.join("logs/refs/stash"));
        notes.extend(self.about_worktrees(contents));
        notes.extend(self.about_reflogs(contents, &logs_told));
        if let more @ 1.. = notes.len().saturating_sub(MOST_NAMED) {
            notes.truncate(MOST_NAMED);
            notes.push(format!("{more} more references point to undone commits; \"git for-each-ref\" lists all."));
        }
        notes
    }

    fn about_ref(&self, name: &str, value: &str) -> String {
        let old =
            self.moves.iter().find(|moved| moved.to.as_deref() == Some(value)).and_then(|moved| moved.from.as_deref());
        let parts: Vec<&str> = name.splitn(4, '/').collect();
        let command = match (&parts[..], old) {
            (["refs", "tags", ..], _) => format!("tag -d {}", quoted(&name["refs/tags/".len()..])),
            (["refs", "heads", ..], _) if self.is_checked_out(name) => {
                format!("reset --keep {}", old.map_or("COMMIT", |old| &old[..12.min(old.len())]))
            }
            (["refs", "heads", ..], _) => format!("branch -D {}", quoted(&name["refs/heads/".len()..])),
            (["refs", "remotes", remote, branch], Some(old)) => {
                format!("push --force-with-lease {} {old}:{}", quoted(remote), quoted(&format!("refs/heads/{branch}")))
            }
            (["refs", "remotes", remote, branch], None) => {
                format!("push {} --delete {}", quoted(remote), quoted(branch))
            }
            (["refs", "stash"], _) => "stash drop".to_owned(),
            _ => format!("update-ref -d {}", quoted(name)),
        };
        let what = short_name(name);
        let to_finish = match &parts[..] {
            ["refs", "remotes", ..] => "undoes it there too",
            ["refs", "heads", ..] if self.is_checked_out(name) => "moves it back",
            _ => "removes it",
        };
        format!(
            "{what} points to the undone commit {}; \"{} {command}\" {to_finish}.",
            &value[..12.min(value.len())],
            self.git()
        )
    }

    fn is_checked_out(&self, name: &str) -> bool {
        let head = (self.content)(&self.dir.join("HEAD")).map(|bytes| value_of(&bytes));
        head.is_some_and(|head| head.strip_prefix("ref: ") == Some(name))
    }

    /// Entries of the stash other than the newest are only in its log; the newest is the last line.
    fn about_stashes(&self, told: &[PathBuf]) -> Vec<String> {
        let log = self.dir.join("logs/refs/stash");
        let text = (self.content)(&log).unwrap_or_default();
        let entries = reflog::lines(&text).into_iter().rev().enumerate();
        let is_told = |index: usize| index == 0 && told.contains(&log);
        let left = entries.filter(|(index, line)| {
            !is_told(*index) && reflog::oids(line).last().is_some_and(|oid| self.made.contains(oid))
        });
        left.map(|(index, _)| {
            format!(
                "stash@{{{index}}} is an undone commit; \"{} stash drop stash@{{{index}}}\" removes it.",
                self.git()
            )
        })
        .collect()
    }

    fn about_worktrees(&self, contents: &Contents<'_>) -> Vec<String> {
        let heads = files_below(contents.root, &self.dir.join("worktrees")).into_iter();
        let heads = heads.filter(|path| {
            path.file_name().is_some_and(|name| name == "HEAD") && !path.iter().any(|part| part == "logs")
        });
        let mut notes = Vec::new();
        for head in heads.chain([self.dir.join("HEAD")]) {
            let value = (self.content)(&head).map(|bytes| value_of(&bytes)).unwrap_or_default();
            if !self.made.contains(&value) {
                continue;
            }
            let pointer = (self.content)(&head.with_file_name("gitdir")).map(|bytes| value_of(&bytes));
            let folder = pointer.as_deref().and_then(|pointer| Path::new(pointer).parent());
            let git =
                folder.map_or_else(|| self.git(), |folder| format!("git -C {}", quoted(&folder.to_string_lossy())));
            let short = &value[..12.min(value.len())];
            notes.push(format!(
                "HEAD of {} is the undone commit {short}; \"{git} checkout BRANCH\" leaves it.",
                head.display()
            ));
        }
        notes
    }

    fn about_reflogs(&self, contents: &Contents<'_>, told: &[PathBuf]) -> Vec<String> {
        let logs = files_below(contents.root, &self.dir.join("logs"));
        let names_one = |line: &&[u8]| reflog::oids(line).any(|oid| self.made.contains(oid));
        let mut notes = Vec::new();
        for log in logs.iter().filter(|log| !told.contains(log)) {
            let text = (self.content)(log).unwrap_or_default();
            let lines = reflog::lines(&text);
            let entries: Vec<usize> =
                lines.iter().rev().enumerate().filter(|(_, line)| names_one(line)).map(|(index, _)| index).collect();
            let (Some(first), Ok(name)) = (entries.first(), log.strip_prefix(self.dir.join("logs"))) else { continue };
            let name = name.to_string_lossy();
            let (name, many) = (short_ref(&name), entries.len());
            let what = if many == 1 { "entry names" } else { "entries name" };
            let delete = quoted(&format!("{name}@{{{first}}}"));
            notes.push(format!(
                "{many} {what} an undone commit in the reflog of {name}; \"{} reflog delete {delete}\" removes the newest.",
                self.git()
            ));
        }
        notes
    }

    /// Returns how git is called for this repository from the workspace.
    fn git(&self) -> String {
        git_for(self.dir)
    }
}

/// Returns how git is called for a repository from the workspace.
pub(in crate::history) fn git_for(dir: &Path) -> String {
    match dir.parent() {
        Some(folder) if dir.ends_with(".git") && folder.as_os_str().is_empty() => "git".to_owned(),
        Some(folder) if dir.ends_with(".git") => format!("git -C {}", quoted(&folder.to_string_lossy())),
        _ => format!("git --git-dir {}", quoted(&dir.to_string_lossy())),
    }
}

/// Returns a name as the shell reads it.
pub(in crate::history) fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._/@+-:=".contains(letter);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Returns a reference as people call it.
pub(in crate::history) fn short_name(name: &str) -> String {
    let parts: Vec<&str> = name.splitn(3, '/').collect();
    match &parts[..] {
        ["refs", "tags", tag] => format!("tag {tag}"),
        ["refs", "heads", branch] => format!("branch {branch}"),
        ["refs", "remotes", branch] => format!("remote branch {branch}"),
        ["refs", "stash"] => "the stash".to_owned(),
        _ => name.to_owned(),
    }
}

fn short_ref(name: &str) -> &str {
    name.strip_prefix("refs/heads/").or_else(|| name.strip_prefix("refs/remotes/")).unwrap_or(name)
}
