//! A folder that turns into a link to the outside and back, all the time, while calls work in it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use haft_contract::doors::door::FileOp;
use haft_contract::files::path::{Extent, RawPath, Target};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use tokio_util::sync::CancellationToken;

use crate::dice::Dice;
use crate::ground::{Ground, permit, run, target, tree_of};

const ROUNDS: usize = 1_000;

/// Swaps the folder with the link and back until told to stop.
fn swap_until(stop: &AtomicBool, folder: &Path, link: &Path) -> usize {
    let mut swaps = 0;
    while !stop.load(Ordering::Relaxed) {
        renameat_with(CWD, folder, CWD, link, RenameFlags::EXCHANGE).expect("both are there");
        renameat_with(CWD, folder, CWD, link, RenameFlags::EXCHANGE).expect("both are there");
        swaps += 2;
    }
    swaps
}

#[test]
fn no_call_reaches_outside_through_a_folder_that_is_swapped_with_a_link() {
    let ground = Ground::new();
    std::fs::create_dir(ground.path("d")).expect("it is new");
    std::fs::create_dir(ground.outside("secret")).expect("it is new");
    for number in 0..8 {
        ground.put(&format!("d/f{number}"), "inside\n");
        std::fs::write(ground.outside(&format!("secret/f{number}")), "OUTSIDE\n").expect("it can be written");
    }
    std::os::unix::fs::symlink(ground.outside("secret"), ground.path("link")).expect("it is new");
    let outside = tree_of(&ground.outside("secret"));
    let stop = AtomicBool::new(false);

    let (mut done, mut refused) = (0, 0);
    let swaps = std::thread::scope(|scope| {
        let paths = (ground.path("d"), ground.path("link"));
        let swapper = scope.spawn({
            let stop = &stop;
            move || swap_until(stop, &paths.0, &paths.1)
        });
        let mut dice = Dice::new(3);
        for round in 0..ROUNDS {
            let name = format!("d/f{}", dice.below(10));
            let outcome = match dice.below(5) {
                0 => ground.remove(&name),
                1 => ground.write(&[(&format!("d/sub{}/x", dice.below(3)), b"inside\n")]).map(drop),
                2 => located_write(&ground, &name),
                _ => ground.write(&[(&name, format!("inside {round}\n").as_bytes())]).map(drop),
            };
            if outcome.is_ok() {
                done += 1
            } else {
                refused += 1
            }
            if let Ok(text) = ground.read(&name) {
                assert!(!text.contains("OUTSIDE"), "round {round} read what is outside");
            }
        }
        stop.store(true, Ordering::Relaxed);
        swapper.join().expect("it only renames")
    });

    assert_eq!(tree_of(&ground.outside("secret")), outside);
    assert!(
        done > ROUNDS / 50 && refused > ROUNDS / 50 && swaps > 100,
        "{done} done, {refused} refused, {swaps} swaps"
    );
    assert!(ground.leftovers().is_empty(), "{:?}", ground.leftovers());
}

/// Locates as a call does, which may find the way outside; that is refused by the door.
fn located_write(ground: &Ground, name: &str) -> Result<(), haft_contract::outcome::error::ToolError> {
    let doors = ground.doors();
    let located = doors.look.locate(&RawPath::new(name), Extent::Entry)?;
    let permit = permit(Vec::new(), &CancellationToken::new());
    let place = match &located {
        Target::Inside(_) => located,
        Target::Outside(_) => target(name),
    };
    run(doors.files.change(&permit, &[FileOp::Put(place, bytes::Bytes::from_static(b"inside\n"))])).map(drop)
}
