//! Commands that must work when settings are broken.

use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use super::Place;

const CONFIG: &str = "home/.config/haft/config.toml";
const RULES: &str = "home/.config/haft/rules.toml";
const PROJECT_CONFIG: &str = "ws/.haft/config.toml";
const PROJECT_RULES: &str = "ws/.haft/rules.toml";

/// What is wrong with a settings file.
#[derive(Clone, Copy, Debug)]
enum Broken {
    Text(&'static [u8]),
    Folder,
    LinkToNothing,
    Unreadable,
    WritableByOthers,
    OfAnotherUser,
}

/// A broken settings file: which, how, and what is said after its path.
const MISTAKES: [(&str, Broken, &str); 19] = [
    (CONFIG, Broken::Text(b"\nprofile = [\n"), ":2: this list is not closed; add `]`"),
    (CONFIG, Broken::Text(b"[limts]\n"), ":1: unknown field `limts`; did you mean `limits`?"),
    (CONFIG, Broken::Text(b"[limits]\nresult_head = 9999999\n"), ":1: result_head and result_tail together are more"),
    (CONFIG, Broken::Text(b"# one\n# \xff\n"), ":2: this line is not text in UTF-8; save the file as UTF-8"),
    (CONFIG, Broken::Folder, ":1: cannot be read: it is not a regular file; make it a readable text file"),
    (CONFIG, Broken::LinkToNothing, ":1: cannot be read: "),
    (CONFIG, Broken::Unreadable, ":1: cannot be read: permission denied; give yourself the right to read it"),
    (RULES, Broken::Text(b"\n\n[[rule\n"), ":3: this section name is not closed; add `]]`"),
    (RULES, Broken::Text(b"[[rul]]\n"), ":1: there is no key \"rul\" here; write rules as [[rule]]"),
    (RULES, Broken::Text(b"\xff"), ":1: this line is not text in UTF-8; save the file as UTF-8"),
    (RULES, Broken::Folder, ":1: cannot be read: it is not a regular file; make it a readable text file"),
    (RULES, Broken::Unreadable, ":1: cannot be read: permission denied; give yourself the right to read it"),
    (
        CONFIG,
        Broken::WritableByOthers,
        ":1: haft does not use this file: others can write it: the mode is 666; run chmod",
    ),
    (
        CONFIG,
        Broken::OfAnotherUser,
        ":1: haft does not use this file: it belongs to another user (id 54321), who could",
    ),
    (
        RULES,
        Broken::WritableByOthers,
        ":1: haft does not use this file: others can write it: the mode is 666; run chmod",
    ),
    (RULES, Broken::OfAnotherUser, ":1: haft does not use this file: it belongs to another user (id 54321), who could"),
    (PROJECT_CONFIG, Broken::Text(b"profile\n"), ":1: this key has no value; write key = value"),
    (PROJECT_CONFIG, Broken::Text(b"[sandbox]\nnetwork = true\n"), ":1: a project cannot set what commands may reach"),
    (PROJECT_RULES, Broken::Text(b"\n[[rule]]\n"), ":2: the rule has no name; add name = "),
];

/// Breaks a file; returns whether that works here: root reads every file, and only root gives one away.
fn break_file(path: &Path, how: Broken) -> bool {
    std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("folders can be made");
    match how {
        Broken::Text(text) => std::fs::write(path, text).expect("a file can be written"),
        Broken::Folder => std::fs::create_dir(path).expect("a folder can be made"),
        Broken::LinkToNothing => symlink("nowhere", path).expect("a link can be made"),
        Broken::Unreadable => {
            std::fs::write(path, "").expect("a file can be written");
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).expect("it is ours");
            return std::fs::read(path).is_err();
        }
        Broken::WritableByOthers => {
            std::fs::write(path, "").expect("a file can be written");
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666)).expect("it is ours");
        }
        Broken::OfAnotherUser => {
            std::fs::write(path, "").expect("a file can be written");
            return chown(path, Some(54_321), None).is_ok();
        }
    }
    true
}

#[test]
fn rescue_commands_report_a_mistake_in_the_settings_and_work() {
    let healthy = Place::new().haft(&["doctor"], "").code;
    for (file, how, said_of_it) in MISTAKES {
        let place = Place::new();
        place.write("a", "1\n");
        let path = place.path(file);
        if !break_file(&path, how) {
            continue;
        }
        if file.starts_with("ws/") {
            assert_eq!(place.haft(&["trust", "."], "").code, 0, "{file} {how:?}");
        }
        let path = path.canonicalize().unwrap_or(path);
        let expected = format!("{}{said_of_it}", path.display());
        for (command, code, is_there) in [
            (&["log"][..], 0, true),
            (&["log", "--json"], 0, true),
            (&["diff"], 0, true),
            (&["doctor"], healthy, true),
            (&["gc"], 0, true),
            (&["gc", "--json"], 0, true),
            (&["undo"], 0, false),
            (&["redo"], 0, true),
        ] {
            let said = place.haft(command, "");
            assert_eq!(said.code, code, "{file} {how:?} {command:?}: {}", said.err);
            assert!(said.err.contains(&expected), "{file} {how:?} {command:?}: {} is not in {}", expected, said.err);
            assert!(!said.out.is_empty() && !said.out.contains(said_of_it), "{file} {command:?}: {}", said.out);
            assert_eq!(place.path("ws/a").exists(), is_there, "{file} {how:?} {command:?}");
        }
        let said = place.haft(&["call", "list_dir"], "");
        assert_eq!(said.code, 2, "{file} {how:?}: {}", said.err);
        assert!(said.err.contains(&expected), "{file} {how:?}: {}", said.err);
    }
}

#[test]
fn without_a_mistake_rescue_commands_say_nothing_of_settings() {
    let place = Place::new();
    place.put(CONFIG, "[limits]\nread_lines = 7\n");
    place.write("a", "1\n");
    for command in ["log", "diff", "undo", "redo", "doctor", "gc"] {
        assert_eq!(place.haft(&[command], "").err, "", "{command}");
    }
}
