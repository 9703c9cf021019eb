//! Scenes of `edit_file`.

use haft_contract::call::{CallOrigin, RawArguments, ToolCall};
use haft_contract::effect::Change;
use haft_runtime::asking::approval::Verdict;
use haft_testkit::commands::ScriptedCommand;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::ScriptedApprover;
use haft_testkit::snapshot;
use haft_testkit::snapshot::told;
use serde_json::{Value, json};

fn scene() -> Scene {
    Scene::new().approver(ScriptedApprover::of(std::iter::repeat_n(Verdict::AllowOnce, 64)))
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({ "path": path, "edits": [{ "old_text": old, "new_text": new }] })
}

async fn read(scene: Scene, path: &str) -> Scene {
    scene.call("read_file", json!({ "path": path })).await;
    scene
}

#[tokio::test]
async fn an_edit_shows_what_differs() {
    let scene = read(scene().file("a.rs", "fn a() {\n    one();\n}\n"), "a.rs").await;
    let result = scene.call("edit_file", edit("a.rs", "one()", "two()")).await;
    snapshot!(told(&result), @"
    ok: Edited a.rs: 1 edit, +1 −1 lines.
    @@ line 1 @@
      fn a() {
    -     one();
    +     two();
      }
    did: changed a.rs
    ");
    assert_eq!(scene.read("a.rs"), "fn a() {\n    two();\n}\n");
    assert!(matches!(result.did, haft_contract::outcome::result::Did::Changed { change_set: Some(_), .. }));
}

#[tokio::test]
async fn an_edit_that_fits_in_one_way_only_says_how() {
    let scene = read(scene().file("a.py", "def a():\n        one()\n        two()\n"), "a.py").await;
    snapshot!(scene.told("edit_file", edit("a.py", "    one()\n    two()", "    one()\n    if x:\n        two()")).await, @"
    ok: Edited a.py: 1 edit, +2 −1 lines. Edit 1 matched although the indentation differs; new_text was shifted by the same amount.
    @@ line 1 @@
      def a():
              one()
    -         two()
    +         if x:
    +             two()
    did: changed a.py
    ");
    assert_eq!(scene.read("a.py"), "def a():\n        one()\n        if x:\n            two()\n");
}

#[tokio::test]
async fn a_miss_shows_the_nearest_lines_and_changes_nothing() {
    let scene = read(scene().file("a.txt", "alpha\ntotal = 10\nomega\n"), "a.txt").await;
    snapshot!(scene.told("edit_file", edit("a.txt", "totl = 10", "x")).await, @r#"
    failed at execute (no_match): old_text does not occur in a.txt. Closest: line 2; what differs:
      line 2 is    total = 10
      old_text has totl = 10
    next: if that is the place, send "old_text": "total = 10", and a "new_text" for the whole of it
    did: nothing
    "#);
    snapshot!(scene.told("edit_file", edit("a.txt", "a", "x")).await, @r#"
    failed at execute (ambiguous): old_text occurs 4 times in a.txt (lines 1, 1, 2, 3).
    next: add a line before or after it so that it occurs once, or give "count": "all" to replace every one
    did: nothing
    "#);
    snapshot!(scene.told("edit_file", edit("a.txt", "", "x")).await, @r#"
    failed at execute (empty_old): old_text is empty.
    next: name the text to replace; to add lines, replace a line by itself and the new ones; to write a whole file, call "write_file"
    note: This tool has now failed 3 times in a row.
    did: nothing
    "#);
    snapshot!(scene.told("edit_file", edit("a.txt", "alpha", "alpha")).await, @"
    failed at execute (no_change): The edits do not change a.txt: new_text is there already.
    next: go on if that is right; else send a new_text that differs from old_text
    note: This tool has now failed 4 times in a row.
    did: nothing
    ");
    scene.assert_untouched();
}

#[tokio::test]
async fn all_edits_of_a_call_are_made_or_none() {
    let scene = read(scene().file("a.txt", "one\ntwo\nthree\n"), "a.txt").await;
    let edits = json!([{ "old_text": "one", "new_text": "1" }, { "old_text": "four", "new_text": "4" }]);
    let result = scene.call("edit_file", json!({ "path": "a.txt", "edits": edits })).await;
    assert_eq!(result.error.expect("there is no four").kind.code(), "no_match");
    scene.assert_untouched();
    let edits = json!([{ "old_text": "three", "new_text": "3" }, { "old_text": "one", "new_text": "three" }]);
    scene.call("edit_file", json!({ "path": "a.txt", "edits": edits })).await;
    assert_eq!(scene.read("a.txt"), "three\ntwo\n3\n");
}

#[tokio::test]
async fn a_change_elsewhere_is_kept_and_one_in_the_same_place_is_stale() {
    let scene = read(scene().file("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n"), "a.txt").await;
    let scene = scene.file("a.txt", "1\n2\n3\n4\n5\n6\n7\nmine\n");
    snapshot!(scene.told("edit_file", edit("a.txt", "2", "two")).await, @"
    ok: Edited a.txt: 1 edit, +1 −1 lines. It was changed elsewhere since it was read; that is kept.
    @@ line 1 @@
      1
    - 2
    + two
      3
      4
      5
    did: changed a.txt
    ");
    assert_eq!(scene.read("a.txt"), "1\ntwo\n3\n4\n5\n6\n7\nmine\n");

    let scene = scene.file("a.txt", "1\nother\n3\n4\n5\n6\n7\nmine\n");
    snapshot!(scene.told("edit_file", edit("a.txt", "two", "zwei")).await, @r#"
    failed at execute (stale): a.txt changed since it was read, in the text that this call would replace:
    @@ line 1 @@
      1
    - two
    + other
      3
      4
      5
    next: call "read_file" to look at a.txt and base the change on that
    did: nothing
    "#);
    assert_eq!(scene.read("a.txt"), "1\nother\n3\n4\n5\n6\n7\nmine\n");
}

#[tokio::test]
async fn a_change_is_only_said_to_be_elsewhere_if_others_made_it_and_it_is() {
    let elsewhere = |told: &str| told.contains("It was changed elsewhere since it was read");
    let before = "1\n2\n3\n4\n5\n6\n7\n8\n";
    for (now, by_command, old, said) in [
        (before.replace('8', "eight"), false, "2", true),
        (before.replace('8', "eight"), true, "2", false),
        (before.replace('2', "zwei"), true, "zwei", false),
        (before.replace('2', "zwei"), false, "zwei", false),
        (before.replace('2', "zwei").replace('8', "acht"), false, "zwei", true),
        (before.to_owned(), false, "2", false),
    ] {
        let command = ScriptedCommand::default().changes("a.txt", Change::Replace);
        let scene = read(scene().command(&command).file("a.txt", before), "a.txt").await.file("a.txt", &now);
        if by_command {
            scene.call("bash", json!({ "command": "sed -i s/8/eight/ a.txt" })).await;
        }
        let told = scene.told("edit_file", edit("a.txt", old, "two")).await;
        assert!(told.starts_with("ok: ") && elsewhere(&told) == said, "{now:?} {by_command}: {told}");
    }
    let command = ScriptedCommand::default().changes("a.txt", Change::Replace);
    let scene = read(scene().command(&command).file("a.txt", before), "a.txt").await;
    scene.call("bash", json!({ "command": "touch a.txt" })).await;
    let scene = scene.file("a.txt", before.replace('8', "by another"));
    let told = scene.told("edit_file", edit("a.txt", "2", "two")).await;
    assert!(elsewhere(&told), "another one changed it after the command: {told}");
}

#[tokio::test]
async fn an_edit_is_not_stale_because_a_command_of_the_session_formatted_its_line() {
    let (before, formatted) = ("f(1, help=\"also\")\n", "f(\n    1,\n    help=\"also\",\n)\n");
    for (by_command, expected) in [(true, "ok"), (false, "stale")] {
        let command = ScriptedCommand::default().changes("a.py", Change::Replace);
        let scene = read(scene().command(&command).file("a.py", before), "a.py").await.file("a.py", formatted);
        if by_command {
            scene.call("bash", json!({ "command": "ruff format ." })).await;
        }
        let result = scene.call("edit_file", edit("a.py", "help=\"also\"", "help=\"too\"")).await;
        let kind = result.error.as_ref().map_or("ok", |error| error.kind.code());
        assert_eq!(kind, expected, "{by_command}: {}", told(&result));
    }
}

#[tokio::test]
async fn a_change_elsewhere_is_taken_over_in_wide_units_too() {
    let wide = |text: &str| -> Vec<u8> {
        [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
    };
    let scene = read(scene().file("a.txt", wide("1\r\n2\r\n3\r\n4\r\n")), "a.txt").await;
    let scene = scene.file("a.txt", wide("1\r\n2\r\n3\r\nmine\r\n"));
    let result = scene.call("edit_file", edit("a.txt", "1", "eins 上")).await;
    assert!(result.error.is_none(), "{}", told(&result));
    let bytes = std::fs::read(scene.root().join("a.txt")).expect("it is there");
    assert_eq!(bytes, wide("eins 上\r\n2\r\n3\r\nmine\r\n"));
    assert_eq!(result.data.expect("it has data")["lines_added"], 1);
}

#[tokio::test]
async fn an_edit_is_stale_only_where_its_own_lines_changed() {
    // What was read, what is there now, the edit, and what it comes to.
    let table = [
        ("1\n2\n3\n", "1\n2\nthree\n", ("2", "zwei"), "1\nzwei\nthree\n"),
        ("1\n2\n3\n", "one\n2\nthree\n", ("2", "zwei"), "one\nzwei\nthree\n"),
        ("a = foo\n", "a = bar\n", ("a = bar", "a = baz"), "a = baz\n"),
        ("a\n", "a\nnew\n", ("new", "old"), "a\nold\n"),
        ("a\nout/\n", "a\nout/\nb\n", ("out/\n", ""), "a\nb\n"),
        ("x = foo + q\n", "x = bar + q\n", ("q", "r"), "stale"),
        ("p\nq\n", "p\nQ\n", ("q", "r"), "stale"),
        ("p\nq\n", "p\nquux\n", ("q", "r"), "stale"),
        ("p\nq\n", "p\nr\n", ("5", "six"), "no_match"),
    ];
    for (read_then, now, (old, new), expected) in table {
        let scene = read(scene().file("a.txt", read_then), "a.txt").await.file("a.txt", now);
        let result = scene.call("edit_file", edit("a.txt", old, new)).await;
        let kind = result.error.as_ref().map(|error| error.kind.code());
        let came_to = kind.map_or_else(|| scene.read("a.txt"), str::to_owned);
        assert_eq!(came_to, expected, "{read_then:?} {now:?} {old:?}: {}", told(&result));
    }
}

#[tokio::test]
async fn what_the_error_of_a_stale_edit_shows_counts_as_read() {
    let scene = read(scene().file("a.txt", "x = foo + q\n"), "a.txt").await.file("a.txt", "x = bar + q\n");
    let first = scene.call("edit_file", edit("a.txt", "q", "r")).await;
    assert_eq!(first.error.expect("it is stale").kind.code(), "stale");
    let second = scene.call("edit_file", edit("a.txt", "q", "r")).await;
    assert!(second.error.is_none(), "{}", told(&second));
    assert_eq!(scene.read("a.txt"), "x = bar + r\n");
    let scene = scene.file("a.txt", "other\n");
    let whole = json!({ "path": "a.txt", "content": "mine\n" });
    assert_eq!(scene.call("write_file", whole.clone()).await.error.expect("it is stale").kind.code(), "stale");
    assert!(scene.call("write_file", whole).await.error.is_none());
    // Too long to be shown whole, it is not known as a whole.
    let long: String = (0..200).map(|line| format!("{line}\n")).collect();
    let scene = scene.file("a.txt", long.as_str());
    for _ in 0..2 {
        let result = scene.call("write_file", json!({ "path": "a.txt", "content": "other\n" })).await;
        assert_eq!(result.error.expect("it is stale").kind.code(), "stale");
    }
}

#[tokio::test]
async fn of_a_diff_that_is_too_long_the_shown_lines_count_as_read() {
    let before: String = (0..60).map(|line| format!("let a{line} = f(x);\n")).collect();
    let now = before.replace("f(x)", "f(\n    x,\n)");
    let scene = read(scene().file("a.rs", before.as_str()), "a.rs").await.file("a.rs", now.as_str());
    let first = scene.call("edit_file", edit("a.rs", "let a2 = f(x);", "let b = f(x);")).await;
    assert!(first.text().contains("more lines]"), "it shows a part: {}", told(&first));
    // All deleted lines come first: none of the new ones is shown, so they are not known.
    let unseen = scene.call("edit_file", edit("a.rs", "let a0 = f(", "let b = f(")).await;
    assert_eq!(unseen.error.map(|error| error.kind.code()), Some("stale"));
}

#[tokio::test]
async fn a_line_that_the_diff_of_a_stale_edit_shows_can_be_edited() {
    let (before, now) = ("m => M { path: p() },\n", "m => M {\n    path: p(),\n},\n");
    let rest: String = (0..60).map(|line| format!("{line}\n")).collect();
    let changed: String = rest.lines().map(|line| format!("{line};\n")).collect();
    let scene = read(scene().file("a.rs", format!("{before}1\n2\n3\n4\n5\n6\n7\n{rest}")), "a.rs").await;
    let scene = scene.file("a.rs", format!("{now}1\n2\n3\n4\n5\n6\n7\n{changed}"));
    let stale = scene.call("edit_file", edit("a.rs", "m => M { path: p() },", "n => M { path: p() },")).await;
    assert!(stale.text().contains("+ m => M {\n") && stale.text().contains("more lines]"), "{}", told(&stale));
    let edited = scene.call("edit_file", edit("a.rs", "m => M {", "n => M {")).await;
    assert!(edited.error.is_none(), "{}", told(&edited));
    assert!(scene.read("a.rs").starts_with("n => M {\n    path: p(),\n},\n"));
}

#[tokio::test]
async fn all_files_that_stand_in_the_way_are_told_together() {
    let scene = read(scene().file("a.txt", "one\n").file("b.txt", "two\n").file("c.txt", "three\n"), "a.txt").await;
    let of = |path: &str, old: &str| json!({ "path": path, "edits": [{ "old_text": old, "new_text": "x" }] });
    let files = json!({ "files": [of("a.txt", "zero"), of("b.txt", "two"), of("c.txt", "drei"), of("d.txt", "x")] });
    snapshot!(scene.told("edit_file", files).await, @r#"
    failed at execute (no_match): 3 files cannot be changed:
    - old_text does not occur in a.txt, nor anything like it. It begins:
    1| one Next: call "read_file" to look at a.txt
    - old_text does not occur in c.txt, nor anything like it. It begins:
    1| three Next: call "read_file" to look at c.txt
    - d.txt does not exist. Near: a.txt, b.txt, c.txt. Next: use one of these, or call "list_dir" on .
    next: correct all of them, then send the whole call again
    did: nothing
    "#);
    scene.assert_untouched();
}

#[tokio::test]
async fn a_text_that_would_be_taken_for_another_encoding_is_not_written() {
    let scene = read(scene().file("a.txt", b"caf\xe9\nna\xefve\nfran\xe7ais d\xe9j\xe0\n"), "a.txt").await;
    let all = "café\nnaïve\nfrançais déjà\n";
    snapshot!(scene.told("edit_file", edit("a.txt", all, "x ÿÿÿ «þþ» ÐÐÐ\n")).await, @"
    failed at execute (bad_encoding): a.txt: written as windows-1252, the file would be read as windows-1251 the next time.
    next: use only ASCII characters in the new text, or ask the user to convert the file to UTF-8
    did: nothing
    ");
    snapshot!(scene.told("edit_file", edit("a.txt", "naïve", "漢")).await, @"
    failed at execute (bad_encoding): a.txt: the file's encoding, windows-1252, has no character '漢' (U+6F22).
    next: write without that character, or ask the user to convert the file to UTF-8
    did: nothing
    ");
    scene.assert_untouched();
}

#[tokio::test]
async fn a_script_edits_as_a_person_does() {
    let scene = scene().file("a.txt", "one\n");
    let arguments = RawArguments::from(edit("a.txt", "one", "two"));
    let result = scene.send(ToolCall::new("edit_file", arguments).by(CallOrigin::Script)).await;
    snapshot!(told(&result), @"
    ok: Edited a.txt: 1 edit, +1 −1 lines.
    @@ line 1 @@
    - one
    + two
    did: changed a.txt
    ");
}

#[tokio::test]
async fn what_cannot_be_edited_is_told() {
    let scene = scene()
        .file("bin", b"\x7fELF\0\0\0")
        .file("bad.txt", b"good \xff\xfe\xfd bad \x81\x8d\n")
        .file("unread", "x\nx\n");
    let scene = read(read(scene, "bad.txt").await, "bin").await;
    let mut all = Vec::new();
    for path in ["bin", "bad.txt", "unread", "missing"] {
        let mut arguments = edit(path, "good", "x");
        if path == "unread" {
            arguments = json!({ "path": path, "edits": [{ "old_text": "x", "new_text": "y", "count": "all" }] });
        }
        let arguments = RawArguments::from(arguments);
        let origin = if path == "unread" { CallOrigin::Model } else { CallOrigin::Person };
        let result = scene.send(ToolCall::new("edit_file", arguments).by(origin)).await;
        all.push(told(&result));
    }
    snapshot!(all.join("\n"), @r#"
    failed at execute (binary): bin is not text (7 bytes).
    next: use a program that understands this kind of file
    did: nothing
    ok: Edited bad.txt: 1 edit, +1 −1 lines.
    @@ line 1 @@
    - good яюэ bad ЃЌ
    + x яюэ bad ЃЌ
    did: changed bad.txt
    failed at line_up (not_read): unread was not read in this session.
    next: call "read_file" to look at unread (what a command printed does not count), then send this call again
    did: nothing
    failed at line_up (missing_file): missing does not exist.
    next: call "list_dir" to look at . and use a path that exists
    did: nothing
    "#);
}

#[tokio::test]
async fn a_read_and_an_edit_of_one_turn_go_together() {
    let scene = scene().file("a.txt", "one\n");
    let results =
        scene.turn(&[("read_file", json!({ "path": "a.txt" })), ("edit_file", edit("a.txt", "one", "two"))]).await;
    assert!(results.iter().all(|result| result.error.is_none()), "{}", told(&results[1]));
    assert_eq!(scene.read("a.txt"), "two\n");
}

#[tokio::test]
async fn an_edit_of_a_secret_file_tells_nothing_before_somebody_said_yes() {
    let scene = Scene::new().file(".env", "PASSWORD=hunter2\n");
    let arguments = RawArguments::from(edit(".env", "PASSWORT=x", "y"));
    let result = scene.send(ToolCall::new("edit_file", arguments).by(CallOrigin::Person)).await;
    snapshot!(told(&result), @r#"
    refused at authorize (needs_approval): The rule "secret files" asks first, and there is no one to ask. It would read .env, whose name marks it as a secret.
    next: do without it, or ask the user, who can answer at a terminal
    did: nothing
    "#);
    assert!(!result.text().contains("hunter2"));
}

#[tokio::test]
async fn several_files_are_changed_together_or_not_at_all() {
    let scene = read(read(scene().file("a.txt", "one\n").file("b.txt", "two\n"), "a.txt").await, "b.txt").await;
    let both = |second: &str| {
        let edit = |path: &str, old: &str| json!({ "path": path, "edits": [{ "old_text": old, "new_text": "new" }] });
        json!({ "files": [edit("a.txt", "one"), edit("b.txt", second)] })
    };
    let missed = scene.call("edit_file", both("three")).await;
    assert_eq!(missed.error.expect("there is no three").kind.code(), "no_match");
    scene.assert_untouched();
    let result = scene.call("edit_file", both("two")).await;
    snapshot!(told(&result), @"
    ok: Edited a.txt: 1 edit, +1 −1 lines.
    @@ line 1 @@
    - one
    + new
    Edited b.txt: 1 edit, +1 −1 lines.
    @@ line 1 @@
    - two
    + new
    did: changed a.txt, b.txt
    ");
    assert_eq!((scene.read("a.txt").as_str(), scene.read("b.txt").as_str()), ("new\n", "new\n"));
    snapshot!(scene.told("edit_file", json!({ "path": "a.txt" })).await, @r#"
    failed at line_up (bad_arguments): Either "path" and "edits" are needed, or "files" alone.
    next: give "path" and "edits", for example {"path": "a.rs", "edits": [{"old_text": "x", "new_text": "y"}]}; or only "files"
    did: nothing
    "#);
}

#[tokio::test]
async fn a_short_edit_of_many_places_cannot_fill_the_memory() {
    let scene = read(scene().file("a.txt", "a".repeat(10_000)), "a.txt").await;
    let edit = json!({ "old_text": "a", "new_text": "b".repeat(10_000), "count": "all" });
    snapshot!(scene.told("edit_file", json!({ "path": "a.txt", "edits": [edit] })).await, @"
    failed at execute (too_large): a.txt would become larger than 64 MiB, the maximum for one write.
    next: replace fewer places or send less text
    did: nothing
    ");
    scene.assert_untouched();
}

#[tokio::test]
async fn what_goes_makes_room_for_what_comes() {
    let line = format!("{}\n", "x".repeat(63));
    let scene = scene().file("a.txt", line.repeat((1 << 20) - 1) + &line.replacen("xxxxxxxx", "12345678", 1));
    let arguments = RawArguments::from(edit("a.txt", "12345678", "1"));
    let result = scene.send(ToolCall::new("edit_file", arguments).by(CallOrigin::Person)).await;
    assert!(result.error.is_none(), "{}", told(&result));
}

#[tokio::test]
async fn a_profile_may_mean_the_first_of_several_places() {
    use haft_contract::limits::EditCount;
    let scene = scene().file("a.txt", "x\nx\n").limits(|limits| limits.edit_count = EditCount::First);
    let scene = read(scene, "a.txt").await;
    scene.call("edit_file", edit("a.txt", "x", "y")).await;
    assert_eq!(scene.read("a.txt"), "y\nx\n");
    let unique = json!({ "path": "a.txt", "edits": [{ "old_text": "y", "new_text": "x", "count": "unique" }] });
    scene.call("edit_file", unique).await;
    let twice = json!({ "path": "a.txt", "edits": [{ "old_text": "x", "new_text": "z", "count": 2 }] });
    scene.call("edit_file", twice).await;
    assert_eq!(scene.read("a.txt"), "z\nz\n");
    let scene = read(scene.file("b.py", "class A:\n    def b(self):\n        pass\n"), "b.py").await;
    scene.call("edit_file", edit("b.py", "def b(self):\n    pass", "def b(self):\n    return 42")).await;
    assert_eq!(scene.read("b.py"), "class A:\n    def b(self):\n        return 42\n");
}

#[tokio::test]
async fn copied_line_numbers_of_an_older_state_never_choose_the_place() {
    let text = "x()\ny()\nz\nx()\ny()\nw\n";
    let old_texts = ["     4\tx()", "     4\tx()\n     5\ty()"];
    for old in old_texts {
        // The tool itself puts three lines above, so that line 4 is now what line 1 was.
        let scene = read(scene().file("a.txt", text), "a.txt").await;
        scene.call("edit_file", edit("a.txt", "x()\ny()\nz", "1\n2\n3\nx()\ny()\nz")).await;
        let before = scene.read("a.txt");
        let told = scene.told("edit_file", edit("a.txt", old, "wrong")).await;
        assert!(told.contains("The numbers do not choose: they may be out of date."), "{told}");
        assert_eq!(scene.read("a.txt"), before);
        // So do others.
        let scene = read(scene_with(text), "a.txt").await.file("a.txt", format!("1\n2\n3\n{text}"));
        scene.told("edit_file", edit("a.txt", old, "wrong")).await;
        assert_eq!(scene.read("a.txt"), format!("1\n2\n3\n{text}"));
    }
    // Where one place fits, numbers of an older state do no harm.
    let scene = read(scene_with(text), "a.txt").await.file("a.txt", format!("1\n2\n3\n{text}"));
    scene.call("edit_file", edit("a.txt", "     5\ty()\n     6\tw", "v")).await;
    assert_eq!(scene.read("a.txt"), "1\n2\n3\nx()\ny()\nz\nx()\nv\n");
}

fn scene_with(text: &str) -> Scene {
    scene().file("a.txt", text)
}

#[tokio::test]
async fn a_file_with_damaged_utf_8_is_not_edited_in_another_encoding() {
    let scene = scene().file("a.txt", b"\xc3\xa9 x\n\xff\n").file("cut.txt", b"ok x\n\xe2\x82");
    scene.call("read_file", json!({ "paths": ["a.txt", "cut.txt"] })).await;
    let edit = |path: &str| json!({ "path": path, "edits": [{ "old_text": "x", "new_text": "\u{e9}" }] });
    snapshot!(scene.told("edit_file", edit("a.txt")).await, @r#"
    failed at execute (bad_encoding): a.txt is UTF-8 with damage: byte 5 (in line 2) belongs to no character. It was not touched, because every byte that is not edited must stay unchanged.
    next: tell the user that line 2 is damaged, or replace the whole file with "write_file"
    did: nothing
    "#);
    snapshot!(scene.told("edit_file", edit("cut.txt")).await, @r#"
    failed at execute (bad_encoding): cut.txt is UTF-8 with damage: byte 5 (in line 2) belongs to no character. It was not touched, because every byte that is not edited must stay unchanged.
    next: tell the user that line 2 is damaged, or replace the whole file with "write_file"
    did: nothing
    "#);
    scene.assert_untouched();
}

#[tokio::test]
async fn one_edit_beside_the_path_is_made_and_told() {
    let scene = scene().file("a.txt", "x x\n");
    scene.call("read_file", json!({ "path": "a.txt" })).await;
    let flat = json!({ "path": "a.txt", "old_string": "x", "new_string": "y", "replace_all": true });
    let result = scene.call("edit_file", flat).await;
    assert_eq!(scene.read("a.txt"), "y y\n");
    assert_eq!(
        result.repairs,
        [
            r#"$.replace_all: true → {"count":"all"}"#,
            r#"$.old_string: read as "edits[0].old_text""#,
            r#"$.new_string: read as "edits[0].new_text""#,
        ]
    );
}

#[tokio::test]
async fn an_edit_that_lacks_something_is_told_where_it_belongs_and_never_to_leave_it_out() {
    let scene = scene().file("a.txt", "x\n");
    let told = scene.told("edit_file", json!({ "path": "a.txt", "old_text": "x" })).await;
    assert!(told.contains(r#"put it into "edits": [{"old_text": …, "new_text": …}]."#), "{told}");
    let told = scene.told("edit_file", json!({ "path": "a.txt", "insert_line": 1, "new_str": "y" })).await;
    assert!(!told.contains("leave it out") && told.contains("\"new_text\" has the current line"), "{told}");
    scene.assert_untouched();
}

#[tokio::test]
async fn patches_and_blocks_of_other_agents_are_edits_here() {
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** End Patch\n";
    let blocks = "a.txt\n<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE\n";
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    for (tool, arguments) in [
        ("apply_patch", json!({ "input": patch })),
        ("edit_file", json!({ "patch": patch })),
        ("edit_file", json!({ "path": "a.txt", "edits": blocks })),
        ("edit_file", json!({ "path": "a.txt", "diff": "<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE" })),
        ("edit_file", json!({ "diff": diff })),
        ("edit_file", json!(patch)),
        ("edit_file", json!(blocks)),
    ] {
        let scene = scene().file("a.txt", "one\ntwo\nthree");
        scene.call("read_file", json!({ "path": "a.txt" })).await;
        let result = scene.call(tool, arguments).await;
        assert_eq!(scene.read("a.txt"), "one\n2\nthree", "{}", result.text());
        assert!(!result.repairs.is_empty());
    }
}

#[tokio::test]
async fn the_same_call_failed_in_the_same_way_only_when_the_reason_is_the_same() {
    let scene = scene().file("a.txt", "total = 10\n");
    let again = "failed in the same way before";
    assert!(!scene.call("edit_file", edit("a.txt", "totl = 10", "x")).await.text().contains(again));
    assert!(scene.call("edit_file", edit("a.txt", "totl = 10", "x")).await.text().contains(again));
    let scene = scene.file("a.txt", "other\ntotal = 10\n");
    let third = scene.call("edit_file", edit("a.txt", "totl = 10", "x")).await;
    assert!(!third.text().contains(again), "{}", third.text());
    let lines: Vec<String> = third.text().lines().map(str::to_owned).collect();
    assert!(lines.contains(&"[note: This tool has now failed 3 times in a row.]".to_owned()), "{lines:#?}");
}

#[tokio::test]
async fn one_repair_is_one_line_and_what_changes_nothing_is_none() {
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("[repaired ")).map(str::to_owned).collect()
    };
    let scene = read(scene().file("a.txt", "one\ntwo\n").file("b.txt", "one\n"), "a.txt").await;
    let edit = json!({ "path": "a.txt", "old_text": "one", "new_text": "1", "replace_all": false });
    assert_eq!(
        lines(&scene.call("edit_file", edit).await.text()),
        [
            "[repaired $.replace_all: false → {\"count\":\"unique\"}; $.old_text: read as \"edits[0].old_text\"; $.new_text: \
          read as \"edits[0].new_text\"]"
        ]
    );
    let found = scene.call("grep", json!({ "pattern": "1", "glob": "*.txt", "-n": true })).await;
    assert_eq!(lines(&found.text()), ["[repaired $.glob: read as \"include\"]"]);
    assert!(found.repairs.iter().any(|repair| repair.contains("left out, it changes nothing")), "the record has it");
    let hunk =
        |path: &str, old: &str| format!("*** Update File: {path}\n-{old}\n+a line that is long enough to be cut\n");
    let patch = format!("*** Begin Patch\n{}{}*** End Patch", hunk("a.txt", "1"), hunk("b.txt", "one"));
    let patched = scene.call("edit_file", json!({ "patch": patch })).await;
    assert_eq!(lines(&patched.text()), ["[repaired $.patch: the patch read as changes of 2 files]"]);
    let patch = "*** Begin Patch\n*** Add File: c.txt\n+a line that is long enough to be cut\n*** End Patch";
    let again = scene.call("edit_file", json!({ "patch": patch })).await;
    assert_eq!(lines(&again.text()), Vec::<String>::new(), "the model knows how its patches are read");
}
