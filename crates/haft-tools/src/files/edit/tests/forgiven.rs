//! Tests the differences that haft forgives, and those that only look similar.

use super::*;

/// Checks which rung an edit needs.
#[track_caller]
fn check_rung(text: &str, old: &str, rung: Rung) {
    let fitted = fit(text, &[edit(old, "something new", Count::Unique)], "f").expect("one place fits");
    assert_eq!(fitted.rungs, [rung]);
}

#[test]
fn blanks_at_line_ends_may_differ_on_either_side() {
    check("p \nq\n", ["p\nq", "p\nr"], "p\nr\n");
    check("p\nq\nx\n", ["p\t\nq  \n", "p\nr\n"], "p\nr\nx\n");
    check("a\n   \nb\n", ["a\n\nb", "a\n\nc"], "a\n\nc\n");
    check("p  \r\nq\r\n", ["p\nq", "p\nr"], "p\r\nr\r\n");
    check_rung("p \nq\n", "p\nq", Rung::LineEndBlanks);
}

#[test]
fn a_line_end_that_the_end_of_the_file_lacks_may_be_sent() {
    check("p\nq", ["p\nq\n", "p\nr\n"], "p\nr");
    check("p\nq", ["q\n", "r"], "p\nr");
    check("p\r\nq", ["q\r\n", "r\r\ns\r\n"], "p\r\nr\r\ns");
}

#[test]
fn one_shift_of_the_indentation_shifts_the_new_text_too() {
    check("    go()\n    run()\n", ["go()\nrun()", "go()\nstop()"], "    go()\n    stop()\n");
    check("if x:\n  a()\n  b()\n", ["    a()\n    b()\n", "    a()\n      c()\n"], "if x:\n  a()\n    c()\n");
    check("\tif x {\n\t\ty()\n\t}\n", ["if x {\n\ty()\n}\n", "if x {\n\tz()\n\n}\n"], "\tif x {\n\t\tz()\n\n\t}\n");
    check_rung("    go()\n    run()\n", "go()\nrun()", Rung::Indentation);
}

#[test]
fn tabs_may_stand_for_the_same_number_of_spaces_everywhere() {
    check("f() {\n\tg()\n\t\th()\n}\n", ["    g()\n        h()\n", "    g()\n    i()\n"], "f() {\n\tg()\n\ti()\n}\n");
    check("f() {\n  g()\n    h()\n}\n", ["\tg()\n\t\th()\n", "\tg()\n"], "f() {\n  g()\n}\n");
}

#[test]
fn the_space_before_the_star_of_a_comment_is_not_part_of_a_tab() {
    let text = "\t/**\n\t * A.\n\t */\n\tf();\n";
    check(text, ["    /**\n     * A.\n     */\n", "    /**\n     * B.\n     */\n"], "\t/**\n\t * B.\n\t */\n\tf();\n");
    check("  /*\n   * A.\n", ["\t/*\n\t * A.\n", "\t/*\n\t * B.\n"], "  /*\n   * B.\n");
    check_refused("\ta(\n\t b)\n", "    a(\n     b)\n", ErrorKind::NoMatch);
}

#[test]
fn an_indentation_that_is_not_one_shift_is_another_text() {
    check_refused("    go()\n  run()\n", "go()\nrun()", ErrorKind::NoMatch);
    check_refused("\tgo()\n    run()\n", "go()\nrun()", ErrorKind::NoMatch);
    check_refused("\tgo()\n\t\trun()\n", "  go()\n   run()\n", ErrorKind::NoMatch);
    check_refused("\t  go()\n\t  run()\n", "    go()\n      run()\n", ErrorKind::NoMatch);
}

#[test]
fn a_new_text_that_cannot_be_shifted_is_refused() {
    let miss = changed("a()\nb()\n", "  a()\n  b()\n", "  a()\nb()\n").expect_err("b lacks the indentation");
    assert_eq!((miss.kind, miss.count), (ErrorKind::NoMatch, 1));
    assert_eq!(miss.near, Some(Near { first_line: 1, last_line: 2 }));
    changed("\ta()\n\tb()\n", "    a()\n    b()\n", "    a()\n      b()\n").expect_err("six spaces are no tabs");
}

#[test]
fn typographic_characters_fold_on_either_side() {
    check("f(‘a’)\n", ["f('a')", "f('b')"], "f('b')\n");
    check("f('a')\n", ["f(‘a’)", "f(‘b’)"], "f(‘b’)\n");
    check("x – “y” z…\n", ["- \"y\" z...", "w"], "x w\n");
    check("a\u{a0}b\u{2009}c\n", ["a b c", "d"], "d\n");
    check("“é” 1−2\r\nb\r\n", ["\"é\" 1-2\nb", "“é”\nc"], "“é”\r\nc\r\n");
    check_rung("f(‘a’)\n", "f('a')", Rung::Typography);
}

#[test]
fn a_folded_character_is_never_cut() {
    check_refused("wait…\n", "wait..", ErrorKind::NoMatch);
    check_refused("x… y\n", ". y", ErrorKind::NoMatch);
}

#[test]
fn copied_line_numbers_are_left_out() {
    let text = "one\ntwo\n\nfour\nfive\n";
    for old in [
        "     2\ttwo\n     3\t\n     4\tfour\n",
        "     2\ttwo\n\n     4\tfour\n",
        "2: two\n3:\n4: four\n",
        "2| two\n3| \n4| four\n",
        "  2→two\n  3→\n  4→four\n",
        "00002| two\n00003| \n00004| four\n",
        "2\ttwo\n3\n4\tfour\n",
        "2 | two\n3 |\n4 | four\n",
        "2:two\n3:\n4:four\n",
    ] {
        check(text, [old, "2\n"], "one\n2\nfive\n");
        check_rung(text, old, Rung::LineNumbers);
    }
}

#[test]
fn numbers_in_the_new_text_are_left_out_where_all_lines_have_them() {
    let (text, old) = ("a\nb\nc\n", "     1\ta\n     2\tb\n");
    check(text, [old, "     1\tA\n     2\tB\n     3\tB2\n"], "A\nB\nB2\nc\n");
    check(text, [old, "A\nB\n"], "A\nB\nc\n");
    changed(text, old, "     1\tA\nB\n").expect_err("only some lines are numbered");
}

#[test]
fn a_number_alone_is_text() {
    check("a\nb\n", ["     1\ta\n     2\tb\n", "2\n"], "2\n");
}

#[test]
fn numbers_that_the_lines_of_the_file_begin_with_are_no_line_numbers() {
    let table = "id\tname\n7\tfig\n10\tapple\n";
    check(table, ["     3\t10\tapple", "10\tpear"], "id\tname\n7\tfig\n10\tpear\n");
    check(table, ["     3\t10\tapple", "     3\t10\tpear"], "id\tname\n7\tfig\n10\tpear\n");
    check("a\nb\n3\tapple\n", ["     3\t3\tapple", "3\tpear"], "a\nb\n3\tpear\n");
    check(table, ["3\t10\tapple", "3\t11\tpear"], "id\tname\n7\tfig\n11\tpear\n");
    check(table, ["2\t7\tfig\n3\t10\tapple\n", "7\tfig\n11\tkiwi\n10\tapple\n"], &table.replace("10", "11\tkiwi\n10"));
    let ports = "ports:\n443: https\n80: http\n";
    let old = "2:443: https\n3:80: http";
    check(ports, [old, "443: https2\n80: http2"], "ports:\n443: https2\n80: http2\n");
    check(ports, [old, "2:443: https2\n3:80: http2"], "ports:\n443: https2\n80: http2\n");
    check(ports, [old, "443: https2\nrest"], "ports:\n443: https2\nrest\n");
}

#[test]
fn a_line_of_many_numbers_does_not_take_long() {
    let numbers = "1:".repeat(200_000);
    check(&format!("{numbers}a\n"), [&format!("1:{numbers}a"), "b"], "b\n");
    changed(&format!("{numbers}a\n"), &format!("1:{numbers}a"), &numbers).expect_err("they may be either");
}

#[test]
fn numbers_in_the_new_text_that_may_be_either_are_refused() {
    let refused = |text: &str, old: &str, new: &str| {
        let miss = changed(text, old, new).expect_err("both readings make sense");
        assert_eq!((miss.kind, miss.count), (ErrorKind::NoMatch, 1), "{new:?}");
        miss
    };
    // The file's own number is the line's.
    refused("a\nb\n3\tapple\n", "3\t3\tapple", "3\tpear");
    refused("a\nb\n3\t10\tapple\n", "3\t3\t10\tapple", "3\t11\tpear");
    refused("a\n443: https\n80: http\n22: ssh\n", "2:443: https\n3:80: http\n4:22: ssh", "2:443: https\n4:22: ssh");
    refused("a\n443: https\n80: http\n", "2:443: https\n3:80: http", "2:443: https\n80: http");
    refused("a\nb\n10\tapple\n", "     3\t10\tapple", "3\tpear");
    // Numbered, but not as the old text is.
    refused("a\nb\nc\n", "1: a\n2: b", "5: A\n6: B");
    refused("a\nb\nc\n", "1: a\n2: b", "1: A\n1: B");
    refused("a\nb\nc\n", "     1\ta\n     2\tb", "1\tA\n2\tB");
    let miss = refused("a\nb\nhost\n", "3: host", "80: host");
    assert_eq!(
        format!("{} Next: {}", miss.what, miss.next),
        "old_text matches line 3 of src/lib.rs without its line numbers, but it is not clear whether the numbers in \
         new_text are line numbers too. Next: if that is the place, send \"old_text\": \"host\", and a \"new_text\" \
         for the whole of it"
    );
}

#[test]
fn a_line_counts_as_it_does_for_the_other_tools() {
    // A lone return ends no line where there are newlines.
    let text = "one\nprog 10%\rprog 20%\rprog 30%\nthree\nfour target here\n";
    check(text, ["     4\tfour target here", "four"], &text.replace("four target here", "four"));
    let miss = check_refused(text, "four target hers", ErrorKind::NoMatch);
    assert_eq!(miss.near, Some(Near { first_line: 4, last_line: 4 }));
    assert!(miss.what.contains("Closest: line 4; what differs:\n  line 4 is    four target here"), "{}", miss.what);
    let miss = check_refused(&format!("{text}four target here\n"), "four target here", ErrorKind::Ambiguous);
    assert!(miss.what.contains("(lines 4, 5)"), "{}", miss.what);
    let miss = check_refused("a\rb\rfour target here\r", "four target hers", ErrorKind::NoMatch);
    assert_eq!(miss.near, Some(Near { first_line: 3, last_line: 3 }));
}

#[test]
fn two_places_in_one_line_of_returns_are_two_places() {
    check_refused("x\ny\ra() \rb()\rz\r\ta()\r\tb()\n", "a()\nb()\n", ErrorKind::Ambiguous);
}

#[test]
fn numbers_that_are_not_consecutive_are_text() {
    check_refused("a\nb\n", "1: a\n3: b\n", ErrorKind::NoMatch);
    check_refused("a\nb\n", "1: a\nb\n", ErrorKind::NoMatch);
}

#[test]
fn a_single_numbered_line_must_stand_where_it_says() {
    check("port\nhost\n", ["2: host\n", "2: name\n"], "port\nname\n");
    check_refused("port\nhost\n", "80: host\n", ErrorKind::NoMatch);
}

#[test]
fn numbers_never_choose_among_places() {
    let text = "x()\ny()\nz\nx()\ny()\n";
    for old in ["     4\tx()", "     4\tx()\n     5\ty()", "4: x()\n5: y()\n"] {
        assert_eq!(check_refused(text, old, ErrorKind::Ambiguous).count, 2, "{old:?}");
    }
    check(text, ["     3\tz\n     4\tx()", "z"], "x()\ny()\nz\ny()\n");
}

#[test]
fn a_rung_that_fits_twice_is_ambiguous() {
    let miss = check_refused("  a()\n  b()\nx\n    a()\n    b()\n", "a()\nb()\n", ErrorKind::Ambiguous);
    assert_eq!(miss.count, 2);
    check_refused("a \nb\nx\na\t\nb\n", "a\nb\n", ErrorKind::Ambiguous);
    check_refused("“a”\n”a“\n", "\"a\"", ErrorKind::Ambiguous);
}

#[test]
fn two_rungs_at_different_places_are_ambiguous() {
    assert_eq!(check_refused("a() \nb()\nx\n\ta()\n\tb()\n", "a()\nb()\n", ErrorKind::Ambiguous).count, 2);
}

#[test]
fn rungs_are_never_combined() {
    check_refused("  a() \n  b()\n", "a()\nb()\n", ErrorKind::NoMatch);
    check_refused("  f(‘a’)\n  b()\n", "f('a')\nb()\n", ErrorKind::NoMatch);
    check_refused("  a()\n  b()\n", "1: a()\n2: b()\n", ErrorKind::NoMatch);
}

#[test]
fn without_a_letter_nothing_is_forgiven() {
    check_refused("\t}\n", "    }\n", ErrorKind::NoMatch);
    check_refused("a\n \t \nb\n", "   \n", ErrorKind::NoMatch);
    check_refused("a\n\nb\n", "\n\n\n\n", ErrorKind::NoMatch);
    check_refused("a–b\n", "—", ErrorKind::NoMatch);
}

#[test]
fn a_text_that_begins_or_ends_inside_a_line_is_not_shifted_or_trimmed() {
    check_refused("x = a(1, \n  2)\n", "a(1,\n  2)", ErrorKind::NoMatch);
    check_refused("  a(1)\n  b(2) + 1\n", "a(1)\nb(2)", ErrorKind::NoMatch);
}

#[test]
fn blanks_at_the_very_end_may_be_the_indentation_of_the_next_line() {
    check("a\n  b\n", ["a\n  ", "c\n  "], "c\n  b\n");
    check_refused("a\n\nb\n", "a\n  ", ErrorKind::NoMatch);
    check_refused("  a\n\nb\n", "a\n  ", ErrorKind::NoMatch);
}

#[test]
fn a_block_may_begin_with_the_end_of_the_line_before() {
    check("x\n  a()\n  b()\n", ["\na()\nb()\n", "\na()\nc()\n"], "x\n  a()\n  c()\n");
    changed("x\n  a()\n  b()\n", "\na()\nb()\n", "c()\n").expect_err("c would be glued to x");
    check_refused("  a()\n  b()\n", "\na()\nb()\n", ErrorKind::NoMatch);
}

#[test]
fn likeness_never_applies() {
    check_refused("total = 10\n", "totl = 10", ErrorKind::NoMatch);
    check_refused("fn a() {\n  one();\n  two();\n}\n", "fn a() {\n  ...\n}\n", ErrorKind::NoMatch);
    check_refused("Foo\n", "foo", ErrorKind::NoMatch);
    check_refused("a  b\n", "a b", ErrorKind::NoMatch);
}
