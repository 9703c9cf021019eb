//! The restoration of one path: its current state, its wanted state, and its mode.

use crate::files::read::owner::NOT_AS_ANOTHER;
use crate::state::journal::{Inline, PathState};

/// The restoration of one path: its present state, and the state that it shall get.
pub(super) struct PathRestoration {
    pub(super) now: PathState,
    pub(super) wanted: RestoreTarget,
    /// The permission bits it has by now on its way back.
    pub(super) mode: Option<u32>,
}

/// The content or state that a path shall get.
pub(super) enum RestoreTarget {
    /// What is there.
    AsIs,
    /// A state that the journal has, with where its inline contents lie.
    State(Box<PathState>, Inline),
    /// A mixture with what was done since.
    Merged(Vec<u8>),
    /// This content, whatever the journal has.
    Written(Vec<u8>),
    /// Nothing.
    Gone,
}

impl From<PathState> for PathRestoration {
    fn from(now: PathState) -> Self {
        Self { mode: now.mode(), now, wanted: RestoreTarget::AsIs }
    }
}

impl PathRestoration {
    /// Returns what is at the path by now on its way back; nothing for a mixture.
    pub(super) fn underway(&self) -> Option<&PathState> {
        match &self.wanted {
            RestoreTarget::AsIs => Some(&self.now),
            RestoreTarget::State(state, _) => Some(state),
            RestoreTarget::Gone => Some(&PathState::Absent),
            RestoreTarget::Merged(_) | RestoreTarget::Written(_) => None,
        }
    }

    /// Returns as much of an earlier mode as may be restored: set-id bits belong to the content that had them.
    pub(super) fn restorable_mode(&self, earlier: &PathState) -> Option<u32> {
        let is_same = self.underway().is_some_and(|underway| underway.is_same_content(earlier));
        let mode = earlier.mode()?;
        Some(if is_same { mode } else { mode & NOT_AS_ANOTHER })
    }
}

/// A mode that was set since stays, without set-id bits that were given to other content.
pub(super) fn with_mode(before: &PathState, after: &PathState, way: &PathRestoration) -> PathState {
    match (before, &way.now, way.mode) {
        (PathState::File { size, hash, content, .. }, PathState::File { owner, .. }, Some(mode))
            if after.mode() != way.mode =>
        {
            let mode = mode & (NOT_AS_ANOTHER | before.mode().unwrap_or_default());
            PathState::File { mode, size: *size, hash: *hash, content: content.clone(), owner: *owner }
        }
        _ => before.clone(),
    }
}
