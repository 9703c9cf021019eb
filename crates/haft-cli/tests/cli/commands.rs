//! Commands run for real: what the command line says of them, and what is left of them.
//!
//! Where the system gives no full sandbox these tests fail, and say what is missing: a sandbox that is not tested is
//! none.

use serde_json::{Value, json};

use super::{CapturedOutput, Place};

impl Place {
    /// A workspace with the files that examples of manuals are about.
    fn sample() -> Self {
        let place = Self::new();
        for (path, content) in haft_testkit::sample::FILES {
            let path = place.path("ws").join(path);
            std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("folders can be made");
            std::fs::write(path, content).expect("a file can be written");
        }
        place
    }

    /// Runs a command, with a yes to ordinary questions.
    fn bash(&self, flags: &[&str], command: &str) -> CapturedOutput {
        let arguments = json!({ "command": command }).to_string();
        self.haft(&[flags, &["--yes", "call", "bash", &arguments]].concat(), "")
    }

    /// Runs a command and returns its record.
    fn bash_record(&self, arguments: &Value) -> Value {
        let said = self.haft(&["--yes", "--json", "call", "bash", &arguments.to_string()], "");
        serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {}{}", said.out, said.err))
    }

    /// Names, modes and contents of everything in the workspace.
    pub(crate) fn tree(&self) -> Vec<String> {
        use std::os::unix::fs::PermissionsExt;
        let mut found = Vec::new();
        let mut folders = vec![self.path("ws")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder can be read") {
                let entry = entry.expect("an entry can be read");
                let (path, facts) = (entry.path(), entry.metadata().expect("it is there"));
                let content = match facts.file_type() {
                    kind if kind.is_file() => std::fs::read(&path).expect("a file can be read"),
                    kind if kind.is_dir() => {
                        folders.push(path.clone());
                        Vec::new()
                    }
                    _ => std::fs::read_link(&path)
                        .map_or_else(|_| Vec::new(), |to| to.as_os_str().as_encoded_bytes().to_vec()),
                };
                found.push(format!("{path:?} {:o} {content:?}", facts.permissions().mode()));
            }
        }
        found.sort();
        found
    }
}

#[test]
fn what_a_command_did_is_named_and_undo_takes_it_back() {
    let place = Place::sample();
    let before = place.tree();
    let said =
        place.bash(&[], "rm notes.txt; echo new > src/new.rs; chmod 600 src/main.rs; ln -s main.rs src/link; exit 3");
    assert!(said.out.contains("[exit code 3]"), "{}{}", said.out, said.err);
    for named in ["removed notes.txt", "src/new.rs", "changed src/main.rs", "created src/link", "[change set 1: "] {
        assert!(said.out.contains(named), "{named}: {}", said.out);
    }
    assert!(said.err.contains("(exit code 3; sandbox: full;"), "{}", said.err);
    assert_eq!(said.code, 0, "a command that fails is a call that worked");
    assert_ne!(place.tree(), before);
    let undone = place.haft(&["undo"], "");
    assert_eq!(undone.code, 0, "{}", undone.err);
    assert_eq!(place.tree(), before);
}

#[test]
fn what_git_would_run_is_left_as_it_was() {
    let place = Place::sample();
    let before = place.tree();
    let said = place.bash(&[], "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit");
    assert!(said.err.contains("The rule \"protected names in commands\" refuses this call."), "{}", said.err);
    assert_eq!(place.tree(), before);
}

#[test]
fn a_tried_command_shows_its_difference_and_keeps_nothing() {
    let place = Place::sample();
    let before = place.tree();
    for flag in ["--try", "--plan"] {
        let said = place.bash(&[flag], "echo six >> notes.txt; cat notes.txt");
        assert!(said.out.contains("nothing was kept; it would have: changed notes.txt"), "{}", said.out);
        assert!(said.out.contains("+ six"), "{}", said.out);
        assert_eq!(place.tree(), before, "{flag}");
    }
    assert_eq!(place.haft(&["undo"], "").code, 1, "there is nothing to undo");
    let write = r#"{"path": "new.txt", "content": "x"}"#;
    assert_eq!(place.haft(&["--try", "--yes", "call", "write_file", write], "").code, 0, "only commands are tried");
}

#[test]
fn a_time_out_has_its_own_status_and_keeps_what_was_printed_and_changed() {
    let place = Place::sample();
    let record = place.bash_record(&json!({ "command": "echo half; echo x > new; sleep 60", "timeout": 0.3 }));
    assert_eq!(record["status"], "timed_out");
    assert_eq!(record["data"]["timed_out"], true);
    assert_eq!((&record["data"]["stdout"], &record["files"]), (&json!("half\n"), &json!(["new"])));
    let arguments = json!({ "command": "sleep 60", "timeout": 0.2 }).to_string();
    assert_eq!(place.haft(&["--yes", "call", "bash", &arguments], "").code, 4);
}

#[test]
fn what_is_left_in_the_background_ends_with_the_call() {
    let place = Place::sample();
    let record = place.bash_record(&json!({ "command": "sleep 1000 & (setsid sleep 1000 &) ; echo started" }));
    let content = record["content"].as_str().unwrap_or_default();
    assert!(content.contains("background processes were ended with the call"), "{content}");
    assert!(record["duration_ms"].as_u64().is_some_and(|took| took < 20_000), "{record}");
}

#[test]
fn each_call_is_a_clean_shell() {
    let place = Place::sample();
    std::fs::write(place.path("ws/start"), "echo sourced\n").expect("a file can be written");
    let calls = [r#"{"command": "export A=1; cd src; f() { echo f; }"}"#, r#"{"command": "echo [$A]; pwd; f"}"#];
    let lines = calls.map(|arguments| format!("{{\"name\": \"bash\", \"arguments\": {arguments}}}\n\n")).concat();
    let said = place.haft(&["--yes", "call", "-"], &lines);
    let last: Value = serde_json::from_str(said.out.lines().last().expect("two results")).expect("a record");
    let stdout = last["data"]["stdout"].as_str().unwrap_or_default();
    assert!(stdout.starts_with("[]\n") && stdout.ends_with("/ws\n"), "{last}");
    assert_eq!(last["exit_code"], 127, "{last}");
}

#[test]
fn a_long_output_is_bounded_and_the_whole_can_be_read_in_the_same_session() {
    let place = Place::sample();
    let lines = concat!(r#"{"name": "bash", "arguments": {"command": "seq 1 100000"}}"#, "\n\n",);
    let said = place.haft(&["--yes", "call", "-"], lines);
    let record: Value = serde_json::from_str(said.out.trim()).expect("a record");
    let content = record["content"].as_str().unwrap_or_default();
    assert!(
        content.len() < 33_000 && content.starts_with("1\n2\n") && content.ends_with("99999\n100000\n"),
        "{content}"
    );
    let id = record["spill"].as_str().expect("the whole is kept");
    let page = place.haft(&["call", "read_file", &format!("path=spill:{id}"), "offset=54321", "limit=1"], "");
    assert!(page.out.contains("54321\t54321\n"), "{}{}", page.out, page.err);
}

#[test]
fn without_somebody_to_ask_a_command_is_refused() {
    let place = Place::sample();
    let said = place.haft(&["call", "bash", r#"{"command": "rm notes.txt"}"#], "");
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("The rule \"commands that remove\" asks first"), "{}", said.err);
    assert!(said.err.contains("add this to rules.toml:\n[[rule]]\n"), "{}", said.err);
    assert!(place.path("ws/notes.txt").exists());
}

#[test]
fn a_command_that_only_looks_or_creates_needs_nobody_to_ask() {
    let place = Place::sample();
    let said = place.haft(&["call", "bash", r#"{"command": "ls; mkdir -p made && touch made/a"}"#], "");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(place.path("ws/made/a").exists());
}

#[test]
fn the_doctor_says_how_commands_are_confined() {
    let place = Place::sample();
    for arguments in [&["doctor"][..], &["doctor", "bash"]] {
        let said = place.haft(arguments, "");
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        let words: Vec<String> =
            said.out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        for fact in ["sandbox full (the settings require \"full\")", "seccomp works", "undo of commands yes"] {
            assert!(words.iter().any(|line| line == fact), "{fact}: {}", said.out);
        }
    }
}

#[test]
fn the_examples_of_the_manual_show_what_they_promise() {
    let tools = haft_tools::all();
    let bash = tools.iter().find(|tool| tool.spec().name == "bash").expect("it is listed");
    for example in &bash.spec().manual.examples {
        let place = Place::sample();
        let before = place.tree();
        let arguments = example.arguments.to_string();
        place.haft(&["--plan", "--yes", "call", "bash", &arguments], "");
        assert_eq!(place.tree(), before, "nothing is changed in plan mode: {arguments}");
        let record = place.bash_record(&example.arguments);
        assert_eq!((&record["status"], &record["repairs"]), (&json!("ok"), &Value::Null), "{record}");
        let expected = example.contains.as_deref().unwrap_or_default();
        assert!(record["content"].as_str().is_some_and(|text| text.contains(expected)), "{expected}: {record}");
    }
}

#[test]
fn git_init_brings_no_example_hooks_and_says_nothing_of_them() {
    let place = Place::sample();
    let said = place.bash(&[], "git init -q repo && git -C repo status --short");
    assert!(!said.out.contains("hooks") && !said.out.contains("Refused"), "{}", said.out);
    assert!(place.path("ws/repo/.git/HEAD").exists(), "{}{}", said.out, said.err);
    let samples = std::fs::read_dir(place.path("ws/repo/.git/hooks")).map_or(0, Iterator::count);
    assert_eq!(samples, 0);
    // A hook that would run is named all the same.
    let said = place.bash(&[], "git init -q other; sh -c 'p=pre-commit; echo x > other/.git/hooks/$p'");
    assert!(format!("{}{}", said.out, said.err).contains("pre-commit"), "{}{}", said.out, said.err);
}

#[test]
fn the_first_argument_of_a_tool_may_stand_first_without_its_key() {
    let place = Place::sample();
    for (words, shown) in [
        (&["bash", "ls"][..], "notes.txt"),
        (&["bash", "ls --color=never"], "notes.txt"),
        (&["bash", "echo a; sleep 0", "timeout=5"], "a\n"),
        (&["read_file", "notes.txt", "limit=1"], "one"),
        (&["grep", "main", "path=src"], "main"),
        (&["list_dir", "src"], "main.rs"),
    ] {
        let said = place.haft(&[&["--yes", "call"], words].concat(), "");
        assert_eq!(said.code, 0, "{words:?}: {}", said.err);
        assert!(said.out.contains(shown), "{words:?}: {}", said.out);
    }
    for words in
        [&["bash", "ls", "src"][..], &["bash", "timeout=5", "ls"], &["bash", "ls", "command=ls"], &["undo", "", "x"]]
    {
        let said = place.haft(&[&["--yes", "call"], words].concat(), "");
        assert_eq!(said.code, 2, "{words:?}: {}", said.out);
        assert!(said.err.contains("is neither key=value nor a JSON object"), "{words:?}: {}", said.err);
    }
    let said = place.haft(&["call", "bsh", "ls"], "");
    assert!(said.err.contains("There is no tool \"bsh\""), "{}", said.err);
}

#[test]
fn a_flag_that_is_unknown_is_told_with_near_ones_only() {
    let place = Place::new();
    for words in [&["--foo"][..], &["run", "--foo", "x"], &["call", "--foo", "bash"]] {
        let said = place.haft(words, "");
        assert_eq!(said.code, 2, "{words:?}");
        assert!(said.err.contains("unexpected argument '--foo'"), "{}", said.err);
        assert!(
            !said.err.contains("--yolo") && !said.err.contains("tip:") && !said.err.contains("--yes"),
            "{}",
            said.err
        );
    }
    for (wrong, meant) in [("--jsn", "--json"), ("--pln", "--plan"), ("--add-dri", "--add-dir")] {
        let said = place.haft(&[wrong, "tools"], "");
        assert!(said.err.contains(&format!("'{meant}'")), "{}", said.err);
    }
}

#[test]
fn trying_a_command_asks_nothing_that_is_thrown_away() {
    let place = Place::sample();
    let before = place.tree();
    let tried = |command: &str| place.haft(&["--try", "call", "bash", &json!({ "command": command }).to_string()], "");
    for command in
        ["rm notes.txt", "echo six >> notes.txt", "sh -c 'rm -r src'", "python3 -c 'open(\"notes.txt\", \"w\")'"]
    {
        let said = tried(command);
        assert_eq!(said.code, 0, "{command}: {}", said.err);
        assert!(said.out.contains("nothing was kept; it would have"), "{command}: {}", said.out);
        assert_eq!(place.tree(), before, "{command}");
    }
    for command in
        ["curl https://example.com/", "rm notes.txt; curl https://example.com/", "git push", "echo x > ../elsewhere"]
    {
        let said = tried(command);
        assert_eq!(said.code, 3, "{command}: {}{}", said.out, said.err);
    }
    let write = r#"{"path": "new.txt", "content": "x"}"#;
    assert_eq!(place.haft(&["--try", "call", "write_file", write], "").code, 3, "only commands are tried");
    assert_eq!(place.tree(), before);
}
