//! Tests the rules of the ladder, one scene each.

mod closest;
mod forgiven;
mod shifted;
mod words;

use super::*;

fn edit<'a>(old: &'a str, new: &'a str, count: Count) -> Edit<'a> {
    Edit { old, new, count }
}

/// Applies one edit that means one place.
fn changed(text: &str, old: &str, new: &str) -> Result<String, Miss> {
    fit(text, &[edit(old, new, Count::Unique)], "src/lib.rs").map(|fitted| fitted.apply(text))
}

/// Checks that one edit that means one place gives this text.
#[track_caller]
fn check(text: &str, [old, new]: [&str; 2], after: &str) {
    assert_eq!(changed(text, old, new).as_deref(), Ok(after));
}

/// Checks that one edit that means one place is refused with this kind.
#[track_caller]
fn check_refused(text: &str, old: &str, kind: ErrorKind) -> Miss {
    let miss = changed(text, old, "new text").expect_err("nothing fits");
    assert_eq!(miss.kind, kind, "{miss:?}");
    miss
}

#[track_caller]
fn check_all(text: &str, edits: &[Edit<'_>], after: Result<&str, ErrorKind>) {
    let outcome = fit(text, edits, "src/lib.rs").map(|fitted| fitted.apply(text));
    assert_eq!(outcome.as_deref().map_err(|miss| miss.kind), after);
}

#[test]
fn new_text_is_literal() {
    check("n = 1\n", ["1", "$1 \\1 {}"], "n = $1 \\1 {}\n");
}

#[test]
fn an_exact_match_wins_over_a_place_that_would_have_to_be_forgiven() {
    check("  a \n  b\na\nb\n", ["a\nb\n", "c\n"], "  a \n  b\nc\n");
}

#[test]
fn an_exact_match_may_begin_and_end_inside_lines() {
    check("let x = f(1,\n    2) + 1;\n", ["f(1,\n    2)", "g()"], "let x = g() + 1;\n");
}

#[test]
fn what_occurs_twice_is_ambiguous_and_told_with_its_lines() {
    let miss = check_refused("z\nx\nz\n", "z", ErrorKind::Ambiguous);
    assert_eq!((miss.count, miss.near), (2, Some(Near { first_line: 1, last_line: 1 })));
    assert_eq!(&*miss.what, "old_text occurs 2 times in src/lib.rs (lines 1, 3).");
}

#[test]
fn places_that_overlap_are_two_places() {
    assert_eq!(check_refused("aaa\n", "aa", ErrorKind::Ambiguous).count, 2);
    check_all("aaa\n", &[edit("aa", "b", Count::All)], Ok("ba\n"));
}

#[test]
fn an_empty_old_text_names_nothing() {
    check_refused("a\n", "", ErrorKind::EmptyOld);
    check_refused("", "", ErrorKind::EmptyOld);
}

#[test]
fn an_edit_that_changes_nothing_says_so() {
    check_all("a\nb\n", &[edit("a\n", "a\r\n", Count::Unique)], Err(ErrorKind::NoChange));
    check_all("ab\n", &[edit("a", "ab", Count::Unique), edit("b", "", Count::Unique)], Err(ErrorKind::NoChange));
    check_all("a\n", &[], Err(ErrorKind::NoChange));
    check_all("a b\n", &[edit("a", "a", Count::Unique), edit("b", "c", Count::Unique)], Ok("a c\n"));
}

#[test]
fn all_edits_are_located_in_the_original() {
    let swap = [edit("one", "two", Count::Unique), edit("two", "one", Count::Unique)];
    check_all("one two\n", &swap, Ok("two one\n"));
    let chain = [edit("one", "three", Count::Unique), edit("three", "four", Count::Unique)];
    check_all("one two\n", &chain, Err(ErrorKind::NoMatch));
}

#[test]
fn one_edit_that_does_not_fit_stops_all() {
    let edits = [edit("one", "1", Count::Unique), edit("nowhere", "2", Count::Unique)];
    let miss = fit("one two\n", &edits, "f").expect_err("the second fits nowhere");
    assert_eq!((miss.kind, miss.edit), (ErrorKind::NoMatch, 1));
}

#[test]
fn edits_that_share_text_overlap() {
    let sharing = [edit("pq", "1", Count::Unique), edit("qr", "2", Count::Unique)];
    check_all("pqr\n", &sharing, Err(ErrorKind::Overlap));
    let contradicting = [edit("p", "1", Count::Unique), edit("p", "2", Count::Unique)];
    check_all("pqr\n", &contradicting, Err(ErrorKind::Overlap));
    let repeated = [edit("p", "1", Count::All), edit("q p", "2", Count::Unique)];
    check_all("p\nq p\n", &repeated, Err(ErrorKind::Overlap));
    let shifted = [edit("a()\nb()", "c()", Count::Unique), edit("b()", "d()", Count::Unique)];
    check_all("  a()\n  b()\n", &shifted, Err(ErrorKind::Overlap));
}

#[test]
fn edits_that_share_only_lines_which_stay_are_all_made_in_any_order() {
    let text = "use a;\nuse b;\n\nfn f() {\n    one();\n}\nend\n";
    let first = edit("use a;\nuse b;\n\nfn f() {\n", "use a;\nuse b;\nuse c;\n\nfn f() {\n", Count::Unique);
    let second = edit("\nfn f() {\n    one();\n}\n", "\nfn f() {\n    two();\n}\n", Count::Unique);
    let after = "use a;\nuse b;\nuse c;\n\nfn f() {\n    two();\n}\nend\n";
    check_all(text, &[first, second], Ok(after));
    check_all(text, &[second, first], Ok(after));
    let (text, after) = (text.replace('\n', "\r\n"), after.replace('\n', "\r\n"));
    check_all(&text, &[first, second], Ok(&after));

    // Changed lines that touch have an order, and part of a line is not cut.
    let text = "a\nb\nc\n";
    let above = edit("a\nb\n", "a\nB\n", Count::Unique);
    for other in [edit("b\nc\n", "b\nC\n", Count::Unique), edit("b\nc\n", "b\nx\nc\n", Count::Unique)] {
        check_all(text, &[above, other], Err(ErrorKind::Overlap));
    }
    let within = [edit("p q", "p Q", Count::Unique), edit("o p", "O p", Count::Unique)];
    check_all("o p q\n", &within, Err(ErrorKind::Overlap));
}

#[test]
fn the_same_edit_twice_is_one() {
    let same = [edit("p", "1", Count::Unique), edit("q", "p", Count::Unique), edit("p", "1", Count::Unique)];
    check_all("pqr\n", &same, Ok("1pr\n"));
    let kept = [edit("p\n", "p\nx\n", Count::Unique), edit("p\n", "p\nx\n", Count::Unique)];
    check_all("p\nq\n", &kept, Ok("p\nx\nq\n"));
}

#[test]
fn edits_that_only_touch_do_not_overlap() {
    check_all("pqr\n", &[edit("r", "3", Count::Unique), edit("pq", "1", Count::Unique)], Ok("13\n"));
}

#[test]
fn a_count_is_held_to() {
    let text = "z\nz\nz\n";
    check_all(text, &[edit("z", "y", Count::All)], Ok("y\ny\ny\n"));
    check_all(text, &[edit("z", "y", Count::First)], Ok("y\nz\nz\n"));
    check_all(text, &[edit("z", "y", Count::Exactly(3))], Ok("y\ny\ny\n"));
    check_all(text, &[edit("z", "y", Count::Exactly(2))], Err(ErrorKind::Ambiguous));
    check_all(text, &[edit("z", "y", Count::Exactly(4))], Err(ErrorKind::NoMatch));
    check_all(text, &[edit("x", "y", Count::All)], Err(ErrorKind::NoMatch));
    check_all(text, &[edit("x", "y", Count::First)], Err(ErrorKind::NoMatch));
}

#[test]
fn places_that_overlap_are_counted_and_never_replaced_by_number() {
    for (text, old) in [("=====\n", "===="), ("}\n}\n}\n", "}\n}"), ("aaaa\n", "aaa")] {
        check_all(text, &[edit(old, "new", Count::Exactly(1))], Err(ErrorKind::Ambiguous));
        check_all(text, &[edit(old, "new", Count::Exactly(2))], Err(ErrorKind::Ambiguous));
        check_all(text, &[edit(old, "new", Count::Exactly(3))], Err(ErrorKind::NoMatch));
    }
    check_all("aaaa\n", &[edit("aa", "b", Count::Exactly(2))], Err(ErrorKind::Ambiguous));
    check_all("aa aa\n", &[edit("aa", "b", Count::Exactly(2))], Ok("b b\n"));
    for wanted in [1_000, 1_001, 1_002] {
        check_all(&"a".repeat(2 * wanted), &[edit("aa", "b", Count::Exactly(wanted))], Err(ErrorKind::Ambiguous));
    }
    let miss = fit("=====\n", &[edit("====", "----", Count::Exactly(1))], "f").expect_err("it may be either");
    assert_eq!(
        format!("{} Next: {}", miss.what, miss.next),
        "old_text occurs 2 times in f (lines 1, 1), and some of these places overlap. Next: add the text before or \
         after it, so that only one place is meant"
    );
}

#[test]
fn a_wrong_count_is_told_with_the_right_one() {
    let miss = fit("z\nz\n", &[edit("z", "y", Count::Exactly(5))], "f").expect_err("there are two");
    assert_eq!((miss.count, &*miss.what), (2, "old_text occurs 2 times in f (lines 1, 2), not 5."));
}

#[test]
fn one_place_is_forgiven_unless_more_are_asked_for() {
    for count in [Count::All, Count::First, Count::Exactly(1)] {
        check_all("  a()\n  b()\n", &[edit("a()\nb()", "c()", count)], Ok("  c()\n"));
        check_all("a() \nb()\n", &[edit("a()\nb()", "c()", count)], Ok("c()\n"));
        check_all("f(‘a’)\n", &[edit("f('a')", "f('b')", count)], Ok("f('b')\n"));
        check_all("f(‘a’)\nf(‘a’)\n", &[edit("f('a')", "f('b')", count)], Err(ErrorKind::Ambiguous));
    }
    check_all("f(‘a’)\nf('a')\n", &[edit("f('a')", "b", Count::All)], Ok("f(‘a’)\nb\n"));
    check_all("f(‘a’)\nf('a')\n", &[edit("f('a')", "b", Count::First)], Ok("f(‘a’)\nb\n"));
    for text in ["f(‘a’)\n", "f(‘a’)\nf(‘a’)\n"] {
        let miss = fit(text, &[edit("f('a')", "f('b')", Count::Exactly(2))], "f").expect_err("none is exact");
        assert_eq!((miss.kind, miss.near.map(|near| near.first_line)), (ErrorKind::NoMatch, Some(1)));
    }
}

#[test]
fn line_ends_never_count() {
    check("p\r\nq\r\n", ["p\nq", "p\nr"], "p\r\nr\r\n");
    check("p\nq\n", ["p\r\nq", "p\r\nr"], "p\nr\n");
    check("p\rq\r", ["p\nq\n", "p\nr\n"], "p\rr\r");
    check("p\r\nq\r\n", ["p\rq", "r"], "r\r\n");
    assert_eq!(check_refused("a\nb\nx\na\r\nb\n", "a\nb", ErrorKind::Ambiguous).count, 2);
}

#[test]
fn a_line_keeps_its_own_end_in_a_file_that_mixes_them() {
    check("a\r\nb\nc\r\nd\n", ["a\nb\nc", "a\nB\nc"], "a\r\nB\nc\r\nd\n");
    check("a\nb\r\nc\n", ["a\nb\nc\n", "A\nB\nC\n"], "A\nB\r\nC\n");
}

#[test]
fn an_added_line_takes_the_end_of_its_neighbour() {
    check("a\nb\r\nc\n", ["b\n", "b\nx\n"], "a\nb\r\nx\r\nc\n");
    check("a\nb\r\nc\n", ["b", "x\nb"], "a\nx\r\nb\r\nc\n");
    check("a\r\nb", ["b", "b\nc"], "a\r\nb\r\nc");
    check("a\r\nb\r\nc\n", ["a\nb\nc\n", "x\na\nb\nc\n"], "x\r\na\r\nb\r\nc\n");
}

#[test]
fn a_text_without_line_ends_takes_those_that_are_sent() {
    check("a", ["a", "b\r\nc"], "b\r\nc");
    check("a", ["a", "b\nc"], "b\nc");
}

#[test]
fn the_last_line_end_stays_as_it_is_unless_it_is_named() {
    check("p\nq", ["q", "r"], "p\nr");
    check("p\nq\n", ["q", "r"], "p\nr\n");
    check("p\nq\n", ["q\n", "r"], "p\nr");
    check("p\nq", ["q", "r\n"], "p\nr\n");
}

#[test]
fn replaced_text_is_sorted_and_says_which_edit_asked() {
    let fitted = fit("a b a\n", &[edit("b", "2", Count::Unique), edit("a", "1", Count::All)], "f").expect("both fit");
    let told: Vec<_> =
        fitted.replacements.iter().map(|replacement| (replacement.range.clone(), replacement.edit)).collect();
    assert_eq!(told, [(0..1, 1), (2..3, 0), (4..5, 1)]);
}

#[test]
fn a_text_that_repeats_itself_without_end_does_not_take_long() {
    let text = "a\n".repeat(100_000);
    let old = format!("  {}b\n", "a\n  ".repeat(3_000));
    check_refused(&text, &old, ErrorKind::NoMatch);
    check_refused(&"a".repeat(1 << 20), &"a".repeat(5_000), ErrorKind::Ambiguous);
    check_all(&"a".repeat(1 << 20), &[edit(&"a".repeat(5_000), "b", Count::Exactly(209))], Err(ErrorKind::Ambiguous));
    let miss = check_refused(&"a \n".repeat(300_000), "a\na", ErrorKind::Ambiguous);
    assert!(miss.what.contains("at least 100 places match (lines 1, 2, "), "{}", miss.what);
    check_refused(&"  a()\n".repeat(300_000), "a()\na()", ErrorKind::Ambiguous);
    check_refused(&"x()\n".repeat(300_000), "     299999\tx()", ErrorKind::Ambiguous);
}
