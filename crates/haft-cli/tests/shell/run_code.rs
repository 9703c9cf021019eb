//! Snippets run in interpreters that the session keeps; what each changes is a change set of its own.

use serde_json::{Value, json};

use crate::ground::{Ground, for_everybody};
use crate::jobs::has_python;
use crate::session::{Session, text};

fn python(session: &mut Session, code: &str) -> Value {
    session.call("run_code", &json!({ "code": code }))
}

fn snippet(session: &mut Session, language: &str, code: &str) -> Value {
    session.call("run_code", &json!({ "language": language, "code": code }))
}

/// The lines that the snippet itself has printed.
fn printed(record: &Value) -> String {
    let lines = text(record).lines().filter(|line| !line.starts_with('['));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_examples_of_the_manual_show_what_they_promise() {
    if !has_python() {
        return;
    }
    let tools = haft_tools::all();
    let tool = tools.iter().find(|tool| tool.spec().name == "run_code").expect("it is built in");
    for example in &tool.spec().manual.examples {
        let ground = Ground::own();
        ground.lay_out("mkdir src; touch src/main.rs; printf 'one\\ntwo\\nthree\\nfour\\nfive\\n' > notes.txt");
        let mut session = Session::of(&ground);
        let record = session.call("run_code", &example.arguments);
        let expected = example.contains.as_deref().unwrap_or_default();
        assert_eq!((&record["status"], &record["repairs"]), (&json!("ok"), &Value::Null), "{record:#}");
        assert!(text(&record).contains(expected), "{expected}: {record:#}");
        session.end();
    }
}

#[test]
fn names_stay_from_snippet_to_snippet_and_each_changes_files_for_itself() {
    if !has_python() {
        return;
    }
    for_everybody(&|ground| {
        let mut session = Session::of(ground);
        let first = python(&mut session, "import os\nx = 41\ndef write(name):\n    open(name, 'w').write(str(x))\n");
        assert!(text(&first).contains("[new Python interpreter: "), "{first:#}");
        let second = python(&mut session, "x += 1\nwrite('a')\nx");
        assert!(text(&second).starts_with("42\n") && !text(&second).contains("new Python"), "{second:#}");
        assert_eq!((&second["did"], &second["changes"]["created"]), (&json!("changed"), &json!(1)), "{second:#}");
        let third = python(&mut session, "write('b'); os.remove('a'); os.listdir('.')");
        assert_eq!(third["did"], "changed", "{third:#}");
        assert!(!ground.place.path("a").exists() && ground.place.path("b").exists());
        session.end();
        ground.haft(&["undo"]);
        assert!(ground.place.path("a").exists() && !ground.place.path("b").exists());
        ground.haft(&["undo"]);
        assert!(!ground.place.path("a").exists());
    });
}

#[test]
fn a_snippet_that_fails_keeps_the_interpreter_and_a_reset_does_not() {
    if !has_python() {
        return;
    }
    let ground = Ground::own();
    let mut session = Session::of(&ground);
    python(&mut session, "x = 1");
    let failed = python(&mut session, "print('so far')\n1 / 0");
    assert_eq!(failed["status"], "ok", "{failed:#}");
    let said = text(&failed);
    assert!(said.contains("so far") && said.contains("ZeroDivisionError") && said.contains("[exit code 1]"), "{said}");
    assert!(said.contains("File \"<snippet 2>\", line 2") && said.contains("1 / 0"), "{said}");
    assert_eq!(printed(&python(&mut session, "x")), "1\n");
    let reset = session.call("run_code", &json!({ "reset": true }));
    assert_eq!(text(&reset), "[the Python interpreter was reset: its state is gone]\n", "{reset:#}");
    assert!(text(&python(&mut session, "x")).contains("NameError"));
    let ended = python(&mut session, "import os\nos._exit(3)");
    assert!(text(&ended).contains("[exit code 3]") && text(&ended).contains("its state is gone"), "{ended:#}");
    assert_eq!(printed(&python(&mut session, "import asyncio\nawait asyncio.sleep(0, 'late')")), "'late'\n");
    session.end();
}

#[test]
fn a_snippet_whose_time_is_up_ends_its_interpreter_and_says_so() {
    if !has_python() {
        return;
    }
    let ground = Ground::own();
    let mut session = Session::of(&ground);
    let late = session.call("run_code", &json!({ "code": "print('begun')\nwhile True: pass", "timeout": 1 }));
    assert_eq!(late["status"], "timed_out", "{late:#}");
    assert!(text(&late).contains("begun") && text(&late).contains("state of the interpreter is gone"), "{late:#}");
    assert!(text(&python(&mut session, "1")).contains("[new Python interpreter"));
    session.end();
}

#[test]
fn a_file_that_stays_open_for_writing_costs_the_interpreter_and_not_the_change() {
    if !has_python() {
        return;
    }
    let ground = Ground::own();
    let mut session = Session::of(&ground);
    let held = python(&mut session, "f = open('held', 'w')\nf.write('x')\nf.flush()");
    if crate::ground::level() == "full" {
        assert!(text(&held).contains("its state is gone"), "{held:#}");
    }
    assert_eq!(std::fs::read_to_string(ground.place.path("held")).expect("it was written"), "x");
    session.end();
}

#[test]
fn images_and_tables_are_returned_as_such() {
    if !has_python() {
        return;
    }
    let ground = Ground::own();
    let mut session = Session::of(&ground);
    let code = "import struct, zlib\ndef chunk(k, d): return struct.pack('>I', len(d)) + k + d + struct.pack('>I', zlib.crc32(k + d))\n\
                class Dot:\n    def _repr_png_(self):\n        return b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 2, 3, 8, 0, 0, 0, 0)) + chunk(b'IDAT', zlib.compress(b'\\0\\0\\0' * 3)) + chunk(b'IEND', b'')\n\
                display(Dot())\nDot()";
    let record = python(&mut session, code);
    let images = record["images"].as_array().map(Vec::len);
    assert_eq!(images, Some(2), "{record:#}");
    session.end();
}

#[test]
fn javascript_keeps_its_names_and_shows_tables() {
    let node = std::process::Command::new("node").arg("--version").output();
    if !haft_testkit::require::Need::Programs.met(node.is_ok_and(|said| said.status.success())) {
        return;
    }
    let ground = Ground::own();
    let mut session = Session::of(&ground);
    let first = snippet(&mut session, "javascript", "let x = 1; const fs = require('fs'); x + 1");
    assert!(text(&first).starts_with("2\n"), "{first:#}");
    let again = snippet(&mut session, "javascript", "let x = await Promise.resolve(5); fs.writeFileSync('js', 'y'); x");
    assert!(text(&again).starts_with("5\n") && again["did"] == "changed", "{again:#}");
    let failed = snippet(&mut session, "javascript", "nothing.at.all");
    assert!(text(&failed).contains("ReferenceError") && text(&failed).contains("[exit code 1]"), "{failed:#}");
    let table = snippet(&mut session, "javascript", "[{a: 1, b: 'x'}, {a: 2}]");
    assert_eq!(table["data"]["tables"][0]["columns"], json!(["a", "b"]), "{table:#}");
    session.end();
}

#[test]
fn the_shell_keeps_its_variables_and_its_folder() {
    for_everybody(&|ground| {
        ground.lay_out("mkdir sub");
        let mut session = Session::of(ground);
        let first = snippet(&mut session, "shell", "cd sub; name='a \"b\" $c'\nf() { echo \"<$name>\"; }");
        assert_eq!(first["status"], "ok", "{first:#}");
        let second = snippet(&mut session, "shell", "f > out; cat out; basename \"$PWD\"; false");
        assert!(
            text(&second).starts_with("<a \"b\" $c>\nsub\n") && text(&second).contains("[exit code 1]"),
            "{second:#}"
        );
        assert!(ground.place.path("sub/out").exists());
        session.end();
    });
}

#[test]
fn a_snippet_has_no_network_and_changes_no_protected_file() {
    if !has_python() {
        return;
    }
    for_everybody(&|ground| {
        let mut session = Session::of(ground);
        let code = "import socket\ntry:\n    socket.create_connection(('192.0.2.1', 80), 2)\n    print('reached')\nexcept OSError as error:\n    print('no way')";
        let offline = python(&mut session, code);
        assert!(printed(&offline).starts_with("no way"), "{offline:#}");
        let planted = python(
            &mut session,
            "import os\nname = '.ha' + 'ft'\nos.makedirs(name, exist_ok=True)\nopen(name + '/config.toml', 'w').write('x')\n1",
        );
        assert!(!ground.place.path(".haft/config.toml").exists(), "{planted:#}");
        session.end();
    });
}

#[test]
fn python_is_that_of_the_projects_environment() {
    if !has_python() {
        return;
    }
    let ground = Ground::own();
    ground.lay_out("mkdir -p .venv/bin; printf '#!/bin/sh\\nMARK=venv exec python3 \"$@\"\\n' > .venv/bin/python; chmod +x .venv/bin/python");
    let mut session = Session::of(&ground);
    let record = python(&mut session, "import os\nos.environ.get('MARK')");
    assert!(text(&record).starts_with("'venv'\n"), "{record:#}");
    session.end();
}

#[test]
fn a_snippet_that_nobody_allows_is_not_run_and_one_that_is_tried_changes_nothing() {
    if !has_python() {
        return;
    }
    let ground = Ground::own();
    let output = ground.haft(&["--json", "--plan", "call", "run_code", "code=open('a', 'w').write('x')"]);
    let record: Value = serde_json::from_slice(&output.stdout).expect("a record");
    assert!(!ground.place.path("a").exists(), "{record:#}");
    let denied = ground.place.root().join("config/haft");
    std::fs::create_dir_all(&denied).expect("there is room");
    let rule = "[[rule]]\nname = \"no-python\"\ndecision = \"deny\"\nreason = \"Not here.\"\nprogram = \"python3\"\nmatches = [\"python3 a.py\"]\nnot_matches = [\"ls\"]\n";
    std::fs::write(denied.join("rules.toml"), rule).expect("there is room");
    let output = ground.haft(&["--json", "--yes=all", "call", "run_code", "code=open('a', 'w').write('x')"]);
    let record: Value = serde_json::from_slice(&output.stdout).expect("a record");
    assert_eq!((&record["status"], &record["error"]["rule"]), (&json!("refused"), &json!("no-python")), "{record:#}");
    assert!(!ground.place.path("a").exists(), "{record:#}");
}
