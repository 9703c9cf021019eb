//! Follows what a text loads and runs: takes each file, and notes those that are missing or unknown.

use std::collections::BTreeSet;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, OFlags};

use super::super::hook_names::HookNames;
use super::super::loads::Loads;
use super::super::named::straight;
use super::super::patterns;
use super::{FIXED_NAMES, LEFT_OUT_ENDS, MOST_FILES, ReachableCode, Reaching, is_ordinary, is_script};
use crate::files::read::open::open_beneath;

/// Programs that by their nature run or load code of the whole project.
pub(in crate::project) const RUNS_PROJECT: &[&str] = &[
    "cargo",
    "go",
    "pytest",
    "tox",
    "nox",
    "npm",
    "npx",
    "pnpm",
    "yarn",
    "bun",
    "mvn",
    "gradle",
    "gradlew",
    "rake",
    "bundle",
    "dotnet",
    "swift",
    "cmake",
    "ctest",
    "meson",
    "ninja",
    "bazel",
    "jest",
    "vitest",
    "mocha",
    "eslint",
    "prettier",
    "mypy",
    "pylint",
    "flake8",
    "pre-commit",
    "composer",
    "phpunit",
    "just",
    "task",
];
/// The modules that come with Python: a module of the project with the same name would be loaded instead.
pub(in crate::project) const PYTHON_MODULES: &str = include_str!("../python_modules.txt");
impl Reaching<'_> {
    /// Takes the folders that a text searches, and notes what it loads and is not there, or is not known.
    pub(super) fn follow(&mut self, own: &str, loads: &Loads, entered: &[String]) {
        let folder = own.rsplit_once('/').map_or("", |(folder, _)| folder);
        // What is in a folder that is entered, searched or run as a program may run.
        let names = loads.searched.iter().chain(&loads.entered).chain(&loads.files).cloned();
        let modules = loads.modules.iter().map(|name| name.trim_start_matches('.').replace('.', "/"));
        let folders: BTreeSet<String> = names.chain(modules).collect();
        for folder in self.folders_among(folder, &folders) {
            self.take_folder(&folder);
        }
        self.runs_python |= loads.programs.iter().any(|program| program.starts_with("python"));
        let bases: Vec<&str> = [folder, ""].into_iter().chain(entered.iter().map(String::as_str)).collect();
        for (base, name) in bases.iter().flat_map(|base| loads.files.iter().map(move |name| (base, name))) {
            let ends = LEFT_OUT_ENDS.iter().chain([&""]);
            let paths = ends.filter_map(|end| straight(&format!("{base}/{name}{end}")));
            for path in paths.filter(|path| path != own && is_ordinary(path)) {
                self.take_loaded(&path);
            }
        }
        self.take_matches(&bases, loads);
        for base in bases {
            let names = loads.files.iter().filter(|name| name.contains('/') || is_script(name));
            let of_system = |name: &&String| name.starts_with('/') && Path::new(name).exists();
            for name in names.filter(|name| !of_system(name)) {
                let ends: &[&str] = if is_script(name) { &[] } else { LEFT_OUT_ENDS };
                self.note_absent(base, ends.iter().map(|end| format!("{name}{end}")).chain([name.clone()]));
            }
            self.note_absent(base, loads.searched.iter().cloned());
            self.note_absent_modules(base, &loads.modules);
        }
        let starts = |program: &&str| loads.programs.contains(*program);
        let fixed = FIXED_NAMES.iter().filter(|(program, _)| starts(program) && *program != "pytest");
        let fixed: Vec<String> = fixed.flat_map(|(_, names)| *names).map(|name| (*name).to_owned()).collect();
        entered.iter().map(String::as_str).chain([""]).for_each(|base| self.note_absent(base, fixed.iter().cloned()));
        let whole = RUNS_PROJECT
            .iter()
            .filter(|program| starts(program))
            .map(|name| format!("{name}, which {own} starts, runs the current code of the project"));
        self.reach.not_covered.extend(whole);
        let unknown = loads.unknown.iter().map(|part| format!("{own} loads a file by a name that it builds: {part}"));
        self.reach.not_covered.extend(unknown);
    }

    /// Takes the files that match a pattern, and notes the pattern: others may match it later.
    fn take_matches(&mut self, bases: &[&str], loads: &Loads) {
        for (base, pattern) in bases.iter().flat_map(|base| loads.patterns.iter().map(move |pattern| (base, pattern))) {
            let Some(pattern) = straight(&format!("{base}/{pattern}")).filter(|path| is_ordinary(path)) else {
                continue;
            };
            let found = patterns::matches(self.project.root.as_fd(), &pattern);
            found.iter().filter(|path| is_ordinary(path)).for_each(|path| self.take_loaded(path));
            self.reach.patterns.insert(pattern, found);
        }
    }

    /// Takes the files that the arguments of a hook's command name, and notes the names at which nothing lies.
    pub(super) fn follow_hooks(&mut self, own: &str, text: &str) {
        let names = HookNames::of(own, text, &self.project.path);
        for pattern in &names.patterns {
            for path in patterns::matches(self.project.root.as_fd(), pattern).iter().filter(|path| is_ordinary(path)) {
                self.take_loaded(path);
            }
        }
        self.note_absent("", names.any.iter().cloned());
        let mut files = names.files;
        files.retain(|path| is_ordinary(path) && !self.exists(path));
        self.reach.absent_files.extend(files);
    }

    /// Notes paths at which nothing lies.
    fn note_absent(&mut self, base: &str, names: impl Iterator<Item = String>) {
        for path in names.filter_map(|name| straight(&format!("{base}/{name}"))) {
            if self.reach.absent.len() < MOST_FILES && is_ordinary(&path) && !self.exists(&path) {
                self.reach.absent.insert(path);
            }
        }
    }

    /// Notes modules that no file of a folder holds.
    fn note_absent_modules(&mut self, base: &str, modules: &BTreeSet<String>) {
        for module in modules {
            let name = module.trim_start_matches('.').replace('.', "/");
            let Some(path) = straight(&format!("{base}/{name}")).filter(|path| is_ordinary(path)) else { continue };
            let exists = |end: &str| self.exists(&format!("{path}{end}"));
            if exists(".py") && !exists("") {
                // A package would be loaded in the place of the module.
                self.reach.absent.insert(path);
            } else if !exists(".py") && !exists("") {
                let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
                self.reach.absent_modules.entry(folder.to_owned()).or_default().insert(name.to_owned());
            }
        }
    }

    /// A module of the project with the name of one of Python's own is loaded in its place: none may appear in a folder
    /// from which Python loads.
    pub(super) fn keep_python_modules(&mut self) {
        let is_python = |path: &&String| path.ends_with(".py");
        let folders = self
            .reach
            .files
            .keys()
            .filter(is_python)
            .map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder));
        let mut folders: BTreeSet<String> = folders.map(str::to_owned).collect();
        if self.runs_python || !folders.is_empty() || !self.reach.absent_modules.is_empty() {
            folders.insert(String::new());
        }
        let names: BTreeSet<String> = PYTHON_MODULES.split_whitespace().map(str::to_owned).collect();
        folders.iter().for_each(|folder| self.note_absent_modules(folder, &names));
    }

    /// A file that is added to a folder that is copied as a whole is not visible.
    pub(super) fn drop_absent_in_folders(&mut self) {
        let ReachableCode { folders, absent, absent_files, absent_modules, .. } = &mut self.reach;
        absent.retain(|path| !folders.iter().any(|folder| Path::new(path).starts_with(folder)));
        absent_files.retain(|path| !folders.iter().any(|folder| Path::new(path).starts_with(folder)));
        absent_modules.retain(|place, _| !folders.iter().any(|folder| Path::new(place).starts_with(folder)));
    }

    /// Returns those of the names that are folders of the project, from a folder of it or from its root.
    pub(super) fn folders_among(&self, folder: &str, names: &BTreeSet<String>) -> Vec<String> {
        let paths = names.iter().flat_map(|name| [format!("{folder}/{name}"), name.clone()]);
        let paths: BTreeSet<String> =
            paths.filter_map(|path| straight(&path)).filter(|path| is_ordinary(path)).collect();
        let flags = OFlags::DIRECTORY | OFlags::RDONLY;
        paths.into_iter().filter(|path| open_beneath(self.project.root.as_fd(), path.as_str(), flags).is_ok()).collect()
    }

    fn exists(&self, path: &str) -> bool {
        rustix::fs::statat(self.project.root.as_fd(), path, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }
}
