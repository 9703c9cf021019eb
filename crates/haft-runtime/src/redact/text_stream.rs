//! Hides known secrets in a text that is shown while it is written, with as little delay as possible.
//!
//! Only what may be the beginning of a secret is held back, so that words appear as they come.

use super::Redactor;

/// Longest beginning of a secret that is held back, in bytes.
const LONGEST_HELD: usize = 4 * 1024;

/// A text that comes in pieces.
#[derive(Debug, Default)]
pub struct TextStream {
    held: String,
}

impl TextStream {
    /// Takes a piece and returns what can be shown.
    pub fn take(&mut self, redactor: &Redactor, piece: &str) -> String {
        self.held.push_str(piece);
        let end = redactor.may_go_on_from(&self.held);
        let rest = self.held.split_off(end);
        let shown = std::mem::replace(&mut self.held, rest);
        redactor.redact_known(&shown).into_owned()
    }

    /// Returns what is left at the end.
    pub fn rest(&mut self, redactor: &Redactor) -> String {
        redactor.redact_known(&std::mem::take(&mut self.held)).into_owned()
    }
}

impl Redactor {
    /// Returns where in a text the last thing begins that may yet become a secret; the end where there is none.
    fn may_go_on_from(&self, text: &str) -> usize {
        let later = self.later.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let begins_some = |tail: &str| {
            let is_begun =
                |found: Option<&String>| found.is_some_and(|text| text.len() > tail.len() && text.starts_with(tail));
            let after = (std::ops::Bound::Excluded(tail), std::ops::Bound::Unbounded);
            is_begun(self.texts.range::<str, _>(after).next())
                || is_begun(later.secrets.range::<str, _>(after).next().map(|(text, _)| text))
        };
        let first = text.len().saturating_sub(LONGEST_HELD);
        let mut starts = text.char_indices().map(|(at, _)| at).skip_while(|at| *at < first);
        let start = starts.find(|at| begins_some(&text[*at..])).unwrap_or(text.len());
        // A secret that is whole is not parted by one that may begin inside of it.
        let found = |automaton: &Option<aho_corasick::AhoCorasick>| {
            let found = automaton.iter().flat_map(|automaton| automaton.find_iter(text));
            found.filter(|found| found.start() < start && found.end() > start).map(|found| found.start()).min()
        };
        [Some(start), found(&self.values), found(&later.found_by)].into_iter().flatten().min().unwrap_or(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streamed(redactor: &Redactor, pieces: &[&str]) -> Vec<String> {
        let mut stream = TextStream::default();
        let mut shown: Vec<String> = pieces.iter().map(|piece| stream.take(redactor, piece)).collect();
        shown.push(stream.rest(redactor));
        shown
    }

    #[test]
    fn words_come_at_once_and_secrets_never() {
        let redactor = Redactor::of_values(["hunter2-hunter2".to_owned(), "two words here".to_owned()]);
        assert_eq!(streamed(&redactor, &["The ", "word", " is"]), ["The ", "word", " is", ""]);
        assert_eq!(streamed(&redactor, &["is hun", "ter2-hun", "ter2."]), ["is ", "", "[secret].", ""]);
        assert_eq!(streamed(&redactor, &["the two ", "words here"]), ["the ", "[secret]", ""]);
        assert_eq!(streamed(&redactor, &["the two ", "words there"]), ["the ", "two words there", ""]);
        assert_eq!(streamed(&redactor, &["hunter"]), ["", "hunter"]);
    }

    #[test]
    fn a_secret_in_which_another_begins_is_not_parted() {
        let redactor = Redactor::of_values(["abcdefgh".to_owned(), "ghijklmn".to_owned()]);
        assert_eq!(streamed(&redactor, &["abcdefgh", " x"]).concat(), "[secret] x");
        assert_eq!(streamed(&redactor, &["abcdefgh", "ijklmn"]).concat(), "[secret]ijklmn");
    }
}
