//! Random scripts of changes: taken back one by one they leave every tree they came through, and brought back too.

use std::os::unix::fs::PermissionsExt;

use haft_contract::outcome::error::ToolError;
use haft_workspace::history::{HistoryError, UndoSelection};

use crate::dice::Dice;
use crate::ground::{Entry, Ground, Tree, target};

const PATHS: [&str; 10] = ["a", "b", "d/a", "d/b", "n/x/c", "n/y", "big", "link", "empty", "d"];

fn beginning() -> Ground {
    let ground = Ground::new();
    for (folder, mode) in [("d", 0o750), ("empty", 0o700)] {
        std::fs::create_dir(ground.path(folder)).expect("it is new");
        std::fs::set_permissions(ground.path(folder), PermissionsExt::from_mode(mode)).expect("it is ours");
    }
    for (file, mode, lines) in [("a", 0o600, 5), ("d/a", 0o755, 20), ("big", 0o640, 9_000)] {
        let lines: String = (0..lines).map(|line| format!("{file} line {line}\n")).collect();
        ground.put(file, lines);
        std::fs::set_permissions(ground.path(file), PermissionsExt::from_mode(mode)).expect("it is ours");
    }
    std::os::unix::fs::symlink("a", ground.path("link")).expect("it is new");
    ground
}

fn step(ground: &Ground, dice: &mut Dice, round: usize) -> Result<(), ToolError> {
    let name = PATHS[dice.below(PATHS.len())];
    let other = PATHS[dice.below(PATHS.len())];
    let lines = if dice.below(5) == 0 { 6_000 } else { dice.below(9) };
    let new: String = (0..lines).map(|line| format!("round {round} line {line}\n")).collect();
    match dice.below(8) {
        0 => ground.remove(name),
        1 => ground.rename(name, other),
        2 => ground.rename(name, &format!("{other}-{round}/moved")),
        3 | 4 => {
            let mut lines: Vec<u8> = ground.content(name).unwrap_or_default();
            lines.splice(0..0, format!("edited in round {round}\n").into_bytes());
            ground.write(&[(name, &lines)]).map(drop)
        }
        5 if name != other => ground.write(&[(name, new.as_bytes()), (other, b"together\n")]).map(drop),
        _ => ground.write(&[(name, new.as_bytes())]).map(drop),
    }
}

fn assert_same(tree: &Tree, wanted: &Tree, what: &str) {
    let differing: Vec<_> =
        wanted.keys().chain(tree.keys()).filter(|path| tree.get(*path) != wanted.get(*path)).collect();
    assert!(differing.is_empty(), "{what}: {differing:?}");
}

#[test]
fn taking_a_script_back_goes_through_every_tree_it_came_through_and_redo_comes_back() {
    for seed in 1..=12 {
        let ground = beginning();
        let mut dice = Dice::new(seed);
        let mut trees = vec![ground.tree()];
        for round in 0..20 {
            if step(&ground, &mut dice, round).is_ok() {
                trees.push(ground.tree());
            } else {
                assert_same(&ground.tree(), &trees[trees.len() - 1], &format!("seed {seed}, refused round {round}"));
            }
        }
        for way in 0..2 {
            for (left, tree) in trees.iter().enumerate().rev().skip(1) {
                let what = format!("seed {seed}, way {way}, back to {left}");
                ground.undo(UndoSelection::Newest).unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_same(&ground.tree(), tree, &what);
            }
            assert!(matches!(ground.undo(UndoSelection::Newest), Err(HistoryError::NothingLeft)));
            for (left, tree) in trees.iter().enumerate().skip(1) {
                let what = format!("seed {seed}, way {way}, again to {left}");
                ground.history().redo().unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_same(&ground.tree(), tree, &what);
            }
        }
        assert!(ground.leftovers().is_empty());
    }
}

/// Puts a line of the user's own into a file; returns the line.
fn work_on_something(ground: &Ground, dice: &mut Dice, round: usize) -> Option<Vec<u8>> {
    let tree = ground.tree();
    let files: Vec<_> = tree.iter().filter(|(_, entry)| matches!(entry, Entry::File(..))).collect();
    let (path, Entry::File(_, content)) = files.get(dice.below(files.len().max(1)))? else { return None };
    let mine = format!("my own line {round}\n").into_bytes();
    let at_end = dice.below(2) == 0;
    let new = if at_end { [&content[..], &mine].concat() } else { [&mine[..], content].concat() };
    std::fs::write(path, new).expect("it can be written");
    Some(mine)
}

fn holds(tree: &Tree, line: &[u8]) -> bool {
    let contents =
        tree.values().filter_map(|entry| if let Entry::File(_, content) = entry { Some(content) } else { None });
    contents.into_iter().any(|content| memchr::memmem::find(content, line).is_some())
}

#[test]
fn whatever_is_taken_back_the_users_own_lines_stay() {
    let (mut done, mut refused) = (0, 0);
    for seed in 100..130 {
        let ground = beginning();
        let mut dice = Dice::new(seed);
        for round in 0..30 {
            if dice.below(3) > 0 {
                let _ = step(&ground, &mut dice, round);
                continue;
            }
            let mine = work_on_something(&ground, &mut dice, round);
            let before = ground.tree();
            let newest = ground.history().log().expect("it can be read").sets.first().map_or(1, |set| set.number);
            let any = 1 + dice.below(usize::try_from(newest).expect("it is small")) as u64;
            let file = target(PATHS[dice.below(PATHS.len())]);
            let outcome = match dice.below(5) {
                0 => ground.undo(UndoSelection::Newest),
                1 => ground.undo(UndoSelection::Number(any)),
                2 => ground.history().undo(UndoSelection::Number(any), Some(&file)),
                3 => ground.undo(UndoSelection::Turn),
                _ => ground.history().redo(),
            };
            let what = format!("seed {seed}, round {round}: {outcome:?}");
            match outcome {
                Ok(_) => {
                    done += 1;
                    assert!(mine.is_none_or(|mine| holds(&ground.tree(), &mine)), "{what}");
                }
                Err(_) => {
                    refused += 1;
                    assert_same(&ground.tree(), &before, &what);
                }
            }
        }
        assert!(ground.leftovers().is_empty());
    }
    assert!(done > 50 && refused > 20, "{done} done, {refused} refused");
}
