//! Keeps a file at its old name if a command moved it to a refused one: otherwise both names would lose its content.

use std::collections::{HashMap, HashSet};
use std::os::fd::AsFd;

use haft_contract::doors::door::FileKind;
use rustix::fs::Stat;

use super::judge::JudgedDifference;
use crate::files::layer::difference::{Comes, LayerChange, LayerExclusion, RootedPath};
use crate::files::layer::read::{ComparedEntry, is_same_file};
use crate::files::layer::settling::settle::OpenRoot;
use crate::files::layer::trees::parent_in;

/// The root, the size and the time of a file; a moved file has those of the original.
type MoveSignature = (usize, i128, i128);

/// Lets removed files stay whose content went to a refused name.
pub(in crate::files::layer) fn keep_sources(roots: &[OpenRoot], judged: &mut JudgedDifference, refused: &[RootedPath]) {
    let is_file = |found: &&LayerChange| found.below.is_some_and(|below| below.kind == FileKind::File);
    let gone = judged.comes.iter().filter(|found| matches!(found.comes, Comes::Nothing)).filter(is_file);
    let mut by_facts: HashMap<MoveSignature, Vec<&RootedPath>> = HashMap::new();
    for found in gone.filter(|_| !refused.is_empty()) {
        if let Some(stat) = roots[found.spot.root].stat_below(&found.spot.path) {
            by_facts.entry(facts(found.spot.root, &stat)).or_default().push(&found.spot);
        }
    }
    let mut stays: HashSet<RootedPath> = HashSet::new();
    for to in refused.iter().filter(|_| !by_facts.is_empty()) {
        let root = &roots[to.root];
        let Some(stat) = root.stat_layered(&to.path) else { continue };
        let from = by_facts.get(&facts(to.root, &stat)).into_iter().flatten();
        stays.extend(from.filter(|from| is_same(root, from, to)).map(|from| (*from).clone()));
    }
    if !stays.is_empty() {
        judged.comes.retain(|found| !stays.contains(&found.spot));
        judged.left_out.extend(stays.into_iter().map(|spot| (spot, LayerExclusion::MovedToRefused)));
    }
}

fn facts(root: usize, stat: &Stat) -> MoveSignature {
    (root, i128::from(stat.st_size), i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec))
}

fn is_same(root: &OpenRoot, from: &RootedPath, to: &RootedPath) -> bool {
    let (Some(lower), Some(upper)) = (parent_in(&root.folder, &from.path), parent_in(&root.upper, &to.path)) else {
        return false;
    };
    let upper = ComparedEntry { folder: upper.0.as_fd(), name: upper.1.as_encoded_bytes() };
    let lower = ComparedEntry { folder: lower.0.as_fd(), name: lower.1.as_encoded_bytes() };
    is_same_file(upper, lower, &|| false).unwrap_or(false)
}
