//! What commands do to a workspace, and that `haft undo` restores it exactly.
//!
//! Each script runs in the real sandbox through the real command; the test compares the tree before and after, with
//! names of any bytes, modes, links and contents. If root starts it, it runs a second time as an ordinary user.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a test lays out folders and starts processes"
)]

#[path = "shell/attributes.rs"]
mod attributes;
#[path = "shell/build_folders.rs"]
mod build_folders;
#[path = "shell/damaged_objects.rs"]
mod damaged_objects;
#[path = "shell/ground.rs"]
mod ground;
#[path = "shell/jobs.rs"]
mod jobs;
#[path = "shell/jobs_outside.rs"]
mod jobs_outside;
#[path = "shell/jobs_restart.rs"]
mod jobs_restart;
#[path = "shell/jobs_sync.rs"]
mod jobs_sync;
#[path = "shell/kept_by_git.rs"]
mod kept_by_git;
#[path = "shell/looking.rs"]
mod looking;
#[path = "shell/masked.rs"]
mod masked;
#[path = "shell/own_lines.rs"]
mod own_lines;
#[path = "shell/own_repositories.rs"]
mod own_repositories;
#[path = "shell/owners.rs"]
mod owners;
#[path = "shell/packed_references.rs"]
mod packed_references;
#[path = "survival/place.rs"]
#[expect(dead_code, reason = "another suite uses the rest")]
mod place;
#[path = "shell/planted.rs"]
mod planted;
#[path = "shell/random_git.rs"]
mod random_git;
#[path = "shell/repositories.rs"]
mod repositories;
#[path = "shell/run_code.rs"]
mod run_code;
#[path = "shell/scripts.rs"]
mod scripts;
#[path = "shell/session.rs"]
mod session;
#[path = "shell/set_id.rs"]
mod set_id;
#[path = "shell/side_by_side.rs"]
mod side_by_side;
#[path = "shell/somebody_else.rs"]
mod somebody_else;
#[path = "shell/times.rs"]
mod times;
#[path = "shell/tool_caches.rs"]
mod tool_caches;
#[path = "escape/unread.rs"]
mod unread;

use ground::{Ground, for_everybody};
use serde_json::Value;

/// Runs a script, looks at what its record says, and takes it back.
fn taken_back(ground: &Ground, script: &scripts::Script) {
    ground.lay_out(script.before);
    let before = ground.tree();
    let record = ground.bash_unread(script.command, script.seconds);
    let name = script.name;
    assert_eq!(record["status"], script.status, "{name}: {record:#}");
    assert_eq!(record["sandbox"], ground::level(), "{name}: {record:#}");
    let after = ground.tree();
    if script.changes {
        assert_eq!(record["did"], "changed", "{name}: {record:#}");
        assert!(before != after, "{name}: nothing was changed: {record:#}");
        assert!(record["change_set"].is_u64() && record["files"].is_array(), "{name}: {record:#}");
        let has_names = |path: &str| ground.has_several_names(path);
        assert_named(name, &record, &ground::differing(&before, &after), &has_names);
        let undone = ground.haft(&["undo"]);
        assert!(undone.status.success(), "{name}: {}", String::from_utf8_lossy(&undone.stderr));
        ground::assert_same_beside_objects(name, &before, &ground.tree());
        let redone = ground.haft(&["redo"]);
        assert!(redone.status.success(), "{name}: {}", String::from_utf8_lossy(&redone.stderr));
        ground::assert_same_beside_objects(name, &after, &ground.tree());
    } else {
        assert_eq!(record["did"], "nothing", "{name}: {record:#}");
        ground::assert_same(name, &before, &after);
    }
    assert!(ground.leftovers().is_empty(), "{name}: {:?}", ground.leftovers());
}

/// The record names every file that differs, and no other one.
fn assert_named(name: &str, record: &Value, differing: &[String], has_names: &dyn Fn(&str) -> bool) {
    let named: Vec<&str> = record["files"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for path in differing {
        // A folder that was moved as a whole stands for what is in it.
        let is_named = named.iter().any(|named| path == named || path.starts_with(&format!("{named}/")));
        assert!(is_named, "{name}: {path} is not named in {named:?}");
    }
    for path in &named {
        // A file that got a second name is another one, with the same content.
        let is_known = path.contains(['\\', '\u{fffd}', '\n']) || has_names(path);
        assert!(
            is_known || differing.iter().any(|differs| differs == path),
            "{name}: {path} is named and does not differ"
        );
    }
}

fn all_taken_back(scripts: &[scripts::Script]) {
    for_everybody(&|ground| {
        for script in scripts {
            if script.command.contains("git ") && !ground.has_git() {
                continue;
            }
            taken_back(&ground.another(), script);
        }
    });
}

#[test]
fn what_a_script_changes_is_named_and_taken_back_exactly() {
    all_taken_back(&scripts::of_files());
}

#[test]
fn what_a_script_does_to_a_repository_is_named_and_taken_back_exactly() {
    all_taken_back(&scripts::of_repositories());
}

#[test]
fn what_a_script_does_to_many_files_is_named_and_taken_back_exactly() {
    all_taken_back(&scripts::of_many_files());
}

#[test]
fn what_a_command_plants_for_others_to_run_is_left_out_and_named() {
    for_everybody(&|ground| {
        for (name, command) in scripts::PLANTED {
            let ground = ground.another();
            ground.lay_out("mkdir -p sub .git/hooks .vscode; echo '[core]' > .git/config; echo {} > .vscode/tasks.json; echo a > a");
            let before = ground.tree();
            let record = ground.bash_unread(command, 20.0);
            let after = ground.tree();
            let new: Vec<String> = ground::differing(&before, &after);
            assert!(
                new.iter().all(|path| path.starts_with("ok") || path.starts_with("g2")),
                "{name}: {new:?} {record:#}"
            );
            assert!(!after.keys().any(|path| path.to_string_lossy().contains("pre-commit")), "{name}: {record:#}");
            let content = record["content"].as_str().unwrap_or_default();
            let is_said =
                ["hooks", "config", "tasks.json", "protected", "Refused"].iter().any(|word| content.contains(word));
            assert!(is_said, "{name}: nothing is said of it: {content}");
        }
    });
}

#[test]
fn trying_shows_the_difference_and_keeps_nothing() {
    for_everybody(&|ground| {
        for flag in ["--try", "--plan"] {
            let ground = ground.another();
            ground.lay_out("mkdir src; echo old > src/a.txt; echo gone > b.txt; mkdir target .git; echo ref: refs/heads/main > .git/HEAD; echo target > .gitignore; echo k > target/kept");
            let before = ground.tree();
            let command = "echo new > src/a.txt; rm b.txt; echo c > c.txt; rm -rf target/*; echo t > target/new; true";
            let record = ground.bash_with(&[flag], command, 20.0);
            ground::assert_same(flag, &before, &ground.tree());
            assert_eq!(record["did"], "nothing", "{flag}: {record:#}");
            let content = record["content"].as_str().unwrap_or_default();
            for shown in ["- old", "+ new", "b.txt", "c.txt"] {
                assert!(content.contains(shown), "{flag}: {shown} is not shown in {content}");
            }
            assert!(!ground.haft(&["undo"]).status.success(), "{flag}: there is something to undo");
        }
    });
}
