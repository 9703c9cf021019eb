//! Tests commands on the real folders: haft rewinds their changes into a layer, wherever it is interrupted.

use std::os::fd::AsRawFd;
use std::panic::AssertUnwindSafe;

use haft_contract::call::CallId;
use haft_contract::doors::before_image::{BeforeImage, FileImage, RECORDS, TouchRecord};
use haft_contract::doors::door::{OldChanges, Provenance, Purpose, SessionName};

use super::*;
use crate::files::Workspace;
use crate::files::change::crash_points;

/// Keeps what a command is about to touch, as the watcher in `haft-sandbox` does.
struct Watcher {
    workspace: PathBuf,
    images: PathBuf,
    next: u32,
}

impl Watcher {
    fn of(scene: &LayerFixture, ground: &LayeredGround) -> Self {
        let images = ground.roots()[0].images.as_ref().expect("it is watched");
        let images = PathBuf::from(format!("/proc/self/fd/{}", images.as_raw_fd()));
        Self { workspace: scene.workspace(), images: fs::read_link(images).expect("it is open"), next: 0 }
    }

    fn touch(&mut self, path: &str) {
        let real = self.workspace.join(path);
        let before = match real.symlink_metadata() {
            Err(_) => BeforeImage::Absent,
            Ok(facts) if facts.is_dir() => {
                BeforeImage::Folder { mode: facts.mode() & 0o7777, owner: (facts.uid(), facts.gid()) }
            }
            Ok(facts) if facts.is_symlink() => BeforeImage::Link(fs::read_link(&real).expect("it is a link").into()),
            Ok(facts) => {
                let number = self.next;
                self.next += 1;
                fs::copy(&real, self.images.join(number.to_string())).expect("it can be copied");
                BeforeImage::File(FileImage {
                    number,
                    mode: facts.mode(),
                    owner: (facts.uid(), facts.gid()),
                    inode: facts.ino(),
                    changed: (facts.ctime(), facts.ctime_nsec()),
                    is_shared: false,
                })
            }
        };
        let is_whole = !matches!(before, BeforeImage::Folder { .. });
        self.record(TouchRecord { path: path.into(), before, is_whole });
    }

    fn record(&self, record: TouchRecord) {
        let mut bytes = fs::read(self.images.join(RECORDS)).unwrap_or_default();
        record.write_to(&mut bytes);
        fs::write(self.images.join(RECORDS), bytes).expect("it can be written");
    }
}

fn errand() -> Provenance {
    Provenance {
        call: CallId::new("1"),
        tool: "bash".into(),
        session: SessionName::new("s"),
        run: "r".into(),
        turn: 1,
        purpose: Purpose { command: Some("make".into()), ..Purpose::default() },
        old_changes: OldChanges::Stay,
    }
}

fn scene() -> LayerFixture {
    let scene = LayerFixture::new(&[
        ("a", "one\n"),
        ("b", "two\n"),
        ("opened", "same\n"),
        ("d/x", "x\n"),
        ("d/e/y", "y\n"),
        ("w/x", "x\n"),
        ("w/s/y", "y\n"),
    ]);
    symlink("a", scene.workspace().join("l")).expect("it is new");
    scene
}

/// A command that changes, removes, makes and replaces, and opens a file that it leaves as it is.
fn command(scene: &LayerFixture, ground: &LayeredGround) {
    let mut watcher = Watcher::of(scene, ground);
    let ws = scene.workspace();
    watcher.touch("opened");
    watcher.touch("a");
    fs::write(ws.join("a"), "changed\n").expect("it can be written");
    watcher.touch("b");
    fs::remove_file(ws.join("b")).expect("it is there");
    for path in ["d/x", "d/e/y"] {
        watcher.touch(path);
        fs::remove_file(ws.join(path)).expect("it is there");
    }
    for path in ["d/e", "d"] {
        watcher.touch(path);
        fs::remove_dir(ws.join(path)).expect("it is empty");
    }
    fs::write(ws.join("d"), "a file now\n").expect("it can be written");
    // Another folder comes to the place of one that was removed.
    for path in ["w/x", "w/s/y"] {
        watcher.touch(path);
        fs::remove_file(ws.join(path)).expect("it is there");
    }
    for path in ["w/s", "w"] {
        watcher.touch(path);
        fs::remove_dir(ws.join(path)).expect("it is empty");
    }
    watcher.touch("w");
    fs::create_dir(ws.join("w")).expect("it is new");
    fs::write(ws.join("w/new"), "new\n").expect("it can be written");
    watcher.touch("new");
    fs::create_dir_all(ws.join("new/deep")).expect("it is new");
    fs::write(ws.join("new/deep/file"), "new\n").expect("it can be written");
    watcher.touch("l");
    fs::remove_file(ws.join("l")).expect("it is there");
}

fn settle(scene: &LayerFixture, ground: &mut LayeredGround) -> Result<CommitReport, ToolError> {
    ground.settle_watched((errand(), scene.receipts.clone(), CancellationToken::new()), Disposition::Commit)
}

fn watched(scene: &LayerFixture) -> LayeredGround {
    scene.layers.prepare(StagingMode::Watched("no layer".into()), Some(&errand())).expect("it can be prepared")
}

#[test]
fn what_a_command_changed_is_a_change_set_and_what_it_left_is_the_same_file() {
    let scene = scene();
    let before = scene.tree();
    let opened = || fs::metadata(scene.workspace().join("opened")).expect("it is there").ino();
    let inode = opened();
    let mut ground = watched(&scene);
    assert!(ground.uncovered().is_none());
    command(&scene, &ground);
    let after = scene.tree();
    settle(&scene, &mut ground).expect("it comes in");
    drop(ground);
    assert_eq!((scene.tree(), opened()), (after, inode));
    scene.undo();
    assert_eq!(scene.tree(), before);
    let watched = scene.state.watched();
    // Who removes what is left is waited for.
    drop(scene.layers);
    assert_eq!(fs::read_dir(watched).expect("it is there").count(), 0);
}

#[test]
fn what_nobody_settles_is_discarded() {
    let scene = scene();
    let before = scene.tree();
    let ground = watched(&scene);
    command(&scene, &ground);
    drop(ground);
    assert_eq!(scene.tree(), before);
}

#[test]
fn wherever_it_is_cut_off_the_next_process_finishes_it_and_undo_restores_the_files() {
    for point in 0.. {
        let scene = scene();
        let before = scene.tree();
        let mut ground = watched(&scene);
        command(&scene, &ground);
        let after = scene.tree();
        let whole = crash_points::ending_at(point, AssertUnwindSafe(|| settle(&scene, &mut ground)));
        // Only the lock goes, as with a process that is killed.
        drop(ground.watched.take());
        drop(ground);
        if whole.is_some() {
            assert!(point > 20, "there are {point} points");
            break;
        }
        let workspace = Workspace::open(&scene.workspace()).expect("it is there");
        let said = workspace.finish_left_behind(&scene.state);
        assert_eq!(said.len(), 1, "at {point}: {said:?}");
        let now = scene.tree();
        assert!(now == after || now == before && said[0].contains("lost"), "at {point}: {said:?}");
        if now == after {
            scene.undo();
        }
        assert_eq!(scene.tree(), before, "at {point}: {said:?}");
        assert_eq!(workspace.finish_left_behind(&scene.state), Vec::<String>::new(), "at {point}");
    }
}

#[test]
fn a_content_that_could_not_be_kept_is_named_and_undo_claims_nothing() {
    let scene = scene();
    let mut ground = watched(&scene);
    let mut watcher = Watcher::of(&scene, &ground);
    watcher.record(TouchRecord { path: "a".into(), before: BeforeImage::Lost("no room".into()), is_whole: false });
    scene.write("a", "changed\n");
    watcher.touch("b");
    scene.write("b", "changed too\n");
    let settled = settle(&scene, &mut ground).expect("it comes in");
    assert!(settled.notes.iter().any(|note| note.contains("a (no room)")), "{settled:?}");
    let is_unknown = |receipt: &haft_contract::doors::door::Receipt| {
        matches!(receipt, haft_contract::doors::door::Receipt::Ran { uncovered: Some(_), .. })
    };
    assert!(scene.receipts.so_far().iter().any(is_unknown));
    assert_eq!(fs::read_to_string(scene.workspace().join("a")).expect("it is there"), "changed\n");
}

#[test]
fn changes_that_cannot_be_recorded_are_unknown_and_not_nothing() {
    let scene = scene();
    let mut ground = watched(&scene);
    command(&scene, &ground);
    fs::remove_dir(Watcher::of(&scene, &ground).images.with_file_name("upper")).expect("it is empty");
    let error = settle(&scene, &mut ground).expect_err("there is no layer");
    assert!(error.what.starts_with("The command ran, and haft could not record"), "{}", error.what);
    let is_unknown = |receipt: &haft_contract::doors::door::Receipt| {
        matches!(receipt, haft_contract::doors::door::Receipt::Ran { uncovered: Some(_), .. })
    };
    assert!(scene.receipts.so_far().iter().any(is_unknown));
}
