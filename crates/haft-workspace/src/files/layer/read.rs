//! Reads what a command left in a layer, and compares it with the folder beneath.
//!
//! In a layer, a mark (`removal_mark`) says that a name was removed, and a folder with a mark hides what lies beneath it.
//! Everything else is new, replaced or unchanged: a program that opens a file for writing and changes nothing leaves a copy
//! of it. So contents are compared. Everything is opened by its name in an open folder, and no link is followed.
//!
//! Not here: what of it may be committed (`judge`), committing it (`settle`).

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use haft_contract::doors::door::FileKind;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::super::clock::FilesystemTime;
use super::difference::{Below, Caps, Clash, Comes, Difference, LayerChange, LayerExclusion, NewFile, RootedPath};
use super::folder::open_anyway;
use super::settling::same_content::is_same;
use super::settling::sync::OwnCommits;
use super::touched::{self, FileTimeChange};
use crate::files::change::removal_mark::is_removal_mark;
use crate::files::read::facts::kind_of;
use crate::files::read::folder::{FolderNameList, stat_name};
use crate::files::read::open::open_name;
use crate::history::git_index;

/// Deepest folder that is entered: every level holds two descriptors.
const DEEPEST: usize = 200;
/// The largest index of git that is read: one of a million files has 100 MiB.
const LARGEST_INDEX: u64 = 256 * 1024 * 1024;
/// The bits of a mode that are compared and brought in.
pub(in crate::files) const MODE: u32 = 0o1777;
/// Those of a folder: there a bit says to which group belongs what is made in it.
pub(in crate::files) const FOLDER_MODE: u32 = 0o3777;
/// The bits that let a program run as its owner or group. A command can take them away and never set them.
const SET_ID: u32 = 0o6000;
/// All bits of a mode.
pub(super) const ALL_BITS: u32 = 0o7777;
/// The mark of a folder that hides what lies beneath it.
pub(super) const OPAQUE: &str = "user.overlay.opaque";
/// The mark of a file that was copied from beneath.
pub(super) const ORIGIN: &str = "user.overlay.origin";

/// Why a layer could not be read.
#[derive(Debug)]
pub(super) enum Unread {
    Stopped,
    System(PathBuf, io::Error),
}

/// Reads one layer.
pub(super) struct LayerReader<'a> {
    pub(super) root: usize,
    pub(super) since: FilesystemTime,
    pub(super) caps: Caps,
    pub(super) stopped: &'a dyn Fn() -> bool,
    /// Says of a folder whether it is an ignored tree, which is committed by rename.
    pub(super) is_generated: &'a dyn Fn(&Path) -> bool,
    /// Says whether a path belongs to haft itself.
    pub(super) is_off_limits: &'a dyn Fn(&Path) -> bool,
    pub(super) own: &'a OwnCommits,
    pub(super) difference: &'a mut Difference,
    pub(super) path: PathBuf,
}

/// A folder in the layer, with the one beneath it.
struct LayerLevel {
    upper: OwnedFd,
    lower: Option<OwnedFd>,
    /// Whether what lies beneath is hidden.
    hides: bool,
    way: FolderDescent,
}

/// The way from the root of a layer to a folder.
#[derive(Clone, Copy)]
struct FolderDescent {
    /// Whether another program moved the folder beneath, or one above it.
    is_moved: bool,
    depth: usize,
}

/// Whether everything in a folder goes, so that the folder can go too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goes {
    All,
    NotAll,
}

impl LayerReader<'_> {
    /// Reads everything in a layer.
    pub(super) fn read(&mut self, upper: BorrowedFd<'_>, lower: BorrowedFd<'_>) -> Result<(), Unread> {
        let reopened = |folder| open_name(folder, b".", OFlags::DIRECTORY | OFlags::RDONLY);
        let upper = reopened(upper).map_err(|errno| self.unread(errno))?;
        let lower = Some(reopened(lower).map_err(|errno| self.unread(errno))?);
        self.folder(&LayerLevel { upper, lower, hides: false, way: FolderDescent { is_moved: false, depth: 0 } })
    }

    fn folder(&mut self, level: &LayerLevel) -> Result<(), Unread> {
        let mut names = FolderNameList::default();
        let contents = names.read(&level.upper).map_err(|errno| self.unread(errno))?;
        // Names beyond what is looked at count: they are more than the caps allow.
        self.difference.entries += usize::try_from(contents.beyond).unwrap_or(usize::MAX);
        let mut index = 0;
        while let Some((name, _)) = names.at(index) {
            index += 1;
            if (self.stopped)() {
                return Err(Unread::Stopped);
            }
            self.path.push(OsStr::from_bytes(name));
            let read = self.entry(level, name);
            self.path.pop();
            read?;
        }
        match &level.lower {
            Some(lower) if level.hides => self.hidden(level, lower, &names),
            _ => Ok(()),
        }
    }

    /// Notes the names beneath a folder that it hides and has not itself.
    fn hidden(&mut self, level: &LayerLevel, lower: &OwnedFd, own: &FolderNameList) -> Result<(), Unread> {
        let mut names = FolderNameList::default();
        let reopened = open_name(lower, b".", OFlags::DIRECTORY | OFlags::RDONLY);
        reopened.and_then(|lower| names.read(&lower)).map_err(|errno| self.unread(errno))?;
        let (mut index, mut own_index) = (0, 0);
        while let Some((name, _)) = names.at(index) {
            index += 1;
            while own.at(own_index).is_some_and(|(own, _)| own < name) {
                own_index += 1;
            }
            if own.at(own_index).is_none_or(|(own, _)| own != name) {
                self.path.push(OsStr::from_bytes(name));
                let is_anothers = stat_name(lower, name).is_ok_and(|stat| self.own.is_of_another(&self.spot(), &stat));
                let gone = if is_anothers { Ok(Goes::NotAll) } else { self.gone(lower.as_fd(), name, level.way) };
                self.path.pop();
                gone?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, level: &LayerLevel, name: &[u8]) -> Result<(), Unread> {
        let upper = stat_name(&level.upper, name).map_err(|errno| self.unread(errno))?;
        let lower = match level.lower.as_ref().map(|lower| stat_name(lower, name)) {
            None | Some(Err(Errno::NOENT | Errno::NOTDIR)) => None,
            // haft cannot keep what it cannot read, so it stays.
            Some(Err(Errno::ACCESS)) => {
                self.leave_out(LayerExclusion::NotAllowed);
                return Ok(());
            }
            Some(stat) => Some(stat.map_err(|errno| self.unread(errno))?),
        };
        match FileType::from_raw_mode(upper.st_mode) {
            _ if is_removal_mark(&upper) => match &level.lower {
                Some(folder) => self.gone(folder.as_fd(), name, level.way).map(drop),
                None => Ok(()),
            },
            FileType::Directory => self.new_folder(level, name, (&upper, lower.as_ref())),
            FileType::RegularFile | FileType::Symlink => self.new_content(level, name, (&upper, lower.as_ref())),
            _ => {
                self.leave_out(LayerExclusion::Special);
                Ok(())
            }
        }
    }

    fn new_folder(
        &mut self,
        level: &LayerLevel,
        name: &[u8],
        (upper, lower): (&Stat, Option<&Stat>),
    ) -> Result<(), Unread> {
        let lies = lower.filter(|lower| kind_of(lower) == FileKind::Folder);
        // A bit that only the workspace's folder has is one that the command took away.
        let mode = upper.st_mode & (FOLDER_MODE | lies.map_or(0, |lies| lies.st_mode & SET_ID));
        if (lower.is_none() || lies.is_some()) && (self.is_generated)(&self.path) {
            self.difference.trees.push(self.spot());
            return Ok(());
        }
        if level.way.depth >= DEEPEST {
            self.leave_out(LayerExclusion::TooDeep);
            return Ok(());
        }
        let clash = lower.and_then(|lower| self.clash(level.way, lower));
        match lies {
            None => {
                self.push(lower, Comes::Folder { mode }, clash.or(level.way.is_moved.then_some(Clash::FolderMoved)))
            }
            Some(lies) if lies.st_mode & ALL_BITS != mode => self.push(lower, Comes::Mode(mode), clash),
            Some(_) => {}
        }
        let opened = open_anyway(level.upper.as_fd(), name).map_err(|errno| self.unread(errno))?;
        let below = match (lies, &level.lower) {
            (Some(_), Some(folder)) => match open_name(folder, name, OFlags::DIRECTORY | OFlags::RDONLY) {
                Err(Errno::ACCESS) => return self.not_looked_into(&opened),
                lower => Some(lower.map_err(|errno| self.unread(errno))?),
            },
            _ => None,
        };
        let is_moved = level.way.is_moved || lies.is_some_and(|lies| self.since.is_before_move_of(lies));
        let hides = level.hides || attribute(&opened, OPAQUE).is_some_and(|mark| mark == b"y");
        let way = FolderDescent { is_moved, depth: level.way.depth + 1 };
        self.folder(&LayerLevel { upper: opened, lower: below, hides, way })
    }

    /// Notes that what a command left in a folder is not committed: haft cannot look at what lies beneath.
    fn not_looked_into(&mut self, upper: &OwnedFd) -> Result<(), Unread> {
        let mut names = FolderNameList::default();
        names.read(upper).map_err(|errno| self.unread(errno))?;
        if names.at(0).is_some() {
            self.leave_out(LayerExclusion::NotAllowed);
        }
        Ok(())
    }

    fn new_content(
        &mut self,
        level: &LayerLevel,
        name: &[u8],
        (upper, lower): (&Stat, Option<&Stat>),
    ) -> Result<(), Unread> {
        let same_kind = lower.filter(|lower| kind_of(lower) == kind_of(upper));
        let comes = if kind_of(upper) == FileKind::Link {
            let read = |folder: &OwnedFd| rustix::fs::readlinkat(folder, name, Vec::new());
            let to = read(&level.upper).map_err(|errno| self.unread(errno))?;
            let is_same =
                same_kind.zip(level.lower.as_ref()).is_some_and(|(_, lower)| read(lower).is_ok_and(|old| old == to));
            if is_same {
                return Ok(());
            }
            Comes::Link
        } else {
            match self.new_file(level, name, (upper, same_kind))? {
                Some(comes) => comes,
                None => return Ok(()),
            }
        };
        // What lies in a folder that a file replaces goes first.
        if let (Some(lower), Some(folder)) = (lower.filter(|lower| kind_of(lower) == FileKind::Folder), &level.lower) {
            if (self.is_generated)(&self.path) {
                self.difference.trees.push(self.spot());
                return Ok(());
            }
            let clash = self.clash(level.way, lower);
            let goes = self.gone_inside(folder.as_fd(), name, level.way)?;
            let clash = clash.or((goes == Goes::NotAll).then_some(Clash::Holds));
            self.push(Some(lower), comes, clash);
            return Ok(());
        }
        let clash = match lower {
            Some(lower) => self.clash(level.way, lower),
            None if level.way.is_moved => Some(Clash::FolderMoved),
            // Only what was there was copied up. Without that mark it counts as new, which loses nothing.
            None => self.was_copied(level, name, upper).then_some(Clash::Gone),
        };
        self.push(lower, comes, clash);
        Ok(())
    }

    /// Says what comes of a file: its content, its mode alone, or nothing when nothing was changed.
    fn new_file(
        &mut self,
        level: &LayerLevel,
        name: &[u8],
        (upper, lower): (&Stat, Option<&Stat>),
    ) -> Result<Option<Comes>, Unread> {
        let mode = upper.st_mode & MODE;
        let size = u64::try_from(upper.st_size).unwrap_or(0);
        let shared = (upper.st_nlink > 1).then_some(upper.st_ino);
        if let (Some(lower), Some(folder)) = (lower, &level.lower)
            && (lower.st_size == upper.st_size && self.is_same_content(level, folder, name)?
                || git_index::is_index(&self.path) && is_refreshed(level, folder, name))
        {
            let kept = kept_set_id(upper, lower);
            if upper.st_mode & SET_ID & !kept != 0 {
                self.leave_out(LayerExclusion::SetId);
            }
            let alone = (mode | kept != lower.st_mode & ALL_BITS).then_some(Comes::Mode(mode | kept));
            if shared.is_none() {
                if alone.is_none()
                    && self.difference.touched.len() < touched::MOST
                    && self.clash(level.way, lower).is_none()
                {
                    self.difference.touched.extend(FileTimeChange::of(self.spot(), upper, lower));
                }
                return Ok(alone);
            }
            let clash = self.clash(level.way, lower);
            let comes = Comes::File(NewFile { size, shared });
            let twin = LayerChange { spot: self.spot(), source: None, below: Some(Below::from(lower)), comes, clash };
            self.difference.push_twin(twin, alone);
            return Ok(None);
        }
        if upper.st_mode & SET_ID != 0 {
            self.leave_out(LayerExclusion::SetId);
        }
        Ok(Some(Comes::File(NewFile { size, shared })))
    }

    fn is_same_content(&self, level: &LayerLevel, folder: &OwnedFd, name: &[u8]) -> Result<bool, Unread> {
        let upper = open_file(level.upper.as_fd(), name).map_err(|errno| self.unread(errno))?;
        let Ok(lower) = open_name(folder, name, OFlags::RDONLY) else { return Ok(false) };
        let same = is_same(upper, File::from(lower), self.stopped);
        same.map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => Unread::Stopped,
            _ => Unread::System(self.path.clone(), error),
        })
    }

    fn was_copied(&self, level: &LayerLevel, name: &[u8], upper: &Stat) -> bool {
        // If the names of a folder have not changed, nothing was removed from it.
        let lower = level.lower.as_ref().and_then(|lower| rustix::fs::fstat(lower).ok());
        let may_be = lower.is_some_and(|lower| self.since.is_before_change_of(&lower));
        if !may_be || level.hides || kind_of(upper) != FileKind::File {
            return false;
        }
        open_file(level.upper.as_fd(), name).is_ok_and(|file| attribute(&file, ORIGIN).is_some())
    }

    /// Notes that a name beneath goes, with everything in it.
    fn gone(&mut self, lower: BorrowedFd<'_>, name: &[u8], way: FolderDescent) -> Result<Goes, Unread> {
        let stat = match stat_name(lower, name) {
            // Another program was faster.
            Err(Errno::NOENT) => return Ok(Goes::All),
            Err(Errno::ACCESS) => {
                self.leave_out(LayerExclusion::NotAllowed);
                return Ok(Goes::NotAll);
            }
            stat => stat.map_err(|errno| self.unread(errno))?,
        };
        if (self.is_off_limits)(&self.path) {
            return Ok(Goes::NotAll);
        }
        if kind_of(&stat) == FileKind::Special {
            self.leave_out(LayerExclusion::Special);
            return Ok(Goes::NotAll);
        }
        let is_folder = kind_of(&stat) == FileKind::Folder;
        if is_folder && (self.is_generated)(&self.path) {
            self.difference.trees.push(self.spot());
            return Ok(Goes::All);
        }
        if is_folder && self.gone_inside(lower, name, way)? == Goes::NotAll {
            return Ok(Goes::NotAll);
        }
        // Of a folder its own move tells; what is new in it is seen there.
        let clash = match is_folder {
            true if self.since.is_before_move_of(&stat) => Some(Clash::FolderMoved),
            true => None,
            false => self.clash(way, &stat),
        };
        self.push(Some(&stat), Comes::Nothing, clash);
        Ok(if clash.is_some() { Goes::NotAll } else { Goes::All })
    }

    fn gone_inside(&mut self, lower: BorrowedFd<'_>, name: &[u8], way: FolderDescent) -> Result<Goes, Unread> {
        if way.depth >= DEEPEST {
            self.leave_out(LayerExclusion::TooDeep);
            return Ok(Goes::NotAll);
        }
        let opened = match open_name(lower, name, OFlags::DIRECTORY | OFlags::RDONLY) {
            // haft cannot keep what it cannot read, so it stays.
            Err(Errno::ACCESS) => {
                self.leave_out(LayerExclusion::NotAllowed);
                return Ok(Goes::NotAll);
            }
            opened => opened.map_err(|errno| self.unread(errno))?,
        };
        let is_moved = way.is_moved || rustix::fs::fstat(&opened).is_ok_and(|stat| self.since.is_before_move_of(&stat));
        let inner = FolderDescent { is_moved, depth: way.depth + 1 };
        let mut names = FolderNameList::default();
        names.read(&opened).map_err(|errno| self.unread(errno))?;
        let (mut goes, mut index) = (Goes::All, 0);
        while let Some((name, _)) = names.at(index) {
            index += 1;
            if (self.stopped)() {
                return Err(Unread::Stopped);
            }
            self.path.push(OsStr::from_bytes(name));
            let one = self.gone(opened.as_fd(), name, inner);
            self.path.pop();
            if one? == Goes::NotAll {
                goes = Goes::NotAll;
            }
        }
        Ok(goes)
    }

    /// Says what another program did to what lies beneath.
    fn clash(&self, way: FolderDescent, lower: &Stat) -> Option<Clash> {
        let is_changed = match kind_of(lower) {
            // The names in a folder change with every file in it.
            FileKind::Folder => self.since.is_before_move_of(lower),
            FileKind::File | FileKind::Link | FileKind::Special => self.since.is_before_change_of(lower),
        };
        if is_changed && !self.own.is_left(&self.spot(), lower) {
            return Some(Clash::Changed);
        }
        way.is_moved.then_some(Clash::FolderMoved)
    }

    fn push(&mut self, below: Option<&Stat>, comes: Comes, clash: Option<Clash>) {
        let found = LayerChange { spot: self.spot(), source: None, below: below.map(Below::from), comes, clash };
        self.difference.push(self.caps, found);
    }

    fn leave_out(&mut self, why: LayerExclusion) {
        self.difference.left_out.push((self.spot(), why));
    }

    fn spot(&self) -> RootedPath {
        RootedPath { root: self.root, path: self.path.clone() }
    }

    fn unread(&self, errno: Errno) -> Unread {
        Unread::System(self.path.clone(), errno.into())
    }
}

/// Opens a file of a layer, also one that its owner may not read.
pub(in crate::files) fn open_file(folder: BorrowedFd<'_>, name: &[u8]) -> Result<File, Errno> {
    let open = || open_name(folder, name, OFlags::RDONLY);
    match open() {
        Err(Errno::ACCESS) => {
            let mode = Mode::from_raw_mode(stat_name(folder, name)?.st_mode & 0o7777);
            rustix::fs::chmodat(folder, name, mode | Mode::RUSR, AtFlags::empty())?;
            let opened = open()?;
            rustix::fs::fchmod(&opened, mode)?;
            Ok(opened.into())
        }
        opened => Ok(opened?.into()),
    }
}

/// Returns whether a folder of a layer hides what lies beneath it.
pub(in crate::files) fn is_opaque(folder: BorrowedFd<'_>, name: &[u8]) -> bool {
    let opened = match open_name(folder, name, OFlags::DIRECTORY | OFlags::RDONLY) {
        Err(Errno::ACCESS) => open_anyway(folder, name),
        opened => opened,
    };
    opened.is_ok_and(|opened| attribute(&opened, OPAQUE).is_some_and(|mark| mark == b"y"))
}

/// Returns whether a file of a layer was copied from beneath.
pub(in crate::files) fn has_origin(folder: BorrowedFd<'_>, name: &[u8]) -> bool {
    open_file(folder, name).is_ok_and(|file| attribute(&file, ORIGIN).is_some())
}

/// Returns whether two files have the same content.
pub(in crate::files) fn is_same_file(
    one: ComparedEntry<'_>,
    other: ComparedEntry<'_>,
    stopped: &dyn Fn() -> bool,
) -> io::Result<bool> {
    let other = open_name(other.folder, other.name, OFlags::RDONLY)?;
    is_same(open_file(one.folder, one.name)?, File::from(other), stopped)
}

/// An open folder, and the name of an entry in it.
#[derive(Clone, Copy)]
pub(in crate::files) struct ComparedEntry<'a> {
    pub(in crate::files) folder: BorrowedFd<'a>,
    pub(in crate::files) name: &'a [u8],
}

fn attribute(file: impl AsFd, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 256];
    let length = rustix::fs::fgetxattr(file, name, &mut value).ok()?;
    value.truncate(length);
    Some(value)
}

/// Returns which of those bits stay on a file of the same content: those that it still has, if nothing else of its mode changed.
fn kept_set_id(upper: &Stat, lower: &Stat) -> u32 {
    if upper.st_mode & MODE == lower.st_mode & MODE { upper.st_mode & lower.st_mode & SET_ID } else { 0 }
}

/// Returns whether git has only refreshed its index: the times in it changed, and nothing that it says.
fn is_refreshed(level: &LayerLevel, lower: &OwnedFd, name: &[u8]) -> bool {
    let content = |folder: BorrowedFd<'_>| {
        let mut bytes = Vec::new();
        let read = open_file(folder, name).ok()?.take(LARGEST_INDEX + 1).read_to_end(&mut bytes).ok()?;
        (read as u64 <= LARGEST_INDEX).then_some(bytes)
    };
    let both = content(level.upper.as_fd()).zip(content(lower.as_fd()));
    both.is_some_and(|(new, old)| git_index::says_the_same(&new, &old))
}
