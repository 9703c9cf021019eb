//! Files of a folder that make a harmless program run code of the workspace.
//!
//! `git status` runs programs that the settings of a repository name, `python3 -m json.tool` imports a `json.py` from the
//! folder, and `cargo --version` starts the compiler that `rust-toolchain.toml` names. haft looks into the folder for such
//! files. A file that an earlier part of the same command makes counts too.
//!
//! Not here: which program follows which files (`programs/table/*.txt`).

use std::collections::HashSet;
use std::path::Path;
use std::sync::LazyLock;

use haft_contract::doors::door::FileKind;
use haft_contract::effect::{Change, StepEffect};

use crate::act::LocalCode;
use crate::interpret::Interpreter;
use crate::interpret::findings::Finding;
use crate::patterns;
use crate::places::{Folder, PathDestination};
use crate::value::ShellValue;

/// How a module of Python may be stored, beside a folder.
const MODULE_ENDINGS: [&str; 4] = ["py", "pyc", "so", "pyd"];
/// More names in a folder than this may hide one that is not listed.
pub(crate) const MOST_NAMES: usize = 1_000;
/// How many paths that a pattern finds are looked at.
const MOST_FITTING: usize = 500;

static PYTHON_MODULES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let lines = include_str!("python_modules.txt").lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect()
});

impl Interpreter<'_> {
    /// Tells that code of the workspace is run, where the folder holds what makes the program run it.
    pub(crate) fn emit_local_code(&mut self, code: &LocalCode, folder: &ShellValue) {
        let through = |from: &Folder| from.place_through(folder, &|place| self.real_path(place));
        let places: Vec<PathDestination> =
            self.shell.folders.now.iter().flat_map(|from| [through(from), from.place(folder)]).collect();
        // A pattern in a word finds names in folders that are known; the folder of the shell may be any that fits.
        let is_known = |from: &Folder| matches!(from, Folder::Known(path) if !path.contains('*'));
        let is_pattern = !folder.has_unknown() && self.shell.folders.now.iter().all(is_known);
        for place in places {
            let fitting = match &place {
                PathDestination::At(place) if !place.contains('*') => Some(vec![place.clone()]),
                PathDestination::At(place) if is_pattern => self.places_that_fit(place),
                PathDestination::At(_) | PathDestination::Anywhere => None,
            };
            let found = match fitting {
                Some(places) => places.iter().find_map(|place| self.local_code_at(code, place)).map(StepEffect::Code),
                None => Some(StepEffect::Unknown(
                    "the folder whose settings it follows is known only when it runs".to_owned(),
                )),
            };
            if let Some(does) = found {
                self.tell(does);
            }
        }
    }

    /// Returns the paths that a path with patterns finds, and the folders in which it looks; nothing where there may be more.
    fn places_that_fit(&self, place: &str) -> Option<Vec<String>> {
        let mut found = vec![String::new()];
        let mut all = Vec::new();
        for part in place.split('/').filter(|part| !part.is_empty()) {
            if !part.contains('*') {
                found.iter_mut().for_each(|path| *path = below(path, part));
                continue;
            }
            if part.contains("**") && self.shell.options.finds_deep {
                return None;
            }
            let mut next = Vec::new();
            for folder in &found {
                let mut names = self.locate.names_in(folder);
                names.extend(self.names_made_in(folder));
                next.extend(names.iter().filter(|name| patterns::fits(part, name)).map(|name| below(folder, name)));
                if names.len() >= MOST_NAMES || next.len() > MOST_FITTING {
                    return None;
                }
            }
            all.append(&mut found);
            found = next;
        }
        all.append(&mut found);
        Some(all)
    }

    fn local_code_at(&self, code: &LocalCode, place: &str) -> Option<String> {
        let real = self.real_path(place);
        match code {
            LocalCode::Files(names) => self.chosen_by(names, &real),
            LocalCode::PythonModules(module) => self.shadowing_module(module.as_deref(), &real),
            LocalCode::BareRepository => self.bare_repository(&real),
            LocalCode::Repository => {
                let is_usual = real.rsplit('/').next() == Some(".git") && self.is_in_workspace(&real);
                (!is_usual).then(|| format!("run what the settings of the repository {} name", self.shown(&real)))
            }
        }
    }

    fn chosen_by(&self, names: &[&str], folder: &str) -> Option<String> {
        let files =
            self.upward(folder).into_iter().flat_map(|folder| names.iter().map(move |name| below(folder, name)));
        // `go.mod:toolchain`: only a file with that text counts.
        let chosen = files.filter_map(|file| {
            let (path, text) = file.split_once(':').map_or((file.as_str(), ""), |(path, text)| (path, text));
            let path = if path.contains('*') { self.file_that_fits(path)? } else { path.to_owned() };
            (self.is_or_will_be(&path) && self.may_contain(&path, text)).then_some(path)
        });
        let path = chosen.into_iter().next()?;
        Some(format!("run code that {} chooses", self.shown(&path)))
    }

    /// Returns a file whose name fits a pattern, which is there or which this command makes.
    fn file_that_fits(&self, path: &str) -> Option<String> {
        let (folder, pattern) = path.rsplit_once('/')?;
        let mut names = self.locate.names_in(folder);
        // Not all names may be listed, so any of them may be the one.
        if names.len() >= MOST_NAMES {
            return Some(folder.to_owned());
        }
        names.extend(self.names_made_in(folder));
        let fitting = names.into_iter().find(|name| patterns::fits(pattern, name))?;
        Some(below(folder, &fitting))
    }

    /// Returns whether a file has a text in it, as far as that is known.
    fn may_contain(&self, path: &str, text: &str) -> bool {
        let located = self.locate.locate(path);
        let is_changed = self.changed_paths().any(|changed| located.target.place().path().starts_with(changed));
        let has_text = |content: String| match text.strip_suffix('=') {
            Some(key) => may_set(&content, key),
            None => content.contains(text),
        };
        text.is_empty() || is_changed || self.locate.text_of(path).is_none_or(has_text)
    }

    /// git takes a folder for a repository that has these names in it, before it looks further up. What is behind a name
    /// does not matter: a `HEAD` may be a link that leads nowhere.
    fn bare_repository(&self, folder: &str) -> Option<String> {
        for folder in self.upward(folder) {
            if folder.ends_with("/.git") || self.has_repository(folder) {
                return None;
            }
            let has = |name: &str| self.has_name(folder, name);
            if has("HEAD") && (has("objects") || has("commondir")) {
                return Some(format!("run what the settings of the repository in {} name", self.shown(folder)));
            }
        }
        None
    }

    /// Returns whether git finds a `.git` in a folder that it can use, so that it looks no further: a file, a folder with
    /// a `HEAD`, or one that git makes in this command. Others copy whatever they are given.
    fn has_repository(&self, folder: &str) -> bool {
        let kind = |name: &str| self.locate.locate(&below(folder, name)).kind;
        let git = below(folder, ".git");
        let is_whole = kind(".git").is_some_and(|kind| kind != FileKind::Folder || self.has_name(&git, "HEAD"));
        let located = self.locate.locate(folder);
        let is_made = |found: &&Finding| {
            let is = |word: &str| found.words.iter().any(|said| said == word);
            let is_git = found.words.first().is_some_and(|program| program == "git") && (is("init") || is("clone"));
            let makes = matches!(&found.does, StepEffect::Change(target, Change::Create) if *target == located.target);
            is_git && makes && !is("--bare") && !is("--mirror")
        };
        is_whole || self.findings.iter().any(|found| is_made(&found))
    }

    /// Returns whether a folder has an entry of this name, whatever it is, or an earlier part of this command makes it.
    fn has_name(&self, folder: &str, name: &str) -> bool {
        let path = below(folder, name);
        let is_listed = || self.locate.names_in(folder).iter().any(|listed| listed == name);
        let is_entry = || self.entry_at(&path).kind.is_some();
        self.is_or_will_be(&path) || self.is_made_folder(&path) || is_entry() || is_listed()
    }

    /// Returns whether an earlier part of this command makes this folder, empty or for others.
    pub(crate) fn is_made_folder(&self, place: &str) -> bool {
        let located = self.locate.locate(place);
        let is_in = |found: &Finding| {
            matches!(&found.does, StepEffect::Change(target, Change::Create)
                if target.place().path().starts_with(located.target.place().path()))
        };
        self.findings.iter().any(is_in)
    }

    /// Python looks for modules in the folder first.
    fn shadowing_module(&self, module: Option<&str>, folder: &str) -> Option<String> {
        let mut names = self.locate.names_in(folder);
        if names.len() >= MOST_NAMES {
            return Some("import modules from a folder with too many names to look at".to_owned());
        }
        if self.is_filled(folder) {
            return Some("import modules from a folder that this command fills".to_owned());
        }
        names.extend(self.names_made_in(folder));
        let is_shadow = |name: &String| {
            if name.contains('*') {
                return true;
            }
            let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
            let ending = ending.rsplit('.').next().unwrap_or_default();
            let is_package = || {
                let folder = below(folder, name);
                MODULE_ENDINGS.iter().any(|ending| self.is_or_will_be(&below(&folder, &format!("__init__.{ending}"))))
            };
            match ending {
                "" => module == Some(name) || (PYTHON_MODULES.contains(name.as_str()) && is_package()),
                ending if MODULE_ENDINGS.contains(&ending) => module == Some(stem) || PYTHON_MODULES.contains(stem),
                _ => false,
            }
        };
        let shadow = names.into_iter().find(is_shadow)?;
        Some(format!("import {} in the place of a module of Python", self.shown(&below(folder, &shadow))))
    }

    /// Returns a folder and those above it, as far as the workspace reaches.
    fn upward<'p>(&self, folder: &'p str) -> Vec<&'p str> {
        let above = Path::new(folder).ancestors().filter_map(Path::to_str);
        let inside: Vec<&str> = above.take_while(|folder| self.is_in_workspace(folder)).collect();
        if inside.is_empty() { vec![folder] } else { inside }
    }

    fn is_in_workspace(&self, place: &str) -> bool {
        Path::new(place).starts_with(&self.scene.workspace)
    }

    /// Returns whether something is at a path, or an earlier part of this command puts it there.
    fn is_or_will_be(&self, place: &str) -> bool {
        let located = self.locate.locate(place);
        let path = located.target.place().path();
        let makes = |changed: &Path| path.starts_with(changed);
        located.kind.is_some() || self.files.links.contains_key(place) || self.changed_paths().any(makes)
    }

    /// Returns whether an earlier part of this command makes a folder together with what is in it, such as a copy.
    fn is_filled(&self, folder: &str) -> bool {
        let located = self.locate.locate(folder);
        self.changed_paths().any(|changed| located.target.place().path().starts_with(changed))
    }

    /// Returns the names in a folder that earlier parts of this command make.
    pub(crate) fn names_made_in(&self, folder: &str) -> Vec<String> {
        let located = self.locate.locate(folder);
        let folder = located.target.place().path();
        let below = self.changed_paths().filter_map(|path| path.strip_prefix(folder).ok()?.components().next());
        below.map(|name| name.as_os_str().to_string_lossy().into_owned()).collect()
    }

    /// Returns what earlier parts of this command make or replace. A folder that `mkdir` makes is empty.
    fn changed_paths(&self) -> impl Iterator<Item = &Path> {
        let made = |found: &&Finding| found.words.first().is_none_or(|program| program != "mkdir");
        self.findings.iter().filter(made).filter_map(|found| match &found.does {
            StepEffect::Change(target, Change::Create | Change::Replace) => {
                // A change of the whole workspace has its own question.
                Some(target.place().path()).filter(|path| !path.as_os_str().is_empty())
            }
            _ => None,
        })
    }

    fn shown(&self, place: &str) -> String {
        match self.locate.locate(place).target {
            target if target.place().path().as_os_str().is_empty() => "the workspace".to_owned(),
            target => target.to_string(),
        }
    }
}

/// Returns whether settings (TOML, YAML, JSON or INI) may have a key: as a word of its own, before `=` or `:`. Some formats
/// let one write letters by their numbers, and others do not mind capitals.
fn may_set(settings: &str, key: &str) -> bool {
    let settings = settings.to_lowercase();
    let is_of_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    let is_key = |(at, _): (usize, &str)| {
        let behind = settings[at + key.len()..].trim_start_matches(['"', '\'', ' ', '\t', '\r', '\n']);
        // A comment may stand between a key and what follows it.
        !settings[..at].ends_with(is_of_word) && behind.starts_with(['=', ':', '/', '#'])
    };
    // A name for a key, in YAML, may stand for it elsewhere.
    let has_other_name = settings.contains('&') && settings.contains(key);
    has_other_name || settings.contains("\\u") || settings.contains("\\x") || settings.match_indices(key).any(is_key)
}

fn below(folder: &str, name: &str) -> String {
    format!("{}/{name}", folder.trim_end_matches('/'))
}
