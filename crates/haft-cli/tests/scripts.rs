//! Shell scripts of many kinds, run for real and taken back: afterwards everything is as it was.
//!
//! Started as root, everything is done as root and as an ordinary user.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test lays out folders, starts processes and looks at what they left"
)]

#[path = "survival/place.rs"]
#[expect(dead_code, reason = "others kill it and read what it says")]
mod place;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use place::Place;
use serde_json::{Value, json};

const GIT: &str = "git -c user.name=a -c user.email=a@example.org -c init.defaultBranch=main";

/// What a script must leave behind.
enum Leaves {
    /// Something is different.
    Changes,
    /// Everything is as it was.
    Nothing,
}

/// Scripts that change files and folders.
const FILES: &[(&str, Leaves)] = &[
    ("sed -i s/one/two/ src/*.txt", Leaves::Changes),
    ("rm -r src", Leaves::Changes),
    ("rm -rf ./* && ls -A", Leaves::Changes),
    ("mv src lib && mv lib/deep src2", Leaves::Changes),
    ("mv src tmp && mv docs src && mv tmp docs", Leaves::Changes),
    ("chmod 700 src run.sh; chmod a-w docs/a.md; chmod 2755 docs", Leaves::Changes),
    ("ln -s src link; ln -s /nowhere dead; ln run.sh hard; ln -sf run.sh docs/a.md", Leaves::Changes),
    ("touch run.sh; chmod 755 run.sh; cp -p docs/a.md t; mv t docs/a.md; cat src/* > /dev/null", Leaves::Nothing),
    ("tar cf src.tar src && rm -r src && tar xf src.tar --no-same-owner && rm src.tar", Leaves::Nothing),
];

/// Scripts that do odd things, or do not end well.
const ODD: &[(&str, Leaves)] = &[
    ("echo x > half; rm docs/a.md; false; exit 3", Leaves::Changes),
    ("echo x > before; rm -r docs; sleep 60", Leaves::Changes),
    ("rm docs/a.md; mkdir docs/a.md; echo x > docs/a.md/inner; rm -r src; echo file > src", Leaves::Changes),
    ("printf 'a' > $'name\\nof two lines'; printf 'b' > $'\\xff\\xfe'; mkdir -p $'d\\t1'", Leaves::Changes),
    ("mkdir closed; echo x > closed/a; chmod 0 closed/a; chmod 500 closed; mkdir -m 0 shut", Leaves::Changes),
    ("mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; echo x > src/.envrc", Leaves::Nothing),
    ("truncate -s 3M big; dd if=/dev/zero of=big2 bs=1M count=3 status=none; : > docs/a.md", Leaves::Changes),
];

/// What git does; `GIT` stands for git with a user.
const REPOSITORIES: &[(&str, Leaves)] = &[
    (
        "GIT checkout -q -b other && GIT rm -q -r docs && GIT commit -qm two && GIT log --oneline | wc -l",
        Leaves::Changes,
    ),
    ("GIT mv src source && GIT status --short", Leaves::Changes),
    ("echo more >> src/one.txt; GIT add -A; GIT commit -qm more; GIT reset -q --hard HEAD~1", Leaves::Changes),
    ("echo stashed >> src/one.txt; GIT stash -q; test -z \"$(git status --short)\"", Leaves::Changes),
    ("GIT init -q nested && cd nested && echo a > a && GIT add a && GIT commit -qm a", Leaves::Changes),
    ("GIT tag v1; GIT gc -q", Leaves::Changes),
];

/// Scripts that change many files.
const MANY: &[(&str, Leaves)] = &[
    (
        "for i in {1..300}; do mkdir -p gen/$((i % 9)); echo \"fn f$i() {}\" > gen/$((i % 9))/$i.rs; done",
        Leaves::Changes,
    ),
    ("sed -i '1i // formatted' many/*", Leaves::Changes),
];

/// Who does it.
#[derive(Clone, Copy)]
enum Who {
    Us,
    Nobody,
}

impl Who {
    fn around(self) -> &'static [&'static str] {
        match self {
            Who::Us => &[],
            Who::Nobody => &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"],
        }
    }
}

#[test]
fn changes_of_files_and_folders_are_taken_back() {
    check(Who::Us, FILES, 0);
}

#[test]
fn changes_of_files_and_folders_are_taken_back_by_an_ordinary_user() {
    if rustix::process::geteuid().is_root() {
        check(Who::Nobody, FILES, 0);
    }
}

#[test]
fn odd_changes_and_bad_endings_are_taken_back() {
    check(Who::Us, ODD, 0);
}

#[test]
fn odd_changes_and_bad_endings_are_taken_back_by_an_ordinary_user() {
    if rustix::process::geteuid().is_root() {
        check(Who::Nobody, ODD, 0);
    }
}

#[test]
fn what_git_does_is_taken_back() {
    check(Who::Us, REPOSITORIES, 0);
}

#[test]
fn what_git_does_is_taken_back_by_an_ordinary_user() {
    if rustix::process::geteuid().is_root() {
        check(Who::Nobody, REPOSITORIES, 0);
    }
}

#[test]
fn changes_of_many_files_are_taken_back() {
    check(Who::Us, MANY, 1_000);
}

#[test]
fn changes_of_many_files_are_taken_back_by_an_ordinary_user() {
    if rustix::process::geteuid().is_root() {
        check(Who::Nobody, MANY, 1_000);
    }
}

#[test]
fn what_a_command_does_as_root_in_somebody_elses_workspace_belongs_to_them() {
    use std::os::unix::fs::MetadataExt;
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let place = Place::new();
    lay_out(&place, Who::Us);
    give(&place.path(""));
    let record = bash(&place, Who::Us, "echo x > src/one.txt; mkdir new; echo y > new/file; rm run.sh");
    assert_eq!(record["status"], "ok", "{record}");
    for path in ["src/one.txt", "new", "new/file"] {
        let facts = place.path(path).metadata().expect("it is there");
        assert_eq!((facts.uid(), facts.gid()), (65534, 65534), "{path}");
    }
}

#[test]
fn what_somebody_else_edits_meanwhile_is_never_lost() {
    let place = Place::new();
    place.put("target/a", "");
    lay_out(&place, Who::Us);
    // A folder that is mounted through is where both can see each other.
    let script = "echo by the command > docs/a.md; echo new > src/one.txt; : > target/started; \
                  until [ -e target/go ]; do :; done; rm -r src/deep";
    let record = std::thread::scope(|scope| {
        let running = scope.spawn(|| bash(&place, Who::Us, script));
        while !place.path("target/started").exists() && !running.is_finished() {
            std::thread::yield_now();
        }
        assert!(!running.is_finished(), "the command waits for us");
        place.put("docs/a.md", "by somebody else\n");
        place.put("src/deep/er/two.txt", "by somebody else\n");
        place.put("target/go", "");
        running.join().expect("it ends")
    });
    let content = |path: &str| std::fs::read_to_string(place.path(path)).unwrap_or_default();
    assert_eq!(content("docs/a.md"), "by somebody else\n", "{record}");
    assert_eq!(content("docs/a.md.kept-by-haft"), "by the command\n", "{record}");
    assert_eq!(content("src/deep/er/two.txt"), "by somebody else\n", "{record}");
    assert_eq!(content("src/one.txt"), "new\n", "{record}");
    assert!(
        record["content"].as_str().is_some_and(|text| text.contains("docs/a.md was changed by somebody else")),
        "{record}"
    );
}

#[test]
fn what_a_command_does_in_an_added_folder_is_taken_back_too() {
    let place = Place::new();
    lay_out(&place, Who::Us);
    let other = place.root().join("other");
    std::fs::create_dir(&other).expect("it is new");
    std::fs::write(other.join("a"), "a").expect("it can be written");
    let before = (tree(&place.path("")), tree(&other));
    let named = other.to_string_lossy().into_owned();
    let arguments = json!({ "command": format!("echo b > {named}/a; echo n > {named}/n; rm run.sh") }).to_string();
    let output = place.run(&["--yes", "--add-dir", &named, "call", "bash", &arguments]);
    assert_eq!(std::fs::read_to_string(other.join("a")).expect("it is there"), "b\n", "{output:?}");
    let undone = place.run(&["--add-dir", &named, "undo"]);
    assert!(undone.status.success(), "{undone:?}");
    assert_eq!((tree(&place.path("")), tree(&other)), before);
}

#[test]
fn a_script_that_is_only_tried_changes_nothing() {
    let place = Place::new();
    lay_out(&place, Who::Us);
    let before = tree(&place.path(""));
    let arguments = json!({ "command": "echo x > src/one.txt; rm -r docs; mkdir new" }).to_string();
    let output = place.run(&["--yes", "--try", "call", "bash", &arguments]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(tree(&place.path("")), before, "{text}");
    assert!(text.contains("docs/a.md"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

/// Runs scripts one after the other, each taken back before the next one.
fn check(who: Who, scripts: &[(&str, Leaves)], files: usize) {
    let place = Place::new();
    (0..files).for_each(|number| place.put(&format!("many/{number}"), &format!("content {number}\n")));
    lay_out(&place, who);
    let before = tree(&place.path(""));
    for (script, leaves) in scripts {
        let script = script.replace("GIT", GIT);
        let record = bash(&place, who, &script);
        let differs = difference(&before, &tree(&place.path("")));
        match leaves {
            Leaves::Nothing => assert!(differs.is_empty(), "{script}\n{record}\n{differs:#?}"),
            Leaves::Changes => {
                assert!(!differs.is_empty(), "{script}\n{record}");
                let undone = place.run_around(who.around(), &["undo"], "");
                assert!(undone.status.success(), "{script}\n{}", String::from_utf8_lossy(&undone.stderr));
                let differs = difference(&before, &tree(&place.path("")));
                assert!(differs.is_empty(), "{script}\n{record}\n{differs:#?}");
            }
        }
    }
    assert!(place.leftovers().is_empty());
}

type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// Returns the paths that differ, with what was and is there.
fn difference(before: &Tree, after: &Tree) -> Vec<String> {
    let shown = |there: Option<&(u32, Vec<u8>)>| {
        there.map(|(mode, content)| format!("{mode:o} {}", String::from_utf8_lossy(&content[..content.len().min(80)])))
    };
    let paths: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
    let differing = paths.into_iter().filter(|path| before.get(*path) != after.get(*path));
    differing.map(|path| format!("{path:?}: {:?} -> {:?}", shown(before.get(path)), shown(after.get(path)))).collect()
}

fn bash(place: &Place, who: Who, script: &str) -> Value {
    let seconds = if script.ends_with("sleep 60") { 2 } else { 50 };
    let call = json!({ "name": "bash", "arguments": { "command": script, "timeout": seconds } });
    place.call(who.around(), &[call]).remove(0)
}

/// Fills the workspace: some folders, a script, many files, and a repository of it all.
fn lay_out(place: &Place, who: Who) {
    for (path, content) in [
        ("src/one.txt", "one\n"),
        ("src/deep/er/two.txt", "two\none\n"),
        ("docs/a.md", "# a\n"),
        ("run.sh", "#!/bin/sh\necho run\n"),
        (".gitignore", "*.o\ntarget\n"),
    ] {
        place.put(path, content);
    }
    std::fs::set_permissions(place.path("run.sh"), PermissionsExt::from_mode(0o755)).expect("it is ours");
    if let Who::Nobody = who {
        give(place.root());
    }
    let script = format!("cd \"$0\" && {GIT} init -q && {GIT} add -A && {GIT} commit -qm one");
    let mut words = who.around().to_vec();
    words.extend(["bash", "-c", &script]);
    let mut git = Command::new(words[0]);
    git.args(&words[1..]).arg(place.path("")).env("HOME", place.root().join("home"));
    assert!(git.status().expect("it can be started").success());
}

fn give(folder: &Path) {
    let given = Command::new("chown").args(["-R", "65534:65534"]).arg(folder).status();
    assert!(given.expect("it can be started").success());
}

/// Everything in a folder: what it is, its mode, and what is in it.
fn tree(folder: &Path) -> Tree {
    let mut tree = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("it is a folder").flatten() {
            let (path, facts) = (entry.path(), entry.metadata().expect("it is there"));
            let content = if facts.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else if facts.is_symlink() {
                std::fs::read_link(&path).expect("it is there").into_os_string().into_encoded_bytes()
            } else {
                std::fs::read(&path).expect("it can be read")
            };
            let mode = if facts.is_symlink() { 0 } else { facts.permissions().mode() };
            tree.insert(path, (mode, content));
        }
    }
    tree
}
