//! A damaged journal opens, says so, and undo never writes a wrong content.

use std::collections::BTreeSet;
use std::path::PathBuf;

use haft_workspace::history::{HistoryError, UndoSelection};

use crate::ground::{Entry, Ground, Tree};

/// How many change sets the journal has.
const SETS: u64 = 10;
/// Everything is taken back for each byte at a multiple of this; for all others the log is read.
const STRIDE: usize = 127;

/// The paths that a change set touched, with what was there.
type Touched = Vec<(PathBuf, Option<Entry>)>;

/// A workspace with ten changes of different files, before and after them.
struct Changed {
    ground: Ground,
    before: Tree,
    after: Tree,
    journal: Vec<u8>,
    /// Where the records of each change set begin and end, its intent and its outcome.
    records: Vec<(u64, std::ops::Range<usize>)>,
}

impl Changed {
    fn new() -> Self {
        let ground = Ground::new();
        for number in 1..=SETS {
            ground.put(&format!("f{number}"), format!("old {number}\n"));
        }
        ground.put("f4", big(4));
        let before = ground.tree();
        let mut records = Vec::new();
        let mut begin = 0;
        for number in 1..=SETS {
            change(&ground, number);
            let end = std::fs::read(ground.journal().join("journal")).expect("it is there").len();
            records.push((number, begin..end));
            begin = end;
        }
        let journal = std::fs::read(ground.journal().join("journal")).expect("it is there");
        Self { before, after: ground.tree(), journal, records, ground }
    }

    fn path(&self) -> PathBuf {
        self.ground.journal().join("journal")
    }

    /// Puts everything back as it was after the changes, with this journal.
    fn lay_out(&self, journal: &[u8]) {
        std::fs::write(self.path(), journal).expect("it can be written");
        let now = self.ground.tree();
        for path in now.keys().rev().filter(|path| !self.after.contains_key(*path)) {
            let _ = std::fs::remove_file(path).or_else(|_| std::fs::remove_dir(path));
        }
        for (path, entry) in self.after.iter().filter(|(path, entry)| now.get(*path) != Some(entry)) {
            match entry {
                Entry::File(_, content) => std::fs::write(path, content).expect("it can be written"),
                Entry::Folder(_) => std::fs::create_dir(path).expect("it can be made"),
                Entry::Link(_) => panic!("no change makes a link"),
            }
        }
    }

    /// Returns what a change set touched: its state before and after.
    fn of_set(&self, number: u64) -> (Touched, Touched) {
        let names: &[String] = &[format!("f{number}"), format!("new{number}"), format!("new{number}/a")];
        let at = |tree: &Tree| {
            names.iter().map(|name| (self.ground.path(name), tree.get(&self.ground.path(name)).cloned())).collect()
        };
        (at(&self.before), at(&self.after))
    }

    /// Reads the log, and returns the change sets it knows.
    fn known(&self) -> (BTreeSet<u64>, Vec<String>) {
        let log = self.ground.history().log().expect("it opens");
        (log.sets.iter().map(|set| set.number).collect(), log.warnings)
    }

    /// Takes everything back, one by one; `is_whole` says of which change sets nothing was damaged.
    fn take_all_back(&self, is_whole: impl Fn(u64) -> bool, what: &str) {
        for number in (1..=SETS).rev() {
            let (before, after) = self.of_set(number);
            let outcome = self.ground.undo(UndoSelection::Number(number));
            let tree = self.ground.tree();
            let is = |wanted: &[(PathBuf, Option<Entry>)]| {
                wanted.iter().all(|(path, entry)| tree.get(path) == entry.as_ref())
            };
            match outcome {
                Ok(_) => assert!(is(&before), "{what}: set {number} was not taken back to what was there"),
                Err(error) => {
                    assert!(!is_whole(number), "{what}: set {number} is whole, but {error}");
                    let is_told = matches!(error, HistoryError::Damaged(_) | HistoryError::Unknown(_));
                    assert!(is_told && is(&after), "{what}: set {number}: {error}");
                }
            }
        }
        self.ground.write(&[("next", b"next\n")]).unwrap_or_else(|error| panic!("{what}: {}", error.what));
        assert_eq!(self.ground.leftovers(), Vec::<PathBuf>::new(), "{what}");
        let newest = self.ground.history().log().expect("it opens").sets[0].number;
        self.ground.undo(UndoSelection::Number(newest)).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(self.ground.content("next"), None, "{what}");
    }
}

fn big(number: u64) -> Vec<u8> {
    format!("a line of {number}\n").repeat(6_000).into_bytes()
}

fn change(ground: &Ground, number: u64) {
    let name = format!("f{number}");
    let done = match number {
        3 => ground.remove(&name).map(|()| number),
        5 => ground.write(&[(&name, b"new\n"), ("new5/a", b"made\n")]),
        number => ground.write(&[(&name, format!("new {number}\n").as_bytes())]),
    };
    done.expect("it can be changed");
}

#[test]
fn a_journal_cut_at_any_byte_opens_without_a_warning_and_keeps_every_change_set_before_the_cut() {
    let changed = Changed::new();
    let is_whole = |cut: usize, number: u64| changed.records.iter().any(|(set, at)| *set == number && at.end <= cut);
    for cut in 0..changed.journal.len() {
        std::fs::write(changed.path(), &changed.journal[..cut]).expect("it can be written");
        let (known, warnings) = changed.known();
        let whole: BTreeSet<u64> = (1..=SETS).filter(|number| is_whole(cut, *number)).collect();
        assert!(whole.is_subset(&known), "cut at {cut}: {known:?}");
        assert!(known.len() <= whole.len() + 1, "cut at {cut}: {known:?}");
        let is_between = changed.journal[cut..].starts_with(b"haft\x01rec");
        assert_eq!(warnings, Vec::<String>::new(), "cut at {cut}");
        if cut % STRIDE == 0 || is_between {
            changed.lay_out(&changed.journal[..cut]);
            changed.take_all_back(|number| is_whole(cut, number), &format!("cut at {cut}"));
        }
    }
}

#[test]
fn a_flipped_byte_anywhere_is_reported_and_costs_at_most_the_change_set_it_lies_in() {
    let changed = Changed::new();
    for at in 0..changed.journal.len() {
        let mut damaged = changed.journal.clone();
        damaged[at] ^= 1 << (at % 8);
        std::fs::write(changed.path(), &damaged).expect("it can be written");
        let (hit, _) = changed.records.iter().find(|(_, records)| records.contains(&at)).expect("every byte is of one");
        let (known, warnings) = changed.known();
        assert!((1..=SETS).all(|number| number == *hit || known.contains(&number)), "byte {at}: {known:?}");
        assert!(warnings.iter().any(|warning| warning.contains("damaged")), "byte {at}: {warnings:?}");
        if at % STRIDE == 0 {
            changed.lay_out(&damaged);
            changed.take_all_back(|number| number != *hit, &format!("byte {at}"));
        }
    }
}

#[test]
fn a_kept_content_that_is_damaged_cut_or_gone_is_refused_and_nothing_is_written() {
    let changed = Changed::new();
    let objects: Vec<PathBuf> = std::fs::read_dir(changed.ground.journal().join("objects"))
        .expect("there is one large file")
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    let [object] = objects.as_slice() else { panic!("one content is large: {objects:?}") };
    let whole = std::fs::read(object).expect("it can be read");
    let mut flipped = whole.clone();
    flipped[70_000] ^= 4;
    for (damage, content) in
        [("flipped", Some(&flipped[..])), ("cut", Some(&whole[..1_000])), ("empty", Some(b"")), ("gone", None)]
    {
        changed.lay_out(&changed.journal);
        match content {
            Some(content) => std::fs::write(object, content).expect("it is ours"),
            None => std::fs::remove_file(object).expect("it is ours"),
        }
        let refused = changed.ground.undo(UndoSelection::Number(4)).expect_err(damage);
        let told = refused.to_string();
        assert!(told.contains("f4: its kept content is") && told.contains("nothing was undone"), "{told}");
        assert_eq!(changed.ground.tree(), changed.after, "{damage}");
        changed.ground.undo(UndoSelection::Number(5)).expect("the others are whole");
        std::fs::write(object, &whole).expect("it is ours");
        changed.ground.undo(UndoSelection::Number(4)).expect("what was kept is there again");
        assert_eq!(changed.ground.content("f4"), Some(big(4)), "{damage}");
    }
}

const OLD: &[u8] = b"old\n2\n3\n4\n";
const NEW: &[u8] = b"new\n2\n3\n4\n";

/// A change of two files whose outcome was not written, as after a kill or a power cut.
fn without_outcome() -> Ground {
    let ground = Ground::new();
    ground.put("one", OLD);
    ground.put("two", OLD);
    ground.write(&[("one", NEW), ("two", NEW)]).expect("it can be written");
    let path = ground.journal().join("journal");
    let journal = std::fs::read(&path).expect("it is there");
    let outcome = memchr::memmem::rfind(&journal, b"haft\x01rec").expect("it is the last record");
    std::fs::write(path, &journal[..outcome]).expect("it is ours");
    ground
}

#[test]
fn a_change_without_outcome_on_which_the_user_worked_since_is_not_half_taken_back() {
    let ground = without_outcome();
    ground.put("two", [NEW, b"mine\n"].concat());
    ground.write(&[("other", b"x\n")]).expect("it can be written");
    assert_eq!(ground.content("one").as_deref(), Some(NEW));
    assert_eq!(ground.content("two").as_deref(), Some(&[NEW, b"mine\n"].concat()[..]));
    ground.undo(UndoSelection::Number(1)).expect("the two do not touch");
    assert_eq!(ground.content("one").as_deref(), Some(OLD));
}

#[test]
fn a_change_that_came_halfway_is_taken_back_by_the_next_one_to_come() {
    let ground = without_outcome();
    ground.put("two", OLD);
    assert!(matches!(ground.undo(UndoSelection::Newest), Err(HistoryError::NothingLeft)));
    assert_eq!(ground.content("one").as_deref(), Some(OLD));
}
