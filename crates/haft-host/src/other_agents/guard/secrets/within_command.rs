//! Follows secrets through a command: one part copies them, a later part shows them under another name.
//!
//! Each part is judged by the workspace as it is before the command. `git add .` makes git know a secret that
//! `git diff --cached` shows, and `cp -r conf n` gives it a name that `cat n/*` reads.
//!
//! Not here: secrets that a part reads where they are now (`secrets`).

use std::path::{Component, Path, PathBuf};

use haft_contract::effect::{Change, CommandStep, Effect, StepEffect};
use haft_contract::files::path::Target;
use haft_workspace::files::FolderReader;

use super::secret_looks::SecretLooks;
use super::{COPIERS, has_letter, has_option};

/// Subcommands of git that may make it know more files.
const ADDING: &[&str] = &["add", "stage", "update-index", "apply", "am", "read-tree", "commit", "mv", "fast-import"];
/// What `git stash` does without taking files.
const READING_STASHES: &[&str] = &["list", "show", "drop", "clear", "pop", "apply", "branch"];
/// Options of git that choose another folder, whose ignore files do not hold.
const ELSEWHERE: &[&str] = &["--git-dir", "--work-tree"];

fn steps(effects: &[Effect]) -> impl Iterator<Item = &CommandStep> {
    effects.iter().filter_map(|effect| if let Effect::Step(step) = effect { Some(step) } else { None })
}

/// Returns which files git may know when a later part of the command shows what it knows.
pub(in crate::other_agents::guard) fn known_to_git(effects: &[Effect]) -> FolderReader {
    let mut adding = steps(effects).filter(|step| adds(step)).peekable();
    if adding.peek().is_none() {
        return FolderReader::Git;
    }
    if adding.any(takes_ignored) || steps(effects).any(changes_what_is_ignored) {
        FolderReader::Everything
    } else {
        FolderReader::NotIgnored
    }
}

fn adds(step: &CommandStep) -> bool {
    let mut words = step.words.iter().map(String::as_str);
    let is_adding = |word: &str| ADDING.contains(&word) || word == "stash" && stashes_untracked(&step.words);
    words.next().is_some_and(|program| program == "git") && words.any(is_adding)
}

/// Returns whether a `git stash` takes files that git does not track.
fn stashes_untracked(words: &[String]) -> bool {
    let action = words.iter().skip_while(|word| *word != "stash").nth(1);
    let only_reads = action.is_some_and(|action| READING_STASHES.contains(&action.as_str()));
    !only_reads && (has_letter(words, "ua") || has_option(words, "--include-untracked") || has_option(words, "--all"))
}

fn takes_ignored(step: &CommandStep) -> bool {
    let words = &step.words;
    let is = |word: &str| words.iter().any(|said| said == word);
    let is_elsewhere = words.iter().any(|word| word == "-C" || ELSEWHERE.iter().any(|option| word.starts_with(option)));
    let is_forced = has_letter(words, "f") || has_option(words, "--force");
    let stashes_all = is("stash") && (has_letter(words, "a") || has_option(words, "--all"));
    is_elsewhere || is_forced || stashes_all || is("update-index")
}

/// Returns whether a part changes an ignore file, or how git finds one.
fn changes_what_is_ignored(step: &CommandStep) -> bool {
    let is_ignore_file = |path: &Path| path.ends_with(".gitignore") || path.ends_with("info/exclude");
    let changes = matches!(&step.does, StepEffect::Change(target, _) if is_ignore_file(target.place().path()));
    changes || step.words.iter().any(|word| word.starts_with("GIT_") || word.contains("core.excludes"))
}

/// Returns a secret in a folder that one part copies, moves or links, and another one reads by its new name.
pub(in crate::other_agents::guard) fn copied(looks: &SecretLooks<'_>, effects: &[Effect]) -> Option<PathBuf> {
    let is_copier = |step: &&CommandStep| step.words.first().is_some_and(|program| COPIERS.contains(&program.as_str()));
    for copier in steps(effects).filter(is_copier) {
        let operands = copier.words.iter().skip(1).filter(|word| !word.starts_with('-'));
        let folders = operands.map(|word| Path::new(word.trim_start_matches("./").trim_end_matches('/')));
        let within = folders.filter(|folder| !folder.has_root() && !folder.as_os_str().is_empty());
        let Some(secret) =
            within.filter_map(|folder| looks.read_by(folder, FolderReader::Everything).into_iter().next()).next()
        else {
            continue;
        };
        let of_copier = |step: &&CommandStep| step.words == copier.words;
        let made: Vec<&Path> = steps(effects).filter(of_copier).filter_map(made_by).collect();
        let reads = |step: &CommandStep| match &step.does {
            StepEffect::Read(target) => made.iter().any(|made| touches(target.place().path(), made)),
            _ => false,
        };
        if steps(effects).filter(|step| !of_copier(step)).any(reads) {
            return Some(secret);
        }
    }
    None
}

/// Returns a secret in a folder that one part copies, moves or links to a place outside of the workspace, where later
/// commands read it and haft does not look.
pub(in crate::other_agents::guard) fn copied_out(looks: &SecretLooks<'_>, effects: &[Effect]) -> Option<PathBuf> {
    let leaves = |step: &&CommandStep| {
        matches!(&step.does, StepEffect::Change(Target::Outside(_), Change::Create | Change::Replace))
    };
    steps(effects).filter(leaves).filter(|step| copies_folders(step)).find_map(|leaving| {
        let of_same = steps(effects).filter(|step| step.words == leaving.words);
        let named = of_same.filter_map(|step| match &step.does {
            StepEffect::Read(Target::Inside(place)) | StepEffect::List(Target::Inside(place)) => Some(place.path()),
            StepEffect::Change(Target::Inside(place), Change::Remove) => Some(place.path()),
            _ => None,
        });
        // A link only names what it leads to.
        let root = looks.workspace.path();
        let linked = leaving.words.iter().skip(1).filter(|word| !word.starts_with('-')).map(Path::new);
        let linked = linked.filter_map(|path| if path.has_root() { path.strip_prefix(root).ok() } else { Some(path) });
        let reader = if leaving.words.first().is_some_and(|program| program == "git") {
            FolderReader::Git
        } else {
            FolderReader::Everything
        };
        // A pattern begins in the folder above the first part that is one, and `.` is the workspace.
        let folder = |path: &Path| -> PathBuf {
            path.components()
                .filter(|part| !matches!(part, Component::CurDir))
                .take_while(|part| is_plain(part))
                .collect()
        };
        // A clone and a worktree have all that git tracks, whatever their words name.
        let tracked = (reader == FolderReader::Git).then_some(Path::new(""));
        tracked
            .into_iter()
            .chain(named)
            .chain(linked)
            .find_map(|path| looks.read_by(&folder(path), reader).into_iter().next())
    })
}

fn is_plain(part: &Component<'_>) -> bool {
    !part.as_os_str().to_string_lossy().contains(['*', '?', '['])
}

/// Returns whether a program makes other names for whole folders.
fn copies_folders(step: &CommandStep) -> bool {
    let is = |word: &str| step.words.iter().any(|said| said == word);
    match step.words.first().map(String::as_str) {
        Some("git") => is("clone") || is("worktree"),
        Some(program) => COPIERS.contains(&program),
        None => false,
    }
}

fn made_by(step: &CommandStep) -> Option<&Path> {
    match &step.does {
        StepEffect::Change(target, Change::Create | Change::Replace) => Some(target.place().path()),
        _ => None,
    }
}

/// Returns whether one path is the other, or is below it.
fn touches(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}
