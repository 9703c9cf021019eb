//! `haft blame`, the flags of `haft log`, and hunks at a terminal: who changed what, and taking back parts of it.

use super::Place;
use super::terminal::Terminal;

#[test]
fn each_line_is_shown_with_the_call_that_wrote_it() {
    let place = Place::new();
    std::fs::write(place.path("ws/a"), "one\ntwo\nthree\n").expect("it can be written");
    place.write("a", "one\nTWO\nthree\n");
    std::fs::write(place.path("ws/a"), "one\nTWO\nthree\nmine\n").expect("it can be written");
    assert_eq!(place.haft(&["--yes", "call", "bash", r#"{"command": "mkdir d; mv a d/b"}"#], "").code, 0);
    let said = place.haft(&["blame", "d/b"], "");
    let lines: Vec<&str> = said.out.lines().collect();
    assert!(lines[0].contains("before haft") && lines[0].ends_with("1  one"), "{}", said.out);
    assert!(lines[1].trim_start().starts_with("1  just now") && lines[1].ends_with("2  TWO"), "{}", said.out);
    assert!(lines[3].contains("not through haft, after 1") && lines[3].ends_with("4  mine"), "{}", said.out);

    let record = place.record(&["blame", "d/b", "--json"]);
    let line = &record["lines"][1];
    assert_eq!(
        (line["line"].as_u64(), line["change_set"].as_u64(), &line["tool"]),
        (Some(2), Some(1), &"write_file".into())
    );
    assert!(
        line["session"].is_string() && line["turn"].is_u64() && line["call"].is_string() && line["agent"].is_string()
    );
    assert_eq!((&record["lines"][0]["origin"], &record["lines"][3]["origin"]), (&"before".into(), &"outside".into()));
    assert!(record["lines"][0].get("change_set").is_none());
    // Below the folder, paths begin there.
    assert_eq!(place.haft(&["-C", "d", "blame", "b"], "").out.lines().count(), 4);
}

#[test]
fn what_has_no_lines_is_a_clear_error_and_a_secret_is_not_shown() {
    let place = Place::new();
    std::fs::write(place.path("ws/.env"), "TOKEN=abcdefgh12345678\n").expect("it can be written");
    let said = place.haft(&["blame", ".env"], "");
    assert!(said.code == 0 && !said.out.contains("abcdefgh12345678"), "{}", said.out);
    for (name, why) in [("none", "is not a file"), (".", "is not a file")] {
        let said = place.haft(&["blame", name], "");
        assert!(said.code == 1 && said.err.contains(why), "{}", said.err);
    }
    assert_eq!(place.record(&["blame", "none", "--json"])["error"]["kind"], "no_text");
}

#[test]
fn the_log_lists_what_fits_all_flags() {
    let place = Place::new();
    place.write("src/a", "1\n");
    place.write("b", "1\n");
    assert_eq!(place.haft(&["--yes", "call", "bash", r#"{"command": "echo 2 > src/a"}"#], "").code, 0);
    let numbers = |flags: &[&str]| {
        let record = place.record(&[&["log", "--json"], flags].concat());
        let sets = record["change_sets"].as_array().expect("it is a list").clone();
        sets.iter().filter_map(|set| set["number"].as_u64()).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&["--file", "src"]), [3, 1]);
    assert_eq!(numbers(&["--file", "src/a", "--grep", "ECHO"]), [3]);
    assert_eq!(numbers(&["--agent", "script", "--since", "1h"]), [3, 2, 1]);
    assert!(numbers(&["--agent", "claude"]).is_empty() && numbers(&["--since", "2999-01-01"]).is_empty());
    let record = place.record(&["log", "--json", "--file", "src", "-n", "1"]);
    assert_eq!((record["more"].as_bool(), record["change_sets"].as_array().map(Vec::len)), (Some(true), Some(1)));
    assert!(place.haft(&["log", "--grep", "nothing"], "").err.contains("No change set fits."));
    let said = place.haft(&["log", "--since", "soon"], "");
    assert!(said.code == 2 && said.err.contains("2026-11-18T14:30"), "{}", said.err);
}

#[test]
fn hunks_are_chosen_one_by_one_at_a_terminal() {
    let place = Place::new();
    let numbered = |changed: &[usize]| {
        let line = |number| if changed.contains(&number) { format!("new {number}\n") } else { format!("{number}\n") };
        (1..=30).map(line).collect::<String>()
    };
    std::fs::create_dir(place.path("ws/d")).expect("it is new");
    std::fs::write(place.path("ws/d/n"), numbered(&[])).expect("it can be written");
    place.write("d/n", &numbered(&[2, 5, 20]));
    let read = || std::fs::read_to_string(place.path("ws/d/n")).expect("it is there");

    let mut terminal = Terminal::start(&place, &["-C", "d", "undo", "--hunk"]);
    terminal.shows("Undo this hunk [y,n,s,q,?]?").types("s\n").shows("Undo this hunk [y,n,q,?]?").types("n\n");
    terminal.shows("+ new 5").types("y\n").shows("+ new 20");
    assert_eq!(read(), numbered(&[2, 5, 20]), "nothing is changed before the last answer");
    terminal.types("y\n").shows("Undid hunks of change set 1");
    assert_eq!((terminal.ends(), read()), (0, numbered(&[2])));

    assert_eq!(place.haft(&["redo"], "").code, 0);
    let mut terminal = Terminal::start(&place, &["undo", "1", "--hunk"]);
    terminal.shows("Undo this hunk").types("y\n").shows("+ new 20").types("\u{4}");
    terminal.shows("Nothing was undone.");
    assert_eq!((terminal.ends(), read()), (0, numbered(&[2, 5, 20])));
    let said = place.haft(&["undo", "--hunk"], "y\ny\n");
    assert!(said.code == 2 && said.err.contains("--hunk src/a.rs:2"), "{}", said.err);
    assert_eq!(read(), numbered(&[2, 5, 20]));
}
