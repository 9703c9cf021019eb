//! Tests changes through the file door, and their undo.

mod again;
mod blame;
mod long;
mod own;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use haft_contract::call::CallId;
use haft_contract::doors::door::{FileOp, Permit, PermitIssuer, Provenance, SessionName};
use haft_contract::doors::history::Undone;
use haft_contract::effect::{Change, Effect};
use haft_contract::files::path::{Extent, FileLocation, Target};
use haft_contract::outcome::error::ToolError;
use tokio_util::sync::CancellationToken;

use super::{Became, ChangeSetKind, HistoryError, PathContent, TakenBack, UndoSelection};
use crate::files::Workspace;
use crate::state::WorkspaceState;

/// A workspace with its state beside it.
struct HistoryFixture {
    folder: tempfile::TempDir,
    run: &'static str,
    turn: u64,
}

impl HistoryFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::create_dir(folder.path().join("ws")).expect("it is new");
        Self { folder, run: "one", turn: 1 }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("ws").join(name)
    }

    fn workspace(&self) -> Workspace {
        Workspace::open(&self.folder.path().join("ws")).expect("it is there")
    }

    fn state(&self) -> WorkspaceState {
        WorkspaceState::new(&self.folder.path().join("state"), Path::new("ws"))
    }

    fn put(&self, name: &str, content: &str) {
        std::fs::write(self.path(name), content).expect("it can be written");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|_| "(none)".into())
    }

    fn permit(&self) -> Permit {
        self.permit_for(haft_contract::doors::door::Purpose::default())
    }

    fn permit_for(&self, purpose: haft_contract::doors::door::Purpose) -> Permit {
        let root = Target::Inside(FileLocation::new("", Extent::Tree));
        let effects =
            [Change::Create, Change::Replace, Change::Remove].map(|change| Effect::Change(root.clone(), change));
        let errand = Provenance {
            call: CallId::new("1"),
            tool: "write_file".into(),
            session: SessionName::new("s"),
            run: self.run.into(),
            turn: self.turn,
            purpose,
            old_changes: haft_contract::doors::door::OldChanges::Stay,
        };
        Permit::issue(&PermitIssuer::of_the_runtime(), errand, effects.into(), CancellationToken::new())
    }

    fn write(&self, files: &[(&str, &str)]) -> Result<u64, ToolError> {
        let permit = self.permit();
        let put =
            |(name, content): &(&str, &str)| FileOp::Put(target(name), Bytes::copy_from_slice(content.as_bytes()));
        let ops: Vec<FileOp> = files.iter().map(put).collect();
        run(self.workspace().doors(&self.state()).files.change(&permit, &ops))?;
        Ok(permit.receipts().change_set().expect("it was changed").0)
    }

    fn remove(&self, name: &str) -> Result<(), ToolError> {
        self.change(FileOp::Remove(target(name)))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), ToolError> {
        self.change(FileOp::Rename(target(from), target(to)))
    }

    fn change(&self, op: FileOp) -> Result<(), ToolError> {
        run(self.workspace().doors(&self.state()).files.change(&self.permit(), &[op])).map(drop)
    }

    fn undo(&self, which: UndoSelection) -> Result<TakenBack, HistoryError> {
        self.workspace().history(&self.state()).undo(which, None)
    }

    fn redo(&self) -> Result<TakenBack, HistoryError> {
        self.workspace().history(&self.state()).redo()
    }

    /// Every path below the workspace with its content and mode.
    fn tree(&self) -> BTreeMap<PathBuf, (u32, Option<Vec<u8>>)> {
        let mut tree = BTreeMap::new();
        let mut folders = vec![self.folder.path().join("ws")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("it is a folder").flatten() {
                let (path, facts) = (entry.path(), entry.metadata().expect("it is there"));
                let content = facts.is_file().then(|| std::fs::read(&path).expect("it can be read"));
                if facts.is_dir() {
                    folders.push(path.clone());
                }
                tree.insert(path, (facts.permissions().mode(), content));
            }
        }
        tree
    }
}

fn target(name: &str) -> Target {
    Target::Inside(FileLocation::new(name, Extent::Entry))
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("threads are to be had").block_on(work)
}

#[test]
fn undo_restores_bytes_mode_and_absence_and_redo_brings_it_back() {
    let ground = HistoryFixture::new();
    ground.put("a.txt", "one\n");
    std::fs::set_permissions(ground.path("a.txt"), PermissionsExt::from_mode(0o640)).expect("it is ours");
    let before = ground.tree();
    ground.write(&[("a.txt", "two\n"), ("new/deep/b.txt", "b\n")]).expect("it can be written");
    let after = ground.tree();
    assert_eq!(ground.read("new/deep/b.txt"), "b\n");

    let taken = ground.undo(UndoSelection::Newest).expect("it can be taken back");
    assert_eq!(ground.tree(), before);
    assert_eq!(taken.sets, [1]);
    let became: Vec<(&str, Became)> = taken.files.iter().map(|(path, became)| (path.as_str(), *became)).collect();
    assert_eq!(
        became,
        [
            ("a.txt", Became::Restored),
            ("new/deep/b.txt", Became::Removed),
            ("new/deep", Became::Removed),
            ("new", Became::Removed)
        ]
    );

    ground.redo().expect("it can be brought back");
    assert_eq!(ground.tree(), after);
    ground.undo(UndoSelection::Newest).expect("it can be taken back again");
    assert_eq!(ground.tree(), before);
}

#[test]
fn undo_again_goes_further_back_until_nothing_is_left() {
    let ground = HistoryFixture::new();
    for content in ["1", "2", "3"] {
        ground.write(&[("a", content)]).expect("it can be written");
    }
    for content in ["2", "1", "(none)"] {
        ground.undo(UndoSelection::Newest).expect("it can be taken back");
        assert_eq!(ground.read("a"), content);
    }
    assert!(matches!(ground.undo(UndoSelection::Newest), Err(HistoryError::NothingLeft)));
    for content in ["1", "2", "3"] {
        ground.redo().expect("it can be brought back");
        assert_eq!(ground.read("a"), content);
    }
    assert!(matches!(ground.redo(), Err(HistoryError::NothingToRedo)));
}

#[test]
fn an_older_change_is_taken_out_of_the_middle() {
    let ground = HistoryFixture::new();
    ground.put("a", "1\n2\n3\n4\n5\n6\n7\n");
    let first = ground.write(&[("a", "one\n2\n3\n4\n5\n6\n7\n")]).expect("it can be written");
    ground.write(&[("a", "one\n2\n3\n4\n5\n6\nseven\n")]).expect("it can be written");
    let taken = ground.undo(UndoSelection::Number(first)).expect("the two do not touch");
    assert_eq!(ground.read("a"), "1\n2\n3\n4\n5\n6\nseven\n");
    assert_eq!(taken.files, [("a".to_owned(), Became::Merged)]);
    assert!(matches!(ground.undo(UndoSelection::Number(first)), Err(HistoryError::AlreadyUndone(1))));
    ground.undo(UndoSelection::Newest).expect("the other is left");
    assert_eq!(ground.read("a"), "1\n2\n3\n4\n5\n6\n7\n");
}

#[test]
fn the_users_work_is_merged_where_it_does_not_touch_and_never_overwritten() {
    let ground = HistoryFixture::new();
    ground.put("a", "1\n2\n3\n4\n5\n");
    ground.write(&[("a", "ONE\n2\n3\n4\n5\n")]).expect("it can be written");
    ground.put("a", "ONE\n2\n3\n4\nmine\n");
    ground.undo(UndoSelection::Newest).expect("the two do not touch");
    assert_eq!(ground.read("a"), "1\n2\n3\n4\nmine\n");

    ground.write(&[("b", "made\n"), ("a", "x\n2\n3\n4\nmine\n")]).expect("it can be written");
    ground.put("a", "my own\n2\n3\n4\nmine\n");
    let refused = ground.undo(UndoSelection::Newest).expect_err("both changed the first line");
    assert!(matches!(&refused, HistoryError::Conflicts(found) if found[0].path == "a"), "{refused}");
    assert_eq!((ground.read("a").as_str(), ground.read("b").as_str()), ("my own\n2\n3\n4\nmine\n", "made\n"));
}

#[test]
fn work_in_a_file_of_wide_units_is_merged() {
    let wide = |text: &str| text.chars().flat_map(|letter| [letter, '\0']).collect::<String>();
    let ground = HistoryFixture::new();
    ground.put("a", &wide("1\n2\n3\n4\n5\n"));
    ground.write(&[("a", &wide("one\n2\n3\n4\n5\n"))]).expect("it can be written");
    ground.put("a", &wide("one\n2\n3\n4\nmine\n"));
    ground.undo(UndoSelection::Newest).expect("the two do not touch");
    assert_eq!(ground.read("a"), wide("1\n2\n3\n4\nmine\n"));
}

#[test]
fn a_merge_that_was_not_tried_is_told_with_its_reason() {
    let why = |content: &str, mine: &dyn Fn(&HistoryFixture)| {
        let ground = HistoryFixture::new();
        ground.put("a", content);
        ground.write(&[("a", &content.replace('1', "one"))]).expect("it can be written");
        mine(&ground);
        ground.undo(UndoSelection::Newest).expect_err("it cannot be merged").to_string()
    };
    let told = |why: &str| format!("a was changed since change set 1, {why}; nothing was undone");
    let touched = why("1\n2\n", &|ground| ground.put("a", "uno\n2\n"));
    assert_eq!(touched, told("in the same lines"));
    let binary = why("1\0\n2\n3\n", &|ground| ground.put("a", "one\0\n2\nmine\n"));
    assert_eq!(binary, told("and only text in the same encoding can be merged"));
    let large = why("1\n2\n", &|ground| {
        let file = std::fs::File::options().write(true).open(ground.path("a")).expect("it is there");
        file.set_len((64 << 20) + 1).expect("it may be sparse");
    });
    assert_eq!(large, told("and it is too large to be merged"));
}

#[test]
fn a_file_that_was_made_and_then_worked_on_is_not_removed() {
    let ground = HistoryFixture::new();
    ground.write(&[("new", "made\n")]).expect("it can be written");
    ground.put("new", "made\nand worked on\n");
    assert!(matches!(ground.undo(UndoSelection::Newest), Err(HistoryError::Conflicts(_))));
    assert_eq!(ground.read("new"), "made\nand worked on\n");
}

#[test]
fn a_folder_that_was_made_stays_when_somebody_put_something_into_it() {
    let ground = HistoryFixture::new();
    ground.write(&[("new/a", "a\n")]).expect("it can be written");
    ground.put("new/mine", "mine\n");
    let taken = ground.undo(UndoSelection::Newest).expect("the file can go");
    assert_eq!(taken.files, [("new/a".to_owned(), Became::Removed), ("new".to_owned(), Became::Kept)]);
    assert_eq!((ground.read("new/a").as_str(), ground.read("new/mine").as_str()), ("(none)", "mine\n"));
}

#[test]
fn removals_and_renames_are_taken_back() {
    let ground = HistoryFixture::new();
    ground.put("a", "a\n");
    std::fs::create_dir(ground.path("empty")).expect("it is new");
    std::os::unix::fs::symlink("a", ground.path("link")).expect("it is new");
    let before = ground.tree();
    ground.remove("a").expect("it can be removed");
    ground.remove("empty").expect("it is empty");
    ground.remove("link").expect("a link can be removed");
    assert_eq!(ground.tree().len(), 0);
    for _ in 0..3 {
        ground.undo(UndoSelection::Newest).expect("it can be taken back");
    }
    assert_eq!(ground.tree(), before);
    assert_eq!(std::fs::read_link(ground.path("link")).expect("it is a link"), Path::new("a"));

    ground.rename("a", "sub/b").expect("it can be renamed");
    assert_eq!((ground.read("a").as_str(), ground.read("sub/b").as_str()), ("(none)", "a\n"));
    ground.undo(UndoSelection::Newest).expect("it can be taken back");
    assert_eq!(ground.tree(), before);
}

#[test]
fn the_root_is_never_removed_and_a_full_folder_neither() {
    let ground = HistoryFixture::new();
    ground.put("a", "a\n");
    std::fs::create_dir(ground.path("full")).expect("it is new");
    ground.put("full/a", "a\n");
    let before = ground.tree();
    let refused = ground.remove("").expect_err("the root stays");
    assert_eq!(refused.kind.code(), "denied");
    assert!(ground.remove("full").is_err());
    assert_eq!(ground.tree(), before);
}

#[test]
fn large_contents_are_kept_beside_the_journal_and_come_back() {
    let ground = HistoryFixture::new();
    let old: String = (0..40_000).map(|number| format!("line {number}\n")).collect();
    ground.put("big", &old);
    let new = old.replace("line 7\n", "line seven\n");
    ground.write(&[("big", &new)]).expect("it can be written");
    ground.put("big", &new.replace("line 39999\n", "mine\n"));
    ground.undo(UndoSelection::Newest).expect("the two do not touch");
    assert_eq!(ground.read("big"), old.replace("line 39999\n", "mine\n"));
    ground.remove("big").expect("it can be removed");
    ground.undo(UndoSelection::Newest).expect("it can be taken back");
    assert_eq!(ground.read("big"), old.replace("line 39999\n", "mine\n"));
}

#[test]
fn a_turn_and_a_session_are_taken_back_together() {
    let mut ground = HistoryFixture::new();
    ground.put("a", "0\n");
    ground.write(&[("a", "1\n")]).expect("it can be written");
    ground.turn = 2;
    ground.write(&[("a", "2\n")]).expect("it can be written");
    ground.write(&[("b", "b\n"), ("a", "3\n")]).expect("it can be written");
    let taken = ground.undo(UndoSelection::Turn).expect("it can be taken back");
    assert_eq!(taken.sets, [3, 2]);
    assert_eq!((ground.read("a").as_str(), ground.read("b").as_str()), ("1\n", "(none)"));
    ground.redo().expect("it can be brought back");
    assert_eq!((ground.read("a").as_str(), ground.read("b").as_str()), ("3\n", "b\n"));
    ground.run = "another";
    ground.write(&[("c", "c\n")]).expect("it can be written");
    ground.undo(UndoSelection::Session).expect("it can be taken back");
    assert_eq!((ground.read("a").as_str(), ground.read("c").as_str()), ("3\n", "(none)"));
    ground.undo(UndoSelection::Session).expect("it can be taken back");
    assert_eq!(ground.read("a"), "0\n");
}

#[test]
fn everything_of_a_session_from_a_change_set_on_can_be_taken_back() {
    let mut ground = HistoryFixture::new();
    ground.write(&[("a", "1\n")]).expect("it can be written");
    ground.write(&[("a", "2\n")]).expect("it can be written");
    ground.run = "another";
    ground.write(&[("b", "b\n")]).expect("it can be written");
    ground.run = "one";
    ground.write(&[("c", "c\n")]).expect("it can be written");
    let taken = ground.undo(UndoSelection::Since(2)).expect("it can be taken back");
    assert_eq!(taken.sets, [4, 2], "nothing of the other session goes");
    assert_eq!(["a", "b", "c"].map(|name| ground.read(name)), ["1\n", "b\n", "(none)"]);
    assert!(matches!(ground.undo(UndoSelection::Since(2)), Err(HistoryError::AlreadyUndone(2))));
    assert!(matches!(ground.undo(UndoSelection::Since(99)), Err(HistoryError::Unknown(99))));
    ground.redo().expect("it can be brought back");
    assert_eq!(["a", "b", "c"].map(|name| ground.read(name)), ["2\n", "b\n", "c\n"]);
}

#[test]
fn one_file_of_a_change_set_can_be_taken_back_alone() {
    let ground = HistoryFixture::new();
    ground.write(&[("a", "a\n"), ("b", "b\n")]).expect("it can be written");
    let history = ground.workspace().history(&ground.state());
    history.undo(UndoSelection::Newest, Some(&target("a"))).expect("it can be taken back");
    assert_eq!((ground.read("a").as_str(), ground.read("b").as_str()), ("(none)", "b\n"));
    let log = history.log().expect("it can be read");
    assert_eq!(log.sets[1].undone, Undone::Partly);
    assert!(matches!(history.undo(UndoSelection::Newest, Some(&target("z"))), Err(HistoryError::NotConcerned(_))));
    history.undo(UndoSelection::Newest, None).expect("the rest is left");
    assert_eq!(ground.read("b"), "(none)");
}

#[test]
fn the_log_tells_what_was_done_and_what_was_taken_back() {
    let ground = HistoryFixture::new();
    ground.put("a", "a\n");
    ground.write(&[("a", "b\n"), ("n", "n\n")]).expect("it can be written");
    ground.undo(UndoSelection::Newest).expect("it can be taken back");
    let log = ground.workspace().history(&ground.state()).log().expect("it can be read");
    let told: Vec<(u64, &str, &ChangeSetKind, Undone)> =
        log.sets.iter().map(|set| (set.number, set.tool.as_str(), &set.kind, set.undone)).collect();
    assert_eq!(
        told,
        [
            (2, "undo", &ChangeSetKind::Undo(vec![1]), Undone::No),
            (1, "write_file", &ChangeSetKind::Change, Undone::Yes)
        ]
    );
    let files: Vec<(&str, Change)> = log.sets[1].files.iter().map(|file| (file.path.as_str(), file.change)).collect();
    assert_eq!(files, [("a", Change::Replace), ("n", Change::Create)]);
    let (number, changes) = ground.workspace().history(&ground.state()).diff(Some(1)).expect("it can be read");
    assert_eq!(number, 1);
    let file = |content: &str| PathContent::File(content.as_bytes().to_owned());
    assert_eq!((&changes[0].before, &changes[0].after), (&file("a\n"), &file("b\n")));
    assert_eq!((&changes[1].before, &changes[1].after), (&PathContent::Absent, &file("n\n")));
}

#[test]
fn one_file_taken_back_alone_leaves_the_renames_of_others() {
    let ground = HistoryFixture::new();
    ground.put("a", "a\n");
    ground.rename("a", "b").expect("it can be renamed");
    let history = ground.workspace().history(&ground.state());
    assert!(matches!(history.undo(UndoSelection::Newest, Some(&target("z"))), Err(HistoryError::NotConcerned(_))));
    assert_eq!(ground.read("b"), "a\n");
    history.undo(UndoSelection::Newest, Some(&target("b"))).expect("it was renamed");
    assert_eq!((ground.read("a").as_str(), ground.read("b").as_str()), ("a\n", "(none)"));
}

#[test]
fn what_was_renamed_and_changed_is_taken_back_one_by_one() {
    let ground = HistoryFixture::new();
    ground.write(&[("a", "1\n")]).expect("it can be written");
    ground.rename("a", "b").expect("it can be renamed");
    ground.write(&[("b", "2\n")]).expect("it can be written");
    let after = ground.tree();
    let taken = ground.undo(UndoSelection::Session).expect("each can be taken back after the next one");
    assert_eq!((taken.sets, ground.tree().len()), (vec![3, 2, 1], 0));
    for _ in 0..3 {
        ground.redo().expect("each is an undo");
    }
    assert_eq!(ground.tree(), after);
}
