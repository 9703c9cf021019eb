//! Text of others on one bounded line or in one bounded paragraph, with everything in it visible.

use haft_contract::path::one_line;
use haft_contract::visible::visible;

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
}
