//! Separates the thoughts at the beginning of a model's text from its answer.
//!
//! Servers that do not know the format of a model pass on `<think>…</think>` as text. It counts as thought only at the
//! beginning of the text; a later tag is something that the model writes about. The text goes back to the server
//! unchanged.
//!
//! Not here: thoughts in a separate member (`said`).

const BEGIN: &str = "<think>";
const END: &str = "</think>";

/// Sorts text while it comes.
#[derive(Debug, Default)]
pub(super) struct ThoughtAloud {
    state: ThoughtAloudState,
    /// What cannot be sorted yet: the beginning of a tag, or white space before something.
    unsorted: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ThoughtAloudState {
    /// Nothing but white space and the beginning of the tag has come.
    #[default]
    Beginning,
    /// The thought has begun; white space before its first word is left out.
    ThoughtBegins,
    Thought,
    /// The thought has ended; white space before the first word of the text is left out.
    TextBegins,
    Text,
}

/// A piece of text, sorted into thought or text for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SortedText {
    Thought(String),
    Text(String),
}

impl ThoughtAloud {
    /// Sorts as much as can be.
    pub(super) fn add(&mut self, more: &str) -> Vec<SortedText> {
        self.unsorted.push_str(more);
        let mut sorted = Vec::new();
        while self.step(&mut sorted) {}
        sorted
    }

    /// Returns what is left when nothing more comes: it was no tag.
    pub(super) fn end(&mut self) -> Option<SortedText> {
        let left = std::mem::take(&mut self.unsorted);
        match self.state {
            _ if left.is_empty() => None,
            ThoughtAloudState::Beginning | ThoughtAloudState::Text => Some(SortedText::Text(left)),
            ThoughtAloudState::ThoughtBegins | ThoughtAloudState::TextBegins if left.trim().is_empty() => None,
            ThoughtAloudState::ThoughtBegins | ThoughtAloudState::Thought => Some(SortedText::Thought(left)),
            ThoughtAloudState::TextBegins => Some(SortedText::Text(left)),
        }
    }

    /// Goes one state on; returns whether there may be more to sort.
    fn step(&mut self, sorted: &mut Vec<SortedText>) -> bool {
        let word = self.unsorted.trim_start();
        match self.state {
            ThoughtAloudState::Beginning if word.starts_with(BEGIN) => {
                self.unsorted = word[BEGIN.len()..].to_owned();
                self.state = ThoughtAloudState::ThoughtBegins;
                true
            }
            ThoughtAloudState::Beginning if BEGIN.starts_with(word) => false,
            ThoughtAloudState::Beginning => {
                self.state = ThoughtAloudState::Text;
                true
            }
            ThoughtAloudState::ThoughtBegins | ThoughtAloudState::TextBegins => {
                let is_over = !word.is_empty();
                self.unsorted = word.to_owned();
                if is_over {
                    self.state = if self.state == ThoughtAloudState::ThoughtBegins {
                        ThoughtAloudState::Thought
                    } else {
                        ThoughtAloudState::Text
                    };
                }
                is_over
            }
            ThoughtAloudState::Thought => self.step_in_thought(sorted),
            ThoughtAloudState::Text => {
                let text = std::mem::take(&mut self.unsorted);
                sorted.extend((!text.is_empty()).then_some(SortedText::Text(text)));
                false
            }
        }
    }

    fn step_in_thought(&mut self, sorted: &mut Vec<SortedText>) -> bool {
        let (end, is_over) = match self.unsorted.find(END) {
            Some(end) => (end, true),
            None => (self.unsorted.len() - begun_tag(&self.unsorted), false),
        };
        let rest = self.unsorted.split_off(end);
        let thought = std::mem::replace(&mut self.unsorted, rest);
        sorted.extend((!thought.is_empty()).then_some(SortedText::Thought(thought)));
        if is_over {
            self.unsorted.drain(..END.len());
            self.state = ThoughtAloudState::TextBegins;
        }
        is_over
    }
}

/// Returns how much at the end of a text may be the beginning of the closing tag.
fn begun_tag(text: &str) -> usize {
    (1..END.len()).rev().find(|length| text.ends_with(&END[..*length])).unwrap_or(0)
}

/// Returns how much at the beginning of a whole text is thought aloud, with its tags and the white space behind them.
pub(super) fn length(text: &str) -> usize {
    let Some(thought) = text.trim_start().strip_prefix(BEGIN) else { return 0 };
    match thought.split_once(END) {
        Some((_, said)) => text.len() - said.trim_start().len(),
        None => text.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorts a text that comes in these pieces, and joins what belongs together.
    fn sorted(pieces: &[&str]) -> (String, String) {
        let mut aloud = ThoughtAloud::default();
        let mut all: Vec<SortedText> = pieces.iter().flat_map(|piece| aloud.add(piece)).collect();
        all.extend(aloud.end());
        let (mut thought, mut said) = (String::new(), String::new());
        for piece in all {
            match piece {
                SortedText::Thought(text) => thought.push_str(&text),
                SortedText::Text(text) => said.push_str(&text),
            }
        }
        (thought, said)
    }

    #[test]
    fn what_is_thought_is_the_same_wherever_the_text_is_cut() {
        let cases = [
            ("<think>hm, <b></think>\n\nSo.</think>", "hm, <b>", "So.</think>"),
            (" \n<think>\nhm\n</think>So.", "hm\n", "So."),
            ("<think>\n\n</think>\n\nSo.", "", "So."),
            ("<think>hm</thin", "hm</thin", ""),
            ("<think>hm</think>", "hm", ""),
            ("<think>hm</think> \n", "hm", ""),
            ("<think>", "", ""),
            ("<think>é</think>ü", "é", "ü"),
            ("So <think>hm</think>", "", "So <think>hm</think>"),
            ("  <thinking>hm", "", "  <thinking>hm"),
            ("<thin", "", "<thin"),
            (" \n", "", " \n"),
            ("", "", ""),
        ];
        for (text, thought, said) in cases {
            let expected = (thought.to_owned(), said.to_owned());
            assert_eq!(sorted(&[text]), expected, "{text:?}");
            let signs: Vec<String> = text.chars().map(String::from).collect();
            assert_eq!(sorted(&signs.iter().map(String::as_str).collect::<Vec<_>>()), expected, "{text:?} in signs");
            for (at, _) in text.char_indices() {
                assert_eq!(sorted(&[&text[..at], &text[at..]]), expected, "{text:?} cut at {at}");
            }
            assert_eq!(&text[length(text)..], said, "{text:?} as a whole");
        }
    }

    #[test]
    fn text_is_told_as_soon_as_it_can_be_no_tag() {
        let mut aloud = ThoughtAloud::default();
        assert_eq!(aloud.add(" <"), []);
        assert_eq!(aloud.add("b>"), [SortedText::Text(" <b>".to_owned())]);
        assert_eq!(aloud.add("x"), [SortedText::Text("x".to_owned())]);
        let mut aloud = ThoughtAloud::default();
        assert_eq!(aloud.add("<think>a </t"), [SortedText::Thought("a ".to_owned())]);
        assert_eq!(aloud.add("b"), [SortedText::Thought("</tb".to_owned())]);
    }
}
