//! Ignored build folders: commands may do with them what a plain shell may, and undo restores them.

use std::io::{Read, Write};

use haft_testkit::require::Need;
use serde_json::{Value, json};

use crate::ground::{Ground, assert_same, for_everybody};
use crate::place::write;

fn bash(command: &str) -> Value {
    json!({ "name": "bash", "arguments": { "command": command } })
}

const THESIS: &str =
    "mkdir out .git; echo ref: refs/heads/main > .git/HEAD; echo years > out/thesis; echo '*.o' > .gitignore";

/// The file is gone after the command; the record says so, and undo brings it back.
fn removed_and_taken_back(ground: &Ground, record: &Value) {
    let rules =
        [".gitignore", ".ignore"].map(|name| std::fs::read_to_string(ground.place.path(name)).unwrap_or_default());
    assert!(rules.contains(&"out\n".to_owned()), "the line is not there: {record:#}");
    assert_eq!(record["did"], "changed", "{record:#}");
    assert!(!ground.place.path("out/thesis").exists());
    let undone = ground.haft(&["undo"]);
    assert!(undone.status.success(), "{}", String::from_utf8_lossy(&undone.stderr));
    let thesis = std::fs::read_to_string(ground.place.path("out/thesis"));
    assert_eq!(thesis.ok().as_deref(), Some("years\n"), "{record:#}");
}

#[test]
fn a_line_that_a_tool_adds_to_an_ignore_file_leaves_folders_protected() {
    let ground = Ground::own();
    ground.lay_out(THESIS);
    let records = ground.place.call(&[], &[write(".gitignore", "out\n"), bash("rm out/thesis")]);
    removed_and_taken_back(&ground, &records[1]);
}

#[test]
fn so_does_one_that_another_process_added() {
    for first in [write(".gitignore", "out\n"), bash("echo out > .gitignore"), bash("echo out > .ignore")] {
        let ground = Ground::own();
        ground.lay_out(THESIS);
        ground.place.call(&[], &[first]);
        for _ in 0..2 {
            let records = ground.place.call(&[], &[bash("rm out/thesis")]);
            removed_and_taken_back(&ground, &records[0]);
        }
    }
}

/// Lets the folder count as a repository.
const REPOSITORY: &str = "mkdir .git; echo ref: refs/heads/main > .git/HEAD; ";

/// What is there before, and commands that a plain shell runs without an error.
const BUILDS: &str = "printf 'node_modules\nbuild\ntarget\n*.log\n' > .gitignore; mkdir -p src build/deep node_modules/p target/debug; \
    echo int > src/a.c; echo o > build/a.o; echo p > build/deep/b.o; ln -s a.o build/link; echo js > node_modules/p/i.js; \
    echo app > target/debug/app; ln target/debug/app target/debug/second; echo l > x.log; ";

const COMMANDS: &[&str] = &[
    "rm -rf node_modules && mkdir node_modules",
    "rm -rf node_modules build target",
    "mv build build.old",
    "mv build build.old && mkdir build && echo new > build/a.o",
    "mv build out && mv target build",
    "rm -rf build && ln -s target build",
    "rm -rf build && echo file > build",
    "echo more >> build/a.o; rm build/deep/b.o; mkdir build/new; echo n > build/new/n; touch target/debug/app",
    "cp -r build target/copy && chmod -R u+rwX,go-rwx build",
    "rm -rf src build && mkdir -p src/build && echo b > src/build/b",
    "find build -delete; mkdir build; echo again > build/a.o",
    "ln build/a.o build/hard; echo x >> build/hard; rm build/link",
    "tar cf t.tar build && rm -rf build && tar xf t.tar && rm t.tar && echo changed > build/a.o",
];

#[test]
fn whatever_a_command_does_to_build_folders_works_and_is_undone_exactly() {
    for_everybody(&|ground| {
        for command in COMMANDS {
            let ground = ground.another();
            ground.lay_out(&format!("{REPOSITORY}{BUILDS}"));
            let before = ground.tree();
            let record = ground.bash_unread(command, 20.0);
            assert_eq!((&record["status"], &record["exit_code"]), (&json!("ok"), &json!(0)), "{command}: {record:#}");
            let after = ground.tree();
            assert!(before != after, "{command}");
            for _ in 0..2 {
                assert!(ground.haft(&["undo"]).status.success(), "{command}");
                assert_same(command, &before, &ground.tree());
                assert!(ground.haft(&["redo"]).status.success(), "{command}");
                assert_same(command, &after, &ground.tree());
            }
            assert!(ground.leftovers().is_empty(), "{command}: {:?}", ground.leftovers());
        }
    });
}

#[test]
fn git_clean_removes_build_folders_and_undo_restores_them() {
    for_everybody(&|ground| {
        if !ground.has_git() {
            return;
        }
        let ground = ground.another();
        ground.lay_out(&format!("{BUILDS} git init -q .; git config user.name A; git config user.email a@example.org; git add -A; git commit -qm one"));
        let before = ground.tree();
        let record = ground.bash("git clean -fdxq && ls", 20.0);
        assert_eq!(record["exit_code"], 0, "{record:#}");
        assert!(!ground.place.path("build").exists() && !ground.place.path("x.log").exists());
        assert!(ground.haft(&["undo"]).status.success());
        assert_same("git clean", &before, &ground.tree());
    });
}

#[test]
fn without_room_beside_the_workspace_the_before_images_are_in_it_and_git_leaves_them_alone() {
    let ground = Ground::own();
    let Some(memory) = Need::Memory.found(Memory::new()) else { return };
    for has_repository in [true, false] {
        let ground = ground.another();
        if has_repository && !ground.has_git() {
            continue;
        }
        ground.lay_out(BUILDS);
        ground.lay_out(match has_repository {
            true => "git init -q .; git config user.name A; git config user.email a@example.org; git add -A; git commit -qm one",
            // Without a repository only this file counts.
            false => "mv .gitignore .ignore",
        });
        let before = ground.tree();
        let state = memory.0.join(has_repository.to_string());
        let run = |arguments: &[&str]| {
            let mut haft = ground.place.haft(&[], arguments);
            haft.env("XDG_STATE_HOME", &state).output().expect("it can be started")
        };
        let command = "command=rm -rf build && mkdir build && find . -name '*haft*'";
        let ran = run(&["--yes", "call", "bash", command]);
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(ran.status.success() && !said.contains("haft-trees"), "{said}");
        let again = run(&["--yes", "call", "bash", "command=find . -name '*haft*'; git clean -fdxq; true"]);
        let said = String::from_utf8_lossy(&again.stdout).into_owned();
        assert!(!said.contains("haft-trees"), "commands see nothing of them: {said}");
        if has_repository {
            ground.lay_out("test -z \"$(git status --short | grep haft)\"; git clean -fdxq");
        }
        while run(&["undo"]).status.success() {}
        let mut after = ground.tree();
        after.retain(|path, _| !path.to_string_lossy().contains("haft-trees"));
        assert_same("another file system", &before, &after);
    }
}

/// A folder in memory; it goes with the test.
struct Memory(std::path::PathBuf);

impl Memory {
    fn new() -> Option<Self> {
        let path = std::path::Path::new("/dev/shm").join(format!("haft-test-{}", std::process::id()));
        std::fs::create_dir(&path).ok().map(|()| Self(path))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_stopped_command_changes_no_build_folder() {
    let ground = Ground::own();
    ground.lay_out(&format!("{REPOSITORY} mkdir target; echo a > target/a; echo target > .gitignore"));
    let before = ground.tree();
    let mut child = ground.calling().spawn().expect("it can be started");
    let mut input = child.stdin.take().expect("it is piped");
    let mut output = child.stdout.take().expect("it is piped");
    let marker = format!("{}.7", 4_000 + std::process::id() % 1_000);
    let command = format!("echo b > target/new; rm target/a; timeout 30 tail -f /dev/null -s {marker}");
    writeln!(input, "{}", bash(&command)).expect("it reads");
    while !crate::somebody_else::is_running(&marker) {
        assert!(child.try_wait().expect("it is ours").is_none(), "it ended before");
        std::thread::yield_now();
    }
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it runs");
    let mut said = String::new();
    output.read_to_string(&mut said).expect("it is text");
    child.wait().expect("it ends");
    assert_same("stopped", &before, &ground.tree());
}

#[test]
fn an_ignored_name_brings_nothing_in_that_others_run_and_the_rest_comes() {
    let ground = Ground::own();
    if !ground.has_git() {
        return;
    }
    ground.lay_out("git init -q .; echo build/ > .gitignore; mkdir sub; echo gitdir: ../x > sub/.git; echo a > a");
    let evil = "printf '[core]\\n\\tfsmonitor = evil\\n' >";
    let command = format!(
        "mkdir -p .git/modules/build build/.git build/.vscode; {evil} .git/modules/build/config; {evil} build/.git/config; \
         echo {{}} > build/.vscode/tasks.json; echo o > build/a.o; echo b > a; cd sub; rm .git; git init -q"
    );
    let record = ground.bash_unread(&command, 20.0);
    let has = |path: &str| ground.place.path(path).exists();
    for refused in [".git/modules/build/config", "build/.git/config", "build/.vscode", "sub/.git/HEAD"] {
        assert!(!has(refused), "{refused}: {record:#}");
    }
    let content = record["content"].to_string();
    for named in [".git/modules/build/config", "build/.git/config", "build/.vscode", "sub/.git"] {
        assert!(content.contains(named), "{named}: {record:#}");
    }
    assert!(has("build/a.o") && has("sub/.git"), "{record:#}");
    assert_eq!(std::fs::read_to_string(ground.place.path("a")).ok().as_deref(), Some("b\n"), "{record:#}");
}

/// What is there before some commands in a row; the folder is ignored, a file of its name is not.
const ONE_BUILD: &str = "mkdir build a; echo precious > build/o; mkdir build/deep; echo p > build/deep/p; echo x > a/x; \
    printf 'build/\n' > .gitignore; ";

/// Commands in a row, of which some meet what another one left in the place of an ignored tree or of an entry in it.
const IN_A_ROW: &[&[&str]] = &[
    &["rm -rf build; echo f > build", "rm -rf build"],
    &["rm -rf build; ln -s a build", "rm -rf build"],
    &["rm -rf build; echo f > build", "echo g > build"],
    &["rm -rf build; echo f > build", "rm build; mkdir build; echo n > build/n"],
    &["rm -rf build; ln -s a build", "rm build; echo f > build"],
    &["rm -rf build; echo f > build", "mv build other"],
    &["rm -rf build; echo f > build", "rm build", "mkdir build; echo again > build/o"],
    &["echo new > build/o", "rm .gitignore", "echo newer > build/o", "rm -rf build"],
    &[
        "echo new > build/n; rm build/deep/p",
        "rm .gitignore",
        "rm build/n build/o",
        "mkdir -p build/deep; echo q > build/deep/p",
    ],
    &["rm -rf build", "echo f > build", "rm build"],
    &["mkdir build/made; echo m > build/made/m", "rm .gitignore", "rm -rf build/made"],
    &["rm -rf build; echo f > build", "chmod 600 build", "rm build"],
];

#[test]
fn commands_in_a_row_that_replace_build_folders_are_undone_and_redone_one_by_one_exactly() {
    for_everybody(&|ground| {
        for commands in IN_A_ROW {
            let ground = ground.another();
            ground.lay_out(&format!("{REPOSITORY}{ONE_BUILD}"));
            let mut trees = vec![ground.tree()];
            for command in *commands {
                let record = ground.bash_unread(command, 20.0);
                assert_eq!(record["exit_code"], 0, "{commands:?}: {record:#}");
                trees.push(ground.tree());
            }
            for _ in 0..2 {
                for (index, before) in trees.iter().enumerate().rev().skip(1) {
                    let undone = ground.haft(&["undo"]);
                    let said = [&undone.stdout, &undone.stderr].map(|said| String::from_utf8_lossy(said)).concat();
                    assert!(undone.status.success(), "{commands:?}: {said}");
                    assert!(!said.contains("changed since"), "{commands:?}: {said}");
                    assert_same(&format!("{commands:?}, undo to {index}: {said}"), before, &ground.tree());
                }
                for (index, after) in trees.iter().enumerate().skip(1) {
                    assert!(ground.haft(&["redo"]).status.success(), "{commands:?}");
                    assert_same(&format!("{commands:?}, redo to {index}"), after, &ground.tree());
                }
            }
            assert!(ground.leftovers().is_empty(), "{commands:?}: {:?}", ground.leftovers());
        }
    });
}

#[test]
fn what_took_the_place_of_a_build_folder_and_is_gone_does_not_keep_it_from_returning() {
    for_everybody(&|ground| {
        for replaced in ["rm -rf build; echo f > build", "rm -rf build; ln -s a build"] {
            let ground = ground.another();
            ground.lay_out(&format!("{REPOSITORY}{ONE_BUILD}"));
            let before = ground.tree();
            for command in [replaced, "rm -rf build"] {
                ground.bash_unread(command, 20.0);
            }
            for steps in [&["undo", "1"][..], &["redo"], &["undo", "1"]] {
                let done = ground.haft(steps);
                assert!(done.status.success(), "{replaced}: {steps:?}: {}", String::from_utf8_lossy(&done.stderr));
            }
            assert_same(replaced, &before, &ground.tree());
        }
    });
}

#[test]
fn what_somebody_else_wrote_in_the_place_of_a_build_folder_stays() {
    let ground = Ground::own();
    ground.lay_out(&format!("{REPOSITORY}{ONE_BUILD}"));
    ground.bash_unread("rm -rf build; echo f > build", 20.0);
    ground.lay_out("echo mine > build");
    ground.haft(&["undo"]);
    assert_eq!(std::fs::read_to_string(ground.place.path("build")).ok().as_deref(), Some("mine\n"));
}
