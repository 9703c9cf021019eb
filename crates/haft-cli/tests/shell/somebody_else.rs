//! Other programs work on the same files while a command runs: none of their work is lost.

use std::io::{Read, Write};

use serde_json::{Value, json};

use crate::ground::{Ground, for_everybody};

/// Starts a command, does something outside once it has done its part, and returns the record.
fn meanwhile(ground: &Ground, command: &str, outside: &dyn Fn()) -> Value {
    let marker = format!("{}.{}", 3_000 + std::process::id() % 1_000, ground.place.root().to_string_lossy().len());
    let call = json!({ "name": "bash", "arguments": { "command": format!("{command}; timeout 2 tail --pid=$$ -f /dev/null -s {marker}; true") } });
    let mut child = ground.calling().spawn().expect("it can be started");
    let mut input = child.stdin.take().expect("it is piped");
    input.write_all(format!("{call}\n").as_bytes()).expect("it reads");
    // It has done its part when the program with the marker is there.
    while !is_running(&marker) {
        assert!(child.try_wait().expect("it is ours").is_none(), "it ended before");
        std::thread::yield_now();
    }
    outside();
    drop(input);
    let mut said = String::new();
    child.stdout.take().expect("it is piped").read_to_string(&mut said).expect("it is text");
    child.wait().expect("it ends");
    serde_json::from_str(&said).expect("it is a record")
}

pub(crate) fn is_running(marker: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("there is one").flatten();
    processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok()).any(|words| {
        let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
        words.first().is_some_and(|program| program.ends_with(b"tail")) && words.contains(&marker.as_bytes())
    })
}

#[test]
fn a_file_that_somebody_else_edits_meanwhile_keeps_their_words() {
    for_everybody(&|ground| {
        let ground = ground.another();
        ground.lay_out(
            "echo old > shared.txt; echo old > other.txt; echo old > gone.txt; mkdir folder; echo old > folder/in.txt",
        );
        let path = |name: &str| ground.place.path(name);
        let outside = || {
            std::fs::write(path("shared.txt"), "theirs\n").expect("it can be written");
            std::fs::write(path("appeared.txt"), "theirs\n").expect("it can be written");
            std::fs::write(path("gone.txt"), "theirs\n").expect("it can be written");
            std::fs::write(path("folder/in.txt"), "theirs\n").expect("it can be written");
        };
        let command =
            "echo mine > shared.txt; echo mine > other.txt; echo mine > appeared.txt; rm gone.txt; rm -r folder";
        let record = meanwhile(&ground, command, &outside);
        let read = |name: &str| std::fs::read_to_string(path(name)).unwrap_or_default();
        for theirs in ["shared.txt", "appeared.txt", "gone.txt", "folder/in.txt"] {
            assert_eq!(read(theirs), "theirs\n", "{theirs}: {record:#}");
            assert!(record["content"].as_str().is_some_and(|content| content.contains(theirs)), "{theirs}: {record:#}");
        }
        assert_eq!(read("other.txt"), "mine\n", "{record:#}");
        let mine = ground.tree().into_values().filter(|(_, content)| content == b"mine\n").count();
        assert_eq!(mine, 3, "what the command wrote is kept beside: {record:#}");
    });
}

#[test]
fn that_git_has_looked_since_does_not_stand_in_the_way_of_undo() {
    for_everybody(&|ground| {
        let ground = ground.another();
        if !ground.has_git() {
            return;
        }
        ground.lay_out("git init -q .; git config user.name A; git config user.email a@b.c; echo a > a; git add .; git commit -qm one");
        let before = ground.tree();
        let record = ground.bash("echo b > b; echo more >> a; git add .; git commit -qm two", 20.0);
        assert_eq!(record["exit_code"], 0, "{record:#}");
        ground.lay_out("git status; git diff");
        let undone = ground.haft(&["undo"]);
        assert!(undone.status.success(), "{}", String::from_utf8_lossy(&undone.stderr));
        crate::ground::assert_same_beside_objects("looking", &before, &ground.tree());
    });
}
