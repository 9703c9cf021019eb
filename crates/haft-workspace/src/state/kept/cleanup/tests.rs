//! Tests what a clean-up removes, and what it keeps.

use std::fs::{File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::*;
use crate::state::WorkspaceState;
use crate::state::journal::{ChangeAuthor, Intent};

struct House {
    folder: TempDir,
}

impl House {
    fn new() -> Self {
        let house = Self { folder: tempfile::tempdir().expect("a temporary folder can be made") };
        std::fs::create_dir(house.root()).expect("it is new");
        house
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("ws")
    }

    fn states(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn state(&self) -> WorkspaceState {
        WorkspaceState::new(&self.states(), &self.root())
    }

    fn usage(&self) -> WorkspaceUsage {
        self.state().usage()
    }

    /// Writes a change set that was made so many milliseconds after 1970.
    fn change(&self, at: u64) {
        let journal = self.state().journal();
        let mut writing = journal.lock(&|| false).expect("nobody else has it");
        let by = ChangeAuthor { tool: "t".into(), ..ChangeAuthor::default() };
        let set = writing.next_set();
        let intent = Intent { set, part: 0, at, by, takes_back: None, opened: Vec::new(), steps: Vec::new() };
        writing
            .intend(&intent, &crate::state::journal::InlineContents::from(vec![7; 5_000]))
            .expect("it can be written");
        writing.conclude(intent.happened()).expect("it can be written");
    }

    /// Puts a file into the state that was written so long ago.
    fn put(&self, path: &str, age: Duration) -> PathBuf {
        let path = self.usage().folder.join(path);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("folders can be made");
        std::fs::write(&path, [1; 4096]).expect("it can be written");
        let times = FileTimes::new().set_modified(SystemTime::now() - age);
        File::options().write(true).open(&path).and_then(|file| file.set_times(times)).expect("it is ours");
        path
    }
}

fn all(before: Option<SystemTime>) -> Selection {
    Selection { kinds: StateKind::ALL.into(), before }
}

fn only(kind: StateKind) -> Selection {
    Selection { kinds: vec![kind], before: None }
}

const DAY: Duration = Duration::from_secs(86_400);

#[test]
fn each_kind_is_counted_and_freed_alone() {
    let house = House::new();
    house.change(1_000);
    let now = Duration::ZERO;
    let spill = house.put("spill/call/abc", now);
    let (cache, session) = (house.put("cache/x", now), house.put("sessions/s", now));
    let usage = house.usage();
    assert_eq!(usage.bytes[&StateKind::Spills], 4096);
    assert!(usage.bytes[&StateKind::Journal] > 5_000);
    assert_eq!(usage.would_free(&only(StateKind::Spills)).expect("it is there"), [(StateKind::Spills, 4096)]);
    assert_eq!(usage.free(&only(StateKind::Spills)).expect("it is free"), 4096);
    assert!(!spill.exists() && cache.exists() && session.exists());
    assert!(usage.free(&only(StateKind::Caches)).is_ok() && !cache.exists() && session.exists());
    assert!(usage.free(&only(StateKind::Sessions)).is_ok() && !session.exists());
    assert!(house.usage().reach.is_some());
    usage.free(&only(StateKind::Journal)).expect("it is free");
    assert_eq!(house.usage().reach, None);
    // Numbers are not given twice.
    house.change(2_000);
    assert_eq!(house.usage().reach.map(|reach| (reach.oldest, reach.newest)), Some((2, 2)));
}

#[test]
fn what_is_younger_than_the_age_stays() {
    let house = House::new();
    let now = SystemTime::now();
    let ms = |age: Duration| {
        (now - age).duration_since(UNIX_EPOCH).expect("it is later").as_millis().try_into().expect("it fits")
    };
    house.change(ms(DAY * 40));
    house.change(ms(DAY * 35));
    house.change(ms(DAY));
    let (old, young) = (house.put("cache/old", DAY * 40), house.put("cache/young", DAY));
    let wanted = all(Some(now - DAY * 30));
    let would: Vec<StateKind> =
        house.usage().would_free(&wanted).expect("it can be read").into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(would, [StateKind::Journal, StateKind::Caches]);
    house.usage().free(&wanted).expect("it is free");
    assert!(!old.exists() && young.exists());
    assert_eq!(house.usage().reach.map(|reach| (reach.oldest, reach.newest)), Some((3, 3)));
    assert_eq!(house.usage().would_free(&wanted).expect("it can be read"), []);
}

#[test]
fn nothing_is_freed_while_another_haft_changes_files() {
    let house = House::new();
    house.change(1_000);
    let cache = house.put("cache/x", Duration::ZERO);
    let journal = house.state().journal();
    let _writing = journal.lock(&|| false).expect("nobody else has it");
    let told = house.usage().free(&all(None)).expect_err("it is locked").to_string();
    assert_eq!(told, "another haft is changing files here");
    assert!(cache.exists());
}

#[test]
fn an_interrupted_change_is_not_dropped() {
    let house = House::new();
    house.change(1_000);
    let journal = house.state().journal();
    let mut writing = journal.lock(&|| false).expect("nobody else has it");
    let by = ChangeAuthor::default();
    let intent = Intent { set: 2, part: 0, at: 2_000, by, takes_back: None, opened: Vec::new(), steps: Vec::new() };
    writing.intend(&intent, &crate::state::journal::InlineContents::default()).expect("it can be written");
    drop(writing);
    let told = house.usage().free(&only(StateKind::Journal)).expect_err("it is unfinished").to_string();
    assert!(told.starts_with("a change was interrupted here; run \"haft log\""), "{told}");
    assert_eq!(house.usage().reach.map(|reach| reach.oldest), Some(1));
}

#[test]
fn a_session_at_work_stays() {
    let house = House::new();
    let log = house.state().sessions().begin("words").expect("it can be begun");
    house.usage().free(&only(StateKind::Sessions)).expect("nothing else is there");
    assert_eq!(house.state().sessions().list().expect("they can be listed").len(), 1);
    drop(log);
    house.usage().free(&only(StateKind::Sessions)).expect("nothing else is there");
    assert_eq!(house.state().sessions().list().expect("they can be listed").len(), 0);
}

#[test]
fn the_state_of_a_workspace_that_no_longer_exists_goes_as_a_whole() {
    let house = House::new();
    house.change(1_000);
    let usage = house.usage();
    // While the workspace exists the small files stay.
    usage.free(&all(None)).expect("it is free");
    assert!(usage.folder.join("root.json").exists());
    std::fs::remove_dir(house.root()).expect("it is empty");
    let [usage] = &WorkspaceUsage::of_all(&house.states())[..] else { panic!("there is one") };
    assert_eq!((usage.standing, usage.path.as_deref()), (WorkspacePresence::Gone, Some(house.root().as_path())));
    usage.free(&all(None)).expect("it is free");
    assert!(WorkspaceUsage::of_all(&house.states()).is_empty());
    assert_eq!(names(&house.states().join("workspaces")), 0);
}

#[test]
fn links_are_neither_followed_nor_counted() {
    let house = House::new();
    house.change(1_000);
    let outside = house.folder.path().join("outside");
    std::fs::create_dir(&outside).expect("it is new");
    std::fs::write(outside.join("file"), [1; 8192]).expect("it can be written");
    let cache = house.usage().folder.join("cache");
    std::fs::create_dir_all(&cache).expect("it is new");
    std::os::unix::fs::symlink(&outside, cache.join("link")).expect("a link can be made");
    assert!(house.usage().bytes.get(&StateKind::Caches).is_none_or(|bytes| *bytes < 4096));
    house.usage().free(&only(StateKind::Caches)).expect("it is free");
    assert!(outside.join("file").exists() && names(&cache) == 0);
}

#[test]
fn what_an_interrupted_clean_up_left_is_removed_and_not_listed() {
    let house = House::new();
    house.change(1_000);
    let left = house.states().join("workspaces/.removed-1/journal");
    std::fs::create_dir_all(&left).expect("it is new");
    assert_eq!(WorkspaceUsage::of_all(&house.states()).len(), 1);
    remove_leftovers(&house.states());
    assert!(!left.exists() && house.usage().reach.is_some());
}

#[test]
fn what_a_tool_downloaded_goes_as_a_whole_unless_a_session_uses_it() {
    let house = House::new();
    let (used, free) = (house.put("tool-caches/cargo/a/b", DAY), house.put("tool-caches/npm/c", DAY));
    let usage = house.usage();
    assert_eq!(usage.bytes[&StateKind::ToolCaches], 8192);
    let young = Selection { before: Some(SystemTime::now() - DAY), ..only(StateKind::ToolCaches) };
    assert_eq!(usage.would_free(&young).expect("it is there"), []);
    let tool = File::open(used.parent().and_then(Path::parent).expect("it is in a folder")).expect("it is there");
    flock(&tool, FlockOperation::LockShared).expect("nobody has it");
    assert_eq!(usage.free(&only(StateKind::ToolCaches)).expect("it is free"), 4096);
    assert!(used.exists() && !free.exists());
    drop(tool);
    usage.free(&only(StateKind::ToolCaches)).expect("it is free");
    assert!(!used.exists());
}

fn names(folder: &Path) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}
