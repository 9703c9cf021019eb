//! Opens the parts of the new root, inside a separate mount namespace.
//!
//! A descriptor from outside stands for a mount of the outer namespace, which cannot be copied inside. So the launcher
//! opens everything again by its path and compares. If haft is root and the command runs as the workspace's owner, paths
//! may lead through folders that only root may enter. So root first gathers all parts in one folder, the *stage*.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::thread::UnshareFlags;

use super::layer::open_again;
use super::mounts::{MountTree, PLAIN, make_all_private, make_file, make_folder};
use super::places::{PlaceContent, RootPlace};
use crate::running::orders::{Visible, VisibleCache, VisibleRoot};

/// Where the launcher mounts the stage, in a mount namespace that ends with it. Over `/` it would count as a changed
/// root, and a process with a changed root may not enter a user namespace.
const STAGE: &str = "/tmp";
/// The name of the copy of trusted code on it.
const CODE: &str = "c";

/// The descriptors of one root, as haft sent them.
pub(in crate::launcher::enter) struct RootDescriptors {
    pub(in crate::launcher::enter) folder: OwnedFd,
    pub(in crate::launcher::enter) layer: Option<GivenLayer>,
}

/// The descriptors of a layer, and where they lie side by side.
pub(in crate::launcher::enter) struct GivenLayer {
    upper: OwnedFd,
    work: OwnedFd,
    pub(in crate::launcher::enter) beside: PathBuf,
    names: (OsString, OsString),
}

/// The two folders of a layer, opened in this namespace.
pub(in crate::launcher::enter) struct OpenLayer {
    pub(in crate::launcher::enter) upper: OwnedFd,
    pub(in crate::launcher::enter) work: OwnedFd,
}

/// Pairs the descriptors with the roots they belong to.
pub(in crate::launcher::enter) fn given(
    roots: &[VisibleRoot],
    descriptors: Vec<OwnedFd>,
) -> io::Result<Vec<RootDescriptors>> {
    let mut descriptors = descriptors.into_iter();
    let mut next = || descriptors.next().ok_or(io::Error::from(Errno::BADF));
    let mut given = Vec::new();
    for root in roots {
        let folder = next()?;
        let layer = if root.layered { Some(GivenLayer::of(next()?, next()?)?) } else { None };
        given.push(RootDescriptors { folder, layer });
    }
    Ok(given)
}

impl GivenLayer {
    fn of(upper: OwnedFd, work: OwnedFd) -> io::Result<Self> {
        let (upper_path, work_path) = (path_of(upper.as_fd())?, path_of(work.as_fd())?);
        let split = |path: &Path| Some((path.parent()?.to_owned(), path.file_name()?.to_owned()));
        match (split(&upper_path), split(&work_path)) {
            (Some((beside, upper_name)), Some((other, work_name))) if beside == other => {
                Ok(Self { upper, work, beside, names: (upper_name, work_name) })
            }
            _ => Err(Errno::XDEV.into()),
        }
    }
}

impl GivenLayer {
    /// Opens the two folders again, and refuses others under their names.
    pub(in crate::launcher::enter) fn open(&self, from: BorrowedFd<'_>, beside: &Path) -> io::Result<OpenLayer> {
        let upper = open_again(from, &beside.join(&self.names.0), self.upper.as_fd())?;
        let work = open_again(from, &beside.join(&self.names.1), self.work.as_fd())?;
        Ok(OpenLayer { upper, work })
    }
}

fn path_of(descriptor: BorrowedFd<'_>) -> io::Result<PathBuf> {
    use std::os::fd::AsRawFd;
    let link = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
    Ok(PathBuf::from(OsString::from_vec(rustix::fs::readlink(link, Vec::new())?.into_bytes())))
}

/// Where parts are opened.
pub(in crate::launcher::enter) enum Sources {
    /// At their own paths.
    Paths,
    /// Below the working folder.
    Stage,
}

impl Sources {
    /// Gathers all parts in a stage, which becomes the working folder. Needs the rights of root.
    pub(in crate::launcher::enter) fn staged(
        places: &[RootPlace],
        given: &[RootDescriptors],
        visible: &Visible,
    ) -> io::Result<Self> {
        enter_mount_namespace()?;
        make_all_private()?;
        // All of them before the stage is put up: it lies over some of their paths.
        let mut parts = Vec::new();
        for (number, place) in places.iter().enumerate() {
            if matches!(
                place.what,
                PlaceContent::Readable | PlaceContent::Root(_) | PlaceContent::Cache(_) | PlaceContent::Programs
            ) || place.from.is_some()
            {
                parts.extend(RootPart::at(name_of_place(number), place.source())?);
            }
        }
        for (number, layer) in given.iter().enumerate().filter_map(|(number, one)| Some((number, one.layer.as_ref()?)))
        {
            parts.extend(RootPart::at(name_of_layer(number), &layer.beside)?);
        }
        for (number, path) in visible.layers.iter().enumerate() {
            parts.extend(RootPart::at(name_of_layers(number), path)?);
        }
        for (number, cache) in visible.caches.iter().enumerate() {
            for (name, path) in names_of_cache(number).into_iter().zip([&cache.own, &cache.layer]) {
                parts.extend(RootPart::at(name, path)?);
            }
        }
        if let Some(code) = &visible.code {
            parts.extend(RootPart::at(CODE.into(), &code.folder)?);
        }
        let stage = MountTree::fresh("tmpfs", &[("mode", "755"), ("size", "1m")], PLAIN)?;
        stage.attach_over(rustix::fs::open(STAGE, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?.as_fd())?;
        parts.iter().try_for_each(|part| part.put_on(stage.as_fd()))?;
        rustix::process::fchdir(&stage)?;
        Ok(Sources::Stage)
    }

    /// Opens what a place shows.
    pub(in crate::launcher::enter) fn open(&self, number: usize, place: &RootPlace) -> io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let path = match self {
            Sources::Paths => place.source().to_owned(),
            Sources::Stage => name_of_place(number),
        };
        Ok(rustix::fs::openat(CWD, &path, flags, Mode::empty())?)
    }

    /// Returns where a place is mounted that is opened, as the kernel lists it.
    pub(in crate::launcher::enter) fn mounted_at(&self, number: usize, place: &RootPlace) -> PathBuf {
        match self {
            Sources::Paths => place.path.clone(),
            Sources::Stage => Path::new(STAGE).join(name_of_place(number)),
        }
    }

    /// Opens the folder of a root, and refuses another one under its path.
    pub(in crate::launcher::enter) fn open_root(
        &self,
        number: usize,
        place: &RootPlace,
        given: &RootDescriptors,
    ) -> io::Result<OwnedFd> {
        match self {
            Sources::Paths => open_again(CWD, &place.path, given.folder.as_fd()),
            Sources::Stage => open_again(CWD, &name_of_place(number), given.folder.as_fd()),
        }
    }

    /// Opens the two folders of the layer of a root, and refuses others under their paths.
    pub(in crate::launcher::enter) fn open_layer(&self, root: usize, layer: &GivenLayer) -> io::Result<OpenLayer> {
        let beside = match self {
            Sources::Paths => layer.beside.clone(),
            Sources::Stage => name_of_layer(root),
        };
        layer.open(CWD, &beside)
    }

    /// Opens the two folders of haft's for a cache: what was kept, and that of the layer.
    pub(in crate::launcher::enter) fn open_cache(
        &self,
        number: usize,
        cache: &VisibleCache,
    ) -> [io::Result<OwnedFd>; 2] {
        let paths = match self {
            Sources::Paths => [cache.own.clone(), cache.layer.clone()],
            Sources::Stage => names_of_cache(number),
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        paths.map(|path| Ok(rustix::fs::openat(CWD, &path, flags, Mode::empty())?))
    }

    /// Opens the folder with a copy of trusted code.
    pub(in crate::launcher::enter) fn open_code(&self, folder: &Path) -> io::Result<OwnedFd> {
        let path = match self {
            Sources::Paths => folder,
            Sources::Stage => Path::new(CODE),
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(CWD, path, flags, Mode::empty())?)
    }

    /// Opens a folder in which layers lie.
    pub(in crate::launcher::enter) fn open_layers(&self, number: usize, path: &Path) -> io::Result<OwnedFd> {
        let path = match self {
            Sources::Paths => path.to_owned(),
            Sources::Stage => name_of_layers(number),
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(CWD, &path, flags, Mode::empty())?)
    }
}

fn names_of_cache(number: usize) -> [PathBuf; 2] {
    [format!("o{number}").into(), format!("y{number}").into()]
}

fn name_of_layers(number: usize) -> PathBuf {
    PathBuf::from(format!("k{number}"))
}

fn name_of_place(number: usize) -> PathBuf {
    PathBuf::from(format!("p{number}"))
}

fn name_of_layer(root: usize) -> PathBuf {
    PathBuf::from(format!("l{root}"))
}

/// One part of the new root on its way to the stage.
struct RootPart {
    name: PathBuf,
    tree: MountTree,
    is_folder: bool,
}

impl RootPart {
    /// Copies what is at a path; nothing where nothing is.
    fn at(name: PathBuf, path: &Path) -> io::Result<Option<Self>> {
        match rustix::fs::lstat(path) {
            Ok(found) => {
                let is_folder = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
                Ok(Some(Self { name, tree: MountTree::at(path)?, is_folder }))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn put_on(&self, stage: BorrowedFd<'_>) -> io::Result<()> {
        if self.is_folder {
            make_folder(stage, &self.name)?;
        } else {
            make_file(stage, &self.name)?;
        }
        self.tree.attach(stage, &self.name)
    }
}

#[allow(unsafe_code)]
fn enter_mount_namespace() -> io::Result<()> {
    // SAFETY: no descriptors are unshared, only the mounts of this process, which has one thread.
    Ok(unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }?)
}
