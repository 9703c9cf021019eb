//! Keeps the other side of ignored trees: in one private folder for each commit, on the workspace's file system.
//!
//! haft uses the state folder if possible, or else a folder below `.git`, or else a folder in the workspace that git
//! ignores. `git clean` skips that one: its inner folder looks like a repository. Names begin with a time, so the oldest
//! store is the first by name, and end with the size of the store.

use std::collections::HashSet;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, StatxFlags, Uid};
use rustix::io::Errno;

use super::super::clock::Clock;
use super::super::layer::remove_name;
use super::clean::copy_tree;
use super::exchange::store_path;
use super::manifest::{ExchangeOperation, Identity, Manifest};
use crate::files::change::bring::LayerEntry;
use crate::files::change::replace::StagingMove;
use crate::files::read::open::open_beneath;
use crate::state::journal::{Journal, PathText, StoreBase, StoreName};
use crate::state::own_files::private;

/// The entry of a store that mirrors the tree.
pub(super) const TREE: &str = "tree";
/// Where stores are in a repository.
const IN_REPOSITORY: &str = ".git/haft-trees";
/// Where stores are in a workspace without a repository.
const IN_WORKSPACE: &str = ".haft-trees/stores";
/// Most stores of one workspace.
const MOST_STORES: usize = 1_000;
/// A store on its way out has a name that begins so.
const GOING: &str = "gone-";

/// All stores of one workspace.
#[derive(Clone, Debug)]
pub(crate) struct TreeStores {
    state: PathBuf,
}

/// One store of a tree, held open.
pub(super) struct TreeStore {
    pub(super) folder: OwnedFd,
    path: PathBuf,
}

/// Returns the folders in a workspace that may hold stores, for those who keep out of them.
pub(in crate::files) fn hidden_places() -> [&'static str; 2] {
    [IN_REPOSITORY, ".haft-trees"]
}

/// Lets a layer say that the stores in a workspace are not there; returns those that it hides.
pub(in crate::files) fn hide_stores(workspace: &OwnedFd, upper: &OwnedFd) -> Vec<&'static str> {
    let hide = |place: &&str| hide_store(workspace, upper, Path::new(place)).is_ok();
    hidden_places().into_iter().filter(hide).collect()
}

fn hide_store(workspace: &OwnedFd, upper: &OwnedFd, place: &Path) -> Result<(), Errno> {
    open_beneath(workspace.as_fd(), place, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW)?;
    if let Some(parent) = place.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        // A folder of a layer has mode and owner of the one that it is merged with.
        let of = rustix::fs::fstat(open_beneath(workspace.as_fd(), parent, OFlags::PATH | OFlags::DIRECTORY)?)?;
        rustix::fs::mkdirat(upper, parent, Mode::from_raw_mode(0o700))?;
        let made = open_beneath(upper.as_fd(), parent, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let (uid, gid) = (Uid::from_raw(of.st_uid), Gid::from_raw(of.st_gid));
        let _ = rustix::fs::fchown(&made, Some(uid), Some(gid));
        rustix::fs::fchmod(&made, Mode::from_raw_mode(of.st_mode & 0o7777))?;
    }
    rustix::fs::mknodat(upper, place, FileType::CharacterDevice, Mode::empty(), 0)
}

impl TreeStores {
    pub(crate) fn of(journal: &Journal) -> Self {
        Self { state: journal.trees() }
    }

    /// Chooses where the stores of trees beneath a root are; nothing where the file system cannot swap names.
    pub(in crate::files) fn choose(&self, root: &Path, root_place: &Path, folder: &OwnedFd) -> Option<StoreBase> {
        let at = |place: &str| StoreBase::Workspace(PathText::from(root_place.join(place).as_path()));
        let has_repository = root.join(".git").symlink_metadata().is_ok_and(|facts| facts.is_dir());
        let candidates = [
            Some((StoreBase::State, self.state.clone())),
            has_repository.then(|| (at(IN_REPOSITORY), root.join(IN_REPOSITORY))),
            Some((at(IN_WORKSPACE), root.join(IN_WORKSPACE))),
        ];
        let fits = |path: &Path| is_on_mount_of(path, folder) && prepare(path).is_ok() && can_swap(path);
        candidates.into_iter().flatten().find(|(_, path)| fits(path)).map(|(base, _)| base)
    }

    /// Makes up the name of a new store.
    pub(super) fn new_name(&self, base: StoreBase, bytes: u64) -> StoreName {
        StoreName { base, id: format!("{}-{bytes}", uuid::Uuid::now_v7().simple()) }
    }

    /// Makes a store.
    pub(super) fn make(&self, root: &Path, name: &StoreName) -> io::Result<TreeStore> {
        let base = self.folder_of(root, &name.base);
        prepare(&base)?;
        DirBuilder::new().mode(0o700).create(base.join(&name.id))?;
        self.open(root, name)
    }

    /// Opens a store.
    pub(super) fn open(&self, root: &Path, name: &StoreName) -> io::Result<TreeStore> {
        let path = self.folder_of(root, &name.base).join(&name.id);
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = rustix::fs::open(&path, flags, Mode::empty())?;
        Ok(TreeStore { folder, path })
    }

    /// Returns whether a store is there.
    pub(crate) fn has(&self, root: &Path, name: &StoreName) -> bool {
        self.folder_of(root, &name.base).join(&name.id).is_dir()
    }

    /// Removes a store that nothing refers to.
    pub(super) fn remove(&self, root: &Path, name: &StoreName) {
        let base = self.folder_of(root, &name.base);
        remove_from(&base, &name.id);
    }

    /// Returns how many bytes are free on the file system of the stores.
    pub(in crate::files) fn free_room(&self, root: &Path, base: &StoreBase) -> Option<u64> {
        let facts = rustix::fs::statvfs(self.folder_of(root, base)).ok()?;
        Some(facts.f_bavail.saturating_mul(facts.f_frsize))
    }

    /// Removes the oldest stores until the rest fits into so many bytes. The newest always stays.
    pub(in crate::files) fn trim(&self, root: &Path, base: &StoreBase, room: u64) {
        let folder = self.folder_of(root, base);
        let (mut used, mut count) = (0_u64, 0);
        for (id, bytes) in stores_in(&folder).into_iter().rev() {
            (used, count) = (used.saturating_add(bytes), count + 1);
            if count > 1 && (used > room || count > MOST_STORES) {
                remove_from(&folder, &id);
            }
        }
    }

    /// Returns the entries that undos of later commits put back into the workspace, and that no redo took away again.
    pub(super) fn put_back_after(&self, root: &Path, name: &StoreName) -> HashSet<Identity> {
        let folder = self.folder_of(root, &name.base);
        let later = stores_in(&folder).into_iter().map(|(id, _)| id).filter(|id| *id > name.id);
        let lists = later.filter_map(|id| {
            let store = self.open(root, &StoreName { base: name.base.clone(), id }).ok()?;
            let newest = (0..).take_while(|number| store.list(*number).is_file()).last()?;
            // Even exchanges are commits and redos.
            (newest % 2 == 1).then(|| store.read(newest).ok()).flatten()
        });
        lists.flat_map(|manifest| manifest.operations).filter_map(|operation| operation.comes()).collect()
    }

    fn folder_of(&self, root: &Path, base: &StoreBase) -> PathBuf {
        match base {
            StoreBase::State => self.state.clone(),
            StoreBase::Workspace(place) => root.join(place.path()),
        }
    }
}

/// Returns the folders in a workspace that may hold stores.
pub(crate) fn folders_in(root: &Path) -> [PathBuf; 2] {
    [root.join(IN_REPOSITORY), root.join(IN_WORKSPACE)]
}

/// Returns how many bytes the stores in a folder take that are older than a moment.
pub(crate) fn bytes_of(folder: &Path, before: Option<SystemTime>) -> u64 {
    stores_in(folder).iter().filter(|(id, _)| is_older(folder, id, before)).map(|(_, bytes)| bytes).sum()
}

/// Removes the stores in a folder that are older than a moment; without one, all.
pub(crate) fn remove_from_folder(folder: &Path, before: Option<SystemTime>) {
    for (id, _) in stores_in(folder) {
        if is_older(folder, &id, before) {
            remove_from(folder, &id);
        }
    }
}

fn is_older(folder: &Path, id: &str, before: Option<SystemTime>) -> bool {
    let modified = || folder.join(id).symlink_metadata().and_then(|facts| facts.modified());
    before.is_none_or(|before| modified().is_ok_and(|modified| modified < before))
}

/// Returns the stores in a folder with their sizes, the oldest first. What a killed process was removing goes.
fn stores_in(folder: &Path) -> Vec<(String, u64)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut stores = Vec::new();
    for name in names {
        if name.starts_with(GOING) {
            remove_now(folder, &name);
        } else if let Some(bytes) = name.rsplit_once('-').and_then(|(_, bytes)| bytes.parse().ok()) {
            stores.push((name, bytes));
        }
    }
    stores.sort();
    stores
}

/// Removes a store: first its name, so that a kill in the middle leaves no half of one.
fn remove_from(folder: &Path, id: &str) {
    let going = format!("{GOING}{id}");
    if std::fs::rename(folder.join(id), folder.join(&going)).is_ok() {
        remove_now(folder, &going);
    }
}

fn remove_now(folder: &Path, name: &str) {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if let Ok(opened) = rustix::fs::open(folder, flags, Mode::empty()) {
        // What is left is removed with the next store.
        let _ = remove_name(opened.as_fd(), name.as_bytes(), 0);
    }
}

/// Makes the folder of all stores. In a workspace git ignores it, and `git clean` takes it for a repository and skips it.
fn prepare(folder: &Path) -> io::Result<()> {
    private::create_folder(folder)?;
    if !folder.ends_with(IN_WORKSPACE) {
        return Ok(());
    }
    // The rules are an untracked file, which "git clean" removes.
    let rules = folder.with_file_name(".gitignore");
    if !rules.is_file() {
        std::fs::write(rules, "*\n")?;
    }
    if !folder.join(".git/HEAD").is_file() {
        private::create_folder(&folder.join(".git/objects"))?;
        private::create_folder(&folder.join(".git/refs"))?;
        std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/none\n")?;
    }
    Ok(())
}

/// Returns whether a rename between a folder, or the place where it would be made, and another one is possible.
fn is_on_mount_of(path: &Path, other: &OwnedFd) -> bool {
    let mount = |stat: rustix::fs::Statx| (stat.stx_dev_major, stat.stx_dev_minor, stat.stx_mnt_id);
    let flags = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    let Some(existing) = path.ancestors().find(|path| path.is_dir()) else { return false };
    let one = rustix::fs::statx(rustix::fs::CWD, existing, AtFlags::empty(), flags).map(mount);
    let other = rustix::fs::statx(other, "", AtFlags::EMPTY_PATH, flags).map(mount);
    matches!((one, other), (Ok(one), Ok(other)) if one == other)
}

/// Tries whether the file system can swap two names.
fn can_swap(folder: &Path) -> bool {
    let made = || format!(".haft-{}.tmp", uuid::Uuid::now_v7().simple());
    let (one, other) = (folder.join(made()), folder.join(made()));
    let made = DirBuilder::new().create(&one).and_then(|()| DirBuilder::new().create(&other));
    let cwd = rustix::fs::CWD;
    let swapped = made.is_ok() && rustix::fs::renameat_with(cwd, &one, cwd, &other, RenameFlags::EXCHANGE).is_ok();
    let _ = (std::fs::remove_dir(&one), std::fs::remove_dir(&other));
    swapped
}

impl TreeStore {
    /// Moves what a command left in its layer into the store; copies it where the layer is on another file system.
    pub(super) fn take_in(&self, source: &LayerEntry) -> io::Result<StagingMove> {
        match source.move_to(&self.folder, TREE.as_ref()) {
            Err(Errno::XDEV) => {
                let (folder, name) = source.open_parent()?;
                copy_tree(folder.as_fd(), name.as_bytes(), self.folder.as_fd(), TREE.as_bytes())?;
                Ok(StagingMove::No)
            }
            Err(errno) => Err(errno.into()),
            Ok(()) => Ok(StagingMove::Yes),
        }
    }

    /// Returns the operations with what comes recognised as it is in the store.
    pub(super) fn recognised(&self, operations: &[ExchangeOperation]) -> Vec<ExchangeOperation> {
        let now = |path: &PathText| {
            let path = store_path(&path.path());
            let flags = OFlags::PATH | OFlags::NOFOLLOW;
            let opened = open_beneath(self.folder.as_fd(), &path, flags).and_then(rustix::fs::fstat);
            opened.ok().map(|stat| Identity::of(&stat))
        };
        let mut operations = operations.to_vec();
        for operation in &mut operations {
            if let ExchangeOperation::Bring { path, comes } | ExchangeOperation::Exchange { path, comes, .. } =
                operation
                && let Some(identity) = now(path)
            {
                *comes = identity;
            }
        }
        operations
    }

    /// Writes the operations of an exchange; an older list of that number belonged to one that failed.
    pub(super) fn write(&self, exchange: u32, operations: &[ExchangeOperation]) -> io::Result<()> {
        let path = self.list(exchange);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        Manifest::write(&private::create_file(&path)?, operations)?;
        Ok(rustix::fs::fsync(&self.folder)?)
    }

    /// Notes that an exchange was done.
    pub(super) fn note_end(&self, exchange: u32) -> io::Result<()> {
        let end = Clock::default().now(self.folder.as_fd(), self.folder.as_fd())?;
        let flags = OFlags::NOFOLLOW.bits().cast_signed();
        let file = OpenOptions::new().append(true).custom_flags(flags).open(self.list(exchange))?;
        Manifest::write_end(&file, end.nanoseconds())
    }

    /// Reads the operations of an exchange.
    pub(super) fn read(&self, exchange: u32) -> io::Result<Manifest> {
        let file: File = private::read_file(&self.list(exchange))?;
        Manifest::read(file)
    }

    fn list(&self, exchange: u32) -> PathBuf {
        self.path.join(format!("exchange-{exchange}"))
    }
}
