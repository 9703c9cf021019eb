//! Reports all obstacles to an undo together.

use std::path::Path;

use super::Plan;
use crate::history::HistoryError;
use crate::history::contents::Contents;

/// Why an index is not restored that has other entries now.
pub(super) const STAGED_SINCE: &str =
    "and other changes are staged in it now; commit them, or unstage them with \"git restore --staged .\", then undo";

/// Why a file is not restored that the change set had removed.
pub(super) const CREATED_SINCE: &str = "which removed it: it was created since, and the content from before is kept";

impl Plan {
    /// Refuses all conflicts together, each with the later change sets that are in the way.
    pub(in crate::history) fn refuse_conflicts(
        &mut self,
        contents: &Contents<'_>,
        numbers: &[u64],
    ) -> Result<(), HistoryError> {
        let mut conflicts = std::mem::take(&mut self.conflicts);
        for conflict in &mut conflicts {
            conflict.blocked_by = contents.sets.later_at(Path::new(&conflict.path), conflict.set, numbers);
        }
        conflicts.sort_by(|one, other| one.path.cmp(&other.path));
        if conflicts.is_empty() { Ok(()) } else { Err(HistoryError::Conflicts(conflicts)) }
    }
}
