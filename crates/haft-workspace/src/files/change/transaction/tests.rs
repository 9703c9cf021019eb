//! Tests whole transactions: files that are ready in a layer are brought into a workspace.

use std::collections::BTreeMap;
use std::fs::{File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_contract::files::stamp::ExpectedVersion;
use rustix::fs::{Mode, OFlags};

use super::*;
use crate::files::Workspace;
use crate::files::change::bring::LayerHandle;
use crate::files::change::crash_points;
use crate::files::change::unwritable_dirs::Shut;
use crate::files::searching::order::in_order;
use crate::history::{TakenBack, UndoSelection, WorkspaceHistory};
use crate::require::Need;
use crate::state::WorkspaceState;

mod again;
mod brought;
mod large;

/// A workspace, a layer beside it, and a journal.
pub(crate) struct TransactionFixture {
    folder: tempfile::TempDir,
    layer: Arc<LayerHandle>,
}

impl TransactionFixture {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        Self::with_layer(folder, "layer")
    }

    fn with_layer(folder: tempfile::TempDir, layer: impl AsRef<Path>) -> Self {
        let layer = folder.path().join(layer);
        std::fs::create_dir_all(folder.path().join("ws")).expect("it is new");
        std::fs::create_dir_all(&layer).expect("it is new");
        let opened = rustix::fs::open(&layer, OFlags::DIRECTORY | OFlags::RDONLY, Mode::empty());
        let layer = Arc::new(LayerHandle::new(opened.expect("it is there")));
        Self { folder, layer }
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn put(&self, path: &str, content: &str) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("it can be made");
        std::fs::write(path, content).expect("it can be written");
    }

    pub(crate) fn link(&self, path: &str, to: &str) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("it can be made");
        std::os::unix::fs::symlink(to, path).expect("it is new");
    }

    pub(crate) fn chmod(&self, path: &str, mode: u32) {
        std::fs::set_permissions(self.at(path), Permissions::from_mode(mode)).expect("it is there");
    }

    pub(crate) fn bring(&self, path: &str) -> FileMutation {
        let brought = LayerEntry { from: self.layer.clone(), path: path.into() };
        deed(path, FileAction::Bring(brought))
    }

    pub(crate) fn commit(&self, deeds: &[FileMutation]) -> Result<Done, NotDone> {
        self.attempt(deeds).map_err(|refused| refused.cause)
    }

    fn attempt(&self, deeds: &[FileMutation]) -> Result<Done, TransactionRefusal> {
        let (root, journal) = (WorkspaceRoot::open(&self.at("ws")).expect("it is there"), self.state().journal());
        let by = ChangeAuthor {
            tool: "bash".into(),
            call: "1".into(),
            session: "s".into(),
            run: "r".into(),
            turn: 1,
            ..ChangeAuthor::default()
        };
        let (shut, stopped) = (Shut::Opens, &|| false);
        let plants = &|_: &Path, _: &Path| false;
        let job = TransactionContext {
            root: &root,
            journal: &journal,
            by,
            set: None,
            takes_back: None,
            shut,
            stopped,
            old_changes: OldChanges::Stay,
            plants,
        };
        attempt(&job, deeds)
    }

    fn state(&self) -> WorkspaceState {
        WorkspaceState::new(&self.at("state"), &self.at("ws"))
    }

    pub(crate) fn history(&self) -> WorkspaceHistory {
        Workspace::open(&self.at("ws")).expect("it is there").history(&self.state())
    }

    pub(crate) fn undo(&self) -> TakenBack {
        self.history().undo(UndoSelection::Newest, None).expect("it can be taken back")
    }

    /// Everything in a folder, with what it is.
    pub(crate) fn tree(&self, folder: &str) -> BTreeMap<String, String> {
        let mut tree = BTreeMap::new();
        let mut open = vec![self.at(folder)];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(&folder).expect("it is there") {
                let path = entry.expect("it can be read").path();
                let name = path.strip_prefix(self.folder.path()).expect("it lies in it").display().to_string();
                let facts = path.symlink_metadata().expect("it is there");
                let what = if facts.is_symlink() {
                    format!("-> {}", path.read_link().expect("it is a link").display())
                } else if facts.is_dir() {
                    open.push(path.clone());
                    format!("{:o}/", facts.mode() & 0o7777)
                } else {
                    format!("{:o} {}", facts.mode() & 0o7777, std::fs::read_to_string(&path).expect("it is text"))
                };
                tree.insert(name, what);
            }
        }
        tree
    }
}

pub(crate) fn deed(place: &str, action: FileAction) -> FileMutation {
    FileMutation { place: place.into(), action, expected: Precondition::Anything }
}

fn tree_of(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    entries.iter().map(|(name, what)| ((*name).to_owned(), (*what).to_owned())).collect()
}

#[test]
fn what_lies_ready_comes_in_by_a_rename_and_can_be_taken_back() {
    let scene = TransactionFixture::new();
    scene.put("ws/old", "old");
    scene.put("layer/old", "new content");
    scene.put("layer/fresh", "fresh");
    scene.link("layer/link", "old");
    let inode = |path: &str| scene.at(path).metadata().expect("it is there").ino();
    let (beginning, inodes) = (scene.tree("ws"), (inode("layer/old"), inode("layer/fresh")));

    scene.commit(&[scene.bring("old"), scene.bring("fresh"), scene.bring("link")]).expect("nothing stands in the way");

    assert_eq!((inode("ws/old"), inode("ws/fresh")), inodes);
    let wanted = [("ws/fresh", "644 fresh"), ("ws/link", "-> old"), ("ws/old", "644 new content")];
    assert_eq!(scene.tree("ws"), tree_of(&wanted));
    assert_eq!(scene.tree("layer"), tree_of(&[("layer/old", "644 old")]));
    scene.undo();
    assert_eq!(scene.tree("ws"), beginning);
}

#[test]
fn what_was_brought_goes_back_into_its_layer_when_something_else_fails() {
    for count in [2, 40] {
        let scene = TransactionFixture::new();
        scene.put("ws/00", "old");
        scene.put("ws/taken", "theirs");
        for number in 0..count {
            scene.put(&format!("layer/{number:02}"), "new");
        }
        scene.put("layer/taken", "new");
        let (beginning, layer) = (scene.tree("ws"), scene.tree("layer"));
        let mut deeds: Vec<FileMutation> = (0..count).map(|number| scene.bring(&format!("{number:02}"))).collect();
        deeds.push(deed("00/child", FileAction::MakeFolder(None)));

        let refused = scene.commit(&deeds).err().expect("a file is in the way");

        assert!(matches!(refused, NotDone::System(..)), "{refused}");
        assert_eq!((scene.tree("ws"), scene.tree("layer")), (beginning, layer));
    }
}

#[test]
fn a_new_thing_never_replaces_what_somebody_else_has_put_there() {
    let scene = TransactionFixture::new();
    scene.put("ws/a", "theirs");
    scene.put("layer/a", "ours");
    let expected = Precondition::Basis(ExpectedVersion::Nothing);
    let refused = scene.commit(&[FileMutation { expected, ..scene.bring("a") }]).err();
    assert!(matches!(refused, Some(NotDone::Stale(place)) if place == Path::new("a")));
    assert_eq!(scene.tree("ws"), tree_of(&[("ws/a", "644 theirs")]));
    assert_eq!(scene.tree("layer"), tree_of(&[("layer/a", "644 ours")]));
}

/// A scene in which things of every kind become things of every kind, and what is to be done for it.
fn all_kinds(scene: &TransactionFixture) -> Vec<FileMutation> {
    for kind in ["file", "link", "folder", "nothing"] {
        let place = |becomes: &str| format!("ws/{kind}-{becomes}");
        match kind {
            "file" => ["file", "link", "folder", "nothing"].map(|to| scene.put(&place(to), "old")),
            "link" => ["file", "link", "folder", "nothing"].map(|to| scene.link(&place(to), "old-target")),
            "folder" => {
                ["file", "link", "folder", "nothing"].map(|to| scene.put(&format!("{}/in/deep", place(to)), "old"))
            }
            _ => [(); 4],
        };
    }
    let mut deeds = Vec::new();
    for kind in ["file", "link", "folder", "nothing"] {
        for to in ["file", "link", "folder", "nothing"] {
            let name = format!("{kind}-{to}");
            if kind == "folder" && to != "folder" {
                deeds.push(deed(&format!("{name}/in/deep"), FileAction::Remove));
                deeds.push(deed(&format!("{name}/in"), FileAction::Remove));
            }
            match (kind, to) {
                ("nothing", "nothing") => {}
                (_, "file") => scene.put(&format!("layer/{name}"), "new"),
                (_, "link") => scene.link(&format!("layer/{name}"), "new-target"),
                ("folder", "folder") => deeds.push(deed(&name, FileAction::SetMode(0o750))),
                (_, "folder") => deeds.push(deed(&name, FileAction::MakeFolder(Some(0o755)))),
                _ => deeds.push(deed(&name, FileAction::Remove)),
            }
            match to {
                "file" | "link" => deeds.push(scene.bring(&name)),
                "folder" if kind != "folder" => {
                    scene.put(&format!("layer/{name}/child"), "child");
                    deeds.push(scene.bring(&format!("{name}/child")));
                }
                _ => {}
            }
        }
    }
    in_order(deeds)
}

#[test]
fn whatever_kind_a_thing_is_and_becomes_it_can_be_taken_back_and_redone() {
    let scene = TransactionFixture::new();
    let deeds = all_kinds(&scene);
    let beginning = scene.tree("ws");
    scene.commit(&deeds).expect("nothing stands in the way");
    let changed = scene.tree("ws");
    for (name, what) in &changed {
        let becomes = name.rsplit('-').next().expect("a name has two parts");
        let wanted = match becomes {
            "file" => "644 new",
            "link" => "-> new-target",
            "folder" if name.ends_with("folder-folder") => "750/",
            "folder" => "755/",
            _ => continue,
        };
        assert_eq!(what, wanted, "{name}");
    }
    assert_eq!(changed.keys().filter(|name| name.ends_with("-nothing")).count(), 0);
    for _ in 0..2 {
        scene.undo();
        assert_eq!(scene.tree("ws"), beginning);
        scene.history().redo().expect("it can be done again");
        assert_eq!(scene.tree("ws"), changed);
    }
}

#[test]
fn what_became_another_kind_and_was_cut_off_is_taken_back() {
    let scene = TransactionFixture::new();
    let mut deeds = all_kinds(&scene);
    let (beginning, layer) = (scene.tree("ws"), scene.tree("layer"));
    for cut in 0..deeds.len() {
        let failing = FileMutation { place: "not/there".into(), ..deed("", FileAction::MakeFolder(None)) };
        deeds.insert(cut, failing);
        assert!(scene.commit(&deeds).is_err());
        assert_eq!((scene.tree("ws"), scene.tree("layer")), (beginning.clone(), layer.clone()), "cut at {cut}");
        deeds.remove(cut);
    }
}

/// A scene with things of all kinds and as many plain files again, and what is to be done for it.
fn much_to_do() -> (TransactionFixture, Vec<FileMutation>) {
    // In memory where that can be had: a hundred rounds sync a hundred times.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let scene = TransactionFixture::with_layer(folder.expect("a temporary folder can be made"), "layer");
    let mut deeds = all_kinds(&scene);
    for number in 0..8 {
        let name = |what: &str| format!("plain/{what}{number}");
        scene.put(&format!("ws/{}", name("replaced")), "old");
        scene.put(&format!("ws/{}", name("removed")), "old");
        scene.put(&format!("layer/{}", name("replaced")), "new");
        scene.put(&format!("layer/{}", name("fresh")), "new");
        deeds.extend([scene.bring(&name("replaced")), scene.bring(&name("fresh"))]);
        deeds.push(deed(&name("removed"), FileAction::Remove));
    }
    scene.put("ws/plain/twin", "new");
    std::fs::hard_link(scene.at("layer/plain/replaced7"), scene.at("layer/plain/twin")).expect("it is new");
    deeds.push(scene.bring("plain/twin"));
    (scene, in_order(deeds))
}

#[test]
fn a_large_change_that_is_cut_off_anywhere_is_done_or_not_and_can_be_taken_back() {
    let mut ends = [0, 0];
    for point in 0.. {
        let (scene, deeds) = much_to_do();
        let beginning = scene.tree("ws");
        let done = crash_points::ending_at(point, || scene.commit(&deeds).expect("nothing stands in the way"));
        // Now and then the recovering process is interrupted too.
        if point % 3 == 1 {
            crash_points::ending_at(point / 3, || scene.history().log().expect("it can be read").sets.len());
        }
        let sets = scene.history().log().expect("it can be read").sets.len();
        ends[sets] += 1;
        match sets {
            0 => assert_eq!(scene.tree("ws"), beginning, "cut off at {point}"),
            _ => drop(scene.undo()),
        }
        assert_eq!(scene.tree("ws"), beginning, "taken back, cut off at {point}");
        if done.is_some() {
            break;
        }
    }
    assert!(ends[0] > 80 && ends[1] > 0, "{ends:?}");
}

#[test]
fn a_large_undo_that_is_cut_off_anywhere_is_done_or_not_and_can_be_done_again() {
    let mut ends = [0, 0];
    for point in (0..).step_by(2) {
        let (scene, deeds) = much_to_do();
        let beginning = scene.tree("ws");
        scene.commit(&deeds).expect("nothing stands in the way");
        let changed = scene.tree("ws");
        let done = crash_points::ending_at(point, || scene.undo());
        let sets = scene.history().log().expect("it can be read").sets.len();
        ends[sets - 1] += 1;
        let wanted = if sets == 1 { &changed } else { &beginning };
        assert_eq!(scene.tree("ws"), *wanted, "cut off at {point}");
        if sets == 1 {
            scene.undo();
            assert_eq!(scene.tree("ws"), beginning, "cut off at {point}");
        }
        if done.is_some() {
            break;
        }
    }
    assert!(ends[0] > 40 && ends[1] > 0, "{ends:?}");
}

#[test]
fn a_mode_alone_is_changed_and_taken_back_whatever_became_of_the_content() {
    let scene = TransactionFixture::new();
    scene.put("ws/script", "one");
    scene.put("ws/shut/in", "two");
    scene
        .commit(&[deed("script", FileAction::SetMode(0o755)), deed("shut", FileAction::SetMode(0o500))])
        .expect("both are there");
    let wanted = [("ws/script", "755 one"), ("ws/shut", "500/"), ("ws/shut/in", "644 two")];
    assert_eq!(scene.tree("ws"), tree_of(&wanted));
    scene.put("ws/script", "changed since");
    scene.undo();
    let wanted = [("ws/script", "644 changed since"), ("ws/shut", "755/"), ("ws/shut/in", "644 two")];
    assert_eq!(scene.tree("ws"), tree_of(&wanted));
}

#[test]
fn a_mode_and_an_edit_are_taken_back_together() {
    let scene = TransactionFixture::new();
    scene.put("ws/a", "old");
    scene.put("layer/a", "new");
    scene.commit(&[scene.bring("a")]).expect("it is there");
    scene.commit(&[deed("a", FileAction::SetMode(0o755))]).expect("it is there");
    scene.history().undo(UndoSelection::Session, None).expect("both can be taken back");
    assert_eq!(scene.tree("ws"), tree_of(&[("ws/a", "644 old")]));
}

#[test]
fn a_tree_that_nothing_may_be_done_in_is_made_removed_and_made_again() {
    let scene = TransactionFixture::new();
    scene.put("layer/a/b/f", "content");
    let deeds = [
        deed("a", FileAction::MakeFolder(Some(0o555))),
        deed("a/b", FileAction::MakeFolder(Some(0o500))),
        scene.bring("a/b/f"),
    ];
    scene.commit(&deeds).expect("nothing is there");
    let made = tree_of(&[("ws/a", "555/"), ("ws/a/b", "500/"), ("ws/a/b/f", "644 content")]);
    assert_eq!(scene.tree("ws"), made);
    scene.undo();
    assert!(scene.tree("ws").is_empty());
    scene.history().redo().expect("it can be done again");
    assert_eq!(scene.tree("ws"), made);
}

#[test]
fn a_folder_in_which_somebody_works_is_not_replaced_by_what_was_there() {
    let scene = TransactionFixture::new();
    scene.put("ws/a", "old");
    scene.commit(&[deed("a", FileAction::MakeFolder(Some(0o755)))]).expect("it is there");
    scene.put("ws/a/mine", "my work");
    let refused = scene.history().undo(UndoSelection::Newest, None).expect_err("somebody works there");
    assert!(matches!(refused, crate::history::HistoryError::InTheWay(_)), "{refused}");
    assert_eq!(scene.tree("ws"), tree_of(&[("ws/a", "755/"), ("ws/a/mine", "644 my work")]));
}

#[test]
fn a_very_large_file_is_kept_without_being_copied_and_not_restored_when_somebody_wrote_into_it() {
    let scene = TransactionFixture::new();
    let sparse = |path: &str| {
        scene.put(path, "begins");
        let file = std::fs::OpenOptions::new().write(true).open(scene.at(path)).expect("it is there");
        file.set_len(70 * 1024 * 1024).expect("it takes no room");
        file
    };
    for (written, is_restored) in [(false, true), (true, false)] {
        let old = sparse("ws/large");
        let inode = old.metadata().expect("it is open").ino();
        scene.put("layer/large", "new");
        scene.commit(&[scene.bring("large")]).expect("it is there");
        let kept = scene.state().journal().objects().open(image_hash(&old)).expect("it is kept");
        let crate::state::journal::KeptContent::Whole(kept) = kept else { panic!("it is kept as a whole") };
        assert_eq!(kept.metadata().expect("it is open").ino(), inode);
        if written {
            std::os::unix::fs::FileExt::write_at(&old, b"later", 0).expect("it is still open");
        }
        let undone = scene.history().undo(UndoSelection::Newest, None);
        assert_eq!(undone.is_ok(), is_restored, "{undone:?}");
        let size = scene.at("ws/large").metadata().expect("it is there").len();
        assert_eq!(size, if is_restored { 70 * 1024 * 1024 } else { 3 });
    }
}

fn image_hash(file: &File) -> ContentHash {
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file));
    ContentHash::of(&std::fs::read(path).expect("it can be read"))
}

#[test]
fn of_a_change_set_with_very_many_files_all_are_named_and_some_are_shown() {
    let scene = TransactionFixture::new();
    let deeds: Vec<FileMutation> = (0..1_200)
        .map(|number| {
            let name = format!("f{number:04}");
            scene.put(&format!("layer/{name}"), "new");
            scene.bring(&name)
        })
        .collect();
    scene.commit(&deeds).expect("nothing is there");
    let (_, changes) = scene.history().diff(None).expect("it can be read");
    let shown = changes.iter().filter(|change| change.note.is_none()).count();
    assert_eq!((changes.len(), shown), (1_200, 1_000));
    let taken = scene.undo();
    assert_eq!((taken.files.len(), scene.tree("ws").len()), (1_200, 0));
}

#[test]
fn names_of_one_file_stay_names_of_one_file() {
    let scene = TransactionFixture::new();
    scene.put("layer/a", "content");
    std::fs::hard_link(scene.at("layer/a"), scene.at("layer/b")).expect("it is new");
    scene.commit(&[scene.bring("a"), scene.bring("b")]).expect("nothing is there");
    let inode = |path: &str| scene.at(path).metadata().expect("it is there").ino();
    assert_eq!(inode("ws/a"), inode("ws/b"));
}

#[test]
fn attributes_of_the_layer_and_powers_do_not_come_in_and_others_do() {
    let scene = TransactionFixture::new();
    scene.put("layer/a", "content");
    let path = scene.at("layer/a");
    let set =
        |name: &str, value: &str| rustix::fs::setxattr(&path, name, value.as_bytes(), rustix::fs::XattrFlags::empty());
    if !Need::Attributes.met(set("user.kept", "1").is_ok()) {
        return;
    }
    for kind in ["opaque", "whiteout", "whiteouts", "redirect", "origin", "impure", "nlink", "metacopy", "upper", "own"]
    {
        for name in [format!("user.overlay.{kind}"), format!("user.overlay.overlay.{kind}")] {
            set(&name, "y").expect("one was possible");
        }
    }
    scene.chmod("layer/a", 0o444);
    scene.commit(&[scene.bring("a")]).expect("nothing is there");
    let file = std::fs::File::open(scene.at("ws/a")).expect("it is there");
    let mut names = crate::files::change::snapshot::attributes_of(&file);
    names.retain(|name| name.starts_with("user."));
    names.sort();
    assert_eq!(names, ["user.kept"]);
    assert_eq!(scene.tree("ws"), tree_of(&[("ws/a", "444 content")]));
}
