//! Text from outside never commands the terminal, wherever it is shown.

use haft_testkit::scripted::scripted_model::{ModelScript, ScriptedModel, ScriptedTurn};
use serde_json::{Value, json};

use crate::screen::{Screen, place};

/// The sequences that haft itself writes, besides colours and moves of the cursor.
const OWN: [&str; 9] = ["?2026h", "?2026l", "?25h", "?25l", "?2004h", "?2004l", "J", ">1u", "<u"];

/// Returns everything in the output of haft that could command a terminal and is not its own.
fn foreign(raw: &[u8]) -> Vec<String> {
    let raw = String::from_utf8_lossy(raw).into_owned();
    let mut found = Vec::new();
    let mut rest = raw.as_str();
    while let Some(at) = rest.find(|c: char| c.is_control() && !matches!(c, '\n' | '\r')) {
        let behind = &rest[at..];
        let sequence = behind.strip_prefix("\u{1b}[").unwrap_or_default();
        let end = sequence.find(|c: char| c.is_ascii_alphabetic()).map_or(0, |end| end + 1);
        let whole = &sequence[..end];
        let is_move = whole.len() > 1
            && whole.ends_with(['A', 'C', 'm'])
            && whole[..whole.len() - 1].chars().all(|c| c.is_ascii_digit() || c == ';');
        if end == 0 || !(is_move || OWN.contains(&whole)) {
            found.push(behind.chars().take(12).collect());
        }
        let length = behind.chars().next().map_or(1, char::len_utf8);
        rest = &behind[length..];
    }
    found.extend(raw.chars().filter(|c| ('\u{202a}'..='\u{202e}').contains(c)).map(|c| format!("{c:?}")));
    found
}

/// The texts of the cases that are whole inputs.
fn inputs() -> Vec<String> {
    let cases = include_str!("../../../../tests/cases/terminal.jsonl").lines().filter(|line| !line.trim().is_empty());
    let input = |line: &str| {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        case["input"].as_str().map(str::to_owned)
    };
    cases.filter_map(input).collect()
}

#[test]
fn no_case_commands_the_terminal_in_the_stream_a_title_a_question_an_error_a_result_or_a_menu() {
    for input in inputs() {
        let place = place();
        place.put("ws/content.txt", &format!("{input}\nend of it\n"));
        place.put("home/.config/haft/commands/evil.md", &format!("---\ndescription: \"{input}\"\n---\nGo.\n"));
        let name = input.replace('/', "_").replace('\0', "");
        place.put(&format!("ws/{name}x.txt"), "named\n");
        let model = ScriptedModel::start(ModelScript::of([
            ScriptedTurn::text(format!("{input} **{input}**\n\n```\n{input}\n```\n"))
                .and_call("read_file", json!({ "path": format!("gone {input}") }))
                .and_call("read_file", json!({ "path": "content.txt" }))
                .and_call("list_dir", json!({})),
            ScriptedTurn::call("write_file", json!({ "path": format!("new {name}"), "content": input })),
            ScriptedTurn::call("bash", json!({ "command": format!("cat content.txt # {input}") })),
            ScriptedTurn::text("All shown."),
        ]));
        let mut screen = Screen::chat(&place, &model, &[]);
        screen.shows("scripted at").types("/ev").shows("› /evil").types("\u{15}");
        screen.types("@x.tx").shows("› ").types("\u{15}");
        screen.pastes(&format!("look {input}")).types("\r").asks().types("y").shows("Tool(bash)");
        if !screen.text().contains("All shown.") {
            screen.waits_for_quiet().types("y");
        }
        screen.shows("All shown.").types("\u{f}").waits_for_quiet();
        assert_eq!(screen.types("\u{15}").leaves(), 0);
        assert_eq!(foreign(&screen.raw), Vec::<String>::new(), "{input:?}");

        let next = ScriptedModel::start(ModelScript::of([]));
        let mut screen = Screen::chat(&place, &next, &["--continue"]);
        screen.shows("Continuing session").shows("All shown.").types("/resume ").waits_for_quiet();
        screen.types("\u{15}/undo ").waits_for_quiet();
        assert_eq!(screen.types("\u{15}").leaves(), 0);
        assert_eq!(foreign(&screen.raw), Vec::<String>::new(), "{input:?} once more");
    }
}
