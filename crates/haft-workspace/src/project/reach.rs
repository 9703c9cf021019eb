//! Finds the files of a project that trusted code can run: those that it names, those that these name, and their folders.
//!
//! Programs find code in more ways than haft can read from their text. So haft takes the whole folder of a named file if it
//! is small, and counts every word of a script that is the path or the module of a script. Code that is reached in other
//! ways is not covered; decision 0022 says so.
//!
//! Not here: files that trust is bound to (`named`), writing the copy (`copy`).

pub(super) mod follow;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use haft_contract::files::guarded::is_secret;
use rustix::fs::{AtFlags, Dir, FileType, OFlags};

use super::loads::loads;
use super::named::{candidates, open, straight, words};
use super::{FOLDER, Project, skill_folder};
use crate::files::read::open::{leads_to, open_beneath};

/// Most files of one copy.
const MOST_FILES: usize = 1_000;
/// Most bytes of one copy.
const MOST_BYTES: u64 = 32 << 20;
/// Most files of a folder that is taken as a whole.
const MOST_IN_FOLDER: usize = 300;
/// Longest script that is searched for names.
const LONGEST_SCRIPT: usize = 1 << 20;
/// Longest word that is taken for a name.
const LONGEST_NAME: usize = 200;
/// How files end that are run or loaded by an interpreter.
const SCRIPT_ENDS: &[&str] = &[
    "sh", "bash", "zsh", "fish", "ksh", "py", "pyw", "pyc", "js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx", "rb",
    "pl", "pm", "lua", "php", "awk", "sed", "jq", "r", "R", "jl", "tcl", "el", "go", "ps1", "so", "node", "wasm",
    "jar", "class", "mk", "nix",
];
/// What scripts leave out of the name of a file that they load.
pub(super) const LEFT_OUT_ENDS: &[&str] = &[
    ".sh",
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    ".node",
    ".rb",
    ".pl",
    ".pm",
    ".lua",
    "/index.js",
    "/index.ts",
    "/__main__.py",
];
/// Programs that run what a file of a fixed name says.
pub(super) const FIXED_NAMES: &[(&str, &[&str])] = &[
    ("make", &["GNUmakefile", "makefile", "Makefile"]),
    ("just", &["justfile", ".justfile", "Justfile"]),
    ("rake", &["Rakefile"]),
    ("npm", &["package.json"]),
    ("npx", &["package.json"]),
    ("pnpm", &["package.json"]),
    ("yarn", &["package.json"]),
    ("bun", &["package.json"]),
    ("nox", &["noxfile.py"]),
    ("tox", &["tox.ini"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml"]),
    ("pre-commit", &[".pre-commit-config.yaml"]),
    ("pytest", &["conftest.py"]),
];
/// Most names of folders that a text enters, joined with its words.
const MOST_JOINED: usize = 20_000;
/// Folders with code that others have written: too large to copy.
const DEPENDENCIES: &[&str] = &["node_modules", ".venv", "venv", ".git"];

/// A file that is copied.
#[derive(Debug)]
pub(super) struct ReachableFile {
    pub(super) bytes: Vec<u8>,
    pub(super) is_program: bool,
}

/// The files that one file of code can run.
#[derive(Debug, Default)]
pub(super) struct ReachableCode {
    /// By their paths from the root of the workspace.
    pub(super) files: BTreeMap<String, ReachableFile>,
    /// The folders among them that are copied as a whole.
    pub(super) folders: BTreeSet<String>,
    /// Files that no text names: they were copied with their folder.
    pub(super) beside: BTreeSet<String>,
    /// Links by which some were found, with the hash of what they lead to.
    pub(super) links: BTreeMap<String, String>,
    /// What is not in the copy although it may run, each with the reason.
    pub(super) left_out: Vec<(String, String)>,
    /// What a text loads and did not exist: files and folders by their paths.
    pub(super) absent: BTreeSet<String>,
    /// Names that decide what a hook does if a file has them, and that none had.
    pub(super) absent_files: BTreeSet<String>,
    /// Patterns of files that a text loads, each with what matched it.
    pub(super) patterns: BTreeMap<String, BTreeSet<String>>,
    /// Modules of Python that a text loads and that did not exist, by the folders in which they would be found.
    pub(super) absent_modules: BTreeMap<String, BTreeSet<String>>,
    /// What runs and no copy can cover, in words.
    pub(super) not_covered: BTreeSet<String>,
}

impl ReachableCode {
    /// Returns what is shown in the place of the project's own: whole folders, and the files beside them.
    pub(super) fn places(&self) -> Vec<String> {
        let is_inside = |path: &str, folder: &str| Path::new(path).starts_with(folder);
        let outer = |folder: &&String| !self.folders.iter().any(|other| other != *folder && is_inside(folder, other));
        let files = self.files.keys().filter(|file| !self.folders.iter().any(|folder| is_inside(file, folder)));
        self.folders.iter().filter(outer).chain(files).cloned().collect()
    }
}

/// Finds what a text of code can run. The named files are those that trust is bound to.
pub(super) fn reach<'n>(
    project: &Project,
    (own, text): (&str, &str),
    named: impl Iterator<Item = &'n String>,
) -> ReachableCode {
    let mut reaching = Reaching {
        project,
        reach: ReachableCode::default(),
        runs_python: false,
        unread: Vec::new(),
        tried: BTreeSet::new(),
        bytes: 0,
    };
    if let Some(folder) = skill_folder(own) {
        reaching.take_folder(folder);
    }
    for name in named {
        if let Some(place) = reaching.take(name) {
            reaching.take_folder_of(&place);
        }
    }
    reaching.read(own, text);
    reaching.follow_hooks(own, text);
    while let Some(path) = reaching.unread.pop() {
        let is_long = reaching.reach.files.get(&path).is_some_and(|file| file.bytes.len() > LONGEST_SCRIPT);
        if is_long {
            reaching.leave_out(&path, "it is longer than 1 MiB, so it was not searched for what it loads".to_owned());
        }
        let text = reaching.reach.files.get(&path).and_then(|file| {
            let is_script = !is_long && !file.bytes.contains(&0);
            is_script.then(|| String::from_utf8_lossy(&file.bytes).into_owned())
        });
        if let Some(text) = text {
            reaching.read(&path, &text);
        }
    }
    reaching.keep_python_modules();
    reaching.drop_absent_in_folders();
    reaching.reach
}

/// Whether a file runs that a text names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runs {
    /// The text loads it.
    Surely,
    /// The text mentions it.
    Maybe,
}

struct Reaching<'p> {
    project: &'p Project,
    reach: ReachableCode,
    /// Whether a text starts Python.
    runs_python: bool,
    /// Files whose text was not searched yet.
    unread: Vec<String>,
    /// Paths that words stood for so far.
    tried: BTreeSet<String>,
    bytes: u64,
}

impl Reaching<'_> {
    /// Takes everything that the words of a text may mean.
    fn read(&mut self, own: &str, text: &str) {
        let folder = own.rsplit_once('/').map_or("", |(folder, _)| folder);
        let Ok(mut paths) = candidates(folder, text) else {
            return self.leave_out(own, "it names too much to be searched".to_owned());
        };
        let words = words(text);
        let loads = loads(text);
        let fixed = FIXED_NAMES.iter().filter(|(program, _)| words.contains(program)).flat_map(|(_, names)| *names);
        paths.extend(fixed.map(|name| (*name).to_owned()));
        let above = ancestors(folder);
        // A folder that a text mentions may be put together with the other words.
        let mentioned: BTreeSet<String> =
            words.iter().filter(|word| word.len() < LONGEST_NAME).map(|word| (*word).to_owned()).collect();
        let mentioned = self.folders_among(folder, &mentioned);
        let last_names = words.iter().filter_map(|word| Some(word.rsplit_once('/')?.1));
        let names: BTreeSet<&str> = words.iter().copied().chain(last_names).collect();
        let joined = mentioned.iter().flat_map(|base| names.iter().map(move |word| format!("{base}/{word}")));
        paths.extend(joined.take(MOST_JOINED).filter_map(|path| straight(&path)));
        let entered = self.folders_among(folder, &loads.entered);
        for word in words.iter().filter(|word| !word.starts_with('-') && word.len() < LONGEST_NAME) {
            if own.ends_with(".py") {
                paths.extend(python_modules(word, &above));
            }
            if word.contains('/') || word.starts_with('.') {
                let from = [folder, ""].into_iter().flat_map(|base| LEFT_OUT_ENDS.iter().map(move |end| (base, end)));
                paths.extend(from.filter_map(|(base, end)| straight(&format!("{base}/{word}{end}"))));
            }
        }
        for path in paths {
            if path != own && is_ordinary(&path) && self.tried.insert(path.clone()) {
                self.take(&path);
            }
        }
        self.follow(own, &loads, &entered);
    }

    /// Takes a file that a text loads, whatever it is called, and its folder: another file there may stand in for it.
    fn take_loaded(&mut self, name: &str) {
        if let Some(place) = self.take_as(name, Runs::Surely) {
            self.take_folder_of(&place);
        }
    }

    /// Takes a file if it is one that runs; returns where it really lies.
    fn take(&mut self, name: &str) -> Option<String> {
        self.take_as(name, Runs::Maybe)
    }

    fn take_as(&mut self, name: &str, runs: Runs) -> Option<String> {
        self.reach.beside.remove(name);
        if self.reach.files.contains_key(name) {
            return Some(name.to_owned());
        }
        let mut file = File::from(open(self.project.root.as_fd(), name).ok()?);
        let facts = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let is_program = facts.permissions().mode() & 0o111 != 0;
        let mut head = [0_u8; 2];
        let starts = file.read(&mut head).is_ok_and(|count| count == 2 && &head == b"#!");
        if is_secret(Path::new(name)) {
            if runs == Runs::Surely {
                self.leave_out(
                    name,
                    "it may hold secrets, so haft does not copy it: each run uses its current content".to_owned(),
                );
            }
            return None;
        }
        if !(is_program || starts || is_script(name)) && runs == Runs::Maybe {
            return None;
        }
        let place = leads_to(&self.project.path, name).ok().flatten()?.to_str()?.to_owned();
        self.reach.beside.remove(&place);
        if self.reach.files.contains_key(&place) {
            return Some(place);
        }
        if !self.has_room(facts.len()) {
            self.leave_out(name, format!("a copy holds at most {MOST_FILES} files and 32 MiB"));
            return None;
        }
        let mut bytes = head[..usize::try_from(facts.len().min(2)).unwrap_or(2)].to_vec();
        file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
        if place != name {
            self.reach.links.insert(name.to_owned(), blake3::hash(&bytes).to_hex().to_string());
        }
        self.put(place.clone(), ReachableFile { bytes, is_program });
        Some(place)
    }

    fn put(&mut self, place: String, file: ReachableFile) {
        self.bytes += file.bytes.len() as u64;
        if is_script(&place) || file.is_program || file.bytes.starts_with(b"#!") {
            self.unread.push(place.clone());
        }
        self.reach.files.insert(place, file);
    }

    fn has_room(&self, bytes: u64) -> bool {
        self.reach.files.len() < MOST_FILES && self.bytes + bytes <= MOST_BYTES
    }

    /// Takes the folder of a file as a whole, or says why only single files of it are taken.
    fn take_folder_of(&mut self, place: &str) {
        let Some((folder, name)) = place.rsplit_once('/') else { return };
        if name != "__init__.py" {
            self.take_folder(folder);
        }
    }

    fn take_folder(&mut self, folder: &str) {
        let is_taken = |taken: &String| Path::new(folder).starts_with(taken);
        if self.reach.folders.iter().any(is_taken) {
            return;
        }
        let room = MOST_FILES.saturating_sub(self.reach.files.len()).min(MOST_IN_FOLDER);
        match (FolderWalk { project: self.project, files: BTreeMap::new(), room, bytes: self.bytes }).all(folder) {
            Ok(files) => {
                self.reach.folders.insert(folder.to_owned());
                for (path, file) in files {
                    if !self.reach.files.contains_key(&path) {
                        self.reach.beside.insert(path.clone());
                        self.put(path, file);
                    }
                }
            }
            Err(why) => {
                self.leave_out(
                    folder,
                    format!("{why}, so only the scripts that are named and those beside them are copied"),
                );
                names_in(self.project, folder, usize::MAX).into_iter().for_each(|(name, _)| {
                    self.take(&format!("{folder}/{name}"));
                });
            }
        }
    }

    fn leave_out(&mut self, name: &str, why: String) {
        if self.reach.left_out.iter().all(|(other, _)| other != name) {
            self.reach.left_out.push((name.to_owned(), why));
        }
    }
}

/// Reads every file of a folder, or says why it is not taken as a whole.
pub(super) fn whole_folder(project: &Project, folder: &str) -> Result<BTreeMap<String, ReachableFile>, String> {
    FolderWalk { project, files: BTreeMap::new(), room: MOST_IN_FOLDER, bytes: 0 }.all(folder)
}

/// The files of a folder, as far as they were read.
struct FolderWalk<'p> {
    project: &'p Project,
    files: BTreeMap<String, ReachableFile>,
    /// How many more files and folders there may be.
    room: usize,
    /// The size of the copy with these files.
    bytes: u64,
}

impl FolderWalk<'_> {
    fn all(mut self, folder: &str) -> Result<BTreeMap<String, ReachableFile>, String> {
        self.take(folder)?;
        Ok(self.files)
    }

    fn take(&mut self, folder: &str) -> Result<(), String> {
        for (name, kind) in names_in(self.project, folder, MOST_IN_FOLDER + 1) {
            let path = format!("{folder}/{name}");
            let too_much = || format!("it holds more than {MOST_IN_FOLDER} files, or too much");
            self.room = self.room.checked_sub(1).ok_or_else(too_much)?;
            match kind {
                FileType::Directory if name == "__pycache__" => {}
                FileType::Directory if DEPENDENCIES.contains(&name.as_str()) => return Err(format!("it holds {path}")),
                FileType::Directory => self.take(&path)?,
                FileType::RegularFile if is_secret(Path::new(&path)) => return Err(format!("{path} may hold secrets")),
                FileType::RegularFile => self.read(path)?,
                FileType::Symlink => return Err(format!("{path} is a link")),
                _ => return Err(format!("{path} is not an ordinary file")),
            }
        }
        Ok(())
    }

    fn read(&mut self, path: String) -> Result<(), String> {
        let opened = open_beneath(self.project.root.as_fd(), path.as_str(), OFlags::RDONLY);
        let file = File::from(opened.map_err(|_| format!("{path} cannot be read"))?);
        let facts = file.metadata().map_err(|_| format!("{path} cannot be read"))?;
        if self.bytes + facts.len() > MOST_BYTES {
            return Err("it holds more than 32 MiB".to_owned());
        }
        let mut bytes = Vec::new();
        // A file that grows meanwhile is bounded too.
        file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(|_| format!("{path} cannot be read"))?;
        self.bytes += bytes.len() as u64;
        self.files.insert(path, ReachableFile { bytes, is_program: facts.permissions().mode() & 0o111 != 0 });
        Ok(())
    }
}

/// Returns at most so many names in a folder with what they are; names that are no text are passed over.
pub(super) fn names_in(project: &Project, folder: &str, most: usize) -> Vec<(String, FileType)> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY;
    let Ok(opened) = open_beneath(project.root.as_fd(), folder, flags) else { return Vec::new() };
    let Ok(entries) = Dir::read_from(&opened) else { return Vec::new() };
    let mut names = Vec::new();
    for entry in entries.flatten().take(most.saturating_add(2)) {
        let Ok(name) = entry.file_name().to_str() else { continue };
        let stat = rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW);
        if let (false, Ok(stat)) = (matches!(name, "." | ".."), stat) {
            names.push((name.to_owned(), FileType::from_raw_mode(stat.st_mode)));
        }
    }
    names.sort_by(|one, other| one.0.cmp(&other.0));
    names
}

/// Says whether a path is none of haft's own settings and of no folder with dependencies.
fn is_ordinary(path: &str) -> bool {
    let is_setting = path.strip_prefix(FOLDER).is_some_and(|rest| rest.ends_with(".yaml") || rest.ends_with(".toml"));
    !is_setting && !path.split('/').any(|part| DEPENDENCIES.contains(&part))
}

pub(super) fn is_script(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    let ends = file.rsplit_once('.').is_some_and(|(_, end)| SCRIPT_ENDS.contains(&end));
    ends || FIXED_NAMES.iter().any(|(_, names)| names.contains(&file))
}

/// The files of a module as Python imports it: `name`, `package.module`, `.sibling`, `..package`.
fn python_modules(word: &str, above: &[String]) -> Vec<String> {
    let module = word.trim_start_matches('.');
    let dots = word.len() - module.len();
    let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    if !module.split('.').all(is_name) {
        return Vec::new();
    }
    let module = module.replace('.', "/");
    let of_base = |base: &String| [format!("{base}/{module}.py"), format!("{base}/{module}/__init__.py")];
    above.iter().skip(dots.saturating_sub(1)).flat_map(of_base).filter_map(|path| straight(&path)).collect()
}

/// A folder, and all above it, up to the root.
pub(super) fn ancestors(folder: &str) -> Vec<String> {
    let mut all = vec![folder.to_owned()];
    let mut rest = folder;
    while let Some((above, _)) = rest.rsplit_once('/') {
        all.push(above.to_owned());
        rest = above;
    }
    if !folder.is_empty() {
        all.push(String::new());
    }
    all
}
