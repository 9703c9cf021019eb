//! Tests every kind of change that a layer can hold.

use super::*;

#[test]
fn new_replaced_and_removed_files_come_in_and_are_taken_back() {
    let scene = LayerFixture::new(&[("a", "a\n"), ("src/b", "b\n"), ("src/c", "c\n")]);
    let command = |upper: &Upper| {
        upper.write("a", "other\n");
        upper.gone("src/b");
        upper.write("new/d", "d\n");
    };
    scene.check(command, &["create new/d", "remove src/b", "replace a"]);
}

#[test]
fn what_was_opened_for_writing_and_not_changed_is_no_change() {
    let scene = LayerFixture::new(&[("a", "a\n"), ("src/b", "b\n")]);
    symlink("a", scene.workspace().join("l")).expect("it is new");
    let settled = scene.run(|upper| {
        upper.write("a", "a\n");
        upper.link("l", "a");
        upper.folder("src");
    });
    assert_eq!(settled, CommitReport::default());
    assert!(scene.receipts.change_set().is_none());
}

#[test]
fn a_mode_alone_is_a_change() {
    let scene = LayerFixture::new(&[("run.sh", "#!/bin/sh\n"), ("src/b", "b")]);
    let command = |upper: &Upper| {
        upper.write("run.sh", "#!/bin/sh\n");
        upper.mode("run.sh", 0o755);
        upper.folder("src");
        upper.mode("src", 0o700);
    };
    scene.check(command, &["replace run.sh", "replace src"]);
}

/// Modes before a command and after it; what the file has then, and whether the result says that bits stayed out.
const SET_ID_MODES: &[(u32, u32, u32, bool)] = &[
    (0o4755, 0o755, 0o755, false),
    (0o2755, 0o755, 0o755, false),
    (0o6755, 0o755, 0o755, false),
    (0o6755, 0o4755, 0o4755, false),
    (0o6755, 0o2755, 0o2755, false),
    (0o4755, 0o644, 0o644, false),
    (0o4755, 0o4755, 0o4755, false),
    (0o4700, 0o4755, 0o755, true),
    (0o755, 0o4755, 0o755, true),
    (0o755, 0o2755, 0o755, true),
    (0o644, 0o6755, 0o755, true),
    (0o4755, 0o6755, 0o4755, true),
    (0o4755, 0o2755, 0o755, true),
    (0o1644, 0o644, 0o644, false),
];

#[test]
fn a_command_takes_set_id_bits_away_and_never_sets_them() {
    for (before, upper_mode, after, is_told) in SET_ID_MODES.iter().copied() {
        let row = format!("{before:o} -> {upper_mode:o}");
        let scene = LayerFixture::new(&[("run", "x\n")]);
        scene.mode("run", before);
        let old = scene.tree();
        let settled = scene.run(|upper| {
            upper.write("run", "x\n");
            upper.mode("run", upper_mode);
        });
        assert_eq!(scene.tree()["run"], format!("file {after:o} x\n"), "{row}");
        let expected: &[&str] = if before == after { &[] } else { &["replace run"] };
        assert_eq!(changed(&settled), expected, "{row}");
        let words = "Kept without the bits that let a program run as its owner or group: run.";
        assert_eq!(settled.notes.iter().any(|note| note == words), is_told, "{row}: {:?}", settled.notes);
        if before != after {
            scene.undo();
            assert_eq!(scene.tree(), old, "{row}");
        }
    }
}

#[test]
fn a_new_content_comes_without_set_id_bits_and_undo_restores_them() {
    let scene = LayerFixture::new(&[("run", "x\n")]);
    scene.mode("run", 0o4755);
    scene.check(|upper| upper.write("run", "y\n"), &["replace run"]);
}

#[test]
fn folders_lose_the_bits_that_a_command_takes_away() {
    for (before, upper_mode, after) in [(0o6755, 0o755, 0o755), (0o4755, 0o755, 0o755), (0o755, 0o4755, 0o755)] {
        let scene = LayerFixture::new(&[("d/a", "a\n")]);
        scene.mode("d", before);
        let old = scene.tree();
        scene.run(|upper| {
            upper.folder("d");
            upper.mode("d", upper_mode);
        });
        assert_eq!(scene.tree()["d"], format!("folder {after:o}"), "{before:o} -> {upper_mode:o}");
        if before != after {
            scene.undo();
            assert_eq!(scene.tree(), old, "{before:o} -> {upper_mode:o}");
        }
    }
}

#[test]
fn a_removed_folder_goes_with_everything_in_it() {
    let scene = LayerFixture::new(&[("d/a", "a"), ("d/e/f/b", "b"), ("x", "x")]);
    symlink("nowhere", scene.workspace().join("d/l")).expect("it is new");
    fs::create_dir(scene.workspace().join("empty")).expect("it is new");
    let command = |upper: &Upper| {
        upper.gone("d");
        upper.gone("empty");
    };
    scene.check(command, &["remove d/a", "remove d/e/f/b", "remove d/l", "remove empty"]);
}

#[test]
fn a_folder_that_was_made_anew_hides_what_was_in_it() {
    let scene = LayerFixture::new(&[("d/a", "a"), ("d/e/b", "b"), ("d/e/c", "c")]);
    let command = |upper: &Upper| {
        upper.opaque("d");
        upper.write("d/e/c", "c");
        upper.write("d/n", "n");
    };
    scene.check(command, &["create d/n", "remove d/a", "remove d/e/b"]);
}

#[test]
fn one_kind_of_thing_may_come_in_the_place_of_another() {
    let scene =
        LayerFixture::new(&[("file", "f"), ("folder/a", "a"), ("folder/b/c", "c"), ("other", "o"), ("tolink/x", "x")]);
    symlink("file", scene.workspace().join("link")).expect("it is new");
    let command = |upper: &Upper| {
        upper.opaque("file");
        upper.write("file/inner", "i");
        upper.write("folder", "now a file");
        upper.write("link", "now a file");
        upper.link("other", "file");
        upper.link("tolink", "folder");
    };
    scene.check(
        command,
        &[
            "create file/inner",
            "remove folder/a",
            "remove folder/b/c",
            "remove tolink/x",
            "replace file",
            "replace folder",
            "replace link",
            "replace other",
            "replace tolink",
        ],
    );
}

#[test]
fn links_come_in_as_they_are_wherever_they_lead() {
    let scene = LayerFixture::new(&[("a", "a")]);
    let before = scene.tree();
    scene.run(|upper| {
        upper.link("out", "/etc/passwd");
        upper.link("loop", "loop");
        upper.link("up", "../..");
    });
    let target = fs::read_link(scene.workspace().join("out")).expect("it is there");
    assert_eq!(target, Path::new("/etc/passwd"));
    scene.undo();
    assert_eq!(scene.tree(), before);
}

#[test]
fn two_names_of_one_new_file_stay_one_file() {
    let scene = LayerFixture::new(&[]);
    let before = scene.tree();
    scene.run(|upper| {
        upper.write("a", "content");
        upper.folder("d");
        fs::hard_link(upper.0.join("a"), upper.0.join("d/b")).expect("it is new");
    });
    let number = |path: &str| scene.workspace().join(path).metadata().expect("it is there").ino();
    assert_eq!(number("a"), number("d/b"));
    scene.undo();
    assert_eq!(scene.tree(), before);
}

#[test]
fn a_second_name_of_a_file_that_was_there_is_one_file_with_it() {
    let scene = LayerFixture::new(&[("a", "content"), ("alone", "content")]);
    let command = |upper: &Upper| {
        upper.write("a", "content");
        fs::hard_link(upper.0.join("a"), upper.0.join("b")).expect("it is new");
        upper.write("alone", "content");
    };
    let before = scene.tree();
    assert_eq!(changed(&scene.run(command)), ["create b", "replace a"]);
    let number = |path: &str| scene.workspace().join(path).metadata().expect("it is there").ino();
    assert_eq!(number("a"), number("b"));
    scene.undo();
    assert_eq!(scene.tree(), before);
}

#[test]
fn pipes_and_devices_are_left_out_and_named() {
    let scene = LayerFixture::new(&[("a", "a")]);
    let settled = scene.run(|upper| {
        let mode = Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, upper.0.join("pipe"), FileType::Fifo, mode, 0).expect("it is new");
    });
    assert_eq!(settled.notes, ["Skipped, because haft does not keep pipes, sockets and devices: pipe."]);
    assert!(!scene.has("pipe"));
}

#[test]
fn bits_that_let_a_program_run_as_another_are_not_kept() {
    let scene = LayerFixture::new(&[("old", "x")]);
    let settled = scene.run(|upper| {
        upper.write("old", "x");
        upper.mode("old", 0o4644);
        upper.write("tool", "x");
        upper.mode("tool", 0o6755);
    });
    assert_eq!((&*scene.tree()["old"], &*scene.tree()["tool"]), ("file 644 x", "file 755 x"));
    assert_eq!(settled.notes, ["Kept without the bits that let a program run as its owner or group: old, tool."]);
}

#[test]
fn names_of_any_bytes_come_in() {
    use std::os::unix::ffi::OsStrExt;
    let scene = LayerFixture::new(&[]);
    let name = std::ffi::OsStr::from_bytes(b"a\n\xff b");
    let settled = scene.run(|upper| fs::write(upper.0.join(name), "x").expect("it can be written"));
    assert!(scene.workspace().join(name).exists());
    assert_eq!(settled.changes.len(), 1);
    scene.undo();
    assert!(scene.tree().is_empty());
}

#[test]
fn a_file_that_nobody_may_read_and_a_closed_folder_come_in() {
    let scene = LayerFixture::new(&[]);
    scene.run(|upper| {
        upper.write("closed/secret", "x");
        upper.mode("closed/secret", 0o000);
        upper.mode("closed", 0o500);
    });
    let mode = scene.workspace().join("closed").symlink_metadata().expect("it is there").mode() & 0o7777;
    assert_eq!(mode, 0o500);
    scene.undo();
    assert!(scene.tree().is_empty());
}

#[test]
fn a_thousand_files_are_one_change() {
    let files: Vec<(String, String)> = (0..1_000).map(|n| (format!("src/{}/{n}", n % 7), format!("{n}\n"))).collect();
    let borrowed: Vec<(&str, &str)> = files.iter().map(|(path, content)| (path.as_str(), content.as_str())).collect();
    let scene = LayerFixture::new(&borrowed);
    let before = scene.tree();
    let settled = scene.run(|upper| {
        for (path, content) in &borrowed {
            upper.write(path, &format!("// formatted\n{content}"));
        }
    });
    assert_eq!(settled.changes.len(), 1_000);
    scene.undo();
    assert_eq!(scene.tree(), before);
}

#[test]
fn what_is_shown_is_not_kept() {
    let scene = LayerFixture::new(&[("a", "one\ntwo\n"), ("b", "b\n")]);
    let before = scene.tree();
    let settled = scene.show(|upper| {
        upper.write("a", "one\nthree\n");
        upper.gone("b");
        upper.write("n", "new\n");
    });
    assert_eq!(changed(&settled), ["create n", "remove b", "replace a"]);
    let counts = settled.changes.iter().map(|change| change.diff.as_ref().map(|diff| (diff.added, diff.removed)));
    assert_eq!(counts.collect::<Vec<_>>(), [Some((0, 1)), Some((1, 1)), Some((1, 0))]);
    assert_eq!(scene.tree(), before);
    assert!(scene.receipts.so_far().is_empty());
}
