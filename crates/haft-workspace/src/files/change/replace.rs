//! Replaces entries so that a name holds the old or the new content at any moment.
//!
//! haft writes new content beside its place, syncs it, and swaps it with the old content. Then it compares the old content
//! with the copy that it kept. If another program was faster, haft swaps the two back. It never writes in place.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use bytes::Bytes;
use haft_contract::doors::door::FileKind;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use super::bring::{LayerEntry, OpenLayerEntry};
use super::snapshot::{copy_metadata, is_same};
use crate::eager::Eager;
use crate::files::read::facts::kind_of;
use crate::files::read::open::WorkspaceRoot;
use crate::files::read::owner;
use crate::files::structure;
use crate::state::journal::{KeptContent, Rights};

/// The source of the content that is put in a place.
pub(in crate::files) enum ContentSource {
    Bytes(Bytes),
    /// What the journal has kept.
    Kept(KeptContent),
    /// The same with owner, mode and attributes.
    Copy(File),
}

/// The place where something is to be put, and its stat when it was looked at.
#[derive(Clone, Copy)]
pub(in crate::files) struct ReplaceTarget<'a> {
    pub(in crate::files) root: &'a WorkspaceRoot,
    pub(in crate::files) place: &'a Path,
    /// The name for what lies beside until it is in place.
    pub(in crate::files) beside: &'a str,
    pub(in crate::files) seen: Option<&'a Stat>,
    pub(in crate::files) travel: Travel<'a>,
    pub(in crate::files) syncing: Syncing,
}

/// Whether something of a layer is on its way.
#[derive(Clone, Copy)]
pub(in crate::files) enum Travel<'a> {
    Nothing,
    /// What comes is from there, and goes back when it is not put in place.
    Comes(&'a LayerEntry),
    /// What is in the place came from there, and goes back.
    Leaves(&'a LayerEntry),
}

/// When things are made to outlive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::files) enum Syncing {
    /// Each as it is done.
    Each,
    /// All together, by the caller.
    Together,
}

impl ReplaceTarget<'_> {
    pub(in crate::files) fn sync(&self, folder: &OwnedFd) -> Result<(), Trouble> {
        match self.syncing {
            Syncing::Each => Ok(rustix::fs::fsync(folder)?),
            Syncing::Together => Ok(()),
        }
    }

    /// Removes what was to come, and lies beside.
    pub(in crate::files) fn remove_new(&self, folder: &OwnedFd) -> Result<(), Errno> {
        match self.travel {
            Travel::Comes(brought) => brought.take(folder, self.beside),
            Travel::Nothing | Travel::Leaves(_) => remove(folder, self.beside),
        }
    }

    /// Removes what was in the place, and lies beside.
    fn remove_old(&self, folder: &OwnedFd) -> Result<(), Errno> {
        let is_folder = self.seen.is_some_and(|seen| kind_of(seen) == FileKind::Folder);
        match self.travel {
            // Freeing a file takes many times as long as moving it, and the layer is removed in the background.
            Travel::Leaves(brought) | Travel::Comes(brought) if !is_folder => brought.take(folder, self.beside),
            Travel::Nothing | Travel::Leaves(_) | Travel::Comes(_) => remove(folder, self.beside),
        }
    }

    fn replace_without_swap(&self, folder: &OwnedFd, name: &OsStr, seen: &Stat, ours: &Stat) -> Result<(), Trouble> {
        let now = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if !is_what_was_seen(&now, seen) {
            return Err(Trouble::Overtaken);
        }
        // A file never takes the place of a folder, nor the other way round; that has to go first.
        match (kind_of(seen), kind_of(ours)) {
            (FileKind::Folder, _) => rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)?,
            (_, FileKind::Folder) => rustix::fs::unlinkat(folder, name, AtFlags::empty())?,
            _ => {}
        }
        Ok(rustix::fs::renameat(folder, self.beside, folder, name)?)
    }
}

/// Removes a file, a link or an empty folder.
pub(in crate::files) fn remove(folder: &OwnedFd, name: &str) -> Result<(), Errno> {
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        // What the kernel says of folders.
        Err(Errno::ISDIR | Errno::PERM) => rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR),
        removed => removed,
    }
}

/// Why something is not in place.
#[derive(Debug)]
pub(in crate::files) enum Trouble {
    /// Another program was faster.
    Overtaken,
    /// The system said no.
    System(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Trouble::System(error)
    }
}

impl From<Errno> for Trouble {
    fn from(errno: Errno) -> Self {
        Trouble::System(errno.into())
    }
}

/// New content that lies beside its place, synced.
pub(in crate::files) struct StagedEntry {
    /// The device and number of the folder that it lies in.
    folder: (u64, u64),
    /// That folder, to find the content again if another program moves the folder.
    held: Option<OwnedFd>,
    ours: Stat,
    /// What could not be kept of the old file.
    pub(in crate::files) notes: Vec<String>,
    pub(in crate::files) moved: StagingMove,
}

/// Whether the new content was moved beside its place, or written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::files) enum StagingMove {
    Yes,
    No,
}

impl StagedEntry {
    /// Returns the device that it lies on.
    pub(in crate::files) fn device(&self) -> u64 {
        self.folder.0
    }

    /// Closes the folder. A caller that stages a thousand contents must not hold a thousand folders open.
    pub(in crate::files) fn let_go(&mut self) {
        self.held = None;
    }
}

/// Writes new content beside its place.
pub(in crate::files) fn stage(
    spot: &ReplaceTarget<'_>,
    new: ContentSource,
    rights: Option<Rights>,
) -> Result<StagedEntry, Trouble> {
    let (folder, _) = spot.root.open_parent(spot.place)?;
    let beside = write_beside(spot, &folder, new, rights)?;
    staged(folder, beside, StagingMove::No)
}

/// Moves something of a layer beside its place; copies it where the layer lies elsewhere.
pub(in crate::files) fn stage_brought(spot: &ReplaceTarget<'_>, brought: &LayerEntry) -> Result<StagedEntry, Trouble> {
    let (folder, _) = spot.root.open_parent(spot.place)?;
    if spot.syncing == Syncing::Each {
        brought.sync()?;
    }
    match brought.move_to(&folder, spot.beside.as_ref()) {
        Ok(()) => {}
        Err(Errno::XDEV) => {
            let beside = copy_beside(spot, &folder, brought)?;
            return staged(folder, beside, StagingMove::No);
        }
        Err(errno) => return Err(errno.into()),
    }
    match statted(&folder, spot.beside) {
        Ok(ours) => staged(folder, (other_names(spot.seen), ours), StagingMove::Yes),
        Err(errno) => {
            let _ = brought.take(&folder, spot.beside);
            Err(errno.into())
        }
    }
}

fn copy_beside(spot: &ReplaceTarget<'_>, folder: &OwnedFd, brought: &LayerEntry) -> Result<Beside, Trouble> {
    match brought.open()? {
        OpenLayerEntry::File(file) => write_beside(spot, folder, ContentSource::Copy(file), None),
        OpenLayerEntry::Link(to) => {
            rustix::fs::symlinkat(to, folder, spot.beside)?;
            Ok((other_names(spot.seen), statted(folder, spot.beside)?))
        }
    }
}

/// What could not be kept, and what lies beside now.
type Beside = (Vec<String>, Stat);

fn staged(folder: OwnedFd, (notes, ours): Beside, moved: StagingMove) -> Result<StagedEntry, Trouble> {
    Ok(StagedEntry { folder: identity(&folder)?, held: Some(folder), ours, notes, moved })
}

/// Puts something of a layer where nothing is, without a stay beside.
pub(in crate::files) fn bring_directly(spot: &ReplaceTarget<'_>, brought: &LayerEntry) -> Result<(), Trouble> {
    let (folder, name) = spot.root.open_parent(spot.place)?;
    match brought.move_to(&folder, name) {
        Ok(()) => spot.sync(&folder),
        Err(Errno::EXIST) => Err(Trouble::Overtaken),
        // A part of the workspace lies elsewhere.
        Err(Errno::XDEV) => {
            let alone = ReplaceTarget { syncing: Syncing::Each, ..*spot };
            place(&alone, &stage_brought(&alone, brought)?)
        }
        Err(errno) => Err(errno.into()),
    }
}

pub(in crate::files) fn statted(folder: &OwnedFd, name: &str) -> Result<Stat, Errno> {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

fn write_beside(
    spot: &ReplaceTarget<'_>,
    folder: &OwnedFd,
    new: ContentSource,
    rights: Option<Rights>,
) -> Result<Beside, Trouble> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    // A user must not read beside the place what they may not read in place. So the file gets its mode when it is whole.
    let has_mode = spot.seen.is_some() || rights.is_some() || matches!(new, ContentSource::Copy(_));
    let at_first = Mode::from_raw_mode(if has_mode { 0o600 } else { 0o666 });
    let file = File::from(rustix::fs::openat(folder, spot.beside, flags, at_first)?);
    if spot.seen.is_none() && rights.is_none_or(|rights| rights.owner.is_none()) {
        structure::let_belong_like(&file, folder);
    }
    let filled = fill(spot, file, new, rights);
    if filled.is_err() {
        let _ = rustix::fs::unlinkat(folder, spot.beside, AtFlags::empty());
    }
    filled
}

fn identity(folder: &OwnedFd) -> Result<(u64, u64), Errno> {
    rustix::fs::fstat(folder).map(|stat| (stat.st_dev, stat.st_ino))
}

/// Removes new content that was not put in its place. What is not ours stays, whatever its name.
pub(in crate::files) fn unstage(spot: &ReplaceTarget<'_>, staged: &StagedEntry) {
    let reopened = match &staged.held {
        Some(_) => None,
        None => spot.root.open_parent(spot.place).ok().map(|(folder, _)| folder),
    };
    let Some(folder) = staged.held.as_ref().or(reopened.as_ref()) else { return };
    if statted(folder, spot.beside).is_ok_and(|beside| is_same(&beside, &staged.ours)) {
        let _ = spot.remove_new(folder);
    }
}

/// Puts new content in its place.
pub(in crate::files) fn place(spot: &ReplaceTarget<'_>, staged: &StagedEntry) -> Result<(), Trouble> {
    let placed = place_in_folder(spot, staged);
    if placed.is_err() {
        unstage(spot, staged);
    }
    spot.sync(&placed?)
}

fn place_in_folder(spot: &ReplaceTarget<'_>, staged: &StagedEntry) -> Result<OwnedFd, Trouble> {
    let (folder, name) = spot.root.open_parent(spot.place)?;
    // The folder itself may have been moved since the content was written into it.
    if identity(&folder)? != staged.folder {
        return Err(Trouble::Overtaken);
    }
    swap(spot, (&folder, name), &staged.ours)?;
    Ok(folder)
}

/// Writes the new file beside the old one; returns what could not be kept, and the file.
fn fill(
    spot: &ReplaceTarget<'_>,
    mut file: File,
    new: ContentSource,
    rights: Option<Rights>,
) -> Result<Beside, Trouble> {
    let mut notes = Vec::new();
    let mut is_like_old = spot.seen.is_some_and(|seen| kind_of(seen) == FileKind::File);
    match new {
        ContentSource::Bytes(bytes) => Eager::new(&file).write_all(&bytes)?,
        ContentSource::Kept(mut content) => content.copy_to(&mut file)?,
        ContentSource::Copy(mut source) => {
            io::copy(&mut source, &mut file)?;
            notes = copy_metadata(&source, &rustix::fs::fstat(&source)?, &file)?;
            is_like_old = false;
        }
    }
    if let Some(stat) = spot.seen.filter(|_| is_like_old) {
        // Its attributes are read from it; a link that was put there since is not followed.
        let old = spot.root.open_own(spot.place)?;
        notes = copy_metadata(&old, stat, &file)?;
        let dropped = owner::drop_privileges(&file)?;
        // Recorded rights bring the bits of the content that they belong to.
        notes.extend(dropped.filter(|_| rights.is_none()));
    }
    notes.extend(other_names(spot.seen));
    if let Some(rights) = rights {
        notes.extend(owner::grant(&file, rights, spot.seen.filter(|_| is_like_old))?);
    }
    if spot.syncing == Syncing::Each {
        file.sync_all()?;
    }
    Ok((notes, rustix::fs::fstat(&file)?))
}

/// Says that what is replaced has other names.
fn other_names(seen: Option<&Stat>) -> Vec<String> {
    let others = seen.filter(|seen| kind_of(seen) == FileKind::File).map_or(0, |seen| seen.st_nlink.saturating_sub(1));
    let names = match others {
        0 => return Vec::new(),
        1 => "1 other name".to_owned(),
        _ => format!("{others} other names"),
    };
    vec![format!("It had {names} (hard links); those keep the old content.")]
}

/// Swaps the new thing with the old one, and makes sure that the old one was what we think.
pub(in crate::files) fn swap(
    spot: &ReplaceTarget<'_>,
    (folder, name): (&OwnedFd, &OsStr),
    ours: &Stat,
) -> Result<(), Trouble> {
    let Some(seen) = spot.seen else { return appear(folder, spot.beside, name) };
    match rustix::fs::renameat_with(folder, spot.beside, folder, name, RenameFlags::EXCHANGE) {
        Ok(()) => {
            #[cfg(test)]
            super::crash_points::point();
            let out = statted(folder, spot.beside);
            let is_expected = out.is_ok_and(|out| is_what_was_seen(&out, seen));
            // The new entry is in place, and an old file that stays does no harm. A folder that stays is not empty.
            if is_expected && (spot.remove_old(folder).is_ok() || kind_of(seen) != FileKind::Folder) {
                return Ok(());
            }
            give_back(spot, (folder, name), ours);
            Err(Trouble::Overtaken)
        }
        // Not every file system can swap; then a look right before must do.
        Err(Errno::INVAL | Errno::NOSYS) => spot.replace_without_swap(folder, name, seen, ours),
        Err(Errno::NOENT) => Err(Trouble::Overtaken),
        Err(errno) => Err(errno.into()),
    }
}

/// A folder is what was seen though things in it have come and gone; of others nothing may have changed.
pub(in crate::files) fn is_what_was_seen(now: &Stat, seen: &Stat) -> bool {
    match kind_of(seen) {
        FileKind::Folder => (now.st_dev, now.st_ino) == (seen.st_dev, seen.st_ino),
        FileKind::File | FileKind::Link | FileKind::Special => is_same(now, seen),
    }
}

/// How often something is given back to a program that keeps replacing it.
const MOST_SWAPS: usize = 16;

/// Gives back what was swapped out and is not what we think, until what comes out is what we had put there.
///
/// In between another program may overwrite what we had put in place. Its version is then the newest, and is also put back.
fn give_back(spot: &ReplaceTarget<'_>, (folder, name): (&OwnedFd, &OsStr), ours: &Stat) {
    let beside = spot.beside;
    let mut put = *ours;
    for _ in 0..MOST_SWAPS {
        let held = statted(folder, beside);
        let swapped = rustix::fs::renameat_with(folder, beside, folder, name, RenameFlags::EXCHANGE);
        let out = statted(folder, beside);
        match (held, swapped, out) {
            (Ok(_), Ok(()), Ok(out)) if is_what_was_seen(&out, ours) => {
                let _ = spot.remove_new(folder);
                return;
            }
            // Another program meant to replace it by something newer, but only we have seen it removed.
            (Ok(_), Ok(()), Ok(out)) if is_what_was_seen(&out, &put) => return set_aside(folder, beside, name),
            (Ok(held), Ok(()), Ok(_)) => put = held,
            _ => break,
        }
    }
    if appear(folder, beside, name).is_err() {
        set_aside(folder, beside, name);
    }
}

/// Gives something that is not ours a name that can be seen. Where the system does not let us, it stays where it is.
pub(in crate::files) fn set_aside(folder: &OwnedFd, beside: &str, name: &OsStr) {
    for number in 1..100 {
        let mut kept = name.to_owned();
        kept.push(if number == 1 { ".kept-by-haft".to_owned() } else { format!(".kept-by-haft-{number}") });
        if !matches!(appear(folder, beside, &kept), Err(Trouble::Overtaken)) {
            return;
        }
    }
}

/// Gives a new file its name, never over one that has appeared since.
fn appear(folder: &OwnedFd, beside: &str, name: &OsStr) -> Result<(), Trouble> {
    match rustix::fs::renameat_with(folder, beside, folder, name, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(Trouble::Overtaken),
        Err(Errno::INVAL | Errno::NOSYS) => {
            match rustix::fs::linkat(folder, beside, folder, name, AtFlags::empty()) {
                Err(Errno::EXIST) => return Err(Trouble::Overtaken),
                // FAT, and shares of other machines, have no second names.
                Err(Errno::PERM | Errno::NOSYS | Errno::OPNOTSUPP) => {
                    return appear_over_reserved(folder, beside, name);
                }
                linked => linked?,
            }
            Ok(rustix::fs::unlinkat(folder, beside, AtFlags::empty())?)
        }
        Err(errno) => Err(errno.into()),
    }
}

/// Reserves the name with an empty file, which only one can make, and puts the new file over it.
fn appear_over_reserved(folder: &OwnedFd, beside: &str, name: &OsStr) -> Result<(), Trouble> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let reserved = match rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o600)) {
        Err(Errno::EXIST) => return Err(Trouble::Overtaken),
        reserved => reserved?,
    };
    // Another program may have taken it for a file to write to.
    if rustix::fs::fstat(&reserved)?.st_size > 0 {
        return Err(Trouble::Overtaken);
    }
    Ok(rustix::fs::renameat(folder, beside, folder, name)?)
}

/// Takes a file or a link away: first aside, and for good when it was what we think.
pub(in crate::files) fn take_away(spot: &ReplaceTarget<'_>) -> Result<(), Trouble> {
    let (folder, name) = spot.root.open_parent(spot.place)?;
    let Some(seen) = spot.seen else { return Err(Trouble::Overtaken) };
    match rustix::fs::renameat(&folder, name, &folder, spot.beside) {
        Err(Errno::NOENT) => return Err(Trouble::Overtaken),
        renamed => renamed?,
    }
    #[cfg(test)]
    super::crash_points::point();
    let out = statted(&folder, spot.beside);
    if !out.is_ok_and(|out| is_same(&out, seen)) {
        // Where nothing has appeared since, it goes back to where it was.
        if appear(&folder, spot.beside, name).is_err() {
            set_aside(&folder, spot.beside, name);
        }
        return Err(Trouble::Overtaken);
    }
    if let Err(errno) = spot.remove_old(&folder) {
        appear(&folder, spot.beside, name)?;
        return Err(errno.into());
    }
    spot.sync(&folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_content_is_unstaged() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let root = WorkspaceRoot::open(folder.path()).expect("it is there");
        for let_go in [false, true] {
            let spot = ReplaceTarget {
                root: &root,
                place: Path::new("a"),
                beside: ".haft-1.tmp",
                seen: None,
                travel: Travel::Nothing,
                syncing: Syncing::Each,
            };
            let mut staged =
                stage(&spot, ContentSource::Bytes(Bytes::from_static(b"ours")), None).expect("it can be written");
            if let_go {
                staged.let_go();
            }
            std::fs::write(folder.path().join("b"), "theirs").expect("it can be written");
            std::fs::rename(folder.path().join("b"), folder.path().join(spot.beside)).expect("both are there");
            unstage(&spot, &staged);
            let left = std::fs::read_to_string(folder.path().join(spot.beside));
            assert_eq!(left.expect("it is there"), "theirs");
            std::fs::remove_file(folder.path().join(spot.beside)).expect("it is there");
            unstage(
                &spot,
                &stage(&spot, ContentSource::Bytes(Bytes::from_static(b"ours")), None).expect("it can be written"),
            );
            assert!(!folder.path().join(spot.beside).exists());
        }
    }
}
