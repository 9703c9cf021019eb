//! Finds what git stores for the repositories of a workspace, as far as that is possible without running git.
//!
//! It finds git's folders (also of worktrees, bare repositories and submodules) and what changes when something is added to
//! them. It finds objects that files such as `FETCH_HEAD` name, secret files in an index, and git's settings, which may hold
//! passwords. A second look at an unchanged repository costs some calls to the kernel.
//!
//! Not here: reading objects, which git does itself (`haft-runtime`).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use haft_contract::doors::door::{GitStore, SecretFile, StagedEntries};

use crate::history::git_index;

/// Files of a worktree that name objects which no reference may reach.
const NAMING: &[&str] = &[
    "FETCH_HEAD",
    "ORIG_HEAD",
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "BISECT_HEAD",
    "MERGE_AUTOSTASH",
    "rebase-merge/autostash",
    "rebase-merge/orig-head",
    "rebase-apply/autostash",
    "rebase-apply/orig-head",
];
/// The file of a worktree that names a tree: what a merge made by itself.
const NAMING_TREE: &str = "AUTO_MERGE";
/// Files of a worktree that change when its state does.
const CHANGING: &[&str] = &["HEAD", "logs/HEAD"];
/// Files of a repository that change when its references do.
const CHANGING_FOR_ALL: &[&str] = &["packed-refs", "reftable/tables.list", "refs/stash", "logs/refs/stash"];
/// Largest file that names objects, or has settings, in bytes.
const LARGEST: u64 = 1024 * 1024;
/// Largest index that is read, in bytes.
const LARGEST_INDEX: u64 = 64 * 1024 * 1024;
/// Most folders of references of one repository.
const MOST_FOLDERS: usize = 500;
/// Most worktrees of one repository, and most submodules.
const MOST_PARTS: usize = 64;
/// Most files of settings that include each other.
const MOST_SETTINGS: usize = 32;

/// What earlier looks found.
#[derive(Debug, Default)]
pub(in crate::files) struct GitStores {
    /// Folders of references, with what they looked like and the folders in them.
    folders: HashMap<PathBuf, (Sign, Vec<PathBuf>)>,
    /// The objects that files name.
    named: HashMap<PathBuf, (Sign, Vec<String>)>,
    /// Settings that were told, and what they include.
    settings: HashMap<PathBuf, (Sign, Vec<PathBuf>)>,
    /// How many looks did not see everything.
    looks: u64,
}

/// How a file looks from outside; nothing where it is not there.
type Sign = Option<(u64, i64, i64, i64, i64, u64)>;

impl GitStores {
    /// Returns what git keeps for the repositories in these folders, by their real paths, and the settings that changed.
    pub(in crate::files) fn look(&mut self, repositories: &[PathBuf]) -> (Vec<GitStore>, Vec<SecretFile>) {
        let (mut seen, mut stores, mut settings) = (BTreeSet::new(), Vec::new(), Vec::new());
        for repository in repositories {
            let Some(git_dir) = git_dir(repository) else { continue };
            let common = common_dir(&git_dir);
            for store in std::iter::once(common.clone()).chain(submodules(&common)) {
                if seen.insert(store.clone()) {
                    let heads = heads_of(&store);
                    settings.extend(self.settings_of(&heads, repository));
                    // Where it has no objects git reads nothing.
                    if store.join("objects").is_dir() {
                        stores.push(self.store(store, &heads));
                    }
                }
            }
        }
        (stores, settings)
    }

    fn store(&mut self, git_dir: PathBuf, heads: &[PathBuf]) -> GitStore {
        let mut signs: Vec<Sign> = CHANGING_FOR_ALL.iter().map(|name| sign(&git_dir.join(name))).collect();
        self.sign_folders(git_dir.join("refs"), &mut signs);
        let (mut named, mut trees, mut indexes) = (Vec::new(), Vec::new(), Vec::new());
        for head in heads {
            signs.extend(CHANGING.iter().map(|name| sign(&head.join(name))));
            for name in NAMING.iter().chain([&NAMING_TREE]) {
                let path = head.join(name);
                let seen = sign(&path);
                signs.push(seen);
                let objects = kept(&mut self.named, path, seen, objects_named);
                if *name == NAMING_TREE { &mut trees } else { &mut named }.extend_from_slice(objects);
            }
            let index = head.join("index");
            indexes.extend(sign(&index).map(|sign| (index, format!("{sign:?}"))));
        }
        let state = blake3::hash(format!("{signs:?}").as_bytes()).to_hex().to_string();
        GitStore { git_dir, state, named, trees, indexes }
    }

    /// Adds how the folders of references look, which change whenever a reference in them does.
    fn sign_folders(&mut self, top: PathBuf, signs: &mut Vec<Sign>) {
        let mut waiting = vec![top];
        while let Some(folder) = waiting.pop() {
            if signs.len() >= MOST_FOLDERS {
                // What is not looked at may have changed, so each look finds another state.
                self.looks += 1;
                return signs.push(Some((self.looks, 0, 0, 0, 0, 0)));
            }
            let seen = sign(&folder);
            signs.push(seen);
            waiting.extend_from_slice(kept(&mut self.folders, folder, seen, folders_in));
        }
    }

    /// Returns the settings that are new or changed, with those that they include.
    fn settings_of(&mut self, heads: &[PathBuf], repository: &Path) -> Vec<SecretFile> {
        let own = heads.iter().flat_map(|head| [head.join("config"), head.join("config.worktree")]);
        let (mut waiting, mut changed): (Vec<PathBuf>, Vec<SecretFile>) = (own.collect(), Vec::new());
        let mut seen = BTreeSet::new();
        while let Some(path) = waiting.pop().filter(|_| seen.len() < MOST_SETTINGS) {
            let now = sign(&path);
            if now.is_none() || !seen.insert(path.clone()) {
                continue;
            }
            if self.settings.get(&path).is_none_or(|(then, _)| *then != now) {
                let bytes = read(&path, LARGEST).unwrap_or_default();
                let shown = path.strip_prefix(repository).unwrap_or(&path).display().to_string();
                let file = SecretFile::of(shown, &bytes);
                let included = included(&file.text, &path);
                changed.push(file.with_other_content());
                self.settings.insert(path.clone(), (now, included));
            }
            waiting.extend(self.settings[&path].1.iter().cloned());
        }
        changed
    }
}

/// Returns the folders of a repository's worktrees in git's folder, that of the first among them.
fn heads_of(git_dir: &Path) -> Vec<PathBuf> {
    let others = folders_in(&git_dir.join("worktrees")).into_iter().take(MOST_PARTS);
    std::iter::once(git_dir.to_owned()).chain(others).collect()
}

/// Returns what was made of a file, and makes it again if the file has changed.
fn kept<T>(
    all: &mut HashMap<PathBuf, (Sign, Vec<T>)>,
    path: PathBuf,
    now: Sign,
    make: impl Fn(&Path) -> Vec<T>,
) -> &[T] {
    let entry = all.entry(path);
    let path = entry.key().clone();
    let known = entry.or_insert((None, Vec::new()));
    if known.0 != now {
        *known = (now, make(&path));
    }
    &known.1
}

fn sign(path: &Path) -> Sign {
    let facts = std::fs::symlink_metadata(path).ok()?;
    Some((facts.size(), facts.mtime(), facts.mtime_nsec(), facts.ctime(), facts.ctime_nsec(), facts.ino()))
}

/// Reads a regular file of at most so many bytes.
fn read(path: &Path, most: u64) -> Option<Vec<u8>> {
    let facts = std::fs::metadata(path).ok().filter(|facts| facts.is_file() && facts.len() <= most)?;
    let mut bytes = Vec::with_capacity(usize::try_from(facts.len()).unwrap_or(0));
    std::fs::File::open(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Returns the paths that the index of a repository lists; nothing if it cannot be read.
pub(super) fn tracked_paths(repository: &Path) -> Option<HashSet<PathBuf>> {
    let index = git_dir(repository).map(|git_dir| git_dir.join("index")).filter(|index| index.exists());
    let Some(index) = index else { return Some(HashSet::new()) };
    git_index::paths(&read(&index, LARGEST_INDEX)?).map(|paths| paths.into_iter().collect())
}

/// Returns git's folder of a repository: in it, where a file in it says, or itself where it is a bare one.
fn git_dir(repository: &Path) -> Option<PathBuf> {
    let dot = repository.join(".git");
    let facts = std::fs::metadata(&dot).ok();
    if facts.as_ref().is_some_and(std::fs::Metadata::is_dir) {
        return Some(dot);
    }
    if facts.is_none() {
        return repository.join("objects").is_dir().then(|| repository.to_owned());
    }
    let text = String::from_utf8(read(&dot, LARGEST)?).ok()?;
    let named = repository.join(text.strip_prefix("gitdir:")?.trim());
    Some(std::fs::canonicalize(&named).unwrap_or(named))
}

/// Returns the folder that the worktrees of a repository share.
fn common_dir(git_dir: &Path) -> PathBuf {
    let named = read(&git_dir.join("commondir"), LARGEST).and_then(|bytes| String::from_utf8(bytes).ok());
    let common = named.map(|named| git_dir.join(named.trim()));
    common.map_or_else(|| git_dir.to_owned(), |common| std::fs::canonicalize(&common).unwrap_or(common))
}

/// Returns the repositories of submodules that git keeps, also of those whose folder is gone.
fn submodules(git_dir: &Path) -> Vec<PathBuf> {
    let (mut waiting, mut found, mut looked) = (vec![git_dir.join("modules")], Vec::new(), 0);
    while let Some(folder) = waiting.pop().filter(|_| looked < MOST_PARTS) {
        looked += 1;
        for inner in folders_in(&folder) {
            match inner.join("HEAD").is_file() && inner.join("objects").is_dir() {
                true => {
                    waiting.push(inner.join("modules"));
                    found.push(inner);
                }
                false => waiting.push(inner),
            }
        }
    }
    found
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> =
        entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

/// Returns the objects that a file names.
fn objects_named(path: &Path) -> Vec<String> {
    let bytes = read(path, LARGEST).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let is_name = |word: &&str| matches!(word.len(), 40 | 64) && word.bytes().all(|digit| digit.is_ascii_hexdigit());
    text.split_whitespace().filter(is_name).map(str::to_owned).collect()
}

/// Returns the files in an index whose names mean something; nothing where it is too large or not understood.
pub(in crate::files) fn staged(path: &Path) -> Option<StagedEntries> {
    let bytes = read(path, LARGEST_INDEX)?;
    git_index::gathered(&bytes, &|staged: &mut StagedEntries, facts, path| staged.note(facts, path))
}

/// Returns the files that settings include.
fn included(text: &str, path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut is_include = false;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            is_include = line.to_ascii_lowercase().starts_with("[include");
        }
        let line = line.rsplit_once(']').map_or(line, |(_, after)| after.trim());
        let Some((name, value)) = line.split_once('=').filter(|_| is_include) else { continue };
        if name.trim().eq_ignore_ascii_case("path") {
            found.push(folder.join(value.trim().trim_matches('"')));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(folder: &Path, path: &str, text: &str) {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("there is room");
        std::fs::write(path, text).expect("there is room");
    }

    #[test]
    fn everything_that_adds_something_to_what_git_keeps_changes_the_state() {
        let scene = tempfile::tempdir().expect("there is room");
        let folder = scene.path();
        put(folder, ".git/HEAD", "ref: refs/heads/main\n");
        put(folder, ".git/objects/x", "");
        put(folder, ".git/refs/heads/main", "a");
        put(folder, ".git/refs/heads/deep/er/x", "a");
        put(folder, ".git/worktrees/w/HEAD", "a");
        let mut stores = GitStores::default();
        let mut state = || stores.look(&[folder.to_owned()]).0[0].state.clone();
        let mut last = state();
        assert_eq!(state(), last);
        let all = NAMING
            .iter()
            .chain([&NAMING_TREE])
            .chain(CHANGING)
            .chain(CHANGING_FOR_ALL)
            .map(|name| format!(".git/{name}"));
        let others = ["refs/tags/t", "refs/heads/deep/er/y", "refs/heads/new/z", "worktrees/w/ORIG_HEAD"];
        for path in all.chain(others.map(|path| format!(".git/{path}"))) {
            put(folder, &path, "something longer");
            let now = state();
            assert_ne!(now, last, "{path}");
            last = now;
        }
    }

    #[test]
    fn where_there_are_too_many_folders_of_references_each_look_finds_another_state() {
        let scene = tempfile::tempdir().expect("there is room");
        put(scene.path(), ".git/HEAD", "ref: refs/heads/main\n");
        put(scene.path(), ".git/objects/x", "");
        for number in 0..MOST_FOLDERS {
            put(scene.path(), &format!(".git/refs/x/{number}/y"), "a");
        }
        let mut stores = GitStores::default();
        let mut state = || stores.look(&[scene.path().to_owned()]).0[0].state.clone();
        assert_ne!(state(), state());
    }

    #[test]
    fn objects_that_files_name_and_repositories_of_submodules_and_bare_ones_are_found() {
        let scene = tempfile::tempdir().expect("there is room");
        let folder = scene.path();
        let id = |letter: &str| letter.repeat(40);
        put(folder, ".git/HEAD", "ref: refs/heads/main\n");
        put(folder, ".git/objects/x", "");
        put(folder, "empty/.git/HEAD", "ref: refs/heads/main\n");
        put(folder, ".git/FETCH_HEAD", &format!("{}\tnot-for-merge\tbranch 'x'\n{}\t\tbranch 'y'\n", id("a"), id("b")));
        put(folder, ".git/worktrees/w/rebase-merge/autostash", &id("c"));
        for module in [".git/modules/one", ".git/modules/deep/two", "bare.git"] {
            put(folder, &format!("{module}/HEAD"), "ref: refs/heads/main\n");
            put(folder, &format!("{module}/objects/x"), "");
        }
        let (found, _) = GitStores::default().look(&[folder.to_owned(), folder.join("bare.git"), folder.join("empty")]);
        let dirs: Vec<_> = found.iter().map(|store| store.git_dir.strip_prefix(folder).expect("it is in it")).collect();
        let wanted = [".git", ".git/modules/one", ".git/modules/deep/two", "bare.git"];
        assert_eq!(BTreeSet::from_iter(dirs), BTreeSet::from_iter(wanted.iter().map(Path::new)));
        assert_eq!(found[0].named, [id("a"), id("b"), id("c")]);
    }

    #[test]
    fn settings_are_told_with_what_they_include_when_they_change() {
        let scene = tempfile::tempdir().expect("there is room");
        let folder = scene.path();
        put(folder, ".git/config", "[include]\n\tpath = ../more\n[includeIf \"gitdir:x\"] path = \"other\"\n");
        put(folder, "more", "[include]\npath = more\n[a]\nb = c\n");
        put(folder, ".git/other", "d");
        let mut stores = GitStores::default();
        let mut told = || {
            let (_, files) = stores.look(&[folder.to_owned()]);
            BTreeSet::from_iter(files.into_iter().map(|file| file.text))
        };
        let first = told();
        assert!(first.len() == 3 && first.contains("d"), "{first:?}");
        assert!(told().is_empty());
        put(folder, ".git/other", "something else");
        assert_eq!(told(), BTreeSet::from(["something else".to_owned()]));
    }
}
