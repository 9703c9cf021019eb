//! Undo and redo where git keeps references packed, loose, or both: what counts is where each of them points.

use std::process::Command;

use crate::ground::Ground;

/// A repository with branches, a tag and a stash.
const REPOSITORY: &str = "git init -q .; git config user.name A; git config user.email a@b.c; \
    for i in 1 2 3; do echo $i > a.txt; git add .; git commit -qm $i; done; mkdir src; echo x > src/x.c; git add .; \
    git commit -qm 4; git tag v1; git tag -a -m v2 v2; git branch side HEAD~2; git branch merged HEAD~1; \
    git checkout -q side; echo s > s.txt; git add .; git commit -qm s; git checkout -q -";

/// How git keeps the references before the command.
const KEPT: &[(&str, &str)] = &[
    ("loose", ""),
    ("packed", "git pack-refs --all"),
    ("after gc", "git gc -q"),
    (
        "packed, and some loose again",
        "git pack-refs --all; echo 5 > a.txt; git commit -qam 5; git tag -f v1 > /dev/null",
    ),
];

/// Returns what git shows of the repository, and that it is sound.
fn view(ground: &Ground, when: &str) -> String {
    let script = "git for-each-ref; git symbolic-ref HEAD; git stash list; git status --porcelain -uall; git log --oneline -g HEAD; \
                  git ls-files -s; git worktree list; git fsck --full --strict 2>&1 | grep -v '^dangling\\|^notice' || true";
    let shown = Command::new("bash").args(["-c", script]).current_dir(ground.place.path("")).output();
    let shown = shown.expect("there is a shell");
    let text = String::from_utf8_lossy(&shown.stdout).into_owned() + &String::from_utf8_lossy(&shown.stderr);
    assert!(!["error", "missing", "broken", "fatal"].iter().any(|word| text.contains(word)), "{when}: {text}");
    text
}

/// Commands that add no commit.
const CLEANING: &[&str] = &[
    "git gc -q",
    "git gc -q --aggressive --prune=now",
    "git repack -adq",
    "git repack -aq",
    "git repack -adq; git prune-packed; git pack-refs --all",
    "git maintenance run -q",
    "git maintenance run -q --task=loose-objects --task=incremental-repack",
    "git reflog expire --expire=now --all; git gc -q",
    "mv .git/objects/pack p; for i in p/*.pack; do git unpack-objects -q < $i; done; rm -rf p; mkdir -p .git/objects/pack",
];

#[test]
fn undo_names_no_commit_that_the_command_only_stored_anew() {
    let ground = Ground::own();
    if !ground.has_git() {
        return;
    }
    for (kept, pack) in KEPT {
        for command in CLEANING {
            let ground = ground.another();
            ground.lay_out(&format!("{REPOSITORY}; git worktree add -q wt -b wtb; {pack}"));
            let name = format!("{kept}: {command}");
            ground.bash_unread(command, 60.0);
            let done = ground.haft(&["undo"]);
            let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
            let is_named = ["undone commit", "reset --keep", "branch -D", "tag -d", "reflog delete"];
            assert!(!is_named.iter().any(|words| said.contains(words)), "{name}: {said}");
            view(&ground, &name);
        }
    }
}

#[test]
fn undo_still_names_what_points_to_a_commit_that_the_command_made_and_packed() {
    let ground = Ground::own();
    if !ground.has_git() {
        return;
    }
    for pack in ["true", "git gc -q", "git repack -adq"] {
        let ground = ground.another();
        ground.lay_out(REPOSITORY);
        ground.bash_unread(&format!("echo 9 > a.txt; git commit -qam 9; {pack}"), 60.0);
        ground.lay_out("git tag mine");
        let done = ground.haft(&["undo"]);
        let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        assert!(said.contains("git tag -d mine"), "{pack}: {said}");
    }
}
