//! Recognises what is at a place without a description of it: a change may have very many deeds.

use crate::state::journal::{ContentHash, PathText, State};

/// What is enough to recognise what is at a place, whatever its mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fingerprint {
    Absent,
    File(ContentHash),
    Link(PathText),
    Folder,
}

impl From<&State> for Fingerprint {
    fn from(state: &State) -> Self {
        match state {
            State::Absent => Self::Absent,
            State::File { hash, .. } => Self::File(*hash),
            State::Link { to } => Self::Link(to.clone()),
            State::Folder { .. } => Self::Folder,
        }
    }
}
