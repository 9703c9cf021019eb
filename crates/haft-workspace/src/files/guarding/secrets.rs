//! Finds the files of the workspace that are secret by their names.
//!
//! It reads only folders and files whose stamps changed: a second look costs one call to the kernel for each folder. In
//! folders that package managers and compilers fill, it reads the nearest ones (`built`).
//!
//! Not here: which texts in them are secret, and hiding those (`haft-runtime`).

mod built;
mod tracked;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use haft_contract::doors::door::{Breadth, SecretFile, SecretLook};
use haft_contract::files::guarded::{
    SecretKind, is_secret, may_hold_guarded, may_hold_secrets, protected, secret_kind,
};
use haft_contract::files::path::{Extent, FileLocation, RawPath, Target};
use haft_contract::files::search::{DotfilePolicy, IgnorePolicy};
use haft_contract::files::stamp::FileStamp;
use rustix::fs::{FileType, OFlags};
use tokio_util::sync::CancellationToken;

use super::git_stores::GitStores;
use crate::files::change::copy;
use crate::files::read::facts::{stamp, stamp_of};
use crate::files::read::folder::{FolderNameList, is_made_up, stat_name};
use crate::files::read::locate::locate;
use crate::files::read::names::{Letters, NameGlobs};
use crate::files::read::open::WorkspaceRoot;
use crate::files::searching::walk::{TreeWalk, WalkOptions};
use crate::history::earlier_secrets::earlier_secrets;
use crate::state::journal::Journal;
use built::BuiltFolders;

/// Most folders that are looked at.
const MOST_FOLDERS: usize = 50_000;
/// Most files that are read.
const MOST_FILES: usize = 2_000;
/// Largest file that is read, in bytes.
const LARGEST: u64 = 1024 * 1024;
/// Deepest folder that is entered.
const DEEPEST: usize = 64;

/// What earlier looks found.
#[derive(Debug, Default)]
pub(in crate::files) struct SecretFiles {
    known: Mutex<SecretFileIndex>,
}

/// The index of folders, files and names that earlier looks found.
#[derive(Debug, Default)]
struct SecretFileIndex {
    folders: HashMap<PathBuf, Arc<Folder>>,
    files: HashMap<PathBuf, FileStamp>,
    names: FolderNameList,
    git: GitStores,
    built: BuiltFolders,
    /// Secret files in folders that programs fill, as the last look found them.
    built_secrets: Vec<PathBuf>,
    /// The journal, which knows of earlier.
    journal: Option<Journal>,
    /// Where an earlier process found secret files; nothing before the journal was asked.
    remembered: Option<Vec<PathBuf>>,
}

/// What matters of a folder.
#[derive(Clone, Debug)]
struct Folder {
    stamp: FileStamp,
    folders: Vec<PathBuf>,
    secrets: Vec<PathBuf>,
    has_git: bool,
    /// Whether it looks like git's own folder.
    is_bare: bool,
    /// Folders that programs fill: those in it, or itself.
    built: Vec<PathBuf>,
    /// Links whose names are protected, or give protected names their meaning.
    links: Vec<PathBuf>,
}

/// What leads to files elsewhere in the workspace.
#[derive(Debug, Default)]
pub(in crate::files) struct Signs {
    /// Links whose names are protected, or give protected names their meaning.
    pub(in crate::files) links: Vec<PathBuf>,
    /// Folders that have a repository.
    pub(in crate::files) repositories: Vec<PathBuf>,
}

impl SecretFiles {
    /// Knows of secret files that were changed earlier, too. What is in the folders stays known; the next look finds the
    /// content of all files new.
    pub(in crate::files) fn know_earlier(&self, journal: Journal) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let SecretFileIndex { folders, names, .. } = std::mem::take(&mut *known);
        *known = SecretFileIndex { folders, names, journal: Some(journal), ..SecretFileIndex::default() };
    }

    /// Looks again.
    pub(in crate::files) fn look(&self, root: &WorkspaceRoot, breadth: Breadth) -> SecretLook {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut look = SecretLook { changed: Vec::new(), stores: Vec::new(), is_whole: true };
        let mut repositories = Vec::new();
        let breadth = known.remember(root, breadth, (&mut look, &mut repositories));
        let (mut found, mut built) = (Vec::new(), Vec::new());
        look.is_whole = known.walk(root, breadth, &mut |place, folder| {
            if folder.has_git || folder.is_bare {
                repositories.push(root.path().join(place));
            }
            found.extend_from_slice(&folder.secrets);
            built.extend_from_slice(&folder.built);
        });
        if breadth == Breadth::Whole {
            let SecretFileIndex { built: folders, built_secrets, .. } = &mut *known;
            *built_secrets = folders.look(root, built);
            found.extend(built_secrets.iter().cloned());
        }
        for secret in &found {
            known.read(root, secret, &mut look);
        }
        let (stores, settings) = known.git.look(&repositories);
        look.stores = stores;
        look.changed.extend(settings);
        if breadth == Breadth::Whole {
            known.note_places();
        }
        look
    }

    /// Returns what leads to files elsewhere.
    pub(in crate::files) fn signs(&self, root: &WorkspaceRoot) -> Signs {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut signs = Signs::default();
        known.walk(root, Breadth::Whole, &mut |place, folder| {
            signs.links.extend_from_slice(&folder.links);
            if folder.has_git {
                signs.repositories.push(place.to_owned());
            }
        });
        signs
    }
}

impl SecretFiles {
    /// Returns the places of all secret files, as they are now; those that links lead to by their own.
    pub(in crate::files) fn places(&self, root: &WorkspaceRoot) -> Vec<PathBuf> {
        let names = self.names(root);
        let led = names.iter().filter_map(|place| Some(led_to(root, place)?.0.place().path().to_owned()));
        let places: BTreeSet<PathBuf> = led.collect();
        places.into_iter().collect()
    }

    /// Returns the names under which secret files are found, in order.
    pub(in crate::files) fn names(&self, root: &WorkspaceRoot) -> Vec<PathBuf> {
        self.look(root, Breadth::Whole);
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let secrets = known.folders.values().flat_map(|folder| &folder.secrets).filter(|place| !is_source(place));
        let mut names: Vec<PathBuf> = secrets.filter(|place| led_to(root, place).is_some()).cloned().collect();
        names.sort();
        names
    }
}

impl SecretFiles {
    /// Returns the folders that the last look has seen.
    pub(in crate::files) fn folders(&self) -> Vec<PathBuf> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.folders.keys().cloned().collect()
    }
}

/// How a program reads the files below a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FolderReader {
    /// All of them.
    Everything,
    /// Those that git does not ignore.
    NotIgnored,
    /// Those that git does not ignore and whose names do not begin with a dot.
    NotIgnoredOrHidden,
    /// Those that git knows.
    Git,
}

impl SecretFiles {
    /// Returns the secret files that a program reads below a folder.
    pub(in crate::files) fn read_by(&self, root: &WorkspaceRoot, folder: &Path, reader: FolderReader) -> Vec<PathBuf> {
        let mut places = self.names(root);
        places.extend(self.other_names(root, &places));
        places.sort();
        if reader == FolderReader::Git {
            let tracked = self.tracked(root);
            places.retain(|place| tracked.iter().any(|paths| paths.may_have(place)));
            // Git also shows what is missing in the workspace, and what lies beside it in the same repository.
            places.extend(tracked.into_iter().flat_map(|paths| paths.secrets));
            places.sort();
            places.dedup();
        }
        places.retain(|place| place.starts_with(folder));
        let hidden = match reader {
            _ if places.is_empty() => return places,
            FolderReader::Everything | FolderReader::Git => return places,
            FolderReader::NotIgnored => DotfilePolicy::Show,
            FolderReader::NotIgnoredOrHidden => DotfilePolicy::Skip,
        };
        let met = met(root, folder, (hidden, &places));
        places.retain(|place| met.as_ref().is_none_or(|met| met.contains(place)) || is_under_own_rules(root, place));
        places
    }
}

/// Returns whether a file that only one search program reads decides about a place. It may take back what git ignores.
fn is_under_own_rules(root: &WorkspaceRoot, place: &Path) -> bool {
    const OWN_RULES: [&str; 4] = [".rgignore", ".agignore", ".fdignore", ".ackrc"];
    let has = |folder: &Path, name: &str| root.open_place(&folder.join(name), OFlags::PATH | OFlags::NOFOLLOW).is_ok();
    place.ancestors().skip(1).any(|folder| OWN_RULES.iter().any(|name| has(folder, name)))
}

/// Returns the secret files that a walk meets.
fn met(root: &WorkspaceRoot, folder: &Path, (hidden, wanted): (DotfilePolicy, &[PathBuf])) -> Option<HashSet<PathBuf>> {
    let target = Target::Inside(FileLocation::new(folder, Extent::Tree));
    let exclude = NameGlobs::new(&[], ("exclude", Letters::Exact)).ok()?;
    let (wanted_names, usual_excludes) = (exclude.clone(), exclude.clone());
    let (depth, ignored, only) = (DEEPEST, IgnorePolicy::Skip, Vec::new());
    let options = WalkOptions { depth, hidden, ignored, exclude, usual_excludes, only, wanted: wanted_names };
    let stop = CancellationToken::new();
    let mut walk = TreeWalk::new(root, &target, options, &stop).ok()?;
    let mut met = HashSet::new();
    while walk.advance().is_some() {
        let path = Path::new(OsStr::from_bytes(walk.path()));
        if wanted.binary_search_by(|place| place.as_path().cmp(path)).is_ok() {
            met.insert(path.to_owned());
        }
    }
    Some(met)
}

impl SecretFileIndex {
    /// Reads what earlier processes knew: secret files that were changed since, and those that they found deeper down. Where
    /// none has looked yet, everything is looked at.
    fn remember(
        &mut self,
        root: &WorkspaceRoot,
        breadth: Breadth,
        (look, repositories): (&mut SecretLook, &mut Vec<PathBuf>),
    ) -> Breadth {
        let Some(journal) = &self.journal else { return breadth };
        let places = match self.remembered.take() {
            Some(places) => places,
            None => {
                look.changed = earlier_secrets(root, journal);
                let Some(places) = journal.secret_places() else {
                    self.remembered = Some(Vec::new());
                    return Breadth::Whole;
                };
                places
            }
        };
        if breadth == Breadth::FirstLevel {
            places.iter().filter(|place| secret_kind(place).is_some()).for_each(|place| self.read(root, place, look));
            let git = places.iter().filter(|place| place.file_name().is_some_and(|name| name == ".git"));
            repositories.extend(git.filter_map(|place| Some(root.path().join(place.parent()?))));
        }
        self.remembered = Some(places);
        breadth
    }

    /// Leaves word for later processes of where secret files and repositories are.
    fn note_places(&mut self) {
        let Some(journal) = &self.journal else { return };
        let mut places: Vec<PathBuf> = self.folders.values().flat_map(|folder| folder.secrets.clone()).collect();
        places.extend(self.built_secrets.iter().cloned());
        let is_repository = |folder: &Folder| folder.has_git || folder.is_bare;
        let repositories = self.folders.iter().filter(|(_, folder)| is_repository(folder));
        places.extend(repositories.map(|(place, _)| place.join(".git")));
        places.sort();
        let is_known =
            self.remembered.as_ref().is_some_and(|known| *known == places) && journal.secret_places().is_some();
        // Without it the next process looks at everything.
        if !is_known && journal.remember_secret_places(&places).is_ok() {
            self.remembered = Some(places);
        }
    }

    /// Goes through all folders; returns whether those were all.
    fn walk(&mut self, root: &WorkspaceRoot, breadth: Breadth, visit: &mut dyn FnMut(&Path, &Folder)) -> bool {
        let tops = root.folders().into_iter().map(|(path, opened)| {
            let place = if path == root.path() { Path::new("") } else { root.place_of(path).unwrap_or(path) };
            (place.to_owned(), 0, Some(opened))
        });
        let mut waiting: Vec<(PathBuf, usize, Option<&OwnedFd>)> = tops.collect();
        let (mut folders, mut is_whole) = (0, true);
        while let Some((place, depth, opened)) = waiting.pop() {
            folders += 1;
            if folders > MOST_FOLDERS {
                return false;
            }
            let Some(folder) = self.folder(root, &place, opened) else { continue };
            visit(&place, &folder);
            if breadth == Breadth::Whole && depth < DEEPEST {
                waiting.extend(folder.folders.iter().map(|place| (place.clone(), depth + 1, None)));
            } else if breadth == Breadth::Whole && !folder.folders.is_empty() {
                is_whole = false;
            }
        }
        is_whole
    }

    /// Returns what is in a folder, as it was seen last where it has not changed since.
    fn folder(&mut self, root: &WorkspaceRoot, place: &Path, opened: Option<&OwnedFd>) -> Option<Arc<Folder>> {
        let seen = self.folders.get(place);
        let (stat, readable) = look_at(root, place, (opened, seen))?;
        let stamp = stamp_of(&stat);
        if let Some(seen) = seen.filter(|seen| seen.stamp == stamp) {
            return Some(seen.clone());
        }
        let opened = match readable {
            Some(opened) => opened,
            None => open_to_read(root, place)?,
        };
        let (folders, secrets, links) = Default::default();
        let mut folder = Folder { stamp, folders, secrets, has_git: false, is_bare: false, built: Vec::new(), links };
        let mut parts_of_git = 0;
        let is_read = !is_made_up(&opened) && self.names.read(&opened).is_ok();
        // In some folders everything is secret, whatever its name.
        let is_all_secret = is_secret(&place.join("x"));
        for index in 0.. {
            let Some((name, kind)) = self.names.at(index).filter(|_| is_read) else { break };
            if is_mark_of_generated(name) {
                (folder.folders, folder.secrets, folder.links) = Default::default();
                folder.built = vec![place.to_owned()];
                break;
            }
            let kind = match kind {
                FileType::Unknown => {
                    stat_name(&opened, name).map_or(kind, |stat| FileType::from_raw_mode(stat.st_mode))
                }
                kind => kind,
            };
            folder.has_git |= name == b".git";
            parts_of_git += usize::from([&b"HEAD"[..], b"objects", b"refs"].contains(&name));
            if kind == FileType::Symlink {
                let link = place.join(OsStr::from_bytes(name));
                folder.links.extend((protected(&link).is_some() || may_hold_guarded(&link)).then_some(link));
            }
            let is_candidate = || is_all_secret || may_hold_secrets(OsStr::from_bytes(name));
            match kind {
                FileType::Directory if !is_passed_by(name) => {
                    folder.folders.push(place.join(OsStr::from_bytes(name)));
                }
                FileType::Directory if name != b".git" => folder.built.push(place.join(OsStr::from_bytes(name))),
                FileType::Symlink if !is_candidate() && leads_to_secret(root, &place.join(OsStr::from_bytes(name))) => {
                    folder.secrets.push(place.join(OsStr::from_bytes(name)));
                }
                FileType::RegularFile | FileType::Symlink if is_candidate() && !is_history(name) => {
                    let secret = place.join(OsStr::from_bytes(name));
                    folder.secrets.extend(secret_kind(&secret).is_some().then_some(secret));
                }
                _ => {}
            }
        }
        folder.is_bare = parts_of_git == 3;
        let folder = Arc::new(folder);
        self.folders.insert(place.to_owned(), Arc::clone(&folder));
        Some(folder)
    }

    /// Reads a file, where it is new or changed.
    fn read(&mut self, root: &WorkspaceRoot, place: &Path, look: &mut SecretLook) {
        let Some((target, stamp)) = led_to(root, place) else { return };
        if self.files.get(place) == Some(&stamp) {
            return;
        }
        if self.files.len() >= MOST_FILES && !self.files.contains_key(place) {
            look.is_whole = false;
            return;
        }
        let Ok(copy) = copy::copy(root, &target, LARGEST) else {
            look.is_whole &= stamp.size <= LARGEST;
            return;
        };
        self.files.insert(place.to_owned(), copy.version.stamp);
        look.changed.push(SecretFile::of(place.display().to_string(), &copy.bytes));
    }
}

fn open_to_read(root: &WorkspaceRoot, place: &Path) -> Option<OwnedFd> {
    root.open_place(place, OFlags::RDONLY | OFlags::DIRECTORY).ok()
}

/// Returns the facts of a folder. One that is new is opened only once, to be read.
fn look_at(
    root: &WorkspaceRoot,
    place: &Path,
    (opened, seen): (Option<&OwnedFd>, Option<&Arc<Folder>>),
) -> Option<(rustix::fs::Stat, Option<OwnedFd>)> {
    match opened {
        Some(opened) => Some((rustix::fs::fstat(opened).ok()?, None)),
        None if seen.is_none() => {
            let opened = open_to_read(root, place)?;
            Some((rustix::fs::fstat(&opened).ok()?, Some(opened)))
        }
        None => {
            let opened = root.open_place(place, OFlags::PATH | OFlags::DIRECTORY).ok()?;
            Some((rustix::fs::fstat(opened).ok()?, None))
        }
    }
}

/// Returns what a name leads to inside: itself, or what a link names, whose own name may say nothing.
fn led_to(root: &WorkspaceRoot, place: &Path) -> Option<(Target, FileStamp)> {
    let own = Target::Inside(FileLocation::new(place, Extent::Entry));
    let target = match root.open_target(&own, OFlags::PATH) {
        Ok(_) => own,
        // It is a link.
        Err(_) => locate(root, &RawPath::new(place.to_str()?), Extent::Entry).ok()?,
    };
    stamp(root, &target).map(|stamp| (target, stamp))
}

/// Returns whether a file is code that has secrets in it: that is read like any other.
fn is_source(place: &Path) -> bool {
    secret_kind(place) == Some(SecretKind::Source)
}

/// Returns whether a link leads to a secret file inside, whatever its own name.
fn leads_to_secret(root: &WorkspaceRoot, place: &Path) -> bool {
    led_to(root, place).is_some_and(|(target, _)| {
        let is_file = root.open_target(&target, OFlags::PATH | OFlags::DIRECTORY).is_err();
        target.is_inside() && is_file && is_secret(target.place().path())
    })
}

/// Folders whose content comes from elsewhere, or is git's own.
fn is_passed_by(name: &[u8]) -> bool {
    name == b".git" || name == b"node_modules"
}

/// Names that say that a folder was generated.
fn is_mark_of_generated(name: &[u8]) -> bool {
    name == b"CACHEDIR.TAG" || name == b"pyvenv.cfg"
}

/// Histories of programs: secret as a whole, but made of ordinary words.
fn is_history(name: &[u8]) -> bool {
    name.ends_with(b"_history") || name == b".lesshst"
}

#[cfg(test)]
mod tests {
    use super::*;

    struct SecretFilesFixture {
        folder: tempfile::TempDir,
        root: WorkspaceRoot,
        files: SecretFiles,
    }

    impl SecretFilesFixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("there is room");
            let root = WorkspaceRoot::open(folder.path()).expect("it is there");
            Self { folder, root, files: SecretFiles::default() }
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("there is room");
            std::fs::write(path, text).expect("there is room");
        }

        fn look(&self, breadth: Breadth) -> Vec<(String, String)> {
            let look = self.files.look(&self.root, breadth);
            assert!(look.is_whole);
            let mut files: Vec<_> = look.changed.into_iter().map(|file| (file.path, file.text)).collect();
            files.sort();
            files
        }
    }

    fn found(path: &str, text: &str) -> (String, String) {
        (path.to_owned(), text.to_owned())
    }

    #[test]
    fn secret_files_are_found_at_any_depth_and_read_again_when_they_change() {
        let scene = SecretFilesFixture::new();
        scene.write(".env", "A=1");
        scene.write("deep/er/prod.env", "B=2");
        scene.write("src/main.rs", "fn main() {}");
        scene.write(".env.example", "A=");
        assert_eq!(scene.look(Breadth::Whole), [found(".env", "A=1"), found("deep/er/prod.env", "B=2")]);
        assert_eq!(scene.look(Breadth::Whole), []);
        scene.write("deep/er/prod.env", "B=33");
        scene.write("deep/key.pem", "C");
        assert_eq!(scene.look(Breadth::Whole), [found("deep/er/prod.env", "B=33"), found("deep/key.pem", "C")]);
    }

    #[test]
    fn a_quick_look_sees_the_first_level_alone() {
        let scene = SecretFilesFixture::new();
        scene.write(".env", "A=1");
        scene.write("deep/.env", "B=2");
        assert_eq!(scene.look(Breadth::FirstLevel), [found(".env", "A=1")]);
        assert_eq!(scene.look(Breadth::Whole), [found("deep/.env", "B=2")]);
    }

    #[test]
    fn folders_that_programs_fill_are_passed_by_and_links_are_not_followed() {
        let scene = SecretFilesFixture::new();
        let outside = tempfile::tempdir().expect("there is room");
        std::fs::write(outside.path().join(".env"), "X=1").expect("there is room");
        std::os::unix::fs::symlink(outside.path(), scene.folder.path().join("linked")).expect("there is room");
        std::os::unix::fs::symlink(outside.path().join(".env"), scene.folder.path().join("link.env")).expect("room");
        std::os::unix::fs::symlink(".", scene.folder.path().join("loop")).expect("there is room");
        scene.write("node_modules/p/key.pem", "P");
        scene.write("target/CACHEDIR.TAG", "");
        scene.write("target/.env", "T=1");
        scene.write(".venv/pyvenv.cfg", "");
        scene.write(".venv/lib/cacert.pem", "V");
        scene.write(".git/x.pem", "G");
        scene.write(".bash_history", "git status");
        // What is in them is read, because a call may copy it out. It is nothing that anything asks about.
        let read =
            [found(".venv/lib/cacert.pem", "V"), found("node_modules/p/key.pem", "P"), found("target/.env", "T=1")];
        assert_eq!(scene.look(Breadth::Whole), read);
        assert_eq!(scene.files.names(&scene.root), Vec::<PathBuf>::new());
    }

    #[test]
    fn of_folders_that_programs_fill_only_the_nearest_are_looked_at() {
        let scene = SecretFilesFixture::new();
        scene.write("node_modules/a/b/c/.env", "A=1");
        scene.write("node_modules/a/b/c/d/.env", "B=2");
        for number in 0..2_001 {
            scene.write(&format!("node_modules/many/{number}.js"), "");
        }
        scene.write("node_modules/many/.env", "C=3");
        assert_eq!(scene.look(Breadth::Whole), [found("node_modules/a/b/c/.env", "A=1")]);
        assert_eq!(scene.look(Breadth::Whole), []);
    }

    #[test]
    fn what_a_program_reads_depends_on_what_it_leaves_out() {
        let scene = SecretFilesFixture::new();
        scene.write(".git/HEAD", "ref: refs/heads/main\n");
        scene.write(".gitignore", ".env\n");
        for file in [".env", "sub/.env.local", "sub/prod.env", "sub/main.rs"] {
            scene.write(file, "A=1");
        }
        let read = |folder: &str, reader| {
            let places = scene.files.read_by(&scene.root, Path::new(folder), reader);
            places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(read("", FolderReader::Everything), [".env", "sub/.env.local", "sub/prod.env"]);
        assert_eq!(read("", FolderReader::NotIgnored), ["sub/.env.local", "sub/prod.env"]);
        assert_eq!(read("", FolderReader::NotIgnoredOrHidden), ["sub/prod.env"]);
        assert_eq!(read("sub", FolderReader::Everything), ["sub/.env.local", "sub/prod.env"]);
        assert_eq!(read("", FolderReader::Git), Vec::<String>::new());
        scene.write(".git/index", "not one");
        assert_eq!(read("sub", FolderReader::Git), ["sub/.env.local", "sub/prod.env"], "it may know them");
    }

    #[test]
    fn another_name_of_a_secret_is_read_along_with_the_rest() {
        let scene = SecretFilesFixture::new();
        for file in [".env", "sub/plain.txt", "sub/other.txt"] {
            scene.write(file, "A=1");
        }
        let link = |from: &str, to: &str| {
            std::fs::hard_link(scene.folder.path().join(from), scene.folder.path().join(to)).expect("there is room");
        };
        link("sub/other.txt", "sub/twin.txt");
        let same = |name: &str| {
            scene
                .files
                .same_as(&scene.root, &Target::Inside(FileLocation::new(name, Extent::Entry)))
                .map(|secret| secret.display().to_string())
        };
        let read = || scene.files.read_by(&scene.root, Path::new("sub"), FolderReader::Everything);
        assert_eq!((same("sub/other.txt"), read()), (None, Vec::new()));
        link(".env", "sub/notes.txt");
        assert_eq!(same("sub/notes.txt").as_deref(), Some(".env"));
        assert_eq!((same("sub/other.txt"), same("sub/plain.txt"), same(".env")), (None, None, None));
        assert_eq!(read(), [PathBuf::from("sub/notes.txt")]);
    }

    #[test]
    fn code_with_secrets_in_it_is_read_and_is_nothing_to_be_masked() {
        let scene = SecretFilesFixture::new();
        scene.write("src/secrets.py", "API_KEY = 'x'");
        assert_eq!(scene.look(Breadth::Whole), [found("src/secrets.py", "API_KEY = 'x'")]);
        assert_eq!(scene.files.places(&scene.root), Vec::<PathBuf>::new());
    }

    #[test]
    fn what_a_secret_name_leads_to_inside_is_read() {
        let scene = SecretFilesFixture::new();
        scene.write("config/production", "A=1");
        std::os::unix::fs::symlink("config/production", scene.folder.path().join(".env")).expect("there is room");
        assert_eq!(scene.look(Breadth::FirstLevel), [found(".env", "A=1")]);
    }
}
