//! Protected names that a command puts into what git keeps: the result of that command names them.

use serde_json::Value;

use crate::ground::Ground;

/// A repository with a protected name that the user committed.
const BEFORE: &str = "git init -q .; git config user.name A; git config user.email a@b.c; echo hi > a.txt; mkdir src .vscode; \
                      echo x > src/x.c; echo {} > .vscode/settings.json; git add .; git commit -qm i; git branch side";

/// Puts an object into `$h`.
const OBJECT: &str = "h=$(echo evil | git hash-object -w --stdin); ";

/// Ways to leave a version of `.husky/pre-commit` in git.
const PLANTED: &[(&str, &str)] = &[
    ("an index", "git update-index --add --cacheinfo 100755,$h,.husky/pre-commit"),
    (
        "an index whose file git does not look for",
        "git update-index --add --cacheinfo 100755,$h,.husky/pre-commit; git update-index --skip-worktree .husky/pre-commit",
    ),
    ("a split index", "git update-index --split-index; git update-index --add --cacheinfo 100755,$h,.husky/pre-commit"),
    ("an index of version 4", "git update-index --index-version 4 --add --cacheinfo 100755,$h,.husky/pre-commit"),
    (
        "a side of a conflict",
        "printf '100755 %s 2\\t.husky/pre-commit\\n100755 %s 3\\t.husky/pre-commit\\n' $h $h | git update-index --index-info",
    ),
    ("a file that was added", "mkdir .husky; echo evil > .husky/pre-commit; git add -f .husky"),
    ("a commit", "mkdir .husky; echo evil > .husky/pre-commit; git add -f .; git commit -qm x"),
    (
        "a commit whose name the index does not have",
        "git update-index --add --cacheinfo 100755,$h,.husky/pre-commit; git commit -qm x; git rm -qr --cached .husky; git commit -qm y",
    ),
    (
        "a commit of another branch",
        "t=$(printf '100755 blob %s\\tpre-commit\\n' $h | git mktree); t=$(printf '040000 tree %s\\t.husky\\n' $t | git mktree); \
         git update-ref refs/heads/z/y $(git commit-tree -m x $t)",
    ),
    (
        "a commit that only the log of a reference has",
        "git update-index --add --cacheinfo 100755,$h,.husky/pre-commit; git commit -qm x; git reset -q --hard HEAD~1",
    ),
    ("a stash", "mkdir .husky; echo evil > .husky/pre-commit; git stash -qu"),
    ("a stash of the index", "git update-index --add --cacheinfo 100755,$h,.husky/pre-commit; git stash -q"),
    (
        "a tag on a tree",
        "git update-index --add --cacheinfo 100755,$h,.husky/pre-commit; git tag t $(git write-tree); git read-tree HEAD",
    ),
    (
        "a commit in the place of another one",
        "t=$(printf '100755 blob %s\\tpre-commit\\n' $h | git mktree); t=$(printf '040000 tree %s\\t.husky\\n' $t | git mktree); \
         git replace HEAD $(git commit-tree -m x $t)",
    ),
    (
        "the index of a worktree",
        "git worktree add -q --detach wt; cd wt; git update-index --add --cacheinfo 100755,$h,.husky/pre-commit",
    ),
    (
        "a sparse index",
        "git sparse-checkout set --sparse-index src; git update-index --add --cacheinfo 100755,$h,.husky/pre-commit; \
         git sparse-checkout reapply --sparse-index || true",
    ),
    (
        "a new repository",
        "git init -q new; cd new; h=$(echo evil | git hash-object -w --stdin); git update-index --add --cacheinfo 100755,$h,.husky/pre-commit",
    ),
    (
        "a branch that was packed",
        "git update-index --add --cacheinfo 100755,$h,.husky/pre-commit; git commit -qm x; git gc -q",
    ),
];

fn said(record: &Value) -> String {
    record.to_string()
}

#[test]
fn the_result_of_a_command_names_the_protected_names_that_it_left_in_git() {
    let ground = Ground::own();
    if !ground.has_git() {
        return;
    }
    for (name, command) in PLANTED {
        let ground = ground.another();
        ground.lay_out(BEFORE);
        let record = ground.bash_unread(&format!("{OBJECT}{command}"), 60.0);
        let said = said(&record);
        let is_named = [
            "New commits have protected names: .husky/pre-commit",
            "new versions of protected names: .husky/pre-commit",
        ]
        .iter()
        .any(|words| said.contains(words));
        assert!(is_named, "{name}: {record:#}");
        assert!(!said.contains("could not look"), "{name}: {record:#}");
    }
}

#[test]
fn a_result_says_when_haft_could_not_look_at_what_the_command_left_in_git() {
    let ground = Ground::own();
    if !ground.has_git() {
        return;
    }
    let many = "for i in $(seq 20); do git init -q r$i; done";
    for command in ["echo junk > .git/index", "printf DIRC > .git/index", many] {
        let ground = ground.another();
        ground.lay_out(BEFORE);
        let record = ground.bash_unread(command, 60.0);
        assert!(said(&record).contains("could not look at everything"), "{command}: {record:#}");
    }
}

/// Other things of that kind: what must be said.
const OTHERS: &[(&str, &str, &str)] = &[
    ("a tracked name changes", "git update-index --cacheinfo 100644,$h,.vscode/settings.json", ".vscode/settings.json"),
    ("a tracked name becomes a program", "git update-index --chmod=+x .vscode/settings.json", ".vscode/settings.json"),
    (
        "a file stands for another one",
        "git replace $(git rev-parse HEAD:.vscode/settings.json) $h",
        "in the place of another: refs/replace/",
    ),
    (
        "a folder stands for another one",
        "git replace $(git rev-parse HEAD:.vscode) $(printf '100644 blob %s\\tsettings.json\\n' $h | git mktree)",
        "in the place of another: refs/replace/",
    ),
];

#[test]
fn new_versions_modes_and_replacements_are_named_too() {
    let ground = Ground::own();
    if !ground.has_git() {
        return;
    }
    for (name, command, wanted) in OTHERS {
        let ground = ground.another();
        ground.lay_out(BEFORE);
        let record = ground.bash_unread(&format!("{OBJECT}{command}"), 60.0);
        assert!(said(&record).contains(wanted), "{name}: {record:#}");
    }
}

/// Ordinary work in a repository that has a protected name.
const ORDINARY: &[&str] = &[
    "git status",
    "echo 2 > a.txt; git add .; git commit -qm 2",
    "echo 2 > a.txt; git stash -q; git stash pop -q",
    "git checkout -q side; echo 2 > a.txt; git commit -qam 2; git checkout -q -; echo 3 > src/x.c; git commit -qam 3; git merge -q side",
    "git gc -q; git pack-refs --all",
    "git worktree add -q wt -b wtb",
    "git update-index --split-index; echo 2 > a.txt; git add .",
    "git update-index --index-version 4",
    "git rm -q --cached .vscode/settings.json",
    "echo 2 > a.txt; git commit -qam 2; git reset -q --hard HEAD~1; git tag t; git branch -D side",
    "git checkout -q side; echo 2 > a.txt; git commit -qam 2; git checkout -q -; echo 3 > a.txt; git commit -qam 3; git merge -q side",
];

#[test]
fn ordinary_work_in_a_repository_with_a_protected_name_says_nothing_of_it() {
    let ground = Ground::own();
    if !ground.has_git() {
        return;
    }
    for command in ORDINARY {
        let ground = ground.another();
        ground.lay_out(BEFORE);
        let record = ground.bash_unread(command, 60.0);
        let said = said(&record);
        let is_named =
            ["protected names", "in the place of another", "could not look"].iter().any(|words| said.contains(words));
        assert!(!is_named, "{command}: {record:#}");
    }
}

/// Moves to protected names, and what must still be there.
const MOVES: &[(&str, &[&str])] = &[
    ("git mv d1 .husky", &["d1/a", "d1/b/c"]),
    ("mv d1 .husky", &["d1/a", "d1/b/c"]),
    ("mv d1/a .bashrc", &["d1/a", "d1/b/c"]),
    ("mkdir .idea; mv d1/b .idea/", &["d1/a", "d1/b/c"]),
    ("mv d1 d2; mv d2/a .envrc", &["d1/a", "d2/b/c"]),
];

#[test]
fn what_a_command_moves_to_a_protected_name_keeps_its_old_name() {
    let ground = Ground::own();
    if !ground.has_git() {
        return;
    }
    for (command, stays) in MOVES {
        let ground = ground.another();
        ground.lay_out(&format!(
            "{BEFORE}; mkdir -p d1/b; echo one > d1/a; echo two > d1/b/c; git add .; git commit -qm d"
        ));
        let record = ground.bash_unread(command, 60.0);
        for path in *stays {
            assert!(ground.place.path(path).is_file(), "{command}: {path}: {record:#}");
        }
        assert!(said(&record).contains("Not removed, because"), "{command}: {record:#}");
        assert!(ground.haft(&["undo"]).status.success() || record["change_set"].is_null(), "{command}");
    }
    // What is removed or moved elsewhere goes.
    let ground = ground.another();
    ground.lay_out(&format!("{BEFORE}; echo one > b"));
    let record = ground.bash_unread("mkdir .husky; echo other > .husky/x; rm a.txt; mv b c", 60.0);
    assert!(!ground.place.path("a.txt").exists() && !ground.place.path("b").exists(), "{record:#}");
}

#[test]
fn a_stopped_rebase_whose_list_is_refused_says_how_to_go_on_and_that_works() {
    let ground = Ground::own();
    if !ground.has_git() {
        return;
    }
    ground.lay_out(&format!("{BEFORE}; for i in 1 2; do echo $i > f$i; git add .; git commit -qm $i; done"));
    let editor = "printf 'edit %s\\nexec true\\npick %s\\n' $(git rev-parse HEAD~1) $(git rev-parse HEAD) >";
    let record = ground.bash_unread(&format!("GIT_SEQUENCE_EDITOR=\"{editor}\" git rebase -i HEAD~2"), 60.0);
    let said = said(&record);
    assert!(said.contains("git-rebase-todo") && said.contains("rebase --abort"), "{record:#}");
    let record = ground.bash_unread("git rebase --abort && git log --oneline && git status --porcelain", 60.0);
    assert_eq!(record["exit_code"], 0, "{record:#}");
    ground.lay_out("test -f f2; test -z \"$(git status --porcelain)\"; test ! -e .git/rebase-merge");
}
