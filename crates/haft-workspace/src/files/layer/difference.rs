//! Lists what a command changed: for each path its old and its new state.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use haft_contract::doors::door::FileKind;
use haft_contract::files::stamp::FileStamp;
use rustix::fs::Stat;

use super::touched::FileTimeChange;
use crate::files::read::facts::{kind_of, stamp_of};

/// Most that one command may bring in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caps {
    /// Changed files, links and folders.
    pub(super) entries: usize,
    /// Bytes of new contents.
    pub(super) bytes: u64,
}

impl Default for Caps {
    fn default() -> Self {
        Self { entries: 200_000, bytes: 8 << 30 }
    }
}

/// What a command left in its layers.
#[derive(Debug, Default)]
pub(super) struct Difference {
    pub(super) found: Vec<LayerChange>,
    /// What is not brought in, and why.
    pub(super) left_out: Vec<(RootedPath, LayerExclusion)>,
    /// Ignored trees that changed; they are committed by rename.
    pub(super) trees: Vec<RootedPath>,
    /// Files of which only the time changed.
    pub(super) touched: Vec<FileTimeChange>,
    /// Names of files that have more than one and are as they were, with what comes of them when they are alone.
    twins: Vec<(LayerChange, Option<Comes>)>,
    /// How much there is in all, also beyond the caps.
    pub(super) entries: usize,
    pub(super) bytes: u64,
    /// How much of it lies in each folder at the top.
    pub(super) tally: BTreeMap<PathBuf, (usize, u64)>,
}

/// A path beneath one of the roots.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct RootedPath {
    /// Which root.
    pub(super) root: usize,
    /// The path beneath it.
    pub(super) path: PathBuf,
}

/// One path that a command changed.
#[derive(Clone, Debug)]
pub(super) struct LayerChange {
    pub(super) spot: RootedPath,
    /// Where in the layer it lies, when that is elsewhere.
    pub(super) source: Option<PathBuf>,
    /// What lies there now, beneath the layer.
    pub(super) below: Option<Below>,
    pub(super) comes: Comes,
    /// What another program did there meanwhile.
    pub(super) clash: Option<Clash>,
}

impl LayerChange {
    /// Returns where in the layer it lies.
    pub(super) fn source(&self) -> &Path {
        self.source.as_deref().unwrap_or(&self.spot.path)
    }

    /// Returns what it is, or was where it goes.
    pub(super) fn kind(&self) -> FileKind {
        match &self.comes {
            Comes::File(_) => FileKind::File,
            Comes::Link => FileKind::Link,
            Comes::Folder { .. } => FileKind::Folder,
            Comes::Mode(_) | Comes::Nothing => self.below.map_or(FileKind::File, |below| below.kind),
        }
    }
}

/// What lies at a path beneath the layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Below {
    pub(super) kind: FileKind,
    pub(super) stamp: FileStamp,
}

impl From<&Stat> for Below {
    fn from(stat: &Stat) -> Self {
        Self { kind: kind_of(stat), stamp: stamp_of(stat) }
    }
}

/// What comes to a path.
#[derive(Clone, Debug)]
pub(super) enum Comes {
    File(NewFile),
    Link,
    Folder {
        mode: u32,
    },
    /// What is there gets this mode.
    Mode(u32),
    /// What is there goes.
    Nothing,
}

/// A file that lies ready in a layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewFile {
    pub(super) size: u64,
    /// Its number, when it has more than one name.
    pub(super) shared: Option<u64>,
}

/// What another program did while the command ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clash {
    /// It was changed, or has appeared.
    Changed,
    /// It was removed.
    Gone,
    /// A folder above it was moved or replaced.
    FolderMoved,
    /// Something in the folder stays, so the folder stays.
    Holds,
    /// Another program is at work in the repository.
    Locked,
}

/// The reason why a change in a layer is not brought into the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LayerExclusion {
    /// It is a pipe, a socket or a device.
    Special,
    /// It lies too deep.
    TooDeep,
    /// Version control left it behind.
    Lock,
    /// It lets a program run as another user or group; it was committed without that.
    SetId,
    /// The tool had not said that it would change it.
    NotSaid,
    /// The command has not seen what it would change: a secret that is masked.
    Covered,
    /// The system does not let us.
    NotAllowed,
    /// It was moved to a name that is refused.
    MovedToRefused,
    /// It is protected, for this reason.
    Protected(&'static str),
    /// The same in a build folder, which is exchanged as a whole: what was there before may be gone with it.
    ProtectedInTree(&'static str),
}

impl Difference {
    /// Notes something that differs.
    pub(super) fn push(&mut self, caps: Caps, found: LayerChange) {
        let bytes = if let Comes::File(file) = &found.comes { file.size } else { 0 };
        self.entries += 1;
        self.bytes += bytes;
        let first: PathBuf = found.spot.path.iter().take(1).collect();
        let tally = self.tally.entry(first).or_default();
        *tally = (tally.0 + 1, tally.1 + bytes);
        // Beyond the caps nothing is brought in, so that only the numbers matter.
        if self.is_within(caps) {
            self.found.push(found);
        }
    }

    /// Notes one name of a file that has several, and whose content is unchanged.
    pub(super) fn push_twin(&mut self, found: LayerChange, alone: Option<Comes>) {
        self.twins.push((found, alone));
    }

    /// Lets all names of one file come in together when one of them does: else they would be files of their own.
    pub(super) fn join_twins(&mut self, caps: Caps) {
        let number = |found: &LayerChange| match found.comes {
            Comes::File(file) => file.shared.map(|number| (found.spot.root, number)),
            Comes::Link | Comes::Folder { .. } | Comes::Mode(_) | Comes::Nothing => None,
        };
        let coming: HashSet<(usize, u64)> = self.found.iter().filter_map(number).collect();
        for (found, alone) in std::mem::take(&mut self.twins) {
            if number(&found).is_some_and(|number| coming.contains(&number)) {
                self.push(caps, found);
            } else if let Some(comes) = alone {
                self.push(caps, LayerChange { comes, ..found });
            }
        }
    }

    pub(super) fn is_within(&self, caps: Caps) -> bool {
        self.entries <= caps.entries && self.bytes <= caps.bytes
    }
}
