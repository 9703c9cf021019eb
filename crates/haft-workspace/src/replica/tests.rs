use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use haft_contract::call::CallId;
use haft_contract::doors::door::{FileOp, Permit, PermitIssuer, Provenance, SessionName};
use haft_contract::effect::{Change, Effect};
use haft_contract::files::path::{Extent, FileLocation, Target};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::files::Workspace;
use crate::state::WorkspaceState;

/// A workspace with its state beside it, and room for copies.
struct ReplicaFixture {
    folder: tempfile::TempDir,
}

impl ReplicaFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for name in ["ws", "copies"] {
            std::fs::create_dir(folder.path().join(name)).expect("it is new");
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("ws").join(name)
    }

    fn put(&self, name: &str, content: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("it lies in the workspace")).expect("folders can be made");
        std::fs::write(path, content).expect("it can be written");
    }

    fn original(&self) -> Original {
        Original { folder: self.path(""), left_out: Vec::new(), limits: CopyLimits::default() }
    }

    fn copy(&self) -> Replica {
        Replica::of(&self.original(), &self.folder.path().join("copies"), &|| false).expect("it can be copied")
    }

    fn state(&self) -> WorkspaceState {
        WorkspaceState::new(&self.folder.path().join("state"), Path::new("ws"))
    }

    /// Writes a file as a call of this session does.
    async fn write(&self, session: &str, name: &str, content: &str) {
        let root = Target::Inside(FileLocation::new("", Extent::Tree));
        let effects = [Change::Create, Change::Replace].map(|change| Effect::Change(root.clone(), change));
        let errand = Provenance {
            call: CallId::fresh(),
            tool: "write_file".into(),
            session: SessionName::new(session),
            run: session.into(),
            turn: 1,
            purpose: haft_contract::doors::door::Purpose::default(),
            old_changes: haft_contract::doors::door::OldChanges::Stay,
        };
        let permit = Permit::issue(&PermitIssuer::of_the_runtime(), errand, effects.into(), CancellationToken::new());
        let target = Target::Inside(FileLocation::new(name, Extent::Entry));
        let doors = Workspace::open(&self.path("")).expect("it is there").doors(&self.state());
        let written = doors.files.change(&permit, &[FileOp::Put(target, Bytes::from(content.to_owned()))]).await;
        written.expect("it can be written");
    }

    fn back(&self, replica: &Replica, at_ms: u64, session: &str) -> Back {
        let moment = SessionBeginning { at_ms, session: session.to_owned() };
        replica.back_to(&moment, &self.path(""), &self.state()).expect("the journal can be read")
    }
}

fn text(replica: &Replica, name: &str) -> String {
    std::fs::read_to_string(replica.workspace().join(name)).unwrap_or_else(|_| "(none)".into())
}

#[test]
fn a_copy_has_links_as_links_and_modes_and_times_as_they_are() {
    let ground = ReplicaFixture::new();
    ground.put("src/a.sh", "echo a\n");
    symlink("/etc/passwd", ground.path("link")).expect("it is new");
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(ground.path("src/a.sh"), mode(0o750)).expect("it is ours");
    std::fs::set_permissions(ground.path("src"), mode(0o555)).expect("it is ours");
    let replica = ground.copy();
    let facts =
        |path: &Path| path.symlink_metadata().map(|facts| (facts.mode(), facts.modified().expect("it has one")));
    for name in ["src/a.sh", "src"] {
        assert_eq!(facts(&replica.workspace().join(name)).ok(), facts(&ground.path(name)).ok(), "{name}");
    }
    assert_eq!(std::fs::read_link(replica.workspace().join("link")).ok(), Some("/etc/passwd".into()));
    assert_eq!((replica.entries, replica.bytes, replica.not_copied.as_slice()), (3, 7, &[][..]));
    let path = replica.path().to_owned();
    drop(replica);
    assert!(!path.exists(), "it goes, whatever the modes in it were");
    std::fs::set_permissions(ground.path("src"), mode(0o755)).expect("it is ours");
}

#[test]
fn what_cannot_be_copied_is_named() {
    let ground = ReplicaFixture::new();
    ground.put("a", "a");
    ground.put("state/secret", "s");
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
    rustix::fs::mknodat(rustix::fs::CWD, ground.path("pipe"), kind, mode, 0).expect("it is new");
    let original = Original { left_out: vec![ground.path("state")], ..ground.original() };
    let replica = Replica::of(&original, &ground.folder.path().join("copies"), &|| false).expect("it can be copied");
    let mut not_copied = replica.not_copied.clone();
    not_copied.sort();
    let named = [("pipe", "it is a pipe"), ("state", "it belongs to haft")];
    assert_eq!(not_copied, named.map(|(name, why)| (PathBuf::from(name), why.to_owned())));
    assert_eq!((text(&replica, "a"), text(&replica, "state/secret")), ("a".into(), "(none)".into()));
}

#[test]
fn what_belongs_to_haft_is_not_copied_whatever_way_leads_there() {
    let ground = ReplicaFixture::new();
    ground.put("a", "a");
    ground.put("config/haft/keys.toml", "k");
    let (link, copies) = (ground.folder.path().join("link"), ground.folder.path().join("copies"));
    symlink(ground.path(""), &link).expect("it is new");
    let left_out = vec![link.join("config/haft"), link.join("state/haft")];
    let original = Original { left_out, ..ground.original() };
    let replica = Replica::of(&original, &copies, &|| false).expect("it can be copied");
    assert_eq!(replica.not_copied, [(PathBuf::from("config/haft"), "it belongs to haft".to_owned())]);
    assert!(!replica.workspace().join("config/haft").exists());
    let counterpart = |path: &Path| replica.counterpart(&ground.path(""), path);
    assert_eq!(counterpart(&link.join("state/haft")), Some(replica.workspace().join("state/haft")));
    assert_eq!(counterpart(&copies), None);
    for folder in [ground.path("config/haft"), link.join("config/haft")] {
        let own = Replica::of(&Original { folder, ..original.clone() }, &copies, &|| false);
        assert!(matches!(own, Err(ReplicaError::Own(_))));
    }
}

#[test]
fn too_much_is_an_error_before_anything_is_copied() {
    let ground = ReplicaFixture::new();
    ground.put("a", "12345");
    ground.put("b", "12345");
    let copies = ground.folder.path().join("copies");
    let tried = |entries, bytes| {
        let original = Original { limits: CopyLimits { entries, bytes }, ..ground.original() };
        Replica::of(&original, &copies, &|| false).map(drop)
    };
    assert!(matches!(tried(1, 100), Err(ReplicaError::TooMuch(..))));
    assert!(matches!(tried(100, 9), Err(ReplicaError::TooMuch(..))));
    assert!(tried(2, 10).is_ok());
    let stopped = Replica::of(&ground.original(), &copies, &|| true);
    assert!(matches!(stopped, Err(ReplicaError::Stopped)));
    assert_eq!(std::fs::read_dir(&copies).expect("it is there").count(), 0);
}

#[test]
fn a_copy_is_stopped_inside_a_large_file_and_nothing_is_left() {
    let ground = ReplicaFixture::new();
    std::fs::write(ground.path("large"), vec![7; 40 * 1024 * 1024]).expect("it can be written");
    let copies = ground.folder.path().join("copies");
    let asked = std::cell::Cell::new(0);
    let stopped = || {
        asked.set(asked.get() + 1);
        asked.get() == 4
    };
    let copied = Replica::of(&ground.original(), &copies, &stopped);
    // Once while it was counted, once before it, and between its pieces.
    assert!(matches!(copied, Err(ReplicaError::Stopped)), "{copied:?}");
    assert_eq!(std::fs::read_dir(&copies).expect("it is there").count(), 0);
    let whole = ground.copy();
    assert!(std::fs::read(whole.workspace().join("large")).expect("it is there") == vec![7; 40 * 1024 * 1024]);
}

#[test]
fn holes_stay_holes() {
    use std::os::unix::fs::FileExt;
    let ground = ReplicaFixture::new();
    let file = std::fs::File::create(ground.path("disk")).expect("it is new");
    file.write_all_at(b"begin", 0).expect("it can be written");
    file.write_all_at(b"middle", 1 << 29).expect("it can be written");
    file.set_len((1 << 30) + 3).expect("it can be long");
    std::fs::File::create(ground.path("empty")).expect("it is new");
    std::fs::File::create(ground.path("hole")).and_then(|file| file.set_len(5_000)).expect("it is new");
    let replica = ground.copy();
    let copied = std::fs::File::open(replica.workspace().join("disk")).expect("it is there");
    let facts = copied.metadata().expect("it is open");
    assert_eq!(facts.len(), (1 << 30) + 3);
    assert!(facts.blocks() * 512 < 1 << 24, "{} blocks", facts.blocks());
    let mut middle = [0; 8];
    copied.read_exact_at(&mut middle, (1 << 29) - 1).expect("it is so long");
    assert_eq!(&middle, b"\0middle\0");
    let length = |name: &str| replica.workspace().join(name).metadata().expect("it is there").len();
    assert_eq!((length("empty"), length("hole")), (0, 5_000));
}

#[test]
fn copies_whose_owners_are_gone_are_removed_by_the_next_and_others_stay() {
    let ground = ReplicaFixture::new();
    ground.put("a", "a");
    let alive = ground.copy();
    let name = |name: &str| ground.folder.path().join("copies").join(name);
    std::fs::create_dir_all(name("haft-replay-gone/workspace/src")).expect("it is new");
    let locked = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(name("haft-replay-gone/workspace/src"), locked).expect("it is ours");
    std::fs::create_dir(name("haft-other")).expect("it is new");
    std::fs::write(name("haft-replay-file"), "").expect("it is new");
    symlink(ground.path(""), name("haft-replay-link")).expect("it is new");
    let next = ground.copy();
    assert_eq!((alive.abandoned, next.abandoned), (0, 1));
    assert!(!name("haft-replay-gone").exists());
    assert!(name("haft-other").exists() && name("haft-replay-file").exists() && name("haft-replay-link").exists());
    assert_eq!((text(&alive, "a"), text(&next, "a")), ("a".into(), "a".into()));
    assert!(ground.path("a").exists());
}

#[tokio::test]
async fn a_copy_goes_back_to_where_a_session_began_and_the_original_stays() {
    let ground = ReplicaFixture::new();
    ground.put("a.txt", "first\n");
    ground.put("old.txt", "old\n");
    ground.write("before", "kept.txt", "kept\n").await;
    ground.write("mine", "a.txt", "second\n").await;
    ground.write("mine", "new/b.txt", "new\n").await;
    ground.write("other", "a.txt", "third\n").await;
    // A program changed one of them without haft. That does not matter: the journal knows its old content.
    ground.put("a.txt", "by hand\n");
    let replica = ground.copy();
    let back = ground.back(&replica, u64::MAX, "mine");
    assert_eq!((text(&replica, "a.txt").as_str(), text(&replica, "kept.txt").as_str()), ("first\n", "kept\n"));
    assert!(!replica.workspace().join("new").exists(), "a folder that was made goes too");
    assert_eq!((back.sets.as_slice(), back.of_others.as_slice()), (&[4, 3, 2][..], &[4][..]));
    assert!(back.not_back.is_empty() && back.notes.is_empty(), "{back:?}");
    assert_eq!(std::fs::read_to_string(ground.path("a.txt")).expect("it is there"), "by hand\n");
    assert!(ground.path("new/b.txt").exists());
}

#[tokio::test]
async fn what_changed_without_haft_is_named() {
    let ground = ReplicaFixture::new();
    ground.put("a.txt", "first\n");
    ground.write("mine", "b.txt", "b\n").await;
    let replica = ground.copy();
    let back = ground.back(&replica, 0, "mine");
    assert_eq!(back.changed_otherwise, [PathBuf::from("a.txt")]);
    assert_eq!(ground.back(&replica, u64::MAX, "nobody"), Back::default());
}

#[tokio::test]
async fn a_link_that_came_later_is_not_followed_on_the_way_back() {
    let ground = ReplicaFixture::new();
    ground.put("sub/a.txt", "first\n");
    ground.write("mine", "sub/a.txt", "second\n").await;
    let elsewhere = ground.folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("it is new");
    std::fs::remove_dir_all(ground.path("sub")).expect("it is ours");
    symlink(&elsewhere, ground.path("sub")).expect("it is gone");
    let replica = ground.copy();
    ground.back(&replica, u64::MAX, "mine");
    assert_eq!(text(&replica, "sub/a.txt"), "first\n");
    assert_eq!(std::fs::read_dir(&elsewhere).expect("it is there").count(), 0);
}
