//! Texts that fit a column of a table.

use haft_host::bounded_text::columns_of as columns;

/// Cuts a text to so many columns, and shows that it was cut.
pub(super) fn cut(text: &str, width: usize) -> String {
    if columns_of(text) <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let fits = |c: &char| {
        let fits = columns(*c) <= left;
        left = left.saturating_sub(columns(*c));
        fits
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// Returns how many columns a text needs.
pub(super) fn columns_of(text: &str) -> usize {
    text.chars().map(columns).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_shows_it() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut("漢字漢", 4), "漢…");
    }
}
