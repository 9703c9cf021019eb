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

/// What the command does.
const COMMANDS: &[&str] = &[
    "echo 9 > a.txt; git commit -qam model; echo W > work",
    "git commit -q --amend -m other",
    "git rebase -q side",
    "git reset -q --hard HEAD~1",
    "git merge -q -m m side",
    "git branch -d merged; git branch -D side",
    "git branch -m side other || true",
    "git branch new HEAD~1; git branch -f side HEAD",
    "git tag v3; git tag -f v1 HEAD~1; git tag -d v2",
    "git tag -f v1 HEAD~1",
    "git worktree add -q wt -b wtb",
    "git worktree add -q wt side; cd wt; echo 7 > a.txt; git commit -qam 7",
    "git checkout -q side; echo 8 > s.txt; git commit -qam 8",
    "echo 6 > a.txt; git stash -q",
    "git update-ref -d refs/heads/side; git update-ref refs/other/x HEAD",
    "echo 9 > a.txt; git commit -qam 9; git pack-refs --all",
    "echo 9 > a.txt; git commit -qam 9; git gc -q",
    "git pack-refs --all; echo 9 > a.txt; git commit -qam 9",
    "git checkout -q --orphan fresh; git commit -qm fresh",
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

fn back(ground: &Ground, (way, when): (&str, &str), wanted: &str) {
    let done = ground.haft(&[way]);
    let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{when}: {said}");
    let now = view(ground, when);
    assert!(now == wanted, "{when}: {said}\n--- wanted\n{wanted}--- now\n{now}");
}

#[test]
fn undo_and_redo_restore_references_wherever_git_keeps_them() {
    let ground = Ground::own();
    if !ground.has_git() {
        return;
    }
    std::thread::scope(|scope| {
        for (kept, pack) in KEPT {
            let ground = ground.another();
            scope.spawn(move || {
                COMMANDS.iter().for_each(|command| to_and_fro(&ground.another(), (kept, pack), command))
            });
        }
    });
}

/// Runs a command in a repository, and takes it back and forth.
fn to_and_fro(ground: &Ground, (kept, pack): (&str, &str), command: &str) {
    ground.lay_out(&format!("{REPOSITORY}; {pack}"));
    let name = format!("{kept}: {command}");
    let before = view(ground, &name);
    let record = ground.bash_unread(command, 60.0);
    assert_eq!(record["exit_code"], 0, "{name}: {record:#}");
    let after = view(ground, &name);
    for (number, way) in ["undo", "redo", "undo"].into_iter().enumerate() {
        let wanted = if way == "undo" { &before } else { &after };
        back(ground, (way, &format!("{name}: {way} ({number})")), wanted);
    }
}

#[test]
fn a_redo_does_not_move_a_reference_that_was_made_and_packed_since() {
    let ground = Ground::own();
    if !ground.has_git() {
        return;
    }
    for reference in ["branch", "tag"] {
        let ground = ground.another();
        ground.lay_out(REPOSITORY);
        ground.bash_unread(&format!("git {reference} new"), 60.0);
        assert!(ground.haft(&["undo"]).status.success());
        ground.lay_out(&format!("git {reference} new HEAD~2; git pack-refs --all"));
        let before = view(&ground, reference);
        assert!(!ground.haft(&["redo"]).status.success(), "{reference}");
        assert_eq!(view(&ground, reference), before);
    }
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

/// Removals of repositories, and what they leave of them.
const REMOVING: &[(&str, &str)] = &[
    ("rm -rf nested", "nested"),
    ("rm -rf nested || true; mkdir nested; echo x > nested/x", "nested"),
    ("find . -delete || true", ""),
    ("find . -mindepth 1 -delete || true", "nested"),
];

#[test]
fn a_removed_repository_goes_again_when_its_removal_is_redone() {
    let ground = Ground::own();
    if !ground.has_git() {
        return;
    }
    for (command, repository) in REMOVING {
        let ground = ground.another();
        ground
            .lay_out(&format!("{REPOSITORY}; git init -q nested; cd nested; echo x > x; git add .; git commit -qm x"));
        let before = ground.tree();
        ground.bash_unread(command, 60.0);
        let after = ground.tree();
        for way in ["undo", "redo", "undo", "redo"] {
            let done = ground.haft(&[way]);
            let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
            let name = format!("{command}: {way}: {said}");
            assert!(done.status.success() && !said.contains("was used since"), "{name}");
            crate::ground::assert_same(&name, if way == "undo" { &before } else { &after }, &ground.tree());
        }
        // What was put into it since stays.
        assert!(ground.haft(&["undo"]).status.success());
        ground.lay_out(&format!("git -C ./{repository} commit -q --allow-empty -m y"));
        let said = String::from_utf8_lossy(&ground.haft(&["redo"]).stdout).into_owned();
        let log = ground.place.path(repository).join(".git/logs/HEAD");
        assert!(log.is_file(), "{command}: {said}");
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
