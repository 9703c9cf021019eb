//! Shows untrusted text on one bounded line or in one bounded paragraph, with every character visible.

use std::borrow::Cow;

use haft_contract::files::path::one_line;
use haft_contract::text::visible::visible;

/// Longest paragraph, in characters: several times as long as what a provider may say.
const LONGEST_WORDS: usize = 2_000;

/// Returns text of others on one line of at most so many columns, with everything in it visible.
#[must_use]
pub fn one_line_of(text: &str, columns: usize) -> String {
    let text = one_line(text);
    cut(&visible(&text), columns)
}

/// Returns text of others as one paragraph that has an end.
#[must_use]
pub fn paragraph(words: &str) -> String {
    let mut words: String = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = words.char_indices().nth(LONGEST_WORDS) {
        words.truncate(end);
        words.push('…');
    }
    words
}

/// Cuts a text to so many columns, and shows that it was cut.
#[must_use]
pub fn cut(text: &str, columns: usize) -> String {
    if columns_in(text) <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let fits = |c: &char| {
        let fits = columns_of(*c) <= left;
        left = left.saturating_sub(columns_of(*c));
        fits
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// Returns how many columns a text takes.
#[must_use]
pub fn columns_in(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// Returns how many columns a character takes, as terminals count.
#[must_use]
pub fn columns_of(c: char) -> usize {
    match c {
        '\u{300}'..='\u{36f}' | '\u{20d0}'..='\u{20ff}' => 0,
        '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' | '\u{e0020}'..='\u{e007f}' => 0,
        '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' => 2,
        '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}' | '\u{1f300}'..='\u{1faff}' => 2,
        '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// Most blanks in a row that are shown as they are.
const MOST_BLANKS: usize = 60;

/// Shortens one line: many blanks in a row are counted, and of a line that is still too long its beginning and its end are
/// shown. So nothing at the end of a line is out of sight.
#[must_use]
pub fn shortened_line(line: &str, most_characters: usize) -> Cow<'_, str> {
    let folded = blanks_counted(line);
    let length = folded.chars().count();
    if length <= most_characters {
        return folded;
    }
    let (begin, end) = (most_characters - most_characters / 4, most_characters / 4);
    let left_out = length - begin - end;
    let head: String = folded.chars().take(begin).collect();
    let tail: String = folded.chars().skip(length - end).collect();
    Cow::Owned(format!("{head} […{left_out} characters…] {tail}"))
}

fn blanks_counted(line: &str) -> Cow<'_, str> {
    let is_blank = |letter: char| letter.is_whitespace();
    let mut counted = String::new();
    let mut rest = line;
    let mut is_folded = false;
    while let Some(begin) = rest.find(is_blank) {
        let end = rest[begin..].find(|letter| !is_blank(letter)).map_or(rest.len(), |length| begin + length);
        let blanks = &rest[begin..end];
        counted.push_str(&rest[..begin]);
        match blanks.chars().count() {
            // Blanks before the text are no gap in it.
            count if count > MOST_BLANKS && end < rest.len() => {
                is_folded = true;
                counted.push_str(&format!(" […{count} blanks…] "));
            }
            _ => counted.push_str(blanks),
        }
        rest = &rest[end..];
    }
    if is_folded { Cow::Owned(counted + rest) } else { Cow::Borrowed(line) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_are_one_paragraph_with_an_end() {
        assert_eq!(paragraph("busy\r\n\n• bash rm -r .\t now "), "busy • bash rm -r . now");
        assert_eq!(paragraph(&"ä".repeat(5_000)).chars().count(), LONGEST_WORDS + 1);
    }

    #[test]
    fn what_is_cut_shows_it() {
        assert_eq!((cut("abc", 3), cut("abcd", 3), cut("漢字漢", 4)), ("abc".into(), "ab…".into(), "漢…".into()));
    }

    #[test]
    fn the_end_of_a_long_line_is_shown_and_blanks_are_counted() {
        let hidden = format!("x = 1{}; import os", " ".repeat(5_000));
        assert_eq!(shortened_line(&hidden, 100), "x = 1 […5000 blanks…] ; import os");
        let long = format!("{}evil", "a".repeat(5_000));
        let shown = shortened_line(&long, 100);
        assert_eq!(shown, format!("{} […4904 characters…] {}evil", "a".repeat(75), "a".repeat(21)));
        let plain = format!("{}x", " ".repeat(60));
        assert!(matches!(shortened_line(&plain, 100), Cow::Borrowed(_)));
        assert_eq!(shortened_line(&" ".repeat(200), 300).len(), 200);
    }
}
