//! The grounds of a worker: a fresh layer over each root for each call, and nothing in between.
//!
//! What grounds are made of, the real folders and those for the changes, stays mounted where nobody sees it: beneath
//! `/proc`. Between two calls an empty folder lies in the place of each root. A ground is put together out of sight and
//! moved to its place in one step.
//!
//! Whatever a worker has open when a ground is taken away stays open, so a mount is made read-only first. The kernel
//! refuses that as long as somebody could still write (decision 0010).

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::mount::UnmountFlags;

use super::code::Code;
use super::covers::Covers;
use super::layer::{self, Folders};
use super::mounts::{PLAIN, READ_ONLY, Tree, find, make_folder};
use super::new_root::{exceptions, inner, make_like, private_size};
use super::places::{Place, What};
use super::sources::{self, Given, GivenLayer, OpenLayer, Sources};
use super::{NotEntered, OrMissing};
use crate::orders::{GroundReport, Visible, VisibleRoot};

/// How long somebody may still be about to write when a ground is taken away.
const PATIENCE: Duration = Duration::from_millis(20);
const BETWEEN_TRIES: Duration = Duration::from_millis(1);
/// The folder out of sight in which a ground is put together.
const WORKSHOP: &str = "workshop";

/// What grounds are made of.
pub(crate) struct Grounds {
    /// Visible nowhere.
    hidden: Tree,
    workshop: OwnedFd,
    covers: Covers,
    code: Option<Code>,
    /// Where layers lie, by their real paths.
    layers: Vec<(PathBuf, OwnedFd)>,
    roots: Vec<Root>,
    /// The mounts of the ground on which the worker is.
    over: Vec<Tree>,
    /// Where layers lie that were tried, so that others there need not be.
    tried: Vec<PathBuf>,
}

/// One root.
struct Root {
    path: PathBuf,
    /// The real folder.
    lower: OwnedFd,
    /// The empty folder over which layers are put.
    empty: Tree,
    /// What else lies in it: private folders, and what is shown in them.
    inside: Vec<(PathBuf, What)>,
    /// What is covered in it.
    covered: Vec<PathBuf>,
}

impl Grounds {
    /// Begins with nothing, beneath a folder of the new root over which something else will lie.
    pub(super) fn begin(
        beneath: BorrowedFd<'_>,
        visible: &Visible,
        (sources, code): (&Sources, Option<Code>),
    ) -> Result<Self, NotEntered> {
        let missing = "A place to make grounds of";
        let hidden = Tree::fresh("tmpfs", &[("mode", "700"), ("size", &private_size())], PLAIN).or_missing(missing)?;
        hidden.attach_over(beneath).or_missing(missing)?;
        let workshop = make_folder(hidden.as_fd(), Path::new(WORKSHOP)).or_missing(missing)?;
        let covers = Covers::prepare(hidden.as_fd())?;
        let (layers, roots, over, tried) = Default::default();
        let mut grounds = Self { hidden, workshop, covers, code: None, layers, roots, over, tried };
        if let Some(code) = code {
            let kept = grounds.keep(code.folder(), "code").or_missing(missing)?;
            grounds.code = Some(code.moved_to(kept));
        }
        for (number, path) in visible.layers.iter().enumerate() {
            let Ok(opened) = sources.open_layers(number, path) else { continue };
            let kept = grounds.keep(opened.as_fd(), &format!("layers-{number}")).or_missing(missing)?;
            grounds.layers.push((path.clone(), kept));
        }
        Ok(grounds)
    }

    /// Keeps a folder out of sight.
    fn keep(&self, folder: BorrowedFd<'_>, name: &str) -> io::Result<OwnedFd> {
        let tree = Tree::of(folder)?;
        tree.restrict(PLAIN)?;
        make_folder(self.hidden.as_fd(), Path::new(name))?;
        tree.attach(self.hidden.as_fd(), Path::new(name))?;
        find(self.hidden.as_fd(), Path::new(name))
    }

    /// Adds a root, whose place becomes an empty folder.
    pub(super) fn add(
        &mut self,
        visible: (&Visible, &VisibleRoot),
        places: &[Place],
        folder: BorrowedFd<'_>,
        place: BorrowedFd<'_>,
    ) -> io::Result<()> {
        let (visible, VisibleRoot { path, .. }) = visible;
        let lower = self.keep(folder, &format!("root-{}", self.roots.len()))?;
        let empty = make_folder(self.hidden.as_fd(), Path::new(&format!("empty-{}", self.roots.len())))?;
        let empty = Tree::of(empty.as_fd())?;
        empty.restrict(READ_ONLY | PLAIN)?;
        empty.attach_over(place)?;
        let below =
            |one: &Path| one.strip_prefix(path).ok().filter(|below| !below.as_os_str().is_empty()).map(Path::to_owned);
        let is_inside = |place: &&Place| matches!(place.what, What::Private(_) | What::Readable);
        let inside =
            places.iter().filter(is_inside).filter_map(|place| Some((below(&place.path)?, place.what.clone())));
        let hidden = visible.hidden.iter().filter(|hidden| !visible.is_emptied(hidden));
        let covered = hidden.filter_map(|hidden| below(hidden)).collect();
        self.roots.push(Root { path: path.clone(), lower, empty, inside: inside.collect(), covered });
        Ok(())
    }

    /// Returns the descriptors that are needed.
    pub(crate) fn descriptors(&self) -> Vec<RawFd> {
        let roots = self.roots.iter().flat_map(|root| [root.lower.as_fd(), root.empty.as_fd()]);
        let layers = self.layers.iter().map(|(_, folder)| folder.as_fd());
        let code = self.code.iter().map(Code::folder);
        let all =
            roots.chain(layers).chain(code).chain(self.over.iter().map(Tree::as_fd)).chain(self.covers.descriptors());
        all.chain([self.hidden.as_fd(), self.workshop.as_fd()]).map(|one| one.as_raw_fd()).collect()
    }

    /// Puts the worker on the ground that these descriptors stand for.
    pub(crate) fn change(&mut self, roots: &[VisibleRoot], descriptors: Vec<OwnedFd>) -> Result<(), NotEntered> {
        let given = sources::given(roots, descriptors).or_missing("The descriptors of the workspace")?;
        self.enter(roots, &given)
    }

    /// Puts the worker on a ground. When it fails, there is none.
    pub(super) fn enter(&mut self, roots: &[VisibleRoot], given: &[Given]) -> Result<(), NotEntered> {
        let is_same =
            roots.len() == self.roots.len() && roots.iter().zip(&self.roots).all(|(one, other)| one.path == other.path);
        if !is_same || !self.over.is_empty() {
            return Err(NotEntered::Missing("The worker was started for other folders, or is at work.".into()));
        }
        let entered = self.put_over_all(roots, given);
        if entered.is_err() {
            let _ = self.shut().and_then(|()| self.take_away());
        }
        entered
    }

    fn put_over_all(&mut self, roots: &[VisibleRoot], given: &[Given]) -> Result<(), NotEntered> {
        let mut order: Vec<usize> = (0..roots.len()).collect();
        order.sort_by_key(|number| roots[*number].path.components().count());
        for number in order {
            let what = format!("The folder {:?} for the worker", roots[number].path);
            let tree = self.ground(number, &roots[number], &given[number])?;
            let place = self.place(number).or_missing(&what)?;
            let place = place.as_ref().map_or(self.roots[number].empty.as_fd(), AsFd::as_fd);
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
        let path = &self.roots[number].path;
        let is_around = |other: &&Root| path != &other.path && path.starts_with(&other.path);
        if !self.roots.iter().any(|other| is_around(&other)) {
            return Ok(None);
        }
        let root =
            rustix::fs::open("/", rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC, rustix::fs::Mode::empty())?;
        find(root.as_fd(), inner(path)).map(Some)
    }

    /// Puts a layer and everything that lies in it together, out of sight.
    fn ground(&self, number: usize, visible: &VisibleRoot, given: &Given) -> Result<Tree, NotEntered> {
        let root = &self.roots[number];
        let Some(layer) = &given.layer else {
            return Err(NotEntered::Missing(
                "The worker was started on grounds with layers, and this one has none.".into(),
            ));
        };
        let open = self.open_layer(layer)?;
        let folders = Folders { lower: root.lower.as_fd(), upper: open.upper.as_fd(), work: open.work.as_fd() };
        let is_tried = self.tried.iter().any(|place| layer.beside.starts_with(place));
        let tree = if is_tried { layer::again(&root.path, &folders)? } else { layer::over(&root.path, &folders)? };
        tree.attach_over(self.workshop.as_fd()).or_missing("A layer")?;
        let whole = self.furnish(root, visible, &tree);
        if whole.is_err() {
            let _ = take_away(&tree);
        }
        whole.map(|()| tree)
    }

    fn furnish(&self, root: &Root, visible: &VisibleRoot, tree: &Tree) -> Result<(), NotEntered> {
        exceptions(visible, root.lower.as_fd(), (tree.as_fd(), Path::new("")))?;
        if let Some(code) = &self.code {
            code.put(&root.path, (tree.as_fd(), Path::new("")))?;
        }
        for (number, (path, what)) in root.inside.iter().enumerate() {
            let missing = format!("{:?} for the worker", root.path.join(path));
            match what {
                What::Private(_) if find(tree.as_fd(), path).is_err() => {}
                What::Private(_) => {
                    let name = format!("private-{number}");
                    let folder = make_folder(self.hidden.as_fd(), Path::new(&name)).or_missing(&missing)?;
                    let folder = Tree::of(folder.as_fd()).or_missing(&missing)?;
                    folder.attach(tree.as_fd(), path).or_missing(&missing)?;
                }
                _ => {
                    let Ok(source) = find(root.lower.as_fd(), path) else { continue };
                    make_like(tree.as_fd(), path, source.as_fd()).or_missing(&missing)?;
                    let shown = Tree::of(source.as_fd()).or_missing(&missing)?;
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

/// Takes a mount away, with everything that lies over it. By descriptor: whoever moved a folder above it moves nothing here.
fn take_away(tree: &Tree) -> io::Result<()> {
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
