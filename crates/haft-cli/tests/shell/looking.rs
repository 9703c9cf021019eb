//! Commands that only look make no change set, also where git refreshes its index meanwhile.

use crate::ground::Ground;

/// What only looks.
const LOOKS: [&str; 6] = [
    "ls -la",
    "git status --short",
    "git diff",
    "git log --oneline",
    "git -C sub status && git -C tree status",
    "git describe --always --dirty",
];

/// A repository with a submodule and a worktree, whose files have other times than the index knows.
const LAY_OUT: &str = "
git init -q lib && echo a > lib/a && git -C lib add -A && git -C lib commit -qm one
echo /lib > .gitignore; echo /tree >> .gitignore
git init -q . && git -c protocol.file.allow=always submodule --quiet add ./lib sub
mkdir -p src && echo b > src/b && echo c > src/c && git add -A && git commit -qm one
git worktree add -q tree
";

/// Lets every file look changed to git.
const TOUCH: &str = "find . -name .git -prune -o -type f -exec touch -d '2001-01-01' {} +; touch -d '2002-02-02' src/b sub/a tree/src/c";

#[test]
fn commands_that_only_look_make_no_change_set() {
    for settings in [
        "git config --global index.version 2",
        "git config --global index.version 3",
        "git config --global index.version 4",
        "export GIT_DEFAULT_HASH=sha256",
    ] {
        let ground = Ground::own();
        if !ground.has_git() {
            return;
        }
        ground.lay_out(&format!("{settings}\n{LAY_OUT}"));
        for command in LOOKS {
            ground.lay_out(TOUCH);
            let record = ground.bash(command, 20.0);
            assert_eq!(record["status"], "ok", "{settings}, {command}: {record:#}");
            assert_eq!(record["did"], "nothing", "{settings}, {command}: {record:#}");
            assert!(record["change_set"].is_null(), "{settings}, {command}: {record:#}");
        }
        let log = ground.haft(&["log"]);
        assert!(log.stdout.is_empty(), "{settings}: {}", String::from_utf8_lossy(&log.stdout));
        // What is more than a look is recorded.
        ground.lay_out("echo more >> src/b");
        let record = ground.bash("git add src/b", 20.0);
        assert!(record["change_set"].is_u64(), "{settings}: {record:#}");
    }
}
