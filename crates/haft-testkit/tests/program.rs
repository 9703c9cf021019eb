//! The scripted model as a program: how it says that it is used wrongly, and how it is used.
#![expect(clippy::disallowed_types, reason = "the program is what is tested")]

use std::process::Command;

use haft_testkit::scripted::scripted_model::ModelScript;

/// Runs the program to its end; returns its status, stdout and stderr.
fn run(words: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_scripted-model")).args(words).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn help_says_how_it_is_used_and_its_script_is_one() {
    for word in ["--help", "-h", "help"] {
        let (code, out, err) = run(&[word]);
        assert_eq!((code, err.as_str()), (Some(0), ""));
        assert!(out.starts_with("usage: scripted-model SCRIPT.yaml [PORT]"), "{out}");
        let script = out.split_once("A script:").and_then(|(_, rest)| rest.split_once("All of it"));
        let script = script.map(|(script, _)| script).expect("there is a script");
        assert_eq!(ModelScript::from_yaml(script).expect("it can be used").turns.len(), 2);
    }
}

#[test]
fn who_uses_it_wrongly_is_told_where_to_look() {
    for (words, told) in [
        (&[][..], "name a script, then a port or nothing; see --help"),
        (&["--port", "80"], "there is no flag --port; see --help"),
        (&["a", "b", "c"], "name a script"),
        (&["a", "70000"], "\"70000\" is not a port"),
        (&["there/is/none.yaml"], "there/is/none.yaml: "),
    ] {
        let (code, out, err) = run(words);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{words:?}");
        assert!(err.starts_with(told), "{words:?}: {err}");
    }
}
