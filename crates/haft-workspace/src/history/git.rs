//! Knows which paths of a workspace belong to a git repository, and which part each path plays there.
//!
//! Undo treats a repository by its meaning: objects are only ever added, references are compared by value, and nothing
//! that names an object is restored before that object exists. Git itself is not started: this crate runs no programs.
//!
//! Not here: what undo does with a path (`take_back`), which files of a repository a command may change (`files::layer`).

mod earlier;
pub(super) mod journal_objects;
pub(super) mod needs;
pub(crate) mod object_kind;
pub(super) mod object_store;
pub(super) mod pointers;
pub(super) mod reflog;
pub(super) mod refs;
pub(crate) mod stashes;
mod store_files;
pub(super) mod survey;
pub(super) mod whole;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::files::read::open::WorkspaceRoot;

/// A path in a git directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GitPath {
    /// The git directory that has the objects.
    pub(super) dir: PathBuf,
    /// The directory of the worktree's own HEAD and index; the git directory itself for the main worktree.
    pub(super) worktree: PathBuf,
    pub(super) role: GitPathRole,
}

/// The part that a path plays in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GitPathRole {
    /// Part of the object store: a loose object, a pack, or a folder of those.
    Object,
    /// Derived from the objects, or the list of other stores: `info/`, the commit graph, an index over packs.
    ObjectInfo,
    /// A loose reference, by its full name.
    Ref(String),
    PackedRefs,
    Reftable,
    Head,
    Reflog,
    Index,
    /// Messages and the state of an operation in progress, which git rewrites all the time.
    Scratch,
    Other,
}

impl GitPathRole {
    /// Returns whether lines of two versions must never be mixed.
    pub(super) fn is_one_value(&self) -> bool {
        match self {
            GitPathRole::Ref(_)
            | GitPathRole::PackedRefs
            | GitPathRole::Reftable
            | GitPathRole::Head
            | GitPathRole::Index => true,
            GitPathRole::Object
            | GitPathRole::ObjectInfo
            | GitPathRole::Reflog
            | GitPathRole::Scratch
            | GitPathRole::Other => false,
        }
    }
}

/// Finds the repositories of a workspace.
pub(super) struct Repositories<'a> {
    root: &'a WorkspaceRoot,
    known: RefCell<HashMap<PathBuf, bool>>,
}

impl<'a> Repositories<'a> {
    pub(super) fn new(root: &'a WorkspaceRoot) -> Self {
        Self { root, known: RefCell::default() }
    }

    /// Returns the part that a path plays in a repository; nothing for paths outside of git directories.
    pub(super) fn locate(&self, path: &Path) -> Option<GitPath> {
        let dir = path.ancestors().skip(1).find(|above| self.is_git_dir(above))?;
        let inner = path.strip_prefix(dir).ok()?;
        let mut parts = inner.iter();
        let (mut worktree, mut own) = (dir.to_owned(), inner);
        if let (Some("worktrees"), Some(name)) = (parts.next().and_then(OsStr::to_str), parts.next()) {
            let beneath = Path::new("worktrees").join(name);
            worktree = dir.join(&beneath);
            own = inner.strip_prefix(&beneath).ok()?;
        }
        let role = match role_of(own) {
            // References of a worktree have names of their own.
            GitPathRole::Ref(_) => GitPathRole::Ref(inner.to_string_lossy().into_owned()),
            role => role,
        };
        Some(GitPath { dir: dir.to_owned(), worktree, role })
    }

    /// Returns whether git takes a folder for a repository.
    fn is_git_dir(&self, folder: &Path) -> bool {
        if folder.file_name().is_some_and(|name| name == ".git") {
            return true;
        }
        if folder.as_os_str().is_empty() {
            return false;
        }
        if let Some(known) = self.known.borrow().get(folder) {
            return *known;
        }
        let real = self.root.path().join(folder);
        let is_one = real.join("HEAD").is_file() && real.join("objects").is_dir() && real.join("refs").is_dir();
        self.known.borrow_mut().insert(folder.to_owned(), is_one);
        is_one
    }
}

/// Files and folders that git rewrites while it works; a later version of them is never the user's own text.
const SCRATCH: [&str; 10] = [
    "COMMIT_EDITMSG",
    "MERGE_MSG",
    "MERGE_MODE",
    "SQUASH_MSG",
    "AUTO_MERGE",
    "gc.log",
    "gc.pid",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
];

fn role_of(inner: &Path) -> GitPathRole {
    let mut parts = inner.iter().map(|part| part.to_string_lossy());
    let (first, second) = (parts.next().unwrap_or_default(), parts.next());
    match (&*first, second.as_deref()) {
        ("objects", Some("info")) => GitPathRole::ObjectInfo,
        ("objects", Some("pack")) if parts.next().is_some_and(|name| name.starts_with("multi-pack-index")) => {
            GitPathRole::ObjectInfo
        }
        ("objects", _) => GitPathRole::Object,
        ("refs", Some(_)) => GitPathRole::Ref(inner.to_string_lossy().into_owned()),
        ("reftable", _) => GitPathRole::Reftable,
        ("logs", Some(_)) => GitPathRole::Reflog,
        ("packed-refs", None) => GitPathRole::PackedRefs,
        ("HEAD", None) => GitPathRole::Head,
        ("index", None) => GitPathRole::Index,
        // Only a list of the references for old transports.
        ("info", Some("refs")) => GitPathRole::Scratch,
        (name, None) if name.ends_with("_HEAD") || name.starts_with("BISECT_") => GitPathRole::Scratch,
        (name, _) if SCRATCH.contains(&name) => GitPathRole::Scratch,
        _ => GitPathRole::Other,
    }
}

/// Returns whether a path lies in the object store of a repository, by its name alone.
pub(crate) fn is_in_object_store(path: &Path) -> bool {
    let is_store = |above: &&Path| above.file_name().is_some_and(|name| name == "objects");
    let store = path.ancestors().skip(1).filter(is_store).last();
    store.is_some_and(|store| is_loose_or_pack(path.strip_prefix(store).unwrap_or(path)))
}

/// Returns whether a path below `objects` has the form of a loose object or a pack.
fn is_loose_or_pack(inner: &Path) -> bool {
    let parts: Vec<_> = inner.iter().map(|part| part.to_string_lossy()).collect();
    match &parts[..] {
        [folder, name] if folder == "pack" => name.starts_with("pack-"),
        [..] => oid_of_parts(&parts).is_some(),
    }
}

/// Returns the name of the loose object at a path.
pub(super) fn loose_oid(path: &Path) -> Option<String> {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    match &parts[..] {
        [.., objects, folder, name] if objects == "objects" => oid_of_parts(&[folder, name]),
        _ => None,
    }
}

fn oid_of_parts(parts: &[impl AsRef<str>]) -> Option<String> {
    let [folder, name] = parts else { return None };
    let (folder, name) = (folder.as_ref(), name.as_ref());
    (folder.len() == 2).then(|| format!("{folder}{name}")).filter(|oid| is_oid(oid))
}

/// Returns whether a text is the name of an object, in either hash.
pub(super) fn is_oid(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns whether a name of an object stands for no object.
pub(super) fn is_null(oid: &str) -> bool {
    oid.bytes().all(|byte| byte == b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_a_repository_has_its_part() {
        let root = tempfile::tempdir().expect("a temporary folder can be made");
        let workspace = crate::files::Workspace::open(root.path()).expect("it is there");
        let state = crate::state::WorkspaceState::new(&root.path().join("state"), Path::new("ws"));
        for folder in ["bare.git/objects", "bare.git/refs", "plain/objects"] {
            std::fs::create_dir_all(root.path().join(folder)).expect("it is new");
        }
        std::fs::write(root.path().join("bare.git/HEAD"), "ref: refs/heads/main\n").expect("it is new");
        let history = workspace.history(&state);
        let repositories = Repositories::new(&history.root);
        let role = |path: &str| repositories.locate(Path::new(path)).map(|found| found.role);
        assert_eq!(role(".git/objects/ab/cd"), Some(GitPathRole::Object));
        assert_eq!(role("sub/.git/modules/x/config"), Some(GitPathRole::Other));
        assert_eq!(role("bare.git/objects/pack/pack-1.idx"), Some(GitPathRole::Object));
        assert_eq!(role(".git/objects/pack/multi-pack-index"), Some(GitPathRole::ObjectInfo));
        assert_eq!(role(".git/objects/info/alternates"), Some(GitPathRole::ObjectInfo));
        assert_eq!(role(".git/refs/heads/objects/x"), Some(GitPathRole::Ref("refs/heads/objects/x".into())));
        assert_eq!(role(".git/worktrees/w/HEAD"), Some(GitPathRole::Head));
        assert_eq!(role(".git/worktrees/w/logs/HEAD"), Some(GitPathRole::Reflog));
        assert_eq!(role(".git/ORIG_HEAD"), Some(GitPathRole::Scratch));
        assert_eq!(role(".git"), None);
        assert_eq!(role("plain/objects/ab/cd"), None);
        assert_eq!(role("src/objects/ab/cd"), None);
    }

    #[test]
    fn an_object_is_recognised_by_its_name() {
        let oid = "0123456789abcdef0123456789abcdef01234567";
        let path = format!(".git/objects/{}/{}", &oid[..2], &oid[2..]);
        assert_eq!(loose_oid(Path::new(&path)).as_deref(), Some(oid));
        assert!(is_in_object_store(Path::new(&path)));
        assert!(is_in_object_store(Path::new("x.git/objects/pack/pack-12.pack")));
        assert!(!is_in_object_store(Path::new(".git/objects/info/packs")));
        assert!(!is_in_object_store(Path::new("src/objects/list.rs")));
    }
}
