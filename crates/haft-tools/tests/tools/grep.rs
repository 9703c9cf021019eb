//! Scenes of `grep`: what is found and how it is told.

use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::result::Status;
use haft_testkit::scene::Scene;
use haft_testkit::snapshot;
use serde_json::json;

#[tokio::test]
async fn matches_are_told_by_file_with_line_numbers() {
    let scene = Scene::sample();
    snapshot!(scene.told("grep", json!({ "pattern": "^(pub )?fn" })).await, @"
    ok: src/lib.rs
    1:pub fn add(a: i64, b: i64) -> i64 {

    src/main.rs
    1:fn main() {
    [2 matches in 2 files; 4 files searched]
    did: nothing
    ");
    snapshot!(scene.told("grep", json!({ "pattern": "t", "path": "notes.txt" })).await, @"
    ok: notes.txt
    2:two
    3:three
    [2 matches in 1 file; 1 file searched]
    did: nothing
    ");
    snapshot!(scene.told("grep", json!({ "pattern": "nowhere to be found" })).await, @"
    ok: [no match; 4 files searched]
    did: nothing
    ");
}

#[tokio::test]
async fn context_lines_are_marked_and_gaps_are_shown() {
    let scene = Scene::new().file("a", "1\nhit\n3\n4\n5\n6\nhit\nhit\n9\n");
    snapshot!(scene.told("grep", json!({ "pattern": "hit", "context": 1 })).await, @"
    ok: a
    1-1
    2:hit
    3-3
    --
    6-6
    7:hit
    8:hit
    9-9
    [3 matches in 1 file; 1 file searched]
    did: nothing
    ");
    snapshot!(scene.told("grep", json!({ "pattern": "hit", "context": 1, "limit": 2 })).await, @r#"
    ok: a
    1-1
    2:hit
    3-3
    --
    6-6
    7:hit
    [1–2 of 3 matches in 1 file; go on with offset=2; 1 file searched]
    did: nothing
    "#);
}

#[tokio::test]
async fn files_and_counts_can_be_asked_for_instead_of_lines() {
    let scene = Scene::sample();
    snapshot!(scene.told("grep", json!({ "pattern": "fn", "mode": "files" })).await, @"
    ok: src/lib.rs
    src/main.rs
    [2 files with matches; 4 files searched]
    did: nothing
    ");
    snapshot!(scene.told("grep", json!({ "pattern": "fn", "mode": "files", "limit": 1 })).await, @r#"
    ok: src/lib.rs
    [1 of 2 files with matches; go on with offset=1; 4 files searched]
    did: nothing
    "#);
    snapshot!(scene.told("grep", json!({ "pattern": "o", "mode": "count", "limit": 1 })).await, @"
    ok: README.md: 1
    [5 matches in 3 files; 1 of 3 files; go on with offset=1; 4 files searched]
    did: nothing
    ");
}

#[tokio::test]
async fn case_counts_only_when_the_pattern_has_a_capital_letter() {
    let scene = Scene::new().file("a", "Word\nword\nWORD\n");
    let count = async |arguments: serde_json::Value| {
        let text = scene.call("grep", arguments).await.text();
        text.lines().filter(|line| line.contains(':')).count()
    };
    assert_eq!(count(json!({ "pattern": "word" })).await, 3);
    assert_eq!(count(json!({ "pattern": "Word" })).await, 1);
    assert_eq!(count(json!({ "pattern": "word", "case": "sensitive" })).await, 1);
    assert_eq!(count(json!({ "pattern": "WoRd", "case": "insensitive" })).await, 3);
}

#[tokio::test]
async fn a_literal_pattern_is_text_and_a_bad_expression_says_where_and_how_to_mend_it() {
    let scene = Scene::sample();
    snapshot!(scene.told("grep", json!({ "pattern": "println!(\"", "literal": true })).await, @r#"
    ok: src/main.rs
    2:    println!("hello");
    [1 match in 1 file; 4 files searched]
    did: nothing
    "#);
    snapshot!(scene.told("grep", json!({ "pattern": "add(" })).await, @r#"
    failed at execute (bad_arguments): The pattern "add(" is not a regular expression: unclosed group at character 4.
    next: escape the character with a backslash, or set "literal" to true to search for exactly this text
    did: nothing
    "#);
    snapshot!(scene.told("grep", json!({ "pattern": "(?=x)" })).await, @r#"
    failed at execute (bad_arguments): The pattern "(?=x)" is not a regular expression: look-around, including look-ahead and look-behind, is not supported at character 1.
    next: search without look-around and back-references, for a simpler expression, and read what is found
    did: nothing
    "#);
    snapshot!(scene.told("grep", json!({ "pattern": "\\p{Nothing}" })).await, @r#"
    failed at execute (bad_arguments): The pattern "\\p{Nothing}" cannot be used: Unicode property not found.
    next: write a simpler expression, or set "literal" to true to search for exactly this text
    note: This tool has now failed 3 times in a row.
    did: nothing
    "#);
    snapshot!(scene.told("grep", json!({ "pattern": "a\\nb" })).await, @r#"
    failed at execute (bad_arguments): The pattern "a\\nb" holds a line end, but each line is searched separately.
    next: set "multiline" to true, or search for a part on one line
    note: This tool has now failed 4 times in a row.
    did: nothing
    "#);
    snapshot!(scene.told("grep", json!({ "pattern": "(\\w{100}){100}{100}" })).await, @r#"
    failed at execute (bad_arguments): The pattern "(\\w{100}){100}{100}" cannot be used: compiled, it is larger than 32 MB.
    next: write a simpler expression, or set "literal" to true to search for exactly this text
    note: This tool has now failed 5 times in a row.
    did: nothing
    "#);
}

#[tokio::test]
async fn a_match_may_reach_over_lines_when_asked_for() {
    let scene = Scene::sample();
    snapshot!(scene.told("grep", json!({ "pattern": "two\\nthree", "multiline": true })).await, @"
    ok: notes.txt
    2:two
    3:three
    [1 match in 1 file; 4 files searched]
    did: nothing
    ");
    snapshot!(scene.told("grep", json!({ "pattern": "(?s)one.*four", "multiline": true, "context": 1 })).await, @"
    ok: notes.txt
    1:one
    2:two
    3:three
    4:four
    5-five
    [1 match in 1 file; 4 files searched]
    did: nothing
    ");
}

#[tokio::test]
async fn include_and_exclude_choose_the_files() {
    let scene = Scene::new().file("a.rs", "x\n").file("b.py", "x\n").file("vendor/c.rs", "x\n").file("src/d.rs", "x\n");
    let files = async |arguments: serde_json::Value| scene.call("grep", arguments).await.text();
    snapshot!(files(json!({ "pattern": "x", "mode": "files", "include": ["*.rs"], "exclude": ["vendor"] })).await, @"
    a.rs
    src/d.rs
    [2 files with matches; 2 files searched]
    ");
    snapshot!(files(json!({ "pattern": "x", "mode": "files", "include": "src/**" })).await, @r#"
    src/d.rs
    [1 file with matches; 1 file searched]
    [repaired $.include: "src/**" → ["src/**"]]
    "#);
    snapshot!(files(json!({ "pattern": "x", "mode": "files", "exclude": ["*.rs"] })).await, @"
    b.py
    [1 file with matches; 1 file searched]
    ");
}

#[tokio::test]
async fn too_broad_is_no_error_but_the_first_matches_in_order() {
    let scene = (0..200)
        .fold(Scene::new(), |scene, number| scene.file(&format!("d{}/f{number:03}", number % 10), "hit\n".repeat(50)));
    let first = scene.call("grep", json!({ "pattern": "hit", "limit": 60 })).await;
    for _ in 0..10 {
        scene.session().begin_turn();
        assert_eq!(scene.call("grep", json!({ "pattern": "hit", "limit": 60 })).await.text(), first.text());
    }
    assert!(first.text().starts_with("d0/f000\n1:hit\n2:hit\n"), "{}", first.text());
    assert!(
        first.text().contains("\nd0/f010\n1:hit\n")
            && first.text().contains("[1–60 of 10,000 matches in 200 files; go on with offset=60; ")
    );
    let counted = scene.call("grep", json!({ "pattern": "hit", "mode": "count", "limit": 1 })).await;
    assert!(
        counted.text().contains("10,000 matches in 200 files; 1 of 200 files; go on with offset=1"),
        "{}",
        counted.text()
    );
}

#[tokio::test]
async fn a_long_line_is_cut_around_its_match() {
    let line = format!("{}needle{}\n", "a".repeat(5_000), "ö".repeat(70_000));
    let scene = Scene::new().file("long", line).limits(|limits| limits.line_length = 20);
    snapshot!(scene.told("grep", json!({ "pattern": "needle" })).await, @r#"
    ok: long
    1:[4990 characters …] aaaaaaaaaaneedleöööö [… 69996 more characters; "read_file" with {"offset": 1, "column": 5011}]
    [1 match in 1 file; 1 file searched]
    did: nothing
    "#);
    snapshot!(scene.told("grep", json!({ "pattern": "^a" })).await, @r#"
    ok: long
    1:aaaaaaaaaaaaaaaaaaaa [… 74986 more characters; "read_file" with {"offset": 1, "column": 21}]
    [1 match in 1 file; 1 file searched]
    did: nothing
    "#);
}

#[tokio::test]
async fn a_secret_at_the_cut_of_a_long_line_is_hidden_as_a_whole() {
    let line = format!("{}hunter2hunter2 needle hunter2hunter2{}\n", "a".repeat(5_000), "b".repeat(5_000));
    let scene = Scene::new().file("long", line).secret("hunter2hunter2").limits(|limits| limits.line_length = 30);
    let text = scene.call("grep", json!({ "pattern": "needle" })).await.text();
    assert!(text.contains("needle") && !text.contains("hunter") && !text.contains("ter2"), "{text}");
}

#[tokio::test]
async fn encodings_with_a_mark_and_crlf_are_searched_as_text() {
    let utf16: Vec<u8> = "\u{feff}grüße\nnext\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let scene = Scene::new()
        .file("utf16.txt", utf16)
        .file("bom.txt", "\u{feff}first line\n")
        .file("crlf.txt", "one\r\ntwo\r\n")
        .file("latin.txt", b"caf\xE9 two\n");
    snapshot!(scene.told("grep", json!({ "pattern": "grüße$" })).await, @"
    ok: utf16.txt
    1:grüße
    [1 match in 1 file; 4 files searched]
    did: nothing
    ");
    snapshot!(scene.told("grep", json!({ "pattern": "two$" })).await, @"
    ok: crlf.txt
    2:two

    latin.txt
    1:café two
    [2 matches in 2 files; 4 files searched]
    did: nothing
    ");
    snapshot!(scene.told("grep", json!({ "pattern": "^first" })).await, @"
    ok: bom.txt
    1:first line
    [1 match in 1 file; 4 files searched]
    did: nothing
    ");
}

#[tokio::test]
async fn one_file_can_be_searched_whatever_ignores_or_hides_it() {
    let scene =
        Scene::new().file(".git/HEAD", "").file(".gitignore", "*.log\n").file("a.log", "hit\n").file("gone/x", "");
    snapshot!(scene.told("grep", json!({ "pattern": "hit", "path": "a.log" })).await, @"
    ok: a.log
    1:hit
    [1 match in 1 file; 1 file searched]
    did: nothing
    ");
    snapshot!(scene.told("grep", json!({ "pattern": "log", "path": ".gitignore" })).await, @"
    ok: .gitignore
    1:*.log
    [1 match in 1 file; 1 file searched]
    did: nothing
    ");
    let missing = scene.call("grep", json!({ "pattern": "x", "path": "b.log" })).await;
    assert_eq!(missing.error.map(|error| error.kind), Some(ErrorKind::MissingFile));
    assert_eq!(scene.call("grep", json!({ "pattern": "x", "path": "../x" })).await.status, Status::Refused);
}

#[tokio::test]
async fn a_large_file_is_searched_in_steps() {
    let mut text = "some line of text\n".repeat(40_000);
    text.push_str("needle\nlast\n");
    let binary = [text.as_bytes(), b"\0"].concat();
    let scene = Scene::new().file("large.txt", &text).file("binary.dat", binary);
    snapshot!(scene.told("grep", json!({ "pattern": "NEEDLE", "case": "insensitive", "context": 1 })).await, @"
    ok: large.txt
    40000-some line of text
    40001:needle
    40002-last
    [1 match in 1 file; 1 file searched; left out: 1 binary: binary.dat]
    did: nothing
    ");
    snapshot!(scene.told("grep", json!({ "pattern": "(?s)needle.last", "multiline": true })).await, @"
    ok: large.txt
    40001:needle
    40002:last
    [1 match in 1 file; 1 file searched; left out: 1 binary: binary.dat]
    did: nothing
    ");
    snapshot!(scene.told("grep", json!({ "pattern": "some line", "mode": "count" })).await, @"
    ok: large.txt: 40000
    [40,000 matches in 1 file; 1 file searched; left out: 1 binary: binary.dat]
    did: nothing
    ");
}

#[tokio::test]
async fn a_match_over_very_many_lines_is_cut() {
    let scene = Scene::new().file("a", "x\n".repeat(100_000));
    let text = scene.call("grep", json!({ "pattern": "(?s)x.*x", "multiline": true })).await.text();
    assert!(
        text.contains(
            "\n100:x [… 199800 more bytes in the lines below; \"read_file\" with {\"offset\": 101}]\n[1 match in 1 file"
        ),
        "{text}"
    );
}

#[tokio::test]
async fn lines_before_and_after_a_match_are_those_that_were_asked_for() {
    let scene = Scene::new().file("a", "1\n2\n3\nhit\n5\n6\n7\n");
    for (arguments, shown) in [
        (json!({ "context": 1 }), "3 hit 5"),
        (json!({ "before": 2 }), "2 3 hit"),
        (json!({ "after": 2 }), "hit 5 6"),
        (json!({ "before": 1, "after": 2 }), "3 hit 5 6"),
        (json!({ "context": 2, "after": 0 }), "2 3 hit"),
        (json!({ "-A": 2 }), "hit 5 6"),
        (json!({ "-B": "1" }), "3 hit"),
        (json!({ "-C": 1 }), "3 hit 5"),
        (json!({ "-A": 1, "-B": 3 }), "1 2 3 hit 5"),
        (json!({ "lines_after": 1 }), "hit 5"),
    ] {
        let mut call = json!({ "pattern": "hit", "path": "a" });
        call.as_object_mut().expect("an object").extend(arguments.as_object().expect("an object").clone());
        scene.session().begin_turn();
        let text = scene.call("grep", call).await.text();
        let lines = text
            .lines()
            .filter_map(|line| line.split_once([':', '-']).filter(|(number, _)| number.parse::<u8>().is_ok()));
        let lines: Vec<&str> = lines.map(|(_, line)| line).collect();
        assert_eq!(lines.join(" "), shown, "{arguments}: {text}");
    }
}

#[tokio::test]
async fn a_search_over_lines_without_a_match_says_what_a_dot_leaves_out() {
    let scene = Scene::new().file("a.txt", "one\ntwo\n");
    for (pattern, says) in [("one.two", true), ("(?s)one.three", false), ("one\ntree", false)] {
        let told = scene.told("grep", json!({ "pattern": pattern, "multiline": true })).await;
        assert_eq!(told.contains("\".\" matches no line break"), says, "{told}");
    }
    let found = scene.told("grep", json!({ "pattern": "(?s)one.two", "multiline": true })).await;
    assert!(found.contains("1 match"), "{found}");
}
