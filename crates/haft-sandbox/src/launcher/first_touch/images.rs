//! Keeps the contents that a command touches, each path once, with a record.
//!
//! If a file is about to lose its name, haft keeps it by a second name (a hard link), which copies nothing. If a file is
//! about to change, haft copies it. If the command opens a linked file for writing by another name, the link becomes a copy.

mod copy;

use std::collections::{HashMap, HashSet};
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use haft_contract::doors::before_image::{BeforeImage, FileImage, RECORDS, TouchRecord};
use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use self::copy::{Copier, EntryName};
use super::calls::PathOperation;
use super::places::FoundPlace;

/// Deepest folder whose contents are kept when it is moved.
const DEEPEST: usize = 200;

/// The kept contents of all roots.
pub(super) struct Images {
    roots: Vec<RootImages>,
    /// Paths that belong to haft.
    own: Vec<PathBuf>,
    /// Files that are kept by a second name, by device and inode: the root, and the number there.
    linked: HashMap<(u64, u64), (usize, u32)>,
    /// Files that the command itself gave another name, and one of their earlier names.
    named_twice: HashMap<(u64, u64), (usize, PathBuf)>,
    copier: Copier,
}

impl FoundPlace {
    fn entry(&self) -> EntryName<'_> {
        EntryName { folder: self.folder.as_fd(), name: &self.name }
    }
}

struct RootImages {
    path: PathBuf,
    folder: OwnedFd,
    records: File,
    next: u32,
    touched: HashSet<PathBuf>,
    /// Paths below which everything is known.
    whole: HashSet<PathBuf>,
}

impl Images {
    /// Begins with empty folders. As long as this process lives, it holds a lock on the records.
    pub(super) fn begin((roots, own): (&[PathBuf], &[PathBuf]), folders: Vec<OwnedFd>) -> io::Result<Self> {
        let begin = |(path, folder): (&PathBuf, OwnedFd)| {
            let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC;
            let records = File::from(rustix::fs::openat(&folder, RECORDS, flags, Mode::RUSR | Mode::WUSR)?);
            rustix::fs::flock(&records, FlockOperation::NonBlockingLockExclusive)?;
            let (touched, whole) = Default::default();
            Ok(RootImages { path: path.clone(), folder, records, next: 0, touched, whole })
        };
        let roots = roots.iter().zip(folders).map(begin).collect::<io::Result<Vec<_>>>()?;
        let (linked, named_twice, copier) = Default::default();
        Ok(Self { roots, own: own.to_vec(), linked, named_twice, copier })
    }

    /// Returns the paths of the roots.
    pub(super) fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|root| root.path.as_path())
    }

    /// Records that the arguments of a call changed while the watcher read them.
    pub(super) fn note_race(&mut self, name: Option<&CString>) {
        let path = name.map(|name| OsStr::from_bytes(name.as_bytes()).into()).unwrap_or_default();
        let why = "a program changed its own arguments while haft looked at them".to_owned();
        if let Some(root) = self.roots.first_mut() {
            let _ = root.record(TouchRecord { path, before: BeforeImage::Lost(why), is_whole: false });
        }
    }

    /// Keeps the entry at a path before a call touches it. Fails if there is no room: then the call must not run.
    pub(super) fn touch(&mut self, place: &FoundPlace, act: PathOperation) -> Result<(), Errno> {
        let stat = rustix::fs::statat(&place.folder, &place.name, AtFlags::SYMLINK_NOFOLLOW);
        let stat = match stat {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return self.touch_absent(place, act),
            // The call will fail with the same error.
            Err(_) => return Ok(()),
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        self.refuse_own(place, act)?;
        if kind != FileType::Directory {
            self.keep_other_names(&stat, act)?;
        }
        match act {
            // An existing entry stays.
            PathOperation::Make => return Ok(()),
            PathOperation::Link => {
                let name = (place.root, place.path.clone());
                self.named_twice.entry(identity(&stat)).or_insert(name);
                return Ok(());
            }
            PathOperation::WriteOrMake | PathOperation::Write if kind != FileType::RegularFile => return Ok(()),
            _ => {}
        }
        if kind == FileType::Directory && act == PathOperation::Replace {
            return self.touch_replaced_folder(place, &stat);
        }
        if self.roots[place.root].is_known(&place.path) {
            return Ok(());
        }
        match kind {
            FileType::Directory => self.touch_folder(place, &stat, act),
            FileType::Symlink => {
                let to = rustix::fs::readlinkat(&place.folder, &place.name, Vec::new())?;
                let before = BeforeImage::Link(OsString::from_vec(to.into_bytes()));
                self.record(place.root, &place.path, before)
            }
            _ => {
                let before = self.keep_file(place.root, place.entry(), &stat, act)?;
                self.record(place.root, &place.path, before)
            }
        }
    }

    /// Refuses to change a path that belongs to haft, or to move it with a folder.
    fn refuse_own(&self, place: &FoundPlace, act: PathOperation) -> Result<(), Errno> {
        let path = self.roots[place.root].path.join(&place.path);
        let is_in = |own: &PathBuf| {
            path.starts_with(own) || act == PathOperation::MoveAway && own.starts_with(&path) && own.exists()
        };
        if self.own.iter().any(is_in) { Err(Errno::ACCESS) } else { Ok(()) }
    }

    fn touch_absent(&mut self, place: &FoundPlace, act: PathOperation) -> Result<(), Errno> {
        let makes = matches!(act, PathOperation::WriteOrMake | PathOperation::Make | PathOperation::Replace);
        if !makes {
            return Ok(());
        }
        self.refuse_own(place, act)?;
        if self.roots[place.root].is_whole(&place.path) {
            return Ok(());
        }
        // For a folder that the command removed this is the second record, which says that everything in it is known:
        // what comes to its place is new, also what a folder that is moved there contains.
        self.record(place.root, &place.path, BeforeImage::Absent)
    }

    /// Keeps a folder that another one is about to replace. The kernel replaces only an empty one: then everything that
    /// was in it is known.
    fn touch_replaced_folder(&mut self, place: &FoundPlace, stat: &Stat) -> Result<(), Errno> {
        let root = &self.roots[place.root];
        let is_empty = copy::open_readable(place.entry(), stat).is_ok_and(is_empty);
        if root.is_whole(&place.path) || !is_empty && root.is_known(&place.path) {
            return Ok(());
        }
        let (path, before) = (place.path.clone(), folder_image(stat));
        self.roots[place.root].record(TouchRecord { path, before, is_whole: is_empty })
    }

    fn touch_folder(&mut self, place: &FoundPlace, stat: &Stat, act: PathOperation) -> Result<(), Errno> {
        match act {
            PathOperation::MoveAway => {
                let mut records = Vec::new();
                let kept = self.keep_tree(place.root, place.path.clone(), place.entry(), &mut records);
                let root = &mut self.roots[place.root];
                kept.and_then(|()| root.append(&records))?;
                for record in records {
                    root.know(record);
                }
                Ok(())
            }
            _ => {
                let (path, before) = (place.path.clone(), folder_image(stat));
                self.roots[place.root].record(TouchRecord { path, before, is_whole: false })
            }
        }
    }

    /// Keeps a file, a pipe, a socket or a device; returns `Lost` with the reason if that is not possible.
    fn keep_file(
        &mut self,
        root: usize,
        source: EntryName<'_>,
        stat: &Stat,
        act: PathOperation,
    ) -> Result<BeforeImage, Errno> {
        let images = &mut self.roots[root];
        let number = images.next;
        let name = number.to_string();
        let stays = matches!(act, PathOperation::Write | PathOperation::WriteOrMake | PathOperation::Describe);
        // Only a content must not change under its second name, and this has none.
        let is_special = FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile;
        let may_link = is_special || !stays;
        let is_linked = may_link
            && rustix::fs::linkat(source.folder, source.name, &images.folder, &*name, AtFlags::empty()).is_ok();
        if !is_linked {
            let copied = match is_special {
                true => copy::copy_special(images.folder.as_fd(), &name, stat),
                false => self.copier.copy(source, images.folder.as_fd(), &name, stat),
            };
            match copied {
                Ok(()) => {}
                Err(errno @ (Errno::NOSPC | Errno::DQUOT)) => return Err(errno),
                Err(_) if is_special => return Ok(BeforeImage::Lost("it is no file, folder or link".into())),
                Err(errno) => return Ok(BeforeImage::Lost(format!("it could not be kept: {errno}"))),
            }
        }
        images.next += 1;
        // Another program may have it open: it stays the same one.
        let is_shared = stays && (is_special || self.has_other_names(stat));
        if is_linked && !is_special {
            self.linked.insert(identity(stat), (root, number));
        }
        let (mode, owner, inode) = (stat.st_mode, (stat.st_uid, stat.st_gid), stat.st_ino);
        // Making a second name changes this time; it is compared only if the file stays in its place.
        let changed = (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or_default());
        Ok(BeforeImage::File(FileImage { number, mode, owner, inode, changed, is_shared }))
    }

    /// Returns whether a file has names that neither haft nor the command made.
    fn has_other_names(&self, stat: &Stat) -> bool {
        let own = u64::from(self.linked.contains_key(&identity(stat)));
        #[allow(clippy::useless_conversion, reason = "it is shorter on other processors")]
        let names = u64::from(stat.st_nlink);
        names > 1 + own && !self.named_twice.contains_key(&identity(stat))
    }

    /// Prepares for a change of a file that is kept by a second name, or has a name that is not kept yet.
    fn keep_other_names(&mut self, stat: &Stat, act: PathOperation) -> Result<(), Errno> {
        if !matches!(act, PathOperation::Write | PathOperation::WriteOrMake | PathOperation::Describe) {
            return Ok(());
        }
        if let Some((root, number)) = self.linked.remove(&identity(stat)) {
            let folder = self.roots[root].folder.as_fd();
            self.copier.part(folder, &number.to_string(), stat)?;
        }
        if let Some((root, path)) = self.named_twice.remove(&identity(stat))
            && !self.roots[root].is_known(&path)
        {
            let opened = rustix::fs::open(&self.roots[root].path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
            let now = rustix::fs::statat(&opened, &path, AtFlags::SYMLINK_NOFOLLOW);
            if now.is_ok_and(|now| identity(&now) == identity(stat)) {
                let source = EntryName { folder: opened.as_fd(), name: path.as_os_str() };
                let before = self.keep_file(root, source, stat, act)?;
                self.record(root, &path, before)?;
            }
        }
        Ok(())
    }

    /// Keeps a folder with everything in it that has no record yet.
    fn keep_tree(
        &mut self,
        root: usize,
        path: PathBuf,
        source: EntryName<'_>,
        records: &mut Vec<TouchRecord>,
    ) -> Result<(), Errno> {
        let EntryName { folder, name } = source;
        let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let is_known = self.roots[root].is_known(&path);
        let kind = FileType::from_raw_mode(stat.st_mode);
        let is_known = is_known && (kind != FileType::Directory || self.roots[root].is_whole(&path));
        if is_known {
            return Ok(());
        }
        let before = match kind {
            FileType::Directory => folder_image(&stat),
            FileType::Symlink => {
                let to = rustix::fs::readlinkat(folder, name, Vec::new())?;
                BeforeImage::Link(OsString::from_vec(to.into_bytes()))
            }
            _ => self.keep_file(root, source, &stat, PathOperation::MoveAway)?,
        };
        records.push(TouchRecord { path: path.clone(), before, is_whole: true });
        if kind != FileType::Directory {
            return Ok(());
        }
        if path.components().count() > DEEPEST {
            let before = BeforeImage::Lost("the folder is too deep".into());
            records.push(TouchRecord { path, before, is_whole: false });
            return Ok(());
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = match rustix::fs::openat(folder, name, flags, Mode::empty()) {
            Ok(opened) => opened,
            Err(errno) => {
                let before = BeforeImage::Lost(format!("the folder cannot be read: {errno}"));
                records.push(TouchRecord { path, before, is_whole: false });
                return Ok(());
            }
        };
        for entry in Dir::read_from(&opened)? {
            let entry = entry?;
            let inner = OsStr::from_bytes(entry.file_name().to_bytes());
            if inner != "." && inner != ".." {
                let source = EntryName { folder: opened.as_fd(), name: inner };
                self.keep_tree(root, path.join(inner), source, records)?;
            }
        }
        Ok(())
    }

    /// Records what was at a path, where that is all that was there.
    fn record(&mut self, root: usize, path: &Path, before: BeforeImage) -> Result<(), Errno> {
        self.roots[root].record(TouchRecord { path: path.to_owned(), before, is_whole: true })
    }
}

impl RootImages {
    /// Returns whether a path has a record, or is below a path where everything is known.
    fn is_known(&self, path: &Path) -> bool {
        self.touched.contains(path) || self.is_whole(path)
    }

    fn is_whole(&self, path: &Path) -> bool {
        !self.whole.is_empty() && path.ancestors().any(|above| self.whole.contains(above))
    }

    fn record(&mut self, record: TouchRecord) -> Result<(), Errno> {
        self.append(std::slice::from_ref(&record))?;
        self.know(record);
        Ok(())
    }

    fn know(&mut self, record: TouchRecord) {
        if record.is_whole {
            self.whole.insert(record.path.clone());
        }
        self.touched.insert(record.path);
    }

    fn append(&mut self, records: &[TouchRecord]) -> Result<(), Errno> {
        let mut bytes = Vec::with_capacity(128 * records.len());
        records.iter().for_each(|record| record.write_to(&mut bytes));
        self.records.write_all(&bytes).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::NOSPC))
    }
}

fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

fn is_empty(folder: OwnedFd) -> bool {
    let is_name = |name: &[u8]| name != b"." && name != b"..";
    Dir::read_from(&folder)
        .is_ok_and(|mut names| !names.any(|entry| entry.is_ok_and(|entry| is_name(entry.file_name().to_bytes()))))
}

fn folder_image(stat: &Stat) -> BeforeImage {
    BeforeImage::Folder { mode: stat.st_mode & 0o7777, owner: (stat.st_uid, stat.st_gid) }
}
