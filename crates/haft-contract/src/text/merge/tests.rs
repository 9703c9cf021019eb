use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn merged(base: &str, ours: &str, theirs: &str) -> Option<String> {
    let text = merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()).ok()?;
    Some(String::from_utf8(text).expect("texts give a text"))
}

#[test]
fn changes_with_a_line_between_them_are_both_kept() {
    assert_eq!(merged("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n").as_deref(), Some("A\nb\nC\n"));
    assert_eq!(merged("a\nb\nc\n", "0\na\nb\nc\n", "a\nb\n").as_deref(), Some("0\na\nb\n"));
    assert_eq!(merged("a\r\nb\r\nc", "A\r\nb\r\nc", "a\r\nb\r\nC").as_deref(), Some("A\r\nb\r\nC"));
    assert_eq!(merged("a\rb\rc\r", "A\rb\rc\r", "a\rb\rC\r").as_deref(), Some("A\rb\rC\r"));
}

#[test]
fn changes_of_neighbouring_lines_are_both_kept() {
    let both = |base: &str, ours: &str, theirs: &str| {
        let one = merged(base, ours, theirs);
        assert_eq!(one, merged(base, theirs, ours));
        one
    };
    assert_eq!(both("a\nb\nc\n", "A\nb\nc\n", "a\nB\nc\n").as_deref(), Some("A\nB\nc\n"));
    assert_eq!(both("a\nb\nc\n", "a\nB\nc\n", "a\nb\nnew\nc\n").as_deref(), Some("a\nB\nnew\nc\n"));
    assert_eq!(both("a\nb\nc\n", "a\nB\nc\n", "a\nnew\nb\nc\n").as_deref(), Some("a\nnew\nB\nc\n"));
    assert_eq!(both("a\nb\nc\n", "a\nc\n", "a\nb\nnew\nc\n").as_deref(), Some("a\nnew\nc\n"));
}

#[test]
fn neighbours_are_not_merged_where_a_line_would_be_doubled_or_joined() {
    assert_eq!(merged("a\nb\n", "A\nx\nb\n", "a\nx\nb\n"), None);
    assert_eq!(merged("a\nb\n", "A\nx\nb\n", "a\nx\nB\n"), None);
    assert_eq!(merged("a\nb\n", "a\nB", "a\nb\nc\n"), None);
    assert_eq!(merged("a\rb\r", "a\rB", "a\rb\rc\r"), None);
}

#[test]
fn changes_that_overlap_are_not_merged() {
    assert_eq!(merged("a\nb\nc\n", "A\nb\nc\n", "x\nb\nc\n"), None);
    assert_eq!(merged("a\nb\n", "a\nours\nb\n", "a\ntheirs\nb\n"), None);
    assert_eq!(merged("a\nb", "a\nb\n", "a\nb\nc"), None);
    assert_eq!(merged("", "ours", "theirs"), None);
}

#[test]
fn the_same_change_on_both_sides_is_one_change() {
    assert_eq!(merged("a\nb\nc\n", "A\nb\nc\n", "A\nb\nC\n").as_deref(), Some("A\nb\nC\n"));
    assert_eq!(merged("a\nb\nc\n", "a\nnew\nb\nc\n", "a\nnew\nb\nC\n").as_deref(), Some("a\nnew\nb\nC\n"));
}

#[test]
fn bytes_of_any_encoding_are_merged() {
    let merged = merge(b"\xe4\nb\nc\n", b"\xf6\nb\nc\n", b"\xe4\nb\n\xfc\n");
    assert_eq!(merged.as_deref(), Ok(&b"\xf6\nb\n\xfc\n"[..]));
}

#[test]
fn wide_units_are_merged_by_their_lines() {
    type Wide = fn(&str) -> Vec<u8>;
    let forms: [Wide; 3] = [
        |text| format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect(),
        |text| format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_be_bytes).collect(),
        |text| text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
    ];
    for wide in forms {
        let check = |texts: [&str; 3], after: Result<&str, NotMerged>| {
            let [base, ours, theirs] = texts.map(wide);
            assert_eq!(merge(&base, &ours, &theirs), after.map(wide), "{texts:?}");
        };
        check(["one\ntwo\nten\n", "ONE\ntwo\nten\n", "one\ntwo\nTEN\n"], Ok("ONE\ntwo\nTEN\n"));
        check(["one\r\ntwo\r\nten", "0\r\none\r\ntwo\r\nten", "one\r\ntwo\r\n"], Ok("0\r\none\r\ntwo\r\n"));
        check(["one\rtwo\rten\r", "ONE\rtwo\rten\r", "one\rtwo\rTEN\r"], Ok("ONE\rtwo\rTEN\r"));
        // The bytes of these letters have a line feed in them, but they end no line.
        check(["a上\nbbbb\ncਊ\n", "a上上\nbbbb\ncਊ\n", "a上\nbbbb\ncਊਊ\n"], Ok("a上上\nbbbb\ncਊਊ\n"));
        check(["上a\nbbbb\n", "上上a\nbbbb\n", "上aa\nbbbb\n"], Err(NotMerged::Touching));
    }
}

#[test]
fn what_is_no_text_of_one_encoding_is_not_merged_unless_one_side_did_nothing() {
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    assert_eq!(merge(b"a\0\nb\nc\n", b"A\0\nb\nc\n", b"a\0\nb\nC\n"), Err(NotMerged::NotText));
    assert_eq!(merge(b"a\0", b"b\0", b"a\0"), Ok(b"b\0".to_vec()));
    let converted = "größe\nb\nc\n".as_bytes();
    assert_eq!(merge(b"gr\xf6\xdfe\nb\nc\n", converted, b"gr\xf6\xdfe\nb\nsch\xf6n\n"), Err(NotMerged::NotText));
    assert_eq!(merge(&wide("one\ntwo\nten\n"), b"one\ntwo\nten\n", &wide("1\ntwo\nten\n")), Err(NotMerged::NotText));
}

fn text(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A side: for each line of the base whether it is kept, dropped or changed, and whether a line follows that is new.
fn side(base: usize, name: &str, choices: &[u8]) -> String {
    let mut lines = Vec::new();
    for (number, choice) in (0..base).zip(choices) {
        match choice % 16 {
            0 => {}
            1 => lines.push(format!("{name} instead of {number}")),
            2 => lines.extend([format!("base {number}"), format!("{name} behind {number}")]),
            // The same on both sides.
            3 => lines.push(format!("both instead of {number}")),
            _ => lines.push(format!("base {number}")),
        }
    }
    text(&lines)
}

proptest! {
    #[test]
    fn one_side_alone_wins_and_the_sides_are_equal(
        base in "[ab\n]{0,30}", ours in "[ab\n]{0,30}", theirs in "[ab\r\n]{0,30}",
    ) {
        prop_assert_eq!(merged(&base, &ours, &base), Some(ours.clone()));
        prop_assert_eq!(merged(&base, &base, &ours), Some(ours.clone()));
        prop_assert_eq!(merged(&base, &ours, &ours), Some(ours.clone()));
        prop_assert_eq!(merged(&base, &ours, &theirs), merged(&base, &theirs, &ours));
    }

    #[test]
    fn no_line_is_lost_that_the_other_side_left_alone(
        (ours, theirs) in (0_usize..40).prop_flat_map(|base| {
            let choices = || prop::collection::vec(any::<u8>(), base);
            (choices(), choices())
        }),
    ) {
        let count = ours.len();
        let base = text(&(0..count).map(|number| format!("base {number}")).collect::<Vec<_>>());
        let (ours, theirs) = (side(count, "ours", &ours), side(count, "theirs", &theirs));
        let Some(merged) = merged(&base, &ours, &theirs) else { return Ok(()) };
        let lines = |text: &'_ str| text.lines().map(str::to_owned).collect::<BTreeSet<String>>();
        let (base, ours, theirs, merged) = (lines(&base), lines(&ours), lines(&theirs), lines(&merged));
        for line in &merged {
            prop_assert!(ours.contains(line) || theirs.contains(line), "{} comes from nowhere", line);
        }
        for (one, other) in [(&ours, &theirs), (&theirs, &ours)] {
            for line in one.iter().filter(|line| other.contains(*line) || !base.contains(*line)) {
                prop_assert!(merged.contains(line), "{} is lost", line);
            }
            for line in base.iter().filter(|line| !one.contains(*line)) {
                prop_assert!(!merged.contains(line), "{} is back", line);
            }
        }
    }
}

/// What one side did with one line of the base: the line itself, if it stays, and the line behind it, if one is new.
type Slot = (Option<String>, Option<String>);

fn slots(name: &str, choices: &[u8]) -> Vec<Slot> {
    let slot = |(number, choice): (usize, &u8)| match choice % 12 {
        0 => (None, None),
        1 => (Some(format!("{name} instead of {number}")), None),
        2 => (Some(format!("base {number}")), Some(format!("{name} behind {number}"))),
        3 => (Some(format!("both instead of {number}")), None),
        _ => (Some(format!("base {number}")), None),
    };
    choices.iter().enumerate().map(slot).collect()
}

/// Merges slot by slot; nothing when both changed a line, or added behind it, in different ways.
fn merged_slots(ours: &[Slot], theirs: &[Slot]) -> Option<Vec<String>> {
    let mut lines = Vec::new();
    for (number, (our, their)) in ours.iter().zip(theirs).enumerate() {
        let base = Some(format!("base {number}"));
        lines.extend(match (our.0 == base, their.0 == base) {
            (true, _) => their.0.clone(),
            (_, true) => our.0.clone(),
            _ if our.0 == their.0 => our.0.clone(),
            _ => return None,
        });
        match (&our.1, &their.1) {
            (Some(our), Some(their)) if our != their => return None,
            (our, their) => lines.extend(our.clone().or(their.clone())),
        }
    }
    Some(lines)
}

proptest! {
    #[test]
    fn a_merge_is_what_merging_line_by_line_gives(
        (ours, theirs) in (0_usize..24).prop_flat_map(|base| {
            let choices = || prop::collection::vec(any::<u8>(), base);
            (choices(), choices())
        }),
    ) {
        let count = ours.len();
        let base = text(&(0..count).map(|number| format!("base {number}")).collect::<Vec<_>>());
        let (ours, theirs) = (slots("ours", &ours), slots("theirs", &theirs));
        let lines = |slots: &[Slot]| text(&slots.iter().flat_map(|(line, new)| [line, new]).flatten().cloned().collect::<Vec<_>>());
        let found = merged(&base, &lines(&ours), &lines(&theirs));
        let wanted = merged_slots(&ours, &theirs).map(|lines| text(&lines));
        if let (Some(found), Some(wanted)) = (&found, &wanted) {
            prop_assert_eq!(found, wanted);
        }
        let both_changed = ours.iter().zip(&theirs).enumerate().any(|(number, ((our, _), (their, _)))| {
            let base = Some(format!("base {number}"));
            our != their && *our != base && *their != base
        });
        prop_assert!(!both_changed || found.is_none());
        // Changes in a row are one change, which may be in the way as a whole; single ones never are.
        let is_changed = |number: usize, (line, new): &Slot| *line != Some(format!("base {number}")) || new.is_some();
        let is_sparse = |slots: &[Slot]| {
            let changed: Vec<bool> = slots.iter().enumerate().map(|(number, slot)| is_changed(number, slot)).collect();
            !changed.windows(2).any(|two| two[0] && two[1])
        };
        if is_sparse(&ours) && is_sparse(&theirs) {
            prop_assert_eq!(found, wanted);
        }
    }
}

#[test]
fn huge_texts_that_have_nothing_in_order_are_given_up_in_time() {
    let shuffled = |factor: usize| -> String {
        (0..200_000_usize).map(|number| format!("{}\n", number * factor % 199_999 % 50_000)).collect()
    };
    let started = Instant::now();
    let texts = [shuffled(1), shuffled(7_919), shuffled(104_729)];
    let [base, ours, theirs] = texts.each_ref().map(|text| text.as_bytes());
    assert_eq!(merge(base, ours, theirs), Err(NotMerged::OutOfTime));
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}
