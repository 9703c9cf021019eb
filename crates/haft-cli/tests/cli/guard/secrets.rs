//! Secrets that a command or a search would read along with everything else: the guard cannot hide them, so it asks.

use serde_json::{Value, json};

use super::super::Place;

fn place() -> Place {
    let place = Place::new();
    place.put("ws/.env", "API_KEY=canary-4f9d27ab\n");
    place.put("ws/.git/HEAD", "ref: refs/heads/main\n");
    place.put("ws/.gitignore", "/.env\n");
    place.put("ws/conf/prod.env", "API_KEY=canary-4f9d27ab\n");
    place.put("ws/src/lib.rs", "");
    place.put("ws/links/a.md", "");
    std::os::unix::fs::symlink("../.env", place.path("ws/links/plain")).expect("there is room");
    place
}

#[test]
fn commands_that_read_secrets_along_with_the_rest_are_asked_about() {
    let place = place();
    for command in [
        "grep -rn API .",
        "grep -rh --include=.env '' .",
        "grep -rn API conf",
        "rg --hidden API",
        "rg -uu API",
        "rg API",
        "find . -type f -exec cat {} +",
        "find -name '[.]env' -exec cat {} +",
        "find . -type f | xargs grep API",
        "cat $(ls -a | grep env)",
        "tar cf - . | tar xOf -",
        "diff -r . /usr/share",
        "git grep --no-index API",
        "git grep --untracked API",
        "git diff --no-index src conf",
        "git add -N . && git add -p",
        "git status -vv",
        "cat links/*",
        "head -n1 links/pl*",
        "find links -type l -exec cat {} +",
        "grep -R API links",
        "shopt -s extglob\ncat @(.env|x)",
        "shopt -s nocaseglob\ncat .E*",
        "docker compose config",
    ] {
        let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert_ne!(decision, "allow", "{command}: {reason}");
        assert!(!reason.contains("canary"), "{reason}");
    }
}

#[test]
fn commands_that_leave_them_out_are_not_asked_about() {
    let place = place();
    for command in [
        "grep -rn API src",
        "grep -rn --include='*.rs' API .",
        "grep -rn --exclude='*.env' --exclude='.env*' API .",
        "rg API src",
        "git log -p",
        "git diff",
        "git status",
        "ls -la",
        "cat src/*.rs",
    ] {
        let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert_eq!(decision, "allow", "{command}: {reason}");
    }
}

#[test]
fn a_search_of_an_agent_finds_what_git_does_not_ignore() {
    let place = place();
    let ask = |input| place.guarded("Grep", &input).0;
    assert_eq!(ask(json!({ "pattern": "API", "output_mode": "content" })), "ask");
    assert_eq!(ask(json!({ "pattern": "API", "output_mode": "content", "glob": "*.env" })), "ask");
    assert_eq!(ask(json!({ "pattern": "API", "output_mode": "content", "glob": "*.rs" })), "allow");
    assert_eq!(ask(json!({ "pattern": "API", "output_mode": "content", "path": "src" })), "allow");
    // Names alone show nothing.
    assert_eq!(ask(json!({ "pattern": "API" })), "allow");
    assert_eq!(place.guarded("Glob", &json!({ "pattern": "**/*" })).0, "allow");
    assert_eq!(place.guarded("grep_search", &json!({ "pattern": "API" })).0, "ask");
}

#[test]
fn a_command_that_names_a_secret_is_denied_where_the_agent_does_not_ask() {
    let place = place();
    for command in ["ed .env <<< ,p", "ex -sc '%p|q' .env", "mv .env x.txt", "view conf/prod.env"] {
        let mut event: Value =
            serde_json::from_str(&place.event("Bash", &json!({ "command": command }))).expect("it is JSON");
        event["permission_mode"] = "bypassPermissions".into();
        let said = place.guard(&[], &[], event.to_string().as_bytes());
        assert!(said.out.contains("\"permissionDecision\":\"deny\""), "{command}: {}", said.out);
    }
}
