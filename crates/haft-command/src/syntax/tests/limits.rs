//! Tests that no text makes the parser fail, run out of stack, or take long.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use crate::syntax::tests::{check, parse};

/// Pieces of texts that are hard to read.
const PIECES: &[&str] = &[
    "a",
    " ",
    "\n",
    ";",
    "&",
    "|",
    "&&",
    "||",
    "(",
    ")",
    "((",
    "))",
    "{",
    "}",
    "[[",
    "]]",
    "[",
    "]",
    "$(",
    "${",
    "$((",
    "$[",
    "`",
    "'",
    "\"",
    "$'",
    "$\"",
    "\\",
    "\\\n",
    "#",
    "<",
    ">",
    ">>",
    "<<E",
    "<<-'E'",
    "\nE\n",
    "<<<",
    "<(",
    ">(",
    "2>&1",
    "{fd}>",
    "if ",
    "then ",
    "fi",
    "for x in ",
    "for ((",
    "do ",
    "done",
    "case x in ",
    ";;",
    "esac",
    "while ",
    "function f",
    "f()",
    "x=",
    "x=(",
    "x[1]=",
    "+=",
    "{a,b}",
    "{1..9}",
    ",",
    "..",
    "~",
    "~/",
    ":-",
    "/",
    "%",
    "!",
    "@(",
    "*",
    "=~",
    "time ",
    "coproc ",
    "é",
    "\r",
    "\t",
    "$x",
    "$@",
    "${x:-",
    "${#",
    "${!x",
    "\u{0}",
];

proptest! {
    #[test]
    fn any_text_is_read(text in any::<String>()) {
        parse(&text);
    }

    #[test]
    fn any_row_of_tricky_pieces_is_read(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40),
    ) {
        let text = pieces.concat();
        for item in parse(&text).items {
            for stage in item.stages {
                prop_assert!(text.get(stage.span).is_some());
            }
        }
    }
}

/// Texts of 64 KiB that repeat a piece.
fn worst() -> Vec<String> {
    let pieces = PIECES.iter().map(|piece| (*piece).to_owned());
    let pairs = ["$(a;", "{ a;", "( ", "((a", "$((1+", "${x:-", "\"$(", "`\\", "{a,", "{a,{b,", "a<<E\n", "$(a<<E\n"];
    let more =
        ["[[ ( ", "a=(", "x[", "@(", "if a;then ", "case a in b)", "f(){ ", "<(", "for x in $(", "$((a)", "! ", "'a' "];
    let pairs = pairs.iter().chain(&more).map(|piece| (*piece).to_owned());
    let long_groups = format!("{{ a;{}", "b;".repeat(100));
    pieces.chain(pairs).chain([long_groups]).map(|piece| piece.repeat(64 * 1024 / piece.len())).collect()
}

#[test]
fn the_longest_and_deepest_texts_are_read_in_no_time() {
    for text in worst() {
        let start = Instant::now();
        parse(&text);
        // A quiet machine takes a twentieth of that, in a build for tests.
        let took = start.elapsed();
        assert!(took < Duration::from_secs(3), "{took:?} for {}…", text.chars().take(12).collect::<String>());
    }
}

#[test]
fn what_is_nested_too_deeply_is_opaque() {
    let nested = |times: usize| format!("a; echo {}rm x{}; b", "$(".repeat(times), ")".repeat(times));
    assert!(crate::syntax::tests::notation::script(&parse(&nested(20))).contains("<rm x>"));
    let deep = crate::syntax::tests::notation::script(&parse(&nested(5_000)));
    assert!(deep.starts_with("<a> ; opaque[it is nested too deeply]"), "{deep}");
    assert!(deep.ends_with("<b>"), "{deep}");
}

#[test]
fn a_stack_of_one_mebibyte_is_enough() {
    let texts = worst();
    let read = move || texts.iter().for_each(|text| drop(parse(text)));
    let thread = std::thread::Builder::new().stack_size(1024 * 1024).spawn(read);
    thread.expect("a thread starts").join().expect("it reads all of them");
}

#[test]
fn a_long_here_document_is_read_to_its_end() {
    let text = format!("cat <<E >f\n{}E\nrm x", "a << $b\n".repeat(8_000));
    let tree = crate::syntax::tests::notation::script(&parse(&text));
    assert!(
        !tree.contains("opaque") && tree.ends_with(" >f ; <rm x>"),
        "{}",
        tree.chars().take(80).collect::<String>()
    );
}

#[test]
fn texts_over_64_kib_and_texts_with_a_zero_byte_are_opaque() {
    let long = "a ".repeat(40_000);
    check(&long, "opaque[it is longer than 64 KiB]");
    check("rm x\0y", "opaque[it has a zero byte in it]");
}
