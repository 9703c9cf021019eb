//! Keeps the journal within its room: the oldest change sets go first, and it says up to which.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};

use rustix::fs::{FlockOperation, flock};

use super::frame::{self, Head};
use super::record::{ContentHash, Kept, Record, State, Step};
use super::{Objects, Reading, Writing, parsed};
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
    let keep_from = oldest_that_fits(&reading, &objects, room / 4 * 3);
    // Until the last content is gone the new journal is locked too: what the next one keeps there must stay.
    let _lock = if keep_from > reading.dropped + 1 { Some(write_anew(&writing, keep_from - 1)?) } else { None };
    let mut needed = BTreeSet::new();
    for (intent, _) in reading.intents.iter().filter(|(intent, _)| intent.set >= keep_from) {
        needed.extend(intent.steps.iter().flat_map(objects_of));
    }
    objects.retain(|hash| needed.contains(&hash));
    Ok(())
}

/// Goes from the newest change set back until the room is full.
fn oldest_that_fits(reading: &Reading, objects: &Objects, room: u64) -> u64 {
    let (mut used, mut oldest) = (0, u64::MAX);
    let mut counted = BTreeSet::new();
    for (intent, inline) in reading.intents.iter().rev() {
        used += inline.end - inline.begin + 1024;
        for hash in intent.steps.iter().flat_map(objects_of) {
            if counted.insert(hash) {
                used += objects.size_of(hash).unwrap_or(0);
            }
        }
        if used > room && oldest != u64::MAX {
            break;
        }
        oldest = oldest.min(intent.set);
    }
    if oldest == u64::MAX { 0 } else { oldest }
}

/// Returns the contents that a step refers to.
fn objects_of(step: &Step) -> impl Iterator<Item = ContentHash> {
    let states = match step {
        Step::Change { before, after, .. } => [Some(before), Some(after)],
        Step::Move { .. } => [None, None],
    };
    states.into_iter().flatten().filter_map(|state| match state {
        State::File { content, .. } => object_of(content),
        State::Absent | State::Link { .. } | State::Folder { .. } => None,
    })
}

fn object_of(content: &Kept) -> Option<ContentHash> {
    match content {
        Kept::Object { hash } => Some(*hash),
        Kept::Splice { middle, .. } => object_of(middle),
        Kept::Inline { .. } | Kept::No => None,
    }
}

/// Writes a new journal with what stays, and puts it in the place of the old one; returns it, locked.
fn write_anew(writing: &Writing<'_>, dropped: u64) -> io::Result<File> {
    let path = writing.journal.path();
    let beside = path.with_extension("new");
    // Left by somebody who was killed here; the lock is ours.
    let _ = std::fs::remove_file(&beside);
    let new = private::create_file(&beside)?;
    let placed = fill(writing, dropped, &new).and_then(|()| std::fs::rename(&beside, &path));
    if placed.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    placed?;
    File::open(&writing.journal.folder)?.sync_all()?;
    Ok(new)
}

/// Copies what stays into a new journal and locks it.
fn fill(writing: &Writing<'_>, dropped: u64, mut new: &File) -> io::Result<()> {
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
    frame::scan(&writing.file, length, &mut |_, body| {
        let stays = match parsed(&body) {
            Some((Record::Intent(intent), _)) => intent.set > dropped,
            Some((Record::Outcome(outcome), _)) => outcome.set > dropped,
            Some((Record::Dropped { .. }, _)) | None => false,
        };
        if stays { append(&body) } else { Ok(()) }
    })?;
    new.sync_all()?;
    Ok(flock(new, FlockOperation::NonBlockingLockExclusive)?)
}

#[cfg(test)]
mod tests {
    use super::oldest_that_fits;
    use crate::state::journal::{By, Durable, Intent, Journal, JournalLimits, Kept, PathText, State, Step, Writing};

    fn change(journal: &Journal, size: usize) -> u64 {
        let (set, writing) = changed(journal, size, Vec::new());
        writing.make_room().expect("it can be written");
        set
    }

    fn changed(journal: &Journal, size: usize, steps: Vec<Step>) -> (u64, Writing<'_>) {
        let mut writing = journal.lock(&|| false).expect("nobody else has it");
        let set = writing.next_set();
        let by = By { tool: "t".into(), call: "1".into(), session: "s".into(), run: "r".into(), turn: 1 };
        let intent = Intent { set, part: 0, at: 0, by, takes_back: None, steps };
        writing.intend(&intent, &vec![7; size]).expect("it can be written");
        writing.conclude(intent.happened()).expect("it can be written");
        (set, writing)
    }

    #[test]
    fn a_content_counts_once_and_with_its_own_size() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let journal = Journal::new(folder.path().join("j"), JournalLimits::default());
        let keep = |content: &[u8]| {
            let hash = journal.objects().keep(&mut &*content, Durable::Yes, &|| false).expect("it can be kept");
            (hash, Kept::Object { hash })
        };
        let ((hash, before), (_, middle)) = (keep(&[1; 100_000]), keep(&[2; 70_000]));
        let after = Kept::Splice { begin: 1_000, middle: Box::new(middle), end: 1_000_000_000 };
        let file = |size, content| State::File { mode: 0o644, size, hash, content, owner: None };
        let (before, after) = (file(100_000, before), file(1_000_071_000, after));
        let path = PathText::Text("a".into());
        let step = Step::Change { path, before, after, beside: None };
        for _ in 0..5 {
            changed(&journal, 10, vec![step.clone()]);
        }
        let reading = journal.read().expect("it can be read");
        let fits = |room| oldest_that_fits(&reading, &journal.objects(), room);
        assert_eq!((fits(180_000), fits(172_500)), (1, 4));
    }

    #[test]
    fn a_new_journal_that_cannot_be_put_in_place_is_not_left_over() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let limits = JournalLimits { room: 1_000, ..JournalLimits::default() };
        let journal = Journal::new(folder.path().join("j"), limits);
        drop(changed(&journal, 2_000, Vec::new()));
        let (_, writing) = changed(&journal, 2_000, Vec::new());
        std::fs::remove_file(journal.path()).expect("it is there");
        std::fs::create_dir(journal.path()).expect("nothing is there");
        assert!(writing.make_room().is_err());
        let left = std::fs::read_dir(folder.path().join("j")).expect("it is there").flatten();
        assert_eq!(left.map(|entry| entry.path()).collect::<Vec<_>>(), [journal.path()]);
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
