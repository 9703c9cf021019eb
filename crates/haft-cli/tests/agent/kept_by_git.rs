//! Values of secret files that only git keeps: a process hides them in files that an earlier one wrote.

use std::process::Command;

use crate::place::{Place, said as said_by};

const CANARY: &str = "canaryJ6t3Wm8Zr5";

/// How a value comes to be in git and nowhere else in the workspace. `$V` is the value.
const SCENES: &[(&str, &str)] = &[
    ("an older commit", "echo A=$V > .env; git add .env; git commit -qm 1; git rm -q .env; git commit -qm 2"),
    (
        "a commit of another branch",
        "git checkout -qb x; echo A=$V > .env; git add .env; git commit -qm 1; git checkout -q -",
    ),
    (
        "a commit that only the log of a reference has",
        "echo A=$V > .env; git add .env; git commit -qm 1; git reset -q --hard HEAD~1",
    ),
    (
        "ORIG_HEAD",
        "echo A=$V > .env; git add .env; git commit -qm 1; git reset -q --hard HEAD~1; git reflog expire --expire=now --all",
    ),
    (
        "a stash",
        "echo A=b > .env; git add .env; git commit -qm 1; echo A=$V > .env; git stash -q; git rm -q .env; git commit -qm 2",
    ),
    ("a stash of what git does not know", "echo A=$V > .env; git stash -qu"),
    ("the stash before the last", "echo A=$V > .env; git stash -qu; echo x > y; git stash -qu"),
    ("the index", "echo A=$V > .env; git add .env; rm .env"),
    (
        "a side of a conflict",
        "echo A=b > .env; git add .env; git commit -qm 1; git checkout -qb x; echo A=c > .env; git commit -qam 2; \
         git checkout -q -; echo A=$V > .env; git commit -qam 3; git merge -q x; rm .env; true",
    ),
    (
        "a merge that is like no parent",
        "echo A=b > .env; git add .env; git commit -qm 1; git checkout -qb x; echo A=c > .env; git commit -qam 2; \
         git checkout -q -; echo A=d > .env; git commit -qam 3; git merge -q x; echo A=$V > .env; git commit -qam 4; \
         git rm -q .env; git commit -qm 5",
    ),
    (
        "FETCH_HEAD",
        "git init -q ../other; cd ../other; echo A=$V > .env; git add .env; git commit -qm 1; cd ../ws; git fetch -q ../other",
    ),
    ("a tag on a tree", "echo A=$V > .env; git add .env; git tag t $(git write-tree); git rm -qf .env"),
    ("a tag on a file", "git tag t $(echo A=$V | git hash-object -w --stdin)"),
    ("a signed tag on a file", "git tag -a -m x t $(echo A=$V | git hash-object -w --stdin)"),
    (
        "a worktree elsewhere",
        "git worktree add -q --detach ../tree; cd ../tree; echo A=$V > .env; git add .env; git commit -qm 1; rm -rf ../ws/.git/logs ../ws/.git/worktrees/*/logs",
    ),
    (
        "the index of a worktree elsewhere",
        "git worktree add -q --detach ../tree; cd ../tree; echo A=$V > .env; git add .env",
    ),
    (
        "a submodule whose folder is gone",
        "git init -q ../other; cd ../other; echo A=$V > .env; git add .env; git commit -qm 1; git rm -q .env; git commit -qm 2; \
         mkdir -p ../ws/.git/modules/deep; git clone -q --bare . ../ws/.git/modules/deep/sub",
    ),
    (
        "a repository deeper down",
        "git init -q deep/er; cd deep/er; echo A=$V > .env; git add .env; git commit -qm 1; git rm -q .env; git commit -qm 2",
    ),
    (
        "a bare repository",
        "git init -q ../other; cd ../other; echo A=$V > .env; git add .env; git commit -qm 1; git clone -q --bare . ../ws/backup",
    ),
    (
        "the repository of a worktree that is the workspace",
        "rm -rf .git; git init -q ../other; cd ../other; echo A=$V > .env; git add .env; git commit -qm 1; git rm -q .env; \
         git commit -qm 2; git worktree add -q --detach ../ws/inner; mv ../ws/inner/.git ../ws/.git; rmdir ../ws/inner; \
         echo ../../../../ws/.git > .git/worktrees/inner/gitdir",
    ),
];

fn sh(place: &Place, script: &str, value: &str) {
    let mut command = Command::new("sh");
    command.current_dir(place.path("ws")).args(["-c", script]).env("V", value).env("HOME", place.path("home"));
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "a").env(format!("GIT_{who}_EMAIL"), "a@example.com");
    }
    let output = command.output().expect("a shell runs");
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

#[track_caller]
fn assert_hidden(place: &Place, scene: &str) {
    let said = said_by(place.bare(&["call", "read_file", "path=patch.txt", "--json"]));
    let said = said.out + &said.err;
    assert!(!said.contains("canary"), "{scene}: {said}");
    assert!(said.contains("[secret]"), "{scene}: {said}");
}

#[test]
fn what_only_git_keeps_of_secret_files_is_hidden_in_a_file_that_an_earlier_process_wrote() {
    let mut shown = Vec::new();
    for (scene, script) in SCENES {
        let place = Place::new();
        sh(&place, "git init -q; echo x > a.txt; git add a.txt; git commit -qm 0", "");
        sh(&place, script, CANARY);
        place.put("ws/patch.txt", &format!("+A={CANARY}\n"));
        // The first process asks git, the second remembers.
        for process in ["first", "second"] {
            let said = said_by(place.bare(&["call", "read_file", "path=patch.txt", "--json"]));
            if said.out.contains("canary") || !said.out.contains("[secret]") {
                shown.push(format!("{scene}, {process}: {}{}", said.out, said.err));
            }
        }
    }
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}

#[test]
fn what_is_new_in_git_is_hidden_by_the_next_call() {
    let place = Place::new();
    sh(&place, "git init -q; echo x > a.txt; git add a.txt; git commit -qm 0", "");
    for (number, value) in ["canaryA1b2C3d4", "canaryE5f6G7h8", "canaryI9j0K1l2"].iter().enumerate() {
        sh(&place, "echo A=$V > .env; git add .env; git commit -qm 1; git rm -q .env; git commit -qm 2", value);
        place.put("ws/patch.txt", &format!("+A={value}\n"));
        assert_hidden(&place, &format!("commit {number}"));
    }
    place.put("ws/patch.txt", "canaryA1b2C3d4 canaryE5f6G7h8 canaryI9j0K1l2\n");
    assert_hidden(&place, "all of them");
}
