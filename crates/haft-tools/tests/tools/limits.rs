//! Scenes of limits: none is silent, and a model can page through everything.

use haft_contract::outcome::output::ReducedLimit;
use haft_testkit::scene::Scene;
use haft_testkit::snapshot;
use serde_json::{Value, json};

fn many_files(count: usize) -> Scene {
    (0..count).fold(Scene::new(), |scene, number| scene.file(&format!("d{}/f{number:04}", number % 3), "hit\nhit\n"))
}

#[tokio::test]
async fn a_limit_that_is_reduced_is_said_in_the_text_and_in_the_record() {
    let scene =
        Scene::sample().limits(|limits| (limits.grep_matches, limits.glob_paths, limits.read_lines) = (3, 2, 4));
    let cases = [
        ("grep", json!({ "pattern": "." }), 3),
        ("grep", json!({ "pattern": ".", "mode": "files" }), 3),
        ("grep", json!({ "pattern": "nowhere to be found" }), 3),
        ("glob", json!({ "pattern": "*" }), 2),
        ("read_file", json!({ "path": "notes.txt" }), 4),
        ("read_file", json!({ "paths": ["notes.txt", "src/*.rs"] }), 4),
    ];
    for (tool, mut arguments, most) in cases {
        for (limit, reduced) in [(2_000, true), (most + 1, true), (most, false), (1, false)] {
            arguments["limit"] = json!(limit);
            scene.session().begin_turn();
            let result = scene.call(tool, arguments.clone()).await;
            let wanted = reduced.then_some(ReducedLimit { asked: limit, used: most });
            assert_eq!(result.limited, wanted, "{tool} {arguments}");
            let said = format!("limit reduced to {most}]");
            let said = result.text().contains(&said) || result.text().contains(&said.replace(']', ";"));
            assert_eq!(said, reduced, "{tool} {arguments}: {}", result.text());
            let record = haft_runtime::record::of_result(&result);
            let wanted = if reduced { json!({ "asked": limit, "used": most }) } else { Value::Null };
            assert_eq!(record["limited"], wanted, "{tool} {arguments}");
        }
    }
}

/// The number behind the last "offset=" of a text.
fn next_offset(text: &str) -> Option<usize> {
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
    text.rsplit_once("go on with offset=").map(|(_, rest)| digits(rest).parse().expect("an offset is a number"))
}

#[tokio::test]
async fn following_the_offsets_shows_every_path_and_match_once() {
    let scene = many_files(1_300).limits(|limits| (limits.grep_matches, limits.glob_paths) = (170, 130));
    let cases = [
        ("glob", json!({ "pattern": "f*" }), 1_300),
        ("glob", json!({ "pattern": "f*", "sort": "time" }), 1_300),
        ("grep", json!({ "pattern": "hit", "mode": "files" }), 1_300),
        ("grep", json!({ "pattern": "hit", "mode": "count" }), 1_300),
        ("grep", json!({ "pattern": "hit" }), 2_600),
    ];
    for (tool, mut arguments, total) in cases {
        let (mut seen, mut offset) = (Vec::new(), Some(0));
        while let Some(skip) = offset {
            arguments["offset"] = json!(skip);
            scene.session().begin_turn();
            let text = scene.call(tool, arguments.clone()).await.text();
            let mut file = String::new();
            for line in text.lines().filter(|line| !line.starts_with('[') && !line.is_empty()) {
                let is_match = line.ends_with(":hit");
                seen.extend(
                    (is_match || arguments["mode"] != Value::Null || tool == "glob").then(|| format!("{file}{line}")),
                );
                file = if is_match { file } else { line.to_owned() };
            }
            offset = next_offset(&text);
        }
        let count = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!((count, seen.len()), (total, total), "{tool} {arguments}");
    }
}

#[tokio::test]
async fn totals_are_exact_however_many_matches_are_shown() {
    let scene = many_files(1_300);
    for (arguments, said) in [
        (
            json!({ "pattern": "hit", "path": "d0" }),
            "[1–100 of 868 matches in 434 files; go on with offset=100; 434 files searched]",
        ),
        (json!({ "pattern": "hit" }), "[1–100 of 2,600 matches in 1,300 files; go on with offset=100; "),
        (
            json!({ "pattern": "hit", "offset": 2_100 }),
            "[2,101–2,200 of 2,600 matches in 1,300 files; go on with offset=2200; ",
        ),
        (
            json!({ "pattern": "hit", "offset": 2_550 }),
            "[2,551–2,600 of 2,600 matches in 1,300 files; 1,300 files searched]",
        ),
        (json!({ "pattern": "hit", "offset": 9_000 }), "[2,600 matches in 1,300 files; none after offset=9000; "),
        (
            json!({ "pattern": "hit", "mode": "files", "limit": 5 }),
            "[1–5 of 1,300 files with matches; go on with offset=5; ",
        ),
    ] {
        for _ in 0..5 {
            scene.session().begin_turn();
            let text = scene.call("grep", arguments.clone()).await.text();
            assert!(text.contains(said), "{arguments}: {text}");
        }
    }
}

#[tokio::test]
async fn more_matches_than_can_be_kept_are_not_passed_over() {
    snapshot!(Scene::sample().told("grep", json!({ "pattern": "o", "offset": 100_001 })).await, @r#"
    failed at execute (bad_arguments): "offset" is 100001; at most 100,000 matches can be skipped.
    next: narrow the search with "path", "include" or the pattern
    did: nothing
    "#);
}

#[tokio::test]
async fn matches_that_are_passed_over_take_their_context_along() {
    let scene = Scene::new().file("a", "1\nhit\n3\n4\nhit\n6\nhit\n8\n");
    snapshot!(scene.told("grep", json!({ "pattern": "hit", "context": 1, "offset": 1, "limit": 1 })).await, @"
    ok: a
    4-4
    5:hit
    6-6
    [2 of 3 matches in 1 file; go on with offset=2; 1 file searched]
    did: nothing
    ");
    let lines = Scene::new().file("a", "x\ny\n-\nx\ny\n-\nx\ny\n");
    snapshot!(lines.told("grep", json!({ "pattern": "x\\ny", "multiline": true, "context": 1, "offset": 1 })).await, @"
    ok: a
    3--
    4:x
    5:y
    6--
    7:x
    8:y
    [2–3 of 3 matches in 1 file; 1 file searched]
    did: nothing
    ");
}

#[tokio::test]
async fn a_listing_goes_level_by_level_so_that_a_huge_folder_hides_no_sibling() {
    let scene = (0..50).fold(Scene::new(), |scene, number| scene.file(&format!("a/huge/f{number:02}"), ""));
    let scene = scene.file("b/c/d", "").file("z", "").limits(|limits| limits.list_entries = 8);
    snapshot!(scene.told("list_dir", json!({ "depth": 3 })).await, @r#"
    ok: a/
      huge/
        f00  0
        f01  0
        f02  0
    b/
      c/
    z  0
    [52 files, 4 folders; the first 8 names shown, upper levels first; list a folder below or use "ignore"]
    did: nothing
    "#);
    snapshot!(scene.told("list_dir", json!({ "depth": 3, "ignore": ["huge"], "view": "flat" })).await, @"
    ok: a/
    b/
    b/c/
    b/c/d  0
    z  0
    [2 files, 3 folders]
    did: nothing
    ");
}

#[tokio::test]
async fn more_names_than_are_counted_do_not_hide_what_lies_beside_them() {
    let scene = Scene::new();
    let many = scene.root().join("a/many");
    std::fs::create_dir_all(&many).expect("a folder can be made");
    // A hard link costs less than a file, but a file may have only some ten thousand.
    for part in 0..5 {
        std::fs::write(many.join(format!("{part}")), "").expect("a file can be written");
        for number in 0..42_000 {
            let made = std::fs::hard_link(many.join(format!("{part}")), many.join(format!("{part}-{number}")));
            made.expect("a link can be made");
        }
    }
    let scene = scene.file("b/c", "").file("d", "").limits(|limits| limits.list_entries = 6);
    let text = scene.call("list_dir", json!({ "depth": 3 })).await.text();
    assert!(text.starts_with("a/\n  many/\n    0  0\nb/\n  c  0\nd  0\n[at least "), "{text}");
}

#[tokio::test]
async fn a_very_long_line_is_read_to_its_end_by_the_calls_that_are_named() {
    let line: String = (0..200_000).map(|number| format!("é{number:06},")).collect();
    let scene = Scene::new().file("min.js", format!("first\n{line}\r\nlast\n"));
    let first = scene.call("read_file", json!({ "path": "min.js" })).await.text();
    let named =
        " [… 1598000 more characters in this line; go on with {\"offset\": 2, \"column\": 2001}]\n     3\tlast\n";
    assert!(first.contains(named), "{}", &first[first.len() - 200..]);
    let (mut read, mut column) = (line.chars().take(2_000).collect::<String>(), Some(2_001));
    while let Some(from) = column {
        let result = scene.call("read_file", json!({ "path": "min.js", "offset": 2, "column": from })).await;
        let text = result.text();
        assert!(result.spilled.is_none() && text.chars().count() <= 32_000, "{}", text.chars().count());
        let (shown, last) = text.split_once('\n').expect("there are two lines");
        read.push_str(shown.split_once('\t').expect("it has a number").1);
        column = last.rsplit_once("column=").map(|(_, rest)| rest.trim_end_matches("]\n").parse().expect("a number"));
        if column.is_none() {
            assert!(last.ends_with("–1600000 of 1,600,000; mixed line ends; go on with offset=3]\n"), "{last}");
        }
    }
    assert!(read == line, "{} of {}", read.len(), line.len());
}

#[tokio::test]
async fn a_column_behind_the_end_of_its_line_or_of_several_files_is_told() {
    let scene = Scene::sample();
    snapshot!(scene.told("read_file", json!({ "path": "notes.txt", "offset": 5, "column": 9 })).await, @"
    ok:      5	
    [line 5 has 4 characters; end of file]
    did: nothing
    ");
    snapshot!(scene.told("read_file", json!({ "path": "notes.txt", "offset": 2, "column": 2 })).await, @"
    ok:      2	wo
    [line 2, characters 2–3 of 3; go on with offset=3]
    did: nothing
    ");
    snapshot!(scene.told("read_file", json!({ "paths": ["notes.txt"], "column": 2 })).await, @r#"
    failed at line_up (bad_arguments): "column" is for one file, and "paths" was given.
    next: give the file as "path", for example {"path": "a.js", "column": 2001}
    did: nothing
    "#);
}

#[tokio::test]
async fn a_long_line_found_by_grep_names_the_call_that_shows_its_rest() {
    let line = format!("{}needle{}", "ö".repeat(5_000), "é".repeat(70_000));
    let scene = Scene::new().file("long", format!("{line}\n"));
    let text = scene.call("grep", json!({ "pattern": "needle" })).await.text();
    let (_, rest) = text.split_once("\"column\": ").expect("it is named");
    let column: usize = rest.split_once('}').expect("it ends").0.parse().expect("it is a number");
    let read = scene.call("read_file", json!({ "path": "long", "offset": 1, "column": column })).await.text();
    let shown: String = read.lines().next().expect("there is one").chars().skip(7).take(100).collect();
    assert_eq!(shown, line.chars().skip(column - 1).take(100).collect::<String>());
}

#[tokio::test]
async fn no_part_of_a_long_line_shows_half_a_secret() {
    let line = "hunter2-hunter2 ".repeat(3_000);
    let scene = Scene::new().file("long", &line).secret("hunter2-hunter2");
    for column in (1..40).chain([31_980, 31_990, 32_000]) {
        scene.session().begin_turn();
        let text = scene.call("read_file", json!({ "path": "long", "column": column })).await.text();
        assert!(!text.contains("hunt") && !text.contains("ter2"), "{column}: {text}");
    }
}

#[tokio::test]
async fn omitted_files_are_named_when_they_are_few() {
    let scene = Scene::new().file("a.txt", "needle\n").file("prod.env", "needle\n");
    snapshot!(scene.told("grep", json!({ "pattern": "needle" })).await, @"
    ok: a.txt
    1:needle
    [1 match in 1 file; 1 file searched; not searched: 1 secret-class file: prod.env (needs the user's permission)]
    did: nothing
    ");
    let many = (0..4).fold(scene, |scene, number| scene.file(&format!("{number}.pem"), "needle\n"));
    let text = many.call("grep", json!({ "pattern": "needle", "case": "sensitive" })).await.text();
    assert!(text.contains("; not searched: 5 secret-class files (needs"), "{text}");
}

#[test]
fn the_words_of_the_tools_have_the_numbers_of_the_profile() {
    use haft_contract::limits::{EditCount, Limits, WriteMode};
    use std::time::Duration;

    let limits = Limits {
        read_lines: 4_321,
        glob_paths: 432,
        grep_matches: 43,
        command_time: Duration::from_secs(21),
        command_time_most: Duration::from_secs(321),
        write_mode: WriteMode::Overwrite,
        edit_count: EditCount::First,
        ..Limits::default()
    };
    let words = |limits: &Limits| -> String {
        haft_tools::all_under(limits).iter().map(|tool| tool.spec().input_schema.to_string()).collect()
    };
    let said = words(&limits);
    for part in
        ["4321.", " 432.", " 43.", "Default 21, at most 321.", r#"Default \"overwrite\"."#, r#"Default \"first\"."#]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    for limits in [limits, Limits::default()] {
        assert!(!words(&limits).contains("_time}") && !words(&limits).contains("Default {"), "a number is missing");
    }
    assert!(words(&Limits::default()).contains("Default 120, at most 600."));
    let short = Limits { call_time: Duration::from_secs(31), ..Limits::default() };
    assert!(words(&short).contains("Default 30, at most 30."), "a command ends before its call does");
}
