//! `haft log`, `haft diff`, `haft undo` and `haft redo` as programs and people use them.

use serde_json::Value;

use super::Place;

impl Place {
    pub(super) fn write(&self, path: &str, content: &str) {
        let call = serde_json::json!({ "path": path, "content": content, "write_mode": "overwrite" });
        let said = self.haft(&["--yes", "call", "write_file", &call.to_string()], "");
        assert_eq!(said.code, 0, "{}", said.err);
    }

    pub(super) fn record(&self, arguments: &[&str]) -> Value {
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
    assert_eq!((&record["change_sets"][0]["number"], &record["older"]), (&3.into(), &2.into()));
}

#[test]
fn many_change_sets_are_named_as_a_range() {
    let place = Place::new();
    let lines: Vec<String> =
        (0..30).map(|n| format!(r#"{{"name":"write_file","arguments":{{"path":"f{n}","content":"{n}"}}}}"#)).collect();
    assert_eq!(place.haft(&["--yes", "call", "-"], &lines.join("\n")).code, 0);
    let said = place.haft(&["undo", "--session"], "");
    assert!(said.out.starts_with("Undid change sets 30–1\n"), "{}", said.out);
    let log = place.haft(&["log", "-n", "1"], "");
    assert!(log.out.contains("undo of 30–1 by person  −30  −f0 −f1"), "{}", log.out);
}

#[test]
fn one_file_is_taken_back_whatever_came_after_it() {
    let place = Place::new();
    place.write("a", "a\n");
    place.write("b", "b\n");
    let said = place.haft(&["undo", "--file", "a"], "");
    assert_eq!((said.code, said.out.as_str()), (0, "Undid change set 1\n  removed a\n"), "{}", said.err);
    let said = place.haft(&["undo", "--file", "a"], "");
    let told = "haft: no change set that can be undone has changed a; \"haft log\" lists what was changed.\n";
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
fn a_plan_shows_what_undo_and_redo_would_do_and_changes_nothing() {
    let place = Place::new();
    place.write("a", "1\n");
    let before = place.haft(&["log"], "").out;
    let said = place.haft(&["undo", "--plan"], "");
    assert_eq!((said.code, said.out.as_str()), (0, "Would undo change set 1\n  remove a\n"), "{}", said.err);
    let record = place.record(&["undo", "1", "--file", "a", "--plan", "--json"]);
    let told = (&record["planned"], &record["change_set"], &record["took_back"], &record["files"][0]["became"]);
    assert_eq!(told, (&true.into(), &Value::Null, &serde_json::json!([1]), &"removed".into()));
    assert!(place.path("ws/a").exists());
    assert_eq!(place.haft(&["log"], "").out, before);
    assert_eq!(place.haft(&["redo", "--plan"], "").code, 1);

    assert_eq!(place.haft(&["undo"], "").code, 0);
    let said = place.haft(&["redo", "--plan"], "");
    let planned = "Would redo change set 1 (undone by change set 2)\n  create a again\n";
    assert_eq!((said.code, said.out.as_str()), (0, planned));
    assert!(!place.path("ws/a").exists());
}

#[test]
fn an_undo_of_some_files_and_a_redo_say_what_they_did() {
    let place = Place::new();
    let call = r#"{"command": "echo 2 > a; echo 2 > b; echo 2 > c"}"#;
    assert_eq!(place.haft(&["--yes", "call", "bash", call], "").code, 0);
    let said = place.haft(&["undo", "--file", "b", "--plan"], "");
    assert_eq!(said.out, "Would undo b of change set 1; its other 2 files would stay changed\n  remove b\n");
    let said = place.haft(&["undo", "--file", "b"], "");
    assert_eq!(said.out, "Undid b of change set 1; its other 2 files stay changed\n  removed b\n");
    assert!(place.haft(&["log"], "").out.contains("(partly undone)"));
    let said = place.haft(&["redo"], "");
    assert_eq!(said.out, "Redid change set 1 (undone by change set 2)\n  created b again\n");
    assert!(!place.haft(&["log", "-n", "9"], "").out.contains("partly"));
    place.write("d", "1\n");
    let said = place.haft(&["undo", "--file", "d"], "");
    assert_eq!(said.out, "Undid change set 4\n  removed d\n", "it was the only file");
}

#[test]
fn all_conflicts_are_told_together_with_the_change_set_to_undo_first() {
    let place = Place::new();
    place.write("a", "1\n");
    place.write("a", "2\n");
    let said = place.haft(&["undo", "1"], "");
    assert_eq!(said.code, 1);
    assert!(said.err.contains("undo 2 first") && said.err.contains("- 1\n+ 2"), "{}", said.err);

    let place = Place::new();
    for name in ["a", "b"] {
        std::fs::write(place.path("ws").join(name), "1\n").expect("it can be written");
    }
    let call = r#"{"command": "echo 2 > a; echo 2 > b"}"#;
    assert_eq!(place.haft(&["--yes", "call", "bash", call], "").code, 0);
    for name in ["a", "b"] {
        std::fs::write(place.path("ws").join(name), "mine\n").expect("it can be written");
    }
    let record = place.record(&["undo", "--json"]);
    let conflicts = record["conflicts"].as_array().expect("there are some");
    let paths: Vec<&Value> = conflicts.iter().map(|conflict| &conflict["path"]).collect();
    assert_eq!(paths, ["a", "b"]);
    assert!(conflicts.iter().all(|conflict| conflict["diff"].as_str().is_some_and(|diff| diff.contains("+ mine"))));
    let said = place.haft(&["undo", "--plan"], "");
    assert_eq!(said.code, 0);
    assert!(said.err.contains("Nothing would be undone."), "{}", said.err);
}

fn numbered(changes: &[(usize, &str)]) -> String {
    let line = |number: usize| {
        let changed = changes.iter().find(|(changed, _)| *changed == number);
        changed.map_or_else(|| format!("{number}\n"), |(_, text)| format!("{text}\n"))
    };
    (1..=30).map(line).collect()
}

#[test]
fn single_hunks_are_taken_back_as_the_diff_numbers_them() {
    let place = Place::new();
    let file = place.path("ws/n");
    std::fs::write(&file, numbered(&[])).expect("it can be written");
    place.write("n", &numbered(&[(2, "two"), (15, "fifteen"), (28, "end")]));
    let shown = place.haft(&["diff", "1"], "").out;
    for hunk in ["n:1 @@ line 1 @@", "n:2 @@ line 12 @@", "n:3 @@ line 25 @@"] {
        assert!(shown.contains(hunk), "{shown}");
    }
    assert_eq!(place.record(&["diff", "--json"])["files"][0]["hunks"][1]["hunk"], "n:2");
    // What was done since stays.
    std::fs::write(&file, numbered(&[(2, "two"), (15, "fifteen"), (20, "mine"), (28, "end")]))
        .expect("it can be written");
    let said = place.haft(&["undo", "1", "--hunk", "n:2", "--hunk", "n:3"], "");
    assert_eq!((said.code, said.out.lines().next()), (0, Some("Undid hunks of change set 1")), "{}", said.err);
    let read = || std::fs::read_to_string(&file).expect("it is there");
    assert_eq!(read(), numbered(&[(2, "two"), (20, "mine")]));
    assert_eq!(place.haft(&["redo"], "").code, 0);
    assert_eq!(read(), numbered(&[(2, "two"), (15, "fifteen"), (20, "mine"), (28, "end")]));
    assert_eq!(place.haft(&["undo", "--hunk", "n:1"], "").code, 0);
    // The change set still holds, so the rest of it can be taken back.
    assert_eq!(place.haft(&["undo", "1"], "").code, 0);
    assert_eq!(read(), numbered(&[(20, "mine")]));
    for (hunk, told) in [("n:4", "no hunk 4"), ("other:1", "did not change other")] {
        let said = place.haft(&["undo", "1", "--hunk", hunk, "--plan"], "");
        assert!(said.code == 1 && (said.err.contains(told) || said.err.contains("already undone")), "{}", said.err);
    }
    assert_eq!(place.haft(&["undo", "1", "--hunk", "n"], "").code, 2);
}

#[test]
fn a_folder_is_taken_back_without_the_rest() {
    let place = Place::new();
    let call = r#"{"command": "mkdir -p d/e; echo 1 > d/x; echo 2 > d/e/y; echo 3 > z"}"#;
    assert_eq!(place.haft(&["--yes", "call", "bash", call], "").code, 0);
    let said = place.haft(&["undo", "--file", "d"], "");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!place.path("ws/d").exists() && place.path("ws/z").exists(), "{}", said.out);
    assert_eq!(place.haft(&["undo"], "").code, 0);
    assert!(!place.path("ws/z").exists());
}

#[test]
fn an_earlier_version_is_restored_beside_and_never_over_a_file() {
    let place = Place::new();
    let file = |name: &str| place.path("ws").join(name);
    std::fs::write(file("a"), "old\n").expect("it can be written");
    place.write("a", "new\n");
    std::fs::write(file("a"), "mine\n").expect("it can be written");
    let said = place.haft(&["undo", "1", "--beside"], "");
    assert_eq!((said.code, said.out.lines().last()), (0, Some("  restored a.before-1")), "{}", said.err);
    let read = |name: &str| std::fs::read_to_string(file(name)).unwrap_or_default();
    assert_eq!((read("a").as_str(), read("a.before-1").as_str()), ("mine\n", "old\n"));
    let said = place.haft(&["undo", "1", "--beside"], "");
    assert!(said.code == 1 && said.err.contains("a.before-1 exists already"), "{}", said.err);
    let said = place.haft(&["redo"], "");
    let told = "Undid change set 2, which had restored earlier versions beside the files\n  removed a.before-1\n";
    assert_eq!((said.code, said.out.as_str()), (0, told), "{}", said.err);
    assert!(!file("a.before-1").exists());
}

#[test]
fn a_file_that_was_removed_and_created_anew_is_said_to_be_created_since_and_a_refused_redo_is_no_undo() {
    let place = Place::new();
    place.put("ws/k", "old\n");
    assert_eq!(place.haft(&["--yes", "call", "bash", "command=rm k"], "").code, 0);
    place.put("ws/k", "anew\n");
    let said = place.haft(&["undo"], "");
    let told = "k was changed since change set 1, which removed it: it was created since, and the content from before is kept.";
    assert!(said.code == 1 && said.err.contains(told) && said.err.contains("--beside"), "{}", said.err);
    assert_eq!(place.haft(&["undo", "--beside"], "").code, 0);
    assert_eq!(std::fs::read_to_string(place.path("ws/k.before-1")).ok().as_deref(), Some("old\n"));

    place.write("b", "one\n");
    assert_eq!(place.haft(&["undo"], "").code, 0);
    place.put("ws/b", "mine\n");
    let said = place.haft(&["redo"], "");
    assert!(said.code == 1 && said.err.contains("Nothing was redone."), "{}", said.err);
    assert!(!said.err.contains("Nothing was undone"), "{}", said.err);
    let record = place.haft(&["redo", "--json"], "").out;
    assert!(record.contains("nothing was redone") && !record.contains("nothing was undone"), "{record}");
}

#[test]
fn the_tour_ends_well_with_every_profile_and_mode() {
    for flags in [&["--profile", "tunacode"][..], &["--profile", "wyrm"], &["--profile", "nexau"], &["--plan"]] {
        let said = Place::new().haft(&[flags, &["tour"]].concat(), "");
        assert_eq!(said.code, 0, "{flags:?}: {}", said.err);
        let told = if flags == ["--plan"] { "nothing to undo" } else { "restored src/main.rs" };
        assert!(said.out.contains(told), "{flags:?}: {}", said.out);
    }
}

#[test]
fn the_log_says_who_did_what_with_which_command_and_hides_secrets() {
    let place = Place::new();
    place.put("ws/old/a", "a\n");
    let command = "rm -r old; echo 1 > new; echo more >> src/main.rs; : correct-horse-battery";
    let said = place.haft(&["--yes", "call", "bash", &format!("command={command}")], "");
    assert_eq!(said.code, 0, "{}", said.err);
    place.write("b", "1\n");
    let record = place.record(&["log", "--json"]);
    let sets = &record["change_sets"];
    let shown = "rm -r old; echo 1 > new; echo more >> src/main.rs; : [secret]";
    assert_eq!((&sets[1]["command"], &sets[1]["agent"]), (&shown.into(), &"script".into()));
    assert_eq!((&sets[1]["number"], &sets[1]["turn"], &sets[1]["undone"]), (&1.into(), &1.into(), &false.into()));
    let changes = serde_json::json!({ "removed": 2, "replaced": 0, "changed": 1, "created": 1 });
    assert_eq!(sets[1]["changes"], changes);
    let paths: Vec<&str> = (0..4).filter_map(|at| sets[1]["files"][at]["path"].as_str()).collect();
    assert_eq!(paths, ["old", "old/a", "src/main.rs", "new"]);
    assert!(sets[1]["time"].as_str().is_some_and(|time| time.ends_with('Z') && time.len() == 24), "{sets}");
    assert_eq!((&sets[0]["description"], &sets[0]["command"]), (&"create b".into(), &Value::Null));
    let log = place.haft(&["log"], "").out;
    assert!(log.contains(&format!("bash by script  {shown}\n       −2 ~1 +1  −old/ (1) ~src/main.rs +new\n")), "{log}");
    assert!(log.contains("write_file by script  +1  +b\n"), "{log}");
    place.haft(&["undo"], "");
    let record = place.record(&["log", "--json"]);
    assert_eq!(
        (&record["change_sets"][0]["description"], &record["change_sets"][0]["agent"]),
        (&"undo of 2".into(), &"person".into())
    );
    assert_eq!(record["change_sets"][1]["undone"], true);
}

#[test]
fn a_long_command_is_cut_in_the_journal() {
    let place = Place::new();
    let command = format!("command=echo 1 > a; : {}", "x".repeat(500));
    assert_eq!(place.haft(&["--yes", "call", "bash", &command], "").code, 0);
    let record = place.record(&["log", "--json"]);
    let kept = record["change_sets"][0]["command"].as_str().expect("it is text");
    assert!(kept.starts_with("echo 1 > a; : xxx") && kept.ends_with("x…") && kept.chars().count() == 201, "{kept}");
}

#[test]
fn a_list_of_change_sets_has_those_of_earlier_calls_of_the_same_turn() {
    let place = Place::new();
    let list = r#"{"name":"undo","arguments":{"action":"list"}}"#;
    let lines = [
        r#"{"name":"write_file","arguments":{"path":"a","content":"1"}}"#,
        r#"{"name":"bash","arguments":{"command":"sleep 0.3; echo 2 > b"}}"#,
        r#"{"name":"write_file","arguments":{"path":"c","content":"3"}}"#,
        list,
        r#"{"name":"undo","arguments":{"action":"take_back"}}"#,
        list,
    ];
    let said = place.haft(&["--yes", "call", "-"], &(lines.join("\n") + "\n"));
    let records: Vec<Value> = said.out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(records.len(), lines.len(), "{}{}", said.out, said.err);
    let sets = |record: &Value| record["data"]["change_sets"].as_array().map_or(0, Vec::len);
    assert_eq!(sets(&records[3]), 3, "{:#}", records[3]);
    assert_eq!(records[4]["status"], "ok", "{:#}", records[4]);
    // The command was committed last: a write does not wait for it.
    assert!(!place.path("ws/b").exists() && place.path("ws/c").exists(), "{:#}", records[4]);
    assert!(records[5].to_string().contains("(undone)"), "{:#}", records[5]);
}
