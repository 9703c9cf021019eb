//! A position in a schema during a walk.

use super::SchemaRefusal;
use super::bounds::DEEPEST;
use super::receipt::{inside, place};

/// The position of a walk in a schema, and its depth.
#[derive(Clone, Debug)]
pub(super) struct SchemaPosition {
    /// JSON pointer into the tool's schema.
    pub(super) at: String,
    depth: usize,
}

impl SchemaPosition {
    /// Returns the spot a walk starts from.
    pub(super) fn start(at: &str) -> SchemaPosition {
        SchemaPosition { at: at.to_owned(), depth: 0 }
    }

    /// Returns the spot of the schema that `keyword` holds.
    pub(super) fn under(&self, keyword: &str) -> SchemaPosition {
        SchemaPosition { at: inside(&self.at, keyword), depth: self.depth + 1 }
    }

    /// Returns the spot of the schema that `keyword` holds under `name`.
    pub(super) fn member(&self, keyword: &str, name: &str) -> SchemaPosition {
        SchemaPosition { at: inside(&inside(&self.at, keyword), name), depth: self.depth + 1 }
    }

    /// Refuses to go deeper than any schema is. Only merging recursive definitions gets there.
    pub(super) fn refuse_abyss(&self) -> Result<(), SchemaRefusal> {
        if self.depth <= DEEPEST {
            return Ok(());
        }
        Err(SchemaRefusal(format!(
            "merging the schema at {} does not come to an end. Next: write the merged schema there",
            place(&self.at)
        )))
    }
}
