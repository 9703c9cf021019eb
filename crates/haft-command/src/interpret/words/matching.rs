//! Finds what matters among the matches of a pattern: secrets by name, existing secrets, folders above the workspace.
//!
//! The shell looks for existing files when it runs. A pattern that can hardly mean anything but a secret therefore counts
//! as that secret, whether or not it exists. haft tries any other pattern on the existing files.

use std::path::Path;
use std::sync::Arc;

use haft_contract::doors::door::FileKind;
use haft_contract::files::guarded::is_secret;

use crate::act::PathEffect;
use crate::interpret::Interpreter;
use crate::interpret::run_program::local_code::MOST_NAMES;
use crate::interpret::words::brackets;
use crate::path_class::SYSTEM_SECRETS;
use crate::places::{Folder, PathDestination};
use crate::programs::flags::SPECIAL_BEGINNINGS;
use crate::value::{ShellValue, ValuePiece};
use crate::{patterns, places};

/// Files of the system that a pattern may find besides: a private key of the machine, the environment of a process.
const MORE_OF_THE_SYSTEM: [&str; 2] = ["/etc/ssh/ssh_host_rsa_key", "/proc/1/environ"];
/// How many paths of one pattern are looked at.
const MOST_FOUND: usize = 2_000;
/// In how many folders of one command patterns are tried.
const MOST_LISTED: usize = 4_000;

/// How many names that are not plain are handed on for one pattern.
const MOST_ODD: usize = 40;
/// How many names are as much work as a command.
const NAMES_OF_WORK: usize = 16;

/// The names in a folder.
#[derive(Debug, Default)]
pub(crate) struct FolderNames {
    all: Vec<String>,
    /// Those of them whose content is secret.
    secrets: Vec<String>,
}

/// What is to be known of the names that a pattern finds.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    are_none: bool,
    /// Those that are not plain.
    odd: Vec<String>,
}

/// A folder, a pattern, whether it finds what lies below, and how many names the command had made.
pub(crate) type MatchCacheKey = (String, String, bool, usize);

impl Interpreter<'_> {
    /// Tells what a pattern such as `~/.s*h/id_*`, `/etc/*` or `certs/*` finds besides itself.
    pub(crate) fn found_by_pattern(&mut self, deed: PathEffect, path: &ShellValue, place: &str) {
        // Numbers are in names too: `id_ed$((25519))`.
        if !path.pieces().iter().any(|piece| matches!(piece, ValuePiece::Glob | ValuePiece::Number)) {
            return;
        }
        // What git shows need not be there any more.
        let says_something = place.rsplit('/').next().is_some_and(|name| name.trim_matches('*').len() > 1);
        let is_of_history = self.findings.are_of("git") && deed == PathEffect::Read && says_something;
        for secret in places::secrets_that_fit(place) {
            let located = self.locate.locate(&secret);
            if !located.target.is_inside() || located.kind.is_some() || places::means(place, &secret) || is_of_history {
                self.at_place(deed, &secret, path);
            }
        }
        if deed != PathEffect::List {
            let of_etc = SYSTEM_SECRETS.iter().filter(|secret| secret.starts_with("/etc/"));
            let secrets = of_etc.chain(&MORE_OF_THE_SYSTEM).filter(|secret| places::fits_whole(place, secret));
            secrets.for_each(|secret| self.at_place(deed, secret, path));
            for secret in self.secrets_there(place) {
                self.at_place(deed, &secret, path);
            }
        }
        if let (PathEffect::Remove | PathEffect::Replace, false) = (deed, path.has_unknown()) {
            for folder in self.folders_above().filter(|folder| places::fits_whole(place, folder)).collect::<Vec<_>>() {
                self.at_place(deed, &folder, path);
            }
        }
    }

    /// Returns the words of a program with the names around a pattern that it finds and that look like flags: a file
    /// called `--output=x` is an option to `sort *`, and one called `@x` holds further words for `nm *`.
    pub(crate) fn with_names_like_flags(&mut self, words: &[ShellValue]) -> Option<Vec<ShellValue>> {
        let may_be_flag = |word: &ShellValue| {
            let is_open = matches!(word.pieces().first(), Some(ValuePiece::Glob)) || word.prefix().starts_with('-');
            is_open && word.may_be_several() && !word.has_unknown()
        };
        if !words.iter().any(may_be_flag) {
            return None;
        }
        let mut all = Vec::new();
        for word in words {
            // In which order the shell finds names depends on the language: before the others, or behind them.
            let names = if may_be_flag(word) { self.names_like_flags(&word.shown()) } else { Vec::new() };
            all.extend(names.iter().cloned());
            all.push(word.clone());
            all.extend(names);
        }
        Some(all)
    }

    /// Returns whether brackets with plain letters are the only patterns in a word and find no name nor mean a
    /// secret, so that the shell leaves the word: `.[dev]` would find `.d`, `.e` or `.v`.
    pub(crate) fn stays_as_written(&self, text: &str) -> bool {
        if !text.contains('[') || self.findings.names_made > 0 {
            return false;
        }
        let may_be_meant = |name: &String| {
            is_secret(Path::new(name))
                || self.shell.folders.now.iter().any(|folder| match folder.place(&ShellValue::text(name.as_str())) {
                    PathDestination::At(place) => {
                        let is_inside = Path::new(&place).starts_with(&self.scene.workspace);
                        !is_inside || self.locate.locate(&place).kind.is_some()
                    }
                    PathDestination::Anywhere => true,
                })
        };
        brackets::spelled_out(text).is_some_and(|names| !names.iter().any(may_be_meant))
    }

    /// Returns whether a pattern certainly finds no name in the folders of the shell, nor one that this command makes.
    pub(crate) fn finds_nothing(&mut self, word: &ShellValue) -> bool {
        let pattern = word.shown();
        let folders = self.shell.folders.now.clone();
        folders.iter().all(|folder| self.matches(&pattern, folder).is_some_and(|matches| matches.are_none))
    }

    /// Returns the names that a pattern finds just now and that are not plain, as the shell hands them on. So what stands
    /// for the others, [`ValuePiece::Glob`], is one word and no text of another language.
    pub(crate) fn odd_names(&mut self, word: &ShellValue) -> Vec<ShellValue> {
        let is_pattern = word.may_be_several() && !word.has_unknown() && !word.pieces().contains(&ValuePiece::Number);
        if !is_pattern {
            return Vec::new();
        }
        let pattern = word.shown();
        let mut odd: Vec<ShellValue> = Vec::new();
        for folder in self.shell.folders.now.clone() {
            let matches = self.matches(&pattern, &folder).unwrap_or_default();
            odd.extend(matches.odd.iter().map(|name| ShellValue::text(name.as_str())));
        }
        if odd.len() > MOST_ODD {
            odd.truncate(MOST_ODD);
            odd.push(ShellValue::unknown());
        }
        odd
    }

    /// Returns what is to be known of the names that a pattern finds, which is looked up once until this command makes some.
    fn matches(&mut self, pattern: &str, folder: &Folder) -> Option<Arc<Matches>> {
        let Folder::Known(place) = folder else { return None };
        let key = (place.clone(), pattern.to_owned(), self.shell.options.finds_deep, self.findings.names_made);
        if let Some(matches) = self.files.matched.get(&key) {
            return matches.clone();
        }
        let matches = self.names_found(pattern, folder).map(|names| {
            let odd = names.iter().filter(|name| is_odd(name)).cloned().collect();
            Arc::new(Matches { are_none: names.is_empty(), odd })
        });
        self.files.matched.insert(key, matches.clone());
        matches
    }

    /// Returns what a pattern finds just now, or finds once this command has made it; nothing where that is not known.
    fn names_found(&mut self, pattern: &str, folder: &Folder) -> Option<Vec<String>> {
        let start = match folder {
            _ if pattern.starts_with('/') => String::new(),
            Folder::Known(folder) => folder.trim_end_matches('/').to_owned(),
            Folder::Unknown => return None,
        };
        let mut found = vec![(start, String::new())];
        for (index, part) in pattern.split('/').enumerate() {
            let gap = if index == 0 { "" } else { "/" };
            if !part.contains('*') {
                found.iter_mut().for_each(|(place, text)| {
                    place.extend(["/", part]);
                    text.extend([gap, part]);
                });
                continue;
            }
            let mut next = Vec::new();
            if self.shell.options.finds_deep {
                self.add_texts_below(&mut found);
            }
            for (place, text) in &found {
                let place = places::normal(place);
                if !Path::new(&place).starts_with(&self.scene.workspace) {
                    continue;
                }
                let listed = self.names_in(&place);
                let made = if self.findings.names_made > 0 { self.names_made_in(&place) } else { Vec::new() };
                let _ =
                    self.has_time(if self.findings.names_made > 0 { self.findings.len() / NAMES_OF_WORK } else { 0 });
                if listed.all.len() >= MOST_NAMES || !self.has_time(listed.all.len() / NAMES_OF_WORK) {
                    return None;
                }
                let names = listed.all.iter().chain(&made).filter(|name| finds(part, name));
                let gap = if text.is_empty() { gap } else { "/" };
                next.extend(names.map(|name| (format!("{place}/{name}"), format!("{text}{gap}{name}"))));
            }
            next.truncate(MOST_FOUND);
            found = next;
        }
        Some(found.into_iter().map(|(_, text)| text).collect())
    }

    /// Returns whether a pattern finds a name that looks like a flag.
    pub(crate) fn finds_flags(&mut self, word: &ShellValue) -> bool {
        word.may_be_several() && !self.names_like_flags(&word.shown()).is_empty()
    }

    fn names_like_flags(&mut self, pattern: &str) -> Vec<ShellValue> {
        let (first, rest) = pattern.split_at(pattern.find('/').unwrap_or(pattern.len()));
        let mut found = Vec::new();
        for folder in self.shell.folders.now.clone() {
            let Folder::Known(folder) = folder else {
                found.push(some_flag());
                continue;
            };
            let listed = self.names_in(&folder);
            if listed.all.len() >= MOST_NAMES {
                found.push(some_flag());
            }
            let made = self.names_made_in(&folder);
            let names = listed
                .all
                .iter()
                .chain(&made)
                .filter(|name| name.starts_with(SPECIAL_BEGINNINGS) && finds(first, name));
            found.extend(names.map(|name| ShellValue::text(format!("{name}{rest}"))));
        }
        found
    }

    /// Returns the folders that the workspace and the home lie in, and the home.
    fn folders_above(&self) -> impl Iterator<Item = String> + use<> {
        let workspace = Path::new(&self.scene.workspace).ancestors().skip(1);
        let all = workspace.chain(Path::new(&self.scene.home).ancestors());
        let folders: Vec<String> = all.map(|folder| folder.to_string_lossy().into_owned()).collect();
        folders.into_iter().filter(|folder| folder != "/")
    }

    /// Returns the secrets in the workspace that a pattern finds just now.
    pub(crate) fn secrets_there(&mut self, place: &str) -> Vec<String> {
        if !Path::new(place).starts_with(&self.scene.workspace) {
            return Vec::new();
        }
        let mut found = vec![String::new()];
        let mut parts = place.split('/').filter(|part| !part.is_empty()).peekable();
        while let Some(part) = parts.next() {
            if !part.contains('*') {
                found.iter_mut().for_each(|path| path.extend(["/", part]));
                continue;
            }
            let is_last = parts.peek().is_none();
            let mut next = Vec::new();
            // With `globstar`, `**` finds whatever lies below.
            if self.shell.options.finds_deep && part.trim_matches('*').is_empty() {
                self.add_folders_below(&mut found);
            }
            for folder in &found {
                let listed = self.names_in(folder);
                let names = if is_last { &listed.secrets } else { &listed.all };
                next.extend(names.iter().filter(|name| finds(part, name)).map(|name| format!("{folder}/{name}")));
            }
            next.truncate(MOST_FOUND);
            found = next;
        }
        found.retain(|path| is_secret(Path::new(path)));
        found
    }

    /// Adds the folders that lie below these, with the paths by which a program names them.
    fn add_texts_below(&mut self, found: &mut Vec<(String, String)>) {
        for (place, text) in found.clone() {
            let mut below = vec![places::normal(&place)];
            self.add_folders_below(&mut below);
            let start = below.first().map_or(0, String::len);
            let named = below.iter().skip(1).map(|folder| {
                let gap = if text.is_empty() { folder[start..].trim_start_matches('/') } else { &folder[start..] };
                (folder.clone(), format!("{text}{gap}"))
            });
            found.extend(named);
            found.truncate(MOST_FOUND);
        }
    }

    /// Adds the folders that lie below these, as far as they are not hidden.
    fn add_folders_below(&mut self, folders: &mut Vec<String>) {
        let mut at = 0;
        while let Some(folder) = folders.get(at).filter(|_| folders.len() < MOST_FOUND).cloned() {
            let listed = self.names_in(&folder);
            let below = listed.all.iter().filter(|name| !name.starts_with('.')).map(|name| format!("{folder}/{name}"));
            let is_folder = |path: &String| self.locate.locate(path).kind == Some(FileKind::Folder);
            folders.extend(below.filter(is_folder));
            at += 1;
        }
    }

    /// Returns the names in a folder, and lists each folder only once.
    fn names_in(&mut self, folder: &str) -> Arc<FolderNames> {
        if !self.files.listed.contains_key(folder) && self.files.listed.len() < MOST_LISTED {
            let all = self.locate.names_in(folder);
            let is_secret = |name: &&String| is_secret(&Path::new(folder).join(name));
            let secrets = all.iter().filter(is_secret).cloned().collect();
            self.files.listed.insert(folder.to_owned(), Arc::new(FolderNames { all, secrets }));
        }
        self.files.listed.get(folder).cloned().unwrap_or_default()
    }
}

/// Returns some flag of which nothing is known.
fn some_flag() -> ShellValue {
    let mut flag = ShellValue::text("-");
    flag.push(ValuePiece::Unknown);
    flag
}

/// Returns whether a pattern finds a name: a hidden one only where it says the dot.
fn finds(pattern: &str, name: &str) -> bool {
    let beginning = pattern.split('*').next().unwrap_or_default();
    name.starts_with(beginning) && name.starts_with('.') <= pattern.starts_with('.') && patterns::fits(pattern, name)
}

/// Returns whether a name has letters in it that a shell, `xargs` or another language takes for more than letters.
fn is_odd(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || "._-+@,=:%/".contains(letter);
    !name.chars().all(is_plain)
}
