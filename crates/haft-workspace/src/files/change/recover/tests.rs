//! Tests how the next process recovers after one was killed at a given point.

use std::collections::BTreeMap;

use super::*;
use crate::files::Workspace;
use crate::state::WorkspaceState;
use crate::state::journal::{ChangeAuthor, ContentHash, ContentLocation, Journal, TakesBack};

const BESIDE: &str = ".haft-1.tmp";
const BACK: &str = ".haft-1.tmp.back";

/// A workspace to which a folder was added once, with an intent that has no outcome.
struct RecoveryFixture {
    folder: tempfile::TempDir,
    inline: Vec<u8>,
}

impl RecoveryFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for name in ["ws", "added"] {
            std::fs::create_dir(folder.path().join(name)).expect("it is new");
        }
        Self { folder, inline: Vec::new() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, name: &str, content: &str) {
        std::fs::write(self.at(name), content).expect("it can be written");
    }

    fn state(&mut self, content: &str) -> PathState {
        let at = u32::try_from(self.inline.len()).expect("it is small");
        self.inline.extend_from_slice(content.as_bytes());
        let length = u32::try_from(content.len()).expect("it is small");
        let (size, hash) = (content.len() as u64, ContentHash::of(content.as_bytes()));
        PathState::File { mode: 0o644, size, hash, content: ContentLocation::Inline { at, length }, owner: None }
    }

    fn step(&mut self, path: impl AsRef<Path>, before: &str, after: &str) -> IntentStep {
        let (before, after) = (self.state(before), self.state(after));
        IntentStep::Change { path: PathText::from(path.as_ref()), before, after, beside: Some(BESIDE.into()) }
    }

    fn journal(&self) -> Journal {
        WorkspaceState::new(&self.at("state"), Path::new("ws")).journal()
    }

    /// Writes an intent to the journal, like a process that is killed right after that.
    fn intended(&self, steps: Vec<IntentStep>) -> Intent {
        let intent = self.intent(steps);
        self.intend(&intent);
        intent
    }

    fn intent(&self, steps: Vec<IntentStep>) -> Intent {
        let by = ChangeAuthor {
            tool: "t".into(),
            call: "1".into(),
            session: "s".into(),
            run: "r".into(),
            turn: 1,
            ..ChangeAuthor::default()
        };
        Intent { set: 1, part: 0, at: 0, by, takes_back: None, opened: Vec::new(), steps }
    }

    fn intend(&self, intent: &Intent) {
        let journal = self.journal();
        journal
            .lock(&|| false)
            .expect("it is free")
            .intend(intent, &crate::state::journal::InlineContents::from(self.inline.clone()))
            .expect("it can be written");
    }

    /// Writes the intent down, lets the next one come, and returns what it made of it.
    fn recovered(&self, steps: Vec<IntentStep>) -> IntentOutcome {
        let (journal, intent) = (self.journal(), self.intended(steps));
        let root = WorkspaceRoot::open(&self.at("ws")).expect("it is there");
        recover(&root, &mut journal.lock(&|| false).expect("it is free")).expect("it can be written");
        let reading = journal.read().expect("it can be read");
        let happened = reading.outcome(&intent).expect("it is settled now");
        IntentOutcome { set: 1, part: 0, happened, standing: Vec::new() }
    }

    /// Everything below the workspace and the added folder.
    fn files(&self) -> BTreeMap<String, String> {
        let folders = ["ws", "added"].map(|name| std::fs::read_dir(self.at(name)).expect("it is there"));
        let entries = folders.into_iter().flatten().flatten();
        let name = |path: &Path| path.strip_prefix(self.folder.path()).expect("it lies there").display().to_string();
        entries.map(|entry| (name(&entry.path()), std::fs::read_to_string(entry.path()).expect("it is text"))).collect()
    }
}

fn files(files: &[(&str, &str)]) -> BTreeMap<String, String> {
    files.iter().map(|(name, content)| ((*name).to_owned(), (*content).to_owned())).collect()
}

#[test]
fn whoever_only_looks_sees_no_half_of_a_change() {
    for opens_doors in [true, false] {
        let mut ground = RecoveryFixture::new();
        ground.put("ws/a", "new a");
        ground.put("ws/b", "old b");
        let steps = vec![ground.step("a", "old a", "new a"), ground.step("b", "old b", "new b")];
        ground.intended(steps);
        let state = WorkspaceState::new(&ground.at("state"), Path::new("ws"));
        let workspace = Workspace::open(&ground.at("ws")).expect("it is there");
        if opens_doors {
            drop(workspace.doors(&state));
        } else {
            assert_eq!(workspace.history(&state).log().expect("it can be read").sets, []);
        }
        assert_eq!(ground.files(), files(&[("ws/a", "old a"), ("ws/b", "old b")]));
        assert!(!ground.journal().is_unfinished());
    }
}

#[test]
fn what_became_of_an_interrupted_undo_or_redo_is_said_once() {
    let takes_back = |how, set| Some(TakesBack { how, sets: vec![set], only: Vec::new(), partly: false });
    for (how, began, told) in [
        (None, "old b", "An interrupted change by t (change set 3) was rolled back: all files are as before it."),
        (
            Some(UndoDirection::Undo),
            "old b",
            "An interrupted undo of change set 2 was rolled back: all files are as before it.",
        ),
        (
            Some(UndoDirection::Redo),
            "old b",
            "An interrupted redo of change set 1 was rolled back: all files are as before it.",
        ),
        (Some(UndoDirection::Redo), "new b", "An interrupted redo of change set 1 was finished."),
    ] {
        let mut ground = RecoveryFixture::new();
        ground.put("ws/a", "new a");
        ground.put("ws/b", began);
        let undone = Intent { set: 2, takes_back: takes_back(UndoDirection::Undo, 1), ..ground.intent(Vec::new()) };
        ground.intend(&undone);
        ground.journal().lock(&|| false).expect("it is free").conclude(undone.happened()).expect("it can be written");
        let steps = vec![ground.step("a", "old a", "new a"), ground.step("b", "old b", "new b")];
        let back = how.and_then(|how| takes_back(how, 2));
        ground.intend(&Intent { set: 3, takes_back: back, ..ground.intent(steps) });
        let state = WorkspaceState::new(&ground.at("state"), Path::new("ws"));
        let workspace = Workspace::open(&ground.at("ws")).expect("it is there");
        assert_eq!(workspace.finish_left_behind(&state), [told]);
        assert!(workspace.finish_left_behind(&state).is_empty());
    }
}

#[test]
fn what_was_half_done_in_a_folder_that_is_not_added_today_is_taken_back_all_the_same() {
    let mut ground = RecoveryFixture::new();
    ground.put("ws/a", "new a");
    ground.put("added/b", "old b");
    ground.put(&format!("added/{BESIDE}"), "new");
    let added = ground.at("added").canonicalize().expect("it is there");
    let steps = vec![ground.step("a", "old a", "new a"), ground.step(added.join("b"), "old b", "new b")];
    assert!(!ground.recovered(steps).happened);
    assert_eq!(ground.files(), files(&[("added/b", "old b"), ("ws/a", "old a")]));
}

#[test]
fn a_folder_that_was_swapped_for_a_link_since_leads_nowhere() {
    let mut ground = RecoveryFixture::new();
    ground.put("added/b", "new b");
    let gone = ground.folder.path().canonicalize().expect("it is there").join("gone");
    std::os::unix::fs::symlink("added", &gone).expect("it is new");
    let steps = vec![ground.step(gone.join("b"), "old b", "new b"), ground.step("a", "old a", "new a")];
    ground.put("ws/a", "old a");
    ground.recovered(steps);
    assert_eq!(ground.files(), files(&[("added/b", "new b"), ("ws/a", "old a")]));
}

#[test]
fn an_old_content_that_was_on_its_way_back_is_not_taken_for_somebody_elses() {
    for back in ["", "old", "old a"] {
        let mut ground = RecoveryFixture::new();
        ground.put("ws/a", "new a");
        ground.put("ws/b", "old b");
        ground.put(&format!("ws/{BACK}"), back);
        let steps = vec![ground.step("a", "old a", "new a"), ground.step("b", "old b", "new b")];
        assert!(!ground.recovered(steps).happened);
        assert_eq!(ground.files(), files(&[("ws/a", "old a"), ("ws/b", "old b")]), "{back}");
    }
}

#[test]
fn what_somebody_else_had_put_there_is_never_removed() {
    // Swapped out, and then another program wrote to the place again.
    let mut ground = RecoveryFixture::new();
    ground.put("ws/a", "newer");
    ground.put(&format!("ws/{BESIDE}"), "theirs");
    let steps = vec![ground.step("a", "old a", "new a")];
    assert!(ground.recovered(steps).happened);
    assert_eq!(ground.files(), files(&[("ws/a", "newer"), ("ws/a.kept-by-haft", "theirs")]));
    // Swapped out on the way back.
    let mut ground = RecoveryFixture::new();
    ground.put("ws/a", "old a");
    ground.put(&format!("ws/{BACK}"), "theirs");
    let steps = vec![ground.step("a", "old a", "new a")];
    assert!(!ground.recovered(steps).happened);
    assert_eq!(ground.files(), files(&[("ws/a", "old a"), ("ws/a.kept-by-haft", "theirs")]));
}

#[test]
fn the_beginning_of_the_new_content_goes_whatever_happened_to_the_place() {
    let mut ground = RecoveryFixture::new();
    ground.put("ws/a", "newer");
    ground.put(&format!("ws/{BESIDE}"), "ne");
    let steps = vec![ground.step("a", "old a", "new a")];
    assert!(!ground.recovered(steps).happened);
    assert_eq!(ground.files(), files(&[("ws/a", "newer")]));
}

#[test]
fn a_content_described_by_the_one_before_is_recognised_by_its_beginning() {
    let mut ground = RecoveryFixture::new();
    let before = ground.state("one two three");
    let PathState::File { content: ContentLocation::Inline { at, .. }, .. } = ground.state("2") else {
        panic!("it is inline")
    };
    let middle = Box::new(ContentLocation::Inline { at, length: 1 });
    let hash = ContentHash::of(b"one 2 three");
    let content = ContentLocation::Splice { begin: 4, middle, end: 6 };
    let after = PathState::File { mode: 0o644, size: 11, hash, content, owner: None };
    let inline = |at: u32, length: u32| Ok(ground.inline[at as usize..(at + length) as usize].to_vec());
    let images =
        Images { inline: &inline, objects: ground.journal().objects(), stores: TreeStores::of(&ground.journal()) };
    let of = |content: &[u8]| PathState::File {
        mode: 0o600,
        size: content.len() as u64,
        hash: ContentHash::of(content),
        content: ContentLocation::No,
        owner: None,
    };
    for (part, wanted) in [("", true), ("one 2 th", true), ("one 2 three", true), ("one two", false)] {
        assert_eq!(images.is_beginning(&of(part.as_bytes()), &after, &before), Some(wanted), "{part}");
    }
}

#[test]
fn a_step_that_changes_nothing_does_not_say_that_those_before_it_were_done() {
    for (a, happened) in [("old a", false), ("new a", true)] {
        let mut ground = RecoveryFixture::new();
        ground.put("ws/a", a);
        ground.put("ws/twin", "new a");
        let steps = vec![ground.step("a", "old a", "new a"), ground.step("twin", "new a", "new a")];
        assert_eq!(ground.recovered(steps).happened, happened);
        assert_eq!(ground.files(), files(&[("ws/a", a), ("ws/twin", "new a")]));
    }
}

#[test]
fn what_comes_after_a_step_that_was_not_done_was_not_done_either() {
    let mut ground = RecoveryFixture::new();
    ground.put("ws/a", "new a");
    ground.put("ws/b", "old b");
    ground.put("ws/c", "somebody else's");
    let steps = vec![
        ground.step("a", "old a", "new a"),
        ground.step("b", "old b", "new b"),
        ground.step("c", "old c", "new c"),
    ];
    assert!(!ground.recovered(steps).happened);
    assert_eq!(ground.files(), files(&[("ws/a", "old a"), ("ws/b", "old b"), ("ws/c", "somebody else's")]));
}
