//! What holds for the edit engine whatever is sent.

use haft_contract::outcome::kinds::ErrorKind;
use haft_tools::files::edit::{Count, Edit, FittedEdits, Rung, fit};
use proptest::prelude::*;

/// Few different characters, so that short texts repeat themselves and almost fit.
fn text() -> impl Strategy<Value = String> {
    "[ab \t\n\r\"“’'1:|}é…—\u{a0}-]{0,60}"
}

fn plain_text() -> impl Strategy<Value = String> {
    "[ab \t\n1}]{0,60}"
}

fn count() -> impl Strategy<Value = Count> {
    prop_oneof![Just(Count::Unique), Just(Count::All), Just(Count::First), (0_usize..4).prop_map(Count::Exactly)]
}

/// Texts of a few lines that differ in what may be forgiven.
fn lines(most: usize) -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "a", "  a", "    a", "\ta", "a ", "  a\t", "“b”", "\"b\"", "  \"b\"", "b - c", "b – c", "", "  ", "}", "1: a",
        "2: a",
    ]);
    (prop::collection::vec(line, 1..=most), any::<bool>()).prop_map(|(lines, is_closed)| {
        let text = lines.join("\n");
        if is_closed { format!("{text}\n") } else { text }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_outside_the_replacements_never_change(text in text(), sent in prop::collection::vec((text(), text(), count()), 0..4)) {
        let edits: Vec<Edit<'_>> = sent.iter().map(|(old, new, count)| Edit { old, new, count: *count }).collect();
        if let Ok(fitted) = fit(&text, &edits, "f") {
            prop_assert_eq!(fitted.rungs.len(), edits.len());
            prop_assert!(keeps_the_rest(&fitted, &text));
            prop_assert_ne!(fitted.apply(&text), text);
        }
    }

    #[test]
    fn what_is_forgiven_is_one_thing_at_one_place(text in lines(7), old in lines(3)) {
        let fitted = fit(&text, &[Edit { old: &old, new: "new", count: Count::Unique }], "f");
        let Ok(fitted) = fitted else { return Ok(()) };
        let replaced = &text[fitted.replacements[0].range.clone()];
        let closed = |text: &str| text.strip_suffix('\n').unwrap_or(text).to_owned();
        let by_line = |text: &str, change: fn(&str) -> &str| closed(text).split('\n').map(change).collect::<Vec<_>>().join("\n");
        prop_assert_eq!(fitted.rungs[0] == Rung::Exact, text.contains(&old));
        match fitted.rungs[0] {
            Rung::Exact => prop_assert_eq!(replaced, old),
            Rung::LineEndBlanks => {
                // A line end at the beginning is that of the line before.
                let skipped = usize::from(old.starts_with('\n'));
                let trimmed = |text: &str| by_line(&text[skipped..], str::trim_end);
                prop_assert_eq!(trimmed(replaced), trimmed(&old));
                let (text, old) = (by_line(&text, str::trim_end), trimmed(&old));
                let (text, old): (Vec<&str>, Vec<&str>) = (text.split('\n').collect(), old.split('\n').collect());
                prop_assert_eq!(text[skipped..].windows(old.len()).filter(|window| **window == old).count(), 1);
            }
            Rung::Indentation => prop_assert_eq!(by_line(replaced, str::trim_start), by_line(&old, str::trim_start)),
            Rung::Typography => prop_assert_eq!(plain(replaced), plain(&old)),
            Rung::LineNumbers => prop_assert_eq!(closed(replaced), by_line(&old, |line| line.get(3..).unwrap_or(line))),
        }
    }

    #[test]
    fn a_refusal_is_short_and_says_what_to_do(text in text(), old in text(), new in text()) {
        if let Err(miss) = fit(&text, &[Edit { old: &old, new: &new, count: Count::Unique }], "f") {
            prop_assert!(miss.what.chars().count() + miss.next.to_string().chars().count() <= 4_000);
            prop_assert!(!miss.what.is_empty() && !miss.next.to_string().is_empty());
        }
    }

    #[test]
    fn replacing_all_is_what_replace_does(text in plain_text(), old in "[ab \n]{1,3}", new in plain_text()) {
        let replaced = text.replace(&old, &new);
        match fit(&text, &[Edit { old: &old, new: &new, count: Count::All }], "f") {
            Ok(fitted) if fitted.rungs[0] == Rung::Exact => prop_assert_eq!(fitted.apply(&text), replaced),
            Ok(fitted) => prop_assert!(!text.contains(&old) && fitted.replacements.len() == 1),
            Err(miss) if miss.kind != ErrorKind::NoChange => prop_assert!(!text.contains(&old)),
            Err(_) if text.contains(&old) => prop_assert_eq!(text, replaced),
            Err(_) => {}
        }
    }

    #[test]
    fn what_occurs_once_is_replaced_and_nothing_is_forgiven(head in "[ab\n ]{0,20}", tail in "[ab\n ]{0,20}", new in plain_text()) {
        let text = format!("{head}needle {{\n  x\n}}{tail}");
        let edit = Edit { old: "needle {\n  x\n}", new: &new, count: Count::Unique };
        let fitted = fit(&text, &[edit], "f");
        prop_assert!(fitted.is_ok());
        let fitted = fitted.expect("it occurs once");
        prop_assert_eq!(&fitted.rungs, &[Rung::Exact]);
        prop_assert_eq!(fitted.apply(&text), format!("{head}{new}{tail}"));
    }

    #[test]
    fn a_file_with_crlf_becomes_what_its_twin_with_lf_becomes(text in plain_text(), old in plain_text(), new in plain_text()) {
        let crlf = |text: &str| text.replace('\n', "\r\n");
        // A text without any line end has no kind that an added one could take.
        let text = format!("\n{text}");
        let edit = Edit { old: &old, new: &new, count: Count::Unique };
        let twin = crlf(&text);
        let (one, other) = (fit(&text, &[edit], "f"), fit(&twin, &[edit], "f"));
        match (one, other) {
            (Ok(one), Ok(other)) => prop_assert_eq!(crlf(&one.apply(&text)), other.apply(&twin)),
            (Err(one), Err(other)) => prop_assert_eq!(one, other),
            (one, other) => prop_assert!(false, "{:?} and {:?}", one, other),
        }
    }
}

fn plain(text: &str) -> String {
    text.replace(['“', '”'], "\"").replace('–', "-")
}

fn keeps_the_rest(fitted: &FittedEdits, text: &str) -> bool {
    let after = fitted.apply(text);
    let (mut rest, mut done) = (after.as_str(), 0);
    for replacement in &fitted.replacements {
        let kept = text.get(done..replacement.range.start).and_then(|kept| rest.strip_prefix(kept));
        let Some(stripped) = kept.and_then(|rest| rest.strip_prefix(&*replacement.new)) else { return false };
        (rest, done) = (stripped, replacement.range.end);
    }
    text.get(done..) == Some(rest)
}
