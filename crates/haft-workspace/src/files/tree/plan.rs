//! Plans an exchange: which entries come, which go, and which stay because another program changed them meanwhile.
//!
//! A folder that no other program changed moves as a whole; otherwise its entries are planned one by one. The same walk
//! plans a commit (new entries are in a layer, with the marks of the overlay) and an undo (they are in the store).

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::fs::{FileType, OFlags, Stat};
use rustix::io::Errno;

use super::super::clock::FilesystemTime;
use super::super::layer::{
    ComparedEntry, FOLDER_MODE, MODE, has_origin, is_opaque, is_same_file, open_anyway, remove_name,
};
use super::clean::{DEEPEST, TreeSize, clean_file, clean_folder, clean_new_tree, disk_use, too_deep};
use super::manifest::{ExchangeOperation, FolderFacts, Identity};
use crate::files::change::removal_mark::is_removal_mark;
use crate::files::read::folder::{FolderNameList, stat_name};
use crate::files::read::open::open_name;
use crate::state::journal::{PathText, StoreBase};

/// What a commit will do.
#[derive(Debug)]
pub(in crate::files) struct CommitPlan {
    pub(super) base: StoreBase,
    pub(super) operations: Vec<ExchangeOperation>,
    /// How many entries are created, replaced and removed.
    pub(in crate::files) counts: [u64; 3],
    /// How many entries stay because another program changed them meanwhile.
    pub(in crate::files) kept: usize,
    /// How much of the disk the store will take.
    pub(in crate::files) bytes: u64,
    /// How much of it was in the workspace before.
    pub(in crate::files) going: u64,
}

impl CommitPlan {
    /// Returns whether there is nothing to do.
    pub(in crate::files) fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }
}

/// What an entry comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// A layer: it has marks, and what does not come in is removed from it.
    Layer,
    /// The store: everything in it stays there unless it comes.
    Store,
}

/// Plans one exchange.
pub(in crate::files) struct Planner<'a> {
    from: From,
    /// What has a later time of change was changed by another program.
    since: FilesystemTime,
    stopped: &'a dyn Fn() -> bool,
    pub(super) path: PathBuf,
    pub(super) operations: Vec<ExchangeOperation>,
    pub(super) folders: Vec<ExchangeOperation>,
    counts: [u64; 3],
    pub(super) kept: usize,
    coming: u64,
    going: u64,
    /// The entries that undos of later changes put back, looked up when they are needed.
    put_back: OnceCell<HashSet<Identity>>,
    pub(super) find_put_back: &'a dyn Fn() -> HashSet<Identity>,
}

/// The folder that holds an entry, and the name of the entry in it.
type PlanEntryLocation<'a> = (OwnedFd, &'a OsStr);

/// One side of a merge: an entry in its open folder.
#[derive(Clone, Copy)]
pub(super) struct MergeSide<'a> {
    pub(super) folder: BorrowedFd<'a>,
    pub(super) name: &'a [u8],
    pub(super) stat: &'a Stat,
}

impl MergeSide<'_> {
    fn entry(&self) -> ComparedEntry<'_> {
        ComparedEntry { folder: self.folder, name: self.name }
    }

    pub(super) fn is_folder(&self) -> bool {
        FileType::from_raw_mode(self.stat.st_mode) == FileType::Directory
    }
}

impl<'a> Planner<'a> {
    /// Plans with what a layer has.
    pub(in crate::files) fn of_layer(since: FilesystemTime, stopped: &'a dyn Fn() -> bool) -> Self {
        Self::new(From::Layer, since, stopped)
    }

    pub(super) fn new(from: From, since: FilesystemTime, stopped: &'a dyn Fn() -> bool) -> Self {
        let (path, operations, folders, put_back) = Default::default();
        let (counts, kept, coming, going) = ([0; 3], 0, 0, 0);
        let find_put_back = &HashSet::new;
        Self { from, since, stopped, path, operations, folders, counts, kept, coming, going, put_back, find_put_back }
    }

    /// Plans to commit a tree: what a layer has of it, and what is in the workspace. Nothing when nothing changes.
    pub(in crate::files) fn commit(
        self,
        base: StoreBase,
        layer: Option<PlanEntryLocation<'_>>,
        workspace: Option<PlanEntryLocation<'_>>,
        hides: Hides,
    ) -> io::Result<Option<CommitPlan>> {
        let mut planner = self;
        let stat = |side: &Option<PlanEntryLocation<'_>>| match side {
            None => Ok(None),
            Some((folder, name)) => stat_if_there(folder.as_fd(), name.as_bytes()),
        };
        let stats = (stat(&layer)?, stat(&workspace)?);
        let upper = layer.as_ref().zip(stats.0.as_ref()).map(side_of);
        let lower = workspace.as_ref().zip(stats.1.as_ref()).map(side_of);
        planner.pair(upper, lower, (hides, 0))?;
        let moves = !planner.operations.is_empty();
        let has_new_mode = |operation: &ExchangeOperation| matches!(operation, ExchangeOperation::Folder { before, after, .. } if before.mode != after.mode);
        if !moves && !planner.folders.iter().any(has_new_mode) {
            if planner.kept == 0 {
                return Ok(None);
            }
            // Where everything else stays, times of folders are no change of their own.
            planner.folders.clear();
        }
        planner.operations.append(&mut planner.folders);
        let Self { operations, counts, kept, coming, going, .. } = planner;
        Ok(Some(CommitPlan { base, operations, counts, kept, bytes: coming.max(going), going }))
    }

    /// Plans one entry: what comes, and what is in the workspace.
    pub(super) fn pair(
        &mut self,
        upper: Option<MergeSide<'_>>,
        lower: Option<MergeSide<'_>>,
        (hides, depth): MergeLevel,
    ) -> io::Result<()> {
        if (self.stopped)() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let upper = upper.filter(|upper| !is_removal_mark(upper.stat));
        match (upper, lower) {
            (None, None) => Ok(()),
            (None, Some(lower)) => self.take(lower, depth),
            (Some(upper), None) => self.bring(upper),
            (Some(upper), Some(lower)) if upper.is_folder() && lower.is_folder() => {
                self.both_folders(upper, lower, (hides, depth))
            }
            (Some(upper), Some(lower)) if self.is_same(upper, lower)? => self.discard(upper),
            (Some(upper), Some(lower)) => {
                let scan = self.scan(lower, depth)?;
                if scan.is_foreign {
                    self.kept += 1;
                    return self.discard(upper);
                }
                self.exchange(upper, lower, scan)
            }
        }
    }

    fn both_folders(
        &mut self,
        upper: MergeSide<'_>,
        lower: MergeSide<'_>,
        (hides, depth): MergeLevel,
    ) -> io::Result<()> {
        let replaces = hides == Hides::Yes || (self.from == From::Layer && is_opaque(upper.folder, upper.name));
        if replaces {
            let scan = self.scan(lower, depth)?;
            if !scan.is_foreign {
                return self.exchange(upper, lower, scan);
            }
        }
        self.merge(upper, lower, (if replaces { Hides::Yes } else { Hides::No }, depth))
    }

    /// Plans the entries of two folders that both stay.
    fn merge(&mut self, upper: MergeSide<'_>, lower: MergeSide<'_>, (hides, depth): MergeLevel) -> io::Result<()> {
        if depth >= DEEPEST {
            return Err(too_deep());
        }
        let opened = self.open_coming(upper)?;
        let below = match open_name(lower.folder, lower.name, OFlags::DIRECTORY | OFlags::RDONLY) {
            // What cannot be looked at stays.
            Err(Errno::ACCESS) => {
                self.kept += 1;
                return self.discard(upper);
            }
            below => below?,
        };
        let (mut names, mut others) = (FolderNameList::default(), FolderNameList::default());
        names.read(&opened)?;
        let mut index = 0;
        while let Some((name, _)) = names.at(index) {
            index += 1;
            self.inner((&opened, &below), name, (hides, depth + 1))?;
        }
        if hides == Hides::Yes {
            others.read(&below)?;
            let mut index = 0;
            while let Some((name, _)) = others.at(index) {
                index += 1;
                if stat_if_there(opened.as_fd(), name)?.is_none() {
                    self.inner((&opened, &below), name, (hides, depth + 1))?;
                }
            }
        }
        self.note_folder(upper, lower, opened)
    }

    /// Opens a folder of what comes. One of a layer is opened whatever its mode is; one of the store keeps its mode.
    fn open_coming(&self, upper: MergeSide<'_>) -> Result<OwnedFd, Errno> {
        match (open_name(upper.folder, upper.name, OFlags::DIRECTORY | OFlags::RDONLY), self.from) {
            (Err(Errno::ACCESS), From::Layer) => open_anyway(upper.folder, upper.name),
            (opened, _) => opened,
        }
    }

    fn inner(&mut self, (upper, lower): (&OwnedFd, &OwnedFd), name: &[u8], level: MergeLevel) -> io::Result<()> {
        let (up, low) = (stat_if_there(upper.as_fd(), name)?, stat_if_there(lower.as_fd(), name)?);
        self.path.push(OsStr::from_bytes(name));
        let upper = up.as_ref().map(|stat| MergeSide { folder: upper.as_fd(), name, stat });
        let lower = low.as_ref().map(|stat| MergeSide { folder: lower.as_fd(), name, stat });
        let planned = self.pair(upper, lower, level);
        self.path.pop();
        planned
    }

    /// Notes that a folder gets another mode or time, after everything in it is done.
    fn note_folder(&mut self, upper: MergeSide<'_>, lower: MergeSide<'_>, opened: OwnedFd) -> io::Result<()> {
        if self.from == From::Store {
            return Ok(());
        }
        clean_folder(&File::from(opened), upper.stat)?;
        let (before, mut after) = (FolderFacts::of(lower.stat), FolderFacts::of(upper.stat));
        // A command takes other bits away and never sets them.
        after.mode &= FOLDER_MODE | before.mode;
        if before != after {
            self.folders.push(ExchangeOperation::Folder { path: self.here(), before, after });
        }
        Ok(())
    }

    pub(super) fn bring(&mut self, upper: MergeSide<'_>) -> io::Result<()> {
        let kind = FileType::from_raw_mode(upper.stat.st_mode);
        let is_kept = matches!(kind, FileType::Directory | FileType::RegularFile | FileType::Symlink);
        if self.from == From::Layer && !is_kept {
            return self.discard(upper);
        }
        let size = self.clean(upper)?;
        self.counts[0] += size.entries;
        self.coming += size.bytes;
        self.operations.push(ExchangeOperation::Bring { path: self.here(), comes: identity(upper)? });
        Ok(())
    }

    /// Removes an entry that no other program changed; in a folder with such changes, only the unchanged entries.
    fn take(&mut self, lower: MergeSide<'_>, depth: usize) -> io::Result<()> {
        let scan = self.scan(lower, depth)?;
        if !scan.is_foreign {
            self.counts[2] += scan.size.entries;
            self.going += scan.size.bytes;
            self.operations.push(ExchangeOperation::Take { path: self.here(), goes: Identity::of(lower.stat) });
            return Ok(());
        }
        if !lower.is_folder() || self.is_moved(lower.stat) {
            self.kept += 1;
            return Ok(());
        }
        if depth >= DEEPEST {
            return Err(too_deep());
        }
        let opened = open_name(lower.folder, lower.name, OFlags::DIRECTORY | OFlags::RDONLY)?;
        let mut names = FolderNameList::default();
        names.read(&opened)?;
        let mut index = 0;
        while let Some((name, _)) = names.at(index) {
            index += 1;
            let Some(stat) = stat_if_there(opened.as_fd(), name)? else { continue };
            self.path.push(OsStr::from_bytes(name));
            let taken = self.take(MergeSide { folder: opened.as_fd(), name, stat: &stat }, depth + 1);
            self.path.pop();
            taken?;
        }
        Ok(())
    }

    fn exchange(&mut self, upper: MergeSide<'_>, lower: MergeSide<'_>, scan: EntryScan) -> io::Result<()> {
        let size = self.clean(upper)?;
        let both = size.entries.min(scan.size.entries);
        self.counts[0] += size.entries - both;
        self.counts[1] += both;
        self.counts[2] += scan.size.entries - both;
        self.coming += size.bytes;
        self.going += scan.size.bytes;
        let (path, comes, goes) = (self.here(), identity(upper)?, Identity::of(lower.stat));
        self.operations.push(ExchangeOperation::Exchange { path, comes, goes });
        Ok(())
    }

    /// Takes out of what comes what must not come in; returns how much it is.
    fn clean(&self, upper: MergeSide<'_>) -> io::Result<TreeSize> {
        if self.from == From::Store {
            return Ok(TreeSize { entries: 1, bytes: disk_use(upper.stat) });
        }
        match FileType::from_raw_mode(upper.stat.st_mode) {
            FileType::Directory => clean_new_tree(upper.folder, upper.name),
            FileType::RegularFile => {
                clean_file(upper.folder, upper.name, upper.stat)?;
                Ok(TreeSize { entries: 1, bytes: disk_use(upper.stat) })
            }
            _ => Ok(TreeSize { entries: 1, bytes: 0 }),
        }
    }

    /// Lets an entry not come in.
    fn discard(&self, upper: MergeSide<'_>) -> io::Result<()> {
        match self.from {
            From::Layer => Ok(remove_name(upper.folder, upper.name, 0)?),
            From::Store => Ok(()),
        }
    }

    /// Returns whether a file was only opened for writing: it has the same content, mode and time.
    fn is_same(&self, upper: MergeSide<'_>, lower: MergeSide<'_>) -> io::Result<bool> {
        let (one, other) = (upper.stat, lower.stat);
        let facts = |stat: &Stat| (stat.st_size, stat.st_mtime, stat.st_mtime_nsec, stat.st_mode & MODE);
        if self.from == From::Store || facts(one) != facts(other) || one.st_mode != other.st_mode {
            return Ok(false);
        }
        let is_file = |stat: &Stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if !is_file(one) || !is_file(other) {
            return Ok(false);
        }
        let is_copied = has_origin(upper.folder, upper.name);
        Ok(is_copied && is_same_file(upper.entry(), lower.entry(), self.stopped)?)
    }

    /// Looks whether another program changed something in an entry, and how much it is.
    fn scan(&self, lower: MergeSide<'_>, depth: usize) -> io::Result<EntryScan> {
        let mut scan = EntryScan::default();
        self.scan_into(lower, depth, &mut scan)?;
        Ok(scan)
    }

    fn scan_into(&self, lower: MergeSide<'_>, depth: usize, scan: &mut EntryScan) -> io::Result<()> {
        if !lower.is_folder() {
            scan.is_foreign |= self.since.is_before_change_of(lower.stat) && !self.is_put_back(lower.stat);
            scan.size.entries += 1;
            scan.size.bytes += disk_use(lower.stat);
            return Ok(());
        }
        if depth >= DEEPEST {
            return Err(too_deep());
        }
        scan.is_foreign |= self.is_moved(lower.stat);
        let opened = match open_name(lower.folder, lower.name, OFlags::DIRECTORY | OFlags::RDONLY) {
            // It moves as a whole all the same.
            Err(Errno::ACCESS) => return Ok(()),
            opened => opened?,
        };
        let mut names = FolderNameList::default();
        names.read(&opened)?;
        let mut index = 0;
        while let Some((name, _)) = names.at(index).filter(|_| !scan.is_foreign) {
            index += 1;
            if let Some(stat) = stat_if_there(opened.as_fd(), name)? {
                self.scan_into(MergeSide { folder: opened.as_fd(), name, stat: &stat }, depth + 1, scan)?;
            }
        }
        Ok(())
    }

    /// Returns whether another program moved a folder. An undo sets times of folders itself, so there it tells nothing.
    fn is_moved(&self, stat: &Stat) -> bool {
        self.from == From::Layer && self.since.is_before_move_of(stat)
    }

    /// Returns whether an undo of a later change put an entry back, so that only its time of change is new.
    fn is_put_back(&self, stat: &Stat) -> bool {
        self.from == From::Store && self.put_back.get_or_init(|| (self.find_put_back)()).contains(&Identity::of(stat))
    }

    fn here(&self) -> PathText {
        PathText::from(self.path.as_path())
    }
}

/// Whether entries of the workspace that the layer does not bring are removed, and the depth of the entry.
pub(super) type MergeLevel = (Hides, usize);

/// Whether a folder replaces the one in the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::files) enum Hides {
    Yes,
    No,
}

/// The result of a look at an entry of the workspace.
#[derive(Clone, Copy, Debug, Default)]
struct EntryScan {
    /// Whether another program changed something.
    is_foreign: bool,
    size: TreeSize,
}

/// Cleaning sets modes and attributes, never size or time of a file.
fn identity(upper: MergeSide<'_>) -> io::Result<Identity> {
    Ok(Identity::of(&stat_name(upper.folder, upper.name)?))
}

fn side_of<'a>((place, stat): (&'a PlanEntryLocation<'_>, &'a Stat)) -> MergeSide<'a> {
    MergeSide { folder: place.0.as_fd(), name: place.1.as_bytes(), stat }
}

pub(super) fn stat_if_there(folder: BorrowedFd<'_>, name: &[u8]) -> io::Result<Option<Stat>> {
    match stat_name(folder, name) {
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        stat => Ok(Some(stat?)),
    }
}
