//! Checks before each run that the code of a project is still what the user trusted.
//!
//! A call may have changed a script since the code was loaded. So every caller that is about to run code of a project asks
//! here first. haft does not read files again that have not changed since the last comparison.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use haft_contract::doors::process::TrustedCode;
use rustix::fs::{AtFlags, Dir, FileType, OFlags};

use super::copy::{CodeReach, TrustedCopy};
use super::intact::{self, Intact};
use super::named::open;
use super::patterns::is_pattern;
use super::{
    Project, ProjectFile, ProjectFileKind, TrustStatus, environment, is_definition, is_no_folder, patterns,
    skill_folder,
};
use crate::files::read::open::open_beneath;
use crate::state::trust::FolderTrust;

/// Compares a file of trusted code with what the user trusted, before each use.
#[derive(Clone, Debug)]
pub struct TrustCheck {
    project: Arc<Project>,
    trusted: Arc<FolderTrust>,
    file: ProjectFile,
    /// How everything looked when it was compared the last time.
    compared: Arc<Mutex<Vec<CodeFileStamp>>>,
    /// The same of what the copy was taken of, and what differed.
    helpers: Arc<Mutex<ComparedHelpers>>,
    /// How the copy looked when it was found intact.
    intact: Arc<Mutex<Intact>>,
}

/// How the helpers looked when they were compared the last time, and those that differed.
#[derive(Debug, Default)]
struct ComparedHelpers {
    stamps: BTreeMap<String, CodeFileStamp>,
    changed: Vec<String>,
}

/// Files of a project that differ from the trusted copy that runs in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelpersChanged(pub Vec<String>);

impl fmt::Display for HelpersChanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named: Vec<&str> = self.0.iter().take(MOST_NAMED).map(String::as_str).collect();
        let more = self.0.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let verb = if self.0.len() == 1 { "differs" } else { "differ" };
        write!(f, "{}{more} {verb} from the trusted copy, and the copy runs", named.join(", "))
    }
}

/// How the files begin that describe tools.
const TOOLS: &str = ".haft/tools";
/// Most files that are named.
const MOST_NAMED: usize = 5;
/// Most files that are compared with a copy.
const MOST_COMPARED: usize = 5_000;
/// Most bytes of a file that are shown.
const LONGEST_TEXT: u64 = 1 << 20;

/// Inode, size, and when content and facts changed; nothing where nothing is.
type CodeFileStamp = Option<(u64, i64, [(i64, u64); 2])>;

impl TrustCheck {
    /// Holds a file of code, by its path from the root of the workspace, to what was trusted.
    pub fn new(project: Arc<Project>, trusted: Arc<FolderTrust>, name: &str) -> Self {
        let file = ProjectFile { name: name.to_owned(), kind: ProjectFileKind::Code };
        Self { project, trusted, file, compared: Arc::default(), helpers: Arc::default(), intact: Arc::default() }
    }

    /// Says whether trust in the file covers a definition that it names, with everything that this one names.
    pub fn covers_definition(&self, name: &str) -> bool {
        is_definition(name) && self.trusted.code.get(&self.file.name).is_some_and(|print| print.contains_key(name))
    }

    /// Fails where the file, or one of the workspace that it names, is not what was trusted any more; says which.
    pub fn still(&self) -> Result<(), String> {
        // What changes while it is compared looks different the next time.
        let now = self.look();
        let mut compared = self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        if *compared == now {
            return self.copy_stands();
        }
        match self.project.standing(&self.file, &self.trusted) {
            TrustStatus::Trusted(_) => {
                *compared = now;
                self.copy_stands()
            }
            TrustStatus::Changed { files, .. } => Err(format!("{} changed since it was trusted", files.join(", "))),
            TrustStatus::New => Err(format!("{} is not trusted", self.file.name)),
            TrustStatus::Refused(why) => Err(format!("{} can no longer be loaded: {why}", self.file.name)),
        }
    }

    /// Returns the copy that the code runs from, where it runs something of the project.
    pub fn code(&self) -> Option<TrustedCode> {
        let (copy, reach) = self.copied()?;
        let places: Vec<PathBuf> = reach.places.iter().map(PathBuf::from).collect();
        let workspace = self.project.path.canonicalize().unwrap_or_else(|_| self.project.path.clone());
        (!places.is_empty()).then(|| TrustedCode { folder: copy.folder.clone(), workspace, places })
    }

    /// Returns all files that trust in the file is bound to, by their full paths.
    pub fn bound_files(&self) -> Vec<PathBuf> {
        let named = self.trusted.code.get(&self.file.name).into_iter().flat_map(|print| print.keys());
        named.map(|name| self.project.path.join(name)).collect()
    }

    /// Returns which files differ from the copy; new ones in a folder that was copied as a whole are among them.
    pub fn helpers_changed(&self) -> Option<HelpersChanged> {
        let (_, reach) = self.copied()?;
        let mut now = BTreeMap::new();
        reach.places.iter().for_each(|place| self.stamps(place, &mut now));
        let mut known = self.helpers.lock().unwrap_or_else(PoisonError::into_inner);
        if known.stamps != now {
            let is_other =
                |name: &&String| self.hash_of(name).as_ref() != reach.files.get(*name).map(|file| &file.hash);
            let all: BTreeSet<&String> = reach.files.keys().chain(now.keys()).collect();
            known.changed = all.into_iter().filter(is_other).cloned().collect();
            known.stamps = now;
        }
        (!known.changed.is_empty()).then(|| HelpersChanged(known.changed.clone()))
    }

    /// Returns the same without those that no text of the code names, which most likely do not run.
    pub fn named_helpers_changed(&self) -> Option<HelpersChanged> {
        let (_, reach) = self.copied()?;
        let is_named = |name: &String| reach.files.contains_key(name) && !reach.beside.contains(name);
        let names: Vec<String> = self.helpers_changed()?.0.into_iter().filter(is_named).collect();
        (!names.is_empty()).then_some(HelpersChanged(names))
    }

    /// Returns each file that differs from the copy, with its text in the copy and in the project; empty where it is missing.
    pub fn helper_texts(&self) -> Vec<(String, String, String)> {
        let Some((copy, _)) = self.copied() else { return Vec::new() };
        let changed = self.helpers_changed().map_or_else(Vec::new, |changed| changed.0);
        let texts = |name: String| {
            let then = text_of(File::open(copy.folder.join(&name)).ok());
            let now = open_beneath(self.project.root.as_fd(), name.as_str(), OFlags::RDONLY);
            let now = text_of(now.ok().map(File::from));
            (name, then, now)
        };
        changed.into_iter().map(texts).collect()
    }

    fn copied(&self) -> Option<(&TrustedCopy, &CodeReach)> {
        let copy = self.trusted.copy.as_ref()?;
        Some((copy, copy.reaches.get(&self.file.name)?))
    }

    /// Fails where something in the copy is not what was copied.
    fn copy_is_intact(&self, copy: &TrustedCopy) -> Result<(), String> {
        if copy.id.is_none() {
            return Ok(());
        }
        let hashes = copy.files().into_iter().map(|(name, file)| (name, file.hash.as_str())).collect();
        let mut known = self.intact.lock().unwrap_or_else(PoisonError::into_inner);
        intact::check(&copy.folder, &hashes, &mut known)
            .map_err(|why| format!("the trusted copy was changed ({why}); run \"haft trust\""))
    }

    /// Fails where the copy is gone or was changed, or cannot be shown in the place of the project's files.
    fn copy_stands(&self) -> Result<(), String> {
        let Some((copy, reach)) = self.copied() else { return Ok(()) };
        for place in &reach.places {
            let Ok(kept) = copy.folder.join(place).symlink_metadata() else {
                return Err(format!("the trusted copy of {place} is gone"));
            };
            let there = rustix::fs::statat(self.project.root.as_fd(), place.as_str(), AtFlags::SYMLINK_NOFOLLOW);
            let kind = there.ok().map(|facts| FileType::from_raw_mode(facts.st_mode));
            let expected = if kept.is_dir() { FileType::Directory } else { FileType::RegularFile };
            if kind != Some(expected) {
                return Err(format!("{place} was removed or replaced since it was trusted"));
            }
        }
        self.copy_is_intact(copy)?;
        if let Some(path) = self.appeared(reach) {
            return Err(format!(
                "{path} did not exist when this project was trusted, and {} would load it",
                self.file.name
            ));
        }
        // Hooks find their interpreter as commands do.
        let is_of_tools = self.file.name.starts_with(TOOLS) || skill_folder(&self.file.name).is_some();
        if is_of_tools && environment::of(self.project.root.as_fd(), &self.file.name) != reach.environment {
            return Err("the virtual environment of the project changed since it was trusted".to_owned());
        }
        let is_other = |(link, hash): &(&String, &String)| {
            let opened = open(self.project.root.as_fd(), link).ok();
            opened.and_then(hash_of).as_ref() != Some(*hash)
        };
        match reach.links.iter().find(is_other) {
            // What lies behind a link is shown from the copy; where the link leads is not.
            Some((link, _)) => Err(format!("{link} changed since it was trusted")),
            None => Ok(()),
        }
    }

    /// Returns a file that the code would load and that did not exist when it was trusted.
    fn appeared(&self, reach: &CodeReach) -> Option<String> {
        let exists =
            |path: &str| rustix::fs::statat(self.project.root.as_fd(), path, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        if let Some(path) = reach.absent.iter().find(|path| exists(path)) {
            return Some(path.clone());
        }
        let root = self.project.root.as_fd();
        if let Some(path) = reach.absent_files.iter().find(|path| is_no_folder(root, path)) {
            return Some(path.clone());
        }
        let is_copied = |path: &String| reach.places.iter().any(|place| Path::new(path).starts_with(place));
        for (pattern, known) in &reach.patterns {
            let now = patterns::matches(root, pattern);
            if let Some(path) = now.into_iter().find(|path| !known.contains(path) && !is_copied(path)) {
                return Some(path);
            }
        }
        let flags = OFlags::DIRECTORY | OFlags::RDONLY;
        for (folder, modules) in &reach.absent_modules {
            let place = if folder.is_empty() { "." } else { folder };
            let opened = open_beneath(self.project.root.as_fd(), place, flags);
            let Ok(entries) = opened.and_then(|opened| Dir::read_from(&opened)) else { continue };
            for entry in entries.flatten() {
                let Ok(name) = entry.file_name().to_str() else { continue };
                if module_of(name).is_some_and(|module| modules.contains(module)) {
                    return Some(if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") });
                }
            }
        }
        None
    }

    /// Looks at every file below a place.
    fn stamps(&self, place: &str, stamps: &mut BTreeMap<String, CodeFileStamp>) {
        let folder = open_beneath(self.project.root.as_fd(), place, OFlags::DIRECTORY | OFlags::RDONLY);
        let Ok(entries) = folder.and_then(|folder| Dir::read_from(&folder)) else {
            stamps.insert(place.to_owned(), self.stamp(place));
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !matches!(name.as_str(), "." | ".." | "__pycache__") && stamps.len() < MOST_COMPARED {
                self.stamps(&format!("{place}/{name}"), stamps);
            }
        }
    }

    fn hash_of(&self, name: &str) -> Option<String> {
        hash_of(open_beneath(self.project.root.as_fd(), name, OFlags::RDONLY).ok()?)
    }

    /// Looks at all files, and at their folders: a file that comes may stand in for one of them.
    fn look(&self) -> Vec<CodeFileStamp> {
        let named = self.trusted.code.get(&self.file.name).into_iter().flat_map(|print| print.keys());
        let mut places: BTreeSet<String> = BTreeSet::new();
        for name in named.chain([&self.file.name]) {
            if is_pattern(name) {
                places.extend(patterns::folders(self.project.root.as_fd(), name));
            }
            places.extend([name.as_str(), name.rsplit_once('/').map_or(".", |(folder, _)| folder)].map(str::to_owned));
        }
        places.iter().map(|place| self.stamp(place)).collect()
    }

    fn stamp(&self, place: &str) -> CodeFileStamp {
        let facts = rustix::fs::statat(self.project.root.as_fd(), place, AtFlags::empty()).ok()?;
        let changed = [(facts.st_mtime, facts.st_mtime_nsec), (facts.st_ctime, facts.st_ctime_nsec)];
        Some((facts.st_ino, facts.st_size, changed))
    }
}

/// The module that Python loads from a file or folder of this name.
pub(super) fn module_of(name: &str) -> Option<&str> {
    match name.split_once('.') {
        None => Some(name),
        Some((module, end)) => (matches!(end, "py" | "pyc") || end.ends_with("so")).then_some(module),
    }
}

/// The hash of a file; nothing where it is none.
fn hash_of(file: OwnedFd) -> Option<String> {
    let file = File::from(file);
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file).ok()?;
    Some(hasher.finalize().to_hex().to_string())
}

/// The beginning of a file as text; nothing where there is none.
fn text_of(file: Option<File>) -> String {
    let mut bytes = Vec::new();
    let file = file.filter(|file| file.metadata().is_ok_and(|facts| facts.is_file()));
    let _ = file.map(|file| file.take(LONGEST_TEXT).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}
