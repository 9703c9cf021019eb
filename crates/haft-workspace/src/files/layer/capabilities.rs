//! Remembers in a process which kinds of layers work here: a kind that was refused once is not tried again.

use std::path::PathBuf;
use std::sync::{MutexGuard, PoisonError};

use haft_contract::doors::process::StagingMode;

use super::judging::well_known::WellKnown;
use super::{Layers, memory, mounts, private_folder};

/// The kinds of layers that work here, and the names that cannot be changed, as found out so far.
#[derive(Default)]
pub(super) struct LayerCapabilities {
    /// Why layers on disk were refused.
    pub(super) not_on_disk: Option<String>,
    /// Why those in memory were refused, too.
    pub(super) not_in_memory: Option<String>,
    /// Why haft cannot watch what commands do.
    pub(super) not_watched: Option<String>,
    /// Whether layers in memory can be used.
    pub(super) takes_quick: Option<bool>,
    /// The names that cannot be changed, for each root.
    pub(super) well_known: Vec<WellKnown>,
}

impl Layers {
    /// Says why commands have no layer, as far as that is known before one runs.
    pub(in crate::files) fn layerless(&self) -> Option<String> {
        self.mount_below().map(|mount| mounts::reason(&mount)).or_else(|| self.known().not_in_memory.clone())
    }

    pub(super) fn mount_below(&self) -> Option<PathBuf> {
        self.root.folders().into_iter().find_map(|(path, _)| self.mounts.below(path))
    }

    /// What was refused once is not tried again.
    pub(super) fn as_known(&self, wanted: StagingMode) -> StagingMode {
        let wanted = if wanted == StagingMode::Quick && !self.is_quick() { StagingMode::Layered } else { wanted };
        let mut known = self.known();
        match (wanted, &known.not_on_disk) {
            (StagingMode::Layered, Some(reason)) => match &known.not_in_memory {
                Some(reason) => StagingMode::Watched(reason.clone()),
                None => StagingMode::LayeredInMemory(reason.clone()),
            },
            // A mount may go again.
            (StagingMode::Watched(reason), _) if self.mount_below().is_none() => {
                known.not_in_memory = Some(reason.clone());
                StagingMode::Watched(reason)
            }
            (StagingMode::LayeredInMemory(reason), _) => {
                known.not_on_disk = Some(reason.clone());
                StagingMode::LayeredInMemory(reason)
            }
            (wanted, _) => wanted,
        }
    }

    /// Returns whether layers can lie in memory just now.
    pub(super) fn is_quick(&self) -> bool {
        let takes_quick = *self.known().takes_quick.get_or_insert_with(|| {
            // A worker sees layers only where they could lie when it was started.
            private_folder(&self.on_disk).is_ok()
                && private_folder(&memory::folder()).is_ok()
                && memory::takes_marks(&memory::folder())
        });
        takes_quick && memory::has_room()
    }

    pub(super) fn known(&self) -> MutexGuard<'_, LayerCapabilities> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
