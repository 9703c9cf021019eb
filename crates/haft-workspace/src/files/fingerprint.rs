//! Recognises what is at a place by a fingerprint, without its description: a change may have very many deeds.

use crate::state::journal::{ContentHash, PathState, PathText};

/// What is enough to recognise what is at a place, whatever its mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fingerprint {
    Absent,
    File(ContentHash),
    Link(PathText),
    Folder,
}

impl From<&PathState> for Fingerprint {
    fn from(state: &PathState) -> Self {
        match state {
            PathState::Absent => Self::Absent,
            PathState::File { hash, .. } => Self::File(*hash),
            PathState::Link { to } => Self::Link(to.clone()),
            PathState::Folder { .. } => Self::Folder,
        }
    }
}
