//! Tests that every change of an ignored tree is committed by rename, and that undo restores it exactly.

use std::time::{Duration, SystemTime};

use super::*;
use crate::files::change::crash_points;
use crate::files::change::transaction;
use crate::history::TakenBack;

fn target_scene() -> LayerFixture {
    let files = [
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".gitignore", "target\nnode_modules\n"),
        ("src/a", "source"),
        ("target/debug/app", "old app"),
        ("target/debug/deps/one.o", "one"),
        ("target/debug/deps/two.o", "two"),
        ("web/node_modules/p/index.js", "p"),
        ("web/package.json", "{}"),
    ];
    let scene = LayerFixture::new(&files);
    let past = SystemTime::now() - Duration::from_secs(3_600);
    for (path, _) in files {
        let file = fs::File::options().write(true).open(scene.workspace().join(path)).expect("it is there");
        file.set_modified(past).expect("it is ours");
    }
    scene
}

/// Everything with its number and time: what was moved and came back is the very same.
fn exact(scene: &LayerFixture) -> BTreeMap<String, (String, u64, i64)> {
    let one = |(path, line): (String, String)| {
        let facts = scene.workspace().join(&path).symlink_metadata().expect("it is there");
        let is_exact = path.starts_with("target") && !facts.is_dir();
        let (inode, time) = if is_exact { (facts.ino(), facts.mtime_nsec() + facts.mtime()) } else { (0, 0) };
        (path, (line, inode, time))
    };
    scene.tree().into_iter().map(one).collect()
}

/// Lets a command of its own work, and brings in what it did.
fn run(scene: &mut LayerFixture, command: impl FnOnce(&Upper)) -> CommitReport {
    scene.receipts = Receipts::default();
    scene.run(command)
}

fn undo(scene: &LayerFixture, which: UndoSelection) -> TakenBack {
    WorkspaceHistory::new(scene.root.clone(), scene.state.journal()).undo(which, None).expect("it can be undone")
}

fn redo(scene: &LayerFixture) -> TakenBack {
    WorkspaceHistory::new(scene.root.clone(), scene.state.journal()).redo().expect("it can be redone")
}

/// Stands for a command that changes a tree in its layer.
type TreeCommand = fn(&Upper);

/// What commands do to trees, with the number of changes that they name.
const COMMANDS: &[(&str, TreeCommand)] = &[
    ("change", |upper| {
        upper.write("target/debug/app", "new app");
        upper.write("target/debug/deps/three.o", "three");
        upper.gone("target/debug/deps/one.o");
        upper.write("src/a", "edited");
    }),
    ("remove", |upper| upper.gone("target")),
    ("replace the folder", |upper| {
        upper.opaque("target");
        upper.write("target/fresh", "fresh");
    }),
    ("an empty folder", |upper| upper.opaque("target/debug")),
    ("a file in its place", |upper| upper.write("target", "a file")),
    ("a link in its place", |upper| upper.link("target", "elsewhere")),
    ("remove what holds it", |upper| upper.gone("web")),
    ("a file where what held it was", |upper| upper.write("web", "a file")),
    ("replace what holds it", |upper| {
        upper.opaque("web");
        upper.write("web/package.json", "[]");
        upper.write("web/node_modules/q/index.js", "q");
    }),
    ("several", |upper| {
        upper.gone("target/debug/deps");
        upper.write("web/node_modules/p/index.js", "changed");
        upper.write("lib/node_modules/x", "x");
    }),
    ("modes", |upper| {
        upper.folder("target/debug/deps");
        upper.mode("target/debug/deps", 0o700);
        upper.write("target/debug/deps/one.o", "one");
        upper.mode("target/debug/deps/one.o", 0o755);
    }),
];

#[test]
fn undo_restores_a_tree_exactly_and_redo_brings_the_change_back() {
    for (name, command) in COMMANDS {
        let mut scene = target_scene();
        let before = exact(&scene);
        run(&mut scene, command);
        let after = exact(&scene);
        assert_ne!(after, before, "{name}");
        for _ in 0..2 {
            undo(&scene, UndoSelection::Newest);
            assert_eq!(exact(&scene), before, "{name}: undo");
            redo(&scene);
            assert_eq!(exact(&scene), after, "{name}: redo");
        }
    }
}

#[test]
fn changes_one_after_the_other_are_undone_one_after_the_other_and_together() {
    for (first, one) in COMMANDS {
        let mut scene = target_scene();
        let before = exact(&scene);
        run(&mut scene, one);
        let between = exact(&scene);
        // What took the place of a tree is an ordinary file or link.
        let is_folder = |path: &str| scene.workspace().join(path).symlink_metadata().is_ok_and(|facts| facts.is_dir());
        if !is_folder("target") || !is_folder("web") {
            continue;
        }
        run(&mut scene, |upper| {
            upper.write("target/debug/later", "later");
            upper.write("web/node_modules/p/later", "later");
        });
        undo(&scene, UndoSelection::Newest);
        assert_eq!(exact(&scene), between, "{first}");
        undo(&scene, UndoSelection::Newest);
        assert_eq!(exact(&scene), before, "{first}");
        redo(&scene);
        redo(&scene);
        undo(&scene, UndoSelection::Session);
        assert_eq!(exact(&scene), before, "{first}: together");
    }
}

#[test]
fn what_another_program_changed_while_the_command_ran_stays() {
    for (name, command) in COMMANDS {
        let scene = target_scene();
        let settled = scene.run(|upper| {
            command(upper);
            scene.write("target/debug/deps/one.o", "theirs");
            scene.write("target/debug/deps/new.o", "theirs too");
        });
        assert_eq!(scene.content("target/debug/deps/one.o"), "theirs", "{name}: {:?}", settled.notes);
        assert_eq!(scene.content("target/debug/deps/new.o"), "theirs too", "{name}");
        assert!(!scene.tree().keys().any(|path| path.contains("kept-by-haft")), "{name}");
        if settled.changes.is_empty() {
            continue;
        }
        scene.undo();
        assert_eq!(scene.content("target/debug/deps/one.o"), "theirs", "{name}");
        assert_eq!(scene.content("target/debug/deps/new.o"), "theirs too", "{name}");
        assert_eq!(scene.content("target/debug/app"), "old app", "{name}");
    }
}

#[test]
fn the_result_counts_what_stays() {
    let scene = target_scene();
    let settled = scene.run(|upper| {
        upper.write("target/debug/deps/one.o", "ours");
        upper.write("target/debug/app", "ours");
        scene.write("target/debug/deps/one.o", "theirs");
    });
    let note = "target: 1 entry was changed by another call or program meanwhile; haft kept that version.";
    assert_eq!(settled.notes, [note]);
    assert_eq!(scene.content("target/debug/app"), "ours");
}

#[test]
fn a_tree_of_which_everything_stays_is_no_change() {
    let scene = target_scene();
    let settled = scene.run(|upper| {
        upper.write("target/debug/app", "ours");
        upper.write("target/debug/deps/one.o", "ours");
        scene.write("target/debug/app", "theirs");
        scene.write("target/debug/deps/one.o", "theirs");
    });
    let note = "target: 2 entries were changed by another call or program meanwhile; haft kept that version.";
    assert_eq!(settled.notes, [note]);
    assert!(settled.changes.is_empty(), "{:?}", settled.changes);
    assert_eq!(scene.content("target/debug/app"), "theirs");
}

#[test]
fn what_was_changed_since_stays_when_the_change_is_undone() {
    for (name, command) in COMMANDS {
        let scene = target_scene();
        scene.run(command);
        // Another program builds; where a file or link is by now, it cannot.
        if scene.workspace().join("target").symlink_metadata().is_ok_and(|facts| !facts.is_dir()) {
            continue;
        }
        scene.write("target/debug/app", "built since");
        scene.write("target/debug/deps/since.o", "since");
        undo(&scene, UndoSelection::Newest);
        assert_eq!(scene.content("target/debug/app"), "built since", "{name}");
        assert_eq!(scene.content("target/debug/deps/since.o"), "since", "{name}");
        assert_eq!(scene.content("target/debug/deps/two.o"), "two", "{name}");
        assert_eq!(scene.content("src/a"), "source", "{name}");
    }
}

#[test]
fn an_older_change_is_undone_below_a_newer_one_which_stays() {
    let mut scene = target_scene();
    run(&mut scene, |upper| {
        upper.write("target/debug/app", "first");
        upper.gone("target/debug/deps/one.o");
        upper.write("src/a", "edited");
    });
    run(&mut scene, |upper| upper.write("target/debug/app", "second"));
    let undone = undo(&scene, UndoSelection::Number(1));
    assert_eq!(
        (scene.content("target/debug/app"), scene.content("target/debug/deps/one.o")),
        ("second".into(), "one".into())
    );
    assert_eq!(scene.content("src/a"), "source");
    assert_eq!(undone.notes, ["target: 1 entry was changed since; haft kept the newest version."]);
}

#[test]
fn a_file_that_was_only_opened_is_no_change() {
    let scene = target_scene();
    let settled = scene.run(|upper| {
        upper.write("target/debug/app", "old app");
        let (from, to) = (scene.workspace().join("target/debug/app"), upper.0.join("target/debug/app"));
        let time = fs::metadata(from).and_then(|facts| facts.modified()).expect("it is there");
        fs::File::options().write(true).open(&to).and_then(|file| file.set_modified(time)).expect("it is ours");
        rustix::fs::setxattr(&to, "user.overlay.origin", b"", XattrFlags::empty()).expect("there are attributes");
    });
    assert_eq!((settled.changes.len(), settled.notes.len()), (0, 0), "{settled:?}");
    let touched = scene.run(|upper| upper.write("target/debug/app", "old app"));
    assert_eq!(touched.changes.len(), 1, "a new time is a change: builds go by it");
}

/// Returns what is in the folder of stores.
fn stores(scene: &LayerFixture) -> Vec<String> {
    let entries = fs::read_dir(scene.state.journal().trees()).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_kill_at_any_point_leaves_the_old_or_the_new_tree_and_nothing_else() {
    for (name, command) in COMMANDS {
        for point in 0.. {
            let scene = target_scene();
            let (before, ground) = (scene.tree(), scene.ground());
            command(&Upper(upper_of(&ground)));
            let done =
                crash_points::ending_at(point, || scene.settling(&ground, Disposition::Commit).expect("it comes in"));
            drop(ground);
            transaction::recover(&scene.root, &scene.state.journal()).expect("it can be settled");
            let now = scene.tree();
            if done.is_some() {
                assert!(point > 2, "{name}: it had {point} points");
                break;
            }
            let log = WorkspaceHistory::new(scene.root.clone(), scene.state.journal()).log().expect("it can be read");
            match log.sets.len() {
                0 => {
                    assert_eq!(now, before, "{name}: killed at {point}");
                    assert_eq!(stores(&scene), Vec::<String>::new(), "{name}: killed at {point}");
                }
                _ => {
                    scene.undo();
                    assert_eq!(scene.tree(), before, "{name}: killed at {point}, then undone");
                }
            }
        }
    }
}

#[test]
fn a_kill_in_an_undo_leaves_the_old_or_the_new_tree() {
    for (name, command) in COMMANDS {
        for point in 0.. {
            let scene = target_scene();
            let before = scene.tree();
            scene.run(command);
            let after = scene.tree();
            let done = crash_points::ending_at(point, || scene.undo());
            transaction::recover(&scene.root, &scene.state.journal()).expect("it can be settled");
            let now = scene.tree();
            assert!(now == before || now == after, "{name}: killed at {point}: {now:#?}");
            if done.is_some() {
                assert_eq!(now, before, "{name}");
                break;
            }
            if now == after {
                scene.undo();
                assert_eq!(scene.tree(), before, "{name}: killed at {point}, then undone");
            }
        }
    }
}

#[test]
fn a_tree_of_a_layer_in_memory_is_copied_and_undone() {
    for (name, command) in COMMANDS {
        let scene = target_scene();
        let before = exact(&scene);
        let ground =
            scene.layers.prepare(StagingMode::LayeredInMemory("the disk does not".into()), None).expect("it can be");
        command(&Upper(upper_of(&ground)));
        scene.settling(&ground, Disposition::Commit).expect("it comes in");
        let after = exact(&scene);
        scene.undo();
        assert_eq!(exact(&scene), before, "{name}");
        redo(&scene);
        assert_eq!(exact(&scene), after, "{name}");
    }
}

#[test]
fn what_is_only_shown_changes_no_tree() {
    let scene = target_scene();
    let before = exact(&scene);
    for (_, command) in COMMANDS {
        scene.show(command);
        assert_eq!(exact(&scene), before);
    }
}

#[test]
fn stores_keep_within_their_room_and_an_evicted_tree_is_told() {
    let mut scene = target_scene();
    let state = scene.state.clone();
    let limits = crate::state::JournalLimits { trees: 10_000, ..Default::default() };
    let state = state.with_journal_limits(limits);
    scene.layers = Arc::new(Layers::new(scene.root.clone(), Arc::new(state.journal()), &state));
    for content in ["one", "two", "three"] {
        run(&mut scene, |upper| {
            upper.write("target/debug/app", &content.repeat(2_000));
            upper.write("src/a", content);
        });
    }
    assert_eq!(stores(&scene).len(), 1, "the newest stays");
    undo(&scene, UndoSelection::Newest);
    assert_eq!((scene.content("src/a").as_str(), scene.content("target/debug/app").len()), ("two", 6_000));
    let warnings =
        WorkspaceHistory::new(scene.root.clone(), scene.state.journal()).log().expect("it can be read").warnings;
    assert!(
        warnings[0].starts_with("The content of build folders before change sets up to 2 is no longer kept"),
        "{warnings:?}"
    );
    let undone = undo(&scene, UndoSelection::Newest);
    assert_eq!(scene.content("src/a"), "one");
    assert_eq!(undone.notes, ["The old content of target is no longer kept; it stays unchanged."]);
}

/// Copies a folder of the workspace into a layer, as a move does.
fn moved(scene: &LayerFixture, upper: &Upper, from: &str, to: &str) {
    upper.gone(from);
    upper.folders_above(&format!("{to}/x"));
    copy(&scene.workspace().join(from), &upper.0.join(to));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("it can be made");
    for entry in fs::read_dir(from).expect("it is there").flatten() {
        let (source, copied) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy(&source, &copied);
        } else {
            fs::copy(&source, &copied).expect("it can be copied");
            let time = entry.metadata().and_then(|facts| facts.modified()).expect("it is there");
            let file = fs::File::options().write(true).open(&copied).expect("it is ours");
            file.set_modified(time).expect("it is ours");
        }
    }
}

#[test]
fn a_folder_that_was_moved_as_a_whole_is_one_move_in_the_journal() {
    for (from, to) in [("target", "target.old"), ("src", "lib/source"), ("web", "site"), ("target", "node_modules")] {
        let scene = target_scene();
        for number in 0..200 {
            scene.write(&format!("{from}/many/{number}"), "one of many");
        }
        let before = exact(&scene);
        let inode = |path: &str| scene.workspace().join(path).metadata().map(|facts| facts.ino()).ok();
        let old = inode(from);
        let settled = scene.run(|upper| moved(&scene, upper, from, to));
        let told: Vec<String> =
            settled.changes.iter().map(|change| format!("{:?} {}", change.from, change.target)).collect();
        assert!(settled.changes.iter().any(|change| change.from.is_some()), "{from} to {to}: {told:?}");
        assert_eq!((inode(to), inode(from)), (old, None), "{from} to {to}");
        let log = WorkspaceHistory::new(scene.root.clone(), scene.state.journal()).log().expect("it can be read");
        assert!(log.sets[0].files.len() <= 3, "{:?}", log.sets[0].files);
        scene.undo();
        assert_eq!(exact(&scene), before, "{from} to {to}");
    }
}

#[test]
fn a_folder_that_was_moved_and_changed_is_no_move() {
    for changed in ["target.old/debug/app", "target.old/debug/more"] {
        let scene = target_scene();
        for number in 0..200 {
            scene.write(&format!("target/many/{number}"), "one of many");
        }
        let before = exact(&scene);
        let settled = scene.run(|upper| {
            moved(&scene, upper, "target", "target.old");
            upper.write(changed, "other");
        });
        assert!(settled.changes.iter().all(|change| change.from.is_none()));
        assert_eq!((scene.content(changed).as_str(), scene.has("target")), ("other", false));
        scene.undo();
        assert_eq!(exact(&scene), before);
    }
}

#[test]
fn a_move_of_a_folder_in_which_another_program_worked_loses_nothing() {
    let scene = target_scene();
    scene.run(|upper| {
        moved(&scene, upper, "target", "target.old");
        scene.write("target/debug/app", "theirs");
    });
    assert_eq!(scene.content("target/debug/app"), "theirs");
    assert_eq!(scene.content("target.old/debug/deps/one.o"), "one");
}

#[test]
fn a_new_folder_stays_when_its_tree_was_worked_in_since() {
    let scene = target_scene();
    scene.run(|upper| {
        upper.write("app/node_modules/x", "x");
        upper.write("app/package.json", "{}");
    });
    scene.write("app/node_modules/since", "since");
    undo(&scene, UndoSelection::Newest);
    assert_eq!(scene.content("app/node_modules/since"), "since");
    assert!(!scene.has("app/node_modules/x") && !scene.has("app/package.json"));
}

#[test]
fn a_disk_that_is_full_at_any_step_leaves_the_old_tree_and_the_result_says_so() {
    for (name, command) in COMMANDS {
        for fault in 0.. {
            let scene = target_scene();
            let before = exact(&scene);
            let outcome = crash_points::failing_at(fault, || scene.try_run(command));
            let Err(error) = outcome else {
                assert!(fault > 2, "{name}: it had {fault} steps");
                scene.undo();
                assert_eq!(exact(&scene), before, "{name}");
                break;
            };
            let words = error.to_string();
            assert!(
                words.contains("the workspace is unchanged") && words.contains("no storage space"),
                "{name}: {words}"
            );
            assert_eq!(scene.tree(), scene_lines(&before), "{name}: full at {fault}");
            assert_eq!(stores(&scene), Vec::<String>::new(), "{name}: full at {fault}");
            let log = WorkspaceHistory::new(scene.root.clone(), scene.state.journal()).log().expect("it can be read");
            assert_eq!(log.sets.len(), 0, "{name}: full at {fault}");
        }
    }
}

/// The same without numbers and times: a source file that was written and reverted is another one.
fn scene_lines(tree: &BTreeMap<String, (String, u64, i64)>) -> BTreeMap<String, String> {
    tree.iter().map(|(path, (line, ..))| (path.clone(), line.clone())).collect()
}
