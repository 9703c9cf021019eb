//! The times of files: what a command touches is newer for the next one, as in a plain shell.

use std::os::unix::fs::MetadataExt;

use crate::ground::for_everybody;

const OLD: &str = "mkdir -p src; echo a > src/a; echo b > src/b; touch -d 2001-01-01 src/a src/b";

#[test]
fn a_file_that_a_command_touches_has_the_new_time_and_nothing_is_there_to_undo() {
    for_everybody(&|ground| {
        ground.lay_out(OLD);
        let before = ground.tree();
        let time = |path: &str| {
            let facts = ground.place.root().join("ws").join(path).metadata().expect("it is there");
            (facts.mtime(), facts.mtime_nsec())
        };
        let old = time("src/b");
        let tried = ground.bash_with(&["--try"], "touch src/a", 20.0);
        assert_eq!((time("src/a"), &tried["status"]), (old, &"ok".into()), "{tried}");

        let touched = ground.bash("touch -d 2002-02-02T02:02:02.5 src/a; cp -p src/b /tmp/b; cat /tmp/b > src/b", 20.0);
        assert_eq!(touched["change_set"], serde_json::Value::Null, "{touched}");
        assert_eq!(time("src/a"), (1_012_615_322, 500_000_000), "{touched}");
        assert!(time("src/b") > old, "the same content was written once more");
        assert_eq!(ground.tree(), before);
    });
}

#[test]
fn make_builds_again_what_an_earlier_command_touched() {
    for_everybody(&|ground| {
        ground.lay_out("echo a > a; printf 'b: a\\n\\tcp a b\\n\\techo built >> log\\n' > Makefile");
        for (command, times) in [("make", 1), ("make", 1), ("touch a", 1), ("make", 2)] {
            let done = ground.bash(command, 20.0);
            assert_eq!(done["exit_code"], 0, "{command}: {done}");
            let log = std::fs::read_to_string(ground.place.root().join("ws/log")).unwrap_or_default();
            assert_eq!(log.lines().count(), times, "{command}");
        }
    });
}
