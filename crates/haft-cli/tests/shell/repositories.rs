//! Undo in git repositories in which the user works too: whatever the order, nothing in them breaks.

use std::process::Output;

use haft_testkit::require::Need;
use serde_json::Value;

use crate::ground::{Ground, for_everybody};

const REPOSITORY: &str = "git init -q -b master .; git config user.name A; git config user.email a@example.org; \
    git config gc.auto 0; echo one > a; mkdir src; echo s > src/s; git add .; git commit -qm one; ";

/// One case: what the command does, what the user does afterwards, and what undo says about it.
struct Case {
    name: &'static str,
    before: &'static str,
    command: &'static str,
    since: &'static str,
    /// Whether the undo is done; else it refuses and changes nothing.
    is_done: bool,
    /// Words in the notes or in the refusal.
    said: &'static [&'static str],
    /// A script that must succeed afterwards.
    then: &'static str,
}

const fn case(name: &'static str, command: &'static str, since: &'static str) -> Case {
    Case { name, before: "", command, since, is_done: true, said: &[], then: "git log -1 HEAD" }
}

fn undone(ground: &Ground, arguments: &[&str]) -> (bool, Value, String) {
    let output: Output = ground.haft(&[&["--json"], arguments].concat());
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.success(), serde_json::from_slice(&output.stdout).unwrap_or_default(), text)
}

fn check(ground: &Ground, case: &Case) {
    let Case { name, before, command, since, is_done, said, then } = case;
    ground.lay_out(&format!("{REPOSITORY}{before}"));
    let record = ground.bash_unread(command, 60.0);
    assert_eq!(record["exit_code"], 0, "{name}: {record:#}");
    ground.lay_out(since);
    let tree = ground.tree();
    let (is_success, record, text) = undone(ground, &["undo"]);
    assert_eq!(is_success, *is_done, "{name}: {text}");
    for words in *said {
        assert!(text.contains(words), "{name}: {words:?} is not said: {text}");
    }
    if *is_done {
        assert!(record["files"].is_array(), "{name}: {text}");
    } else {
        crate::ground::assert_same(name, &tree, &ground.tree());
    }
    ground.lay_out(&format!("git fsck --full --strict && {then}"));
    if *is_done {
        let (is_success, _, text) = undone(ground, &["redo"]);
        assert!(is_success, "{name}, redo: {text}");
        ground.lay_out("git fsck --full --strict && git log -1 HEAD");
    }
}

fn check_all(cases: &[Case]) {
    for_everybody(&|ground| {
        if !ground.has_git() {
            return;
        }
        cases.iter().for_each(|case| check(&ground.another(), case));
    });
}

#[test]
fn undo_keeps_the_objects_that_a_later_reference_needs_and_names_the_command_that_removes_it() {
    const COMMIT: &str = "echo two > a; git commit -qam two";
    check_all(&[
        Case { said: &["git tag -d v1"], then: "git show v1; grep one a", ..case("tag", COMMIT, "git tag v1") },
        Case {
            before: "git init -q --bare ../remote.git; git remote add origin ../remote.git; git push -q origin master",
            said: &["git push --force-with-lease origin ", ":refs/heads/master"],
            then: "git show origin/master; rm -rf ../remote.git",
            ..case("push", COMMIT, "git push -q origin master")
        },
        Case {
            said: &["HEAD points elsewhere"],
            then: "git show HEAD:a | grep two",
            ..case("cherry-pick", COMMIT, "git checkout -q -b other HEAD~; git cherry-pick master")
        },
        Case { said: &["git branch -D x"], ..case("branch", COMMIT, "git branch x") },
        Case {
            said: &["git update-ref -d refs/notes/mine"],
            ..case("other reference", COMMIT, "git update-ref refs/notes/mine HEAD")
        },
        Case {
            is_done: false,
            said: &["stash drop stash@{1}"],
            ..case("stash", "echo two > a; git stash -q", "echo three > b; git add b; git stash -q")
        },
        Case {
            before: "echo two > a; git stash -q; echo three > a; git stash -q",
            is_done: false,
            // What the command dropped is added; what others made is named by no command that removes it.
            said: &["git stash store "],
            then: "test $(git stash list | wc -l) = 2",
            ..case("stash drop", "git stash drop -q", "echo four > a; git stash -q")
        },
        Case {
            before: "echo two > a; git stash -q",
            is_done: false,
            said: &["git stash store "],
            ..case("last stash dropped", "git stash drop -q", "echo four > a; git stash -q")
        },
        Case {
            said: &["checkout BRANCH"],
            then: "git -C ../wt log -1; git worktree remove --force ../wt",
            ..case("worktree", COMMIT, "git worktree add -q --detach ../wt master")
        },
    ]);
}

impl Case {
    const fn refused(self) -> Self {
        Self { is_done: false, ..self }
    }
}

#[test]
fn references_are_compared_by_their_values_and_not_by_their_files() {
    const COMMIT: &str = "echo two > a; git commit -qam two";
    check_all(&[
        Case { then: "test $(git log --oneline | wc -l) = 1", ..case("gc since", COMMIT, "git gc -q") },
        Case {
            then: "test $(git log --oneline | wc -l) = 1",
            ..case("pack-refs since", COMMIT, "git pack-refs --all")
        },
        Case {
            then: "! git rev-parse -q --verify v1 && ! git rev-parse -q --verify x",
            ..case("new references, then gc", "git tag v1; git branch x", "git gc -q")
        },
        Case {
            then: "! git rev-parse -q --verify v1",
            ..case("a new reference, then packed too", "git tag v1", "git pack-refs --all --no-prune")
        },
        Case {
            before: "git branch x",
            then: "git rev-parse x t && git log -1 --format=%s | grep two",
            ..case("work after a gc that is undone", "git gc -q", "git tag t; echo two > a; git commit -qam two")
        },
        Case {
            before: "git tag old; git branch gone; git pack-refs --all",
            then: "git rev-parse gone old",
            ..case("a packed branch removed", "git branch -q -D gone", "git tag new; git pack-refs --all")
        },
        Case {
            is_done: false,
            said: &["git revert "],
            ..case("a commit on top", COMMIT, "echo three > a; git commit -qam three")
        },
        Case { ..case("a branch checked out since", "git branch x", "git checkout -q x").refused() },
        Case { ..case("staged since", "echo n > n; git add n", "echo m > m; git add m").refused() },
    ]);
}

#[test]
fn undo_adds_objects_back_and_removes_none() {
    const PRUNE: &str = "git reflog expire --expire=now --all; git gc -q --prune=now";
    check_all(&[
        case("gc", "git gc -q", "git tag t"),
        case("repack", "git repack -q -a -d", "git branch t"),
        case(
            "prune",
            "git hash-object -w a; git reflog expire --expire=now --all; git prune --expire=now",
            "git tag t",
        ),
        case("amend, then prune", "git commit -q --amend -m other", "git tag t").pruned_since(),
        Case {
            before: "echo two > a; git commit -qam two; git gc -q",
            ..case(
                "reset and prune in one command",
                "git reset -q --hard HEAD~; git reflog expire --expire=now --all; git gc -q --prune=now",
                "git tag t",
            )
        },
    ]);
    for_everybody(&|ground| {
        if !ground.has_git() {
            return;
        }
        let ground = ground.another();
        ground.lay_out(REPOSITORY);
        // Objects of several sizes: within a record, beside it, and too large to be merged.
        let command = "echo two > a; head -c 200000 /dev/urandom > big; head -c 17000000 /dev/urandom > huge; \
            mkdir -p d/e; echo x > d/e/f; git add .; git commit -qm two; git tag -a -m t v1";
        let record = ground.bash_unread(command, 60.0);
        assert_eq!(record["exit_code"], 0, "{record:#}");
        let tree = ground.tree();
        assert!(ground.haft(&["undo"]).status.success());
        ground.lay_out(PRUNE);
        ground.lay_out("test $(git count-objects -v | sed -n 's/^in-pack: //p') -lt 6");
        let (is_success, _, text) = undone(&ground, &["redo"]);
        assert!(is_success, "{text}");
        ground.lay_out("git fsck --full --strict; git show v1 > /dev/null; git status --short | wc -l | grep -q 0");
        let without_store = |tree: &crate::ground::Tree| {
            let is_work = |path: &std::path::Path| !path.starts_with(".git");
            tree.iter().filter(|(path, _)| is_work(path)).map(|(path, what)| (path.clone(), what.clone())).collect()
        };
        crate::ground::assert_same("redo", &without_store(&tree), &without_store(&ground.tree()));
    });
}

impl Case {
    /// The user prunes as well; undo then finds the commit nowhere, because haft did not make it.
    const fn pruned_since(self) -> Self {
        Self { since: "git reflog expire --expire=now --all; git gc -q --prune=now", is_done: false, ..self }
    }
}

#[test]
fn bare_repositories_submodules_and_borrowed_stores_keep_their_objects_too() {
    const LIBRARY: &str = "git init -q lib; git -C lib config user.name A; git -C lib config user.email a@b.c; \
        echo l > lib/l; git -C lib add l; git -C lib commit -qm l; echo lib > .git/info/exclude; ";
    check_all(&[
        Case {
            before: "git init -q --bare b.git",
            then: "git --git-dir b.git fsck --full --strict && git --git-dir b.git show t",
            said: &["git --git-dir b.git tag -d t"],
            ..case("push to a bare repository", "git push -q ./b.git master", "git --git-dir b.git tag t master")
        },
        Case {
            before: LIBRARY,
            then: "git -C lib fsck --full --strict && git -C lib show t",
            said: &["git -C lib tag -d t"],
            ..case("a repository below", "cd lib; echo m > l; git commit -qam m", "git -C lib tag t")
        },
        Case {
            before: "git clone -q -s . c; git -C c config user.name A; git -C c config user.email a@b.c; echo c > .git/info/exclude",
            then: "git -C c fsck --full --strict && git -C c show t",
            ..case("a borrowed store", "cd c; echo m > a; git commit -qam m", "git -C c tag t; git gc -q --prune=now")
        },
        Case {
            before: LIBRARY,
            said: &["rm -rf .git/modules/sub"],
            then: "git --git-dir .git/modules/sub show t",
            ..case(
                "a submodule",
                "git -c protocol.file.allow=always submodule add -q file://$PWD/lib sub 2> /dev/null; git commit -qm sub",
                "git --git-dir .git/modules/sub --work-tree sub tag t",
            )
        },
    ]);
}

#[test]
fn a_repository_that_a_command_made_goes_as_a_whole_or_stays_as_a_whole() {
    for_everybody(&|ground| {
        if !ground.has_git() {
            return;
        }
        let make = "git init -q new; git -C new config user.name A; cd new; echo a > a; git add a; \
            git -c user.name=A -c user.email=a@b.c commit -qm one";
        let ground = ground.another();
        let before = ground.tree();
        ground.bash_unread(make, 60.0);
        assert!(ground.place.path("new/.git/HEAD").exists());
        let (is_success, _, text) = undone(&ground, &["undo"]);
        assert!(is_success, "{text}");
        crate::ground::assert_same("untouched", &before, &ground.tree());
        assert!(ground.haft(&["redo"]).status.success());
        ground.lay_out("git -C new fsck --full --strict; git -C new tag v1");
        let (is_success, _, text) = undone(&ground, &["undo"]);
        assert!(is_success && text.contains("rm -rf new/.git"), "{text}");
        ground.lay_out("git -C new fsck --full --strict; git -C new show v1");
    });
}

#[test]
fn a_reftable_is_restored_as_a_whole_or_not_at_all() {
    for_everybody(&|ground| {
        let ground = ground.another();
        let begin =
            "git init -q -b master --ref-format=reftable . && git config user.name A && git config user.email a@b.c";
        ground.lay_out(&format!("{begin} || rm -rf .git"));
        if !Need::Git.met(ground.place.path(".git/reftable").exists()) {
            return;
        }
        ground.lay_out("echo one > a; git add a; git commit -qm one");
        let commit = "echo two > a; git commit -qam two";
        assert_eq!(ground.bash_unread(commit, 60.0)["exit_code"], 0);
        assert!(ground.haft(&["undo"]).status.success());
        ground.lay_out("git fsck --full; test $(git log --oneline | wc -l) = 1; git prune --expire=now");
        let (is_success, _, text) = undone(&ground, &["redo"]);
        assert!(is_success, "{text}");
        ground.lay_out("git fsck --full; test $(git log --oneline | wc -l) = 2; git tag t");
        let (is_success, _, text) = undone(&ground, &["undo"]);
        assert!(!is_success && text.contains("reftable"), "{text}");
        ground.lay_out("git fsck --full; git show t");
    });
}

#[test]
fn a_working_tree_that_git_removes_is_gone_and_undo_brings_it_back() {
    for_everybody(&|ground| {
        let ground = ground.another();
        if !ground.has_git() {
            return;
        }
        ground.lay_out(&format!("{REPOSITORY}git worktree add -q wt -b wtb"));
        let before = ground.tree();
        let alone = ground.bash("rm .git/worktrees/wt/commondir", 30.0);
        assert!(ground.place.path(".git/worktrees/wt/commondir").exists(), "{alone:#}");
        let removed = ground.bash("git worktree remove --force wt", 30.0);
        assert_eq!(removed["exit_code"], 0, "{removed:#}");
        assert!(!ground.place.path(".git/worktrees/wt").exists(), "{removed:#}");
        ground.lay_out("git fsck --full --strict && git worktree list && git worktree prune");
        let (is_success, _, text) = undone(&ground, &["undo"]);
        assert!(is_success, "{text}");
        crate::ground::assert_same("undo", &before, &ground.tree());
    });
}
