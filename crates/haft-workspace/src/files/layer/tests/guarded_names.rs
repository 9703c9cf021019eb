//! Tests that protected names stay unchanged in every folder.

use super::*;

#[test]
fn protected_names_are_refused_in_every_folder_and_the_rest_comes_in() {
    let scene = LayerFixture::new(&[("src/a", "a"), (".vscode/settings.json", "{}")]);
    let settled = scene.run(|upper| {
        upper.write("src/a", "b");
        upper.write("src/.envrc", "evil");
        upper.write(".vscode/tasks.json", "evil");
        upper.gone(".vscode/settings.json");
        upper.write("deep/er/.GIT/Hooks/pre-commit", "evil");
    });
    assert_eq!(changed(&settled), ["replace src/a"]);
    assert_eq!(scene.tree().keys().collect::<Vec<_>>(), [".vscode", ".vscode/settings.json", "src", "src/a"]);
    assert_eq!(settled.notes.len(), 3);
    assert!(settled.notes.iter().all(|note| note.starts_with("Refused, because ")), "{:?}", settled.notes);
}

#[test]
fn a_hook_leaves_nothing_also_where_no_repository_was() {
    let scene = LayerFixture::new(&[]);
    let settled = scene.run(|upper| upper.write(".git/hooks/pre-commit", "x"));
    assert!(scene.tree().is_empty());
    assert_eq!(
        settled.notes,
        [
            "Refused, because it belongs to version control, where hooks and settings run programs: .git/hooks/pre-commit. \
          It was left unchanged; a person can change it in their own terminal."
        ]
    );
}

#[test]
fn a_moved_repository_leaves_its_hooks_behind_whatever_its_new_name() {
    let scene = LayerFixture::new(&[]);
    scene.run(|upper| {
        upper.write("g2/HEAD", "ref: refs/heads/main\n");
        upper.write("g2/config", "[core]\n\tfsmonitor = evil\n");
        upper.write("g2/hooks/pre-commit", "evil");
        upper.write("g2/objects/aa", "");
        upper.write("g2/refs/heads/main", "aa");
        upper.write("hooks/useState.ts", "fine");
        upper.write("config", "fine");
    });
    assert!(!scene.has("g2/hooks") && !scene.has("g2/config"));
    assert!(scene.has("g2/HEAD") && scene.has("hooks/useState.ts") && scene.has("config"));
}

#[test]
fn empty_folders_beside_what_is_refused_come_in_with_the_rest() {
    let scene = LayerFixture::new(&[]);
    let settled = scene.run(|upper| {
        upper.write("x/config", "[core]\n\tfsmonitor = evil\n");
        upper.folder("x/objects");
        upper.folder("x/refs");
        upper.write("other.txt", "fine");
    });
    assert!(scene.has("other.txt") && scene.has("x/objects") && scene.has("x/refs"), "{settled:?}");
    assert!(!scene.has("x/config"), "{settled:?}");
}

#[test]
fn a_folder_with_hooks_is_not_made_a_repository_later() {
    let scene = LayerFixture::new(&[("evil/config", "[core]\nfsmonitor = a\n"), ("evil/hooks/a", "a")]);
    scene.run(|upper| {
        upper.write("evil/HEAD", "ref: refs/heads/main\n");
        upper.folder("evil/objects");
        upper.folder("evil/refs");
    });
    assert!(!scene.has("evil/HEAD") && !scene.has("evil/objects") && !scene.has("evil/refs"));
}

#[test]
fn a_folder_that_says_where_its_repository_is_counts_as_one() {
    let scene = LayerFixture::new(&[("old/HEAD", "h"), ("ready/commondir", "../evil\n"), ("hooks/bare/objects/a", "")]);
    let settled = scene.run(|upper| {
        upper.write("old/commondir", "../evil\n");
        upper.write("ready/HEAD", "ref: refs/heads/main\n");
        upper.write("new/HEAD", "ref: refs/heads/main\n");
        upper.write("new/commondir", "../evil\n");
        upper.write("new/config.worktree", "[core]\n\tfsmonitor = evil\n");
        upper.write("hooks/bare/refs/a", "");
        upper.write("hooks/bare/HEAD", "ref: refs/heads/main\n");
        upper.write("hooks/bare/hooks/pre-commit", "evil");
        upper.write("almost/objects/a", "");
        upper.write("almost/refs/a", "");
        upper.write("almost/config", "[core]\n\tfsmonitor = evil\n");
        upper.write("other/commondir", "fine");
    });
    let came = changed(&settled);
    let wanted = [
        "create almost/objects/a",
        "create almost/refs/a",
        "create hooks/bare/head",
        "create hooks/bare/refs/a",
        "create new/head",
        "create other/commondir",
    ];
    assert_eq!(came, wanted);
}

#[test]
fn a_worktree_that_git_adds_still_comes_in() {
    let scene = LayerFixture::new(&[(".git/HEAD", "h"), (".git/objects/a", ""), (".git/refs/a", "")]);
    scene.run(|upper| {
        upper.write(".git/worktrees/w/HEAD", "ref: refs/heads/w\n");
        upper.write(".git/worktrees/w/commondir", "../..\n");
        upper.write("w/.git", "gitdir: ../.git/worktrees/w\n");
    });
    assert!(scene.has(".git/worktrees/w/commondir") && scene.has(".git/worktrees/w/HEAD") && scene.has("w/.git"));
}

#[test]
fn where_a_folder_is_refused_nothing_in_it_comes_and_the_rest_does() {
    let scene = LayerFixture::new(&[("a", "a"), ("sub/.git", "gitdir: ../.git/modules/sub\n")]);
    let settled = scene.run(|upper| {
        upper.write("a", "b");
        upper.write("sub/.git/HEAD", "ref: refs/heads/main\n");
        upper.write("sub/.git/objects/info/a", "");
        upper.write("sub/b", "b");
    });
    assert_eq!(changed(&settled), ["create sub/b", "replace a"]);
    assert!(scene.content("sub/.git").starts_with("gitdir:"));
    assert!(settled.notes.iter().any(|note| note.contains("sub/.git")), "{:?}", settled.notes);
}

#[test]
fn what_git_is_to_do_when_it_goes_on_names_no_program() {
    let scene = LayerFixture::new(&[(".git/HEAD", "h")]);
    scene.run(|upper| {
        upper.write(".git/rebase-merge/git-rebase-todo", "exec evil\n");
        upper.write(".git/rebase-merge/done", "pick a\n");
    });
    assert!(!scene.has(".git/rebase-merge/git-rebase-todo") && scene.has(".git/rebase-merge/done"));
}

#[test]
fn well_known_names_that_exist_are_read_only_inside() {
    let scene = LayerFixture::new(&[(".git/config", ""), (".git/hooks/a", ""), (".vscode/a", ""), ("src/a", "")]);
    let ground = scene.ground();
    let mut names: Vec<_> = ground.roots()[0].read_only.iter().map(|name| name.display().to_string()).collect();
    names.sort();
    // Not `.git/config`: what is added to it is judged by its content.
    assert_eq!(names, [".git/hooks", ".vscode"]);
}

#[test]
fn what_trusted_code_names_stays_as_it_is_and_its_folder_with_it() {
    let scene = LayerFixture::new(&[("scripts/run.py", "good"), ("scripts/other.py", "a"), ("go.sh", "good")]);
    scene.root.protect(["scripts/run.py", "go.sh", "later.py"].map(PathBuf::from));
    let settled = scene.run(|upper| {
        upper.gone("scripts");
        upper.write("go.sh", "evil");
        upper.write("later.py", "evil");
        upper.write("new.py", "fine");
    });
    assert_eq!(scene.tree().keys().collect::<Vec<_>>(), ["go.sh", "new.py", "scripts", "scripts/run.py"]);
    assert_eq!(
        settled.notes,
        ["Refused, because trusted tools or hooks run it: go.sh, later.py, scripts/run.py. \
          It was left unchanged; a person can change it in their own terminal."]
    );
}

#[test]
fn every_row_of_the_table_of_protected_names_is_kept_out() {
    // Data of version control is judged by its own rules.
    let is_data = |pattern: &str| [".git/**", "git~1/**", ".hg/**", ".svn/**", ".jj/**"].contains(&pattern);
    let names: Vec<String> = haft_contract::files::guarded::protected_names()
        .filter(|name| !is_data(name.pattern))
        .map(|name| name.example())
        .collect();
    let scene = LayerFixture::new(&[("src/a", "a")]);

    scene.run(|upper| {
        for (number, name) in names.iter().enumerate() {
            upper.write(&format!("d{number}/{name}"), "evil");
        }
        upper.write("src/b", "b");
        upper.write(".git/info/attributes", "* filter=evil");
    });

    let planted: Vec<String> =
        scene.tree().into_keys().filter(|path| names.iter().any(|name| path.ends_with(name))).collect();
    assert!(planted.is_empty(), "{planted:?}");
    assert!(!scene.tree().contains_key(".git/info/attributes"));
    assert!(scene.tree().contains_key("src/b"));
}

#[test]
fn what_protected_names_lead_to_stays_as_it_is() {
    let config = "[core]\n\thooksPath = tools\n[alias]\n\tx = !scripts/x.sh\n";
    let scene =
        LayerFixture::new(&[(".git/config", config), ("tools/a", "a"), ("scripts/y.sh", "y"), ("cfg/t.json", "{}")]);
    std::os::unix::fs::symlink("cfg", scene.root.path().join(".vscode")).expect("a link can be made");
    let before = scene.tree();
    let settled = scene.run(|upper| {
        upper.write("tools/pre-commit", "evil");
        upper.gone("tools/a");
        upper.write("scripts/x.sh", "evil");
        upper.write("cfg/tasks.json", "evil");
        upper.write("scripts/y.sh", "fine");
        upper.write("new", "fine");
    });
    assert_eq!(changed(&settled), ["create new", "replace scripts/y.sh"]);
    assert_eq!(scene.tree().len(), before.len() + 1);
    assert_eq!(
        settled.notes,
        ["Refused, because a protected name leads to it, so programs run or follow it: cfg/tasks.json, scripts/x.sh, \
          tools/a, tools/pre-commit. It was left unchanged; a person can change it in their own terminal."]
    );
    let settled = scene.run(|upper| upper.link("cfg", "other"));
    assert_eq!(changed(&settled), [""; 0], "no link takes the place of the folder");
}
