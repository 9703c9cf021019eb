//! Brings files that a command left in a layer into the workspace without copying them.
//!
//! Only haft can reach a layer once the command has ended, so its files no longer change. haft renames a file if the layer
//! is on the same mount, and copies it otherwise. If anything fails, the file returns to its layer: the caller can try again
//! without the path that failed.
//!
//! Not here: which files of a layer are committed (`layer::settling`), putting them in place (`replace`).

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use super::snapshot::LARGEST_MIDDLE;
use crate::files::compare::IncomingContent;
use crate::files::read::open::{open_beneath, open_name};
use crate::files::read::owner;
use crate::state::journal::{ContentHash, ContentLocation, PathState, PathText};

/// The folder of a layer, held open.
#[derive(Debug)]
pub(crate) struct LayerHandle {
    folder: OwnedFd,
    /// The folder in it that was opened last; the next file is most often in the same folder, and no program moves it.
    last: Mutex<Option<(PathBuf, Arc<OwnedFd>)>>,
}

/// A file or link that lies ready in a layer.
#[derive(Clone, Debug)]
pub(crate) struct LayerEntry {
    pub(crate) from: Arc<LayerHandle>,
    /// Its place in the layer.
    pub(crate) path: PathBuf,
}

/// What lies ready.
pub(in crate::files) struct Ready {
    /// What will be at the place. Of a file, where its content is kept is not said yet.
    pub(in crate::files) state: PathState,
    pub(in crate::files) content: ReadyContent,
}

/// The content of what lies ready.
pub(in crate::files) enum ReadyContent {
    /// That of a link, which is where it leads.
    Link,
    Bytes(Bytes),
    /// A large one, with its size.
    File(File, u64),
}

impl ReadyContent {
    /// Returns the content of a file, to be compared with what it replaces.
    pub(in crate::files) fn coming(&self) -> Option<IncomingContent<'_>> {
        match self {
            Self::Link => None,
            Self::Bytes(bytes) => Some(IncomingContent::Bytes(bytes)),
            Self::File(file, size) => Some(IncomingContent::File(file, *size)),
        }
    }
}

impl LayerHandle {
    pub(crate) fn new(folder: OwnedFd) -> Self {
        Self { folder, last: Mutex::default() }
    }

    fn open_parent<'p>(&self, path: &'p Path) -> Result<(Arc<OwnedFd>, &'p OsStr), Errno> {
        let name = path.file_name().ok_or(Errno::ISDIR)?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, folder)) = last.as_ref().filter(|(known, _)| known == parent) {
            return Ok((folder.clone(), name));
        }
        let opened = open_beneath(self.folder.as_fd(), parent, OFlags::DIRECTORY | OFlags::RDONLY)?;
        let folder = Arc::new(opened);
        *last = Some((parent.to_owned(), folder.clone()));
        Ok((folder, name))
    }
}

impl LayerEntry {
    /// Takes away what must not come in with a file, and says what it is then.
    pub(in crate::files) fn ready(&self) -> io::Result<Ready> {
        let (folder, name) = self.from.open_parent(&self.path)?;
        let stat = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => ready_file(&folder, name, &stat),
            FileType::Symlink => {
                let to = rustix::fs::readlinkat(&folder, name, Vec::new())?;
                let to = PathText::from(Path::new(OsStr::from_bytes(to.as_bytes())));
                Ok(Ready { state: PathState::Link { to }, content: ReadyContent::Link })
            }
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Opens the folder of the layer that holds it, and returns that with its name.
    pub(in crate::files) fn open_parent(&self) -> Result<(Arc<OwnedFd>, &OsStr), Errno> {
        self.from.open_parent(&self.path)
    }

    /// Makes sure that a file outlives a power cut.
    pub(in crate::files) fn sync(&self) -> io::Result<()> {
        let (folder, name) = self.from.open_parent(&self.path)?;
        match open_readable(&folder, name) {
            // A link is synced with the folder it comes into.
            Err(Errno::LOOP) => Ok(()),
            file => Ok(rustix::fs::fsync(file?)?),
        }
    }

    /// Moves it out of its layer, where nothing is.
    pub(in crate::files) fn move_to(&self, folder: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
        let (layer, from) = self.from.open_parent(&self.path)?;
        match rustix::fs::renameat_with(&layer, from, folder, name, RenameFlags::NOREPLACE) {
            // Not every file system can refuse to replace; a copy is put in place in another way.
            Err(Errno::INVAL | Errno::NOSYS) => Err(Errno::XDEV),
            moved => moved,
        }
    }

    /// Opens it to be copied: a file, or where a link leads.
    pub(in crate::files) fn open(&self) -> io::Result<OpenLayerEntry> {
        let (layer, name) = self.from.open_parent(&self.path)?;
        match open_readable(&layer, name) {
            Err(Errno::LOOP) => {
                let to = rustix::fs::readlinkat(&layer, name, Vec::new())?;
                Ok(OpenLayerEntry::Link(OsString::from_vec(to.into_bytes()).into()))
            }
            file => Ok(OpenLayerEntry::File(File::from(file?))),
        }
    }

    /// Takes a file or link into the layer, in its place: the very thing that had come from there, or what it replaced,
    /// which goes with the layer. Where the layer lies elsewhere it is removed.
    pub(in crate::files) fn take(&self, folder: &OwnedFd, beside: &str) -> Result<(), Errno> {
        let layer = self.from.open_parent(&self.path);
        match layer.and_then(|(layer, name)| rustix::fs::renameat(folder, beside, &layer, name)) {
            Ok(()) => Ok(()),
            Err(_) => rustix::fs::unlinkat(folder, beside, AtFlags::empty()),
        }
    }
}

/// An entry of a layer, opened.
pub(in crate::files) enum OpenLayerEntry {
    File(File),
    Link(PathBuf),
}

fn ready_file(folder: &OwnedFd, name: &OsStr, stat: &Stat) -> io::Result<Ready> {
    let file = File::from(open_readable(folder, name)?);
    // With the other bits, the program would run with the rights of another user or group.
    let mode = stat.st_mode & 0o1777;
    let is_touched = clear_attributes(&file, mode)?;
    if is_touched || stat.st_mode & 0o7777 != mode {
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
    }
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    let (hash, content) = if size <= LARGEST_MIDDLE as u64 {
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        (&file).read_to_end(&mut bytes)?;
        (ContentHash::of(&bytes), ReadyContent::Bytes(bytes.into()))
    } else {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(&file)?;
        (ContentHash(*hasher.finalize().as_bytes()), ReadyContent::File(file, size))
    };
    let state = PathState::File { mode, size, hash, content: ContentLocation::No, owner: Some(owner::of(stat)) };
    Ok(Ready { state, content })
}

/// Opens a file of a layer, even if its mode allows no user to read it: haft owns the file.
fn open_readable(folder: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let open = || open_name(folder, name.as_bytes(), OFlags::RDONLY);
    match open() {
        Err(Errno::ACCESS) => {
            let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            rustix::fs::chmodat(folder, name, Mode::from_raw_mode(0o600), AtFlags::empty())?;
            let opened = open();
            rustix::fs::chmodat(folder, name, Mode::from_raw_mode(stat.st_mode & 0o1777), AtFlags::empty())?;
            opened
        }
        opened => opened,
    }
}

/// How attributes begin that say something to a layer. Where a command sets one, the layer notes it one level deeper, and
/// in the workspace it would make the layers of later commands misread the file.
const OF_LAYERS: [&str; 2] = ["user.overlay.", "trusted.overlay."];

/// Removes the attributes that belong to layers, or give a program powers; returns whether there were any.
pub(in crate::files) fn clear_attributes(file: &File, mode: u32) -> io::Result<bool> {
    let mut names = super::snapshot::attributes_of(file);
    names.retain(|name| OF_LAYERS.iter().any(|begin| name.starts_with(begin)) || name == "security.capability");
    if names.is_empty() {
        return Ok(false);
    }
    // Not even the owner changes attributes of what is write-protected.
    rustix::fs::fchmod(file, Mode::from_raw_mode(mode | 0o200))?;
    for name in names {
        rustix::fs::fremovexattr(file, &*name)?;
    }
    Ok(true)
}
