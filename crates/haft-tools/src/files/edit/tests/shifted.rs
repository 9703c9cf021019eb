//! Tests how far a shift of the indentation is certain, and what it does to blank lines.

use super::*;

/// Checks that the place is found and the new text is refused, because a tab may have several widths.
#[track_caller]
fn check_unsure(text: &str, [old, new]: [&str; 2]) -> Miss {
    let miss = changed(text, old, new).expect_err("it may come to several depths");
    assert_eq!((miss.kind, miss.count), (ErrorKind::NoMatch, 1));
    assert!(miss.what.contains("it is not certain how wide a tab is there"), "{}", miss.what);
    miss
}

#[test]
fn one_depth_does_not_say_how_wide_a_tab_is() {
    let text = "def f():\n    if y:\n        a()\n        b()\n";
    let wrapped = ["\ta()\n\tb()", "\tif x:\n\t\ta()\n\tb()"];
    let miss = check_unsure(text, wrapped);
    assert_eq!(miss.near, Some(Near { first_line: 3, last_line: 4 }));
    insta::assert_snapshot!(format!("{}\nnext: {}", miss.what, miss.next), @r#"
    old_text matches lines 3-4 of src/lib.rs when the indentation may differ, but new_text has depths that old_text lacks, and it is not certain how wide a tab is there.
    next: if that is the place, send "old_text": "        a()\n        b()", and a "new_text" for the whole of it
    "#);
    check_unsure("        a()\n        b()\n", wrapped);
    check_unsure("    a()\n    b()\n", wrapped);
    check_unsure("f(\n    a()\n    b()\n  )\n", wrapped);
    check_unsure("{\n    a()\n    b()\n\tc()\n}\n", wrapped);
    check_unsure(text, ["\ta()\n\tb()", "a()\nb()"]);
    check_unsure(text, ["\ta()\n\tb()", "\ta()\n\t\t* b()"]);
    check_unsure("\t\ta()\n\t\tb()\n", ["    a()\n    b()", "    if x:\n        a()\n    b()"]);
    check_unsure("\t\ta()\n\t\tb()\n", ["        a()\n        b()", "        if x:\n                a()\n        b()"]);
}

#[test]
fn a_shift_does_not_mix_tabs_and_spaces() {
    check_unsure("    a()\n    b()\n", ["a()\nb()", "a()\nif c:\n\tb()"]);
    check_unsure("\ta()\n\tb()\n", ["a()\nb()", "a()\nif c:\n    b()"]);
    check_unsure("a()\nb()\n", ["  a()\n  b()", "  a()\n  \tb()"]);
    check("\tif a {\n\t    b()\n", ["if a {\n    b()", "if a {\n    c()"], "\tif a {\n\t    c()\n");
    check("\t/**\n\tf();\n", ["/**\nf();", "/**\n * A.\n */\nf();"], "\t/**\n\t * A.\n\t */\n\tf();\n");
}

#[test]
fn depths_of_the_old_text_go_where_they_went() {
    let text = "def f():\n    if y:\n        a()\n        b()\n";
    check(text, ["\ta()\n\tb()", "\tb()\n\n\ta()"], "def f():\n    if y:\n        b()\n\n        a()\n");
    check("\t\ta()\n\t\tb()\n", ["    a()\n    b()", "    c()"], "\t\tc()\n");
}

#[test]
fn two_depths_say_how_wide_a_tab_is() {
    let wrapped = ["\tif a:\n\t\tb()", "\tif a:\n\t\tif c:\n\t\t\tb()"];
    check("  if a:\n    b()\n", wrapped, "  if a:\n    if c:\n      b()\n");
    let wrapped = ["if a:\n    b()", "if a:\n    if c:\n        b()"];
    check("if a:\n\tb()\n", wrapped, "if a:\n\tif c:\n\t\tb()\n");
}

#[test]
fn levels_that_are_as_wide_as_the_one_depth_are_certain() {
    let wrapped = ["\ta()\n\tb()", "\tif x:\n\t\ta()\n\tb()"];
    check("f:\n    a()\n    b()\n", wrapped, "f:\n    if x:\n        a()\n    b()\n");
    let wrapped = ["    a()\n    b()", "    if x:\n        a()\n    b()"];
    check("f:\n\ta()\n\tb()\n", wrapped, "f:\n\tif x:\n\t\ta()\n\tb()\n");
    let wrapped = ["        a()", "        if x:\n            a()"];
    check("\t\ta()\n", wrapped, "\t\tif x:\n\t\t\ta()\n");
}

#[test]
fn blanks_of_a_blank_line_are_shifted_like_the_others() {
    check(
        "    foo()\n        \n    bar()\n",
        ["foo()\n    \nbar()", "foo()\n    \nbaz()"],
        "    foo()\n        \n    baz()\n",
    );
    check("\ta = 1\n\t\n\tb = 2\n", ["    a = 1\n    \n    b = 2", "    a = 1\n    \n    c"], "\ta = 1\n\t\n\tc\n");
    check("a()\n\nb()\n", ["    a()\n    \n    b()", "    a()\n    \n  \n    c()"], "a()\n\n  \nc()\n");
    check("  a()\n\n  b()\n", ["a()\n\nb()", "a()\n\nc()"], "  a()\n\n  c()\n");
}

#[test]
fn blanks_that_a_blank_line_has_on_one_side_only_are_a_second_difference() {
    let miss = check_refused("    # names.\n  \n    if x\n", "# names.\n\nif x", ErrorKind::NoMatch);
    assert_eq!(miss.near, Some(Near { first_line: 1, last_line: 3 }));
    check_refused("    a()\n    \n    b()\n", "a()\n\nb()", ErrorKind::NoMatch);
    check_refused("  a()\n\n  b()\n", "a()\n  \nb()", ErrorKind::NoMatch);
    check_refused("  a()\n  \n  b()\n", "a()\n  \nb()", ErrorKind::NoMatch);
}
