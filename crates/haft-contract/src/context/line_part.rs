//! Cuts a part out of a long line without cutting a secret in two: half a secret cannot be found again.
//!
//! It moves a cut to a place where hiding the two sides separately gives the same as hiding them together. It returns the
//! original text, so the position in the line is exact. haft hides secrets when it makes the result.

use std::borrow::Cow;

/// How often a cut is moved by one character.
const NEAR: usize = 64;
/// How far it is moved at a time after that, in characters.
const STEP: usize = 16;
/// How often it is moved at all.
const TRIES: usize = 128;

/// A part of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LinePart {
    /// Its text.
    pub(super) text: String,
    /// How many characters stand before it.
    pub(super) before: usize,
    /// How many stand behind it.
    pub(super) behind: usize,
}

/// Cuts so many characters out of a text, as they are shown, behind so many at its beginning.
pub(super) fn part_of<'t>(
    text: &'t str,
    (lead, length): (usize, usize),
    hide: &dyn Fn(&'t str) -> Cow<'t, str>,
) -> LinePart {
    let whole = hide(text);
    let place = |characters: usize| text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at);
    let is_safe = |at: &usize| whole == text || [hide(&text[..*at]), hide(&text[*at..])].concat() == whole;
    let moves = || (0..TRIES).map(|step| step.min(NEAR) + step.saturating_sub(NEAR) * STEP);
    let start = moves().map(|by| place(lead.saturating_add(by))).find(is_safe);
    let begin = start.unwrap_or(0);
    let from = text[..begin].chars().count();
    // What is hidden needs another room than what it stands for, so the end may lie further on, or before.
    let shown = |end: usize| hide(&text[begin..end]).chars().count();
    let with_hidden =
        from.saturating_add(length).saturating_add(text[begin..].chars().count()).saturating_sub(shown(text.len()));
    let ends = |last: usize| moves().map_while(move |by| last.checked_sub(by)).map(place);
    let is_end = |at: &usize| *at > begin && is_safe(at);
    let fitting = ends(with_hidden).find(|at| is_end(at) && shown(*at) <= length);
    let end = fitting.or_else(|| ends(from.saturating_add(length)).find(is_end));
    match (start, end) {
        (Some(start), _) if start >= text.len() => LinePart { text: String::new(), before: from, behind: 0 },
        (Some(start), Some(end)) => {
            LinePart { text: text[start..end].to_owned(), before: from, behind: text[end..].chars().count() }
        }
        // All of it is one secret, as it seems: then places are counted in what is shown of it.
        _ => {
            let shown: String = whole.chars().skip(lead).take(length.max(1)).collect();
            let behind = whole.chars().count().saturating_sub(lead + shown.chars().count());
            LinePart { text: shown, before: lead, behind }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str) -> Cow<'_, str> {
        Cow::Owned(text.replace("hunter2-hunter2", "[secret]"))
    }

    fn part(text: &str, lead: usize, length: usize) -> (String, usize, usize) {
        let LinePart { text, before, behind } = part_of(text, (lead, length), &|text| hidden(text));
        (text, before, behind)
    }

    #[test]
    fn a_part_is_counted_in_characters() {
        assert_eq!(part("äöüß", 1, 2), ("öü".into(), 1, 1));
        assert_eq!(part("äöüß", 0, 9), ("äöüß".into(), 0, 0));
        assert_eq!(part("äöüß", 9, 2), (String::new(), 4, 0));
        assert_eq!(part("a hunter2-hunter2 b and more", 0, 12), ("a hunter2-hunter2 b".into(), 0, 9));
    }

    #[test]
    fn following_the_parts_gives_every_character_once_and_no_half_of_a_secret() {
        let text = format!("{}hunter2-hunter2{}", "a".repeat(90), "b".repeat(200));
        for length in 20..130 {
            let (mut all, mut at) = (String::new(), 0);
            while at < text.len() {
                let (part, before, behind) = part(&text, at, length);
                assert!(before == at && before + part.len() + behind == text.len() && !part.is_empty());
                let shown = hidden(&part).replace("[secret]", "");
                assert!(!shown.contains("hunter") && !shown.contains('2'), "{length}: {part}");
                (all, at) = (all + &part, at + part.len());
            }
            assert_eq!(all, text, "{length}");
        }
    }

    #[test]
    fn a_secret_that_is_longer_than_a_part_is_never_shown() {
        let (text, ..) = part("hunter2-hunter2 and more", 0, 5);
        assert!(!text.contains("hunt"), "{text}");
    }
}
