//! Secret files that one process renames, changes or removes: a later one still hides what was in them.

use std::process::Command;

use haft_testkit::scripted::scripted_model::{ModelScript, ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::place::{Place, said as said_by};

const CANARY: &str = "canaryG4k8Vn2";

/// What scripts do in the first processes, one each. Afterwards the value is in `x.txt`, and no secret file has it.
const MOVES: &[&[&str]] = &[
    &["mv .env x.txt"],
    &["git mv -f .env x.txt"],
    &["cp .env x.txt; rm .env"],
    &["cat .env > x.txt", "rm -f .env"],
    &["cp .env x.txt", "echo API_KEY=other-1a2b3c4d > .env"],
    &["cp .env x.txt; sed -i s/canary.*/changed/ .env"],
    &["cp .env x.txt; : > .env"],
    &["mkdir deep && mv .env deep/y.txt", "mv deep/y.txt x.txt"],
    &["mv .env x.txt", "sed -i 's/^/a /' x.txt"],
];

/// What a later process does, and must not show.
const LOOKS: &[&[&str]] = &[
    &["call", "bash", "command=cat x.txt"],
    &["call", "read_file", "path=x.txt"],
    &["call", "grep", "pattern=API", "path=."],
    &["diff", "1"],
    &["diff", "2"],
    &["log"],
    &["undo", "--plan"],
];

fn git(place: &Place, words: &[&str]) {
    let output = Command::new("git").current_dir(place.path("ws")).args(words).output().expect("git runs");
    assert!(output.status.success(), "{words:?}");
}

#[test]
fn what_was_in_a_secret_file_is_hidden_by_a_later_process_too() {
    for moves in MOVES {
        let place = Place::new();
        place.put("ws/.env", &format!("API_KEY={CANARY}\n"));
        git(&place, &["init", "-q"]);
        git(&place, &["add", "-f", ".env"]);
        for script in *moves {
            place.put("ws/move.sh", script);
            let said = said_by(place.bare(&["call", "bash", "command=sh move.sh", "--yes"]));
            assert_eq!(said.code, 0, "{script}: {}{}", said.out, said.err);
        }
        let moved = std::fs::read_to_string(place.path("ws/x.txt")).expect("it is there");
        assert!(moved.contains(CANARY), "{moves:?}");
        // What git keeps is known by itself.
        std::fs::remove_dir_all(place.path("ws/.git")).expect("it is there");
        let mut hidden = 0;
        for look in LOOKS {
            let said = said_by(place.bare(&[look, &["--json"][..]].concat()));
            let said = said.out + &said.err;
            assert!(!said.contains(CANARY), "{moves:?}: {look:?}: {said}");
            hidden += usize::from(said.contains("[secret]"));
        }
        assert!(hidden >= 3, "{moves:?}: {hidden}");
    }
}

#[test]
fn a_copy_of_a_secret_file_deeper_down_is_hidden_in_the_first_call_of_a_process() {
    let place = Place::new();
    let read = || said_by(place.bare(&["call", "read_file", "path=notes.txt"]));
    // Before anything was looked at, after that, and when a person has changed the value since.
    for value in [CANARY, CANARY, "canaryH7w2Qp5"] {
        place.put("ws/deep/er/secrets.yml", &format!("a:\n  password: {value}\n"));
        place.put("ws/notes.txt", &format!("it is {value}\n"));
        let said = read();
        assert!(said.out.contains("it is [secret]"), "{value}: {}{}", said.out, said.err);
    }
}

/// What a script does with a secret file in a folder that programs fill. Afterwards the value is in `x.txt`.
const OUT_OF_BUILD_FOLDERS: &[(&str, &str)] = &[
    ("target/.env", "mv target/.env x.txt"),
    ("target/.env", "cp target/.env x.txt"),
    ("target/debug/build/.env", "mv target/debug/build/.env x.txt"),
    ("target/debug/build/.env", "cp target/debug/build/.env x.txt; rm target/debug/build/.env"),
    ("node_modules/p/.env", "mv node_modules/p/.env x.txt"),
    ("node_modules/p/.env", "cat node_modules/p/.env > x.txt; rm node_modules/p/.env"),
    ("node_modules/p/deep/.env", "mv node_modules/p/deep deep; mv deep/.env x.txt"),
];

#[test]
fn what_was_in_a_secret_file_of_a_build_folder_is_hidden_when_it_was_moved_out() {
    let mut shown = Vec::new();
    for (ignored, (path, script)) in
        [false, true].into_iter().flat_map(|is| OUT_OF_BUILD_FOLDERS.iter().map(move |row| (is, row)))
    {
        let place = Place::new();
        place.put("ws/target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
        place.put(&format!("ws/{path}"), &format!("API_KEY={CANARY}\n"));
        if ignored {
            git(&place, &["init", "-q"]);
            place.put("ws/.gitignore", "target\nnode_modules\n");
        }
        place.put("ws/move.sh", script);
        let turns = [
            ScriptedTurn::call("bash", json!({ "command": "sh move.sh" })),
            ScriptedTurn::call("read_file", json!({ "path": "x.txt" })),
            ScriptedTurn::text("Done."),
        ];
        let model = ScriptedModel::start(ModelScript::of(turns));
        let said = place.haft(&model, &["run", "--yes", "--json", "move it"]);
        let moved = std::fs::read_to_string(place.path("ws/x.txt")).unwrap_or_default();
        assert!(moved.contains(CANARY), "{script}: {}{}", said.out, said.err);
        let later = said_by(place.bare(&["call", "read_file", "path=x.txt"]));
        for (when, said) in [("in the session", said.out), ("later", later.out)] {
            // The journal has no earlier version of what git ignores.
            if said.contains(CANARY) && !(ignored && when == "later") {
                shown.push(format!("{script}, ignored {ignored}: {when}"));
            }
        }
    }
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}
