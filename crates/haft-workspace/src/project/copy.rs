//! Copies everything that trusted code of a project can run, when the user trusts it.
//!
//! Trusted code runs from this copy, not from the project: later changes of a helper do not affect what runs. haft names the
//! copy after its content, writes it aside and renames it into place: the copy is whole, or does not exist. It is in haft's
//! state, where no command sees it.
//!
//! Not here: which files belong to it (`reach`), showing it to commands (`haft-sandbox`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::reach::{ReachableCode, ReachableFile, reach};
use super::{Fingerprint, Project, ProjectFile, ProjectFileKind, environment, intact, runs};
use crate::state::own_files::private;
use crate::state::own_files::private::ScratchFolder;
use crate::state::trust::FolderTrust;

/// The folder of all copies in haft's state.
const COPIES: &str = "trusted-code";
/// Most bytes of a copy; they are in memory while it is made.
const MOST_BYTES: u64 = 256 << 20;
/// How long a copy is kept that nothing is trusted with: a session may still run from it.
const UNUSED: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A copy of the code of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedCopy {
    /// Its name, which its content decides; nothing where there is nothing to copy.
    #[serde(default)]
    pub id: Option<String>,
    /// For each file of code what of the copy it can run.
    #[serde(default)]
    pub reaches: BTreeMap<String, CodeReach>,
    /// Where it is. The code that reads the record fills this in.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// What one file of code can run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeReach {
    /// The folders and files that are shown in the place of the project's own.
    pub places: Vec<String>,
    /// All files with their hashes and sizes.
    pub files: BTreeMap<String, CopiedFile>,
    /// Files that no text names: they were copied with their folder.
    #[serde(default)]
    pub beside: BTreeSet<String>,
    /// Links by which some were found, with the hash of what they lead to.
    #[serde(default)]
    pub links: Fingerprint,
    /// What is not in the copy although it may run, each with the reason.
    #[serde(default)]
    pub left_out: Vec<(String, String)>,
    /// Files and folders that the code loads and that did not exist: once one does, the code does not run.
    #[serde(default)]
    pub absent: BTreeSet<String>,
    /// Names that decide what a hook does if a file has them: once one has, the hook does not run.
    #[serde(default)]
    pub absent_files: BTreeSet<String>,
    /// Patterns of files that the code loads, each with what matched it: once another file does, the code does not run.
    #[serde(default)]
    pub patterns: BTreeMap<String, BTreeSet<String>>,
    /// Modules of Python that the code loads and that did not exist, by the folders in which they would be found.
    #[serde(default)]
    pub absent_modules: BTreeMap<String, BTreeSet<String>>,
    /// What runs and the copy cannot cover, in words.
    #[serde(default)]
    pub not_covered: BTreeSet<String>,
    /// The virtual environment that its Python tools run in, as a hash.
    #[serde(default)]
    pub environment: String,
}

/// A file of a copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CopiedFile {
    /// The hash of its content.
    pub hash: String,
    /// Its size in bytes.
    pub size: u64,
}

impl TrustedCopy {
    /// Returns all files of the copy.
    pub fn files(&self) -> BTreeMap<&str, &CopiedFile> {
        let files = self.reaches.values().flat_map(|reach| &reach.files);
        files.map(|(name, file)| (name.as_str(), file)).collect()
    }
}

/// Returns where the copy of this name lies in haft's state.
pub(crate) fn folder_of(state: &Path, id: &str) -> PathBuf {
    state.join(COPIES).join(id)
}

impl Project {
    /// Takes a copy of what trusted code can run, and notes it with what is trusted. Files that are not what trust was
    /// bound to a moment ago are an error.
    pub(crate) fn copy_code(&self, trusted: &mut FolderTrust, state: &Path) -> io::Result<()> {
        let mut copy = TrustedCopy::default();
        let mut files: BTreeMap<String, ReachableFile> = BTreeMap::new();
        for (name, fingerprint) in &trusted.code {
            let file = ProjectFile { name: name.clone(), kind: ProjectFileKind::Code };
            let (text, _) = self.read(&file).map_err(|why| io::Error::other(format!("{name}: {why}")))?;
            let bound = runs::that_runs(name, &text);
            let named = fingerprint.keys().filter(|named| *named != name);
            let found = reach(self, (name, &bound), named);
            let is_same = |(path, file): (&String, &ReachableFile)| {
                fingerprint.get(path).is_none_or(|hash| *hash == blake3::hash(&file.bytes).to_hex().as_str())
            };
            if !found.files.iter().all(is_same) {
                return Err(io::Error::other(format!("a file that {name} names changed meanwhile; trust it again")));
            }
            let environment = environment::of(self.root.as_fd(), name);
            copy.reaches.insert(name.clone(), CodeReach { environment, ..CodeReach::of(&found) });
            files.extend(found.files);
            if files.values().map(|file| file.bytes.len() as u64).sum::<u64>() > MOST_BYTES {
                return Err(io::Error::other("the copy would be larger than 256 MiB; remove tools or skills"));
            }
        }
        if !files.is_empty() {
            let id = name_of(&files);
            copy.folder = folder_of(state, &id);
            write(&files, &copy.folder)?;
            copy.id = Some(id);
        }
        trusted.copy = Some(copy);
        Ok(())
    }
}

impl CodeReach {
    fn of(reach: &ReachableCode) -> Self {
        let copied = |(name, file): (&String, &ReachableFile)| {
            let hash = blake3::hash(&file.bytes).to_hex().to_string();
            (name.clone(), CopiedFile { hash, size: file.bytes.len() as u64 })
        };
        Self {
            places: reach.places(),
            files: reach.files.iter().map(copied).collect(),
            beside: reach.beside.clone(),
            links: reach.links.clone(),
            left_out: reach.left_out.clone(),
            absent: reach.absent.clone(),
            absent_files: reach.absent_files.clone(),
            patterns: reach.patterns.clone(),
            absent_modules: reach.absent_modules.clone(),
            not_covered: reach.not_covered.clone(),
            environment: String::new(),
        }
    }
}

/// The name of a copy with this content.
fn name_of(files: &BTreeMap<String, ReachableFile>) -> String {
    let mut hasher = blake3::Hasher::new();
    for (name, file) in files {
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        hasher.update(&[u8::from(file.is_program)]).update(blake3::hash(&file.bytes).as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Writes a copy aside, then gives it its name. An intact copy of that name stays; a changed one is written again.
fn write(files: &BTreeMap<String, ReachableFile>, folder: &Path) -> io::Result<()> {
    if folder.symlink_metadata().is_ok() {
        let hash = |file: &ReachableFile| blake3::hash(&file.bytes).to_hex().to_string();
        let hashes: Vec<(&str, String)> = files.iter().map(|(name, file)| (name.as_str(), hash(file))).collect();
        let hashes = hashes.iter().map(|(name, hash)| (*name, hash.as_str())).collect();
        if intact::check(folder, &hashes, &mut intact::Intact::new()).is_ok() {
            return File::open(folder)?.set_modified(SystemTime::now());
        }
        discard(folder)?;
    }
    let copies = folder.parent().unwrap_or(Path::new("."));
    private::create_folder(copies)?;
    // Root runs commands as the owner of the workspace, who must be able to read it there; the folder above is shut.
    let (read, run) = if rustix::process::geteuid().is_root() { (0o644, 0o755) } else { (0o600, 0o700) };
    let aside = ScratchFolder::beneath(copies)?;
    set_mode(aside.path(), run)?;
    for (name, file) in files {
        let path = aside.path().join(name);
        let mut above = aside.path().to_owned();
        for part in Path::new(name).parent().into_iter().flat_map(Path::components) {
            above.push(part);
            match std::fs::create_dir(&above) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => made.and_then(|()| set_mode(&above, run))?,
            }
        }
        let mode = if file.is_program { run } else { read };
        let mut new = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?;
        new.write_all(&file.bytes)?;
        set_mode(&path, mode)?;
        new.set_modified(unknown_time())?;
        new.sync_all()?;
    }
    match std::fs::rename(aside.path(), folder) {
        // Another process has taken the same copy meanwhile.
        Err(_) if private::is_folder(folder) => Ok(()),
        renamed => renamed.and_then(|()| File::open(copies)?.sync_all()),
    }
}

/// Removes a changed copy, whatever is in its place.
fn discard(folder: &Path) -> io::Result<()> {
    if folder.symlink_metadata()?.is_dir() { std::fs::remove_dir_all(folder) } else { std::fs::remove_file(folder) }
}

/// Removes copies that no trust refers to and that were not taken for a while, and remains of killed processes.
pub(crate) fn prune(state: &Path, used: &BTreeSet<&str>) {
    let Ok(entries) = std::fs::read_dir(state.join(COPIES)) else { return };
    for entry in entries.flatten() {
        let is_used = entry.file_name().to_str().is_some_and(|name| used.contains(name));
        let age = entry.metadata().and_then(|facts| facts.modified()).ok().and_then(|time| time.elapsed().ok());
        if !is_used && age.is_some_and(|age| age > UNUSED) {
            // What cannot be removed is tried again the next time.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// An unpredictable time. Python accepts compiled code beside a module if its size and time match.
fn unknown_time() -> SystemTime {
    let random = uuid::Uuid::now_v7().as_u128() as u32;
    SystemTime::UNIX_EPOCH + Duration::from_secs(u64::from(random >> 2))
}

fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}
