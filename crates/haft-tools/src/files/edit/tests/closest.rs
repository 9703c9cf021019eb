//! Tests which lines a refusal shows, and when it says that the change already exists.

use super::*;

/// Checks which lines are shown for an old text that is not there.
#[track_caller]
fn check_near(text: &str, old: &str, lines: [usize; 2]) -> Miss {
    let miss = check_refused(text, old, ErrorKind::NoMatch);
    assert_eq!(miss.near, Some(Near { first_line: lines[0], last_line: lines[1] }), "{}", miss.what);
    miss
}

#[test]
fn lines_next_to_each_other_are_preferred() {
    check_near("foo(1)\nbar()\nfoo(2)\nbaz()\n", "foo(3)\nbaz()", [3, 4]);
    check_near("foo(3x)\nbar()\nfoo(2)\nbaz()\n", "foo(3)\nbaz()", [3, 4]);
}

#[test]
fn typography_and_white_space_do_not_count_when_lines_are_looked_for() {
    check_near("    f(“a”)\n    g()\n", "f(\"a\")\ng()", [1, 2]);
    check_near("x\nf(‘a’)\n", "f('a') + 1", [2, 2]);
    check_near("x\na\u{a0}–  b\n", "c\na - b", [2, 2]);
    let miss = check_near("a\tb\tc\n", "a b c", [1, 1]);
    assert!(miss.what.contains("only white space differs"), "{}", miss.what);
}

#[test]
fn copied_line_numbers_and_notes_do_not_hide_the_lines() {
    let miss = check_near("a\nb\n", "     1\ta\n     2\tb\n[end of file: 2 lines]", [1, 2]);
    assert!(miss.what.contains("\"[end of file…\" is a note of \"read_file\", not a line of the file: leave it out."));
    assert!(miss.next.to_string().contains("send \"old_text\": \"a\\nb\""), "{}", miss.next);
    check_near("x\ny\nhost = 1\n", "7: host = 2", [3, 3]);
    check_near("ports:\n443: https\n80: http\n", "80: htp", [3, 3]);
}

fn told(text: &str, old: &str, new: &str) -> String {
    let miss = changed(text, old, new).expect_err("nothing fits");
    format!("{}\nnext: {}", miss.what, miss.next)
}

#[test]
fn a_short_change_may_be_there_already() {
    insta::assert_snapshot!(told("x = 2\n", "x = 1", "x = 2"), @"
    old_text does not occur in src/lib.rs. new_text is in line 1 already, so the change may have been made. Closest: line 1; what differs:
      line 1 is    x = 2
      old_text has x = 1
    next: go on if that is what you want; else copy the text to replace from there
    ");
    insta::assert_snapshot!(told("a\nNEW\nb\n", "a\nb\n", "a\nNEW\nb\n"), @"
    old_text does not occur in src/lib.rs. new_text is in lines 1-3 already, so the change may have been made. Closest: lines 1-3; what differs:
      line 2 is not in old_text: NEW
    next: go on if that is what you want; else copy the text to replace from there
    ");
    for (text, old, new) in [("foo(2)\n", "foo(1)", "foo(2)"), ("a()\nc()\n", "a()\nb()\nc()\n", "a()\nc()\n")] {
        let told = told(text, old, new);
        assert!(told.contains("so the change may have been made") && told.contains("next: go on if"), "{told}");
    }
    assert!(told("f:\n    x = 2\n", "x = 1", "x = 2").contains("new_text is in line 2 already"));
    let told = told("x = 2\n\nqqq\n", "zzzz", "qqq");
    insta::assert_snapshot!(told, @"
    old_text does not occur in src/lib.rs. new_text is there already, line 3.
    next: go on if that is what you want; else copy the text to replace from there
    ");
}

#[test]
fn what_is_left_of_the_old_text_is_not_taken_for_the_change() {
    let told = told("let alphas = 1;\nlet beta = 22;\n", "let alpha = 1;\nlet beta = 22;\n", "let beta = 22;\n");
    assert!(!told.contains("already"), "{told}");
    assert!(told.contains("Closest: lines 1-2"), "{told}");
}

#[test]
fn nothing_that_changes_nothing_is_advised() {
    for (text, old, new) in [
        ("x = 2\n", "x = 1", "x = 2"),
        ("a  b\n", "a b", "a  b"),
        ("\ta()\n\tb()\n", "    a()\n  b()\n", "\ta()\n\tb()\n"),
    ] {
        let told = told(text, old, new);
        assert!(!told.contains("send \"old_text\""), "{told}");
    }
}

#[test]
fn closest_lines_of_a_large_text_do_not_take_long() {
    let mut text = "let “value” =\tcompute(‘x’,  1);\n".repeat(20_000);
    text.push_str("let “other” =\tcompute(‘x’,  1);\n");
    text.push_str(&"a\tb".repeat(200_000));
    check_near(&text, "let \"other\" = compute('x', 1) + 1;", [20_001, 20_001]);
}
