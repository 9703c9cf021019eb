//! Keeps the journal within its room: the oldest change sets go first, and it says up to which.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};

use rustix::fs::{FlockOperation, flock};

use super::frame::{self, Head};
use super::record::{ContentHash, Kept, Record, State, Step};
use super::{Reading, Writing, parsed};
use crate::state::private;

/// Drops the oldest change sets until three quarters of the room are enough. The newest always stays.
pub(super) fn make_room(writing: Writing<'_>) -> io::Result<()> {
    let room = writing.journal.limits.room;
    let objects = writing.journal.objects();
    // Only who kept a large content looks how much there is of them.
    let used = writing.end + if writing.has_kept { objects.size() } else { 0 };
    if used <= room {
        return Ok(());
    }
    let reading = writing.reading()?;
    let keep_from = oldest_that_fits(&reading, room / 4 * 3);
    // Until the last content is gone the new journal is locked too: what the next one keeps there must stay.
    let _lock = if keep_from > reading.dropped + 1 { Some(write_anew(&writing, keep_from - 1)?) } else { None };
    let mut needed = BTreeSet::new();
    for (intent, _) in reading.intents.iter().filter(|(intent, _)| intent.set >= keep_from) {
        let mut need = |hash, _| {
            needed.insert(hash);
        };
        intent.steps.iter().for_each(|step| objects_of(step, &mut need));
    }
    objects.retain(|hash| needed.contains(&hash));
    Ok(())
}

/// Goes from the newest change set back until the room is full.
fn oldest_that_fits(reading: &Reading, room: u64) -> u64 {
    let (mut used, mut oldest) = (0, u64::MAX);
    for (intent, inline) in reading.intents.iter().rev() {
        used += inline.end - inline.begin + 1024;
        intent.steps.iter().for_each(|step| objects_of(step, &mut |_, size| used += size));
        if used > room && oldest != u64::MAX {
            break;
        }
        oldest = oldest.min(intent.set);
    }
    if oldest == u64::MAX { 0 } else { oldest }
}

fn objects_of(step: &Step, found: &mut dyn FnMut(ContentHash, u64)) {
    if let Step::Change { before, after, .. } = step {
        for state in [before, after] {
            if let State::File { content, size, .. } = state {
                match content {
                    Kept::Object { hash } => found(*hash, *size),
                    Kept::Splice { middle, .. } => {
                        if let Kept::Object { hash } = &**middle {
                            found(*hash, *size);
                        }
                    }
                    Kept::Inline { .. } | Kept::No => {}
                }
            }
        }
    }
}

/// Writes a new journal with what stays, and puts it in the place of the old one; returns it, locked.
fn write_anew(writing: &Writing<'_>, dropped: u64) -> io::Result<File> {
    let path = writing.journal.path();
    let beside = path.with_extension("new");
    // Left by somebody who was killed here; the lock is ours.
    let _ = std::fs::remove_file(&beside);
    let mut new = private::create_file(&beside)?;
    let mut head = Head { number: writing.head.number, sets: writing.head.sets };
    let mut end = 0;
    let mut append = |record: &[u8]| {
        head.number += 1;
        let bytes = frame::frame(end, head, record);
        end += bytes.len() as u64;
        new.write_all(&bytes)
    };
    append(&super::body_of(&Record::Dropped { up_to: dropped }, &[])?)?;
    let length = writing.file.metadata()?.len();
    frame::scan(&writing.file, length, &mut |frame, body| {
        let stays = match parsed(&body) {
            Some((Record::Intent(intent), _)) => intent.set > dropped,
            Some((Record::Outcome(outcome), _)) => outcome.set > dropped,
            Some((Record::Dropped { .. }, _)) | None => false,
        };
        debug_assert!(frame.body.end <= length);
        if stays { append(&body) } else { Ok(()) }
    })?;
    new.sync_all()?;
    flock(&new, FlockOperation::NonBlockingLockExclusive)?;
    std::fs::rename(&beside, &path)?;
    File::open(&writing.journal.folder)?.sync_all()?;
    Ok(new)
}

#[cfg(test)]
mod tests {
    use crate::state::journal::{By, Intent, Journal, JournalLimits};

    fn change(journal: &Journal, size: usize) -> u64 {
        let mut writing = journal.lock(&|| false).expect("nobody else has it");
        let set = writing.next_set();
        let by = By { tool: "t".into(), call: "1".into(), session: "s".into(), run: "r".into(), turn: 1 };
        let intent = Intent { set, part: 0, at: 0, by, takes_back: None, steps: Vec::new() };
        writing.intend(&intent, &vec![7; size]).expect("it can be written");
        writing.conclude(intent.happened()).expect("it can be written");
        writing.make_room().expect("it can be written");
        set
    }

    #[test]
    fn the_oldest_go_first_and_it_is_said_up_to_which() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let limits = JournalLimits { room: 200_000, ..JournalLimits::default() };
        let journal = Journal::new(folder.path().join("j"), limits);
        let mut last = 0;
        for _ in 0..100 {
            last = change(&journal, 10_000);
        }
        let reading = journal.read().expect("it can be read");
        assert_eq!(last, 100);
        assert!(reading.dropped > 50 && reading.dropped < 100, "{}", reading.dropped);
        let left: Vec<u64> = reading.intents.iter().map(|(intent, _)| intent.set).collect();
        assert_eq!(left, (reading.dropped + 1..=100).collect::<Vec<u64>>());
        assert!(journal.path().metadata().expect("it is there").len() < 200_000);
        let (_, inline) = reading.intents[0];
        assert_eq!(reading.inline(inline, 0, 10_000).expect("it is there"), vec![7; 10_000]);
    }

    #[test]
    fn the_newest_stays_whatever_its_size() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let limits = JournalLimits { room: 1_000, ..JournalLimits::default() };
        let journal = Journal::new(folder.path().join("j"), limits);
        change(&journal, 100);
        change(&journal, 50_000);
        let reading = journal.read().expect("it can be read");
        assert_eq!(reading.intents.iter().map(|(intent, _)| intent.set).collect::<Vec<_>>(), [2]);
    }
}
