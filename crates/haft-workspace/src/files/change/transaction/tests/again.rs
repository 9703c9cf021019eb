//! Tests that a refused transaction can be retried: unchanged files do not count as changed by another program.

use super::*;
use crate::files::change::refused::TransactionRefusal;

fn refused(scene: &TransactionFixture, deeds: &[FileMutation]) -> TransactionRefusal {
    scene.attempt(deeds).err().expect("something stands in the way")
}

#[test]
fn what_was_done_and_taken_back_is_not_taken_for_changed() {
    for count in [2, 40] {
        let scene = TransactionFixture::new();
        let names: Vec<String> = (0..count).map(|number| format!("{number:02}")).collect();
        for name in &names {
            scene.put(&format!("ws/{name}"), "old");
            scene.put(&format!("layer/{name}"), "new");
        }
        scene.put("ws/gone/f", "f");
        scene.put("ws/full/f", "f");
        let expecting = |mut deeds: Vec<FileMutation>,
                         stamps: &BTreeMap<PathBuf, haft_contract::files::stamp::FileStamp>| {
            for deed in &mut deeds {
                deed.expected = Precondition::Basis(ExpectedVersion::Stamped(stamps[&deed.place]));
            }
            deeds
        };
        let mut deeds: Vec<FileMutation> = names.iter().map(|name| scene.bring(name)).collect();
        deeds.extend([deed("gone/f", FileAction::Remove), deed("gone", FileAction::Remove)]);
        let mut all = deeds.clone();
        all.push(deed("full", FileAction::Remove));

        let refused = refused(&scene, &all);

        assert!(matches!(refused.cause, NotDone::System(..)), "{}", refused.cause);
        let stamps: BTreeMap<PathBuf, haft_contract::files::stamp::FileStamp> = refused.as_before.into_iter().collect();
        scene.commit(&expecting(deeds.clone(), &stamps)).expect("all of it is as before");
        // haft notices what another program changes afterwards.
        scene.undo();
        assert!(matches!(scene.commit(&expecting(deeds, &stamps)), Err(NotDone::Stale(_))));
    }
}

#[test]
fn what_concerns_single_files_is_told_of_all_of_them() {
    let scene = TransactionFixture::new();
    for name in ["a", "b", "c"] {
        scene.put(&format!("ws/{name}"), name);
    }
    for name in ["x", "y"] {
        let mode = Mode::from_raw_mode(0o600);
        let path = scene.at(&format!("ws/{name}"));
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).expect("it is new");
    }
    let deeds = ["a", "x", "b", "y", "c"].map(|name| deed(name, FileAction::Remove));
    let TransactionRefusal { cause, others, .. } = refused(&scene, &deeds);
    assert!(matches!(cause, NotDone::System(place, _) if place == Path::new("x")));
    assert_eq!(others.into_iter().map(|(place, _)| place).collect::<Vec<_>>(), [PathBuf::from("y")]);
}

#[test]
fn a_folder_that_was_opened_is_shut_whatever_happens() {
    for point in 0..60 {
        let scene = TransactionFixture::new();
        scene.put("ws/shut/f", "f");
        scene.put("ws/shut/g", "g");
        scene.put("layer/shut/g", "new");
        scene.chmod("ws/shut", 0o555);
        let beginning = scene.tree("ws");
        let deeds = [scene.bring("shut/g"), deed("shut/f", FileAction::Remove)];
        let done = crate::files::change::crash_points::ending_at(point, || scene.commit(&deeds).expect("it is opened"));
        scene.history().log().expect("whoever comes next cleans up");
        let wanted = tree_of(&[("ws/shut", "555/"), ("ws/shut/g", "644 new")]);
        let tree = scene.tree("ws");
        assert!(tree == beginning || tree == wanted, "after {point}: {tree:?}");
        if done.is_some() {
            scene.undo();
            assert_eq!(scene.tree("ws"), beginning);
            return;
        }
    }
    panic!("there are more points");
}

#[test]
fn a_large_file_that_nobody_may_read_comes_back() {
    let scene = TransactionFixture::new();
    scene.put("ws/large", "begins");
    let file = std::fs::OpenOptions::new().write(true).open(scene.at("ws/large")).expect("it is there");
    file.set_len(70 * 1024 * 1024).expect("it takes no room");
    scene.chmod("ws/large", 0);
    scene.commit(&[deed("large", FileAction::Remove)]).expect("it is ours");
    scene.undo();
    let facts = scene.at("ws/large").metadata().expect("it is there again");
    assert_eq!((facts.mode() & 0o7777, facts.len()), (0, 70 * 1024 * 1024));
}
