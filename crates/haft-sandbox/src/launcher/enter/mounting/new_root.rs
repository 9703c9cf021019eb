//! Builds the file system that a command sees, beside the real one, and moves into it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;

use super::caches::{CacheMount, Caches};
use super::code::CodeMount;
use super::covers::Covers;
use super::grounds::Grounds;
use super::layer::{self, OverlayFolders};
use super::mounts::{
    MountTree, NO_EXEC, NO_SUID, PLAIN, READ_ONLY, find, make_file, make_folder, make_link, restrict_one, write_file,
};
use super::places::{self, PlaceContent, RootPlace};
use super::sources::{RootDescriptors, Sources};
use crate::launcher::enter::confining::limits;
use crate::launcher::enter::detached;
use crate::launcher::enter::detached::SocketBlocker;
use crate::launcher::enter::network;
use crate::launcher::enter::{NotEntered, OrMissing};
use crate::running::orders::{HomeAccess, KeptParts, Visible, VisibleCode, VisibleRoot};
use crate::session::glance::Glance;

/// Devices that are the real ones; a command cannot do without the first.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
const DEVICE_LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];
/// How much home, `/tmp` and the like of one command may take together: this part of the memory, and at most so many bytes.
const PART_OF_MEMORY: u64 = 10;
const MOST_PRIVATE: u64 = 2 * 1024 * 1024 * 1024;

/// Most mounts that lie over a new root: the real one, and the two in memory.
const MOST_ON_TOP: usize = 8;

/// A root that is being built.
pub(in crate::launcher::enter) struct NewRoot<'a> {
    visible: &'a Visible,
    sources: Sources,
    root: OwnedFd,
    /// Holds all that is private, each in a folder of its own. Itself it is visible nowhere.
    private: MountTree,
    detached: SocketBlocker,
    notes: Vec<String>,
    processes: u32,
    /// Where the roots have another ground for each call.
    grounds: Option<Grounds>,
    /// Whether each command has a `/proc` of its own.
    is_kept: bool,
    caches: Caches,
    code: Option<CodeMount>,
}

impl<'a> NewRoot<'a> {
    /// Begins with nothing.
    pub(in crate::launcher::enter) fn begin(
        visible: &'a Visible,
        sources: Sources,
        processes: u32,
    ) -> Result<Self, NotEntered> {
        let old = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).or_missing("The root folder")?;
        let memory = |options: &[(&str, &str)]| {
            let tree = MountTree::fresh("tmpfs", options, PLAIN)?;
            tree.attach_over(old.as_fd())?;
            Ok::<_, std::io::Error>(tree)
        };
        // The private one first: what is attached later lies on top, and the root must have nothing on top of it.
        let private = memory(&[("mode", "700"), ("size", &private_size())]).or_missing("A file system in memory")?;
        let root = memory(&[("mode", "755"), ("size", "4m")]).or_missing("A file system in memory")?;
        let root = make_folder(root.as_fd(), Path::new("")).or_missing("The new root")?;
        let open = |code: &VisibleCode| sources.open_code(&code.folder).map(|folder| CodeMount::new(folder, code));
        let code = visible.code.as_ref().map(open).transpose().or_missing("The trusted copy of the project's code")?;
        let detached = SocketBlocker::prepare(private.as_fd()).or_missing("A folder with nothing in it")?;
        let (notes, grounds, is_kept, caches) = Default::default();
        Ok(Self { visible, sources, root, private, detached, notes, processes, grounds, is_kept, caches, code })
    }

    /// Lets roots have another ground for each call, which are made of what lies beneath `/proc`.
    pub(in crate::launcher::enter) fn change_grounds(&mut self) -> Result<(), NotEntered> {
        let beneath = make_folder(self.root.as_fd(), Path::new("proc")).or_missing("The new root")?;
        let made_of = (&self.sources, self.code.take());
        self.grounds = Some(Grounds::begin(beneath.as_fd(), self.visible, made_of)?);
        Ok(())
    }

    /// Is kept for many commands, each of which has another ground and a `/proc` of its own.
    pub(in crate::launcher::enter) fn keep(&mut self, caches: Caches) -> Result<(), NotEntered> {
        self.change_grounds()?;
        self.is_kept = true;
        self.caches = caches;
        self.grounds.as_ref().map_or(Ok(()), Grounds::keep_processes).or_missing("The machine's own /proc")
    }

    /// Puts everything in its place.
    pub(in crate::launcher::enter) fn furnish(
        &mut self,
        places: &[RootPlace],
        given: &[RootDescriptors],
        listening: &[PathBuf],
    ) -> Result<(), NotEntered> {
        for (number, place) in places.iter().enumerate() {
            match &place.what {
                PlaceContent::Root(root) if self.grounds.is_some() => {
                    self.place_of_grounds(number, places, (*root, &given[*root]))?
                }
                _ if self.grounds.is_some() && self.lies_in_root(&place.path) => {}
                PlaceContent::Devices => self.devices()?,
                PlaceContent::Processes if self.is_kept => {}
                PlaceContent::Processes => self.processes()?,
                PlaceContent::Link(target) => self.link(&place.path, target)?,
                PlaceContent::Readable => self.readable(number, place)?,
                PlaceContent::Cache(cache) if self.is_kept => {
                    let cache = CacheMount {
                        number: *cache,
                        visible: &self.visible.caches[*cache],
                        roots: &self.visible.roots,
                        index: number,
                        at: place,
                    };
                    self.caches.put(&self.root, &self.sources, &cache);
                }
                PlaceContent::Programs if self.is_kept => self.programs(number, place)?,
                PlaceContent::Cache(_) | PlaceContent::Programs => {}
                PlaceContent::Private(mode) => self.private_folder(number, place, *mode)?,
                PlaceContent::Root(root) => self.writable(number, place, (*root, &given[*root]))?,
            }
        }
        if let Some(grounds) = &mut self.grounds {
            grounds.in_order_of(&self.visible.roots);
        }
        self.home_files(places)?;
        if self.visible.home_access == HomeAccess::ReadOnly {
            self.clean_home()?;
        }
        let hidden = self.visible.hidden.iter().map(PathBuf::as_path);
        let mut hidden: Vec<&Path> = hidden.filter(|hidden| !self.visible.is_emptied(hidden)).collect();
        hidden.extend(detached::to_cover(listening, places, self.root.as_fd()));
        let covers = Covers::prepare(self.private.as_fd())?;
        if self.grounds.is_none() {
            for root in &self.visible.roots {
                covers.put_beside_shown(root, (self.root.as_fd(), inner(&root.path)))?;
            }
        }
        covers.put(self.root.as_fd(), &hidden)
    }

    /// Says which caches have a layer, and returns mounts of those for other roots.
    pub(in crate::launcher::enter) fn shared_caches(&mut self) -> (KeptParts, Vec<OwnedFd>) {
        let Caches { mounted, refused, .. } = std::mem::take(&mut self.caches);
        let (caches, mounts) = mounted.into_iter().unzip();
        (KeptParts { caches, refused }, mounts)
    }

    /// Lets programs look names up where a supervisor answers them.
    pub(in crate::launcher::enter) fn look_names_up_inside(&self) -> Result<(), NotEntered> {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let outside = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let (order, hosts) = (outside("/etc/nsswitch.conf"), outside("/etc/hosts"));
        let files = [
            ("/etc/resolv.conf", network::RESOLV_CONF.to_owned()),
            ("/etc/hosts", network::hosts(&host, &hosts)),
            ("/etc/nsswitch.conf", network::nsswitch_conf(&order)),
        ];
        let mut glance = Glance::default();
        for (path, text) in files {
            let Some(real) = places::follow(Path::new(path), &mut Vec::new(), &mut glance) else { continue };
            self.put_text(&real, &text).or_missing(&format!("{path} in the sandbox"))?;
        }
        Ok(())
    }

    /// Puts a small file in the place of one of the system's; where it has none, and none can be made, there is none.
    fn put_text(&self, path: &Path, text: &str) -> std::io::Result<()> {
        match find(self.root.as_fd(), inner(path)) {
            Ok(place) => {
                let name = PathBuf::from(format!("text-{}", path.display().to_string().replace('/', "-")));
                write_file(self.private.as_fd(), &name, text.as_bytes())?;
                let tree = MountTree::of(find(self.private.as_fd(), &name)?.as_fd())?;
                tree.restrict(READ_ONLY | PLAIN | NO_EXEC)?;
                tree.attach_over(place.as_fd())
            }
            Err(_) => match write_file(self.root.as_fd(), inner(path), text.as_bytes()) {
                Err(error) if error.raw_os_error() == Some(libc::EROFS) => Ok(()),
                answer => answer,
            },
        }
    }

    /// Makes it the root of this process, gives up the real one, and returns what could not be had.
    pub(in crate::launcher::enter) fn enter(self) -> Result<(Vec<String>, Option<Grounds>), NotEntered> {
        if !self.is_whole_system() {
            restrict_one(self.root.as_fd(), READ_ONLY).or_missing("A read-only root")?;
        }
        rustix::process::fchdir(&self.root).or_missing("The new root")?;
        rustix::process::pivot_root(".", ".").or_missing("Changing the root")?;
        self.give_up_what_is_on_top().or_missing("Giving up the real root")?;
        rustix::process::chdir("/").or_missing("The new root")?;
        Ok((self.notes, self.grounds))
    }

    /// Takes away everything that lies over the new root: the real one, and what was attached over that.
    ///
    /// What was left there would be reached as `/..`.
    fn give_up_what_is_on_top(&self) -> std::io::Result<()> {
        let own = mount_id(self.root.as_fd(), "", AtFlags::EMPTY_PATH)?;
        for _ in 0..MOST_ON_TOP {
            if mount_id(CWD, "/..", AtFlags::empty())? == own {
                return Ok(());
            }
            rustix::mount::unmount(".", UnmountFlags::DETACH)?;
        }
        Err(Errno::BUSY.into())
    }

    fn is_whole_system(&self) -> bool {
        self.visible.roots.iter().any(|root| root.path == Path::new("/"))
    }

    fn link(&self, path: &Path, target: &Path) -> Result<(), NotEntered> {
        match make_link(self.root.as_fd(), inner(path), target) {
            Err(error) if error.raw_os_error() == Some(libc::EROFS) => Ok(()),
            answer => answer.or_missing(&format!("The link {path:?}")),
        }
    }

    /// Shows a folder or file of the system. What is gone, or may not be looked at, is passed over.
    fn readable(&self, number: usize, place: &RootPlace) -> Result<(), NotEntered> {
        let Ok(source) = self.sources.open(number, place) else { return Ok(()) };
        let what = format!("{:?} in the sandbox", place.path);
        make_like(self.root.as_fd(), inner(&place.path), source.as_fd()).or_missing(&what)?;
        let mounted_at = self.sources.mounted_at(number, place);
        let tree = self.detached.tree(source.as_fd(), &mounted_at).or_missing(&what)?;
        tree.attach(self.root.as_fd(), inner(&place.path)).or_missing(&what)
    }

    /// Shows a folder of programs over a cache. If the user has no such folder, commands cannot make one.
    fn programs(&self, number: usize, place: &RootPlace) -> Result<(), NotEntered> {
        let what = format!("{:?} in the sandbox", place.path);
        let covered = match make_folder(self.root.as_fd(), inner(&place.path)) {
            // There is no layer, so commands cannot make the folder.
            Err(error) if error.raw_os_error() == Some(libc::EROFS) => return Ok(()),
            answer => answer.or_missing(&what)?,
        };
        let source =
            self.sources.open(number, place).ok().filter(|source| kind(source.as_fd()) == kind(covered.as_fd()));
        let mounted_at = self.sources.mounted_at(number, place);
        let tree = self.detached.tree(source.as_ref().unwrap_or(&covered).as_fd(), &mounted_at).or_missing(&what)?;
        tree.attach_over(covered.as_fd()).or_missing(&what)
    }

    fn private_folder(&self, number: usize, place: &RootPlace, mode: u32) -> Result<(), NotEntered> {
        let path = &place.path;
        let what = format!("A private {path:?}");
        let over = match (self.is_whole_system(), find(self.root.as_fd(), inner(path))) {
            (_, Ok(over)) => over,
            // There the folder would be made on the real disk.
            (true, Err(_)) => return Ok(()),
            (false, Err(_)) => match make_folder(self.root.as_fd(), inner(path)) {
                Ok(over) => over,
                Err(error) if error.raw_os_error() == Some(libc::EROFS) => return Ok(()),
                Err(error) => return Err(error).or_missing(&what),
            },
        };
        if place.from.is_some() {
            let source = self.sources.open(number, place).or_missing(&what)?;
            let tree = MountTree::of(source.as_fd()).or_missing(&what)?;
            tree.restrict(PLAIN).or_missing(&what)?;
            return tree.attach_over(over.as_fd()).or_missing(&what);
        }
        let name = PathBuf::from(format!("p{number}"));
        let folder = make_folder(self.private.as_fd(), &name).or_missing(&what)?;
        rustix::fs::chmodat(&self.private, &name, Mode::from_raw_mode(mode), rustix::fs::AtFlags::empty())
            .or_missing(&what)?;
        let tree = MountTree::of(folder.as_fd()).or_missing(&what)?;
        tree.attach_over(over.as_fd()).or_missing(&what)
    }

    fn home_files(&self, places: &[RootPlace]) -> Result<(), NotEntered> {
        let private = |place: &&RootPlace| matches!(place.what, PlaceContent::Private(0o700));
        let Some(home) = places.iter().find(private) else { return Ok(()) };
        // What the user lets commands read lies there itself; in a root, the file would be a change of it.
        let is_other = |place: &&RootPlace| place.path != home.path && place.path.starts_with(&home.path);
        let others: Vec<&RootPlace> = places.iter().filter(is_other).collect();
        let is_shown = |file: &Path| others.iter().any(|place| file.starts_with(&place.path));
        for (path, content) in &self.visible.home_files {
            let file = home.path.join(inner(path));
            if is_shown(&file) || find(self.root.as_fd(), inner(&file)).is_ok() {
                continue;
            }
            write_file(self.root.as_fd(), inner(&file), content.as_bytes())
                .or_missing(&format!("{path:?} in the private home"))?;
        }
        Ok(())
    }

    /// Lets nothing be written to the home, if there is one.
    fn clean_home(&self) -> Result<(), NotEntered> {
        match find(self.root.as_fd(), inner(&self.visible.home)) {
            Ok(home) => restrict_one(home.as_fd(), READ_ONLY).or_missing("A clean home"),
            Err(_) => Ok(()),
        }
    }

    fn writable(
        &mut self,
        number: usize,
        place: &RootPlace,
        root: (usize, &RootDescriptors),
    ) -> Result<(), NotEntered> {
        let path = &place.path;
        let (index, given) = root;
        let what = format!("The folder {path:?} in the sandbox");
        let folder = self.sources.open_root(number, place, given).or_missing(&what)?;
        let tree = match &given.layer {
            Some(layer) => {
                let refused =
                    |error| NotEntered::Passing(format!("The folder for the changes cannot be opened: {error}."));
                let open = self.sources.open_layer(index, layer).map_err(refused)?;
                let folders =
                    OverlayFolders { lower: folder.as_fd(), upper: open.upper.as_fd(), work: open.work.as_fd() };
                layer::over(path, &folders)?
            }
            None => {
                let tree = MountTree::of(folder.as_fd()).or_missing(&what)?;
                tree.restrict(PLAIN).or_missing(&what)?;
                tree
            }
        };
        let covered = make_folder(self.root.as_fd(), inner(path)).or_missing(&what)?;
        tree.attach_over(covered.as_fd()).or_missing(&what)?;
        if path == Path::new("/") {
            self.root = make_folder(tree.as_fd(), Path::new("")).or_missing(&what)?;
            self.shield_system()?;
        }
        exceptions(&self.visible.roots[index], folder.as_fd(), (self.root.as_fd(), inner(path)))?;
        self.code.as_ref().map_or(Ok(()), |code| code.put(path, (self.root.as_fd(), inner(path))))
    }

    fn lies_in_root(&self, path: &Path) -> bool {
        self.visible.roots.iter().any(|root| path.starts_with(&root.path))
    }

    /// Prepares a root for grounds that come and go.
    fn place_of_grounds(
        &mut self,
        number: usize,
        places: &[RootPlace],
        root: (usize, &RootDescriptors),
    ) -> Result<(), NotEntered> {
        let (place, (index, given)) = (&places[number], root);
        let what = format!("The folder {:?} in the sandbox", place.path);
        let folder = self.sources.open_root(number, place, given).or_missing(&what)?;
        let covered = make_folder(self.root.as_fd(), inner(&place.path));
        let covered = match covered {
            // It lies in another root, and has its place there when that has its ground.
            Err(error) if error.raw_os_error() == Some(libc::EROFS) => {
                make_folder(self.private.as_fd(), Path::new("nowhere"))
            }
            answer => answer,
        };
        let Some(grounds) = &mut self.grounds else { return Ok(()) };
        let covered = covered.or_missing(&what)?;
        let empty = grounds.add(self.visible, index, places, folder.as_fd()).or_missing(&what)?;
        empty.attach_over(covered.as_fd()).or_missing(&what)
    }

    /// What the kernel lets root set below `/sys` belongs to no workspace.
    fn shield_system(&self) -> Result<(), NotEntered> {
        let Ok(tree) = MountTree::at(Path::new("/sys")) else { return Ok(()) };
        tree.restrict(READ_ONLY | PLAIN).or_missing("A read-only /sys")?;
        tree.attach(self.root.as_fd(), Path::new("sys")).or_missing("A read-only /sys")
    }

    fn devices(&mut self) -> Result<(), NotEntered> {
        let missing = "A private /dev";
        make_folder(self.root.as_fd(), Path::new("dev")).or_missing(missing)?;
        let tree =
            MountTree::fresh("tmpfs", &[("mode", "755"), ("size", "1m")], NO_SUID | NO_EXEC).or_missing(missing)?;
        tree.attach(self.root.as_fd(), Path::new("dev")).or_missing(missing)?;
        for name in ["pts", "shm"] {
            make_folder(tree.as_fd(), Path::new(name)).or_missing(missing)?;
        }
        for (name, target) in DEVICE_LINKS {
            make_link(tree.as_fd(), Path::new(name), Path::new(target)).or_missing(missing)?;
        }
        for name in DEVICES {
            let device = match MountTree::at(&Path::new("/dev").join(name)) {
                Err(_) if name != "null" => continue,
                answer => answer.or_missing("/dev/null")?,
            };
            device.restrict(NO_SUID | NO_EXEC).or_missing(missing)?;
            make_file(tree.as_fd(), Path::new(name)).or_missing(missing)?;
            device.attach(tree.as_fd(), Path::new(name)).or_missing(missing)?;
        }
        let options = [("newinstance", ""), ("ptmxmode", "0666"), ("mode", "0620")];
        match MountTree::fresh("devpts", &options, NO_SUID | NO_EXEC) {
            Ok(terminals) => terminals.attach(tree.as_fd(), Path::new("pts")).or_missing(missing)?,
            Err(error) => self.notes.push(format!("Commands have no pseudo terminals: {error}.")),
        }
        restrict_one(tree.as_fd(), READ_ONLY).or_missing(missing)
    }

    fn processes(&mut self) -> Result<(), NotEntered> {
        make_folder(self.root.as_fd(), Path::new("proc")).or_missing(FRESH_PROC)?;
        self.notes.extend(put_processes(self.root.as_fd(), self.processes)?);
        Ok(())
    }
}

const FRESH_PROC: &str = "A fresh /proc (in containers parts of it are often covered, and then the kernel refuses)";

/// Puts a fresh `/proc` into a root; returns what is to be said of the limit on processes.
///
/// As root, a process that may write there could change the whole system, so no process may write there.
pub(in crate::launcher::enter) fn put_processes(root: BorrowedFd<'_>, most: u32) -> Result<Option<String>, NotEntered> {
    let tree = MountTree::fresh("proc", &[], PLAIN | NO_EXEC).or_missing(FRESH_PROC)?;
    let limit = limits::processes(tree.as_fd(), most)?;
    tree.restrict(READ_ONLY).or_missing(FRESH_PROC)?;
    tree.attach(root, Path::new("proc")).or_missing(FRESH_PROC)?;
    Ok(limit.note())
}

/// Puts what cannot be changed over a root.
pub(in crate::launcher::enter) fn exceptions(
    root: &VisibleRoot,
    real: BorrowedFd<'_>,
    (base, place): (BorrowedFd<'_>, &Path),
) -> Result<(), NotEntered> {
    for path in &root.read_only {
        let what = format!("{:?} in the sandbox", root.path.join(path));
        let source = match find(real, path) {
            Ok(source) => source,
            // A stand-in for a missing name would break programs that make it; links are judged when they come in.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ELOOP | libc::ENOTDIR)) => {
                continue;
            }
            Err(error) => return Err(error).or_missing(&what),
        };
        if kind(source.as_fd()) == Some(FileType::Symlink) {
            continue;
        }
        let tree = MountTree::of(source.as_fd()).or_missing(&what)?;
        tree.restrict(PLAIN | READ_ONLY).or_missing(&what)?;
        tree.attach(base, &place.join(path)).or_missing(&what)?;
    }
    Ok(())
}

/// Returns the number of the mount that is at a path.
fn mount_id(folder: BorrowedFd<'_>, path: &str, how: AtFlags) -> std::io::Result<u64> {
    let found = rustix::fs::statx(folder, path, how, StatxFlags::MNT_ID)?;
    let is_known = found.stx_mask & StatxFlags::MNT_ID.bits() != 0;
    is_known.then_some(found.stx_mnt_id).ok_or_else(|| Errno::NOSYS.into())
}

/// Commands run side by side, so each has a small part of the memory only.
pub(in crate::launcher::enter) fn private_size() -> String {
    let memory = rustix::system::sysinfo();
    #[expect(clippy::useless_conversion, reason = "the kernel's word is shorter on some processors")]
    let bytes = u64::from(memory.totalram).saturating_mul(memory.mem_unit.into());
    (bytes / PART_OF_MEMORY).clamp(1, MOST_PRIVATE).to_string()
}

/// Makes something at a place that can be covered by a folder, or by a file.
pub(in crate::launcher::enter) fn make_like(
    root: BorrowedFd<'_>,
    place: &Path,
    source: BorrowedFd<'_>,
) -> std::io::Result<()> {
    if kind(source) == Some(FileType::Directory) { make_folder(root, place).map(drop) } else { make_file(root, place) }
}

pub(in crate::launcher::enter) fn kind(descriptor: BorrowedFd<'_>) -> Option<FileType> {
    rustix::fs::fstat(descriptor).ok().map(|found| FileType::from_raw_mode(found.st_mode))
}

/// Returns a path as it is seen from the root.
pub(in crate::launcher::enter) fn inner(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

impl From<Errno> for NotEntered {
    fn from(error: Errno) -> Self {
        NotEntered::Missing(format!("The sandbox could not be entered: {error}."))
    }
}
