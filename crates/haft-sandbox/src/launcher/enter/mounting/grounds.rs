//! The grounds of a worker: a fresh layer over each root for each call, and none between calls.
//!
//! The parts of grounds, the real folders and those for the changes, stay mounted beneath `/proc`, where no process sees
//! them. Between two calls an empty folder takes the place of each root. haft builds a ground out of sight and moves it to
//! its place in one step.
//!
//! What a worker has open stays open when haft removes a ground. So haft first makes the mount read-only. The kernel
//! refuses that as long as a process could still write (decision 0010).

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::mount::{FsPickFlags, UnmountFlags, fspick};

use super::code::CodeMount;
use super::covers::Covers;
use super::layer::{self, OverlayFolders};
use super::mounts::{MountTree, PLAIN, READ_ONLY, find, make_folder};
use super::new_root::{exceptions, inner, make_like, private_size};
use super::places::{PlaceContent, RootPlace};
use super::sources::{self, GivenLayer, OpenLayer, RootDescriptors, Sources};
use crate::launcher::enter::{NotEntered, OrMissing};
use crate::running::orders::{GroundReport, Visible, VisibleRoot};

/// How long a process may still be about to write when a ground is taken away.
const PATIENCE: Duration = Duration::from_millis(20);
const BETWEEN_TRIES: Duration = Duration::from_millis(1);
/// The folder out of sight in which a ground is put together.
const WORKSHOP: &str = "workshop";
/// The machine's own `/proc`. Without it the kernel lets no process mount another.
const PROCESSES: &str = "processes";
const CODE: &str = "code";

/// What grounds are made of.
pub(crate) struct Grounds {
    /// Visible nowhere.
    hidden: MountTree,
    workshop: OwnedFd,
    covers: Covers,
    code: Option<CodeMount>,
    /// Where layers lie, by their real paths.
    layers: Vec<(PathBuf, OwnedFd)>,
    roots: Vec<WorkerRoot>,
    /// The mounts of the ground on which the worker is.
    over: Vec<MountTree>,
    /// Where layers lie that were tried, so that others there need not be.
    tried: Vec<PathBuf>,
}

/// One root of a worker, over which each ground has a fresh layer.
struct WorkerRoot {
    path: PathBuf,
    /// By which number its folders out of sight are called.
    number: usize,
    /// The real folder.
    lower: OwnedFd,
    /// The empty folder over which layers are put.
    empty: MountTree,
    /// What else lies in it: private folders, and what is shown in them.
    inside: Vec<(PathBuf, PlaceContent)>,
    /// What is covered in it.
    covered: Vec<PathBuf>,
}

impl Grounds {
    /// Begins with nothing, beneath a folder of the new root over which something else will lie.
    pub(in crate::launcher::enter) fn begin(
        beneath: BorrowedFd<'_>,
        visible: &Visible,
        (sources, code): (&Sources, Option<CodeMount>),
    ) -> Result<Self, NotEntered> {
        let missing = "A place to make grounds of";
        let hidden =
            MountTree::fresh("tmpfs", &[("mode", "700"), ("size", &private_size())], PLAIN).or_missing(missing)?;
        hidden.attach_over(beneath).or_missing(missing)?;
        let workshop = make_folder(hidden.as_fd(), Path::new(WORKSHOP)).or_missing(missing)?;
        let covers = Covers::prepare(hidden.as_fd())?;
        let (layers, roots, over, tried) = Default::default();
        let mut grounds = Self { hidden, workshop, covers, code: None, layers, roots, over, tried };
        if let Some(code) = code {
            let kept = grounds.keep(code.folder(), CODE).or_missing(missing)?;
            grounds.code = Some(code.moved_to(kept));
        }
        for (number, path) in visible.layers.iter().enumerate() {
            let Ok(opened) = sources.open_layers(number, path) else { continue };
            let kept = grounds.keep(opened.as_fd(), &name_of_layers(grounds.layers.len())).or_missing(missing)?;
            grounds.layers.push((path.clone(), kept));
        }
        Ok(grounds)
    }

    /// Keeps the machine's own `/proc`, so that each command gets one of its own.
    pub(in crate::launcher::enter) fn keep_processes(&self) -> io::Result<()> {
        make_folder(self.hidden.as_fd(), Path::new(PROCESSES))?;
        MountTree::at(Path::new("/proc"))?.attach(self.hidden.as_fd(), Path::new(PROCESSES))
    }

    /// Opens everything again, in a copy of the mount namespace in which it was made.
    pub(in crate::launcher::enter) fn reopened(&self) -> io::Result<Self> {
        let root = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let hidden = find(root.as_fd(), Path::new("proc"))?;
        let find = |name: &str| find(hidden.as_fd(), Path::new(name));
        let code = self.code.as_ref().map(|code| Ok::<_, io::Error>(code.moved_to(find(CODE)?))).transpose()?;
        let again =
            |(number, (path, _)): (usize, &(PathBuf, OwnedFd))| Ok((path.clone(), find(&name_of_layers(number))?));
        let layers: io::Result<Vec<_>> = self.layers.iter().enumerate().map(again).collect();
        let roots: io::Result<Vec<_>> = self
            .roots
            .iter()
            .enumerate()
            .map(|(number, one)| {
                let empty = if self.lies_in_another(number) {
                    find(&name_of_empty(one.number))?
                } else {
                    super::mounts::find(root.as_fd(), inner(&one.path))?
                };
                Ok(WorkerRoot {
                    path: one.path.clone(),
                    number: one.number,
                    lower: find(&name_of_root(one.number))?,
                    empty: MountTree::attached(empty),
                    inside: one.inside.clone(),
                    covered: one.covered.clone(),
                })
            })
            .collect();
        let (workshop, covers) = (find(WORKSHOP)?, Covers::found(hidden.as_fd())?);
        let (over, tried) = Default::default();
        let (layers, roots) = (layers?, roots?);
        Ok(Self { hidden: MountTree::attached(hidden), workshop, covers, code, layers, roots, over, tried })
    }

    /// Keeps a folder out of sight.
    fn keep(&self, folder: BorrowedFd<'_>, name: &str) -> io::Result<OwnedFd> {
        let tree = MountTree::of(folder)?;
        tree.restrict(PLAIN)?;
        make_folder(self.hidden.as_fd(), Path::new(name))?;
        tree.attach(self.hidden.as_fd(), Path::new(name))?;
        find(self.hidden.as_fd(), Path::new(name))
    }

    /// Adds a root; returns the empty folder that is to lie over its place.
    pub(in crate::launcher::enter) fn add(
        &mut self,
        visible: &Visible,
        index: usize,
        places: &[RootPlace],
        folder: BorrowedFd<'_>,
    ) -> io::Result<&MountTree> {
        let path = &visible.roots[index].path;
        let number = self.roots.len();
        let lower = self.keep(folder, &name_of_root(number))?;
        let empty = make_folder(self.hidden.as_fd(), Path::new(&name_of_empty(number)))?;
        let empty = MountTree::of(empty.as_fd())?;
        empty.restrict(READ_ONLY | PLAIN)?;
        let below =
            |one: &Path| one.strip_prefix(path).ok().filter(|below| !below.as_os_str().is_empty()).map(Path::to_owned);
        let is_inside = |place: &&RootPlace| matches!(place.what, PlaceContent::Private(_) | PlaceContent::Readable);
        let inside =
            places.iter().filter(is_inside).filter_map(|place| Some((below(&place.path)?, place.what.clone())));
        let hidden = visible.hidden.iter().filter(|hidden| !visible.is_emptied(hidden));
        let covered = hidden.filter_map(|hidden| below(hidden)).collect();
        self.roots.push(WorkerRoot { path: path.clone(), number, lower, empty, inside: inside.collect(), covered });
        Ok(&self.roots[number].empty)
    }

    /// Puts the roots in the order in which they are asked for.
    pub(in crate::launcher::enter) fn in_order_of(&mut self, roots: &[VisibleRoot]) {
        self.roots.sort_by_key(|root| roots.iter().position(|other| other.path == root.path));
    }

    /// Returns the descriptors that are needed.
    pub(crate) fn descriptors(&self) -> Vec<RawFd> {
        let roots = self.roots.iter().flat_map(|root| [root.lower.as_fd(), root.empty.as_fd()]);
        let layers = self.layers.iter().map(|(_, folder)| folder.as_fd());
        let code = self.code.iter().map(CodeMount::folder);
        let all = roots
            .chain(layers)
            .chain(code)
            .chain(self.over.iter().map(MountTree::as_fd))
            .chain(self.covers.descriptors());
        all.chain([self.hidden.as_fd(), self.workshop.as_fd()]).map(|one| one.as_raw_fd()).collect()
    }

    /// Puts the worker on the ground that these descriptors stand for.
    pub(crate) fn change(&mut self, roots: &[VisibleRoot], descriptors: Vec<OwnedFd>) -> Result<(), NotEntered> {
        let given = sources::given(roots, descriptors).or_missing("The descriptors of the workspace")?;
        self.enter(roots, &given)
    }

    /// Puts the worker on a ground. When it fails, there is none.
    pub(in crate::launcher::enter) fn enter(
        &mut self,
        roots: &[VisibleRoot],
        given: &[RootDescriptors],
    ) -> Result<(), NotEntered> {
        // They were added in the order of their places, which is not that of the ground.
        let own = |root: &VisibleRoot| self.roots.iter().position(|own| own.path == root.path);
        let own: Option<Vec<usize>> = roots.iter().map(own).collect();
        let Some(own) = own.filter(|own| own.len() == self.roots.len() && self.over.is_empty()) else {
            return Err(NotEntered::Missing("The sandbox was made for other folders, or is at work.".into()));
        };
        let entered = self.put_over_all(roots, given, &own);
        if entered.is_err() {
            let _ = self.shut().and_then(|()| self.take_away());
        }
        entered
    }

    /// `own` says for each root which of those that were added it is.
    fn put_over_all(
        &mut self,
        roots: &[VisibleRoot],
        given: &[RootDescriptors],
        own: &[usize],
    ) -> Result<(), NotEntered> {
        let mut order: Vec<usize> = (0..roots.len()).collect();
        order.sort_by_key(|number| roots[*number].path.components().count());
        for number in order {
            let what = format!("The folder {:?} in the sandbox", roots[number].path);
            if !is_same_folder(self.roots[own[number]].lower.as_fd(), given[number].folder.as_fd()) {
                return Err(NotEntered::Passing(format!("{what} was replaced by another one.")));
            }
            let tree = self.ground(own[number], &roots[number], &given[number])?;
            let place = self.place(own[number]).or_missing(&what)?;
            let place = place.as_ref().map_or(self.roots[own[number]].empty.as_fd(), AsFd::as_fd);
            tree.attach_over(place).or_missing(&what)?;
            self.over.push(tree);
        }
        for layer in given.iter().filter_map(|one| one.layer.as_ref()) {
            let place = self.layers.iter().map(|(place, _)| place).find(|place| layer.beside.starts_with(place));
            if let Some(place) = place.filter(|place| !self.tried.contains(place)) {
                self.tried.push(place.clone());
            }
        }
        Ok(())
    }

    /// Returns the place of a root that lies in another one, whose layer lies over its empty folder.
    fn place(&self, number: usize) -> io::Result<Option<OwnedFd>> {
        if !self.lies_in_another(number) {
            return Ok(None);
        }
        let root = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        find(root.as_fd(), inner(&self.roots[number].path)).map(Some)
    }

    fn lies_in_another(&self, number: usize) -> bool {
        let path = &self.roots[number].path;
        self.roots.iter().any(|other| *path != other.path && path.starts_with(&other.path))
    }

    /// Puts a layer and everything that lies in it together, out of sight.
    fn ground(&self, number: usize, visible: &VisibleRoot, given: &RootDescriptors) -> Result<MountTree, NotEntered> {
        let root = &self.roots[number];
        let tree = match &given.layer {
            Some(layer) => {
                let open = self.open_layer(layer)?;
                let folders =
                    OverlayFolders { lower: root.lower.as_fd(), upper: open.upper.as_fd(), work: open.work.as_fd() };
                let is_tried = self.tried.iter().any(|place| layer.beside.starts_with(place));
                if is_tried { layer::again(&root.path, &folders)? } else { layer::over(&root.path, &folders)? }
            }
            None => MountTree::of(root.lower.as_fd()).or_missing("The real folder")?,
        };
        tree.attach_over(self.workshop.as_fd()).or_missing("A layer")?;
        let whole = self.furnish(root, visible, &tree);
        if whole.is_err() {
            let _ = take_away(&tree);
        }
        whole.map(|()| tree)
    }

    fn furnish(&self, root: &WorkerRoot, visible: &VisibleRoot, tree: &MountTree) -> Result<(), NotEntered> {
        exceptions(visible, root.lower.as_fd(), (tree.as_fd(), Path::new("")))?;
        if let Some(code) = &self.code {
            code.put(&root.path, (tree.as_fd(), Path::new("")))?;
        }
        for (number, (path, what)) in root.inside.iter().enumerate() {
            let missing = format!("{:?} in the sandbox", root.path.join(path));
            match what {
                PlaceContent::Private(_) if find(tree.as_fd(), path).is_err() => {}
                PlaceContent::Private(_) => {
                    let name = format!("private-{number}");
                    let folder = make_folder(self.hidden.as_fd(), Path::new(&name)).or_missing(&missing)?;
                    let folder = MountTree::of(folder.as_fd()).or_missing(&missing)?;
                    folder.attach(tree.as_fd(), path).or_missing(&missing)?;
                }
                _ => {
                    let Ok(source) = find(root.lower.as_fd(), path) else { continue };
                    make_like(tree.as_fd(), path, source.as_fd()).or_missing(&missing)?;
                    let shown = MountTree::of(source.as_fd()).or_missing(&missing)?;
                    shown.restrict(READ_ONLY | PLAIN).or_missing(&missing)?;
                    shown.attach(tree.as_fd(), path).or_missing(&missing)?;
                }
            }
        }
        for path in &root.covered {
            let Ok(place) = find(tree.as_fd(), path) else { continue };
            self.covers.cover(place.as_fd()).or_missing(&format!("A cover over {:?}", root.path.join(path)))?;
        }
        self.covers.put_beside_shown(visible, (tree.as_fd(), Path::new("")))
    }

    fn open_layer(&self, layer: &GivenLayer) -> Result<OpenLayer, NotEntered> {
        let held = self.layers.iter().find_map(|(path, folder)| Some((folder, layer.beside.strip_prefix(path).ok()?)));
        let Some((folder, beside)) = held else {
            return Err(NotEntered::Missing("The folder for the changes is not beside the earlier ones.".into()));
        };
        let refused = |error| NotEntered::Passing(format!("The folder for the changes cannot be opened: {error}."));
        layer.open(folder.as_fd(), beside).map_err(refused)
    }

    /// Returns handles of the layers over these roots, with which haft can set them up again.
    pub(crate) fn layers(&self, roots: &[VisibleRoot]) -> Vec<OwnedFd> {
        if !roots.iter().all(|root| root.layered) {
            return Vec::new();
        }
        let flags = FsPickFlags::FSPICK_CLOEXEC | FsPickFlags::FSPICK_EMPTY_PATH;
        self.over.iter().filter_map(|tree| fspick(tree.as_fd(), "", flags).ok()).collect()
    }

    /// Makes the ground such that nothing that the worker holds can change it any more.
    pub(crate) fn shut(&self) -> io::Result<()> {
        let until = Instant::now() + PATIENCE;
        for tree in &self.over {
            while let Err(error) = tree.restrict(READ_ONLY) {
                if error.raw_os_error() != Some(libc::EBUSY) || Instant::now() >= until {
                    return Err(error);
                }
                std::thread::sleep(BETWEEN_TRIES);
            }
        }
        Ok(())
    }

    /// Takes the ground away.
    pub(crate) fn take_away(&mut self) -> io::Result<()> {
        while let Some(tree) = self.over.pop() {
            take_away(&tree)?;
        }
        Ok(())
    }
}

fn is_same_folder(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> bool {
    let identity = |folder| rustix::fs::fstat(folder).map(|found| (found.st_dev, found.st_ino));
    matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
}

fn name_of_layers(number: usize) -> String {
    format!("layers-{number}")
}

fn name_of_root(number: usize) -> String {
    format!("root-{number}")
}

fn name_of_empty(number: usize) -> String {
    format!("empty-{number}")
}

/// Removes a mount and everything over it. It works by descriptor, so moving a folder above does not redirect it.
fn take_away(tree: &MountTree) -> io::Result<()> {
    rustix::process::fchdir(tree.as_fd())?;
    let taken = rustix::mount::unmount(".", UnmountFlags::DETACH);
    rustix::process::chdir("/")?;
    Ok(taken?)
}

impl From<NotEntered> for GroundReport {
    fn from(why: NotEntered) -> Self {
        match why {
            NotEntered::NoLayer(why) => GroundReport::NoLayer(why),
            NotEntered::Missing(what) | NotEntered::Passing(what) => GroundReport::NotEntered(what),
        }
    }
}
