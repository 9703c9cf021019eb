//! Reads parts of the journal: the records since a mark, and the newest change sets.
//!
//! Frames have their length at both ends, so haft reads the journal from its end without an index: `haft log` and an undo
//! cost the same however long the history is. If it meets damaged or incomplete data, it reads from the beginning.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

use super::frame::{BodyExtent, RecordFrame};
use super::{Intent, Journal, JournalSnapshot, Record, frame, parsed};

/// Least change sets that are read to find those since a moment.
const LEAST_SINCE: usize = 64;

/// How far a journal went at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Device and inode of the file: another one takes its place when the oldest records are dropped.
    file: (u64, u64),
    length: u64,
}

impl Journal {
    /// Returns how far the journal goes now.
    pub(crate) fn mark(&self) -> Mark {
        let facts = self.path().symlink_metadata();
        facts.map(|facts| Mark { file: (facts.dev(), facts.ino()), length: facts.len() }).unwrap_or_default()
    }

    /// Reads the records behind a mark, and the one before it if it was not concluded then; all where the oldest ones were
    /// dropped since.
    pub(crate) fn read_behind(&self, mark: Mark) -> io::Result<JournalSnapshot> {
        self.read_with(&|file| {
            let facts = file.metadata()?;
            let is_same = mark.file == (facts.dev(), facts.ino()) && mark.length <= facts.len();
            let length = if is_same { mark.length } else { 0 };
            let begin = match frame::last_part(&file, length, BodyExtent::Beginning)? {
                Some((frame, body)) if is_intent(&file, &frame, &body) => frame.begin(),
                Some(_) => length,
                // The mark was set while a process wrote a record, or lies behind an incomplete one.
                None => 0,
            };
            JournalSnapshot::from(file, begin)
        })
    }

    /// Reads the change sets that were made since a moment, and those that they take back; some more, whatever the clock
    /// said then.
    pub(crate) fn read_since(&self, ms: u64) -> io::Result<JournalSnapshot> {
        let is_enough = |reading: &Backwards| reading.is_before(ms) && reading.known() >= LEAST_SINCE;
        self.read_with(&|file| JournalSnapshot::newest(file, &is_enough))
    }

    /// Reads the newest change sets, at least so many, and those that they take back.
    pub(crate) fn read_newest(&self, sets: usize) -> io::Result<JournalSnapshot> {
        self.read_with(&|file| JournalSnapshot::newest(file, &|reading| reading.known() >= sets))
    }
}

/// What is known of the change sets from the end of a journal up to some record.
#[derive(Default)]
pub(super) struct Backwards {
    /// Which parts of each change set were met, the lowest.
    lowest: BTreeMap<u64, u32>,
    /// Change sets that others take back.
    wanted: BTreeSet<u64>,
    /// When the one that was met last was made.
    at: Option<u64>,
}

impl Backwards {
    fn note(&mut self, intent: &Intent) {
        let lowest = self.lowest.entry(intent.set).or_insert(intent.part);
        *lowest = intent.part.min(*lowest);
        self.at = Some(intent.at);
        self.wanted.extend(intent.takes_back.iter().flat_map(|back| &back.sets));
    }

    /// Returns how many change sets are known as a whole.
    fn known(&self) -> usize {
        self.lowest.values().filter(|part| **part == 0).count()
    }

    /// Returns whether something was met that was made before a moment.
    fn is_before(&self, ms: u64) -> bool {
        self.at.is_some_and(|at| at < ms)
    }

    /// Returns whether a change set is known as a whole.
    pub(super) fn knows(&self, set: u64) -> bool {
        self.lowest.get(&set) == Some(&0)
    }

    /// Returns whether what was read can be understood without what lies before it.
    fn is_closed(&self) -> bool {
        self.lowest.values().all(|part| *part == 0) && self.wanted.iter().all(|set| self.knows(*set))
    }
}

impl JournalSnapshot {
    /// Reads from the end until enough is known.
    pub(super) fn newest(file: File, is_enough: &dyn Fn(&Backwards) -> bool) -> io::Result<Self> {
        let mut end = file.metadata()?.len();
        let mut met = Backwards::default();
        while !(is_enough(&met) && met.is_closed()) {
            // The beginning, or damage.
            let Some((frame, body)) = frame::last_part(&file, end, BodyExtent::Beginning)? else {
                return Self::of(file);
            };
            end = frame.begin();
            match parsed(&file, &frame, &body) {
                Some((Record::Intent(intent), _)) => met.note(&intent),
                Some((Record::Outcome(_), _)) => {}
                // The oldest were dropped here.
                Some((Record::Dropped { .. }, _)) | None => return Self::of(file),
            }
        }
        let dropped = match frame::part_at(&file, 0..file.metadata()?.len(), BodyExtent::Beginning)? {
            Some((frame, body)) => match parsed(&file, &frame, &body) {
                Some((Record::Dropped { up_to }, _)) => up_to,
                _ => 0,
            },
            None => return Self::of(file),
        };
        let oldest = met.lowest.keys().next().copied().unwrap_or(1);
        let mut reading = Self::from(file, end)?;
        reading.dropped = reading.dropped.max(dropped);
        reading.not_read = (oldest - 1).max(reading.dropped);
        // An outcome whose intent lies before this part belongs to a change set that was not requested.
        reading.outcomes.retain(|(set, _), _| *set > reading.not_read);
        Ok(reading)
    }
}

fn is_intent(file: &File, frame: &RecordFrame, body: &[u8]) -> bool {
    matches!(parsed(file, frame, body), Some((Record::Intent(_), _)))
}

#[cfg(test)]
mod tests {
    use super::super::{ChangeAuthor, InlineContents, JournalLimits, now_ms};
    use super::*;

    fn change(journal: &Journal, at: u64, run: &str) {
        let mut writing = journal.lock(&|| false).expect("nobody else has it");
        let by = ChangeAuthor { run: run.into(), ..ChangeAuthor::default() };
        let (set, steps) = (writing.next_set(), Vec::new());
        let intent = Intent { set, part: 0, at, by, takes_back: None, opened: Vec::new(), steps };
        writing.intend(&intent, &InlineContents::default()).expect("it can be written");
        writing.conclude(intent.happened()).expect("it can be written");
    }

    #[test]
    fn the_change_sets_of_a_run_are_read_and_not_all_before_it() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let journal = Journal::new(folder.path().join("j"), JournalLimits::default());
        for _ in 0..200 {
            change(&journal, 7, "earlier");
        }
        let run = uuid::Uuid::now_v7().simple().to_string();
        for _ in 0..5 {
            change(&journal, now_ms(), &run);
        }
        let by = ChangeAuthor { run: run.clone(), ..ChangeAuthor::default() };
        let began = journal.began_ms(&by).expect("its name says so");
        assert!(now_ms().abs_diff(began) < 600_000);
        let reading = journal.read_since(began - 1).expect("it can be read");
        assert_eq!(reading.intents.iter().filter(|(intent, _)| intent.by.run == run).count(), 5);
        assert_eq!((reading.intents.len(), reading.not_read), (LEAST_SINCE, 205 - LEAST_SINCE as u64));
        // Where nothing is that old, everything is read.
        assert_eq!(journal.read_since(7).expect("it can be read").intents.len(), 205);
        assert_eq!(journal.began_ms(&ChangeAuthor { run: "r".into(), ..ChangeAuthor::default() }), None);
        assert_eq!(
            journal.began_ms(&ChangeAuthor { session: "k3f9-q2bx".into(), run, ..ChangeAuthor::default() }),
            None
        );
    }

    #[test]
    fn a_mark_within_a_record_misses_none_and_a_torn_record_counts_as_unfinished() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let journal = Journal::new(folder.path().join("j"), JournalLimits::default());
        change(&journal, 7, "one");
        let first = journal.mark();
        change(&journal, 7, "two");
        let whole = std::fs::read(journal.path()).expect("it is there");
        for cut in first.length + 1..whole.len() as u64 {
            std::fs::write(journal.path(), &whole[..usize::try_from(cut).expect("it is short")]).expect("it is ours");
            assert!(journal.is_unfinished(), "cut at {cut}");
            let mark = journal.mark();
            std::fs::write(journal.path(), &whole).expect("it is ours");
            let reading = journal.read_behind(mark).expect("it can be read");
            assert!(reading.intents.iter().any(|(intent, _)| intent.set == 2), "cut at {cut}");
            assert!(reading.damaged.is_empty(), "cut at {cut}");
        }
        assert!(!journal.is_unfinished());
    }
}
