//! Finds the secrets that a command reads along with everything else in a folder.
//!
//! As a server, haft would hide their values in the result. Here haft does not see the result before the model, so it asks
//! a person. Files that a program leaves out by itself (`rg`: ignored files, `git`: untracked files) or by its options
//! (`grep --include`) are left out here too.

mod archives;
pub(crate) mod exclusions;
pub(crate) mod git_objects;
pub(crate) mod git_patches;
pub(crate) mod git_settings;
pub(crate) mod name_pattern;
pub(crate) mod searchers;
pub(crate) mod secret_looks;
pub(crate) mod within_command;

use std::path::{Path, PathBuf};

use haft_contract::doors::door::{FileKind, Look};
use haft_contract::effect::{CommandStep, Effect, StepEffect};
use haft_contract::files::guarded::is_secret;
use haft_contract::files::path::{Extent, FileLocation, Target, one_line};
use haft_policy::decision::{Class, Decision, Ruling};
use haft_workspace::files::{FolderReader, Workspace};

use exclusions::{GrepExclusions, Reached};
use name_pattern::{may_find, may_fit_path};
use searchers::Selection;
use secret_looks::SecretLooks;

/// Words of programs and options that make names themselves, or let patterns find hidden names.
const FINDERS: &[&str] = &[
    "find", "fd", "exec", "xargs", "parallel", "shopt", "glob", "GLOB", "eval", "sh", "fish", "read", "mapfile", "for",
    "git", "rg", "tree", "locate", "source", "select", "python", "perl", "ruby", "awk",
];

/// Programs that read whole folders and print nothing of what is in them; the copies have the same names.
pub(super) const COPIERS: &[&str] = &["cp", "mv", "rsync", "ln", "install", "du", "ls", "tree"];

/// Programs that read whole folders and follow no link in them unless they are told to.
const WALKERS: &[&str] = &["grep", "egrep", "fgrep", "rg", "ag", "ack", "tar", "diff"];

/// Options and variables that change which files a pattern finds, or which words `grep` reads as its options.
const CHANGING_PATTERNS: &[&str] =
    &["extglob", "nocaseglob", "globstar", "dotglob", "GLOBIGNORE", "GREP_OPTIONS", "POSIXLY_CORRECT"];

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
    let looks = SecretLooks::at(workspace);
    let steps = || effects.iter().filter_map(|effect| if let Effect::Step(step) = effect { Some(step) } else { None });
    let read = steps().filter_map(|step| if let StepEffect::Read(target) = &step.does { Some(target) } else { None });
    if let Some(question) = read.filter_map(|target| of_other_name(&looks, target)).next() {
        return Some(question);
    }
    if let Some(question) = git_settings::question(workspace, steps()) {
        return Some(question);
    }
    let finds = finds_of(effects);
    let known_to_git = within_command::known_to_git(effects);
    let secret = steps()
        .filter(|step| !only_tells_of_itself(step, effects))
        .filter_map(|step| read_along(&looks, step, (finds, known_to_git)))
        .next()
        .or_else(|| by_other_patterns(&looks, effects))
        .or_else(|| within_command::copied(&looks, effects))
        .or_else(|| within_command::copied_out(&looks, effects));
    if let Some(secret) = secret {
        return Some(asked(
            format!("It would read {} along with the rest, and haft cannot hide its values here.", shown(&secret)),
            "leave that file out (grep --exclude='.env*', a path that does not hold it), or use haft's own tools, which \
             hide its values",
        ));
    }
    let is_unknown = steps().any(|step| matches!(step.does, StepEffect::ReadUnknown));
    let any = || looks.read_by(Path::new(""), FolderReader::Everything).into_iter().next();
    let secret = is_unknown.then(any).flatten()?;
    Some(asked(
        format!("It would read files that are known only when it runs, such as {}.", shown(&secret)),
        "name the files in the command, or use haft's own tools, which hide the values of secrets",
    ))
}

/// A question that only a person answers.
fn asked(reason: String, instead: &str) -> Ruling {
    Ruling {
        decision: Decision::Ask,
        class: Class::Dangerous,
        rule: "secrets in folders".to_owned(),
        reason,
        instead: instead.to_owned(),
    }
}

fn shown(path: &Path) -> String {
    one_line(&path.to_string_lossy()).into_owned()
}

/// Returns the question about a file that is a secret by another name: a hard link.
pub(super) fn of_other_name(looks: &SecretLooks<'_>, target: &Target) -> Option<Ruling> {
    let secret = looks.secret_of_same_file(target)?;
    let (name, secret) = (shown(target.place().path()), shown(&secret));
    Some(Ruling {
        decision: Decision::Ask,
        class: Class::Dangerous,
        rule: "other names of secrets".to_owned(),
        reason: format!(
            "It would read {name}, which is another name of {secret}, and haft cannot hide its values here."
        ),
        instead: "use haft's own tools, which hide the values".to_owned(),
    })
}

/// Returns a secret that a search of an agent finds below a folder, among the files of these names.
pub(super) fn found_by_search(workspace: &Workspace, folder: &Path, only: Option<&str>) -> Option<PathBuf> {
    glob_lists(only.unwrap_or_default()).iter().find_map(|globs| found_by_globs(workspace, folder, globs))
}

/// Returns the lists of patterns that agents read in one text: some take it as one pattern, some split it at spaces, at
/// commas that are not in braces, or at commas where there are no braces.
fn glob_lists(text: &str) -> Vec<Vec<&str>> {
    let at_spaces = || text.split_whitespace();
    let mut lists = vec![
        vec![text],
        at_spaces().collect(),
        at_commas(text),
        at_spaces().flat_map(at_commas).collect(),
        at_spaces().flat_map(at_commas_without_braces).collect(),
    ];
    lists.iter_mut().for_each(|list| list.retain(|glob| !glob.is_empty()));
    lists.dedup();
    lists
}

fn at_commas(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let splits = |sign: char| {
        match sign {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        sign == ',' && depth == 0
    };
    text.split(splits).map(str::trim).collect()
}

fn at_commas_without_braces(word: &str) -> Vec<&str> {
    if word.contains('{') && word.contains('}') { vec![word] } else { word.split(',').collect() }
}

/// Returns whether a search of an agent reads a file because one of its patterns finds it.
pub(super) fn may_be_searched(only: &str, file: &Path) -> bool {
    glob_lists(only).iter().flatten().any(|glob| !glob.starts_with('!') && may_find(glob, file))
}

fn found_by_globs(workspace: &Workspace, folder: &Path, globs: &[&str]) -> Option<PathBuf> {
    // Patterns that leave files out are not followed.
    let wanted: Vec<String> =
        globs.iter().filter(|glob| !glob.starts_with('!')).map(|glob| glob.to_lowercase()).collect();
    // The searches of agents leave out what git ignores, unless a pattern finds it.
    let reader = if wanted.is_empty() { FolderReader::NotIgnored } else { FolderReader::Everything };
    let is_wanted = |secret: &PathBuf| {
        wanted.is_empty() || wanted.iter().any(|glob| may_find(glob, Path::new(&in_small_letters(secret))))
    };
    workspace.secrets_read_by(folder, reader).into_iter().find(is_wanted)
}

/// Returns the secrets that a pattern for paths finds, or the folder of that name holds. Some agents read patterns without
/// regard to large and small letters.
pub(super) fn found_by_path(workspace: &Workspace, pattern: &Path) -> Option<PathBuf> {
    let secrets = workspace.secrets_read_by(Path::new(""), FolderReader::Everything);
    let pattern = in_small_letters(pattern);
    let is_found = |secret: &PathBuf| {
        let secret = in_small_letters(secret);
        let mut above = Path::new(&secret).ancestors().filter(|above| !above.as_os_str().is_empty());
        pattern.is_empty() || above.any(|above| may_fit_path(Path::new(&pattern), above))
    };
    secrets.into_iter().find(is_found)
}

fn in_small_letters(path: &Path) -> String {
    path.to_string_lossy().to_lowercase()
}

/// Returns a secret that a command may find because it makes the shell read patterns in another way.
fn by_other_patterns(looks: &SecretLooks<'_>, effects: &[Effect]) -> Option<PathBuf> {
    let changes = |effect: &Effect| match effect {
        Effect::Run(line) => CHANGING_PATTERNS.iter().any(|option| line.0.contains(option)),
        _ => false,
    };
    let is_changed = effects.iter().any(changes);
    is_changed.then(|| looks.read_by(Path::new(""), FolderReader::Everything)).into_iter().flatten().next()
}

/// Which names the patterns in a command find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finds {
    /// Those that the shell finds: hidden ones only where the pattern says the dot.
    AsShell,
    /// All, because another program may make them.
    All,
}

/// Returns which names the patterns in a command find. Only where nothing but the shell can make a name of a pattern, it
/// does so by its rules.
fn finds_of(effects: &[Effect]) -> Finds {
    let is_of_shell = |effect: &Effect| match effect {
        Effect::Run(line) => {
            let is_plain = |letter: char| letter.is_alphanumeric() || " ./_-*\"',:;&".contains(letter);
            let finds_itself = |word: &str| FINDERS.iter().any(|finder| word.contains(finder));
            line.0.chars().all(is_plain) && !line.0.split_whitespace().any(finds_itself)
        }
        _ => true,
    };
    if effects.iter().all(is_of_shell) { Finds::AsShell } else { Finds::All }
}

/// Returns whether a program that is asked about anyway is only asked for its version or help.
fn only_tells_of_itself(step: &CommandStep, effects: &[Effect]) -> bool {
    let is_asked = |effect: &Effect| match effect {
        Effect::Step(other) => other.words == step.words && matches!(other.does, StepEffect::Code(_)),
        _ => false,
    };
    let tells = step.words.last().is_some_and(|word| word == "--help" || word == "--version");
    tells && effects.iter().any(is_asked)
}

/// Returns whether a command prints the settings of containers, with what `.env` says in its place.
fn prints_composed(words: &[String]) -> bool {
    let is_compose = words.iter().take(2).any(|word| word == "compose" || word.ends_with("-compose"));
    is_compose && words.iter().any(|word| word == "config" || word == "convert")
}

/// Returns a secret that a part of a command reads without naming it.
fn read_along(
    looks: &SecretLooks<'_>,
    step: &CommandStep,
    (finds, known_to_git): (Finds, FolderReader),
) -> Option<PathBuf> {
    if step.words.first().is_some_and(|program| program == "git") {
        return shown_by_git(looks, step, known_to_git);
    }
    if prints_composed(&step.words) {
        return looks.read_by(Path::new(""), FolderReader::Everything).into_iter().next();
    }
    if let Some(member) = archives::named_secret(&step.words) {
        return Some(member);
    }
    let StepEffect::Read(Target::Inside(place)) = &step.does else { return None };
    let path = place.path();
    let is_pattern = path.to_string_lossy().contains('*');
    let is_folder = || {
        let facts = looks.workspace.facts(&Target::Inside(place.clone()));
        facts.is_ok_and(|facts| facts.kind == FileKind::Folder)
    };
    let prints = step.words.iter().skip(1).any(|word| word.starts_with("/dev/") || word.starts_with("/proc/"));
    let is_copier = !prints && step.words.first().is_some_and(|program| COPIERS.contains(&program.as_str()));
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
    let selection = Selection::of(&step.words);
    let mut secrets = looks.read_by(&folder, selection.reader);
    let is_other_name = |secret: &Path| {
        let target = Target::Inside(FileLocation::new(secret, Extent::Entry));
        looks.secret_of_same_file(&target).is_some()
    };
    secrets.retain(|secret| is_secret(secret) || !passes_links_by || is_other_name(secret));
    let enters = enters_folders(&step.words);
    let exclusions = GrepExclusions::of(&step.words);
    let fits = |found: &Path| may_fit_path(path, found) && (finds == Finds::All || says_dots(path, found));
    let is_read = |secret: &Path| {
        let is_in = |reached: Reached<'_>| !exclusions.leave_out(secret, reached);
        let mut above = secret.ancestors().skip(1).filter(|above| enters && fits(above));
        match is_pattern {
            _ if follows_links => is_in(Reached::ByLinks),
            true => fits(secret) && is_in(Reached::Named) || above.any(|above| is_in(Reached::Below(above))),
            false => is_in(Reached::Below(path)),
        }
    };
    secrets.retain(|secret| is_read(secret) && selection.takes(secret));
    secrets.into_iter().next()
}

/// Returns a secret that a command of git shows without naming it.
fn shown_by_git(looks: &SecretLooks<'_>, step: &CommandStep, known_to_git: FolderReader) -> Option<PathBuf> {
    // Git shows all that it knows, from whichever folder.
    let by_settings = || git_patches::obeys_settings_in_files(&step.words) && looks.git_prints_patches();
    let reader = match git_reader(step) {
        Some(FolderReader::Git) => Some(known_to_git),
        None if by_settings() => Some(known_to_git),
        reader => reader,
    };
    let known = reader.and_then(|reader| looks.read_by(Path::new(""), reader).into_iter().next());
    let known = known.or_else(|| reader.and_then(|_| git_objects::stashed(looks, step)));
    // An object may have the content of each.
    let all = [FolderReader::Everything, FolderReader::Git];
    let any = || all.iter().find_map(|reader| looks.read_by(Path::new(""), *reader).into_iter().next());
    known.or_else(|| any().filter(|_| git_objects::shows_other_than_commits(looks, step)))
}

/// Says which files a command of git shows the content of, if any. Where options decide whether it does (`git log -p`),
/// the table of programs says that it reads then, and lists otherwise.
fn git_reader(step: &CommandStep) -> Option<FolderReader> {
    const SHOWING: &[&str] = &[
        "grep",
        "blame",
        "annotate",
        "cat-file",
        "archive",
        "format-patch",
        "range-diff",
        "checkout-index",
        "fast-export",
        "bundle",
        "merge-tree",
        "am",
    ];
    /// What these show depends on their options.
    const BY_OPTIONS: &[&str] = &[
        "log",
        "show",
        "diff",
        "whatchanged",
        "diff-tree",
        "diff-index",
        "diff-files",
        "diff-pairs",
        "reflog",
        "stash",
        "bisect",
    ];
    /// What else to do with what was stashed.
    const RESTORING: &[&str] = &["list", "drop", "clear", "pop", "apply", "branch", "show"];
    let words = &step.words;
    // A search in differences tells whether a text is in them, letter by letter.
    let searches = words.iter().any(|word| word.starts_with("-S") || word.starts_with("-G"));
    let reads = searches || matches!(step.does, StepEffect::Read(_) | StepEffect::ReadUnknown);
    let is_verbose = has_letter(words, "vpie")
        || ["--verbose", "--patch", "--interactive", "--edit"].iter().any(|flag| has_option(words, flag))
        || git_patches::setting_switches_patches_on(words);
    let takes_untracked = has_option(words, "--no-index") || has_option(words, "--untracked");
    let sub = git_objects::subcommand_of(words)?;
    match sub.as_str() {
        // Where only names are asked for, nothing is read of what it takes in.
        "diff" if takes_untracked && !reads => None,
        _ if takes_untracked => Some(FolderReader::Everything),
        // A secret that git ignores would be in its store, and in the next commit.
        "add" | "stage" if has_letter(words, "f") || has_option(words, "--force") => Some(FolderReader::Everything),
        sub if SHOWING.contains(&sub) || reads && BY_OPTIONS.contains(&sub) => Some(FolderReader::Git),
        // What it takes from the files, a later command shows.
        "stash" if has_letter(words, "a") || has_option(words, "--all") => Some(FolderReader::Everything),
        "stash" if has_letter(words, "u") || has_option(words, "--include-untracked") => Some(FolderReader::NotIgnored),
        "stash" if git_patches::stash_may_print_patch(words) => Some(FolderReader::Git),
        "stash" if !words.iter().any(|word| RESTORING.contains(&word.as_str())) => Some(FolderReader::Git),
        "status" | "commit" | "add" | "stage" | "checkout" | "reset" | "restore" if is_verbose => {
            Some(FolderReader::NotIgnored)
        }
        _ => None,
    }
}

/// Returns whether a long option is given, which may be cut: git takes a beginning that no other option has.
pub(super) fn has_option(words: &[String], option: &str) -> bool {
    words.iter().any(|word| {
        let name = word.split('=').next().unwrap_or_default();
        name.len() > 3 && option.starts_with(name)
    })
}

/// Returns whether one of these letters is among the short options.
pub(super) fn has_letter(words: &[String], letters: &str) -> bool {
    let is_short = |word: &&String| word.starts_with('-') && !word.starts_with("--");
    words.iter().skip(1).filter(is_short).any(|word| word.contains(|letter| letters.contains(letter)))
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

/// Returns whether a program reads what is in a folder that a pattern finds. Most that print text only say that it is one.
fn enters_folders(words: &[String]) -> bool {
    const FLAT: &[&str] = &[
        "cat",
        "head",
        "tail",
        "tac",
        "nl",
        "less",
        "more",
        "bat",
        "batcat",
        "wc",
        "sort",
        "uniq",
        "cut",
        "paste",
        "fold",
        "sed",
        "awk",
        "gawk",
        "mawk",
        "od",
        "xxd",
        "hexdump",
        "strings",
        "file",
        "stat",
        "md5sum",
        "sha1sum",
        "sha256sum",
        "cksum",
        "sum",
        "jq",
        "yq",
        "tr",
        "column",
        "expand",
        "rev",
        "cmp",
        "comm",
        "join",
        "split",
        "base64",
        "echo",
        "printf",
        "test",
    ];
    let program = words.first().map(String::as_str).unwrap_or_default();
    match program {
        "grep" | "egrep" | "fgrep" => {
            has_letter(words, "rR")
                || ["--recursive", "--dereference-recursive", "--directories"]
                    .iter()
                    .any(|flag| has_option(words, flag))
                || words.iter().any(|word| word.starts_with("-d"))
        }
        "diff" => has_letter(words, "r") || has_option(words, "--recursive"),
        program => !FLAT.contains(&program),
    }
}

/// Returns whether a pattern says the dots of the hidden names in a path.
fn says_dots(pattern: &Path, path: &Path) -> bool {
    let is_hidden = |part: &std::ffi::OsStr| part.to_string_lossy().starts_with('.');
    pattern.iter().zip(path.iter()).all(|(pattern, part)| is_hidden(part) <= is_hidden(pattern))
}
