//! What the screen shows in each situation, in a narrow, a usual and a wide terminal.

use haft_testkit::scratch_home::said;
use haft_testkit::scripted::scripted_model::{ModelScript, ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::screen::{Screen, place};

const WIDTHS: [u16; 3] = [40, 80, 200];

#[test]
fn thinking_is_shown_while_it_lasts_and_leaves_nothing_behind() {
    let place = place();
    for columns in WIDTHS {
        let thinks = ScriptedTurn::thinking("I wonder about this for a while. ").and_text("Decided.").held();
        let model = ScriptedModel::start(ModelScript::of([thinks]));
        let mut screen = Screen::chat_in(&place, &model, &[], columns);
        screen.shows("scripted at").types("go\r").shows("waiting for scripted");
        model.release(2);
        screen.shows("thinking · ").resize(40, columns - 5).shows("thinking · ");
        model.release_all();
        screen.shows("Decided.").hides("thinking");
        assert_eq!(screen.leaves(), 0);
        assert!(!screen.all_rows().iter().any(|row| row.contains("wonder") || row.contains("thinking")));
    }
}

#[test]
fn calls_side_by_side_have_a_row_each_until_esc_stops_them() {
    let place = place();
    for columns in WIDTHS {
        let waits = |name: &str| json!({ "command": format!("echo {name}; tail -f /dev/null") });
        let both = ScriptedTurn::call("bash", waits("first")).and_call("bash", waits("second"));
        let model = ScriptedModel::start(ModelScript::of([both, ScriptedTurn::text("never")]));
        let mut screen = Screen::chat_in(&place, &model, &["--yolo"], columns);
        screen.shows("scripted at").types("go\r").shows("◌ Tool(bash) echo first").shows("◌ Tool(bash) echo second");
        screen.shows("│ first").shows("Esc stops").types("\u{1b}").shows("Stopped.").hides("◌");
        assert_eq!(screen.leaves(), 0);
    }
}

#[test]
fn a_question_of_the_model_is_answered_with_a_key_or_in_words() {
    let place = place();
    place.put("home/.config/haft/config.toml", "[tools]\nshow = [\"ask_user\"]\n");
    for columns in WIDTHS {
        let question = json!({ "questions": [
            { "question": "Which database?", "options": [{ "label": "sqlite" }, { "label": "postgres" }] }
        ] });
        let model = ScriptedModel::start(ModelScript::of([
            ScriptedTurn::call("ask_user", question),
            ScriptedTurn::text("So be it."),
        ]));
        let mut screen = Screen::chat_in(&place, &model, &[], columns);
        screen.shows("scripted at").types("go\r").shows("Which database?").shows("sqlite").shows("Your answer");
        screen.waits_for_quiet().types("2").shows("→ postgres").shows("So be it.");
        assert_eq!(screen.leaves(), 0);
    }
}

#[test]
fn a_job_is_named_by_its_call_and_listed() {
    let place = place();
    for columns in WIDTHS {
        let job = json!({ "command": "echo ready; tail -f /dev/null", "background": true, "name": "server" });
        let model =
            ScriptedModel::start(ModelScript::of([ScriptedTurn::call("bash", job), ScriptedTurn::text("It runs.")]));
        let mut screen = Screen::chat_in(&place, &model, &["--yolo"], columns);
        screen.shows("scripted at").types("go\r").shows("It runs.").types("/jobs\r").prints("server");
        assert_eq!(screen.leaves(), 0);
    }
}

#[test]
fn the_menu_the_picker_and_the_help_fit_any_width() {
    let place = place();
    for columns in WIDTHS {
        let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Noted.")]));
        let mut screen = Screen::chat_in(&place, &model, &[], columns);
        screen.shows("scripted at").types("remember this sentence\r").shows("Noted.");
        screen.types("/").shows("› /help").shows("more").types("\u{15}");
        screen.types("/help\r").prints("leaves haft");
        let rows = screen.all_rows();
        let help = rows.iter().skip_while(|row| !row.starts_with("› /help")).skip(1);
        // A row as wide as the terminal is one that the terminal has broken, in the middle of a word.
        let broken: Vec<&String> = help.filter(|row| row.chars().count() >= usize::from(columns)).collect();
        assert_eq!(broken, Vec::<&String>::new(), "{}", rows.join("\n"));
        assert_eq!(screen.leaves(), 0);
        let mut screen = Screen::chat_in(&place, &model, &[], columns);
        screen.shows("scripted at").types("/resume\r").shows("│ scripted · 2 messages").types("\u{1b}").types("\u{15}");
        assert_eq!(screen.leaves(), 0);
    }
    let sessions = said(place.command(&["sessions"]), "");
    assert_eq!(sessions.out.lines().count(), WIDTHS.len(), "looking continues nothing: {}", sessions.out);
}
