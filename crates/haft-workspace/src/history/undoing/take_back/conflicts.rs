//! Reports all obstacles to an undo together.

use std::path::Path;

use super::{ConcernedStep, Restoration};
use crate::history::HistoryError;
use crate::history::contents::Contents;
use crate::state::journal::{IntentStep, PathText};

/// Why an index is not restored that has other entries now.
pub(super) const STAGED_SINCE: &str =
    "and other changes are staged in it now; commit them, or unstage them with \"git restore --staged .\", then undo";

/// Why a file is not restored that the change set had removed.
pub(super) const CREATED_SINCE: &str = "which removed it: it was created since, and the content from before is kept";

impl Restoration {
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

/// Refuses what renames a path and changes it as well: all steps are looked at before the first one is done, and what
/// is at such a path then is not what will be there.
pub(super) fn disentangled(steps: &[ConcernedStep<'_>]) -> Result<(), HistoryError> {
    for (index, (_, step, _)) in steps.iter().enumerate() {
        let IntentStep::Move { from, to } = step else { continue };
        let moved = [from.path(), to.path()];
        let touches = |path: &PathText| moved.iter().any(|moved| path.path().starts_with(moved));
        let others = steps.iter().enumerate().filter(|(other, _)| *other != index);
        let is_entangled = |step: &IntentStep| match step {
            IntentStep::Change { path, .. } | IntentStep::Tree { path, .. } => touches(path),
            IntentStep::Move { from, to } => touches(from) || touches(to),
        };
        if others.into_iter().any(|(_, (_, step, _))| is_entangled(step)) {
            return Err(HistoryError::Entangled(from.path().display().to_string()));
        }
    }
    Ok(())
}
