//! Finds the files of a folder that a command line runs or reads, for a consent that is bound to them.
//!
//! A server that the user agreed to runs with keys and hosts of its own, so it must run what the user agreed to. Every word
//! that may be the name of a file, a module or a package counts, also in the text of a shell, in a file that only says
//! what to start (a makefile, a script of a shell, `package.json`), and in variables. What is not understood is bound
//! to all code at the top of the folder, and is reported.
//!
//! Not here: what programs in Python, JavaScript and other languages load in turn.

mod unclear;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::FileType;

use super::held::module_of;
use super::loads::{INTERPRETERS, Loads, loads};
use super::named::{MOST_BYTES, candidates, hash, open, straight, words};
use super::reach::follow::{PYTHON_MODULES, RUNS_PROJECT};
use super::reach::{FIXED_NAMES, LEFT_OUT_ENDS, is_script, names_in, whole_folder};
use super::{Project, patterns};

/// Programs beside interpreters that run files of the folder in which they start.
const RUNS_FILES: &[&str] = &[
    "env",
    "xargs",
    "find",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "uv",
    "poetry",
    "pdm",
    "hatch",
    "pipenv",
    "run-parts",
    "parallel",
    "watch",
    "entr",
    "java",
    "julia",
    "elixir",
    "pwsh",
    "pypy3",
    "ash",
    "busybox",
    "script",
    "su",
];
/// Programs that take a package by its name: the scripts of the project's own package do not run.
const TAKES_PACKAGE: &[&str] = &["npx", "pnpx", "bunx", "uvx", "pipx"];
/// Programs that run a program of the project's own package with "run".
const RUNS_PACKAGE: &[&str] = &["uv", "poetry", "pdm", "hatch", "pipenv"];
/// What the names of variables contain whose values are code, options of an interpreter, or where code is searched.
const LOADING_VARIABLES: &[&str] = &[
    "PATH",
    "OPT",
    "LIB",
    "ENV",
    "INIT",
    "START",
    "HOME",
    "PRELOAD",
    "PYTHON",
    "NODE",
    "NPM_",
    "FLAGS",
    "MAKEFILES",
    "SHELL",
];
/// What else a name of a folder or file may leave out.
const MORE_ENDS: &[&str] = &[".py", "/__init__.py", "/package.json"];
/// The ends of the names of files that only say what to start.
const STARTING_ENDS: &[&str] = &["sh", "bash", "zsh", "ksh", "fish", "mk"];
/// The ends of the names of files that start nothing.
const READING_ENDS: &[&str] = &["md", "txt", "html", "css", "csv", "lock", "log"];
/// Longest file that is read for what it starts.
const LONGEST_READ: u64 = 256 << 10;
/// Most folders and files that are looked at.
const MOST_FOLDERS: usize = 50;
const MOST_FILES: usize = 2_000;

/// What a command line runs of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLineCode {
    /// The files by their paths in the folder, each with its hash; patterns among them have the hash of what they match.
    pub files: BTreeMap<String, String>,
    /// What may run and is not among the files, in words.
    pub not_covered: BTreeSet<String>,
}

impl CommandLineCode {
    /// Looks for the files of a command line and of its variables, in the folder in which it starts.
    pub fn of(folder: &Path, words: &[String], variables: &BTreeMap<String, String>) -> Self {
        let Ok(project) = Project::of_folder(folder) else { return Self::default() };
        let text = text_of(words, variables);
        let mut binding = CodeBinding {
            project: &project,
            code: Self::default(),
            words: super::named::words(&text).into_iter().map(str::to_owned).collect(),
            unread: Vec::new(),
            left: MOST_BYTES,
        };
        if !binding.runs_files() {
            return Self::default();
        }
        binding.read("", &text, NameKind::Argument);
        binding.read("", &assignments(variables, NameKind::Mention), NameKind::Mention);
        while let Some((path, text)) = binding.unread.pop() {
            binding.read(&path, &text, NameKind::Mention);
        }
        binding.code.not_covered.extend(unclear::unclear_parts(words));
        let is_run = |name: &&&str| words.iter().any(|word| word == **name) && words.iter().any(|word| word == "run");
        let package = RUNS_PACKAGE.iter().find(is_run).filter(|_| binding.code.files.is_empty());
        binding
            .code
            .not_covered
            .extend(package.map(|name| format!("\"{name} run\" runs the current code of the project")));
        let is_unclear = !binding.code.not_covered.is_empty();
        if is_unclear {
            binding.bind_top();
        }
        if is_unclear || words.iter().any(|word| word.ends_with("run-parts")) {
            binding.bind_named_folders();
        }
        binding.bind_neighbours(is_unclear.then_some(""));
        binding.code
    }
}

/// The command line as lines of a shell: the words, each text among them, and what is joined to an option.
fn text_of(words: &[String], variables: &BTreeMap<String, String>) -> String {
    let texts = words.iter().filter(|word| word.contains(char::is_whitespace)).cloned();
    let joined = words
        .iter()
        .filter(|word| word.starts_with('-') && !word.starts_with("--"))
        .flat_map(|word| word.char_indices().skip(2).take(8).map(|(at, _)| word[at..].to_owned()));
    let values = [assignments(variables, NameKind::Argument)];
    let lines: Vec<String> = [words.join(" ")].into_iter().chain(texts).chain(joined).chain(values).collect();
    lines.join("\n")
}

/// The variables as lines of a shell: those that make programs load files, or the others, which may be data.
fn assignments(variables: &BTreeMap<String, String>, kind: NameKind) -> String {
    let loads = |name: &str| LOADING_VARIABLES.iter().any(|part| name.to_ascii_uppercase().contains(part));
    let wanted = variables.iter().filter(|(name, _)| loads(name) == (kind == NameKind::Argument));
    wanted.map(|(name, value)| format!("{name}={value}\n")).collect()
}

/// How a text names files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NameKind {
    /// As arguments of the command line: all of them may run.
    Argument,
    /// Among other words.
    Mention,
}

struct CodeBinding<'p> {
    project: &'p Project,
    code: CommandLineCode,
    /// The words of the command line.
    words: BTreeSet<String>,
    /// Files that say what to start, with their texts.
    unread: Vec<(String, String)>,
    /// How many bytes may still be read.
    left: u64,
}

impl CodeBinding<'_> {
    /// Says whether the command line starts a program that runs files of its folder.
    fn runs_files(&self) -> bool {
        let is_one = |word: &String| {
            let program =
                word.rsplit('/').next().unwrap_or_default().trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            let fixed = FIXED_NAMES.iter().any(|(name, _)| *name == program && !TAKES_PACKAGE.contains(name));
            fixed
                || [INTERPRETERS, RUNS_FILES, RUNS_PROJECT]
                    .iter()
                    .any(|names| names.contains(&program) && !TAKES_PACKAGE.contains(&program))
        };
        let starts_own = |word: &String| word.contains('/') && straight(word).is_some_and(|path| self.is_file(&path));
        self.words.iter().any(|word| is_one(word) || starts_own(word))
    }

    /// Binds what a text names.
    fn read(&mut self, own: &str, text: &str, kind: NameKind) {
        let folder = own.rsplit_once('/').map_or("", |(folder, _)| folder);
        let text = if own.ends_with("package.json") { self.scripts_of(folder, text) } else { text.to_owned() };
        let Ok(mut paths) = candidates(folder, &text) else {
            self.code.not_covered.insert(format!("\"{own}\" names too much to be searched"));
            return;
        };
        let (named, loads) = (words(&text), loads(&text));
        let bases = self.bases((folder, kind), &named, &loads);
        for base in &bases {
            let fixed = FIXED_NAMES.iter().filter(|(program, _)| named.contains(program)).flat_map(|(_, names)| *names);
            paths.extend(fixed.filter_map(|name| straight(&format!("{base}/{name}"))));
            let names = named.iter().copied().filter(|_| kind == NameKind::Argument);
            for name in names.chain(loads.files.iter().map(String::as_str)) {
                let ends = LEFT_OUT_ENDS.iter().chain(MORE_ENDS).chain(&[""]);
                paths.extend(ends.filter_map(|end| straight(&format!("{base}/{name}{end}"))));
            }
            let modules = loads.modules.iter().map(|name| name.replace('.', "/"));
            paths.extend(
                modules
                    .flat_map(|name| [".py", "/__main__.py", "/__init__.py"].map(|end| format!("{base}/{name}{end}")))
                    .filter_map(|path| straight(&path)),
            );
            self.bind_matches(base, &loads);
        }
        for path in paths.into_iter().filter(|path| path != own) {
            if kind == NameKind::Argument
                || is_script(&path)
                || self.is_program(&path)
                || loads.files.iter().any(|name| path.ends_with(name.trim_start_matches("./")))
            {
                self.bind(&path);
            }
        }
        let entered = loads.searched.iter().chain(&loads.entered).chain(&loads.files);
        let mut folders: BTreeSet<String> = entered
            .flat_map(|name| [format!("{folder}/{name}"), name.clone()])
            .filter_map(|path| straight(&path))
            .collect();
        folders.retain(|path| self.is_folder(path));
        folders.iter().for_each(|path| self.bind_folder(path));
        let runs_project = RUNS_PROJECT.iter().filter(|program| {
            loads.programs.contains(**program) && !FIXED_NAMES.iter().any(|(name, _)| name == *program)
        });
        self.code
            .not_covered
            .extend(runs_project.map(|name| format!("\"{name}\" runs the current code of the project")));
        self.code.not_covered.extend(
            loads
                .unknown
                .iter()
                .filter(|_| !own.is_empty())
                .map(|part| format!("{own} loads a file by a name that it builds: {part}")),
        );
    }

    /// The folders from which names count: that of the text, the root, and those that it names.
    fn bases(&self, (folder, kind): (&str, NameKind), named: &BTreeSet<&str>, loads: &Loads) -> BTreeSet<String> {
        let mentioned = named.iter().copied().filter(|_| kind == NameKind::Argument);
        let names = mentioned.chain(loads.entered.iter().map(String::as_str));
        let paths = names.filter_map(|name| straight(&format!("{folder}/{name}"))).filter(|path| self.is_folder(path));
        [folder.to_owned(), String::new()].into_iter().chain(paths.take(MOST_FOLDERS)).collect()
    }

    /// The parts of a package's description that the command line starts.
    fn scripts_of(&self, folder: &str, text: &str) -> String {
        let package: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
        let mut wanted: BTreeSet<String> = self.words.clone();
        let mut found = String::new();
        for (name, main) in ["main", "module", "bin", "exports"].map(|name| (name, &package[name])) {
            let is_started = !folder.is_empty() || self.words.contains(".");
            if is_started && !main.is_null() {
                found.push_str(&format!("{name} {main}\n"));
            }
        }
        if wanted.contains("t") || wanted.contains("tst") {
            wanted.insert("test".to_owned());
        }
        let scripts = package["scripts"].as_object().cloned().unwrap_or_default();
        // A script may start other scripts.
        for _ in 0..scripts.len().min(20) {
            let is_wanted = |name: &str| {
                let base = name.strip_prefix("pre").or_else(|| name.strip_prefix("post"));
                wanted.contains(name) || base.is_some_and(|base| wanted.contains(base))
            };
            let texts: Vec<&str> =
                scripts.iter().filter(|(name, _)| is_wanted(name)).filter_map(|(_, text)| text.as_str()).collect();
            let more: BTreeSet<String> = texts.iter().flat_map(|text| words(text)).map(str::to_owned).collect();
            let before = wanted.len();
            found.extend(
                texts.iter().filter(|text| !found.contains(**text)).map(|text| format!("{text}\n")).collect::<Vec<_>>(),
            );
            wanted.extend(more);
            if wanted.len() == before {
                break;
            }
        }
        if wanted.contains("start") && !scripts.contains_key("start") {
            found.push_str("node server.js\n");
        }
        found
    }

    fn bind_matches(&mut self, base: &str, loads: &Loads) {
        for pattern in loads.patterns.iter().filter_map(|pattern| straight(&format!("{base}/{pattern}"))) {
            let found = patterns::matches(self.project.root.as_fd(), &pattern);
            found.iter().for_each(|path| self.bind(path));
            if !found.is_empty() {
                self.code.files.insert(pattern, patterns::listing(&found));
            }
        }
    }

    /// Binds one file, if it is one; reads it if it says what to start.
    fn bind(&mut self, path: &str) {
        if self.code.files.contains_key(path) || self.code.files.len() >= MOST_FILES {
            return;
        }
        let file = match open(self.project.root.as_fd(), path) {
            Ok(file) => file,
            Err(rustix::io::Errno::XDEV) if self.is_file(path) => {
                self.code.not_covered.insert(format!("{path} leads out of the folder"));
                return;
            }
            Err(_) => return,
        };
        let text = self.starting_text(path);
        match hash(file, &mut self.left) {
            Ok(None) => {}
            Ok(Some(hash)) => {
                self.code.files.insert(path.to_owned(), hash);
                self.unread.extend(text.map(|text| (path.to_owned(), text)));
            }
            Err(error) => _ = self.code.not_covered.insert(format!("{path} cannot be compared: {error}")),
        }
    }

    fn bind_folder(&mut self, folder: &str) {
        match whole_folder(self.project, folder) {
            Ok(files) => files.keys().for_each(|path| self.bind(path)),
            Err(why) => {
                self.code.not_covered.insert(format!("the folder {folder}: {why}"));
                names_in(self.project, folder, MOST_FILES)
                    .iter()
                    .for_each(|(name, _)| self.bind(&format!("{folder}/{name}")));
            }
        }
    }

    /// Binds all folders that the command line names.
    fn bind_named_folders(&mut self) {
        let paths = self.words.iter().filter_map(|word| straight(word)).filter(|path| self.is_folder(path));
        let folders: BTreeSet<String> = paths.take(MOST_FOLDERS).collect();
        folders.iter().for_each(|folder| self.bind_folder(folder));
    }

    /// Binds all code at the top of the folder.
    fn bind_top(&mut self) {
        for (name, kind) in names_in(self.project, ".", MOST_FILES) {
            if kind != FileType::Directory && (is_script(&name) || self.is_program(&name)) {
                self.bind(&name);
            }
        }
    }

    /// Binds what an interpreter loads because it is beside a file: modules with the names of Python's own, and the
    /// description of a package. `top` is one more folder to look in.
    fn bind_neighbours(&mut self, top: Option<&str>) {
        let folder_of = |path: &String| path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let ends = |ends: &[&str]| -> BTreeSet<String> {
            let is_one = |path: &&String| ends.iter().any(|end| path.ends_with(end));
            self.code.files.keys().filter(is_one).map(folder_of).collect()
        };
        let (mut python, node) = (ends(&[".py"]), ends(&[".js", ".ts"]));
        python.extend(top.map(str::to_owned));
        let modules: BTreeSet<&str> = PYTHON_MODULES.split_whitespace().collect();
        for folder in python {
            let place = if folder.is_empty() { "." } else { &folder };
            for (name, kind) in names_in(self.project, place, MOST_FILES) {
                let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
                if module_of(&name).is_some_and(|module| modules.contains(module)) {
                    match kind {
                        FileType::Directory => self.bind(&format!("{path}/__init__.py")),
                        _ if name.contains('.') => self.bind(&path),
                        _ => {}
                    }
                }
            }
        }
        for folder in node {
            let above = super::reach::ancestors(&folder);
            above
                .iter()
                .filter_map(|folder| straight(&format!("{folder}/package.json")))
                .for_each(|path| self.bind(&path));
        }
    }

    /// The text of a file that says what to start: no program in a language that haft does not follow.
    fn starting_text(&self, path: &str) -> Option<String> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let end = name.rsplit_once('.').map_or("", |(_, end)| end);
        let is_starting = STARTING_ENDS.contains(&end) || FIXED_NAMES.iter().any(|(_, names)| names.contains(&name));
        if !is_starting && (is_script(path) || READING_ENDS.contains(&end)) {
            return None;
        }
        let file = File::from(open(self.project.root.as_fd(), path).ok()?);
        file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let mut bytes = Vec::new();
        file.take(LONGEST_READ).read_to_end(&mut bytes).ok()?;
        let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let is_other = first.starts_with(b"#!") && !first.windows(2).any(|letters| letters == b"sh");
        (!bytes.contains(&0) && !is_other).then(|| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn is_file(&self, path: &str) -> bool {
        self.kind(path).is_some_and(|kind| kind != FileType::Directory)
    }

    fn is_folder(&self, path: &str) -> bool {
        self.kind(path) == Some(FileType::Directory)
    }

    fn is_program(&self, path: &str) -> bool {
        let file = open(self.project.root.as_fd(), path)
            .map(File::from)
            .and_then(|file| file.metadata().map_err(|_| rustix::io::Errno::IO));
        file.is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
    }

    fn kind(&self, path: &str) -> Option<FileType> {
        let found = rustix::fs::statat(self.project.root.as_fd(), path, rustix::fs::AtFlags::empty());
        found.ok().map(|facts| FileType::from_raw_mode(facts.st_mode))
    }
}

#[cfg(test)]
mod tests;
