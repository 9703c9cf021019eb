//! Recognises folders that a command moved as a whole.
//!
//! The overlay cannot rename a folder of the workspace, so a move is a copy and a removal in the layer. Where the copy is
//! the same as what was removed, the workspace's own folder is renamed: the journal records a move, and no file is copied.

use std::io;
use std::os::fd::AsFd;

use haft_contract::doors::door::FileKind;
use haft_contract::doors::process::{CommitReport, Settlement};
use haft_contract::effect::Change;
use haft_contract::files::path::Extent;
use rustix::fs::{FileType, OFlags, Stat};

use super::settle::Settling;
use crate::files::change::removal_mark::is_removal_mark;
use crate::files::change::transaction::{FileAction, FileMutation, Precondition};
use crate::files::clock::FilesystemTime;
use crate::files::layer::difference::{Comes, RootedPath};
use crate::files::layer::folder::open_anyway;
use crate::files::layer::judging::judge::JudgedDifference;
use crate::files::layer::read::{ALL_BITS, ComparedEntry, FOLDER_MODE, is_same_file};
use crate::files::layer::trees::parent_in;
use crate::files::read::folder::{FolderNameList, stat_name};
use crate::files::read::open::open_name;

/// Deepest folder that is entered.
const DEEPEST: usize = 200;
/// A folder with fewer files is journalled file by file: undo can merge each of them with later work.
const FEW: usize = 100;

/// A folder that got another name.
#[derive(Clone, Debug)]
pub(in crate::files::layer) struct MovedFolder {
    from: RootedPath,
    to: RootedPath,
}

impl Settling<'_> {
    /// Takes the folders that were moved as a whole out of a difference.
    pub(in crate::files::layer) fn take_moves(&self, judged: &mut JudgedDifference) -> io::Result<Vec<MovedFolder>> {
        let (gone, new) = (self.gone_folders(judged), self.new_folders(judged));
        let mut moves: Vec<MovedFolder> = Vec::new();
        for to in &new {
            if moves.iter().any(|moved| moved.to.holds(to)) {
                continue;
            }
            let is_free = |from: &&RootedPath| from.root == to.root && moves.iter().all(|moved| moved.from != **from);
            for from in gone.iter().filter(is_free) {
                if is_touched(judged, from) || is_touched(judged, to) || !self.is_move(from, to)? {
                    continue;
                }
                moves.push(MovedFolder { from: from.clone(), to: to.clone() });
                break;
            }
        }
        for moved in &moves {
            let concerns = |spot: &RootedPath| moved.from.holds(spot) || moved.to.holds(spot);
            judged.comes.retain(|found| !concerns(&found.spot));
            judged.trees.retain(|tree| !concerns(tree));
        }
        Ok(moves)
    }

    /// Returns the folders that a transaction renames.
    pub(in crate::files::layer) fn move_deeds(&self, moves: &[MovedFolder]) -> Vec<FileMutation> {
        let deed = |moved: &MovedFolder| {
            let place = |spot: &RootedPath| self.roots[spot.root].place_of(&spot.path);
            FileMutation {
                place: place(&moved.from),
                action: FileAction::Rename(place(&moved.to)),
                expected: Precondition::Anything,
            }
        };
        moves.iter().map(deed).collect()
    }

    pub(in crate::files::layer) fn note_moves(&self, moves: &[MovedFolder], settled: &mut CommitReport) {
        for moved in moves {
            let (from, target) = (self.target(&moved.from, Extent::Tree), self.target(&moved.to, Extent::Tree));
            self.receipts.note(haft_contract::doors::door::Receipt::Changed(from.clone(), Change::Remove));
            self.receipts.note(haft_contract::doors::door::Receipt::Changed(target.clone(), Change::Create));
            let (change, diff, inside, from) = (Change::Create, None, None, Some(from));
            let (is_folder, is_replaced) = (true, false);
            settled.changes.push(Settlement { target, change, is_folder, is_replaced, diff, inside, from });
        }
    }

    /// Returns the removed folders that do not lie in another one.
    fn gone_folders(&self, judged: &JudgedDifference) -> Vec<RootedPath> {
        let is_folder = |kind: Option<FileKind>| kind == Some(FileKind::Folder);
        let goes = judged.comes.iter().filter(|found| matches!(found.comes, Comes::Nothing));
        let goes = goes.filter(|found| is_folder(found.below.map(|below| below.kind))).map(|found| &found.spot);
        let is_gone = |tree: &&RootedPath| !self.roots[tree.root].has_layered(&tree.path);
        outermost(goes.chain(judged.trees.iter().filter(is_gone)).cloned().collect())
    }

    /// Returns the new folders, outer ones first.
    fn new_folders(&self, judged: &JudgedDifference) -> Vec<RootedPath> {
        let comes = judged.comes.iter().filter(|found| matches!(found.comes, Comes::Folder { .. }));
        let comes = comes.filter(|found| found.below.is_none()).map(|found| &found.spot);
        let is_large = |spot: &&RootedPath| {
            let is_in = |other: &RootedPath| spot.holds(other);
            judged.comes.iter().filter(|found| is_in(&found.spot)).nth(FEW).is_some() || judged.trees.iter().any(is_in)
        };
        let is_new = |tree: &&RootedPath| self.roots[tree.root].stat_below(&tree.path).is_none();
        let mut new: Vec<RootedPath> =
            comes.filter(is_large).chain(judged.trees.iter().filter(is_new)).cloned().collect();
        new.sort();
        new
    }

    /// Returns whether a new folder is the same as a removed one that no other program changed.
    fn is_move(&self, from: &RootedPath, to: &RootedPath) -> io::Result<bool> {
        let root = &self.roots[from.root];
        let (Some(lower), Some(upper)) = (parent_in(&root.folder, &from.path), parent_in(&root.upper, &to.path)) else {
            return Ok(false);
        };
        let stopped = || self.stop.is_cancelled();
        let comparison = FolderComparison { since: root.since, stopped: &stopped };
        let lower = ComparedEntry { folder: lower.0.as_fd(), name: lower.1.as_encoded_bytes() };
        let upper = ComparedEntry { folder: upper.0.as_fd(), name: upper.1.as_encoded_bytes() };
        comparison.is_same(lower, upper, 0)
    }
}

/// Returns whether something at a path or below it is refused, or was changed by another program.
fn is_touched(judged: &JudgedDifference, spot: &RootedPath) -> bool {
    judged.left_out.iter().any(|(other, _)| spot.holds(other) || other.holds(spot))
        || judged.clashes.iter().any(|found| spot.holds(&found.spot))
}

fn outermost(mut spots: Vec<RootedPath>) -> Vec<RootedPath> {
    spots.sort();
    let mut outer: Vec<RootedPath> = Vec::new();
    for spot in spots {
        if !outer.last().is_some_and(|last| last.holds(&spot)) {
            outer.push(spot);
        }
    }
    outer
}

/// Compares a folder of the workspace with one of a layer.
struct FolderComparison<'a> {
    since: FilesystemTime,
    stopped: &'a dyn Fn() -> bool,
}

impl FolderComparison<'_> {
    fn is_same(&self, lower: ComparedEntry<'_>, upper: ComparedEntry<'_>, depth: usize) -> io::Result<bool> {
        let (Ok(old), Ok(new)) = (stat_name(lower.folder, lower.name), stat_name(upper.folder, upper.name)) else {
            return Ok(false);
        };
        let kind = FileType::from_raw_mode(old.st_mode);
        if is_removal_mark(&new) || kind != FileType::from_raw_mode(new.st_mode) {
            return Ok(false);
        }
        match kind {
            FileType::Directory if depth < DEEPEST && old.st_mode & FOLDER_MODE == new.st_mode & FOLDER_MODE => {
                Ok(!self.since.is_before_move_of(&old) && self.is_same_folder(lower, upper, depth)?)
            }
            FileType::Symlink => {
                let read = |entry: ComparedEntry<'_>| rustix::fs::readlinkat(entry.folder, entry.name, Vec::new());
                Ok(!self.since.is_before_change_of(&old) && read(lower)? == read(upper)?)
            }
            FileType::RegularFile if !self.since.is_before_change_of(&old) && has_same_facts(&old, &new) => {
                is_same_file(upper, lower, self.stopped)
            }
            _ => Ok(false),
        }
    }

    fn is_same_folder(&self, lower: ComparedEntry<'_>, upper: ComparedEntry<'_>, depth: usize) -> io::Result<bool> {
        let Ok(below) = open_name(lower.folder, lower.name, OFlags::DIRECTORY | OFlags::RDONLY) else {
            return Ok(false);
        };
        let above = open_anyway(upper.folder, upper.name)?;
        let (mut old, mut new) = (FolderNameList::default(), FolderNameList::default());
        old.read(&below)?;
        new.read(&above)?;
        let mut index = 0;
        loop {
            match (old.at(index), new.at(index)) {
                (None, None) => return Ok(true),
                (Some((one, _)), Some((other, _))) if one == other => {
                    let lower = ComparedEntry { folder: below.as_fd(), name: one };
                    let upper = ComparedEntry { folder: above.as_fd(), name: other };
                    if !self.is_same(lower, upper, depth + 1)? {
                        return Ok(false);
                    }
                }
                _ => return Ok(false),
            }
            index += 1;
        }
    }
}

/// A copy that a move makes has the size, the time and the mode of the original.
fn has_same_facts(old: &Stat, new: &Stat) -> bool {
    let facts = |stat: &Stat| (stat.st_size, stat.st_mtime, stat.st_mtime_nsec, stat.st_mode & ALL_BITS);
    facts(old) == facts(new)
}
