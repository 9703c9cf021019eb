//! A long answer at a terminal: the user's pager shows it, and the text is as safe as without one.

use super::{Place, Terminal, changed, place};

/// A pager that shows what went through it.
const MARKING: (&str, &str) = ("HAFT_PAGER", "sed 's/^/paged: /'");

/// A file of so many lines, made through haft, so that there is a long blame and a long diff.
fn long(lines: usize, line: &str, variables: &[(&'static str, &'static str)]) -> Place {
    let mut place = place();
    let content: String = (1..=lines).map(|number| format!("{line} {number} end\n")).collect();
    let call = serde_json::json!({ "name": "write_file", "arguments": { "path": "long.txt", "content": content } });
    assert_eq!(place.haft(&["--yes", "call", "-"], &call.to_string()).code, 0);
    place.variables.extend(variables);
    place
}

/// Runs a command to its end; returns everything that it printed.
fn printed(place: &Place, arguments: &[&str]) -> String {
    let mut terminal = Terminal::start(place, arguments);
    let code = terminal.ends();
    let printed = String::from_utf8_lossy(&terminal.raw).into_owned();
    assert_eq!(code, 0, "{printed}");
    printed
}

#[test]
fn a_long_answer_goes_through_the_pager_and_a_short_one_does_not() {
    let place = long(300, "line", &[MARKING, ("PAGER", "false")]);
    for command in [&["blame", "long.txt"][..], &["diff"], &["undo", "--plan", "--file", "long.txt"], &["log"]] {
        let printed = printed(&place, command);
        let is_long = printed.lines().count() > 99;
        let paged = printed.lines().filter(|line| line.starts_with("paged: ")).count();
        assert_eq!(paged, if is_long { printed.lines().count() } else { 0 }, "{command:?}: {printed}");
        assert_eq!(printed.matches(" end").count(), if is_long { 300 } else { 0 }, "{command:?}: {printed}");
    }
}

#[test]
fn without_a_terminal_with_the_flag_with_an_empty_variable_and_with_json_there_is_no_pager() {
    let marked = long(300, "line", &[MARKING]);
    assert!(!marked.haft(&["blame", "long.txt"], "").out.contains("paged: "));
    assert!(!printed(&marked, &["blame", "long.txt", "--no-pager"]).contains("paged: "));
    assert!(!printed(&marked, &["blame", "long.txt", "--json"]).contains("paged: "));
    let empty = long(300, "line", &[("HAFT_PAGER", ""), ("PAGER", MARKING.1)]);
    assert!(!printed(&empty, &["blame", "long.txt"]).contains("paged: "));
    let dumb = long(300, "line", &[MARKING]);
    let mut terminal =
        Terminal::start_program(&dumb, "env", &["TERM=dumb", env!("CARGO_BIN_EXE_haft"), "blame", "long.txt"]);
    assert_eq!(terminal.ends(), 0);
    assert!(!String::from_utf8_lossy(&terminal.raw).contains("paged: "));
}

#[test]
fn a_pager_that_is_missing_loses_nothing_and_one_that_is_left_early_is_no_error() {
    let missing = long(300, "line", &[("PAGER", "no-such-pager --colour")]);
    let all = printed(&missing, &["blame", "long.txt"]);
    assert_eq!(all.matches(" end").count(), 300, "{all}");
    let left = long(30_000, "line", &[("HAFT_PAGER", "head -n 3")]);
    let few = printed(&left, &["blame", "long.txt"]);
    assert_eq!(few.matches(" end").count(), 3, "{few}");
    assert!(!few.contains("haft:"), "{few}");
}

#[test]
fn a_pager_gets_colours_and_nothing_that_commands_the_terminal() {
    let text = "\u{1b}[2J\u{202e}\u{9b}5A";
    for variables in [&[("HAFT_PAGER", "cat")][..], &[("HAFT_PAGER", "cat"), ("NO_COLOR", "1")]] {
        let place = long(300, text, variables);
        let printed = printed(&place, &["diff"]);
        assert_eq!(printed.matches(" end").count(), 300, "{printed}");
        assert_eq!(printed.contains("\u{1b}[32m"), variables.len() == 1, "{printed:?}");
        assert!(!["\u{1b}[2J", "\u{202e}", "\u{9b}"].iter().any(|taboo| printed.contains(taboo)), "{printed:?}");
    }
}

#[test]
fn no_file_of_a_project_names_the_pager() {
    let place = long(300, "line", &[("PAGER", "cat")]);
    place.put("ws/.env", "HAFT_PAGER=touch named\nPAGER=touch named\nLESSOPEN=|touch named\n");
    place.put("ws/.haft/config.toml", "pager = \"touch named\"\n");
    for trust in [&[][..], &["--trust"]] {
        let mut terminal = Terminal::start(&place, &[trust, &["blame", "long.txt"]].concat());
        terminal.ends_somehow();
    }
    assert!(!place.path("ws/named").exists() && !place.path("home/named").exists());
}

#[test]
fn a_question_is_never_held_back() {
    let mut place = place();
    changed(&place);
    place.variables.push(MARKING);
    let mut terminal = Terminal::start(&place, &["undo", "--hunk"]);
    terminal.shows("+ zwei").shows("Undo this hunk [y,n,q,?]?").types("y\n").shows("Undid hunks of change set 1");
    assert_eq!(terminal.ends(), 0, "{}", terminal.screen());
}
