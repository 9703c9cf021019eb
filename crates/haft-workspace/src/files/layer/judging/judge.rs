//! Decides which part of a difference is committed, which is refused, and which conflicts with another program's change.
//!
//! Names that make programs run are refused everywhere: in any folder, in any case, and in a folder that git would take for
//! a repository because of its content, whatever its name. The references and the index of a repository are committed
//! together or not at all.
//!
//! Not here: what differs (`read`), the words (`told`).

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use haft_contract::doors::door::FileKind;
use haft_contract::doors::process::Keeps;
use haft_contract::files::guarded;
use rustix::fs::{AtFlags, OFlags};

use super::harmless;
use super::moved_to_refused;
use crate::files::guarding::followed::FollowedPlaces;
use crate::files::guarding::repository;
use crate::files::guarding::repository::{ChangeView, RepositoryJudge};
use crate::files::layer::difference::{Clash, Comes, Difference, LayerChange, LayerExclusion, RootedPath};
use crate::files::layer::read::open_file;
use crate::files::layer::settling::keeping::KeepFilter;
use crate::files::layer::settling::settle::OpenRoot;
use crate::files::layer::touched::FileTimeChange;
use crate::files::read::open::{open_beneath, open_name};

/// How long another program is waited for that is at work in a repository.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long to wait between two looks.
const PAUSE: Duration = Duration::from_millis(10);

const WHY_OFF_LIMITS: &str = "it belongs to haft itself";
const WHY_A_HOLDER: &str = "programs read the content of a folder of that name as their settings";
const WHY_NAMED: &str = "trusted tools or hooks run it";
const WHY_FOLLOWED: &str = "a protected name leads to it, so programs run or follow it";
pub(in crate::files::layer) const WHY_TO_DO: &str = "git would run the programs that it names when it continues";
const WHY_A_REPOSITORY: &str = "git would treat its folder as a repository, whose hooks and settings run programs";

/// Why something is left out that would plant a git repository.
pub(in crate::files::layer) const PLANTED: LayerExclusion = LayerExclusion::Protected(WHY_A_REPOSITORY);

/// A difference, sorted by the decision on each of its changes.
#[derive(Debug, Default)]
pub(in crate::files::layer) struct JudgedDifference {
    /// What comes in.
    pub(in crate::files::layer) comes: Vec<LayerChange>,
    /// What stays unchanged because another program changed it.
    pub(in crate::files::layer) clashes: Vec<LayerChange>,
    /// What stays, merged with the changes of another program.
    pub(in crate::files::layer) merged: Vec<LayerChange>,
    pub(in crate::files::layer) left_out: Vec<(RootedPath, LayerExclusion)>,
    pub(in crate::files::layer) trees: Vec<RootedPath>,
    /// Files of which only the time changed.
    pub(in crate::files::layer) touched: Vec<FileTimeChange>,
    /// Places of new files that are harmless by what is in them, though their names are not.
    pub(in crate::files::layer) harmless: HashSet<PathBuf>,
    /// The folders that are new; where one does not come in, nothing in it can.
    new_folders: HashSet<RootedPath>,
}

/// Takes a difference apart.
pub(in crate::files::layer) fn judge(roots: &[OpenRoot], keeps: &Keeps, difference: Difference) -> JudgedDifference {
    let repositories = roots.iter().map(|_| RepositoryJudge::default()).collect();
    let followed = OnceCell::new();
    let (refused_files, removed, judged) = Default::default();
    let mut judge = DifferenceJudge { roots, keeps, repositories, followed, refused_files, removed, judged };
    let mut left_out = difference.left_out;
    // What does not come in is not said to have come in without something.
    left_out.retain(|(spot, why)| *why != LayerExclusion::SetId || judge.is_kept(spot));
    judge.judged.left_out = left_out;
    let mut touched = difference.touched;
    touched.retain(|touched| judge.is_kept(&touched.spot));
    judge.judged.touched = touched;
    for tree in difference.trees {
        judge.tree(tree);
    }
    let goes = |found: &&LayerChange| matches!(found.comes, Comes::Nothing) && found.clash.is_none();
    judge.removed = difference.found.iter().filter(goes).map(|found| found.spot.clone()).collect();
    for found in difference.found {
        judge.one(found);
    }
    let mut judged = judge.judged;
    moved_to_refused::keep_sources(roots, &mut judged, &judge.refused_files);
    drop_what_is_in_folders_that_stay_out(&mut judged);
    wait_for_locks(roots, &mut judged);
    keep_repositories_whole(&mut judged);
    drop_folders(&mut judged);
    judged
}

/// Decides for each change of a difference whether it comes in.
pub(in crate::files::layer) struct DifferenceJudge<'a> {
    pub(in crate::files::layer) roots: &'a [OpenRoot],
    keeps: &'a Keeps,
    /// Judges the paths beneath each root.
    repositories: Vec<RepositoryJudge>,
    /// Looked up for the first change: most commands make none.
    followed: OnceCell<FollowedPlaces>,
    /// Files whose names are refused.
    refused_files: Vec<RootedPath>,
    /// What goes.
    removed: HashSet<RootedPath>,
    pub(in crate::files::layer) judged: JudgedDifference,
}

impl DifferenceJudge<'_> {
    fn one(&mut self, found: LayerChange) {
        if matches!(found.comes, Comes::Folder { .. }) {
            self.judged.new_folders.insert(found.spot.clone());
        }
        if let Some(why) = self.left_out(&found) {
            if matches!((&why, &found.comes), (LayerExclusion::Protected(_), Comes::File(_))) {
                self.refused_files.push(found.spot.clone());
            }
            self.judged.left_out.push((found.spot, why));
        } else if found.clash.is_none() {
            self.judged.comes.push(found);
        } else {
            self.judged.clashes.push(found);
        }
    }

    /// Says why a path is left out, whatever others did there.
    pub(in crate::files::layer) fn left_out(&mut self, found: &LayerChange) -> Option<LayerExclusion> {
        if !self.is_kept(&found.spot) && !self.leads_to_kept(found) {
            return Some(LayerExclusion::NotSaid);
        }
        if self.roots[found.spot.root].is_covered(&found.spot.path) {
            return Some(LayerExclusion::Covered);
        }
        let lock = || is_left_lock(found).then_some(LayerExclusion::Lock);
        self.refused(found).map(LayerExclusion::Protected).or_else(lock)
    }

    /// Returns whether the tool had said that it would change this.
    pub(in crate::files::layer) fn is_kept(&self, spot: &RootedPath) -> bool {
        self.keeps.entry(&self.roots[spot.root].place_of(&spot.path))
    }

    /// Returns whether this is a new folder in which something may come.
    fn leads_to_kept(&self, found: &LayerChange) -> bool {
        let is_new_folder = matches!(found.comes, Comes::Folder { .. }) && found.below.is_none();
        is_new_folder && self.keeps.some_of(&self.roots[found.spot.root].place_of(&found.spot.path))
    }

    fn followed(&self) -> &FollowedPlaces {
        self.followed.get_or_init(|| self.roots.first().map(OpenRoot::followed).unwrap_or_default())
    }

    /// Says why a path is refused, if it is.
    fn refused(&mut self, found: &LayerChange) -> Option<&'static str> {
        let root = &self.roots[found.spot.root];
        let place = root.place_of(&found.spot.path);
        // Where a folder of that name was and a file comes, either would be changed.
        let old_kind = found.below.map(|below| below.kind).filter(|kind| *kind != found.kind());
        let is_link = matches!(found.comes, Comes::Link);
        let why = root
            .is_off_limits(&found.spot.path)
            .then_some(WHY_OFF_LIMITS)
            // A link of such a name gives another meaning to whatever it leads to.
            .or_else(|| (is_link && guarded::may_hold_guarded(&place)).then_some(WHY_A_HOLDER))
            .or_else(|| root.is_named(&place).then_some(WHY_NAMED))
            .or_else(|| self.followed().refuses(&place, found.kind()).then_some(WHY_FOLLOWED))
            .or_else(|| guarded::refused_from_commands(&place, found.kind()))
            .or_else(|| old_kind.and_then(|kind| guarded::refused_from_commands(&place, kind)))
            .or_else(|| self.plants_repository(found).then_some(WHY_A_REPOSITORY))
            .or_else(|| self.is_dangerous_to_do(found).then_some(WHY_TO_DO))?;
        if ![WHY_TO_DO, WHY_OFF_LIMITS, WHY_A_HOLDER, WHY_NAMED, WHY_FOLLOWED].contains(&why)
            && matches!(found.comes, Comes::File(_))
            && self.is_harmless(found)
        {
            self.judged.harmless.insert(place);
            return None;
        }
        (!self.goes_with_working_tree(found)).then_some(why)
    }

    /// Returns whether a setting goes because git forgets the additional working tree that it belongs to.
    fn goes_with_working_tree(&self, found: &LayerChange) -> bool {
        let Some(folder) = found.spot.path.parent().filter(|_| matches!(found.comes, Comes::Nothing)) else {
            return false;
        };
        let is_of_tree = folder.parent().is_some_and(|above| above.ends_with(".git/worktrees"));
        is_of_tree && self.removed.contains(&RootedPath { root: found.spot.root, path: folder.to_owned() })
    }

    fn plants_repository(&self, found: &LayerChange) -> bool {
        let judge = &self.repositories[found.spot.root];
        judge.planted(&self.roots[found.spot.root], &found.spot.path).is_some()
    }

    /// Returns whether a list of what git is to do names programs.
    fn is_dangerous_to_do(&self, found: &LayerChange) -> bool {
        if repository_of(&found.spot.path).is_none() || !harmless::is_to_do(&found.spot.path) {
            return false;
        }
        matches!(found.comes, Comes::File(_))
            && self.content(found).is_none_or(|content| harmless::runs_programs(&found.spot.path, &content))
    }

    fn is_harmless(&self, found: &LayerChange) -> bool {
        let root = &self.roots[found.spot.root];
        let Some(new) = self.content(found) else { return false };
        match found.below.map(|below| below.kind) {
            None => harmless::is_harmless(&found.spot.path, &root.real, &new),
            Some(FileKind::File) => root
                .content_below(&found.spot.path)
                .is_some_and(|old| harmless::is_harmless_change(&found.spot.path, (&old, &new))),
            Some(_) => false,
        }
    }

    /// Returns the content of a new file, unless it is large.
    fn content(&self, found: &LayerChange) -> Option<Vec<u8>> {
        small_content(self.roots[found.spot.root].open_layered(found.source()).ok()?)
    }
}

impl OpenRoot {
    /// Returns the content of a file as it is without the layer, unless it is large.
    fn content_below(&self, path: &Path) -> Option<Vec<u8>> {
        small_content(open_beneath(self.folder.as_fd(), path, OFlags::RDONLY).ok()?.into())
    }
}

fn small_content(file: std::fs::File) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(harmless::LARGEST + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= harmless::LARGEST).then_some(bytes)
}

impl RootedPath {
    /// Returns whether the other is the same or lies in this folder.
    pub(in crate::files::layer) fn holds(&self, other: &RootedPath) -> bool {
        self.root == other.root && other.path.starts_with(&self.path)
    }
}

impl OpenRoot {
    /// Returns whether git would take a folder for a repository.
    pub(in crate::files::layer) fn is_repository(&self, folder: &Path) -> bool {
        repository::is_repository(folder, &|path| self.will_be(path))
    }
}

/// Sees a root as it is and as the layer over it leaves it. What the layer removed counts as present.
impl ChangeView for OpenRoot {
    fn was(&self, path: &Path) -> bool {
        self.stat_below(path).is_some()
    }

    fn will_be(&self, path: &Path) -> bool {
        self.has_layered(path) || self.was(path)
    }

    fn was_head(&self, path: &Path) -> bool {
        let path = path.as_os_str().as_bytes();
        let opened = open_beneath(self.folder.as_fd(), path, OFlags::RDONLY | OFlags::NOFOLLOW);
        opened.is_ok_and(|opened| repository::is_valid_head(std::fs::File::from(opened)))
    }

    fn place(&self, path: &Path) -> PathBuf {
        self.place_of(path)
    }
}

/// Returns the part of a path that names the folder of a repository, and whether it is about its objects.
pub(in crate::files::layer) fn repository_of(path: &Path) -> Option<(PathBuf, bool)> {
    let mut folder = PathBuf::new();
    let mut parts = path.iter();
    for part in parts.by_ref() {
        folder.push(part);
        if part.as_bytes().eq_ignore_ascii_case(b".git") {
            let is_objects = parts.next().is_some_and(|next| next == "objects");
            return Some((folder, is_objects));
        }
    }
    None
}

/// Returns whether this is what a git that was killed left behind.
fn is_left_lock(found: &LayerChange) -> bool {
    let is_new = found.below.is_none() && matches!(found.comes, Comes::File(_));
    is_new && is_lock(&found.spot.path) && repository_of(&found.spot.path).is_some()
}

fn is_lock(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "lock")
}

/// Waits for other programs that are at work on the same files of a repository.
fn wait_for_locks(roots: &[OpenRoot], judged: &mut JudgedDifference) {
    let deadline = Instant::now() + PATIENCE;
    // A lock that the command removed was left by a process that has ended.
    let gone = |found: &&LayerChange| matches!(found.comes, Comes::Nothing) && is_lock(&found.spot.path);
    let removed: HashSet<RootedPath> = judged.comes.iter().filter(gone).map(|found| found.spot.clone()).collect();
    for found in judged.comes.iter_mut().filter(|found| found.kind() != FileKind::Folder) {
        let Some((_, false)) = repository_of(&found.spot.path) else { continue };
        let mut lock = found.spot.path.clone().into_os_string();
        lock.push(".lock");
        let lock = RootedPath { root: found.spot.root, path: lock.into() };
        while !removed.contains(&lock) && roots[lock.root].stat_below(&lock.path).is_some() {
            if Instant::now() >= deadline {
                found.clash = Some(Clash::Locked);
                break;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// Lets the references and the index of a repository come in together or not at all.
fn keep_repositories_whole(judged: &mut JudgedDifference) {
    let repository = |found: &LayerChange| match repository_of(&found.spot.path) {
        Some((folder, false)) => Some(RootedPath { root: found.spot.root, path: folder }),
        Some((_, true)) | None => None,
    };
    let clashing = judged.clashes.iter().chain(judged.comes.iter().filter(|found| found.clash.is_some()));
    let broken: HashMap<RootedPath, Clash> =
        clashing.filter_map(|found| Some((repository(found)?, found.clash?))).collect();
    if broken.is_empty() {
        return;
    }
    let (stays, comes): (Vec<LayerChange>, Vec<LayerChange>) = std::mem::take(&mut judged.comes)
        .into_iter()
        .partition(|found| repository(found).is_some_and(|repository| broken.contains_key(&repository)));
    judged.comes = comes;
    judged.clashes.extend(stays.into_iter().map(|mut found| {
        found.clash =
            found.clash.or_else(|| repository(&found).and_then(|repository| broken.get(&repository).copied()));
        found
    }));
}

/// Leaves out what lies in new folders that do not come in themselves.
fn drop_what_is_in_folders_that_stay_out(judged: &mut JudgedDifference) {
    let is_new = |spot: &RootedPath| judged.new_folders.contains(spot);
    let refused: HashMap<RootedPath, LayerExclusion> =
        judged.left_out.iter().filter(|(spot, _)| is_new(spot)).cloned().collect();
    let clashing = judged.clashes.iter().map(|found| &found.spot).filter(|spot| is_new(spot));
    let clashing: HashSet<RootedPath> = clashing.cloned().collect();
    if refused.is_empty() && clashing.is_empty() {
        return;
    }
    let stays_out =
        |tree: &RootedPath| above(tree).iter().any(|above| refused.contains_key(above) || clashing.contains(above));
    judged.trees.retain(|tree| !stays_out(tree));
    for mut found in std::mem::take(&mut judged.comes) {
        let above = above(&found.spot);
        if let Some(why) = above.iter().find_map(|folder| refused.get(folder)) {
            judged.left_out.push((found.spot, *why));
        } else if above.iter().any(|folder| clashing.contains(folder)) {
            found.clash = Some(Clash::FolderMoved);
            judged.clashes.push(found);
        } else {
            judged.comes.push(found);
        }
    }
}

/// Returns the folders that a path lies in.
fn above(spot: &RootedPath) -> Vec<RootedPath> {
    spot.path.ancestors().skip(1).map(|path| RootedPath { root: spot.root, path: path.to_owned() }).collect()
}

/// Drops folders that would come in for nothing, or cannot go because something in them stays, and what is in folders
/// that do not come in.
pub(in crate::files::layer) fn drop_folders(judged: &mut JudgedDifference) {
    drop_what_is_in_folders_that_stay_out(judged);
    let refused: HashSet<RootedPath> = judged.left_out.iter().flat_map(|(spot, _)| above(spot)).collect();
    let clashing: HashSet<RootedPath> = judged.clashes.iter().flat_map(|found| above(&found.spot)).collect();
    if refused.is_empty() && clashing.is_empty() {
        return;
    }
    // A new folder is something by itself, unless it was only made for what stays out.
    let contents = judged.comes.iter().filter(|found| match found.comes {
        Comes::Folder { .. } => !refused.contains(&found.spot) && !clashing.contains(&found.spot),
        Comes::Nothing => false,
        Comes::File(_) | Comes::Link | Comes::Mode(_) => true,
    });
    let filled: HashSet<RootedPath> = contents.map(|found| &found.spot).chain(&judged.trees).flat_map(above).collect();
    judged.comes.retain(|found| match (&found.comes, found.below.map(|below| below.kind)) {
        (Comes::Folder { .. }, _) => {
            filled.contains(&found.spot) || !(refused.contains(&found.spot) || clashing.contains(&found.spot))
        }
        (Comes::Nothing, Some(FileKind::Folder)) => !refused.contains(&found.spot) && !clashing.contains(&found.spot),
        _ => true,
    });
}

/// What is beneath a root, and what the layer over it has.
impl OpenRoot {
    pub(in crate::files::layer) fn stat_layered(&self, path: &Path) -> Option<rustix::fs::Stat> {
        stat_beneath(self.upper.as_fd(), path)
    }

    pub(in crate::files::layer) fn stat_below(&self, path: &Path) -> Option<rustix::fs::Stat> {
        stat_beneath(self.folder.as_fd(), path)
    }

    /// Opens a file of the layer.
    pub(in crate::files::layer) fn open_layered(&self, path: &Path) -> std::io::Result<std::fs::File> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(std::io::ErrorKind::IsADirectory.into());
        };
        let parent = open_path(self.upper.as_fd(), parent)?;
        Ok(open_file(parent.as_fd(), name.as_bytes())?)
    }
}

pub(in crate::files::layer) fn open_path(
    folder: std::os::fd::BorrowedFd<'_>,
    path: &Path,
) -> Result<std::os::fd::OwnedFd, rustix::io::Errno> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    open_name(folder, path.as_os_str().as_bytes(), OFlags::DIRECTORY | OFlags::PATH)
}

fn stat_beneath(folder: std::os::fd::BorrowedFd<'_>, path: &Path) -> Option<rustix::fs::Stat> {
    let (parent, name) = (path.parent()?, path.file_name()?);
    let parent = open_path(folder, parent).ok()?;
    rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW).ok()
}
