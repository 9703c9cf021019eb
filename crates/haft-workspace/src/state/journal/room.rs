//! Keeps the journal within its room: drops the oldest change sets first, and only those that it may drop.
//!
//! It drops change sets that are not very old only after the user agreed (`OldChanges`). A change without that consent is
//! still recorded: the journal then exceeds its room, and haft asks before it makes the next change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::time::Duration;

use haft_contract::doors::door::{ChangeSetId, OldChanges};
use haft_contract::doors::history::Eviction;
use rustix::fs::{FlockOperation, flock};

use super::frame::{self, BodyExtent, Head};
use super::record::{ContentHash, ContentLocation, IntentStep, PathState, Record};
use super::{
    InlineContents, Journal, JournalLimits, JournalRecordRef, JournalSnapshot, JournalWriter, Objects, now_ms, parsed,
};
use crate::state::own_files::private;

/// Drops the oldest change sets until the journal needs at most three quarters of its room. Only very old change sets may
/// go, and those that the user agreed to lose. Returns the last dropped one, if any. If too few may go, the journal exceeds
/// its room.
pub(super) fn make_room(writing: &JournalWriter<'_>, old: OldChanges) -> io::Result<Option<u64>> {
    let limits = writing.journal.limits;
    let objects_room = writing.objects_room + writing.objects.added();
    if writing.end + objects_room <= limits.room {
        writing.journal.note_objects_room(objects_room);
        return Ok(None);
    }
    let reading = writing.reading()?;
    let agreed = match old {
        OldChanges::Stay => 0,
        OldChanges::MayGo(ChangeSetId(up_to)) => up_to.saturating_add(1),
    };
    let may_go = agreed.max(oldest_since(&reading, Some(oldest_moment(limits))));
    let keep_from = oldest_wanted(&reading, &writing.objects, limits).min(may_go);
    let dropped = drop_below(writing, &reading, keep_from)?;
    writing.journal.note_objects_room(writing.objects.room());
    Ok(dropped)
}

impl Journal {
    /// Returns the change sets that have to go to make room for another one; nothing while there is room.
    pub(crate) fn eviction(&self) -> Option<Eviction> {
        if self.used() <= self.limits.room {
            return None;
        }
        // A journal that cannot be read cannot be written either; the next writer reports why.
        eviction(&self.read().ok()?, &self.objects(), self.limits)
    }
}

/// Returns the change sets that have to go for the next change and are not so old that they go without a question.
fn eviction(reading: &JournalSnapshot, objects: &Objects, limits: JournalLimits) -> Option<Eviction> {
    let keep_from = oldest_wanted(reading, objects, limits);
    let goes = |at: u64, set: u64| set < keep_from && at >= oldest_moment(limits);
    let going = reading.intents.iter().filter(|(intent, _)| goes(intent.at, intent.set));
    let going: BTreeMap<u64, u64> = going.map(|(intent, _)| (intent.set, intent.at)).collect();
    let ago = |at: &u64| Duration::from_millis(now_ms().saturating_sub(*at));
    Some(Eviction {
        change_sets: going.len() as u64,
        up_to: ChangeSetId(*going.keys().next_back()?),
        oldest: ago(going.values().min()?),
        newest: ago(going.values().max()?),
    })
}

/// Returns the oldest change set that stays when the journal is full: three quarters of the room are enough for those
/// that do. The newest always stays. However large it is, a quarter of the room is left to those before it.
fn oldest_wanted(reading: &JournalSnapshot, objects: &Objects, limits: JournalLimits) -> u64 {
    oldest_that_fits(reading, objects, Share { all: limits.room / 4 * 3, older: limits.room / 4 })
}

/// Returns the moment before which change sets may go, in milliseconds since the epoch.
fn oldest_moment(limits: JournalLimits) -> u64 {
    now_ms().saturating_sub(u64::try_from(limits.age.as_millis()).unwrap_or(u64::MAX))
}

/// Drops the change sets that were made before a moment, or all of them; returns up to which, where any went.
pub(super) fn drop_older(writing: &JournalWriter<'_>, before_ms: Option<u64>) -> io::Result<Option<u64>> {
    let reading = writing.reading()?;
    let dropped = drop_below(writing, &reading, oldest_since(&reading, before_ms))?;
    writing.journal.note_objects_room(writing.objects.room());
    Ok(dropped)
}

/// Returns how many bytes dropping would free, about.
pub(super) fn room_of_older(reading: &JournalSnapshot, objects: &Objects, before_ms: Option<u64>) -> u64 {
    let keep_from = oldest_since(reading, before_ms);
    let (mut dropped, mut needed, mut bytes) = (BTreeSet::new(), BTreeSet::new(), 0);
    for (intent, inline) in &reading.intents {
        let hashes = intent.steps.iter().flat_map(objects_of).flat_map(|hash| objects.with_sources(hash));
        if intent.set >= keep_from {
            needed.extend(hashes);
        } else {
            bytes += inline.end - inline.begin;
            dropped.extend(hashes);
        }
    }
    bytes + dropped.difference(&needed).map(|hash| objects.room_of(*hash)).sum::<u64>()
}

/// Returns the oldest change set that was made since a moment; one beyond the newest where there is none.
fn oldest_since(reading: &JournalSnapshot, before_ms: Option<u64>) -> u64 {
    let is_kept = |at: u64| before_ms.is_some_and(|before| at >= before);
    let kept = reading.intents.iter().filter(|(intent, _)| is_kept(intent.at)).map(|(intent, _)| intent.set);
    kept.min().unwrap_or(reading.sets + 1)
}

/// Drops the change sets below this one, and the contents that nothing refers to any more.
fn drop_below(writing: &JournalWriter<'_>, reading: &JournalSnapshot, keep_from: u64) -> io::Result<Option<u64>> {
    let objects = writing.journal.objects();
    let dropped = (keep_from > reading.dropped + 1).then(|| keep_from - 1);
    // Until the last content is gone the new journal is locked too: what the next one keeps there must stay.
    let _lock = dropped.map(|dropped| write_anew(writing, dropped)).transpose()?;
    if dropped.is_some() && File::open(&writing.journal.folder).and_then(|folder| folder.sync_all()).is_err() {
        // After a power cut the old journal may come back, with all that it refers to.
        return Ok(dropped);
    }
    let mut needed = BTreeSet::new();
    for (intent, _) in reading.intents.iter().filter(|(intent, _)| intent.set >= keep_from) {
        needed.extend(intent.steps.iter().flat_map(objects_of).flat_map(|hash| objects.with_sources(hash)));
    }
    objects.retain(|hash| needed.contains(&hash));
    Ok(dropped)
}

/// How much room there is.
#[derive(Clone, Copy)]
struct Share {
    all: u64,
    /// What those before the newest have at least.
    older: u64,
}

/// Goes from the newest change set back until the room is full.
fn oldest_that_fits(reading: &JournalSnapshot, objects: &Objects, share: Share) -> u64 {
    let newest = reading.intents.last().map(|(intent, _)| intent.set);
    let (mut used, mut oldest, mut room) = (0, u64::MAX, share.all);
    let mut counted = BTreeSet::new();
    for (intent, inline) in reading.intents.iter().rev() {
        used += inline.end - inline.begin + 1024;
        for hash in intent.steps.iter().flat_map(objects_of).flat_map(|hash| objects.with_sources(hash)) {
            if counted.insert(hash) {
                used += objects.room_of(hash);
            }
        }
        if Some(intent.set) == newest {
            room = share.all.max(used + share.older);
        } else if used > room {
            break;
        }
        oldest = oldest.min(intent.set);
    }
    if oldest == u64::MAX { 0 } else { oldest }
}

/// Returns the contents that a step refers to.
fn objects_of(step: &IntentStep) -> impl Iterator<Item = ContentHash> {
    let states = match step {
        IntentStep::Change { before, after, .. } => [Some(before), Some(after)],
        IntentStep::Move { .. } | IntentStep::Tree { .. } => [None, None],
    };
    states.into_iter().flatten().filter_map(|state| match state {
        PathState::File { content, .. } => object_of(content),
        PathState::Absent | PathState::Link { .. } | PathState::Folder { .. } => None,
    })
}

fn object_of(content: &ContentLocation) -> Option<ContentHash> {
    match content {
        ContentLocation::Object { hash } => Some(*hash),
        ContentLocation::Splice { middle, .. } => object_of(middle),
        ContentLocation::Inline { .. } | ContentLocation::No => None,
    }
}

/// Writes a new journal with what stays, and puts it in the place of the old one; returns it, locked.
fn write_anew(writing: &JournalWriter<'_>, dropped: u64) -> io::Result<File> {
    let path = writing.journal.path();
    let beside = path.with_extension("new");
    // Left by a process that was killed here; the lock is ours.
    let _ = std::fs::remove_file(&beside);
    let new = private::create_file(&beside)?;
    let placed = fill(writing, dropped, &new).and_then(|()| std::fs::rename(&beside, &path));
    if placed.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    placed?;
    Ok(new)
}

/// Copies what stays into a new journal and locks it.
fn fill(writing: &JournalWriter<'_>, dropped: u64, new: &File) -> io::Result<()> {
    let mut head = Head { number: writing.head.number, sets: writing.head.sets };
    let mut to = BufWriter::with_capacity(256 * 1024, new);
    head.number += 1;
    let mut end = JournalRecordRef::Dropped { up_to: dropped }.frame((0, head), &InlineContents::default(), &mut to)?;
    let length = writing.file.metadata()?.len();
    frame::scan_parts(&writing.file, 0..length, BodyExtent::Beginning, &mut |frame, body| {
        let stays = match parsed(&writing.file, &frame, &body) {
            Some((Record::Intent(intent), _)) => intent.set > dropped,
            Some((Record::Outcome(outcome), _)) => outcome.set > dropped,
            Some((Record::Dropped { .. }, _)) | None => false,
        };
        if stays {
            head.number += 1;
            let length = usize::try_from(frame.body.end - frame.body.start).map_err(|_| io::ErrorKind::FileTooLarge)?;
            let mut copy = |to: &mut dyn Write| frame::copy_body(&writing.file, &frame, to);
            end = head.write(&mut to, end, length, &mut copy)?;
        }
        Ok(())
    })?;
    to.flush()?;
    drop(to);
    new.sync_all()?;
    Ok(flock(new, FlockOperation::NonBlockingLockExclusive)?)
}

#[cfg(test)]
mod tests {
    use haft_contract::doors::door::OldChanges;

    use super::{Share, oldest_that_fits};
    use crate::state::journal::{
        ChangeAuthor, ContentHash, ContentLocation, Durable, InlineContents, Intent, IntentStep, Journal,
        JournalLimits, JournalWriter, PathState, PathText,
    };

    fn change(journal: &Journal, size: usize) -> u64 {
        let (set, writing) = changed(journal, size, Vec::new());
        writing.make_room(OldChanges::Stay).expect("it can be written");
        set
    }

    fn changed(journal: &Journal, size: usize, steps: Vec<IntentStep>) -> (u64, JournalWriter<'_>) {
        let mut writing = journal.lock(&|| false).expect("nobody else has it");
        let set = writing.next_set();
        let by = ChangeAuthor {
            tool: "t".into(),
            call: "1".into(),
            session: "s".into(),
            run: "r".into(),
            turn: 1,
            ..ChangeAuthor::default()
        };
        let intent = Intent { set, part: 0, at: 0, by, takes_back: None, opened: Vec::new(), steps };
        writing.intend(&intent, &InlineContents::from(vec![7; size])).expect("it can be written");
        writing.conclude(intent.happened()).expect("it can be written");
        (set, writing)
    }

    #[test]
    fn a_content_counts_once_and_with_its_own_size() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let journal = Journal::new(folder.path().join("j"), JournalLimits::default());
        let keep = |content: &[u8]| {
            let hash = journal.objects().keep(&mut &*content, Durable::Yes, &|| false).expect("it can be kept");
            (hash, ContentLocation::Object { hash })
        };
        let ((hash, before), (_, middle)) = (keep(&[1; 100_000]), keep(&[2; 70_000]));
        let after = ContentLocation::Splice { begin: 1_000, middle: Box::new(middle), end: 1_000_000_000 };
        let file = |size, content| PathState::File { mode: 0o644, size, hash, content, owner: None };
        let (before, after) = (file(100_000, before), file(1_000_071_000, after));
        let path = PathText::Text("a".into());
        let step = IntentStep::Change { path, before, after, beside: None };
        for _ in 0..5 {
            changed(&journal, 10, vec![step.clone()]);
        }
        let reading = journal.read().expect("it can be read");
        let fits = |all| oldest_that_fits(&reading, &journal.objects(), Share { all, older: 0 });
        assert_eq!((fits(180_000), fits(172_500)), (1, 4));
    }

    #[test]
    fn a_large_change_leaves_a_part_of_the_room_to_those_before_it() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let limits = JournalLimits { room: 200_000, ..JournalLimits::default() };
        let journal = Journal::new(folder.path().join("j"), limits);
        for _ in 0..6 {
            change(&journal, 10_000);
        }
        let (_, writing) = changed(&journal, 300_000, Vec::new());
        assert_eq!(writing.make_room(OldChanges::Stay).expect("it can be written"), Some(2));
        // The next one says what goes with it.
        let (_, writing) = changed(&journal, 10, Vec::new());
        assert_eq!(writing.make_room(OldChanges::Stay).expect("it can be written"), Some(7));
    }

    #[test]
    fn a_content_takes_the_room_that_it_takes_on_the_disk() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let limits = JournalLimits { room: 1_000_000, ..JournalLimits::default() };
        let journal = Journal::new(folder.path().join("j"), limits);
        change(&journal, 10);
        let sparse = std::fs::File::create(folder.path().join("sparse")).expect("it is new");
        sparse.set_len(1_200_000_000).expect("nothing is written");
        let hash = ContentHash([7; 32]);
        journal.objects().link(&sparse, hash, Durable::Yes).expect("it lies on the same disk");
        let before =
            PathState::File { mode: 0o644, size: 0, hash, content: ContentLocation::Object { hash }, owner: None };
        let path = PathText::Text("sparse".into());
        let step = IntentStep::Change { path, before, after: PathState::Absent, beside: None };
        for steps in [vec![step], Vec::new()] {
            let (_, writing) = changed(&journal, 10, steps);
            assert_eq!(writing.make_room(OldChanges::Stay).expect("it can be written"), None);
        }
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
        assert!(writing.make_room(OldChanges::Stay).is_err());
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
