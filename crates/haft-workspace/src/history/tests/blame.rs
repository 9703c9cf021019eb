//! Tests who wrote each line: across renames, undo, merges and other line ends, and in random histories.

use std::collections::HashMap;

use super::super::{Blame, LineOrigin, Scope, UndoRequest};
use super::*;

impl HistoryFixture {
    fn blame(&self, name: &str) -> Blame {
        self.workspace().history(&self.state()).blame(&target(name)).expect("it is a text file")
    }

    /// Each line with the number of its change set, "before" or "outside N".
    fn told(&self, name: &str) -> Vec<String> {
        let origin = |origin| match origin {
            LineOrigin::ChangeSet(number) => number.to_string(),
            LineOrigin::BeforeJournal => "before".to_owned(),
            LineOrigin::Outside { after } => format!("outside {after}"),
        };
        self.blame(name).lines.iter().map(|line| format!("{}: {}", line.text, origin(line.origin))).collect()
    }

    fn change_all(&self, ops: &[FileOp]) -> Result<(), ToolError> {
        run(self.workspace().doors(&self.state()).files.change(&self.permit(), ops)).map(drop)
    }
}

fn put(name: &str, content: &str) -> FileOp {
    FileOp::Put(target(name), Bytes::copy_from_slice(content.as_bytes()))
}

#[test]
fn a_line_has_the_change_set_that_wrote_it_last() {
    let ground = HistoryFixture::new();
    ground.put("a", "one\ntwo\nthree\n");
    assert_eq!(ground.told("a"), ["one: before", "two: before", "three: before"]);
    ground.write(&[("a", "one\nTWO\nthree\n")]).expect("it can be written");
    ground.write(&[("a", "one\nTWO\nthree\nfour\n")]).expect("it can be written");
    ground.put("a", "zero\none\nTWO\nthree\nfour");
    assert_eq!(ground.told("a"), ["zero: outside 2", "one: before", "TWO: 1", "three: before", "four: 2"]);
    let sets = ground.blame("a").sets;
    assert_eq!(sets.keys().copied().collect::<Vec<_>>(), [1, 2]);
    assert_eq!((sets[&1].session.as_str(), sets[&1].turn, sets[&1].call.as_str()), ("s", 1, "1"));
}

#[test]
fn what_an_undo_restores_belongs_to_whoever_wrote_it() {
    let ground = HistoryFixture::new();
    ground.write(&[("a", "1\n2\n3\n4\n5\n6\n7\n")]).expect("it can be written");
    ground.write(&[("a", "one\n2\n3\n4\n5\n6\n7\n")]).expect("it can be written");
    ground.undo(UndoSelection::Newest).expect("it can be undone");
    assert!(ground.told("a").iter().all(|line| line.ends_with(": 1")), "{:?}", ground.told("a"));
    ground.redo().expect("it can be redone");
    assert_eq!(ground.told("a")[..2], ["one: 2", "2: 1"]);
    // With a change of the user since, both are merged.
    ground.put("a", "one\n2\n3\n4\n5\n6\nmine\n");
    ground.undo(UndoSelection::Number(2)).expect("the two do not touch");
    let expected = ["1: 1", "2: 1", "3: 1", "4: 1", "5: 1", "6: 1", "mine: outside 4"];
    assert_eq!(ground.told("a"), expected);
    // A file that was removed and is back.
    ground.remove("a").expect("it can be removed");
    ground.undo(UndoSelection::Newest).expect("it can be undone");
    assert_eq!(ground.told("a"), expected);
    let hunks = [(target("a"), 1)];
    ground.write(&[("a", "1\n2\n3\nfour\n5\n6\nmine\n")]).expect("it can be written");
    let request = UndoRequest { scope: Scope::Hunks(&hunks), ..UndoRequest::all(UndoSelection::Newest) };
    ground.workspace().history(&ground.state()).request(&request).expect("it has that hunk");
    assert_eq!(ground.told("a"), expected);
}

#[test]
fn lines_keep_their_writers_across_renames() {
    let ground = HistoryFixture::new();
    ground.write(&[("src/a", "1\n2\n3\n4\n")]).expect("it can be written");
    ground.write(&[("src/a", "1\n2\n3\n4\n5\n")]).expect("it can be written");
    ground.rename("src/a", "src/b").expect("it can be renamed");
    ground.rename("src", "lib").expect("it can be renamed");
    assert_eq!(ground.told("lib/b"), ["1: 1", "2: 1", "3: 1", "4: 1", "5: 2"]);
    // As a command does it, with a change on the way.
    let renamed = [FileOp::Remove(target("lib/b")), put("c", "1\n2\nthree\n4\n5\n")];
    ground.change_all(&renamed).expect("it can be changed");
    assert_eq!(ground.told("c"), ["1: 1", "2: 1", "three: 5", "4: 1", "5: 2"]);
    ground.undo(UndoSelection::Newest).expect("it can be undone");
    assert_eq!(ground.told("lib/b"), ["1: 1", "2: 1", "3: 1", "4: 1", "5: 2"]);
    ground.undo(UndoSelection::Newest).expect("it can be undone");
    assert_eq!(ground.told("src/b"), ["1: 1", "2: 1", "3: 1", "4: 1", "5: 2"]);
    // A new file of that name has nothing to do with the old one.
    ground.remove("src/b").expect("it can be removed");
    ground.write(&[("src/b", "1\n2\n")]).expect("it can be written");
    assert_eq!(ground.told("src/b"), ["1: 9", "2: 9"]);
}

#[test]
fn other_line_ends_and_encodings_are_lines_too() {
    let ground = HistoryFixture::new();
    ground.put("a", "one\r\ntwo\r\nthree\r\n");
    ground.write(&[("a", "one\r\n2\r\nthree\r\n")]).expect("it can be written");
    assert_eq!(ground.told("a"), ["one: before", "2: 1", "three: before"]);
    ground.write(&[("a", "one\n2\nthree\n")]).expect("it can be written");
    assert_eq!(ground.told("a"), ["one: 2", "2: 2", "three: 2"]);
    ground.put("old-mac", "one\rtwo\r");
    assert_eq!(ground.told("old-mac"), ["one: before", "two: before"]);
    ground.put("empty", "");
    assert!(ground.told("empty").is_empty());
    ground.put("binary", "a\0b\0\u{1}\u{2}");
    let history = ground.workspace().history(&ground.state());
    for name in ["binary", "none", "."] {
        assert!(matches!(history.blame(&target(name)), Err(HistoryError::NoLines { .. })), "{name}");
    }
}

#[test]
fn only_the_change_sets_of_the_file_are_read() {
    let ground = HistoryFixture::new();
    ground.write(&[("old", "x\n")]).expect("it can be written");
    for number in 0..60 {
        ground.write(&[(&format!("f{}", number % 7), &format!("{number}\n"))]).expect("it can be written");
    }
    ground.write(&[("old", "x\ny\n")]).expect("it can be written");
    assert_eq!(ground.told("old"), ["x: 1", "y: 62"]);
    // A damaged record of another file costs nothing.
    let journal = find_journal(ground.folder.path());
    let mut bytes = std::fs::read(&journal).expect("it can be read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x20;
    std::fs::write(&journal, bytes).expect("it can be written");
    assert_eq!(ground.told("old"), ["x: 1", "y: 62"]);
    assert_eq!(ground.blame("old").warnings.len(), 1);
}

fn find_journal(folder: &Path) -> PathBuf {
    let mut folders = vec![folder.join("state")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("it is a folder").flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if path.file_name().is_some_and(|name| name == "journal") => return path,
                _ => {}
            }
        }
    }
    panic!("there is no journal")
}

/// Numbers that look random, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most.max(1) as u64) as usize
    }
}

/// One random history of one file. Each line is written once, so its text says who wrote it.
struct RandomHistory {
    ground: HistoryFixture,
    dice: Dice,
    name: String,
    written: HashMap<String, &'static str>,
    by: HashMap<String, u64>,
    count: u64,
}

impl RandomHistory {
    fn new(seed: u64) -> Self {
        let dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let (written, by) = (HashMap::new(), HashMap::new());
        Self { ground: HistoryFixture::new(), dice, name: "f0".into(), written, by, count: 0 }
    }

    fn lines(&self) -> Vec<String> {
        std::fs::read_to_string(self.ground.path(&self.name))
            .map(|text| text.lines().map(str::to_owned).collect())
            .unwrap_or_default()
    }

    /// Changes a few lines; new ones are noted as written by this one.
    fn edited(&mut self, writer: &'static str) -> Vec<String> {
        let mut lines = self.lines();
        for _ in 0..=self.dice.below(3) {
            self.count += 1;
            let new = format!("line {} by {writer}", self.count);
            self.written.insert(new.clone(), writer);
            let at = self.dice.below(lines.len() + 1);
            match self.dice.below(4) {
                0 if at < lines.len() => lines[at] = new,
                1 if at < lines.len() => drop(lines.remove(at)),
                _ => lines.insert(at, new),
            }
        }
        lines
    }

    fn step(&mut self) {
        match self.dice.below(10) {
            0..4 => {
                let lines = self.edited("haft");
                self.ground.run = ["one", "two", "three"][self.dice.below(3)];
                let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
                let Ok(set) = self.ground.write(&[(&self.name, &text)]) else { return };
                for line in lines {
                    self.by.entry(line).or_insert(set);
                }
            }
            4 | 5 if self.ground.path(&self.name).exists() => {
                let lines = self.edited("person");
                self.ground.put(&self.name, &lines.iter().map(|line| format!("{line}\n")).collect::<String>());
            }
            6 if self.ground.path(&self.name).exists() => {
                let to = format!("f{}", self.count + 1);
                self.count += 1;
                if self.ground.rename(&self.name, &to).is_ok() {
                    self.name = to;
                }
            }
            7 => drop(self.ground.undo(UndoSelection::Newest)),
            8 => {
                let number = 1 + self.dice.below(12) as u64;
                drop(self.ground.undo(UndoSelection::Number(number)));
            }
            _ => drop(self.ground.redo()),
        }
        // An undo or a redo may have renamed it.
        if !self.ground.path(&self.name).exists() {
            let files = self.ground.tree().into_keys().filter(|path| path.is_file());
            let found = files.filter_map(|path| path.file_name()?.to_str().map(str::to_owned)).next();
            self.name = found.unwrap_or_else(|| self.name.clone());
        }
    }

    fn check(&self, seed: u64) {
        if !self.ground.path(&self.name).exists() {
            return;
        }
        for line in self.ground.blame(&self.name).lines {
            let wanted = self.written.get(&line.text).copied().unwrap_or("before");
            let said = match line.origin {
                LineOrigin::ChangeSet(set) => {
                    assert_eq!(Some(&set), self.by.get(&line.text), "seed {seed}: {line:?}");
                    "haft"
                }
                LineOrigin::BeforeJournal | LineOrigin::Outside { .. } if wanted == "before" => wanted,
                LineOrigin::BeforeJournal | LineOrigin::Outside { .. } => "person",
            };
            assert_eq!(said, wanted, "seed {seed}: {line:?} in {}", self.name);
        }
    }
}

#[test]
fn in_random_histories_each_line_belongs_to_its_last_writer() {
    for seed in 1..=12 {
        let mut script = RandomHistory::new(seed);
        if script.dice.below(2) == 0 {
            script.ground.put("f0", "a\nb\nc\nd\n");
        }
        for _ in 0..25 {
            script.step();
            script.check(seed);
        }
    }
}
