//! Puts layers over the folders in which tools keep their downloads.
//!
//! The same two folders of a layer must never be mounted twice, and a session may have several roots. So the first root
//! mounts the layer, and each root hands a copy of the mount to the next. Where a layer is not possible, the folder stays
//! unchanged.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::io::Errno;

use super::layer::{self, Lowers};
use super::mounts::{MountTree, READ_ONLY, find, make_folder};
use super::new_root::inner;
use super::places::RootPlace;
use super::sources::Sources;
use crate::launcher::enter::detached;
use crate::launcher::enter::{NotEntered, OrMissing};
use crate::running::orders::{VisibleCache, VisibleRoot};

/// The layers over caches of one root.
#[derive(Default)]
pub(in crate::launcher::enter) struct Caches {
    /// Mounts from an earlier root, by the number of the cache.
    given: BTreeMap<usize, OwnedFd>,
    /// Mounts for the next root, which are attached nowhere.
    pub(in crate::launcher::enter) mounted: Vec<(usize, OwnedFd)>,
    /// Where no layer is possible.
    pub(in crate::launcher::enter) refused: Vec<usize>,
}

impl Caches {
    /// Begins with mounts of an earlier root.
    pub(in crate::launcher::enter) fn begin(numbers: &[usize], mounts: Vec<OwnedFd>) -> Self {
        Self { given: numbers.iter().copied().zip(mounts).collect(), ..Self::default() }
    }

    /// Puts a layer at a place of the new root.
    pub(in crate::launcher::enter) fn put(&mut self, root: &OwnedFd, sources: &Sources, cache: &CacheMount<'_>) {
        let tree = match self.given.remove(&cache.number) {
            Some(mount) => Ok(MountTree::attached(mount)),
            None => cache.mount(sources),
        };
        let put = tree.and_then(|tree| {
            let covered = cache.place(root, sources, &cache.at.path).or_missing("A layer over a cache")?;
            tree.attach_over(covered.as_fd()).or_missing("A layer over a cache")?;
            copied(root, &cache.at.path).or_missing("A layer over a cache")
        });
        match put {
            Ok(another) => self.mounted.push((cache.number, another)),
            Err(_) => self.refused.push(cache.number),
        }
    }
}

/// One cache over which a layer is mounted.
pub(in crate::launcher::enter) struct CacheMount<'a> {
    pub(in crate::launcher::enter) number: usize,
    pub(in crate::launcher::enter) visible: &'a VisibleCache,
    pub(in crate::launcher::enter) roots: &'a [VisibleRoot],
    pub(in crate::launcher::enter) index: usize,
    pub(in crate::launcher::enter) at: &'a RootPlace,
}

impl CacheMount<'_> {
    /// Returns the place of the cache in the new root, which is made if there is none.
    fn place(&self, root: &OwnedFd, sources: &Sources, path: &Path) -> io::Result<OwnedFd> {
        match make_folder(root.as_fd(), inner(path)) {
            // It lies in something that is only read: what is missing of the way there is shown, too.
            Err(error) if error.raw_os_error() == Some(libc::EROFS) => {
                let [_, layer] = sources.open_cache(self.number, self.visible);
                self.show_way(root, &layer?, path)?;
                find(root.as_fd(), inner(path))
            }
            answer => answer,
        }
    }

    fn show_way(&self, root: &OwnedFd, layer: &OwnedFd, path: &Path) -> io::Result<()> {
        let found = path.ancestors().find_map(|above| Some((above, find(root.as_fd(), inner(above)).ok()?)));
        let (above, folder) = found.ok_or(Errno::NOENT)?;
        // Whatever lies in it already would be covered.
        if self.roots.iter().any(|root| root.path.starts_with(above)) {
            return Err(Errno::ROFS.into());
        }
        let way = find(layer.as_fd(), Path::new(crate::session::caches::WAY))?;
        make_folder(way.as_fd(), path.strip_prefix(above).unwrap_or(path))?;
        let both = detached::both([folder.as_fd(), way.as_fd()])?;
        both.restrict(READ_ONLY)?;
        both.attach_over(folder.as_fd())
    }

    fn mount(&self, sources: &Sources) -> Result<MountTree, NotEntered> {
        let missing = "A layer over a cache";
        let [own, layer] = sources.open_cache(self.number, self.visible);
        let layer = layer.or_missing(missing)?;
        let open = |name: &str| find(layer.as_fd(), Path::new(name)).or_missing(missing);
        let (upper, work) = (open(crate::session::caches::UPPER)?, open(crate::session::caches::WORK)?);
        // The user's own files lie over those of haft's: newer ones are always seen.
        let mut below: Vec<OwnedFd> = [sources.open(self.index, self.at), own].into_iter().flatten().collect();
        if below.is_empty() {
            below.push(open(crate::session::caches::NOTHING)?);
        }
        let (first, rest) = below.split_first().ok_or(Errno::NOENT).or_missing(missing)?;
        let rest: Vec<_> = rest.iter().map(AsFd::as_fd).collect();
        let lowers = Lowers { first: first.as_fd(), rest: &rest };
        layer::over_several(&self.at.path, &lowers, (upper.as_fd(), work.as_fd()))
    }
}

/// Copies the mount at a path, such that the copy is attached nowhere.
fn copied(root: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    Ok(MountTree::of(find(root.as_fd(), inner(path))?.as_fd())?.into())
}
