//! `haft setup`: what it writes into the settings of an agent, and how it takes that out again.

use serde_json::Value;

use super::Place;

const SETTINGS: &str = "home/.claude/settings.json";
const TEXT: &str = "{\n\t\"model\":   \"x\",\n  \"hooks\": {\"PreToolUse\": []}\n}\n";

fn read(place: &Place, name: &str) -> Option<String> {
    std::fs::read_to_string(place.path(name)).ok()
}

#[test]
fn the_lines_are_shown_written_after_a_yes_tried_out_and_taken_out_exactly() {
    let place = Place::new();
    place.put(SETTINGS, TEXT);
    let refused = place.haft(&["setup", "claude"], "n\n");
    assert_eq!((refused.code, read(&place, SETTINGS).as_deref()), (3, Some(TEXT)), "{}", refused.err);
    assert!(refused.err.contains("+ ") && refused.err.contains("settings.json"), "{}", refused.err);

    let said = place.haft(&["setup", "claude", "--yes"], "y\n");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("haft refuses \"rm -rf ~\""), "{}", said.err);
    let text = read(&place, SETTINGS).expect("it is there");
    assert!(text.starts_with("{\n\t\"model\":   \"x\","), "{text}");
    let settings: Value = serde_json::from_str(&text).expect("it is JSON");
    let command = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().expect("a command");
    assert!(command.ends_with(" guard --yes"), "{command}");
    let listed = place.haft(&["setup"], "").out;
    assert!(listed.lines().any(|line| line.starts_with("Claude Code") && line.contains("undoable")), "{listed}");
    assert!(place.haft(&["setup", "claude", "--yes"], "").err.contains("already"));
    assert_eq!(place.haft(&["setup", "claude"], "y\n").code, 2, "other flags");

    let removed = place.haft(&["setup", "claude", "--remove"], "");
    assert_eq!((removed.code, read(&place, SETTINGS).as_deref()), (0, Some(TEXT)), "{}", removed.err);
    assert!(place.haft(&["setup", "claude", "--remove"], "").err.contains("nothing was changed"));
}

#[test]
fn settings_that_switch_hooks_off_are_told_instead_of_coverage() {
    let off = "{\"disableAllHooks\": true}";
    for (file, text) in [
        (SETTINGS, off),
        ("ws/.claude/settings.json", off),
        ("ws/.claude/settings.local.json", off),
        ("ws/.claude/settings.json", "{\"allowManagedHooksOnly\": true}"),
        (SETTINGS, "{\"hooks\": {\"PreToolUse\": [5, null, {\"matcher\": 1}]}}"),
    ] {
        let place = Place::new();
        place.put(file, text);
        let said = place.haft(&["setup", "claude"], "y\n");
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.err.contains("is not covered: ") && !said.err.contains("undoable"), "{file}: {}", said.err);
        let listed = place.haft(&["setup"], "").out;
        let line = listed.lines().find(|line| line.starts_with("Claude Code")).expect("it is listed");
        assert!(line.contains("switched off") && !line.contains("undoable"), "{file}: {line}");
        let again = place.haft(&["setup", "claude"], "").err;
        assert!(again.contains("already") && again.contains("is not covered: "), "{file}: {again}");
    }
}

#[test]
fn lines_of_an_earlier_version_are_not_taken_for_those_of_this_one() {
    for (agent, file) in [
        ("codex", "home/.codex/hooks.json"),
        ("gemini", "home/.gemini/settings.json"),
        ("copilot", "home/.copilot/hooks/haft.json"),
    ] {
        let place = Place::new();
        assert_eq!(place.haft(&["setup", agent], "y\n").code, 0, "{agent}");
        assert!(place.haft(&["setup", agent], "").err.contains("already"), "{agent}");
        let text = read(&place, file).expect("it is there");
        let begin = text.find(" guard || ").expect("it blocks") + " guard".len();
        let end = begin + text[begin..].find("; }\"").expect("it ends") + "; }".len();
        place.put(file, &format!("{}{}", &text[..begin], &text[end..]));
        let said = place.haft(&["setup", agent], "y\n");
        assert_eq!(said.code, 2, "{agent}: {}", said.err);
        assert!(said.err.contains(&format!("haft setup {agent} --remove")), "{agent}: {}", said.err);
    }
}

#[test]
fn a_line_that_the_user_wrote_is_named_as_one_to_remove_by_hand() {
    let place = Place::new();
    let line =
        r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"haft guard || true"}]}]}}"#;
    place.put(SETTINGS, line);
    for (words, code) in [(&["setup", "claude"][..], 2), (&["setup", "claude", "--remove"], 0)] {
        let said = place.haft(words, "y\n");
        assert_eq!((said.code, read(&place, SETTINGS).as_deref()), (code, Some(line)), "{}", said.err);
        assert!(said.err.contains("remove that line yourself"), "{words:?}: {}", said.err);
    }
}

#[test]
fn changes_that_the_user_made_since_stay() {
    let place = Place::new();
    place.put(SETTINGS, TEXT);
    assert_eq!(place.haft(&["setup", "claude"], "y\n").code, 0);
    let text = read(&place, SETTINGS).expect("it is there");
    place.put(SETTINGS, &text.replace("\"x\"", "\"other\""));
    assert_eq!(place.haft(&["setup", "claude", "--remove"], "").code, 0);
    assert_eq!(read(&place, SETTINGS), Some(TEXT.replace("\"x\"", "\"other\"")));
}

#[test]
fn every_agent_has_a_file_and_a_folder_that_haft_made_is_empty_again() {
    let place = Place::new();
    for (agent, files) in [
        ("claude", &[".claude/settings.json"][..]),
        ("codex", &[".codex/hooks.json", ".codex/rules/haft.rules"]),
        ("gemini", &[".gemini/settings.json"]),
        ("cursor", &[".cursor/hooks.json"]),
        ("copilot", &[".copilot/hooks/haft.json"]),
        ("opencode", &[".config/opencode/plugin/haft.js"]),
        ("crush", &[".config/crush/crush.json"]),
    ] {
        let said = place.haft(&["setup", agent], "y\n");
        assert_eq!(said.code, 0, "{agent}: {}", said.err);
        for file in files {
            let text = read(&place, &format!("home/{file}")).expect("it is written");
            assert!(text.contains("haft"), "{file}: {text}");
        }
        assert_eq!(place.haft(&["setup", agent, "--remove"], "").code, 0, "{agent}");
        assert!(files.iter().all(|file| read(&place, &format!("home/{file}")).is_none()), "{agent}");
    }
    let said = place.haft(&["setup", "nope"], "");
    assert!(said.code == 2 && said.err.contains("claude, codex"), "{}", said.err);
}

#[test]
fn a_file_that_is_not_json_is_left_alone() {
    let place = Place::new();
    place.put(SETTINGS, "{ // mine\n}");
    let said = place.haft(&["setup", "claude"], "y\n");
    assert_eq!((said.code, read(&place, SETTINGS).as_deref()), (2, Some("{ // mine\n}")), "{}", said.err);
    assert!(said.err.contains("is not JSON"), "{}", said.err);
}
