//! The way of one path back: what is there now, what shall be there, and with which mode.

use crate::files::owner::NOT_AS_ANOTHER;
use crate::state::journal::{Inline, State};

/// The way of one path: what is there now, and what shall be there.
pub(super) struct Way {
    pub(super) now: State,
    pub(super) wanted: Wanted,
    /// The permission bits it has by now on its way back.
    pub(super) mode: Option<u32>,
}

/// What shall be at a path.
pub(super) enum Wanted {
    /// What is there.
    AsIs,
    /// A state that the journal has, with where its inline contents lie.
    State(Box<State>, Inline),
    /// A mixture with what was done since.
    Merged(Vec<u8>),
    /// This content, whatever the journal has.
    Written(Vec<u8>),
    /// Nothing.
    Gone,
}

impl From<State> for Way {
    fn from(now: State) -> Self {
        Self { mode: now.mode(), now, wanted: Wanted::AsIs }
    }
}

impl Way {
    /// Returns what is at the path by now on its way back; nothing for a mixture.
    pub(super) fn underway(&self) -> Option<&State> {
        match &self.wanted {
            Wanted::AsIs => Some(&self.now),
            Wanted::State(state, _) => Some(state),
            Wanted::Gone => Some(&State::Absent),
            Wanted::Merged(_) | Wanted::Written(_) => None,
        }
    }

    /// Returns as much of an earlier mode as may be restored: set-id bits belong to the content that had them.
    pub(super) fn restorable_mode(&self, earlier: &State) -> Option<u32> {
        let is_same = self.underway().is_some_and(|underway| underway.is_same_content(earlier));
        let mode = earlier.mode()?;
        Some(if is_same { mode } else { mode & NOT_AS_ANOTHER })
    }
}

/// A mode that was set since stays, without set-id bits that were given to other content.
pub(super) fn with_mode(before: &State, after: &State, way: &Way) -> State {
    match (before, &way.now, way.mode) {
        (State::File { size, hash, content, .. }, State::File { owner, .. }, Some(mode))
            if after.mode() != way.mode =>
        {
            let mode = mode & (NOT_AS_ANOTHER | before.mode().unwrap_or_default());
            State::File { mode, size: *size, hash: *hash, content: content.clone(), owner: *owner }
        }
        _ => before.clone(),
    }
}
