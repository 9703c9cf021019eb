//! Calls that run side by side hide the same secrets: none of them is ahead of what haft has learned.

use std::process::Command;

use serde_json::json;

use super::Place;

const OLD: &str = "k7Qp2Zx9Lm4Tr8Wv5";

fn place() -> Place {
    let place = Place::new();
    place.put("ws/.env", &format!("OLD_TOKEN={OLD}\n"));
    for words in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["commit", "-qm", "one"],
        &["rm", "-q", ".env"],
        &["commit", "-qm", "two"],
    ] {
        let mut git = Command::new("git");
        git.current_dir(place.path("ws")).env("HOME", place.path("home"));
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]).args(words);
        assert!(git.output().expect("git runs").status.success(), "{words:?}");
    }
    place.put("ws/copy.txt", &format!("it was {OLD}\n"));
    place
}

#[test]
fn a_call_beside_others_shows_no_value_that_only_the_history_of_git_has() {
    let bash = |command: &str| json!({ "name": "bash", "arguments": { "command": command } });
    let read = json!({ "name": "read_file", "arguments": { "path": "copy.txt" } });
    let grep = json!({ "name": "grep", "arguments": { "pattern": "it was" } });
    let log = bash("git log -p --all");
    for calls in [
        vec![bash("ls"), bash("ls -a"), log.clone()],
        vec![log.clone(), log.clone()],
        vec![bash("ls"), read.clone(), grep.clone()],
        vec![read, grep, log],
    ] {
        let place = place();
        let lines: String = calls.iter().map(|call| format!("{call}\n")).collect();
        let said = place.haft(&["call", "-"], &lines);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        assert!(!said.out.contains(OLD), "{}", said.out);
        assert!(said.out.contains("[secret]"), "{}", said.out);
    }
}
