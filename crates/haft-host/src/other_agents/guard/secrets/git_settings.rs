//! Asks about commands that show settings of git in which there is a password or a token.
//!
//! Most repositories have none, and then haft does not ask: `git remote -v` is an everyday command. If an address or a
//! header contains one, haft cannot hide it before the model sees it.

use std::path::{Path, PathBuf};

use haft_contract::doors::door::Look;
use haft_contract::effect::{CommandStep, StepEffect};
use haft_contract::files::path::{Extent, FileLocation, Target, one_line};
use haft_policy::decision::{Class, Decision, Ruling};
use haft_workspace::files::{FolderReader, GitSecret, Workspace};

use super::has_option;
use super::searchers::Selection;

/// The subcommands of git that show settings or addresses.
const SHOWING: &[&str] = &["remote", "config", "var", "ls-remote", "bugreport", "diagnose", "lfs"];
/// Keys that hold no secret whatever is in the settings; a question about one of them shows nothing else.
const HARMLESS: &[&str] = &["user.", "core.", "init.", "branch.", "commit.", "color.", "pull.", "push.", "merge."];

/// Returns the question about a command that shows them.
pub(in crate::other_agents::guard) fn question<'a>(
    workspace: &Workspace,
    steps: impl Iterator<Item = &'a CommandStep>,
) -> Option<Ruling> {
    let showing: Vec<&CommandStep> = steps.filter(|step| may_show(step)).collect();
    if showing.is_empty() {
        return None;
    }
    about_first(workspace, |root, secret| showing.iter().any(|step| shows(root, step, secret)))
}

/// Returns the question about a file tool or a search of an agent that would show them.
pub(in crate::other_agents::guard) fn question_about_files<'a>(
    workspace: &Workspace,
    touched: impl Iterator<Item = &'a Target>,
) -> Option<Ruling> {
    let inside =
        touched.filter_map(|target| if let Target::Inside(place) = target { Some(place.path()) } else { None });
    let paths: Vec<&Path> = inside.collect();
    about_first(workspace, |root, secret| {
        let is_shown = |path: &Path| {
            let whole = root.join(path);
            whole == secret.file || is_in_git_folder(path) && secret.file.starts_with(&whole)
        };
        paths.iter().any(|path| is_shown(path))
    })
}

/// Returns the question about a search below a folder that a pattern leads into the folder of git, or about the reading
/// of files that it finds there.
pub(in crate::other_agents::guard) fn question_about_pattern(
    workspace: &Workspace,
    finds: impl Fn(&Path) -> bool,
) -> Option<Ruling> {
    about_first(workspace, |root, secret| secret.file.strip_prefix(root).is_ok_and(&finds))
}

fn is_in_git_folder(path: &Path) -> bool {
    path.iter().any(|part| part == ".git")
}

fn about_first(workspace: &Workspace, is_shown: impl Fn(&Path, &GitSecret) -> bool) -> Option<Ruling> {
    let root = workspace.real_path(&Target::Inside(FileLocation::new("", Extent::Tree)))?;
    let secrets = workspace.git_secrets();
    let shown = secrets.iter().find(|secret| is_shown(&root, secret))?;
    let file = shown.file.strip_prefix(&root).unwrap_or(&shown.file).to_string_lossy();
    let setting = format!("{} in {file}", shown.key);
    Some(Ruling {
        decision: Decision::Ask,
        class: Class::Dangerous,
        rule: "secrets in settings of git".to_owned(),
        reason: format!(
            "It would show {}, which holds a password or a token, and haft cannot hide it here.",
            one_line(&setting)
        ),
        instead:
            "ask for one harmless setting (git config --get user.name), or use haft's own tools, which hide the value"
                .to_owned(),
    })
}

fn may_show(step: &CommandStep) -> bool {
    match &step.does {
        StepEffect::Read(Target::Inside(_)) => true,
        _ => step.words.first().is_some_and(|program| program == "git"),
    }
}

/// Returns whether a part of a command shows a setting.
fn shows(root: &Path, step: &CommandStep, secret: &GitSecret) -> bool {
    let is_git = step.words.first().is_some_and(|program| program == "git");
    if is_git && git_shows(&step.words) {
        return true;
    }
    let StepEffect::Read(Target::Inside(place)) = &step.does else { return false };
    let path = root.join(place.path());
    if path == secret.file {
        return true;
    }
    // By itself git enters its own folder nowhere.
    if is_git && !is_in_git_folder(place.path()) && !has_option(&step.words, "--no-index") {
        return false;
    }
    let is_pattern = |part: &std::ffi::OsStr| part.to_string_lossy().contains('*');
    // A pattern begins in the folder above the first part that is one, and finds what is hidden where it says the dot.
    let folder: PathBuf = path.iter().take_while(|part| !is_pattern(part)).collect();
    let says_dot = place.path().iter().any(|part| part.to_string_lossy().starts_with('.'));
    let reads_hidden = matches!(Selection::of(&step.words).reader, FolderReader::Everything);
    reads_hidden && secret.file.starts_with(&folder) && (folder == path || says_dot)
}

fn git_shows(words: &[String]) -> bool {
    let mut operands = words.iter().skip(1).filter(|word| !word.starts_with('-'));
    let Some(subcommand) = operands.find(|word| SHOWING.contains(&word.as_str())) else { return false };
    let rest: Vec<&String> = operands.collect();
    match subcommand.as_str() {
        "config" => {
            let keys: Vec<&&String> = rest.iter().filter(|word| word.contains('.')).collect();
            keys.is_empty()
                || !keys.iter().all(|key| HARMLESS.iter().any(|begin| key.to_lowercase().starts_with(begin)))
        }
        // Names alone, and what changes them.
        "remote" => {
            let is_verbose = words.iter().any(|word| word.starts_with("-v") || word == "--verbose");
            is_verbose || rest.first().is_some_and(|action| matches!(action.as_str(), "get-url" | "show"))
        }
        "var" => words.iter().any(|word| word == "-l"),
        _ => true,
    }
}
