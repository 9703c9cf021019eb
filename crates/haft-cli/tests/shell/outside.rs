//! Folders that lie outside the layer: the model cannot put the user's own files there, and what is written is said.

use std::io::{Read, Write};

use serde_json::{Value, json};

use crate::ground::Ground;
use crate::place::write;

fn bash(command: &str) -> Value {
    json!({ "name": "bash", "arguments": { "command": command } })
}

const THESIS: &str = "mkdir out; echo years > out/thesis; echo '*.o' > .gitignore";

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

#[test]
fn what_is_written_outside_the_layer_is_said_every_time() {
    let ground = Ground::own();
    ground.lay_out("mkdir -p target/deep; echo a > target/deep/a; echo target > .gitignore");
    let said = |record: &Value| {
        record["content"].to_string().contains("not in the journal, and undo does not take it back: target")
    };
    let calls = ["echo b > target/deep/a", "echo c >> target/deep/a", "true", "rm target/deep/a"].map(bash);
    let records = ground.place.call(&[], &calls);
    assert_eq!(records.iter().map(said).collect::<Vec<_>>(), [true, true, false, true], "{records:#?}");
    let timed_out = ground.bash("echo d > target/new; sleep 20", 0.5);
    assert!(timed_out.to_string().contains("undo does not take it back: target"), "{timed_out:#}");
}

#[test]
fn what_a_stopped_command_wrote_outside_the_layer_is_said_too() {
    let ground = Ground::own();
    ground.lay_out("mkdir target; echo a > target/a; echo target > .gitignore");
    let mut child = ground.calling().spawn().expect("it can be started");
    let mut input = child.stdin.take().expect("it is piped");
    writeln!(input, "{}", bash("echo b > target/new; echo c > c; sleep 30")).expect("it reads");
    while !ground.place.path("target/new").exists() {
        assert!(child.try_wait().expect("it is ours").is_none(), "it ended before");
        std::thread::yield_now();
    }
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it runs");
    let mut said = String::new();
    child.stdout.take().expect("it is piped").read_to_string(&mut said).expect("it is text");
    child.wait().expect("it ends");
    assert!(said.contains("undo does not take it back: target"), "{said}");
    assert!(!ground.place.path("c").exists());
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
