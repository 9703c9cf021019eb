//! A place in a schema while it is walked.

use super::Refusal;
use super::bounds::DEEPEST;
use super::receipt::{inside, place};

/// Where a walk is, and how deep it has gone to get there.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    /// JSON pointer into the tool's schema.
    pub(super) at: String,
    depth: usize,
}

impl Spot {
    /// Returns the spot a walk starts from.
    pub(super) fn start(at: &str) -> Spot {
        Spot { at: at.to_owned(), depth: 0 }
    }

    /// Returns the spot of the schema that `keyword` holds.
    pub(super) fn under(&self, keyword: &str) -> Spot {
        Spot { at: inside(&self.at, keyword), depth: self.depth + 1 }
    }

    /// Returns the spot of the schema that `keyword` holds under `name`.
    pub(super) fn member(&self, keyword: &str, name: &str) -> Spot {
        Spot { at: inside(&inside(&self.at, keyword), name), depth: self.depth + 1 }
    }

    /// Refuses to go deeper than any schema is. Only merging recursive definitions gets there.
    pub(super) fn refuse_abyss(&self) -> Result<(), Refusal> {
        if self.depth <= DEEPEST {
            return Ok(());
        }
        Err(Refusal(format!(
            "merging the schema at {} does not come to an end. Next: write the merged schema there",
            place(&self.at)
        )))
    }
}
