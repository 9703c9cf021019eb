//! Nothing that another user can change decides or runs anything: settings, state, scripts of hooks and of tools.

use haft_testkit::require::Need;
use std::os::unix::fs::{PermissionsExt, chown, symlink};

use super::{CapturedOutput, Place};

/// A user other than the one who runs the tests.
const OTHER: u32 = 54_321;
const HOOK: &str = "[[hooks.PreToolUse]]\nmatcher = \"*\"\ncommand = \"sh ~/bin/check.sh\"\n";
const TOOL: &str =
    "name: greet\ndescription: Greets.\nbinding: {command: [sh, greet.sh]}\neffects: []\ninput_schema: {}\n";

fn place() -> Place {
    let place = Place::new();
    place.put("home/bin/check.sh", "exit 0\n");
    place.put("home/.config/haft/config.toml", HOOK);
    place.put("home/.config/haft/tools/greet.yaml", TOOL);
    place.put("home/.config/haft/tools/greet.sh", "cat > /dev/null; echo hello\n");
    place
}

fn set_mode(place: &Place, path: &str, mode: u32) {
    std::fs::set_permissions(place.path(path), PermissionsExt::from_mode(mode)).expect("it is ours");
}

fn reads(place: &Place) -> CapturedOutput {
    place.haft(&["call", "read_file", "path=src/main.rs"], "")
}

#[test]
fn a_script_of_a_hook_that_others_can_change_stops_the_start_with_the_reason() {
    for (path, mode, why) in
        [("home/bin/check.sh", 0o666, "others can write it: the mode is 666"), ("home/bin", 0o777, "others can write")]
    {
        let place = place();
        assert_eq!(reads(&place).code, 0, "{}", reads(&place).err);
        set_mode(&place, path, mode);
        let said = reads(&place);
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains("config.toml:3: a hook runs ") && said.err.contains(why), "{path}: {}", said.err);
        assert!(said.err.contains("let the hook name a script that only you can change"), "{}", said.err);
    }
}

#[test]
fn a_tool_whose_script_others_can_change_is_left_out_with_the_reason() {
    let place = place();
    let said = place.haft(&["--yes", "call", "greet"], "");
    assert_eq!(said.out, "hello\n", "{}", said.err);
    set_mode(&place, "home/.config/haft/tools/greet.sh", 0o606);
    let said = place.haft(&["--yes", "call", "greet"], "");
    assert_ne!(said.code, 0, "{}", said.out);
    let words = "greet.yaml: it runs ";
    assert!(said.err.contains(words) && said.err.contains("others can write it: the mode is 606"), "{}", said.err);
}

#[test]
fn settings_and_state_below_a_folder_that_others_can_write_are_refused() {
    for (folder, mode, is_fine) in [
        ("home", 0o755, true),
        ("home", 0o777, false),
        ("home/.config", 0o777, false),
        ("home/.config/haft", 0o777, false),
        ("home/.local", 0o777, false),
        ("home/.local/state", 0o777, false),
        ("home/.local/state/haft", 0o777, false),
    ] {
        let place = place();
        let writes = || {
            place.haft(&["--yes", "call", "write_file", r#"{"path":"new","content":"x","write_mode":"overwrite"}"#], "")
        };
        assert_eq!(writes().code, 0, "{}", writes().err);
        set_mode(&place, folder, mode);
        let said = writes();
        assert_eq!(said.code == 0, is_fine, "{folder} {mode:o}: {}", said.err);
        assert!(is_fine || said.err.contains("others can write"), "{folder}: {}", said.err);
    }
}

#[test]
fn the_reason_why_state_is_refused_is_said_once() {
    for folder in ["home/.local/state/haft", "home/.local/state/haft/workspaces"] {
        let place = place();
        let write = ["--yes", "call", "write_file", r#"{"path":"new","content":"x","write_mode":"overwrite"}"#];
        assert_eq!(place.haft(&write, "").code, 0);
        set_mode(&place, folder, 0o777);
        for arguments in [&["log"][..], &["undo"], &["diff"], &write] {
            let said = place.haft(arguments, "");
            // A note about something else is a line of its own.
            let told: String =
                said.out.lines().chain(said.err.lines()).filter(|line| !line.starts_with("note: ")).collect();
            let count = told.matches("others can write").count();
            assert_eq!(count, 1, "{arguments:?}: {}{}", said.out, said.err);
        }
    }
}

#[test]
fn a_folder_of_settings_that_leads_to_another_user_is_refused() {
    let place = place();
    std::fs::rename(place.path("home/.config"), place.path("theirs")).expect("it is there");
    symlink("../theirs", place.path("home/.config")).expect("a link can be made");
    assert_eq!(reads(&place).code, 0, "{}", reads(&place).err);
    // Only root can give a folder away.
    if !Need::Users.met(chown(place.path("theirs"), Some(OTHER), None).is_ok()) {
        return;
    }
    let said = reads(&place);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("belongs to another user (id 54321)"), "{}", said.err);
}

#[test]
fn a_foreign_folder_that_the_environment_names_is_refused() {
    for (variable, folder) in [("XDG_CONFIG_HOME", "home/foreign"), ("XDG_STATE_HOME", "home/foreign")] {
        let mut place = place();
        place.put("home/foreign/haft/config.toml", "");
        let value = place.path(folder).display().to_string();
        place.variables.push((variable, Box::leak(value.into_boxed_str())));
        let writes = |place: &Place| {
            place.haft(&["--yes", "call", "write_file", r#"{"path":"new","content":"x","write_mode":"overwrite"}"#], "")
        };
        assert_eq!(writes(&place).code, 0, "{}", writes(&place).err);
        if !Need::Users.met(chown(place.path(folder), Some(OTHER), None).is_ok()) {
            return;
        }
        let said = writes(&place);
        assert_ne!(said.code, 0, "{variable}: {}", said.out);
        assert!(said.err.contains("belongs to another user (id 54321)"), "{variable}: {}", said.err);
    }
}

#[test]
fn history_in_a_foreign_state_folder_is_refused_with_the_reason_also_where_nothing_was_changed_yet() {
    let mut place = place();
    place.put("home/foreign/haft/keep", "");
    let value = place.path("home/foreign").display().to_string();
    place.variables.push(("XDG_STATE_HOME", Box::leak(value.into_boxed_str())));
    if !Need::Users.met(chown(place.path("home/foreign/haft"), Some(OTHER), None).is_ok()) {
        return;
    }
    for arguments in [&["log"][..], &["undo"], &["redo"], &["diff"], &["sessions"]] {
        let said = place.haft(arguments, "");
        assert_eq!(said.code, 2, "{arguments:?}: {}{}", said.out, said.err);
        assert!(said.err.contains("belongs to another user (id 54321)"), "{arguments:?}: {}", said.err);
    }
}
