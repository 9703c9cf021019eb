//! Scenes of whole transactions: things that lie ready in a layer are brought into a workspace.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft::stamp::Basis;
use rustix::fs::{Mode, OFlags};

use super::*;
use crate::files::Workspace;
use crate::files::bring::Layered;
use crate::history::{History, TakenBack, Which};
use crate::state::WorkspaceState;

/// A workspace, a layer beside it, and a journal.
pub(crate) struct Scene {
    folder: tempfile::TempDir,
    layer: Arc<Layered>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        Self::with_layer(folder, "layer")
    }

    fn with_layer(folder: tempfile::TempDir, layer: impl AsRef<Path>) -> Self {
        let layer = folder.path().join(layer);
        std::fs::create_dir_all(folder.path().join("ws")).expect("it is new");
        std::fs::create_dir_all(&layer).expect("it is new");
        let opened = rustix::fs::open(&layer, OFlags::DIRECTORY | OFlags::RDONLY, Mode::empty());
        let layer = Arc::new(Layered::new(opened.expect("it is there")));
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

    pub(crate) fn bring(&self, path: &str) -> Deed {
        let brought = Brought { from: self.layer.clone(), path: path.into() };
        deed(path, Action::Bring(brought))
    }

    pub(crate) fn commit(&self, deeds: &[Deed]) -> Result<Done, NotDone> {
        let (root, journal) = (Root::open(&self.at("ws")).expect("it is there"), self.state().journal());
        let by = By { tool: "bash".into(), call: "1".into(), session: "s".into(), run: "r".into(), turn: 1 };
        let job = Job { root: &root, journal: &journal, by, set: None, takes_back: None, stopped: &|| false };
        commit(&job, deeds)
    }

    fn state(&self) -> WorkspaceState {
        WorkspaceState::new(&self.at("state"), &self.at("ws"))
    }

    pub(crate) fn history(&self) -> History {
        Workspace::open(&self.at("ws")).expect("it is there").history(&self.state())
    }

    pub(crate) fn undo(&self) -> TakenBack {
        self.history().undo(Which::Newest, None).expect("it can be taken back")
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

pub(crate) fn deed(place: &str, action: Action) -> Deed {
    Deed { place: place.into(), action, expected: Expected::Anything }
}

fn tree_of(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    entries.iter().map(|(name, what)| ((*name).to_owned(), (*what).to_owned())).collect()
}

#[test]
fn what_lies_ready_comes_in_by_a_rename_and_can_be_taken_back() {
    let scene = Scene::new();
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
    assert!(scene.tree("layer").is_empty());
    scene.undo();
    assert_eq!(scene.tree("ws"), beginning);
}

#[test]
fn what_was_brought_goes_back_into_its_layer_when_something_else_fails() {
    for count in [2, 40] {
        let scene = Scene::new();
        scene.put("ws/00", "old");
        scene.put("ws/taken", "theirs");
        for number in 0..count {
            scene.put(&format!("layer/{number:02}"), "new");
        }
        scene.put("layer/taken", "new");
        let (beginning, layer) = (scene.tree("ws"), scene.tree("layer"));
        let mut deeds: Vec<Deed> = (0..count).map(|number| scene.bring(&format!("{number:02}"))).collect();
        deeds.push(deed("00/child", Action::MakeFolder(None)));

        let refused = scene.commit(&deeds).err().expect("a file is in the way");

        assert!(matches!(refused, NotDone::System(..)), "{refused}");
        assert_eq!((scene.tree("ws"), scene.tree("layer")), (beginning, layer));
    }
}

#[test]
fn a_new_thing_never_replaces_what_somebody_else_has_put_there() {
    let scene = Scene::new();
    scene.put("ws/a", "theirs");
    scene.put("layer/a", "ours");
    let expected = Expected::Basis(Basis::Nothing);
    let refused = scene.commit(&[Deed { expected, ..scene.bring("a") }]).err();
    assert!(matches!(refused, Some(NotDone::Stale(place)) if place == Path::new("a")));
    assert_eq!(scene.tree("ws"), tree_of(&[("ws/a", "644 theirs")]));
    assert_eq!(scene.tree("layer"), tree_of(&[("layer/a", "644 ours")]));
}

#[test]
fn set_id_bits_do_not_come_in() {
    let scene = Scene::new();
    scene.put("layer/a", "program");
    scene.chmod("layer/a", 0o6755);
    scene.commit(&[scene.bring("a")]).expect("nothing stands in the way");
    assert_eq!(scene.tree("ws"), tree_of(&[("ws/a", "755 program")]));
}
