//! Hides known secrets in a text that is shown while it arrives, with as little delay as possible.
//!
//! It holds back only a possible beginning of a secret, so words appear as they arrive.

use super::Redactor;

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
        assert_eq!(streamed(&redactor, &["abcdefgh", "ijklmn"]).concat(), "[secret]");
    }
}
