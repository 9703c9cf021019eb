use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

use haft_contract::call::CallId;
use haft_contract::doors::door::{Purpose, SessionName};

use super::*;
use crate::history::{UndoRequest, UndoSelection};

struct AgentEditFixture {
    folder: tempfile::TempDir,
}

impl AgentEditFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("ws")).expect("it is new");
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("ws").join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
        std::fs::write(path, content).expect("it can be written");
    }

    fn workspace(&self) -> Workspace {
        Workspace::open(&self.path("")).expect("it is there")
    }

    fn state(&self) -> WorkspaceState {
        WorkspaceState::new(&self.folder.path().join("state"), &self.path(""))
    }

    fn begin(&self, call: &str, turn: u64, (places, agent): (&[&str], Option<AgentProcess>)) {
        let places: Vec<PathBuf> = places.iter().map(PathBuf::from).collect();
        let edit = AgentEdit { errand: &errand(call, turn), places: &places, agent };
        self.workspace().begin_edit(&self.state(), &edit).expect("it is kept");
    }

    fn ends(&self, call: &str) -> EditEnd {
        self.workspace().end_edit(&self.state(), &errand(call, 1)).expect("it is recorded")
    }

    fn end(&self, call: &str) -> Option<u64> {
        match self.ends(call) {
            EditEnd::Recorded(set) => Some(set),
            EditEnd::NothingNew | EditEnd::NotKept => None,
        }
    }

    fn undo(&self, which: UndoSelection) {
        let history = self.workspace().history(&self.state());
        history.request(&UndoRequest::all(which)).unwrap_or_else(|error| panic!("{error}"));
    }

    /// Every path with its mode and content.
    fn tree(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let (mut found, mut folders) = (BTreeMap::new(), vec![self.path("")]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("it is there").flatten() {
                let facts = entry.metadata().expect("it is there");
                let content =
                    if facts.is_dir() { Vec::new() } else { std::fs::read(entry.path()).expect("it is there") };
                found.insert(entry.path(), (facts.permissions().mode(), content));
                if facts.is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        found
    }

    fn tools(&self) -> Vec<String> {
        let log = self.workspace().history(&self.state()).newest(10).expect("it can be read");
        log.sets.into_iter().map(|set| set.tool).collect()
    }
}

fn errand(call: &str, turn: u64) -> Provenance {
    Provenance {
        call: CallId::new(call),
        tool: "Edit".into(),
        session: SessionName::new("k3f9-q2bx"),
        run: "run".into(),
        turn,
        purpose: Purpose::default(),
        old_changes: OldChanges::Stay,
    }
}

#[test]
fn undo_and_redo_cover_what_the_file_tools_of_an_agent_change() {
    let scene = AgentEditFixture::new();
    scene.put("src/a.txt", "one\ntwo\n");
    scene.put("big", vec![b'x'; 300 * 1024]);
    scene.put("gone", "once");
    std::fs::set_permissions(scene.path("gone"), PermissionsExt::from_mode(0o755)).expect("it has a mode");
    let before = scene.tree();
    scene.begin("1", 1, (&["src/a.txt", "new/deep/b.txt", "big", "gone", "untouched"], None));
    scene.put("src/a.txt", "uno\ntwo\n");
    scene.put("new/deep/b.txt", "b");
    let mut big = vec![b'x'; 300 * 1024];
    big[200_000] = b'y';
    scene.put("big", &big);
    std::fs::remove_file(scene.path("gone")).expect("it is there");
    let after = scene.tree();

    assert_eq!(scene.end("1"), Some(1));
    assert_eq!(scene.tree(), after, "recording changes nothing");
    scene.undo(UndoSelection::Newest);
    assert_eq!(scene.tree(), before);
    scene.undo(UndoSelection::LastUndo);
    assert_eq!(scene.tree(), after);
}

#[test]
fn a_call_of_which_nothing_was_kept_is_told_from_one_that_was_recorded_before() {
    let scene = AgentEditFixture::new();
    scene.put("a", "one");
    assert_eq!(scene.ends("1"), EditEnd::NotKept);
    scene.begin("2", 1, (&["a"], None));
    scene.put("a", "two");
    assert_eq!(scene.ends("2"), EditEnd::Recorded(1));
    assert_eq!(scene.ends("2"), EditEnd::NothingNew, "an agent with two hooks tells twice");
    assert_eq!(scene.ends("1"), EditEnd::NotKept);
}

#[test]
fn a_call_that_changed_nothing_makes_no_change_set() {
    let scene = AgentEditFixture::new();
    scene.put("a", "one");
    scene.begin("1", 1, (&["a", "b"], None));
    assert_eq!(scene.end("1"), None);
    assert_eq!(scene.end("1"), None, "a second end finds nothing");
    assert_eq!(scene.workspace().close_left_edits(&scene.state(), None), 0);
}

#[test]
fn an_edit_without_an_end_is_closed_when_its_agent_has_ended_or_is_in_a_later_turn() {
    let scene = AgentEditFixture::new();
    scene.put("a", "one");
    let this = AgentProcess::of(i32::try_from(std::process::id()).expect("a number"));
    scene.begin("1", 1, (&["a"], this));
    scene.put("a", "two");
    let close = |turn| scene.workspace().close_left_edits(&scene.state(), turn);
    assert_eq!(close(None), 0, "the agent lives");
    assert_eq!(close(Some(AgentTurn { run: "run", turn: 1 })), 0, "the turn goes on");
    assert_eq!(close(Some(AgentTurn { run: "other", turn: 2 })), 0, "another agent");
    assert_eq!(close(Some(AgentTurn { run: "run", turn: 2 })), 1);
    assert_eq!(scene.tools(), ["Edit (end not seen)"]);
    scene.undo(UndoSelection::Newest);
    assert_eq!(std::fs::read_to_string(scene.path("a")).expect("it is there"), "one");
}

#[test]
fn a_haft_that_was_killed_while_it_recorded_leaves_an_edit_that_the_next_one_closes() {
    let scene = AgentEditFixture::new();
    scene.put("a", "one");
    scene.begin("1", 1, (&["a"], None));
    scene.put("a", "two");
    let folder = scene.state().edits();
    let saved = folder.with_file_name("saved");
    // Killed after the record, before the contents were removed: the second recording finds the same change.
    copy_folder(&folder, &saved);
    let name = name_of("run", "1");
    crate::state::own_files::private::create_file(&saved.join(name).join(RECORDING)).expect("it is new");
    assert_eq!(scene.end("1"), Some(1));
    std::fs::remove_dir_all(&folder).expect("it is there");
    std::fs::rename(&saved, &folder).expect("it is there");
    assert_eq!(scene.end("1"), None, "the change is recorded once");
    scene.undo(UndoSelection::Newest);
    assert_eq!(std::fs::read_to_string(scene.path("a")).expect("it is there"), "one");
}

fn copy_folder(from: &Path, to: &Path) {
    crate::state::own_files::private::create_folder(to).expect("it is new");
    for entry in std::fs::read_dir(from).expect("it is there").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).expect("it can be copied");
        }
    }
}
