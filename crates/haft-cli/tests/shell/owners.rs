//! Commands of root in another user's workspace, and in folders that were added.

use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use haft_testkit::require::Need;

use crate::ground::{Ground, ORDINARY, assert_same, for_everybody, tree_of};

fn owner(path: &Path) -> (u32, u32) {
    let facts = path.symlink_metadata().expect("it is there");
    (facts.uid(), facts.gid())
}

#[test]
fn what_root_runs_in_somebody_elses_workspace_belongs_to_them_also_when_it_is_taken_back() {
    let ground = Ground::own();
    ground.lay_out(
        "mkdir -p src/deep; echo one > src/one.txt; echo two > src/deep/two.txt; echo run > run.sh; ln -s src link",
    );
    let given = ["", "src", "src/deep", "src/one.txt", "src/deep/two.txt", "run.sh"]
        .iter()
        .try_for_each(|path| chown(ground.place.path(path), Some(ORDINARY), Some(ORDINARY)))
        .and_then(|()| std::os::unix::fs::lchown(ground.place.path("link"), Some(ORDINARY), Some(ORDINARY)));
    if !Need::Users.met(given.is_ok()) {
        return;
    }
    let before = ground.tree();
    let record =
        ground.bash("id -u; echo x > src/one.txt; mkdir new; echo y > new/file; rm run.sh; rm -r src/deep link", 20.0);
    assert_eq!(record["data"]["stdout"], format!("{ORDINARY}\n"), "{record:#}");
    for path in ["src/one.txt", "new", "new/file"] {
        assert_eq!(owner(&ground.place.path(path)), (ORDINARY, ORDINARY), "{path}: {record:#}");
    }
    let undone = ground.haft(&["undo"]);
    assert!(undone.status.success(), "{}", String::from_utf8_lossy(&undone.stderr));
    assert_same("root", &before, &ground.tree());
    for path in before.keys() {
        assert_eq!(owner(&ground.place.path("").join(path)), (ORDINARY, ORDINARY), "{path:?}");
    }
}

#[test]
fn what_a_command_does_in_an_added_folder_is_taken_back_too() {
    for_everybody(&|ground| {
        let ground = ground.another();
        ground.lay_out("echo run > run.sh; mkdir ../home/other; echo a > ../home/other/a");
        let other = ground.place.root().join("home/other");
        let before = (ground.tree(), tree_of(&other));
        let named = other.to_string_lossy().into_owned();
        let command = format!("echo b > {named}/a; echo n > {named}/n; rm run.sh");
        let record = ground.bash_with(&["--add-dir", &named], &command, 20.0);
        assert_eq!(std::fs::read_to_string(other.join("a")).expect("it is there"), "b\n", "{record:#}");
        let undone = ground.haft(&["--add-dir", &named, "undo"]);
        assert!(undone.status.success(), "{}", String::from_utf8_lossy(&undone.stderr));
        assert_same("workspace", &before.0, &ground.tree());
        assert_same("added folder", &before.1, &tree_of(&other));
    });
}

#[test]
fn a_command_takes_set_id_bits_away_for_real_and_undo_gives_them_back() {
    let ground = Ground::own();
    ground
        .lay_out("for f in user group both; do echo x > $f; done; chmod 4755 user; chmod 2755 group; chmod 6755 both");
    let before = ground.tree();
    let record = ground.bash("chmod 755 user; chmod g-s group; chmod 0644 both", 20.0);
    assert_eq!(record["status"], "ok", "{record:#}");
    for (path, mode) in [("user", 0o755), ("group", 0o755), ("both", 0o644)] {
        let facts = ground.place.path(path).metadata().expect("it is there");
        assert_eq!(facts.mode() & 0o7777, mode, "{path}: {record:#}");
    }
    let undone = ground.haft(&["undo"]);
    assert!(undone.status.success(), "{}", String::from_utf8_lossy(&undone.stderr));
    assert_same("set-id bits", &before, &ground.tree());
}
