//! Tests what a command left in its layer, when it is copied or loses its set-id bits.

use super::*;

#[test]
fn from_another_file_system_it_is_copied() {
    let Some(elsewhere) = Need::Memory.found(tempfile::tempdir_in("/dev/shm").ok()) else { return };
    for count in [3, 40] {
        let scene = TransactionFixture::with_layer(
            tempfile::tempdir().expect("a temporary folder can be made"),
            elsewhere.path(),
        );
        let name = |number: usize| format!("{count}-{number}");
        for number in 0..count {
            std::fs::write(elsewhere.path().join(name(number)), "new").expect("it can be written");
        }
        let _ = std::fs::remove_file(elsewhere.path().join("link"));
        std::os::unix::fs::symlink("to", elsewhere.path().join("link")).expect("it is new");
        scene.put(&format!("ws/{}", name(1)), "old");
        let beginning = scene.tree("ws");
        let mut deeds: Vec<FileMutation> = (0..count).map(|number| scene.bring(&name(number))).collect();
        deeds.push(scene.bring("link"));
        scene.commit(&deeds).expect("nothing stands in the way");
        let tree = scene.tree("ws");
        assert_eq!(tree.values().filter(|what| *what == "644 new").count(), count);
        assert_eq!(tree["ws/link"], "-> to");
        scene.undo();
        assert_eq!(scene.tree("ws"), beginning);
    }
}

#[test]
fn set_id_bits_do_not_come_in() {
    let scene = TransactionFixture::new();
    scene.put("layer/a", "program");
    scene.chmod("layer/a", 0o6755);
    scene.commit(&[scene.bring("a")]).expect("nothing stands in the way");
    assert_eq!(scene.tree("ws"), tree_of(&[("ws/a", "755 program")]));
}
