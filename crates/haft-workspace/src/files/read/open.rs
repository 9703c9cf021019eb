//! Opens beneath the root descriptor, never through a link and never outside.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use haft_contract::files::path::Target;
use haft_contract::outcome::error::{FailedOperation, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::locate::resolve;
use crate::files::change::ancestors::OpenWay;
use crate::files::guarding::secrets::SecretFiles;
use crate::files::system_error;

/// The root of a workspace, held open, and further folders that the user added.
pub(crate) struct WorkspaceRoot {
    folder: OwnedFd,
    path: PathBuf,
    /// Places in these are inside too; they are named by their absolute path.
    added: Vec<(PathBuf, OwnedFd)>,
    /// Folders that are never inside, wherever they lie: haft's own.
    off_limits: Vec<PathBuf>,
    /// Places that trusted code names, which no command changes.
    named: RwLock<BTreeSet<PathBuf>>,
    /// The user's home, where git has settings for all repositories.
    home: Option<PathBuf>,
    /// What is remembered of the folders of the workspace.
    index: Arc<SecretFiles>,
}

impl WorkspaceRoot {
    pub(in crate::files) fn open(folder: &Path) -> io::Result<Self> {
        let (path, folder) = open_folder(folder)?;
        let (added, off_limits, named, home, index) = Default::default();
        Ok(Self { folder, path, added, off_limits, named, home, index })
    }

    /// Says where the user's home is.
    pub(in crate::files) fn at_home(&mut self, home: Option<PathBuf>) {
        self.home = home;
    }

    pub(in crate::files) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    pub(in crate::files) fn index(&self) -> &Arc<SecretFiles> {
        &self.index
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes another folder in.
    pub(in crate::files) fn add(&mut self, folder: &Path) -> io::Result<()> {
        self.added.push(open_folder(folder)?);
        Ok(())
    }

    /// Returns this root with everything else taken in as well, for cleaning up what was allowed once.
    pub(in crate::files) fn with_everything(&self) -> io::Result<Self> {
        let mut added = Vec::new();
        for (path, folder) in &self.added {
            added.push((path.clone(), folder.try_clone()?));
        }
        added.push(open_folder(Path::new("/"))?);
        let (path, off_limits) = (self.path.clone(), self.off_limits.clone());
        let named = RwLock::new(self.named().clone());
        let (folder, home, index) = (self.folder.try_clone()?, self.home.clone(), Arc::default());
        Ok(Self { folder, path, added, off_limits, named, home, index })
    }

    /// Takes in places that trusted code names.
    pub(in crate::files) fn protect(&self, places: impl IntoIterator<Item = PathBuf>) {
        self.named.write().unwrap_or_else(PoisonError::into_inner).extend(places);
    }

    /// Returns whether trusted code names a place.
    pub(in crate::files) fn is_named(&self, place: &Path) -> bool {
        self.named().contains(place)
    }

    fn named(&self) -> RwLockReadGuard<'_, BTreeSet<PathBuf>> {
        self.named.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets nothing in this folder be inside; it need not exist.
    pub(in crate::files) fn leave_out(&mut self, folder: &Path) {
        // Also what does not exist yet lies behind the links above it.
        self.off_limits.push(resolve(folder).unwrap_or_else(|_| folder.to_owned()));
    }

    /// Leaves out the folders in the workspace that may hold before-images of ignored trees.
    pub(in crate::files) fn leave_out_stores(&mut self) {
        let roots: Vec<PathBuf> = self.folders().into_iter().map(|(path, _)| path.to_owned()).collect();
        let places = roots.iter().flat_map(|root| crate::files::tree::hidden_places().map(|place| root.join(place)));
        self.off_limits.extend(places.collect::<Vec<_>>());
    }

    fn is_off_limits(&self, real: &Path) -> bool {
        self.off_limits.iter().any(|folder| real.starts_with(folder))
    }

    /// Returns whether something that is off limits lies in a place, so that moving the place would move it.
    pub(in crate::files) fn holds_off_limits(&self, place: &Path) -> bool {
        let real = self.path.join(place);
        self.off_limits.iter().any(|folder| folder.starts_with(&real))
    }

    /// Returns the folders that count as inside, by their real paths; those that lie in another of them are part of it.
    pub(in crate::files) fn folders(&self) -> Vec<(&Path, &OwnedFd)> {
        if self.added.is_empty() {
            return vec![(&self.path, &self.folder)];
        }
        let own = std::iter::once((self.path.as_path(), &self.folder));
        let all: Vec<_> = own.chain(self.added.iter().map(|(path, folder)| (path.as_path(), folder))).collect();
        let is_part = |path: &Path, place: usize| {
            let holds = |(other, (outer, _)): (usize, &(&Path, &OwnedFd))| {
                path.starts_with(outer) && (path != *outer || other < place)
            };
            all.iter().enumerate().any(holds)
        };
        let outer = all.iter().enumerate().filter(|(place, (path, _))| !is_part(path, *place));
        outer.map(|(_, folder)| *folder).collect()
    }

    /// Returns the folders that are never inside, by their real paths.
    pub(in crate::files) fn off_limits(&self) -> &[PathBuf] {
        &self.off_limits
    }

    /// Returns what is off limits as places: relative to the root where it lies beneath it.
    pub(in crate::files) fn off_limits_as_places(&self) -> Vec<PathBuf> {
        let place = |folder: &PathBuf| folder.strip_prefix(&self.path).unwrap_or(folder).to_owned();
        self.off_limits.iter().map(place).collect()
    }

    /// Returns the place of a real path, when it lies inside.
    pub(in crate::files) fn place_of<'p>(&self, real: &'p Path) -> Option<&'p Path> {
        if self.is_off_limits(real) {
            return None;
        }
        let is_added = self.added.iter().any(|(added, _)| real.starts_with(added));
        real.strip_prefix(&self.path).ok().or_else(|| is_added.then_some(real))
    }

    /// Returns whether a place is one of the roots themselves.
    pub(in crate::files) fn is_root(&self, place: &Path) -> bool {
        place.as_os_str().is_empty() || self.added.iter().any(|(added, _)| place == added)
    }

    /// Returns the place of the root that a place lies beneath: empty, or the path of an added folder.
    pub(in crate::files) fn root_of(&self, place: &Path) -> &Path {
        let added = self.added.iter().find(|(added, _)| place.starts_with(added));
        added.map_or(Path::new(""), |(added, _)| added)
    }

    /// Returns whether a place lies beneath one of the roots.
    pub(crate) fn holds(&self, place: &Path) -> bool {
        self.anchor(place).is_some()
    }

    /// Returns the folder that a place lies beneath, and its path from there.
    fn anchor<'a>(&'a self, place: &'a Path) -> Option<(&'a OwnedFd, &'a Path)> {
        if place.is_relative() {
            return Some((&self.folder, place));
        }
        let beneath = |(added, folder): &'a (PathBuf, OwnedFd)| Some((folder, place.strip_prefix(added).ok()?));
        self.added.iter().find_map(beneath)
    }

    /// Opens what a target inside names. Pipes and devices answer immediately instead of blocking.
    pub(in crate::files) fn open_target(&self, target: &Target, flags: OFlags) -> Result<OwnedFd, ToolError> {
        let Target::Inside(place) = target else {
            return Err(outside(target));
        };
        self.open_place(place.path(), flags).map_err(|errno| open_error(errno, target))
    }

    /// Opens what is at a place.
    pub(crate) fn open_place(&self, place: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        self.open_beneath(place, flags)
    }

    /// Opens a file or folder at a place to read it, also where its mode does not let its owner: that is widened for a
    /// moment.
    pub(crate) fn open_own(&self, place: &Path) -> Result<OwnedFd, Errno> {
        let open = |flags| self.open_place(place, flags | OFlags::NOFOLLOW);
        match open(OFlags::RDONLY) {
            Err(Errno::ACCESS) => {}
            opened => return opened,
        }
        let _way = OpenWay::to(self, place)?;
        let named = open(OFlags::PATH)?;
        let stat = rustix::fs::fstat(&named)?;
        let is_readable = matches!(FileType::from_raw_mode(stat.st_mode), FileType::RegularFile | FileType::Directory);
        if !is_readable || stat.st_uid != geteuid().as_raw() {
            return Err(Errno::ACCESS);
        }
        // Its name among our descriptors leads to it and nowhere else.
        let name = format!("/proc/self/fd/{}", named.as_raw_fd());
        let mode = Mode::from_raw_mode(stat.st_mode & 0o7777);
        rustix::fs::chmodat(rustix::fs::CWD, &*name, mode | Mode::RUSR, AtFlags::empty())?;
        let opened = rustix::fs::open(&*name, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty());
        rustix::fs::chmodat(rustix::fs::CWD, &*name, mode, AtFlags::empty())?;
        opened
    }

    /// Opens the folder that holds a place, and returns it with the name in it.
    pub(in crate::files) fn open_parent<'p>(&self, place: &'p Path) -> Result<(OwnedFd, &'p OsStr), Errno> {
        // A root has no name beneath itself.
        let name = place.file_name().filter(|_| !self.is_root(place)).ok_or(Errno::ISDIR)?;
        let parent = place.parent().unwrap_or(Path::new(""));
        let folder = self.open_beneath(parent, OFlags::DIRECTORY | OFlags::RDONLY)?;
        Ok((folder, name))
    }

    fn open_beneath(&self, place: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let (root, path) = self.anchor(place).ok_or(Errno::XDEV)?;
        if self.is_place_off_limits(place) {
            return Err(Errno::ACCESS);
        }
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        open_beneath(root.as_fd(), path, flags)
    }

    /// Returns whether a place belongs to haft itself.
    pub(in crate::files) fn is_place_off_limits(&self, place: &Path) -> bool {
        !self.off_limits.is_empty() && self.is_off_limits(&self.path.join(place))
    }
}

fn open_folder(folder: &Path) -> io::Result<(PathBuf, OwnedFd)> {
    let path = folder.canonicalize()?;
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(&path, flags, Mode::empty())?;
    Ok((path, folder))
}

/// Opens one name in a folder that was opened beneath the root: nothing that lies elsewhere can be reached by it.
pub(in crate::files) fn open_name(folder: impl AsFd, name: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    open_beneath(folder.as_fd(), name, flags | OFlags::NOFOLLOW)
}

/// Returns where a name in a folder leads in the end, as its path from there; nothing where it leads outside. That is
/// a statement: what it says is opened beneath the folder, and not through links.
pub(crate) fn leads_to(folder: &Path, name: &str) -> io::Result<Option<PathBuf>> {
    let real = resolve(&folder.join(name))?;
    Ok(real.strip_prefix(resolve(folder)?).ok().map(Path::to_owned))
}

/// How often the kernel is asked that is unsure. Even beside a process that does nothing but rename, few are needed.
const MOST_TRIES: usize = 1_000;

pub(crate) fn open_beneath(
    folder: BorrowedFd<'_>,
    path: impl rustix::path::Arg + Copy,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    // A descriptor that only names a file cannot block, and the kernel refuses the flags that say so.
    let no_waiting = if flags.contains(OFlags::PATH) { OFlags::empty() } else { OFlags::NONBLOCK | OFlags::NOCTTY };
    open_within(folder, path, (flags | OFlags::CLOEXEC | no_waiting, resolve))
}

/// Opens a path as these flags say. The kernel answers EAGAIN when a rename or a mount anywhere on the system made a walk
/// with `..` unsure; it is asked again.
pub(crate) fn open_within(
    folder: BorrowedFd<'_>,
    path: impl rustix::path::Arg + Copy,
    (flags, resolve): (OFlags, ResolveFlags),
) -> Result<OwnedFd, Errno> {
    for _ in 0..MOST_TRIES {
        match rustix::fs::openat2(folder, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            // Filters of older containers refuse it. Where the file itself is refused, the answer is the same once more.
            Err(Errno::NOSYS | Errno::PERM) => {
                return super::stepwise::open(folder, path.as_cow_c_str()?.to_bytes(), (flags, resolve));
            }
            answer => return answer,
        }
    }
    Err(Errno::AGAIN)
}

/// Says what it means that a target cannot be opened.
pub(in crate::files) fn open_error(errno: Errno, target: &Target) -> ToolError {
    let path = target.to_string();
    match errno {
        // Locating had followed every link, so a link met now was put there since.
        Errno::LOOP | Errno::XDEV => ToolError::of(
            ErrorKind::Stale,
            format!("{path} leads somewhere else than when the call was planned. Nothing was done."),
        )
        .about_file(path, FailedOperation::Access),
        // A socket cannot be opened, and says so in this way.
        Errno::NXIO => super::facts::special(&path),
        errno => system_error(errno.into(), &path, FailedOperation::Access),
    }
}

/// The refusal of what no root holds.
pub(in crate::files) fn outside(target: &Target) -> ToolError {
    ToolError::of(ErrorKind::Denied, format!("{target} is outside the workspace.")).by_rule("reads outside")
}
