use super::PlainText;
use proptest::prelude::*;

fn plain(output: impl AsRef<[u8]>) -> String {
    let mut plain_text = PlainText::default();
    plain_text.take(output.as_ref()) + &plain_text.rest()
}

#[test]
fn plain_output_stays_as_it_is() {
    let many: String = (0..200).map(|line| format!("line {line}\tÜ漢\n")).collect();
    for output in ["", "a", "a\n", "\n\n", "a\tb\n", "no end\nof line", many.as_str()] {
        assert_eq!(plain(output), output);
    }
}

#[test]
fn a_carriage_return_writes_over_the_line() {
    assert_eq!(plain("  1%\r 50%\r100%\ndone\r\n"), "100%\ndone\n");
    assert_eq!(plain("long line\rshort"), "shortline");
    assert_eq!(plain("long line\r\u{1b}[Kshort"), "short");
    assert_eq!(plain("größer\rk"), "krößer");
}

#[test]
fn a_backspace_goes_one_character_back() {
    assert_eq!(plain("|\u{8}/\u{8}-\u{8}done"), "done");
    assert_eq!(plain("a\u{8}\u{8}\u{8}b"), "b");
}

#[test]
fn a_progress_bar_of_several_lines_is_shown_as_it_ended() {
    let output = "a 1%\nb 1%\n\u{1b}[2A\u{1b}[2Ka 99%\n\u{1b}[2Kb 99%\n\u{1b}[2F\u{1b}[Ka ok\n\u{1b}[Kb ok\nend\n";
    assert_eq!(plain(output), "a ok\nb ok\nend\n");
}

#[test]
fn the_cursor_goes_no_further_up_than_the_screen_reaches() {
    let lines: String = (0..60).map(|line| format!("{line}\n")).collect();
    let output = format!("{lines}\u{1b}[999A*");
    let expected: String =
        (0..60).map(|line| if line == 11 { "*1\n".to_owned() } else { format!("{line}\n") }).collect();
    assert_eq!(plain(output), expected);
}

#[test]
fn colours_titles_links_and_data_are_left_out() {
    assert_eq!(plain("\u{1b}[1;31mred\u{1b}[0m \u{1b}[38:2:1:2:3mx\u{1b}(B"), "red x");
    assert_eq!(plain("\u{1b}]0;title\u{7}a\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\b"), "alinkb");
    assert_eq!(plain("\u{1b}Pq#0;2\u{1b}\\a\u{1b}_Gdata\u{1b}\\b\u{1b}^x\u{9c}c\u{9b}31md"), "abcd");
    assert_eq!(plain("a\u{7}\0\u{7f}b\u{1b}[?25l\u{1b}[6n\u{1b}[>c"), "ab");
}

#[test]
fn a_title_that_is_never_closed_hides_nothing() {
    assert_eq!(plain("a\u{1b}Popen\nb\n"), "aopen\nb\n");
    assert_eq!(plain("a\u{1b}]0;open\nb\n"), "a0;open\nb\n");
    assert_eq!(plain("\u{1b}]0;\u{1}FAILED"), "0;FAILED");
}

#[test]
fn the_screen_of_full_screen_programs_is_not_output() {
    assert_eq!(plain("a\n\u{1b}[?1049h\u{1b}[Hmenu\nx\u{1b}[?1049lb\n"), "a\nb\n");
}

#[test]
fn a_program_that_stays_on_the_other_screen_hides_nothing() {
    assert_eq!(plain("a\n\u{1b}[?1049hFAILED\nx\n"), "a\nFAILED\nx\n");
    assert_eq!(plain("a\u{1b}[?47h\u{1b}[?1049hFAILED"), "a\nFAILED");
    let long = plain(format!("a\n\u{1b}[?1049h{}", "line\n".repeat(100_000)));
    assert!(
        long.len() < 70_000 && long.starts_with("a\n[earlier lines of a full-screen program are left out]\nline\n")
    );
}

#[test]
fn a_cleared_screen_begins_anew_and_what_was_on_it_stays() {
    assert_eq!(plain("old\nold\n\u{1b}[H\u{1b}[2Jnew\n"), "old\nold\nnew\n");
    assert_eq!(plain("old\n\u{1b}[H\u{1b}[Jnew\n"), "old\nnew\n");
    assert_eq!(plain("old\n\u{1b}cnew\n"), "old\nnew\n");
}

#[test]
fn what_was_erased_is_gone() {
    assert_eq!(plain("one\ntwo\nthree\u{1b}[2;1H\u{1b}[J2"), "one\n2");
    assert_eq!(plain("abc\u{1b}[2D\u{1b}[1Kx"), " xc");
}

#[test]
fn characters_are_blanked_removed_and_inserted() {
    assert_eq!(plain("abcdef\u{1b}[2G\u{1b}[2X"), "a  def");
    assert_eq!(plain("abcdef\u{1b}[2G\u{1b}[2P"), "adef");
    assert_eq!(plain("abcdef\u{1b}[2G\u{1b}[2@xy"), "axybcdef");
    assert_eq!(plain("\u{1b}[4Cx"), "    x");
}

#[test]
fn bytes_that_are_no_text_are_shown_as_such() {
    assert_eq!(plain(b"a\xffb\xe2\x82"), "a\u{fffd}b\u{fffd}");
    assert_eq!(plain(b"\xe2\x82\x41\xc3\xa4"), "\u{fffd}Aä");
}

#[test]
fn a_line_that_never_ends_is_handed_on_in_parts() {
    let mut plain_text = PlainText::default();
    let mut text = String::new();
    for _ in 0..100 {
        text.push_str(&plain_text.take(&[b'x'; 1000]));
        assert!(plain_text.screen.scrolled_out().is_empty());
    }
    assert!(text.len() >= 90_000, "{}", text.len());
    text.push_str(&plain_text.rest());
    assert_eq!(text, "x".repeat(100_000));
}

#[test]
fn numbers_without_measure_cost_nothing() {
    let output =
        "\u{1b}[99999999999999C\u{1b}[99999999B\u{1b}[99999999999@x\u{1b}[99999999X\u{1b}[999999999P".repeat(50);
    assert!(plain(output).len() < 500_000);
}

#[test]
fn while_it_runs_each_line_is_told_when_it_ends() {
    let mut live = PlainText::line_by_line();
    assert_eq!(live.take(b"1%\r2%"), "");
    assert_eq!(live.take(b"\rok\nnext"), "ok\n");
    assert_eq!(live.rest(), "next");
}

#[test]
fn the_cases_of_the_terminal_are_plain() {
    for line in include_str!("../../../../../tests/cases/terminal.jsonl").lines().filter(|line| !line.is_empty()) {
        let case: serde_json::Value = serde_json::from_str(line).expect("a case is JSON");
        let Some(input) = case["input"].as_str() else { panic!("{line}") };
        let shown = plain(input);
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{line}: {shown:?}");
        // What is printed over in a prompt is kept there; of output the last word counts.
        if let Some(kept) = case["must_keep"].as_str().filter(|_| case["where"] != "prompt") {
            assert!(shown.contains(kept), "{line}: {shown:?}");
        }
    }
}

fn outputs() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        "[a-zä漢]{0,6}".prop_map(String::into_bytes),
        Just(b"\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\x08".to_vec()),
        Just(vec![b'y'; 3000]),
        (1usize..120).prop_map(|lines| "one\tlïne\n".repeat(lines).into_bytes()),
        "\u{1b}\\[[0-9;?]{0,4}[A-HJKPX@hlmsu]".prop_map(String::into_bytes),
        "\u{1b}[\\]PX78MDEc(_][a-z]{0,3}(\u{7}|\u{1b}\\\\)?".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn the_text_is_the_same_however_the_output_is_cut(output in outputs(), cuts in prop::collection::vec(1usize..40, 1..30)) {
        let whole = plain(&output);
        let mut pieces = PlainText::default();
        let mut text = String::new();
        let mut left = output.as_slice();
        for cut in cuts.iter().cycle() {
            if left.is_empty() {
                break;
            }
            let (piece, behind) = left.split_at(left.len().min(*cut));
            text.push_str(&pieces.take(piece));
            left = behind;
        }
        text.push_str(&pieces.rest());
        prop_assert!(!whole.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
        prop_assert_eq!(text, whole);
    }
}
