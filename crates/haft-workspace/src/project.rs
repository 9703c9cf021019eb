//! Reads what a workspace contains for haft: the folder `.haft`, and `AGENTS.md`.
//!
//! The author of the workspace wrote these, so haft reads only their names until the user trusts them. *Code* makes
//! something run or decides what may run; haft trusts exactly its content, and for code that runs also every workspace file
//! that it names. *Words* are read by models; they are trusted as long as they exist. *Commands* are words that a person
//! sends by name, unseen, so haft trusts their exact content.
//!
//! haft does not open code through a link. Words are often a link to the words of another agent: haft opens the final
//! target, only inside the workspace. It hands out exactly the content that it compared.
//!
//! Not here: where trust is kept (`state::trust`), what is in the files (`haft-config`).

mod command_line;
pub(crate) mod copy;
mod environment;
mod held;
mod hook_names;
mod intact;
mod loads;
mod named;
mod patterns;
mod reach;
mod runs;
mod shell_words;
pub(crate) mod skills;

pub use command_line::CommandLineCode;
pub use copy::{CodeReach, CopiedFile, TrustedCopy};
pub use held::{HelpersChanged, TrustCheck};
pub use named::{files_named, hash_of_named, named_by_code, scripts_named};
pub use skills::{SKILL_FILE, SKILL_FOLDERS, skill_folder};

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use haft_contract::files::guarded::is_secret;
use haft_contract::files::path::one_line;
use rustix::fs::{Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::files::read::open::{leads_to, open_beneath};
use crate::state::trust::FolderTrust;
use hook_names::HookNames;
use reach::is_script;

/// The folder with the workspace's files for haft.
pub const FOLDER: &str = ".haft";
/// Most bytes of a file that is loaded.
const LARGEST: u64 = 1 << 20;
/// Most names in a folder of which anything is loaded.
const MOST_NAMES: usize = 1_000;
/// The files right in the folder that haft knows.
const FILES: &[&str] = &["config.toml", "rules.toml", "tools.yaml", "AGENTS.md"];
/// The files beside the folder that haft knows.
const ROOT_WORDS: [&str; 2] = ["AGENTS.md", "HAFT_MEMORY.md"];
/// The one of them that lists tools, each with the file that describes it.
const TOOL_LIST: &str = ".haft/tools.yaml";
/// The folders in it that haft knows.
const FOLDERS: &[&str] = &["tools", "dialects", "commands", "prompts"];
/// How deep folders of words are looked into.
const DEEPEST: usize = 4;

/// The files in a workspace that are meant for haft.
#[derive(Debug)]
pub struct Project {
    root: OwnedFd,
    path: PathBuf,
    brought: Vec<ProjectFile>,
    refused: Vec<(String, String)>,
}

/// A file that a workspace provides for haft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFile {
    /// Its path from the root of the workspace.
    pub name: String,
    /// What it is.
    pub kind: ProjectFileKind,
}

/// The use that haft makes of a file of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectFileKind {
    /// It makes something run, or decides what may.
    Code,
    /// It is read by models.
    Words,
}

/// The hashes of a file and of every file of the workspace that it is bound to, by their paths.
pub type Fingerprint = BTreeMap<String, String>;

/// The status of a file of a project, compared with what the user trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustStatus {
    /// It is what was trusted; its text.
    Trusted(String),
    /// The user has not trusted it. It was not read.
    New,
    /// Files are not what they were when the user trusted it.
    Changed {
        /// The file itself, or files that it names.
        files: Vec<String>,
        /// Its text, where the file itself is what was trusted.
        text: Option<String>,
    },
    /// It is never loaded; why.
    Refused(String),
}

impl Project {
    /// Looks at what is there, by names alone.
    pub fn look(workspace: &Path) -> io::Result<Self> {
        let mut project = Self::of_folder(workspace)?;
        if let Some(folder) = project.open_folder(FOLDER) {
            project.list(&folder)?;
        }
        let skills = project.find_skills();
        let words = project
            .brought
            .iter()
            .position(|file| file.kind == ProjectFileKind::Words)
            .unwrap_or(project.brought.len());
        project.brought.splice(words..words, skills);
        for name in ROOT_WORDS {
            if is_no_folder(project.root.as_fd(), name) {
                project.brought.push(ProjectFile { name: name.to_owned(), kind: ProjectFileKind::Words });
            }
        }
        Ok(project)
    }

    /// Opens a folder without a look at what is in it.
    fn of_folder(folder: &Path) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let root = rustix::fs::open(folder, flags, Mode::empty())?;
        Ok(Self { root, path: folder.to_owned(), brought: Vec::new(), refused: Vec::new() })
    }

    /// Also counts a file as words that the user's settings name as the memory of projects.
    pub fn with_memory(mut self, name: &str) -> Self {
        let is_below = !name.starts_with('/') && !name.split('/').any(|part| part == "..");
        let is_new = self.brought.iter().all(|file| file.name != name);
        if is_below && is_new && is_no_folder(self.root.as_fd(), name) {
            self.brought.push(ProjectFile { name: name.to_owned(), kind: ProjectFileKind::Words });
        }
        self
    }

    /// Returns what was found, code first.
    pub fn brought(&self) -> &[ProjectFile] {
        &self.brought
    }

    /// Returns the folders that are not looked into, each with the reason.
    pub fn refused(&self) -> &[(String, String)] {
        &self.refused
    }

    /// Returns the code that was trusted and is not there any more.
    pub fn gone(&self, trusted: &FolderTrust) -> Vec<String> {
        let is_there = |name: &&String| self.brought.iter().any(|file| file.name == **name);
        trusted.code.keys().filter(|name| !is_there(name)).cloned().collect()
    }

    /// Says how a file compares with what was trusted. A file that the user has not trusted is not read.
    pub fn standing(&self, file: &ProjectFile, trusted: &FolderTrust) -> TrustStatus {
        let known = match file.kind {
            ProjectFileKind::Code => trusted.code.get(&file.name),
            ProjectFileKind::Words => match &trusted.words {
                Some(known) => return self.words(file, known),
                None => None,
            },
        };
        let Some(known) = known else { return TrustStatus::New };
        let (text, own) = match self.read_text(file) {
            Ok(read) => read,
            Err(why) => return TrustStatus::Refused(why),
        };
        // A file that is another one now names what it names; nothing is to be said of that.
        if known.get(&file.name) != Some(&own) {
            return TrustStatus::Changed { files: vec![file.name.clone()], text: None };
        }
        let now = match self.fingerprint(file, &text, own) {
            Ok(now) => now,
            // It was trusted, and what it names became something that cannot be.
            Err(why) => return TrustStatus::Changed { files: vec![why], text: Some(text) },
        };
        // A word such as "sh" is a program, whatever file of that name appears.
        let decides = self.names_that_decide(file, &text);
        let is_named = |name: &&String| name.contains('/') || is_script(name) || decides.contains(*name);
        let appeared = now.keys().filter(|name| !known.contains_key(*name)).filter(is_named);
        let names = known.keys().chain(appeared);
        let files: Vec<String> = names.filter(|name| known.get(*name) != now.get(*name)).cloned().collect();
        if files.is_empty() { TrustStatus::Trusted(text) } else { TrustStatus::Changed { files, text: Some(text) } }
    }

    /// Takes the fingerprints of everything, for a user who trusts it now. Reports what cannot be trusted, with the reason.
    pub fn vouch(&self) -> (FolderTrust, Vec<(String, String)>) {
        let (mut trusted, mut refused) = (FolderTrust::default(), Vec::new());
        for file in &self.brought {
            match (self.read(file), file.kind) {
                (Ok((_, fingerprint)), ProjectFileKind::Code) => {
                    trusted.code.insert(file.name.clone(), fingerprint);
                }
                (Ok((_, fingerprint)), ProjectFileKind::Words) => {
                    trusted.words.get_or_insert_default().extend(fingerprint);
                }
                (Err(why), _) => refused.push((file.name.clone(), why)),
            }
        }
        refused.extend(self.refused.iter().cloned());
        (trusted, refused)
    }

    /// Returns the words that differ from those that the user trusted.
    pub fn changed_words(&self, trusted: &FolderTrust) -> Vec<String> {
        let Some(known) = &trusted.words else { return Vec::new() };
        // Commands that changed are not loaded, and that is told.
        let is_words = |file: &&ProjectFile| file.kind == ProjectFileKind::Words && !is_command(&file.name);
        let now = self.brought.iter().filter(is_words).filter_map(|file| Some(self.read(file).ok()?.1));
        let now: Fingerprint = now.flatten().collect();
        now.into_iter().filter(|(name, hash)| known.get(name) != Some(hash)).map(|(name, _)| name).collect()
    }

    fn words(&self, file: &ProjectFile, known: &Fingerprint) -> TrustStatus {
        let is_bound = is_command(&file.name);
        if is_bound && !known.contains_key(&file.name) {
            return TrustStatus::New;
        }
        match self.read(file) {
            Ok((_, now)) if is_bound && now.get(&file.name) != known.get(&file.name) => {
                TrustStatus::Changed { files: vec![file.name.clone()], text: None }
            }
            Ok((text, _)) => TrustStatus::Trusted(text),
            Err(why) => TrustStatus::Refused(why),
        }
    }

    /// Reads a file once: its text, and the hashes of it and of what it names.
    fn read(&self, file: &ProjectFile) -> Result<(String, Fingerprint), String> {
        let (text, own) = self.read_text(file)?;
        let fingerprint = self.fingerprint(file, &text, own)?;
        Ok((text, fingerprint))
    }

    /// Reads a file: its text, and its hash.
    fn read_text(&self, file: &ProjectFile) -> Result<(String, String), String> {
        let opened = match open_beneath(self.root.as_fd(), file.name.as_str(), OFlags::RDONLY) {
            Ok(opened) => File::from(opened),
            Err(Errno::LOOP) if file.kind == ProjectFileKind::Words => self.open_behind_links(&file.name)?,
            Err(Errno::LOOP) => return Err("it is a link, or is behind one, and haft does not follow links".to_owned()),
            Err(errno) => return Err(format!("it cannot be read: {}", io::Error::from(errno))),
        };
        if !opened.metadata().is_ok_and(|facts| facts.is_file()) {
            return Err("it is not a regular file".to_owned());
        }
        let mut bytes = Vec::new();
        opened.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| format!("it cannot be read: {error}"))?;
        if bytes.len() as u64 > LARGEST {
            return Err("it is larger than 1 MiB".to_owned());
        }
        let own = blake3::hash(&bytes).to_hex().to_string();
        let text = String::from_utf8(bytes).map_err(|_| "it is not text in UTF-8".to_owned())?;
        Ok((text, own))
    }

    /// Returns the hashes of a file, which are known, and of what it names.
    fn fingerprint(&self, file: &ProjectFile, text: &str, own: String) -> Result<Fingerprint, String> {
        let mut fingerprint = Fingerprint::from([(file.name.clone(), own)]);
        if let Some(folder) = skill_folder(&file.name) {
            fingerprint.extend(skills::hashes(self, folder)?);
        } else if file.kind == ProjectFileKind::Code {
            let bound = runs::that_runs(&file.name, text);
            fingerprint.extend(named::hashes(self.root.as_fd(), &file.name, &bound)?);
            self.add_what_patterns_match(file, text, &mut fingerprint)?;
        }
        if file.name == TOOL_LIST {
            self.add_what_definitions_name(text, &mut fingerprint)?;
        }
        Ok(fingerprint)
    }

    /// A pattern of a hook's command is bound to the files that match it, and to which files these are.
    fn add_what_patterns_match(
        &self,
        file: &ProjectFile,
        text: &str,
        fingerprint: &mut Fingerprint,
    ) -> Result<(), String> {
        for pattern in HookNames::of(&file.name, text, &self.path).patterns {
            let found = patterns::matches(self.root.as_fd(), &pattern);
            fingerprint.extend(named::hashes_of(self.root.as_fd(), &found)?);
            fingerprint.insert(pattern, patterns::listing(&found));
        }
        Ok(())
    }

    /// Returns the names at the top of the workspace that decide what hooks do, beside those of scripts.
    fn names_that_decide(&self, file: &ProjectFile, text: &str) -> BTreeSet<String> {
        let names = HookNames::of(&file.name, text, &self.path);
        let matching = names.patterns.iter().flat_map(|pattern| patterns::matches(self.root.as_fd(), pattern));
        let matching: BTreeSet<String> = matching.collect();
        names.any.into_iter().chain(names.files).chain(names.patterns).chain(matching).collect()
    }

    /// Opens words where a link leads to in the end, or says why not.
    fn open_behind_links(&self, name: &str) -> Result<File, String> {
        let place = match leads_to(&self.path, name) {
            Ok(Some(place)) => place,
            Ok(None) => return Err("it is a link that leads out of the workspace".to_owned()),
            Err(_) => return Err("it is a link that leads nowhere".to_owned()),
        };
        if place.as_os_str().is_empty() {
            return Err("it is a link to the workspace itself".to_owned());
        }
        let shown = one_line(&place.display().to_string()).into_owned();
        if is_secret(&place) {
            return Err(format!("it is a link to {shown}, which may hold secrets"));
        }
        match open_beneath(self.root.as_fd(), &*place, OFlags::RDONLY) {
            Ok(opened) => Ok(File::from(opened)),
            Err(errno) => Err(format!("it is a link to {shown}, which cannot be read: {}", io::Error::from(errno))),
        }
    }

    /// A list names definitions, and these name what is run. What the list itself names may lie beside a definition.
    fn add_what_definitions_name(&self, list: &str, fingerprint: &mut Fingerprint) -> Result<(), String> {
        let definitions: Vec<String> =
            fingerprint.keys().filter(|name| *name != TOOL_LIST && is_definition(name)).cloned().collect();
        for name in definitions {
            let definition = ProjectFile { name: name.clone(), kind: ProjectFileKind::Code };
            let (_, named) = self.read(&definition).map_err(|why| format!("it names {name}, and {why}"))?;
            fingerprint.extend(named);
            fingerprint.extend(named::hashes(self.root.as_fd(), &name, list)?);
        }
        Ok(())
    }

    /// Known names are looked up one by one, so that no number of others can hide them.
    fn list(&mut self, folder: &OwnedFd) -> io::Result<()> {
        let is_there = |name: &&&str| is_no_folder(folder.as_fd(), name);
        let mut names: Vec<String> = FILES.iter().filter(is_there).map(|name| (*name).to_owned()).collect();
        for known in FOLDERS {
            let Some(below) = self.open_folder(&format!("{FOLDER}/{known}")) else { continue };
            let mut found = Vec::new();
            walk(&below, &format!("{known}/"), DEEPEST - 1, &mut found)?;
            if found.len() > MOST_NAMES {
                let why = format!("it holds more than {MOST_NAMES} files, so nothing in it is loaded");
                self.refused.push((format!("{FOLDER}/{known}"), why));
                continue;
            }
            names.append(&mut found);
        }
        names.sort();
        let brought = |kind| {
            let named = names.iter().filter(move |name| kind_of(name) == Some(kind));
            named.map(move |name| ProjectFile { name: format!("{FOLDER}/{name}"), kind })
        };
        self.brought = brought(ProjectFileKind::Code).chain(brought(ProjectFileKind::Words)).collect();
        Ok(())
    }

    /// Opens a folder; what is there and is none is noted with the reason.
    fn open_folder(&mut self, name: &str) -> Option<OwnedFd> {
        let why = match open_beneath(self.root.as_fd(), name, OFlags::DIRECTORY | OFlags::RDONLY) {
            Ok(folder) => return Some(folder),
            Err(Errno::NOENT) => return None,
            Err(Errno::LOOP) => "it is a link, which is not followed".to_owned(),
            Err(Errno::NOTDIR) => "it is not a folder".to_owned(),
            Err(errno) => format!("it cannot be read: {}", io::Error::from(errno)),
        };
        self.refused.push((name.to_owned(), why));
        None
    }
}

/// Says whether something exists that is no folder. A link counts: its reader reports why it is not followed.
fn is_no_folder(folder: BorrowedFd<'_>, name: &str) -> bool {
    let found = rustix::fs::statat(folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|facts| FileType::from_raw_mode(facts.st_mode) != FileType::Directory)
}

/// Says whether a file of this name is a command that a person sends to a model.
fn is_command(name: &str) -> bool {
    name.strip_prefix(FOLDER).is_some_and(|name| name.starts_with("/commands/"))
}

/// Says whether a file of this name describes a tool.
fn is_definition(name: &str) -> bool {
    name.ends_with(".yaml")
}

/// Says what a name in the folder is; what haft does not know is nothing to it.
fn kind_of(name: &str) -> Option<ProjectFileKind> {
    match name.split_once('/') {
        None if matches!(name, "config.toml" | "rules.toml" | "tools.yaml") => Some(ProjectFileKind::Code),
        None if name == "AGENTS.md" => Some(ProjectFileKind::Words),
        Some(("tools", name)) if is_definition(name) && !name.contains('/') => Some(ProjectFileKind::Code),
        Some(("dialects", name)) if name.ends_with(".toml") && !name.contains('/') => Some(ProjectFileKind::Code),
        Some(("commands" | "prompts", _)) => Some(ProjectFileKind::Words),
        _ => None,
    }
}

/// Collects the names of everything but folders, up to one more than the most.
fn walk(folder: &OwnedFd, above: &str, depth: usize, names: &mut Vec<String>) -> io::Result<()> {
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        // A name that is not text is none that haft knows.
        let Ok(name) = entry.file_name().to_str() else { continue };
        if matches!(name, "." | "..") || names.len() > MOST_NAMES {
            continue;
        }
        let path = format!("{above}{name}");
        match open_beneath(folder.as_fd(), name, OFlags::DIRECTORY | OFlags::RDONLY) {
            Ok(below) if depth > 0 => walk(&below, &format!("{path}/"), depth - 1, names)?,
            Ok(_) => {}
            Err(_) => names.push(path),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
