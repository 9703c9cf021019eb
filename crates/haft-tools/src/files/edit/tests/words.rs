//! Tests the words of refusals.

use super::*;

fn told(text: &str, old: &str, new: &str) -> String {
    let miss = changed(text, old, new).expect_err("nothing fits");
    format!("{}\nnext: {}", miss.what, miss.next)
}

#[test]
fn a_near_miss_shows_the_line_and_the_text_to_send() {
    insta::assert_snapshot!(told("fn main() {\n    total = 10;\n}\n", "    totl = 10;", "x"), @r#"
    old_text does not occur in src/lib.rs. Closest: line 2; what differs:
      line 2 is        total = 10;
      old_text has     totl = 10;
    next: if that is the place, send "old_text": "    total = 10;", and a "new_text" for the whole of it
    "#);
}

#[test]
fn white_space_that_differs_is_made_visible() {
    insta::assert_snapshot!(told("if a:\n\tb()\n    c()\n", "    b()\n    c()\n", "x"), @r#"
    old_text does not occur in src/lib.rs. Closest: lines 2-3; only white space differs (· is a space, → a tab):
      line 2 is    →b()
      old_text has ····b()
    next: if that is the place, send "old_text": "\tb()\n    c()\n", and a "new_text" for the whole of it
    "#);
}

#[test]
fn the_beginning_of_a_split_line_is_not_offered_for_the_whole() {
    let text = "fn a() {\n    let all = longest(&read(file)?, number(n)?)\n        .iter()\n        .collect();\n}\n";
    let old = "    let all = longest(&read(file)?, number(n)?).iter().collect();\n";
    let told = told(text, old, "x");
    assert!(told.ends_with("next: call \"read_file\" to look at line 2 of src/lib.rs"), "{told}");
}

#[test]
fn a_change_that_is_there_already_is_recognised() {
    let text = "one\nlet renamed = 1;\ntwo\n";
    insta::assert_snapshot!(told(text, "let original = 1;", "let renamed = 1;"), @"
    old_text does not occur in src/lib.rs; the change seems to be made already, line 2.
    next: go on if that is what you want; else copy the text to replace from there
    ");
}

#[test]
fn lines_that_were_left_out_are_named() {
    let text = "fn a() {\n    one();\n    two();\n    three();\n}\n";
    insta::assert_snapshot!(told(text, "fn a() {\n    // ...\n    three();\n}\n", "x"), @r#"
    old_text does not occur in src/lib.rs. It has a line of dots: lines that are left out cannot be found; write all of them, or use two edits. Closest: lines 1-5; what differs:
      line 2 is not in old_text:     one();
      line 3 is not in old_text:     two();
      old_text has a line that is not there:     // ...
    next: if that is the place, send "old_text": "fn a() {\n    one();\n    two();\n    three();\n}\n", and a "new_text" for the whole of it
    "#);
}

#[test]
fn an_edit_that_needs_another_one_first_is_told_so() {
    let edits = [edit("one", "three", Count::Unique), edit("three", "four", Count::Unique)];
    let miss = fit("one two\n", &edits, "f").expect_err("three is not in the file");
    insta::assert_snapshot!(miss.what, @"old_text of edit 2 does not occur in f, nor anything like it. It is in the new text of another edit, but haft locates all edits in the file before it makes any of them.");
}

#[test]
fn what_is_like_nothing_sends_to_the_file() {
    insta::assert_snapshot!(told("alpha\nbeta\n", "zzzz qqqq", "x"), @r#"
    old_text does not occur in src/lib.rs, nor anything like it. It begins:
    1| alpha
    2| beta
    next: call "read_file" to look at src/lib.rs
    "#);
}

#[test]
fn edits_that_overlap_are_both_named() {
    let edits = [edit("a\nb", "1", Count::Unique), edit("b\nc", "2", Count::Unique)];
    let miss = fit("a\nb\nc\n", &edits, "f").expect_err("both replace b");
    insta::assert_snapshot!(miss.what, @"Edits 1 and 2 both replace text of line 2 in f.");
}

#[test]
fn places_that_only_fit_when_something_differs_are_told_as_such() {
    insta::assert_snapshot!(told("  a()\n  b()\n\n    a()\n    b()\n", "a()\nb()\n", "x"), @"
    old_text does not occur exactly in src/lib.rs; when the indentation may differ, 2 places match (lines 1, 4).
    next: copy the text exactly from the file, with a line before or after it so that it occurs once
    ");
}

#[test]
fn a_refusal_is_bounded_whatever_the_lines_are_like() {
    let line = |letter: &str| format!("{}\n", letter.repeat(20_000));
    let text: String = ["a", "\u{1}", "“", "c"].iter().cycle().take(40).map(|letter| line(letter)).collect();
    let old = text.replace('c', "d");
    let miss = changed(&text, &old, "x").expect_err("c is not d");
    assert!(miss.what.chars().count() + miss.next.to_string().chars().count() <= 4_000);
}

#[test]
fn a_long_name_and_a_line_break_in_it_stay_in_one_sentence() {
    let miss = fit("a\n", &[edit("b", "c", Count::Unique)], "two\nlines").expect_err("there is no b");
    assert!(miss.what.contains("two\\nlines"), "{}", miss.what);
}

#[test]
fn the_nearest_lines_are_found_among_many() {
    let mut text: String = (0..5_000).map(|number| format!("let value_{number} = compute({number});\n")).collect();
    text.push_str("fn special_case(argument: &str) -> bool {\n    argument.len() > 3\n}\n");
    let old = "fn special_case(argument: &str) -> bool {\n    argument.len() > 4\n}\n";
    let miss = changed(&text, old, "x").expect_err("4 is not 3");
    assert_eq!(miss.near, Some(Near { first_line: 5_001, last_line: 5_003 }));
}

#[test]
fn a_part_of_a_long_line_is_shown_where_it_seems_to_be() {
    let filler = "let a = 1; ".repeat(40);
    let miss =
        changed(&format!("x\n{filler}const answer = 42;{filler}\n"), "const answr = 42;", "x").expect_err("a typo");
    assert_eq!(miss.near, Some(Near { first_line: 2, last_line: 2 }));
    assert!(miss.what.contains("const answer = 42;"), "{}", miss.what);
}
