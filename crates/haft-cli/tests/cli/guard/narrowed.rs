//! Arguments and options that make a call smaller: haft believes only those that do so for certain.

use std::process::Command;

use haft_testkit::require::Need;
use serde_json::{Value, json};

use super::super::Place;
use super::cases::decision;

const VALUE: &str = "canary-4f9d27ab";

fn place() -> Place {
    let place = Place::new();
    place.put("ws/.env", &format!("API_KEY={VALUE}\n"));
    place.put("ws/conf/prod.env", &format!("API_KEY={VALUE}\n"));
    place.put("ws/conf/deep/.env", &format!("API_KEY={VALUE}\n"));
    place.put("ws/src/lib.rs", "API\n");
    place.put("notes.txt", "outside\n");
    place
}

/// Runs a command in the workspace, and returns whether it prints the secret.
fn prints(place: &Place, command: &str) -> bool {
    let output = Command::new("sh").args(["-c", command]).current_dir(place.path("ws")).output().expect("sh starts");
    String::from_utf8_lossy(&output.stdout).contains(VALUE)
}

fn allows(place: &Place, command: &str) -> bool {
    place.guarded("Bash", &json!({ "command": command })).0 == "allow"
}

fn asked(place: &Place, form: &str, event: &Value) -> String {
    decision(form, &place.guard(&[], &[], place.folders(&event.to_string()).as_bytes()))
}

#[test]
fn a_search_is_allowed_only_where_its_options_leave_out_each_secret() {
    let place = place();
    let options = [
        "",
        "--exclude='*.env'",
        "--exclude='z?'",
        "--exclude='[!l]'",
        "--exclude='{.env,prod.env}'",
        "--exclude=.env",
        "--include='*'",
        "--include='*.rs'",
        "--inc='*.e*'",
        "--exclude-dir=conf",
        "--exclude-dir='?'",
        "--exclude-dir=deep",
        "-e --exclude='*.env'",
    ];
    let (mut wrong, mut printing) = (Vec::new(), 0);
    for first in options {
        for second in options {
            for (before, folder) in [("", "."), ("", "conf/"), ("cd conf;", ""), ("", "conf/* src"), ("", "./conf/.")] {
                let command = format!("{before} grep -r {first} {second} -e API {folder}");
                if prints(&place, &command) {
                    printing += 1;
                    wrong.extend(Some(command).filter(|command| allows(&place, command)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {printing} commands:\n{}", wrong.len(), wrong.join("\n"));
    assert!(printing > 100, "{printing}");
    for command in [
        "grep -rn API --exclude='*.env' .",
        "grep -rn API --exclude='*.env' --exclude-dir='t?'",
        "grep -rn API --include='*.rs' .",
        "grep -rn --exclude=.env --exclude-dir conf API",
        "grep -rn API --include='*.rs' --exclude='z?'",
    ] {
        assert!(allows(&place, command), "{command}");
    }
    for command in [
        "grep -r API --exclude=\"$X\"",
        "grep -R API --exclude-dir=conf .",
        "export POSIXLY_CORRECT=1; grep -r API . --exclude='*.env'",
    ] {
        assert!(!allows(&place, command), "{command}");
    }
}

#[test]
fn git_prints_the_patch_of_a_secret_only_after_a_question() {
    if !Need::Git.met(Command::new("git").arg("--version").output().is_ok()) {
        return;
    }
    let place = place();
    let git = "git -c user.name=u -c user.email=u@example.com";
    let stashed = format!("echo API_KEY={VALUE}-2 >.env; {git} stash -q; echo API_KEY={VALUE}-3 >.env; git add .");
    prints(&place, &format!("git init -q; git add .; {git} commit -qm first; {stashed}"));
    let listed = Command::new("git").args(["diff", "--git-completion-helper"]).output().expect("git starts").stdout;
    let listed = String::from_utf8(listed).expect("git prints ASCII");
    let long = listed.split_whitespace().filter(|option| !option.starts_with("--ou") && *option != "--");
    let long = long.map(|option| if option.ends_with('=') { format!("{option}1") } else { option.to_owned() });
    let short = ('a'..='z').chain('A'..='Z').filter(|letter| *letter != 'O').map(|letter| format!("-{letter}"));
    let alone = long.chain(short).map(|option| format!("git stash show {option}"));
    let together =
        ["-I --stat", "--stat -p", "--stat -w", "-M --name-only", "--raw --binary", "--anchored --stat", "-S --stat"];
    let together = together.into_iter().map(|options| format!("git stash show {options}"));
    let by_settings = [
        "git -c stash.showPatch=true stash show",
        "git -c STASH.showpatch stash show",
        "X=true git --config-env=stash.showPatch=X stash show",
        "git -c commit.verbose=2 commit --dry-run",
        "git -c commit.verbose commit --short --long",
    ];
    let commands = alone.chain(together).chain(by_settings.map(str::to_owned));
    let printing: Vec<String> = commands.filter(|command| prints(&place, command)).collect();
    let wrong: Vec<&String> = printing.iter().filter(|command| allows(&place, command)).collect();
    assert!(wrong.is_empty(), "{} of {} commands: {wrong:#?}", wrong.len(), printing.len());
    assert!(printing.len() > 40, "{printing:?}");
    for command in ["git stash show", "git stash show --stat -w", "git stash show --name-only", "git stash list -w"] {
        assert!(allows(&place, command), "{command}");
    }
}

#[test]
fn a_pattern_that_may_leave_nothing_out_hides_no_secret_from_a_search() {
    let place = place();
    let all = ["!{z,y}", "!a{b,c}", "!{*.txt,q}", "!zzz,*.rs", r"\.env", "{a/b,.env}", "{.env}", "@(.env|x)", "*.ENV"];
    let of_tool = |tool: &str, glob: &str| {
        let input = json!({ "pattern": "API", "path": ".", "output_mode": "content", "glob": glob });
        let older = json!({ "pattern": "API", "include_pattern": glob });
        let base = json!({ "cwd": "${WS}", "tool_name": tool, "tool_input": input });
        let named = |name: &str, input: &Value| json!({ "cwd": "${WS}", "hook_event_name": name, "tool_name": tool, "tool_input": input });
        match tool {
            "Grep" => vec![("claude", named("PreToolUse", &input)), ("cursor", named("preToolUse", &input))],
            "grep_search" | "search_file_content" => vec![("gemini", named("BeforeTool", &older))],
            _ => vec![("copilot", json!({ "cwd": "${WS}", "toolName": tool, "toolArgs": base["tool_input"] }))],
        }
    };
    for tool in ["Grep", "grep_search", "search_file_content", "grep", "rg"] {
        for glob in all {
            for (form, event) in of_tool(tool, glob) {
                assert_ne!(asked(&place, form, &event), "allow", "{form} {tool} {glob}");
            }
        }
        for (form, event) in of_tool(tool, "*.{rs,toml}") {
            assert_eq!(asked(&place, form, &event), "allow", "{form} {tool}");
        }
    }
    for pattern in ["{.env,a/b/c}", "@(.env)", "{src,..}/notes.txt", "@(../notes.txt)", ".EN*"] {
        let event = json!({ "hook_event_name": "BeforeTool", "cwd": "${WS}", "tool_name": "read_many_files",
            "tool_input": { "include": [pattern] } });
        assert_eq!(asked(&place, "gemini", &event), "deny", "{pattern}");
    }
    let glob = json!({ "pattern": "{src,..}/*" });
    assert_ne!(place.guarded("Glob", &glob).0, "allow");
}

/// Calls of tools that have a folder or a pattern of their own, and those that they do not have.
fn with_argument(form: &str, call: (&str, &Value), argument: Option<(&str, &str)>) -> Value {
    let (tool, input) = call;
    let mut input = input.clone();
    if let Some((name, value)) = argument {
        input[name] = json!(value);
    }
    let name = match form {
        "gemini" => "BeforeTool",
        "cursor" => "preToolUse",
        _ => "PreToolUse",
    };
    if form == "copilot" {
        return json!({ "cwd": "${WS}", "toolName": tool, "toolArgs": input });
    }
    json!({ "hook_event_name": name, "cwd": "${WS}", "permission_mode": "default", "tool_name": tool, "tool_input": input })
}

#[test]
fn a_folder_that_the_tool_of_an_agent_does_not_have_makes_no_ruling_milder() {
    let place = place();
    let command = json!({ "command": "cat ../notes.txt" });
    let folders = ["cwd", "workdir", "working_directory", "directory", "dir_path", "target_directory"];
    for (form, tool, own) in [
        ("claude", "Bash", ""),
        ("claude", "Monitor", ""),
        ("gemini", "run_shell_command", "dir_path"),
        ("cursor", "Shell", "working_directory"),
        ("copilot", "bash", ""),
    ] {
        let judged = |argument| asked(&place, form, &with_argument(form, (tool, &command), argument));
        let without = judged(None);
        assert_ne!(without, "allow", "{form}");
        for name in folders {
            let wanted = if name == own { "allow" } else { &*without };
            assert_eq!(judged(Some((name, "conf"))), wanted, "{form} {tool} {name}");
        }
    }
    let search = json!({ "pattern": "API", "output_mode": "content" });
    for (form, tool, own) in [
        ("claude", "Grep", ["path", "glob"]),
        ("gemini", "grep_search", ["dir_path", "include_pattern"]),
        ("cursor", "Grep", ["path", "glob"]),
        ("copilot", "grep", ["path", "glob"]),
    ] {
        let judged = |name, value| asked(&place, form, &with_argument(form, (tool, &search), Some((name, value))));
        for (name, value) in ["path", "dir_path", "cwd"]
            .map(|name| (name, "src"))
            .into_iter()
            .chain(["glob", "include", "include_pattern"].map(|name| (name, "*.rs")))
        {
            assert_eq!(judged(name, value) == "allow", own.contains(&name), "{form} {tool} {name}");
        }
    }
    let names = json!({ "pattern": "API", "output_mode": "files_with_matches" });
    let event = with_argument("gemini", ("grep_search", &names), None);
    assert_eq!(asked(&place, "gemini", &event), "deny", "Gemini CLI knows no such argument");
}

#[test]
fn an_event_that_a_model_made_unreadable_is_denied_in_the_form_of_its_agent() {
    let place = place();
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    let values = [r#""\ud800""#, "1e999", &deep, r#"{"\udfff":1}"#];
    let events = [
        (
            "claude",
            r#""hook_event_name":"PreToolUse","permission_mode":"bypassPermissions","tool_name":"Bash","#,
            "tool_input",
        ),
        ("claude", r#""hook_event_name":"PreToolUse","permission_mode":"dontAsk","tool_name":"Bash","#, "tool_input"),
        ("codex", r#""hook_event_name":"PreToolUse","turn_id":"t","model":"m","tool_name":"Bash","#, "tool_input"),
        ("gemini", r#""hook_event_name":"BeforeTool","tool_name":"run_shell_command","#, "tool_input"),
        ("cursor", r#""hook_event_name":"preToolUse","tool_name":"Shell","#, "tool_input"),
        ("copilot", r#""toolName":"bash","#, "toolArgs"),
    ];
    for (form, fields, input) in events {
        for value in values {
            for behind in ["", r#","last":1"#] {
                let event =
                    format!(r#"{{{fields}"{input}":{{"command":"cat .env","x":{value}}},"cwd":"${{WS}}"{behind}}}"#);
                let said = place.guard(&[], &[], place.folders(&event).as_bytes());
                assert_eq!(decision(form, &said), "deny", "{event}: {}", said.out);
            }
        }
    }
    let command = r#"{"hook_event_name":"beforeShellExecution","cwd":"${WS}","command":"cat .env # \ud800"}"#;
    assert_eq!(decision("cursor", &place.guard(&[], &[], place.folders(command).as_bytes())), "deny");
    let asks = r#"{"hook_event_name":"PreToolUse","permission_mode":"default","cwd":"${WS}","tool_name":"Bash","tool_input":{"command":"\ud800"}}"#;
    assert_eq!(decision("claude", &place.guard(&[], &[], place.folders(asks).as_bytes())), "ask");
}

#[test]
fn an_event_that_is_too_long_is_denied_where_the_agent_does_not_ask() {
    let place = place();
    let long = "x".repeat(64 * 1024 * 1024);
    for (mode, expected) in [("bypassPermissions", "deny"), ("default", "ask")] {
        let event = format!(
            r#"{{"hook_event_name":"PreToolUse","permission_mode":"{mode}","cwd":"${{WS}}","tool_name":"Write","tool_input":{{"content":"{long}"}}}}"#
        );
        let said = place.guard(&[], &[], place.folders(&event).as_bytes());
        assert_eq!(decision("claude", &said), expected, "{mode}: {}", said.out);
        assert!(said.out.contains("the event is longer than 64 MiB"), "{}", said.out);
    }
}

#[test]
fn a_password_in_the_settings_of_git_is_shown_by_no_tool_and_no_subcommand() {
    let place = place();
    let config = "ws/.git/config";
    place.put("ws/.git/HEAD", "ref: refs/heads/main\n");
    place.put(config, &format!("[remote \"o\"]\n\turl = https://user:{VALUE}@example.com/r.git\n"));
    let file = json!({ "file_path": place.path(config) });
    let calls = || {
        let search = |more: Value| {
            let mut input = json!({ "pattern": "url", "output_mode": "content", "path": "src" });
            input.as_object_mut().expect("it is one").extend(more.as_object().expect("it is one").clone());
            input
        };
        let commands = [
            "cat .git/config",
            "git diff --no-index /dev/null .git/config",
            "git interpret-trailers .git/config",
            "git merge-file -p .git/config src/lib.rs src/lib.rs",
            "git blame --contents .git/config src/lib.rs",
            "git diff --no-index src .git",
            "cd .git; git diff --no-index /dev/null config",
            "git stripspace < .git/config",
        ];
        let commands = commands.into_iter().map(|command| ("Bash", json!({ "command": command })));
        let tools = [
            ("Read", file.clone()),
            ("Grep", search(json!({ "path": ".git/config" }))),
            ("Grep", search(json!({ "path": ".git" }))),
            ("Grep", search(json!({ "glob": ".git/**" }))),
            ("Grep", search(json!({ "glob": "*" }))),
            ("read_many_files", json!({ "include": [".git/*"] })),
        ];
        tools.into_iter().chain(commands)
    };
    for (tool, input) in calls() {
        let (decision, reason) = place.guarded(tool, &input);
        assert_ne!(decision, "allow", "{tool} {input}: {reason}");
        assert!(reason.contains("settings of git"), "{tool} {input}: {reason}");
    }
    for (tool, input) in [
        ("Read", json!({ "file_path": place.path("ws/src/lib.rs") })),
        ("Grep", json!({ "pattern": "x", "path": "src", "output_mode": "content", "glob": "*.rs" })),
        ("Bash", json!({ "command": "git status; git diff --stat; git blame src/lib.rs" })),
    ] {
        let (decision, reason) = place.guarded(tool, &input);
        assert!(!reason.contains("settings of git"), "{tool} {input}: {decision} {reason}");
    }
    place.put(config, "[remote \"o\"]\n\turl = https://example.com/r.git\n");
    for (tool, input) in calls() {
        let (_, reason) = place.guarded(tool, &input);
        assert!(!reason.contains("settings of git"), "{tool} {input}: {reason}");
    }
}

#[test]
fn a_secret_member_of_an_archive_that_a_command_names_is_asked_about() {
    let place = Place::new();
    place.put("ws/src/lib.rs", "");
    for command in [
        "tar xOf x.tgz .env",
        "tar -xO -f x.tgz conf/id_rsa",
        "bsdtar xOf x.zip conf/id_rsa",
        "unzip -p x.zip .env",
        "unzip -c x.zip 'conf/.env.local'",
        "zipgrep KEY x.zip .env",
        "7z x -so x.7z .env",
        "cat x.cpio | cpio -i --to-stdout .env",
    ] {
        let (decision, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert_ne!(decision, "allow", "{command}: {reason}");
    }
    for command in ["tar tf x.tgz", "tar -tf x.tgz src", "unzip -l x.zip", "tar -cf new.tar --exclude .env src"] {
        let (_, reason) = place.guarded("Bash", &json!({ "command": command }));
        assert!(!reason.contains("secret"), "{command}: {reason}");
    }
}
