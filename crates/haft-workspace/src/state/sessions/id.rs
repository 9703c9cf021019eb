//! Makes names of sessions: short enough to type, and unlike any word.

use std::fmt;
use std::str::FromStr;

/// Letters that are not taken for each other.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// How many letters stand before and behind the dash.
const HALF: usize = 4;

/// The name of a session, such as `k3f9-q2bx`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(String);

/// Says that a text is not the name of a session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not the name of a session; \"haft sessions\" lists them")]
pub struct NoSessionId(String);

impl SessionId {
    /// Makes a new, unpredictable one.
    pub(super) fn new() -> Self {
        Self::of_bytes(uuid::Uuid::now_v7().as_bytes())
    }

    /// Returns the name that a session of another agent has in haft, from the agent's own name for it.
    pub fn of_agent(name: &str) -> Self {
        Self::of_bytes(name.as_bytes())
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        let hash = blake3::hash(bytes);
        let mut letters = hash.as_bytes().iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
        let mut half = || letters.by_ref().take(HALF).collect::<String>();
        Self(format!("{}-{}", half(), half()))
    }
}

impl SessionId {
    /// Returns whether the name begins like this, in capitals or not.
    pub(super) fn begins_with(&self, text: &str) -> bool {
        self.0.starts_with(&text.to_ascii_lowercase())
    }
}

impl FromStr for SessionId {
    type Err = NoSessionId;

    fn from_str(text: &str) -> Result<Self, NoSessionId> {
        let is_half = |half: &str| half.len() == HALF && half.bytes().all(|letter| LETTERS.contains(&letter));
        match text.split_once('-') {
            Some((first, second)) if is_half(first) && is_half(second) => Ok(Self(text.to_owned())),
            _ => Err(NoSessionId(text.to_owned())),
        }
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
