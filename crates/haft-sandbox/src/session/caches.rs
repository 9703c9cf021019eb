//! Caches for the commands of a session: where tools keep what they download.
//!
//! haft mounts a layer over each such folder of the user once per session. Tools write there, wait for each other's locks
//! and find what they wrote, and the user's folder stays unchanged. The layer has two folders below it: the user's and,
//! beneath that, haft's own for this workspace, with the downloads of earlier sessions. When the session ends, haft moves
//! new files into its own folder.
//!
//! Not here: mounting (`launcher::enter`), which folders there are (`haft-config`).

mod carry;
mod room;

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use haft_contract::doors::process::Staging;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::process::geteuid;

use self::carry::Carrying;
use super::private::PrivateFolder;
use crate::running::orders::VisibleCache;
use crate::settings::SandboxSettings;

/// The folder of a workspace's state with what is kept of all tools.
const OWN: &str = "tool-caches";
/// The folder of a session with the layers, and the two folders of each.
const LAYERS: &str = "caches";
pub(crate) const UPPER: &str = "upper";
pub(crate) const WORK: &str = "work";
/// One with nothing in it, and one with what is missing of the way to a cache in a folder that is only read.
pub(crate) const NOTHING: &str = "nothing";
pub(crate) const WAY: &str = "way";
/// Where tools that cannot write to their folder keep things instead, in the home.
const INSTEAD: &str = ".cache/haft";

/// A folder in which a tool keeps what it downloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCache {
    /// A name for it, which is that of a folder of haft's.
    pub name: String,
    /// Where it is, for the user and for commands.
    pub folder: PathBuf,
    /// The variable that leads the tool to another folder where it cannot write to this one.
    pub moved_by: Option<String>,
    /// The parts of it whose new files are kept for later sessions; "." for all.
    pub carried: Vec<String>,
    /// What in those is not: paths in the folder, `*` in a name and `**` for any folders.
    pub left_out: Vec<String>,
}

/// The caches of a session. When it is dropped, new files are kept for later ones.
#[derive(Debug)]
pub(crate) struct Caches {
    /// Those that are mounted.
    pub(crate) visible: Vec<VisibleCache>,
    /// Variables for the tools that cannot write to their folders, for whatever reason haft knows.
    pub(crate) moved: Vec<(OsString, OsString)>,
    /// What is to be said of those.
    pub(crate) unwritable: Vec<PathBuf>,
    carried: Vec<PersistentCache>,
    own: Option<PathBuf>,
    room: u64,
    /// As long as they are locked, no other session removes haft's own folders.
    locked: Vec<OwnedFd>,
    owner: Option<(u32, u32)>,
    /// Where the shell looks for programs.
    path: Vec<PathBuf>,
}

/// One cache whose new files are kept.
#[derive(Debug)]
struct PersistentCache {
    cache: ToolCache,
    /// Where they are.
    from: PathBuf,
}

impl Caches {
    /// Finds out which caches there are for the commands of a session, and makes the folders for their layers.
    pub(crate) fn of_session(settings: &SandboxSettings, ground: &dyn Staging, place: &PrivateFolder) -> Self {
        let own = (settings.cache_room > 0).then(|| own_folder(ground)).flatten();
        let workspace = ground.roots().first().and_then(|root| rustix::fs::fstat(&root.folder).ok());
        let owner = workspace.filter(|_| geteuid().is_root()).map(|found| (found.st_uid, found.st_gid));
        let path = settings.environment.iter().find(|(name, _)| name == "PATH");
        let mut all = Self {
            visible: Vec::new(),
            moved: Vec::new(),
            unwritable: Vec::new(),
            carried: Vec::new(),
            own,
            room: settings.cache_room,
            locked: Vec::new(),
            owner,
            path: path.into_iter().flat_map(|(_, folders)| std::env::split_paths(folders)).collect(),
        };
        let is_in_root = |cache: &&ToolCache| ground.roots().iter().any(|root| cache.folder.starts_with(&root.path));
        for cache in settings.caches.iter().filter(|cache| !is_in_root(cache)) {
            all.add(cache, settings, place);
        }
        all
    }

    fn add(&mut self, cache: &ToolCache, settings: &SandboxSettings, place: &PrivateFolder) {
        let home = &settings.home;
        let users = cache.folder.metadata().ok().filter(std::fs::Metadata::is_dir);
        let own = self.own.as_ref().map(|own| own.join(&cache.name));
        let lock = own.as_ref().and_then(|own| locked(own, FlockOperation::NonBlockingLockShared));
        let is_kept = lock.is_some();
        self.locked.extend(lock);
        let in_home = cache.folder.strip_prefix(home).ok();
        let is_shown = |folder: &PathBuf| cache.folder.starts_with(folder) && folder != home && folder.is_dir();
        match (&users, is_kept, in_home) {
            // Nothing is there: tools make it in the home of the session, unless that is where they can only read.
            (None, false, Some(inner)) if !settings.readable.iter().any(is_shown) => {
                self.carried.push(PersistentCache { cache: cache.clone(), from: place.home().join(inner) });
            }
            // The command could copy nothing of it into the layer.
            (Some(users), ..) if users.uid() != self.owner.map_or(geteuid().as_raw(), |owner| owner.0) => {
                self.not_writable(cache, home);
            }
            _ => {
                let layer = place.path().join(LAYERS).join(&cache.name);
                if self.make_layer(&layer).is_err() {
                    return self.not_writable(cache, home);
                }
                self.carried.push(PersistentCache { cache: cache.clone(), from: layer.join(UPPER) });
                let instead = instead(cache, home).into_iter().collect();
                let own = own.unwrap_or_default();
                let programs = self.path.iter().filter(|folder| folder.starts_with(&cache.folder)).cloned().collect();
                self.visible.push(VisibleCache { path: cache.folder.clone(), own, layer, programs, instead });
            }
        }
    }

    fn not_writable(&mut self, cache: &ToolCache, home: &Path) {
        self.moved.extend(instead(cache, home));
        self.unwritable.push(cache.folder.clone());
    }

    fn make_layer(&self, layer: &Path) -> io::Result<()> {
        let above = layer.parent().unwrap_or(layer);
        if !above.is_dir() {
            self.make_folder(above)?;
        }
        self.make_folder(layer)?;
        [UPPER, WORK, NOTHING, WAY].iter().try_for_each(|name| self.make_folder(&layer.join(name)))
    }

    /// Makes a folder for the user who runs commands.
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        std::fs::DirBuilder::new().mode(0o755).create(path)?;
        self.owner.map_or(Ok(()), |(user, group)| std::os::unix::fs::lchown(path, Some(user), Some(group)))
    }

    /// Moves new files to haft's own folders.
    fn carry(&mut self) {
        let Some(own) = self.own.clone() else { return };
        let mut is_more = false;
        for PersistentCache { cache, from } in &self.carried {
            let carrying = Carrying { cache, owner: self.owner };
            is_more |= carrying.carry(from, &own.join(&cache.name)).unwrap_or(false);
        }
        self.locked.clear();
        if is_more {
            room::keep_within(&own, self.room);
        }
    }
}

impl Drop for Caches {
    fn drop(&mut self) {
        self.carry();
    }
}

/// Returns the folder with haft's own caches of the workspace, which is made if there is none.
fn own_folder(ground: &dyn Staging) -> Option<PathBuf> {
    let own = ground.place()?.with_file_name(OWN);
    let made = std::fs::DirBuilder::new().mode(0o700).create(&own);
    (made.is_ok() || own.is_dir()).then_some(own)
}

/// Returns the variable by which a tool keeps its files in the home of the session.
fn instead(cache: &ToolCache, home: &Path) -> Option<(OsString, OsString)> {
    let variable = cache.moved_by.as_ref()?;
    Some((variable.into(), home.join(INSTEAD).join(&cache.name).into()))
}

/// Says of folders that tools can only read here.
pub(crate) fn only_read(folders: &[PathBuf]) -> Option<String> {
    let named: Vec<String> = folders.iter().map(|folder| format!("{:?}", folder.to_string_lossy())).collect();
    let what = "These folders of tools can only be read here, because no layer can be put over them";
    (!named.is_empty()).then(|| format!("{what}: {}.", named.join(", ")))
}

/// Opens and locks a folder of haft's own that is still at its path.
fn locked(folder: &Path, how: FlockOperation) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(folder, flags, Mode::empty()).ok()?;
    rustix::fs::flock(&opened, how).ok()?;
    let (one, other) = (rustix::fs::fstat(&opened).ok()?, rustix::fs::lstat(folder).ok()?);
    ((one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)).then_some(opened)
}
