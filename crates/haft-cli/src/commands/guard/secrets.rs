//! Finds the secrets that a command reads along with everything else in a folder.
//!
//! In the server their values would be hidden in the result. Here nobody sees the result before the model does, so a
//! person is asked. What a program leaves out by itself (`rg` what git ignores, `git` what it does not know), or by its
//! options (`grep --include`), is left out here too.

use std::path::{Path, PathBuf};

use haft::door::{FileKind, Look};
use haft::effect::{Does, Effect, Step};
use haft::guarded::is_secret;
use haft::path::{Target, one_line};
use haft_policy::decision::{Class, Decision, Ruling};
use haft_workspace::files::{FolderReader, Workspace};

/// Searchers that leave out what git ignores, and names that begin with a dot.
const SEARCHERS: &[&str] = &["rg", "ag", "ack", "ripgrep"];
/// Options of theirs that take both in.
const ALL: &[&str] = &["--hidden", "--no-ignore", "--no-ignore-vcs", "--unrestricted", "-.", "-u", "-uu", "-uuu", "-a"];

/// Programs that read whole folders and print nothing of what is in them; the copies have the same names.
const COPIERS: &[&str] = &["cp", "mv", "rsync", "ln", "install", "du", "ls", "tree"];

/// Programs that read whole folders and follow no link in them unless they are told to.
const WALKERS: &[&str] = &["grep", "egrep", "fgrep", "rg", "ag", "ack", "tar", "diff"];

/// Makes a question about a command that names a secret one that only a person answers: what programs do with it is not
/// known, and an agent may answer ordinary questions by itself.
pub(super) fn of_named(ruling: Ruling, effects: &[Effect]) -> Ruling {
    let names_secret = |effect: &Effect| match effect {
        Effect::Step(step) => step.words.iter().skip(1).any(|word| is_secret(Path::new(word))),
        _ => false,
    };
    match ruling.decision {
        Decision::Ask if effects.iter().any(names_secret) => Ruling { class: Class::Dangerous, ..ruling },
        _ => ruling,
    }
}

/// Returns the question about a command that would show secrets.
pub(super) fn question(workspace: &Workspace, effects: &[Effect]) -> Option<Ruling> {
    let steps = effects.iter().filter_map(|effect| if let Effect::Step(step) = effect { Some(step) } else { None });
    let secret = steps
        .filter_map(|step| read_along(workspace, step))
        .next()
        .or_else(|| by_other_patterns(workspace, effects))?;
    let secret = one_line(&secret.to_string_lossy()).into_owned();
    Some(Ruling {
        decision: Decision::Ask,
        class: Class::Dangerous,
        rule: "secrets in folders".to_owned(),
        reason: format!("It would read {secret} along with the rest, and its values cannot be hidden here."),
        instead:
            "leave that file out (grep --exclude='.env*', a path that does not hold it), or use haft's own tools, \
                  which hide its values"
                .to_owned(),
    })
}

/// Returns a secret that a search of an agent finds below a folder, among the files of these names.
pub(super) fn found_by_search(workspace: &Workspace, folder: &Path, only: Option<&str>) -> Option<PathBuf> {
    // The searches of agents leave out what git ignores.
    let secrets = workspace.secrets_read_by(folder, FolderReader::NotIgnored);
    let names = only.map(|only| only.rsplit('/').next().unwrap_or(only));
    let is_wanted = |secret: &PathBuf| {
        let name = secret.file_name().unwrap_or_default().to_string_lossy();
        names.is_none_or(|names| fits_name(names, &name))
    };
    secrets.into_iter().find(is_wanted)
}

/// Returns a secret that a command may find because it makes the shell read patterns in another way.
fn by_other_patterns(workspace: &Workspace, effects: &[Effect]) -> Option<PathBuf> {
    let changes = |effect: &Effect| match effect {
        Effect::Run(line) => ["extglob", "nocaseglob", "globstar"].iter().any(|option| line.0.contains(option)),
        _ => false,
    };
    let is_changed = effects.iter().any(changes);
    is_changed.then(|| workspace.secrets_read_by(Path::new(""), FolderReader::Everything)).into_iter().flatten().next()
}

/// Returns whether a command prints the settings of containers, with what `.env` says in its place.
fn prints_composed(words: &[String]) -> bool {
    let is_compose = words.iter().take(2).any(|word| word == "compose" || word.ends_with("-compose"));
    is_compose && words.iter().any(|word| word == "config" || word == "convert")
}

/// Returns a secret that a part of a command reads without naming it.
fn read_along(workspace: &Workspace, step: &Step) -> Option<PathBuf> {
    if step.words.first().is_some_and(|program| program == "git") {
        // Git shows all that it knows, from whichever folder.
        let reader = git_reader(&step.words)?;
        return workspace.secrets_read_by(Path::new(""), reader).into_iter().next();
    }
    if prints_composed(&step.words) {
        return workspace.secrets_read_by(Path::new(""), FolderReader::Everything).into_iter().next();
    }
    let Does::Read(Target::Inside(place)) = &step.does else { return None };
    let path = place.path();
    let is_pattern = path.to_string_lossy().contains('*');
    let is_folder = || {
        let facts = workspace.facts(&Target::Inside(place.clone()));
        facts.is_ok_and(|facts| facts.kind == FileKind::Folder)
    };
    let is_copier = step.words.first().is_some_and(|program| COPIERS.contains(&program.as_str()));
    if is_copier || !is_pattern && !is_folder() {
        return None;
    }
    // A pattern begins in the folder above the first part that is one.
    let folder: PathBuf = path.iter().take_while(|part| !part.to_string_lossy().contains('*')).collect();
    // Who follows links may be led anywhere.
    let follows_links = follows_links(&step.words);
    let passes_links_by =
        !follows_links && !is_pattern && step.words.first().is_some_and(|program| WALKERS.contains(&program.as_str()));
    let folder = if follows_links { PathBuf::new() } else { folder };
    let mut secrets = workspace.secrets_read_by(&folder, reader(&step.words));
    secrets.retain(|secret| is_secret(secret) || !passes_links_by);
    secrets.retain(|secret| (!is_pattern || fits(path, secret)) && !is_left_out(&step.words, secret));
    secrets.into_iter().next()
}

/// Says which files a command of git shows the content of, if any.
fn git_reader(words: &[String]) -> Option<FolderReader> {
    const SHOWING: &[&str] = &[
        "diff",
        "show",
        "grep",
        "log",
        "blame",
        "annotate",
        "stash",
        "cat-file",
        "archive",
        "format-patch",
        "whatchanged",
        "reflog",
        "range-diff",
        "diff-tree",
        "diff-index",
        "diff-files",
        "checkout-index",
        "fast-export",
        "bundle",
        "rev-list",
    ];
    let has = |flag: &str| words.iter().any(|word| word == flag);
    let is_verbose =
        ["-v", "-vv", "--verbose", "-p", "--patch", "-i", "--interactive", "-e", "--edit"].iter().any(|flag| has(flag));
    let takes_untracked = has("--no-index") || has("--untracked");
    let sub = words.iter().skip(1).find(|word| !word.starts_with('-') && !word.contains('/') && !word.contains('='))?;
    match sub.as_str() {
        _ if only_names(words) => None,
        _ if takes_untracked => Some(FolderReader::Everything),
        sub if SHOWING.contains(&sub) => Some(FolderReader::Git),
        "status" | "commit" | "add" | "checkout" | "reset" | "restore" if is_verbose => Some(FolderReader::NotIgnored),
        _ => None,
    }
}

fn follows_links(words: &[String]) -> bool {
    let program = words.first().map(String::as_str).unwrap_or_default();
    let short = match program {
        "grep" | "egrep" | "fgrep" => 'R',
        "find" | "rg" | "du" => 'L',
        "tar" => 'h',
        _ => return false,
    };
    words.iter().skip(1).any(|word| {
        let is_short = word.starts_with('-') && !word.starts_with("--") && word.contains(short);
        is_short
            || word == "--dereference"
            || word == "--follow"
            || word == "--dereference-recursive"
            || program == "tar" && !word.starts_with('-') && word.len() < 8 && word.contains('h')
    })
}

/// Returns whether git shows names and messages, and no content.
fn only_names(words: &[String]) -> bool {
    const PATCHES: &[&str] = &["-p", "-u", "-c", "-m", "--cc", "--patch", "--patch-with-stat", "--patch-with-raw"];
    const NAMES: &[&str] = &["--stat", "--shortstat", "--numstat", "--name-only", "--name-status", "--summary"];
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let searches =
        words.iter().any(|word| ["-S", "-G", "-L", "-U", "--unified"].iter().any(|flag| word.starts_with(flag)));
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["git", "log" | "reflog", ..] => !has(PATCHES) && !searches && !has(&["--remerge-diff"]),
        ["git", "stash"] | ["git", "stash", "list" | "push" | "pop" | "apply" | "drop" | "-q", ..] => !has(PATCHES),
        ["git", "diff" | "show", ..] => has(NAMES) && !has(PATCHES) && !searches,
        _ => false,
    }
}

fn reader(words: &[String]) -> FolderReader {
    match words.first().map(String::as_str) {
        Some(program) if SEARCHERS.contains(&program) => {
            let takes_all = words.iter().any(|word| ALL.contains(&word.as_str()));
            if takes_all { FolderReader::Everything } else { FolderReader::NotIgnoredOrHidden }
        }
        _ => FolderReader::Everything,
    }
}

/// Returns whether the options of a search leave a file out.
fn is_left_out(words: &[String], secret: &Path) -> bool {
    let values = |option: &str| {
        let joined = words.iter().filter_map(move |word| word.strip_prefix(option)?.strip_prefix('='));
        let apart = words.windows(2).filter(move |pair| pair[0] == option).map(|pair| pair[1].as_str());
        joined.chain(apart).map(str::to_owned).collect::<Vec<_>>()
    };
    let name = secret.file_name().unwrap_or_default().to_string_lossy();
    let is_grep = words.first().is_some_and(|program| program.ends_with("grep"));
    let (only, not, not_in) = (values("--include"), values("--exclude"), values("--exclude-dir"));
    let is_in = |folder: &String| {
        secret.parent().is_some_and(|above| above.iter().any(|part| fits_name(folder, &part.to_string_lossy())))
    };
    is_grep
        && (!only.is_empty() && !only.iter().any(|glob| fits_name(glob, &name))
            || not.iter().any(|glob| fits_name(glob, &name))
            || not_in.iter().any(is_in))
}

/// Returns whether a path fits a pattern, part by part.
fn fits(pattern: &Path, path: &Path) -> bool {
    pattern.iter().count() == path.iter().count()
        && pattern
            .iter()
            .zip(path)
            .all(|(pattern, part)| fits_name(&pattern.to_string_lossy(), &part.to_string_lossy()))
}

/// Returns whether a name fits a pattern with `*`; one with other signs fits everything.
fn fits_name(pattern: &str, name: &str) -> bool {
    if pattern.contains(['?', '[', '{', '…']) {
        return true;
    }
    match pattern.split_once('*') {
        None => pattern == name,
        Some((begin, rest)) => name.strip_prefix(begin).is_some_and(|name| {
            let mut ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            ends.any(|at| fits_name(rest, &name[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_leave_a_file_out_are_honoured_where_they_are_understood() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let is_out = |line: &str| is_left_out(&words(line), Path::new("conf/.env"));
        for out in ["grep -r x --include=*.py .", "grep -r x --exclude=.env* .", "grep -r --exclude-dir conf x ."] {
            assert!(is_out(out), "{out}");
        }
        for in_ in [
            "grep -r x .",
            "grep -r --include=.env x .",
            "grep -r --include=.e* --include=*.py x",
            "cat --include=*.py",
        ] {
            assert!(!is_out(in_), "{in_}");
        }
    }
}
