//! Commits what a running command has changed so far: haft commits a copy of the layer, and the layer stays.
//!
//! A commit moves files out of a layer, and a mounted layer must not be changed. So haft copies its files first; later
//! writes of the command wait for the next commit. haft notes what it committed, and the next commit does not take it for
//! the work of another program. Build folders wait until the command ends.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use haft_contract::doors::door::{FileKind, Provenance, Receipts};
use haft_contract::doors::process::{CommitReport, OverlayDirs};
use haft_contract::files::stamp::FileStamp;
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::ErrorKind;
use rustix::fs::Stat;
use tokio_util::sync::CancellationToken;

use super::report;
use super::settle::{OpenRoot, Settling};
use crate::files::layer::copied_layer::LayerCopy;
use crate::files::layer::difference::{LayerChange, RootedPath};
use crate::files::layer::folder::LayerFolder;
use crate::files::layer::judging::judge::JudgedDifference;
use crate::files::layer::{LayeredGround, not_prepared};
use crate::files::read::facts::{kind_of, stamp_of};

/// What a command has committed while it ran.
#[derive(Debug, Default)]
pub(in crate::files::layer) struct OwnCommits {
    /// The change sets.
    pub(in crate::files::layer) sets: Vec<u64>,
    /// What is in the workspace since.
    left: HashMap<RootedPath, FileStamp>,
    /// New folders of the layer that hide what lies beneath them since.
    closed: HashSet<RootedPath>,
    /// Whether the layer was used up.
    is_over: bool,
}

impl OwnCommits {
    /// Returns whether what lies at a path is what the command itself has committed.
    pub(in crate::files::layer) fn is_left(&self, spot: &RootedPath, stat: &Stat) -> bool {
        let now = stamp_of(stat);
        self.left.get(spot).is_some_and(|then| match kind_of(stat) {
            FileKind::Folder => then.inode == now.inode,
            FileKind::File | FileKind::Link | FileKind::Special => *then == now,
        })
    }

    /// Returns whether another program put something into a folder that the command made and haft has committed.
    pub(in crate::files::layer) fn is_of_another(&self, spot: &RootedPath, stat: &Stat) -> bool {
        let is_closed = |path: &Path| self.closed.contains(&RootedPath { root: spot.root, path: path.to_owned() });
        !self.closed.is_empty() && spot.path.ancestors().skip(1).any(is_closed) && !self.is_left(spot, stat)
    }

    /// Notes what was committed. Content merged with another program's work is not only the command's.
    pub(in crate::files::layer) fn note(&mut self, roots: &[OpenRoot], judged: &JudgedDifference) {
        for LayerChange { spot, source, .. } in &judged.comes {
            match roots[spot.root].stat_below(&spot.path).filter(|_| source.is_none()) {
                Some(stat) => self.left.insert(spot.clone(), stamp_of(&stat)),
                None => self.left.remove(spot),
            };
        }
    }
}

/// A commit of what a running command has changed.
pub(in crate::files::layer) struct LayerSync {
    /// The layers of the command.
    live: Vec<OpenRoot>,
    /// The ground that gets a copy of them.
    copy: LayeredGround,
    own: Arc<Mutex<OwnCommits>>,
}

impl LayeredGround {
    /// Notes that the layer is used up from now on; returns what was committed of it before.
    pub(in crate::files::layer) fn end_of_syncs(&self) -> OwnCommits {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *own, OwnCommits { is_over: true, ..OwnCommits::default() })
    }

    /// Prepares a commit of what was changed so far; nothing where there is no layer.
    pub(in crate::files::layer) fn to_sync(&self) -> io::Result<Option<LayerSync>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let live = self.open_roots()?;
        let mut copy = self.layers.bare(Some(LayerFolder::make(folder.beneath())?))?;
        (copy.mark, copy.since, copy.covers) = (self.mark, self.since.clone(), self.covers.clone());
        copy.keeps = self.keeps.clone();
        Ok(Some(LayerSync { live, copy, own: self.own.clone() }))
    }
}

impl LayerSync {
    /// Copies the layers, and brings the copies in.
    pub(in crate::files::layer) fn run(
        mut self,
        errand: Provenance,
        receipts: Receipts,
    ) -> Result<CommitReport, ToolError> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_over {
            let what = "The job has just ended, and haft has committed all its changes.";
            return Err(ToolError::of(ErrorKind::Unavailable, what));
        }
        let mut leaves_out = false;
        for (number, (live, to)) in self.live.iter().zip(&mut self.copy.roots).enumerate() {
            let Some(folder) = &self.copy.folder else { break };
            let stat = rustix::fs::fstat(&to.folder).map_err(|errno| not_prepared(errno.into()))?;
            let pair = folder.add(number, &stat).map_err(not_prepared)?;
            let is_left_out = |path: &Path| live.is_generated(path) && !live.holds_cover(path);
            let mut copying = LayerCopy::new(&pair.upper, &is_left_out);
            copying.copy(&live.upper, &live.folder).map_err(|(path, error)| report::unread(&path, error))?;
            leaves_out |= copying.leaves_out;
            own.closed.extend(copying.closed.into_iter().map(|path| RootedPath { root: number, path }));
            to.layer = Some(OverlayDirs { upper: pair.upper, work: pair.work });
        }
        let settling = self.copy.settling((errand, receipts, CancellationToken::new()), std::mem::take(&mut *own))?;
        let settling = Settling { is_sync: true, ..settling };
        let outcome = settling.keep();
        let change_set = settling.receipts.change_set();
        *own = RefCell::into_inner(settling.own);
        own.sets.extend(change_set.map(|number| number.0));
        let mut settled = outcome?;
        if leaves_out {
            settled.notes.push("its build folders are committed when it ends: stop or restart it".to_owned());
        }
        Ok(settled)
    }
}
