//! The notes of an undo on single paths: owners that could not be restored, entries that stayed in a build folder.

use crate::files::change::transaction::{Done, FileMutation};

/// Most paths that are named.
const MOST_NAMED: usize = 10;

/// Returns the notes of a transaction, each with its path, and which change sets had to make room for it.
pub(in crate::history) fn notes_of_deeds(deeds: &[FileMutation], done: &Done) -> Vec<String> {
    let all = deeds.iter().zip(&done.notes);
    let all = all.flat_map(|(deed, notes)| notes.iter().map(move |note| format!("{}: {note}", deed.place.display())));
    let mut notes: Vec<String> = all.collect();
    let more = notes.len().saturating_sub(MOST_NAMED);
    notes.truncate(MOST_NAMED);
    notes.extend((more > 0).then(|| format!("{more} more notes of this kind are not shown.")));
    notes.extend(done.loss());
    notes
}
