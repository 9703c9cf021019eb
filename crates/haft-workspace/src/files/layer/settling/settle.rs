//! Commits what a command changed: in one transaction, with everything that can be undone.
//!
//! If another program changed a file meanwhile, that file stays, and the command's version is put beside it. If the
//! transaction finds a still later change, haft retries it without the changed paths.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_contract::doors::door::{ChangeSetId, FileKind, Provenance, Receipt, Receipts};
use haft_contract::doors::process::{CommitReport, GroundRoot, Keeps, Settlement};
use haft_contract::effect::Change;
use haft_contract::files::path::{Extent, FileLocation, Target};
use haft_contract::files::stamp::{ExpectedVersion, FileStamp};
use haft_contract::outcome::error::ToolError;
use haft_contract::text::diff::Diff;
use rustix::fs::OFlags;
use tokio_util::sync::CancellationToken;

use super::keeping::KeepFilter;
use super::meanwhile::Meanwhile;
use super::moves::MovedFolder;
use super::report;
use super::sync::OwnCommits;
use crate::files::change::bring::{LayerEntry, LayerHandle};
use crate::files::change::refused::{TransactionRefusal, is_about_the_file};
use crate::files::change::transaction;
use crate::files::change::transaction::{
    Done, FileAction, FileMutation, NotDone, PartialTransaction, Precondition, TransactionContext,
};
use crate::files::change::unwritable_dirs::Shut;
use crate::files::clock::FilesystemTime;
use crate::files::guarding::followed::FollowedPlaces;
use crate::files::layer::Layers;
use crate::files::layer::difference::{Below, Clash, Comes, Difference, LayerChange, LayerExclusion, RootedPath};
use crate::files::layer::judging::covers::Cover;
use crate::files::layer::judging::generated::GeneratedTreeCache;
use crate::files::layer::judging::judge;
use crate::files::layer::judging::judge::{JudgedDifference, repository_of};
use crate::files::layer::read::{LayerReader, Unread};
use crate::files::layer::trees::PlannedTree;
use crate::files::read::open::{WorkspaceRoot, open_name};
use crate::files::searching::order::in_order;
use crate::state::journal::{ChangeAuthor, Mark};

/// How often a transaction is retried when another program was faster.
const MOST_ROUNDS: usize = 8;
/// How many names are tried for what is put beside a file.
const MOST_NAMES: usize = 100;

/// One root with its layer, to be read.
pub(in crate::files::layer) struct OpenRoot {
    whole: Arc<WorkspaceRoot>,
    pub(in crate::files::layer) real: PathBuf,
    pub(in crate::files::layer) folder: OwnedFd,
    pub(in crate::files::layer) upper: OwnedFd,
    pub(in crate::files::layer) layered: Arc<LayerHandle>,
    pub(in crate::files::layer) since: FilesystemTime,
    pub(in crate::files::layer) generated: GeneratedTreeCache,
    /// The secrets that the command did not see.
    pub(in crate::files::layer) covers: Vec<Cover>,
}

impl OpenRoot {
    pub(in crate::files::layer) fn new(
        whole: Arc<WorkspaceRoot>,
        root: &GroundRoot,
        (since, covers): (FilesystemTime, Vec<Cover>),
    ) -> io::Result<Self> {
        let layer = root.layer.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let flags = OFlags::DIRECTORY | OFlags::RDONLY;
        let upper = open_name(&layer.upper, b".", flags)?;
        let layered = Arc::new(LayerHandle::new(open_name(&layer.upper, b".", flags)?));
        let folder = open_name(&root.folder, b".", flags)?;
        let (real, generated) = (root.path.clone(), GeneratedTreeCache::default());
        Ok(Self { whole, real, folder, upper, layered, since, generated, covers })
    }

    /// Returns the place of a path beneath this root, as all of haft names it.
    pub(in crate::files::layer) fn place_of(&self, path: &Path) -> PathBuf {
        let real = self.real.join(path);
        self.whole.place_of(&real).map_or_else(|| real.clone(), Path::to_owned)
    }

    /// Returns whether trusted code names a place.
    pub(in crate::files::layer) fn is_named(&self, place: &Path) -> bool {
        self.whole.is_named(place)
    }

    /// Returns what protected names lead to in the workspace.
    pub(in crate::files::layer) fn followed(&self) -> FollowedPlaces {
        FollowedPlaces::look(&self.whole)
    }

    /// Returns whether something of haft's own lies in a folder.
    pub(in crate::files::layer) fn holds_off_limits(&self, path: &Path) -> bool {
        self.whole.holds_off_limits(&self.place_of(path))
    }

    pub(in crate::files::layer) fn is_off_limits(&self, path: &Path) -> bool {
        self.whole.place_of(&self.real.join(path)).is_none()
    }
}

/// What is needed to settle a ground.
pub(in crate::files::layer) struct Settling<'a> {
    pub(in crate::files::layer) layers: &'a Layers,
    /// How far the journal went before the command.
    pub(in crate::files::layer) mark: Mark,
    pub(in crate::files::layer) roots: Vec<OpenRoot>,
    pub(in crate::files::layer) keeps: Keeps,
    pub(in crate::files::layer) errand: Provenance,
    pub(in crate::files::layer) receipts: Receipts,
    pub(in crate::files::layer) stop: CancellationToken,
    /// What the command has committed itself.
    pub(in crate::files::layer) own: RefCell<OwnCommits>,
    /// Whether the command goes on running.
    pub(in crate::files::layer) is_sync: bool,
    /// The folder of the layers, if the command wrote into layers.
    pub(in crate::files::layer) layer_folder: Option<PathBuf>,
}

impl Settling<'_> {
    /// Brings everything in that may come.
    pub(in crate::files::layer) fn keep(&self) -> Result<CommitReport, ToolError> {
        self.keep_judged(self.judged()?)
    }

    pub(in crate::files::layer) fn keep_judged(&self, mut judged: JudgedDifference) -> Result<CommitReport, ToolError> {
        let mut settled = CommitReport::default();
        // The layer is used up when it is brought in.
        let blank_in_git: Vec<String> = self.roots.iter().filter_map(OpenRoot::of_blank_in_git).collect();
        let mut kept = Vec::new();
        let mut rounds = 0;
        // A folder that is moved in the workspace would no longer be the one beneath the layer.
        let moves = if self.is_sync { Ok(Vec::new()) } else { self.take_moves(&mut judged) };
        let moves = moves.map_err(|error| report::unread(Path::new("a moved folder"), error))?;
        let trees = self.planned_trees(&judged.trees)?;
        let own: Vec<u64> = self.receipts.change_set().map(|number| number.0).into_iter().collect();
        let own = [own, self.own.borrow().sets.clone()].concat();
        let mut meanwhile = None;
        let done = loop {
            meanwhile = Meanwhile::of(&self.layers.journal, self.mark, &own).or(meanwhile);
            if let Some(meanwhile) = &meanwhile {
                self.merge_clashes(&mut judged, meanwhile);
                self.touch(&judged);
            }
            let coming: HashSet<&RootedPath> = judged.comes.iter().map(|found| &found.spot).collect();
            kept.retain(|(_, found): &(RootedPath, LayerChange)| coming.contains(&found.spot));
            self.keep_aside(&mut judged, &mut kept);
            if judged.comes.is_empty() && moves.is_empty() && trees.iter().all(|tree| tree.change.is_none()) {
                break None;
            }
            rounds += 1;
            match self.commit(&judged, (&trees, &moves)) {
                Ok(done) => break Some(done),
                Err(refused) => {
                    if let Err(error) = self.without(&mut judged, refused, rounds) {
                        trees.iter().for_each(PlannedTree::discard);
                        return Err(error);
                    }
                }
            }
        };
        self.set_times(&judged.touched);
        if let Some(done) = done {
            self.note(&judged, done, &mut settled);
        }
        self.note_trees(&trees, &mut settled);
        self.note_moves(&moves, &mut settled);
        settled.conflicts = report::conflicts(self, (&judged, &kept), meanwhile.as_ref());
        settled.meanwhile = meanwhile.map(|meanwhile| meanwhile.sets()).unwrap_or_default();
        settled.notes.extend(report::of_judged(self, &judged, &kept));
        settled.undeclared = report::undeclared(self, &judged);
        settled.notes.extend(blank_in_git);
        Ok(settled)
    }

    /// Reads the layers, and takes the difference apart.
    pub(in crate::files::layer) fn judged(&self) -> Result<JudgedDifference, ToolError> {
        let mut difference = Difference::default();
        let caps = self.layers.caps;
        let stopped = || self.stop.is_cancelled();
        let own = self.own.borrow();
        for (number, root) in self.roots.iter().enumerate() {
            let mut reader = LayerReader {
                root: number,
                since: root.since,
                caps,
                stopped: &stopped,
                is_generated: &|path| {
                    self.layers.store_base(number).is_some()
                        && root.is_generated(path)
                        && !root.holds_cover(path)
                        && !self.keeps.some_of(&root.place_of(path))
                },
                is_off_limits: &|path| root.is_off_limits(path),
                own: &own,
                difference: &mut difference,
                path: PathBuf::new(),
            };
            reader.read(root.upper.as_fd(), root.folder.as_fd()).map_err(|unread| match unread {
                Unread::Stopped => crate::files::change::write::stopped(),
                Unread::System(path, error) => report::unread(&root.place_of(&path), error),
            })?;
        }
        difference.join_twins(caps);
        difference.found.retain(|found| !self.roots[found.spot.root].is_cover(found));
        if !difference.is_within(caps) {
            return Err(report::too_much(&difference, caps));
        }
        self.check_space(&difference)?;
        Ok(judge::judge(&self.roots, &self.keeps, difference))
    }

    /// Commits the command's version under a name beside the file that another program changed.
    fn keep_aside(&self, judged: &mut JudgedDifference, kept: &mut Vec<(RootedPath, LayerChange)>) {
        let taken: HashSet<RootedPath> = judged.comes.iter().map(|found| found.spot.clone()).collect();
        let known: HashSet<RootedPath> = kept.iter().map(|(of, _)| of.clone()).collect();
        for clash in &judged.clashes {
            let is_file = matches!(&clash.comes, Comes::File(file) if file.size > 0);
            // Beside a reference git would take it for another one; what it leads to is among the objects.
            if !is_file || known.contains(&clash.spot) || repository_of(&clash.spot.path).is_some() {
                continue;
            }
            let Some(spot) = self.free_name(&clash.spot, &taken) else { continue };
            let source = Some(clash.source().to_owned());
            let found = LayerChange { spot, source, below: None, comes: clash.comes.clone(), clash: None };
            judged.comes.push(found.clone());
            kept.push((clash.spot.clone(), found));
        }
    }

    /// Returns a name beside a path that nothing has; nothing when its folder is gone.
    fn free_name(&self, spot: &RootedPath, taken: &HashSet<RootedPath>) -> Option<RootedPath> {
        let root = &self.roots[spot.root];
        let parent = spot.path.parent()?;
        let is_there = parent.as_os_str().is_empty() || root.kind_below(parent) == Some(FileKind::Folder);
        let names = (1..MOST_NAMES).filter(|_| is_there).map(|number| {
            let mut name = spot.path.clone().into_os_string();
            name.push(if number == 1 { ".kept-by-haft".to_owned() } else { format!(".kept-by-haft-{number}") });
            RootedPath { root: spot.root, path: name.into() }
        });
        names.into_iter().find(|name| root.stat_below(&name.path).is_none() && !taken.contains(name))
    }

    /// Does all of it; returns where each deed was done.
    fn commit(
        &self,
        judged: &JudgedDifference,
        (trees, moves): (&[PlannedTree], &[MovedFolder]),
    ) -> Result<(Done, Vec<PathBuf>), TransactionRefusal> {
        let mut deeds: Vec<FileMutation> =
            judged.comes.iter().map(|found| self.roots[found.spot.root].deed(found)).collect();
        deeds.extend(trees.iter().filter_map(|tree| self.tree_deed(tree)));
        deeds.extend(self.move_deeds(moves));
        let deeds = in_order(deeds);
        let set = self.receipts.change_set().map(|ChangeSetId(number)| number);
        let stopped = || self.stop.is_cancelled();
        let (root, journal, by) =
            (&self.layers.root, &self.layers.journal, ChangeAuthor::from(&self.errand).having_reached(&self.receipts));
        let plants = |place: &Path, _: &Path| judged.harmless.contains(place);
        let (shut, stopped, plants) = (Shut::Opens, &stopped, &plants);
        let old_changes = self.errand.old_changes;
        let job = TransactionContext { root, journal, by, set, takes_back: None, shut, stopped, old_changes, plants };
        let done = transaction::attempt(&job, &deeds)?;
        Ok((done, deeds.into_iter().map(|deed| deed.place).collect()))
    }

    /// Takes out what stood in the way, so that the rest can be tried again; fails where that does not help.
    pub(in crate::files::layer) fn without(
        &self,
        judged: &mut JudgedDifference,
        refused: TransactionRefusal,
        rounds: usize,
    ) -> Result<(), ToolError> {
        self.note_as_before(judged, &refused);
        let (others, is_again) = (refused.others.into_iter().map(|(place, _)| place), rounds < MOST_ROUNDS);
        let place = match refused.cause {
            NotDone::Stale(place) if is_again => place,
            // Another program has put something into a folder that was to be removed.
            NotDone::System(place, error) if is_again && error.kind() == io::ErrorKind::DirectoryNotEmpty => place,
            NotDone::System(place, error) if is_again && is_about_the_file(&error) => {
                let left = self.leave_out(judged, &others.chain([place.clone()]).collect(), LayerExclusion::NotAllowed);
                return (left > 0).then_some(()).ok_or_else(|| report::not_committed(NotDone::System(place, error)));
            }
            // Another call added the rest of a repository after this one was judged.
            NotDone::Plants { place, repository } if is_again => {
                let left = self.leave_out(judged, &HashSet::from([place.clone()]), judge::PLANTED);
                let not_done = || report::not_committed(NotDone::Plants { place, repository });
                return (left > 0).then_some(()).ok_or_else(not_done);
            }
            NotDone::Standing(standing) => {
                self.note_standing(&standing);
                return Err(crate::files::change::write::stands(&standing));
            }
            not_done => return Err(report::not_committed(not_done)),
        };
        let mut is_found = false;
        let comes = std::mem::take(&mut judged.comes);
        for mut found in comes {
            let root = &self.roots[found.spot.root];
            let is_it = root.place_of(&found.spot.path) == place;
            match root.changed_since(&found) {
                Since::Nothing if !is_it => judged.comes.push(found),
                // Another program made the folder too; the command's files can still be committed into it.
                Since::SameFolder => {}
                Since::Nothing | Since::Changed => {
                    is_found = true;
                    let is_merged = |one: &LayerChange| found.source.is_some() && one.spot == found.spot;
                    // What was put beside another file gets another name, and what was merged is merged again.
                    if let Some(at) = judged.merged.iter().position(is_merged) {
                        judged.clashes.push(judged.merged.swap_remove(at));
                    } else if found.source.is_none() {
                        found.clash = Some(Clash::Changed);
                        judged.clashes.push(found);
                    }
                }
            }
            is_found |= is_it;
        }
        if !is_found {
            return Err(report::not_committed(NotDone::Stale(place)));
        }
        judge::drop_folders(judged);
        Ok(())
    }

    /// What this transaction did and reverted was not changed by another program.
    fn note_as_before(&self, judged: &mut JudgedDifference, refused: &TransactionRefusal) {
        let stamps: HashMap<&Path, FileStamp> =
            refused.as_before.iter().map(|(place, stamp)| (place.as_path(), *stamp)).collect();
        for found in judged.comes.iter_mut().filter(|_| !stamps.is_empty()) {
            let place = self.roots[found.spot.root].place_of(&found.spot.path);
            if let (Some(below), Some(stamp)) = (&mut found.below, stamps.get(place.as_path())) {
                below.stamp = *stamp;
            }
        }
    }

    /// Takes out what the system or a rule does not let us do; returns how much that is.
    fn leave_out(&self, judged: &mut JudgedDifference, places: &HashSet<PathBuf>, why: LayerExclusion) -> usize {
        let is_it = |found: &LayerChange| places.contains(&self.roots[found.spot.root].place_of(&found.spot.path));
        let (out, comes): (Vec<LayerChange>, Vec<LayerChange>) =
            std::mem::take(&mut judged.comes).into_iter().partition(is_it);
        judged.comes = comes;
        let count = out.len();
        judged.left_out.extend(out.into_iter().map(|found| (found.spot, why)));
        judge::drop_folders(judged);
        count
    }

    /// Notes what was done, for the result.
    fn note(&self, judged: &JudgedDifference, (done, places): (Done, Vec<PathBuf>), settled: &mut CommitReport) {
        let comes = &judged.comes;
        self.receipts.note_change_set(ChangeSetId(done.set));
        self.own.borrow_mut().note(&self.roots, judged);
        settled.notes.extend(done.loss());
        settled.notes.extend(report::of_places(&places, &done.notes));
        comes.iter().for_each(|found| self.roots[found.spot.root].give(found));
        let fell_apart = |found: &&LayerChange| {
            matches!(&found.comes, Comes::File(file) if file.shared.is_some())
                && self.roots[found.spot.root].is_copied()
        };
        let name = |found: &LayerChange| self.target(&found.spot, Extent::Entry).to_string();
        let apart: Vec<String> = comes.iter().filter(fell_apart).map(name).collect();
        settled.notes.extend(report::of_names(&apart));
        for (found, change) in changes(judged) {
            let target = self.target(&found.spot, Extent::Entry);
            self.receipts.note(Receipt::Changed(target.clone(), change));
            settled.changes.push(settlement(target, (found, change), None));
        }
        let folder = |(found, change): (&LayerChange, Change)| (self.target(&found.spot, Extent::Entry), change);
        settled.folders.extend(folders(judged).into_iter().map(folder));
    }

    fn note_standing(&self, standing: &PartialTransaction) {
        self.receipts.note_change_set(ChangeSetId(standing.set));
        for place in &standing.places {
            let target = Target::Inside(FileLocation::new(place, Extent::Entry));
            self.receipts.note(Receipt::Changed(target, Change::Replace));
        }
    }

    pub(in crate::files::layer) fn target(&self, spot: &RootedPath, extent: Extent) -> Target {
        Target::Inside(FileLocation::new(self.roots[spot.root].place_of(&spot.path), extent))
    }
}

/// What became of a path since the layer was read.
enum Since {
    Nothing,
    Changed,
    /// A folder is there where one was to be made.
    SameFolder,
}

impl OpenRoot {
    pub(in crate::files::layer) fn kind_below(&self, path: &Path) -> Option<FileKind> {
        self.stat_below(path).map(|stat| crate::files::layer::kind_of(&stat))
    }

    /// Returns whether what comes in is copied, because the layer lies on another file system.
    fn is_copied(&self) -> bool {
        let device = |folder: &OwnedFd| rustix::fs::fstat(folder).ok().map(|stat| stat.st_dev);
        device(&self.upper) != device(&self.folder)
    }

    /// Lets a new folder belong to whom the command ran as; files come in with their owner.
    fn give(&self, found: &LayerChange) {
        if !matches!(found.comes, Comes::Folder { .. }) || !rustix::process::geteuid().is_root() {
            return;
        }
        let path = found.spot.path.as_os_str().as_bytes();
        let flags = OFlags::DIRECTORY | OFlags::RDONLY;
        let (Some(wanted), Ok(made)) = (self.stat_layered(&found.spot.path), open_name(&self.folder, path, flags))
        else {
            return;
        };
        // If it cannot be given away, the system reports that to the next user of the folder.
        let _ = crate::files::read::owner::give(&made, crate::files::read::owner::of(&wanted));
    }

    fn changed_since(&self, found: &LayerChange) -> Since {
        let now = self.stat_below(&found.spot.path).map(|stat| Below::from(&stat));
        match (&found.comes, found.below, now) {
            (_, None, None) => Since::Nothing,
            (Comes::Folder { .. }, None, Some(now)) if now.kind == FileKind::Folder => Since::SameFolder,
            (_, Some(then), Some(now)) if then.stamp == now.stamp => Since::Nothing,
            _ => Since::Changed,
        }
    }

    fn deed(&self, found: &LayerChange) -> FileMutation {
        let action = match &found.comes {
            Comes::File(_) | Comes::Link => {
                FileAction::Bring(LayerEntry { from: self.layered.clone(), path: found.source().to_owned() })
            }
            Comes::Folder { mode } => FileAction::MakeFolder(Some(*mode)),
            Comes::Mode(mode) => FileAction::SetMode(*mode),
            Comes::Nothing => FileAction::Remove,
        };
        let basis = found.below.map_or(ExpectedVersion::Nothing, |below| ExpectedVersion::Stamped(below.stamp));
        FileMutation { place: self.place_of(&found.spot.path), action, expected: Precondition::Basis(basis) }
    }
}

/// Returns what to tell of: files and links, and folders only where nothing in them tells of them.
/// Makes what is told of one path.
pub(in crate::files::layer) fn settlement(
    target: Target,
    (found, change): (&LayerChange, Change),
    diff: Option<Diff>,
) -> Settlement {
    let kind = found.kind();
    let is_replaced = change == Change::Replace && found.below.is_some_and(|below| below.kind != kind);
    Settlement { target, change, is_folder: kind == FileKind::Folder, is_replaced, diff, inside: None, from: None }
}

/// Returns what came in and what it is for each path. A folder is told by what is in it.
pub(in crate::files::layer) fn changes(judged: &JudgedDifference) -> Vec<(&LayerChange, Change)> {
    let [shown, _] = told_paths(judged);
    shown
}

/// Returns the folders that were made or removed and are told by what is in them.
pub(in crate::files::layer) fn folders(judged: &JudgedDifference) -> Vec<(&LayerChange, Change)> {
    let [_, folders] = told_paths(judged);
    folders
}

fn told_paths(judged: &JudgedDifference) -> [Vec<(&LayerChange, Change)>; 2] {
    let comes = &judged.comes;
    // A folder in the place of a file tells of the file that is gone.
    let ends_file = |found: &LayerChange| found.below.is_some_and(|below| below.kind != FileKind::Folder);
    let is_folder = |found: &LayerChange| {
        found.kind() == FileKind::Folder && !matches!(found.comes, Comes::Mode(_)) && !ends_file(found)
    };
    let above = |spot: &RootedPath| {
        let root = spot.root;
        spot.path.ancestors().skip(1).map(|path| RootedPath { root, path: path.to_owned() }).collect::<Vec<_>>()
    };
    let told: HashSet<RootedPath> =
        comes.iter().map(|found| &found.spot).chain(&judged.trees).flat_map(above).collect();
    let change = |found: &LayerChange| match (&found.comes, found.below) {
        (Comes::Nothing, _) => Change::Remove,
        (_, None) => Change::Create,
        (_, Some(_)) => Change::Replace,
    };
    let all = comes.iter().map(|found| (found, change(found)));
    let (shown, folders): (Vec<_>, Vec<_>) =
        all.partition(|(found, _)| !is_folder(found) || !told.contains(&found.spot));
    [shown, folders.into_iter().filter(|(_, change)| *change != Change::Replace).collect()]
}
