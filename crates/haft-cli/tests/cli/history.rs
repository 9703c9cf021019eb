//! `haft log`, `haft diff`, `haft undo` and `haft redo` as programs and people use them.

use serde_json::Value;

use super::Place;

impl Place {
    fn write(&self, path: &str, content: &str) {
        let call = serde_json::json!({ "path": path, "content": content, "write_mode": "overwrite" });
        let said = self.haft(&["--yes", "call", "write_file", &call.to_string()], "");
        assert_eq!(said.code, 0, "{}", said.err);
    }

    fn record(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.haft(arguments, "").out).expect("it is a record")
    }
}

#[test]
fn the_log_says_how_much_it_does_not_show() {
    let place = Place::new();
    assert_eq!(place.haft(&["log"], "").err, "Nothing was changed here through haft.\n");
    for content in ["1\n", "2\n", "3\n"] {
        place.write("a", content);
    }
    let said = place.haft(&["log", "-n", "0"], "");
    assert_eq!((said.out.as_str(), said.err.as_str()), ("", "[3 older ones; show them with -n 3]\n"));
    let record = place.record(&["log", "-n", "1", "--json"]);
    assert_eq!((&record["change_sets"][0]["change_set"], &record["older"]), (&3.into(), &2.into()));
}

#[test]
fn many_change_sets_are_named_as_a_range() {
    let place = Place::new();
    let lines: Vec<String> =
        (0..30).map(|n| format!(r#"{{"name":"write_file","arguments":{{"path":"f{n}","content":"{n}"}}}}"#)).collect();
    assert_eq!(place.haft(&["--yes", "call", "-"], &lines.join("\n")).code, 0);
    let said = place.haft(&["undo", "--session"], "");
    assert!(said.out.starts_with("Took back change sets 30–1\n"), "{}", said.out);
    let log = place.haft(&["log", "-n", "1"], "");
    assert!(log.out.contains("undo of 30–1 −f0 −f1"), "{}", log.out);
}

#[test]
fn one_file_is_taken_back_whatever_came_after_it() {
    let place = Place::new();
    place.write("a", "a\n");
    place.write("b", "b\n");
    let said = place.haft(&["undo", "--file", "a"], "");
    assert_eq!((said.code, said.out.as_str()), (0, "Took back change set 1\n  removed a\n"), "{}", said.err);
    let said = place.haft(&["undo", "--file", "a"], "");
    let told = "haft: nothing that could be taken back has changed a; \"haft log\" lists what was changed.\n";
    assert_eq!((said.code, said.err.as_str()), (1, told));
}

#[test]
fn a_name_with_a_line_end_adds_no_line() {
    let place = Place::new();
    place.write("a\nhaft: all is well", "mine\n");
    std::fs::write(place.path("ws/a\nhaft: all is well"), "yours\n").expect("it can be written");
    for arguments in [&["undo"][..], &["log"], &["diff"]] {
        let said = place.haft(arguments, "");
        let shown = format!("{}{}", said.out, said.err);
        assert!(shown.contains("a\\nhaft: all is well"), "{shown}");
        assert!(!shown.lines().any(|line| line.starts_with("haft: all is well")), "{shown}");
    }
}

#[test]
fn a_diff_says_what_existed_also_where_it_shows_nothing() {
    let place = Place::new();
    std::fs::write(place.path("ws/big"), vec![b'x'; 65 * 1024 * 1024]).expect("it can be written");
    place.write("big", "small\n");
    let record = place.record(&["diff", "--json"]);
    let file = &record["files"][0];
    assert_eq!((&file["existed"], &file["exists"], &file["diff"]), (&true.into(), &true.into(), &Value::Null));
    let shown = place.haft(&["diff"], "").out;
    assert_eq!(shown, "big  (the content is too large to show, or was not kept)\n");
    place.write("new/a", "a\n");
    let record = place.record(&["diff", "--json"]);
    assert_eq!((&record["files"][0]["existed"], &record["files"][0]["exists"]), (&false.into(), &true.into()));
}

#[test]
fn nothing_is_taken_back_in_plan_mode() {
    let place = Place::new();
    place.write("a", "1");
    assert_eq!(place.haft(&["--plan", "undo"], "").code, 3);
    assert!(place.path("ws/a").exists());
    assert_eq!(place.haft(&["undo"], "").code, 0);
    assert!(!place.path("ws/a").exists());
    assert_eq!(place.haft(&["--plan", "redo"], "").code, 3);
}

#[test]
fn the_tour_ends_well_with_every_profile_and_mode() {
    for flags in [&["--profile", "tunacode"][..], &["--profile", "wyrm"], &["--profile", "nexau"], &["--plan"]] {
        let said = Place::new().haft(&[flags, &["tour"]].concat(), "");
        assert_eq!(said.code, 0, "{flags:?}: {}", said.err);
        let told = if flags == ["--plan"] { "nothing to take back" } else { "restored src/main.rs" };
        assert!(said.out.contains(told), "{flags:?}: {}", said.out);
    }
}
