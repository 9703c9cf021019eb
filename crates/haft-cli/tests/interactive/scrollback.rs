//! The scrollback belongs to the person: every finished line once, nothing of theirs touched, whatever the size does.

use haft_testkit::scripted::scripted_model::{Fault, ModelScript, ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::screen::{Screen, place};

#[test]
fn every_finished_line_is_there_once_while_the_terminal_changes_its_size() {
    let place = place();
    let lines: Vec<String> = (0..120).map(|number| format!("sentence {number}")).collect();
    let text = lines.iter().map(|line| format!("{line}\n\n")).collect::<String>();
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text(&text).fault(Fault::Slow(2))]));
    let mut screen = Screen::chat(&place, &model, &[]);
    screen.shows("scripted at").types("go\r");
    for (number, columns) in (1..20).zip([60, 100, 45, 80, 120].into_iter().cycle()) {
        screen.prints(&format!("sentence {}\r", number * 6)).resize(40, columns).types("x");
    }
    // The status is the last row of a frame: when it is there, the whole frame is.
    screen.shows("sentence 119").shows(" tokens").hides("Esc stops").shows(" tokens");
    screen.has_each_once(&lines);
    let rows = screen.all_rows();
    assert_eq!(rows.iter().filter(|row| row.contains("tokens")).count(), 1, "one status row:\n{}", rows.join("\n"));
    assert_eq!(rows.iter().filter(|row| row.starts_with("› xxx")).count(), 1, "one input row:\n{}", rows.join("\n"));
    assert_eq!(screen.types("\u{15}").leaves(), 0);
    screen.has_each_once(&lines);
}

#[test]
fn a_frame_is_small_however_much_a_command_prints() {
    let place = place();
    let command = "yes 'a line of a flood of output' | head -c 20000000";
    let model = ScriptedModel::start(ModelScript::of([
        ScriptedTurn::call("bash", json!({ "command": command })),
        ScriptedTurn::text("It is over."),
    ]));
    let mut screen = Screen::chat(&place, &model, &["--yes"]);
    screen.shows("scripted at").types("go\r").shows("│ a line of a flood").types("typed").shows("› typed");
    screen.shows("It is over.");
    assert!(screen.raw.len() < 400_000, "{} bytes", screen.raw.len());
    assert_eq!(screen.types("\u{15}").leaves(), 0);
    screen.has_each_once(&["It is over.".to_owned()]);
}

#[test]
fn nothing_is_left_of_the_live_region_after_haft() {
    let place = place();
    let mut screen = Screen::console(&place, 80);
    screen.shows("no model").types("rea").shows("› read_file").types("\u{15}");
    assert_eq!(screen.leaves(), 0);
    let rows = screen.all_rows();
    assert!(!rows.iter().any(|row| row.trim() == "no model" || row.starts_with('›')), "{}", rows.join("\n"));
    let raw = String::from_utf8_lossy(&screen.raw).into_owned();
    assert!(raw.contains("\u{1b}[?2004l"), "pastes are as before");
    for taboo in ["\u{1b}[?1049h", "\u{1b}[2J", "\u{1b}[3J", "\u{1b}[6n"] {
        assert!(!raw.contains(taboo), "{taboo:?}");
    }
}
