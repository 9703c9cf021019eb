//! Tests grounds for calls that must not wait: their layers are in memory.

use super::*;
use crate::files::layer::memory;
use crate::require::Need;

fn is_in_memory(ground: &LayeredGround) -> bool {
    upper_of(ground).starts_with(memory::folder())
}

#[test]
fn a_quick_ground_lies_in_memory_and_what_is_written_there_comes_in_and_can_be_taken_back() {
    if !Need::Memory.met(memory::has_room()) {
        return;
    }
    let scene = LayerFixture::new(&[("a", "1\n")]);
    assert!(scene.layers.at_hand(&StagingMode::Quick).is_none(), "nothing is known yet");
    let first = scene.layers.prepare(StagingMode::Quick, None).expect("it can be prepared");
    assert!(is_in_memory(&first));
    drop(first);
    let before = scene.tree();
    for round in 0..3 {
        // The clock of an old kernel stands still for some milliseconds; then one waits for it.
        let ground = scene.layers.at_hand(&StagingMode::Quick);
        let ground = ground.unwrap_or_else(|| scene.layers.prepare(StagingMode::Quick, None).expect("it can be"));
        assert!(is_in_memory(&ground) && ground.is_untouched());
        write(&upper_of(&ground), "a", &format!("changed {round}\n"));
        assert!(!ground.is_untouched());
        scene.settling(&ground, Disposition::Commit).expect("it comes in");
        assert_eq!(scene.content("a"), format!("changed {round}\n"));
    }
    // All of them are one call.
    scene.undo();
    assert_eq!(scene.tree(), before);
}

#[test]
fn other_grounds_are_never_at_hand() {
    let scene = LayerFixture::new(&[("a", "1\n")]);
    drop(scene.layers.prepare(StagingMode::Quick, None).expect("it can be prepared"));
    assert!(scene.layers.at_hand(&StagingMode::Layered).is_none());
    assert!(scene.layers.at_hand(&StagingMode::Open("no reason".into())).is_none());
    let ground = scene.layers.prepare(StagingMode::Layered, None).expect("it can be prepared");
    assert!(!is_in_memory(&ground));
}
