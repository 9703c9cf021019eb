//! The tool console: what can be done without a model.

use haft_testkit::scratch_home::said;

use crate::screen::{Screen, place};

#[test]
fn the_first_screen_says_what_was_found_and_what_to_type_at_any_width() {
    let place = place();
    for columns in [40, 80, 200] {
        let mut screen = Screen::console(&place, columns);
        screen.shows("type     ").shows("no model");
        let text = screen.text().replace('\n', "");
        for words in ["haftproject", "sandbox  ", "model    none:", "ANTHROPIC_API_KEY", "read_file path=README.md"] {
            assert!(text.replace("haft ", "haft").contains(words), "{words} at {columns}:\n{}", screen.text());
        }
        assert_eq!(screen.leaves(), 0);
    }
}

#[test]
fn a_call_is_completed_with_tab_validated_while_it_is_typed_and_shown() {
    let place = place();
    let mut screen = Screen::console(&place, 100);
    screen.shows("no model").types("rea").shows("› read_file").types("\t");
    screen.types("pa\t").shows("path: The file").types("a.t").shows("› a.txt").types("\t");
    screen.types("limi=1").shows("read_file has no parameter limi; did you mean limit?");
    screen.types("\u{17}\u{17}limit=x").shows("limit takes a number");
    screen.types("\u{17}\u{17}limit=1\r").shows("● Tool(read_file) path=a.txt limit=1 (").shows("1  one");
    assert_eq!(screen.leaves(), 0);
}

#[test]
fn a_pasted_json_call_runs_as_it_is() {
    let place = place();
    let mut screen = Screen::console(&place, 100);
    screen.shows("no model").pastes("{\"name\": \"read_file\",\n \"arguments\": {\"path\": \"a.txt\"}}");
    screen.types("\r").shows("● Tool(read_file) a.txt (").shows("2  two");
    assert_eq!(screen.leaves(), 0);
}

#[test]
fn an_edit_is_asked_about_with_its_diff_and_undone_after_its_plan() {
    let place = place();
    let mut screen = Screen::console(&place, 100);
    screen
        .shows("no model")
        .types("edit_file {\"path\":\"a.txt\",\"edits\":[{\"old_text\":\"two\",\"new_text\":\"zwei\"}]}\r");
    screen.asks().shows("- two").shows("+ zwei");
    assert_eq!(place.get("ws/a.txt").as_deref(), Some("one\ntwo\n"), "nothing is done before the answer");
    screen.types("y").shows("Edited a.txt").shows("/undo 1");
    assert_eq!(place.get("ws/a.txt").as_deref(), Some("one\nzwei\n"));
    screen.types("/undo\r").shows("Would undo change set 1").shows("yes, undo it");
    screen.waits_for_quiet().types("y").shows("Undid change set 1");
    assert_eq!(place.get("ws/a.txt").as_deref(), Some("one\ntwo\n"));
    screen.types("/log\r").shows("undo of 1 by person");
    assert_eq!(screen.leaves(), 0);
}

#[test]
fn a_command_of_the_person_shows_its_last_lines_while_it_runs_and_esc_stops_it() {
    let place = place();
    let mut screen = Screen::console(&place, 100);
    screen.shows("no model").types("!echo first; echo last; tail -f /dev/null\r");
    screen.shows("◌ Tool(bash)").shows("│ last").shows("Esc stops").types("\u{1b}");
    screen.shows("cancelled").hides("◌ Tool(bash)").types("!echo next\r").shows("● Tool(bash) echo next");
    assert_eq!(screen.leaves(), 0);
}

#[test]
fn slash_commands_show_what_the_subcommands_show() {
    let place = place();
    let mut screen = Screen::console(&place, 100);
    screen.shows("no model").types("/").shows("/help").shows("/undo").types("\u{15}");
    screen.types("/tools grep\r").shows("Searches files by regular");
    screen.types("/rules explain 'rm -rf x'\r").shows("rm -rf x");
    screen.types("/plan\r").shows("Plan mode is on").shows("plan: nothing is changed");
    screen.types("write_file path=b.txt content=x\r").shows("refused").hides("◌");
    assert!(!place.path("ws/b.txt").exists());
    screen.types("/undo\r").shows("haft: there is nothing");
    screen.types("/quit\r");
    assert_eq!(screen.ends(), 0);
}

#[test]
fn without_colours_nothing_needs_them() {
    let place = place();
    let mut screen = Screen::start(&place, (40, 80), &[], |command| command.env("NO_COLOR", "1"));
    screen.shows("no model").types("write_file path=b.txt content=x\r").asks().types("y").shows("Created b.txt");
    assert_eq!(screen.leaves(), 0);
    let raw = String::from_utf8_lossy(&screen.raw).into_owned();
    let colours = regex::Regex::new("\u{1b}\\[[0-9;]*m").expect("it is an expression");
    assert!(!colours.is_match(&raw), "{raw:?}");
}

#[test]
fn without_a_terminal_the_same_is_said_in_plain_lines() {
    let place = place();
    let said = said(place.command(&[]), "");
    assert_eq!(said.code, 0);
    assert!(said.out.contains("workspace  ") && said.out.contains("haft call list_dir"), "{}", said.out);
    assert!(!said.out.contains('\u{1b}'));
}

#[test]
fn flags_of_the_terminal_are_refused_before_a_command() {
    let place = place();
    let said = said(place.command(&["--model", "x", "run", "do it"]), "");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("after the command"), "{}", said.err);
}
